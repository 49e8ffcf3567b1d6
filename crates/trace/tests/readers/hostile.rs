//! Broken traces: whatever the bytes, every reader returns rows or one error, in bounded time.

use crate::whole;
use ioscape_trace::{Format, ReadOptions, Source, open};
use proptest::prelude::*;
use std::io::Cursor;

/// Beginnings that lead deep into a parser.
const SEEDS: [&[u8]; 18] = [
    b"",
    b"128166372003061629,usr,0,Read,7014609920,24576,41286\n",
    b"419,W,8192,4096,1577808144360767\n",
    b"1538323200,12910952,128,0,1063\n",
    b"0,303567,3584,w,0.000000\n",
    b"1455592208.092310000,0.000147000,R,1,4096,8192\n",
    b"391053954863 4892 syslogd 904265560 8 W 6 0 531e779\n",
    b"1,5633898,2a,512,42932745\n",
    b"0.0 0 65536 4096 1\n",
    b"R Miss  16  2  14095.370 13876.270\n",
    b"fio version 3 iolog\n15 a write 4096 512\n",
    b"fio version 2 iolog\na wait 5 0\n",
    b"8,0 1 1 0.000000001 7 A W 2056 + 8 <- (8,1) 8\n8,0 1 1 0.1 7 Q W 2056 + 8 [a]\n",
    b"uio 13938 [001]  1425.254090:    block:block_rq_issue: 254,0 RA 32768 () 35571328 + 64 0x2,0,4 [uio]\n",
    b"$$TR_IOREC-1.3 (x)\0\ntracedate = \"Sat May 30 00:03:06 1992\";\n\x0c\0\0\0\x38\0\x04\0\x01",
    b"# ioscape trace {\"format\":\"x\",\"devices\":[]}\nqueued_ns,device,is_write,offset_bytes,length_bytes\n1,a,0,1,2\n",
    b"\x07tae\x01\0\0\0",
    b"PAR1",
];

fn read(bytes: Vec<u8>, options: &ReadOptions) -> usize {
    let source = Source::file("hostile", Cursor::new(bytes));
    let Ok(mut reader) = open(vec![source], options) else { return 0 };
    let mut batch = Vec::new();
    let mut rows = 0;
    while let Ok(true) = reader.next_batch(&mut batch) {
        rows += batch.len();
        let info = reader.info();
        for io in &batch {
            assert!(usize::from(io.device) < info.devices.len(), "every device is in its table");
            assert!(io.command == 0 || (io.command as usize) < info.commands.len());
            assert!(io.queued_ns <= io.issued_ns && io.issued_ns <= io.completed_ns);
        }
    }
    rows
}

fn formats() -> impl Strategy<Value = Option<Format>> {
    let all: Vec<Option<Format>> = std::iter::once(None).chain(Format::all().map(Some)).collect();
    prop::sample::select(all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn random_bytes(format in formats(), bytes in prop::collection::vec(any::<u8>(), 0..300), skip_bad: bool) {
        read(bytes, &ReadOptions { format, skip_bad, ..ReadOptions::default() });
    }

    #[test]
    fn damaged_traces(
        format in formats(), seed in prop::sample::select(&SEEDS[..]), copies in 1usize..4,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), skip_bad: bool,
    ) {
        let mut bytes = seed.repeat(copies);
        for (place, byte) in damage {
            if !bytes.is_empty() {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
        }
        read(bytes, &ReadOptions { format, skip_bad, ..ReadOptions::default() });
    }

    #[test]
    fn made_up_text(format in formats(), text in "[-0-9a-zA-Z,. \n\"(){}\\[\\]+/:<|#]{0,200}", skip_bad: bool) {
        read(text.into_bytes(), &ReadOptions { format, skip_bad, ..ReadOptions::default() });
    }
}

#[test]
fn a_line_without_end_is_refused() {
    let bytes = [&b"0,303567,3584,w,0.0\n"[..], &vec![b'1'; 8 << 20]].concat();
    let source = Source::stream("long", Cursor::new(bytes));
    let error = whole::read(vec![source], &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
}
