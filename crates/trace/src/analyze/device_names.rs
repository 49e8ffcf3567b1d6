//! Devices by name: the sample of blocks must not depend on how a part numbers its devices.

use ioscape_schema::Device;
use ioscape_schema::chance::mix;

/// Numbers each device by its name, or by its index if it has no name.
#[derive(Clone, Debug, Default)]
pub struct DeviceNames {
    hashes: Vec<u64>,
}

impl DeviceNames {
    /// Takes in the devices added since; known devices keep their numbers.
    pub fn learn(&mut self, devices: &[Device]) {
        for device in devices.iter().skip(self.hashes.len()) {
            let unnamed = mix(self.hashes.len() as u64);
            self.hashes.push(if device.name.is_empty() { unnamed } else { hash(&device.name) });
        }
    }

    /// Returns the number of a device.
    #[inline]
    pub fn hash(&self, device: u16) -> u64 {
        let index = usize::from(device);
        self.hashes.get(index).copied().unwrap_or_else(|| mix(index as u64))
    }
}

/// Hashes the name, eight bytes at a time, with [`mix`].
fn hash(name: &str) -> u64 {
    name.as_bytes().chunks(8).fold(name.len() as u64, |hash, part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        mix(hash ^ u64::from_le_bytes(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_whatever_the_index() {
        let device = |name: &str| Device { name: name.to_owned(), ..Device::default() };
        let (mut some, mut all) = (DeviceNames::default(), DeviceNames::default());
        some.learn(&[device("sdb")]);
        all.learn(&[device("sda")]);
        all.learn(&[device("sda"), device("sdb"), device("")]);
        assert_eq!(some.hash(0), all.hash(1));
        assert_ne!(all.hash(0), all.hash(1));
        assert_eq!((all.hash(2), all.hash(9)), (mix(2), mix(9)));
    }
}
