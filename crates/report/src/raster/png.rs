//! Writes pixels as a PNG file (ISO/IEC 15948): eight bits each for red, green, blue and opacity.

use flate2::{Compression, Crc, write::ZlibEncoder};
use std::io::Write as _;

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Eight bits per channel, with opacity; the only compression method, filters by row, no
/// interlacing.
const KIND: [u8; 5] = [8, 6, 0, 0, 0];
/// The filter of every row: differences from the row above, since most of a chart repeats
/// downwards.
const UP: u8 = 2;

/// Encodes rows of `width` pixels of four bytes each, with `per_metre` pixels per metre in print.
pub fn encode(pixels: &[[u8; 4]], width: u32, height: u32, per_metre: u32) -> Vec<u8> {
    let mut out = SIGNATURE.to_vec();
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    chunk(&mut out, *b"IHDR", &[&size[..], &KIND].concat());
    let density = [per_metre.to_be_bytes(), per_metre.to_be_bytes()].concat();
    chunk(&mut out, *b"pHYs", &[&density[..], &[1]].concat());
    chunk(&mut out, *b"IDAT", &packed(pixels, width as usize));
    chunk(&mut out, *b"IEND", &[]);
    out
}

fn packed(pixels: &[[u8; 4]], width: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(pixels.len() * 4 + pixels.len() / width.max(1));
    let mut above = vec![[0; 4]; width];
    for row in pixels.chunks(width.max(1)) {
        rows.push(UP);
        for (pixel, over) in row.iter().zip(&above) {
            rows.extend(pixel.iter().zip(over).map(|(one, other)| one.wrapping_sub(*other)));
        }
        above.copy_from_slice(row);
    }
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to a vector cannot fail.
    let _ = packer.write_all(&rows);
    packer.finish().unwrap_or_default()
}

fn chunk(out: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    let mut crc = Crc::new();
    crc.update(&name);
    crc.update(content);
    out.extend((content.len() as u32).to_be_bytes());
    out.extend(name);
    out.extend(content);
    out.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read as _;

    #[test]
    fn what_is_packed_comes_out_again() {
        let pixels = [[1, 2, 3, 4], [5, 6, 7, 8], [255, 0, 9, 255], [1, 1, 1, 1]];
        let file = encode(&pixels, 2, 2, 7559);
        assert_eq!(file[..8], SIGNATURE);
        assert_eq!(file[8..33], *b"\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x06\0\0\0\x72\xb6\x0d\x24");
        let at = file.windows(4).position(|name| name == b"IDAT").expect("pixels") + 4;
        let mut rows = Vec::new();
        ZlibDecoder::new(&file[at..]).read_to_end(&mut rows).expect("packed rows");
        assert_eq!(rows[..9], [2, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(rows[9..], [2, 254, 254, 6, 251, 252, 251, 250, 249]);
    }
}
