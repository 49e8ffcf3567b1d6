//! The devices of a trace that `--disk` asks for, by name or number, found as the trace names them.

use ioscape_schema::Device;

/// The devices asked for.
#[derive(Clone, Debug)]
pub struct Wanted(Vec<Asked>);

/// One `--disk`: a device's name, which may contain commas (`8,16`), or several names or numbers
/// separated by commas.
#[derive(Clone, Debug)]
struct Asked {
    text: String,
    whole: Option<u16>,
    parts: Vec<Option<u16>>,
}

impl Wanted {
    /// Parses the texts of `--disk`; returns `None` if there are none.
    pub fn new(asked: &[String]) -> Option<Self> {
        let asked = asked.iter().map(|text| Asked {
            text: text.clone(),
            whole: None,
            parts: text.split(',').map(|_| None).collect(),
        });
        let asked: Vec<Asked> = asked.collect();
        (!asked.is_empty()).then_some(Self(asked))
    }

    /// Returns the indices of the devices found so far, in the order in which they were asked for.
    ///
    /// # Errors
    /// A device is asked for twice, a text may mean one device or several, or, at the end of the
    /// trace, a device is not in it.
    pub fn find(&mut self, devices: &[Device], ended: bool) -> Result<Vec<u16>, String> {
        let mut found = Vec::new();
        for asked in &mut self.0 {
            asked.find(devices, ended)?;
            for index in asked.indices() {
                if found.contains(&index) {
                    return Err(format!("--disk {}: it is given twice", asked.text));
                }
                found.push(index);
            }
        }
        Ok(found)
    }
}

impl Asked {
    fn find(&mut self, devices: &[Device], ended: bool) -> Result<(), String> {
        let named = |name: &str| devices.iter().position(|device| device.name == name);
        let index = |at: usize| u16::try_from(at).ok();
        if self.whole.is_none()
            && self.parts.len() > 1
            && let Some(whole) = named(&self.text).and_then(index)
        {
            if self.parts.iter().any(Option::is_some) {
                return Err(format!(
                    "--disk {}: a device of that name comes late in the trace, where devices of the names between its \
                     commas came before: name it by its number, {whole}",
                    self.text
                ));
            }
            self.whole = Some(whole);
        }
        if self.whole.is_none() {
            for (part, found) in self.text.split(',').zip(&mut self.parts) {
                let meant = meant(part, devices);
                if meant.len() > 1 || found.is_some_and(|before| meant != [before]) {
                    let text = "several disks of the trace can be meant: write the whole name";
                    return Err(format!("--disk {}: {text}", self.text));
                }
                *found = meant.first().copied();
            }
        }
        if !ended || self.whole.is_some() || self.parts.iter().all(Option::is_some) {
            return Ok(());
        }
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        Err(format!("--disk {}: the trace has no such disk, but {}", self.text, names.join(", ")))
    }

    fn indices(&self) -> Vec<u16> {
        match self.whole {
            Some(index) => vec![index],
            None => self.parts.iter().copied().flatten().collect(),
        }
    }
}

