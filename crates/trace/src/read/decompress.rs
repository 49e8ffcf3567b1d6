//! Unpacks compressed traces: gzip, bzip2, xz and Zstandard, recognized by their first bytes.

use super::members::{Bzip2, Gzip, Member, Members};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder, StreamingDecoder};
use std::io::{self, Read};

/// The most memory that unpacking may take. A file that needs more is refused.
const MOST_MEMORY_KIB: u32 = 512 << 10;

/// The first bytes of compressed files.
const GZIP: &[u8] = Gzip::MARK;
const BZIP2: &[u8] = Bzip2::MARK;
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How many bytes show whether a file is compressed.
pub(crate) const MAGIC: usize = 6;

/// Whether `head` is the beginning of a compressed file.
pub(crate) fn is_compressed(head: &[u8]) -> bool {
    [GZIP, BZIP2, XZ, ZSTD].iter().any(|magic| head.starts_with(magic))
}

/// Unpacks `bytes`, which begin with `head`.
pub(crate) fn unpack(head: &[u8], bytes: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    Ok(match head {
        _ if head.starts_with(GZIP) => Box::new(Members::<Gzip>::new(bytes)),
        _ if head.starts_with(BZIP2) => Box::new(Members::<Bzip2>::new(bytes)),
        _ if head.starts_with(XZ) => {
            Box::new(lzma_rust2::XzReader::new_mem_limit(bytes, true, MOST_MEMORY_KIB))
        }
        _ => Box::new(Frames { frame: None, bytes: Some(bytes), broken: None }),
    })
}

/// A stream, with the bytes already examined put back in front.
type Joined = io::Chain<io::Cursor<Vec<u8>>, Box<dyn Read + Send>>;
type Frame = StreamingDecoder<Joined, FrameDecoder>;

/// Length of Zstandard's magic number, in bytes.
const ZSTD_MAGIC: usize = 4;

/// An empty last block of a frame, with room for a checksum.
const END: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

/// Zstandard frames, one after another.
struct Frames {
    frame: Option<Frame>,
    bytes: Option<Box<dyn Read + Send>>,
    /// The rest of a frame that broke off, and why.
    broken: Option<(FrameDecoder, io::Error)>,
}

impl Frames {
    /// Gives up a broken frame. The decoder holds back up to megabytes that later blocks may
    /// repeat; an artificial end makes it release them.
    fn give_up(&mut self, error: io::Error) {
        let Some(frame) = self.frame.take() else { return };
        let mut decoder = frame.into_frame_decoder();
        let _ = decoder.decode_blocks(END, BlockDecodingStrategy::UptoBlocks(1));
        let error = if is_cut_off(&error) {
            io::Error::new(io::ErrorKind::UnexpectedEof, error)
        } else {
            error
        };
        self.broken = Some((decoder, error));
    }
}

/// Whether the bytes ended too early. The decoder wraps that error.
fn is_cut_off(error: &io::Error) -> bool {
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(one) = cause {
        let kind = one.downcast_ref().map(io::Error::kind);
        if kind == Some(io::ErrorKind::UnexpectedEof) {
            return true;
        }
        cause = one.source();
    }
    false
}

impl Read for Frames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some((rest, error)) = &mut self.broken {
                return match rest.read(into)? {
                    0 if !into.is_empty() => Err(io::Error::new(error.kind(), error.to_string())),
                    count => Ok(count),
                };
            }
            if let Some(frame) = &mut self.frame {
                let count = match frame.read(into) {
                    Ok(count) => count,
                    Err(error) => {
                        self.give_up(error);
                        continue;
                    }
                };
                if count > 0 || into.is_empty() {
                    return Ok(count);
                }
                self.bytes = self.frame.take().map(|frame| frame.into_inner().into_inner().1);
            }
            let Some(mut bytes) = self.bytes.take() else { return Ok(0) };
            let mut magic = Vec::new();
            bytes.by_ref().take(ZSTD_MAGIC as u64).read_to_end(&mut magic)?;
            if magic.is_empty() {
                return Ok(0);
            }
            if is_to_be_skipped(&magic) {
                let mut length = [0; 4];
                bytes.read_exact(&mut length)?;
                let length = u64::from(u32::from_le_bytes(length));
                io::copy(&mut bytes.by_ref().take(length), &mut io::sink())?;
                self.bytes = Some(bytes);
                continue;
            }
            self.frame = Some(open_frame(io::Cursor::new(magic).chain(bytes))?);
        }
    }
}

/// Whether a frame holds something other than data, as parallel compressors write.
fn is_to_be_skipped(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

fn open_frame(bytes: Joined) -> io::Result<Frame> {
    let window = u64::from(MOST_MEMORY_KIB) << 10;
    Frame::new_with_max_window_size(bytes, window)
        .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("not Zstandard: {e}")))
}

#[cfg(test)]
mod tests {
    use super::super::members::NoMember;
    use super::*;
    use std::io::Write;

    fn unpacked(packed: Vec<u8>) -> io::Result<Vec<u8>> {
        assert!(is_compressed(&packed));
        let head = packed[..MAGIC].to_vec();
        let mut out = Vec::new();
        unpack(&head, Box::new(io::Cursor::new(packed)))?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn text() -> Vec<u8> {
        (0..20_000u32).flat_map(|n| format!("{n},{}\n", n * 7 % 1000).into_bytes()).collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn several_members_and_frames_are_read_through() {
        let (text, twice) = (text(), [text(), text()].concat());
        assert_eq!(unpacked([gzip(&text), gzip(&text)].concat()).unwrap(), twice);
        assert_eq!(unpacked([bzip2(&text), bzip2(&text)].concat()).unwrap(), twice);
        let note = [&[0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        assert_eq!(unpacked([zstd(&text), note, zstd(&text)].concat()).unwrap(), twice);
    }

    #[test]
    fn bzip2_and_xz_are_read() {
        let text = text();
        assert_eq!(unpacked(bzip2(&text)).unwrap(), text);
        let options = lzma_rust2::XzOptions::with_preset(0);
        let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        packer.write_all(&text).unwrap();
        assert_eq!(unpacked(packer.finish().unwrap()).unwrap(), text);
    }

    #[test]
    fn zeros_behind_the_last_member_are_padding_and_anything_else_is_told() {
        let text = text();
        for packed in [gzip(&text), bzip2(&text)] {
            let behind = |rest: &[u8]| unpacked([&packed, rest].concat());
            for zeros in [1, 512, 100_000] {
                assert_eq!(behind(&vec![0; zeros]).unwrap(), text);
            }
            for rest in [&b"x"[..], &[0, 0, 0, 0, 1], &[0x1f, b'B', b'Z']] {
                let error = behind(rest).unwrap_err();
                assert!(error.get_ref().is_some_and(|inner| inner.is::<NoMember>()), "{error}");
            }
            let cut = behind(&packed[..1]).unwrap_err();
            assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof, "a second member: {cut}");
        }
    }

    #[test]
    fn broken_streams_are_errors() {
        for mut packed in [gzip(&text()), zstd(&text())] {
            packed.truncate(packed.len() / 2);
            let error = unpacked(packed).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
        }
    }
}