/// Returns the devices that a name or number can mean. A number means the device whose name ends in
/// it, as "LUN 1", "usr_1" and "dm-1" do, and a place from 0 only where no name ends in a number.
/// Digits behind others do not count unless a blank, `_` or `-` comes before them: "8,16",
/// "0x08010000" and "nvme0n1" end in no number.
fn meant(part: &str, devices: &[Device]) -> Vec<u16> {
    let all = (0..=u16::MAX).zip(devices);
    if let Some((at, _)) = all.clone().find(|(_, device)| device.name == part) {
        return vec![at];
    }
    let number = |(at, device): (u16, &'_ Device)| {
        let name = device.name.as_str();
        let is_digit = |c: char| c.is_ascii_digit();
        let (stem, digits) = name.split_at(name.trim_end_matches(is_digit).len());
        let counts = stem.ends_with([' ', '_', '-']) || !stem.contains(is_digit);
        digits.parse::<u64>().ok().filter(|_| counts).map(|number| (at, number))
    };
    let Ok(wanted) = part.parse::<u64>() else { return Vec::new() };
    let mut numbered = all.clone().filter_map(number).peekable();
    if numbered.peek().is_none() {
        return all.map(|(at, _)| at).filter(|&at| u64::from(at) == wanted).collect();
    }
    numbered.filter(|(_, number)| *number == wanted).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(names: &[&str]) -> Vec<Device> {
        let device = |name: &&str| Device { name: (*name).to_owned(), ..Device::default() };
        names.iter().map(device).collect()
    }

    fn wanted(asked: &[&str]) -> Wanted {
        Wanted::new(&asked.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn devices_are_found_by_name_number_and_between_commas() {
        let all = devices(&["8,16", "sda", "sdc"]);
        assert_eq!(wanted(&["sda"]).find(&all, true), Ok(vec![1]));
        assert_eq!(wanted(&["8,16"]).find(&all, true), Ok(vec![0]));
        assert_eq!(wanted(&["sda,0"]).find(&all, true), Ok(vec![1, 0]));
        assert_eq!(wanted(&["2", "1"]).find(&all, true), Ok(vec![2, 1]));
        assert!(wanted(&["1,sda"]).find(&all, true).unwrap_err().contains("given twice"));
        assert!(wanted(&["sdb"]).find(&all, true).unwrap_err().contains("no such disk"));
        assert!(Wanted::new(&[]).is_none());
    }

    #[test]
    fn a_number_is_that_of_the_name_where_names_have_one() {
        let all = devices(&["LUN 6", "LUN 1", "LUN 0"]);
        assert_eq!(wanted(&["1,0"]).find(&all, true), Ok(vec![1, 2]));
        assert!(wanted(&["2"]).find(&all, true).unwrap_err().contains("no such disk"));
        let both = devices(&["LUN 1", "disk 1"]);
        assert!(wanted(&["1"]).find(&both, true).unwrap_err().contains("whole name"));
        assert_eq!(wanted(&["disk 1"]).find(&both, true), Ok(vec![1]));
        let msr = devices(&["usr_1", "usr_2", "usr_0"]);
        assert_eq!(wanted(&["1,2,0"]).find(&msr, true), Ok(vec![0, 1, 2]));
        let hosts = devices(&["hm_0", "usr_0", "dm-1"]);
        assert!(wanted(&["0"]).find(&hosts, true).unwrap_err().contains("whole name"));
        assert_eq!(wanted(&["1"]).find(&hosts, true), Ok(vec![2]));
        let of_kernel = devices(&["8,16", "device 0x08010001", "nvme0n1", "src1_7"]);
        assert_eq!(wanted(&["7"]).find(&of_kernel, true), Ok(vec![3]));
        assert_eq!(wanted(&["1"]).find(&of_kernel[..3], true), Ok(vec![1]));
        let mut late = wanted(&["1"]);
        assert_eq!(late.find(&devices(&["sda", "sdb"]), false), Ok(vec![1]));
        let more = devices(&["sda", "sdb", "disk 1"]);
        assert!(late.find(&more, false).unwrap_err().contains("whole name"));
    }

    /// As in a table whose column `device` holds numbers, where a disk is quiet at first.
    #[test]
    fn a_number_that_is_a_name_is_no_place() {
        let (early, all) = (devices(&["2", "0"]), devices(&["2", "0", "1"]));
        for (asked, before, after) in [("1", vec![], vec![2]), ("0,1", vec![1], vec![1, 2])] {
            let mut late = wanted(&[asked]);
            assert_eq!(late.find(&early, false), Ok(before));
            assert_eq!(late.find(&all, true), Ok(after));
        }
        assert!(wanted(&["1"]).find(&early, true).unwrap_err().contains("no such disk"));
        let mut place = wanted(&["1"]);
        assert_eq!(place.find(&devices(&["sda", "sdb"]), false), Ok(vec![1]));
        let mixed = devices(&["sda", "sdb", "1"]);
        assert!(place.find(&mixed, true).unwrap_err().contains("several disks"));
    }

    #[test]
    fn a_device_may_come_late() {
        let mut late = wanted(&["b,a"]);
        assert_eq!(late.find(&devices(&["a"]), false), Ok(vec![0]));
        assert_eq!(late.find(&devices(&["a", "b"]), false), Ok(vec![1, 0]));
        let mut doubtful = wanted(&["0,1"]);
        assert_eq!(doubtful.find(&devices(&["0,0"]), false), Ok(vec![0]));
        assert!(doubtful.find(&devices(&["0,0", "0,1"]), false).unwrap_err().contains("number, 1"));
    }
}
