//! Columns made by other programs, in Parquet and Arrow: what is refused, what is left out, and
//! what is read as intended.

use crate::whole;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_ipc::writer::StreamWriter;
use bytes::Bytes;
use ioscape_schema::{Device, Io, IoType, Op, Request, TraceInfo};
use ioscape_trace::{OutFormat, ReadOptions, Source, doubts};
use parquet::basic::CompressionCodec;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::metadata::ColumnChunkMetaDataBuilder;
use parquet::file::metadata::{KeyValue, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Cursor;
use std::sync::Arc;

/// A column as declared in a Parquet schema, and its values; some may be missing if optional.
type Column<'a> = (&'a str, &'a [Option<i64>]);

/// The columns that every trace has.
const NEEDED: [&str; 4] = [
    "optional int64 queued_ns",
    "optional boolean is_write",
    "optional int64 offset_bytes",
    "optional int64 length_bytes",
];
const HOUR_NS: i64 = 3_600_000_000_000;
/// A wall-clock time in nanoseconds since 1970.
const CLOCK_NS: i64 = 1_767_225_600_000_000_000;

fn parquet(columns: &[Column<'_>]) -> Vec<u8> {
    grouped(columns, 1 << 20, false)
}

/// A Parquet file with so many rows per group, marked as sorted or not.
fn grouped(columns: &[Column<'_>], group: usize, is_sorted: bool) -> Vec<u8> {
    let fields: String = columns.iter().map(|(field, _)| format!("{field};")).collect();
    let schema = parse_message_type(&format!("message trace {{ {fields} }}")).unwrap();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    if is_sorted {
        let key = "ioscape.sorted_by_queued_ns".to_owned();
        file.append_key_value_metadata(KeyValue::new(key, "true".to_owned()));
    }
    let rows = columns[0].1.len();
    for from in (0..rows).step_by(group) {
        let mut writer = file.next_row_group().unwrap();
        for (_, values) in columns {
            let mut column = writer.next_column().unwrap().unwrap();
            write(column.untyped(), &values[from..rows.min(from + group)]);
            column.close().unwrap();
        }
        writer.close().unwrap();
    }
    file.into_inner().unwrap()
}

fn write(column: &mut ColumnWriter<'_>, values: &[Option<i64>]) {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let known: Vec<i64> = values.iter().flatten().copied().collect();
    let written = match column {
        ColumnWriter::Int64ColumnWriter(to) => to.write_batch(&known, Some(&levels), None),
        ColumnWriter::Int32ColumnWriter(to) => {
            let words: Vec<i32> = known.iter().map(|value| *value as i32).collect();
            to.write_batch(&words, Some(&levels), None)
        }
        ColumnWriter::BoolColumnWriter(to) => {
            let bits: Vec<bool> = known.iter().map(|value| *value != 0).collect();
            to.write_batch(&bits, Some(&levels), None)
        }
        ColumnWriter::DoubleColumnWriter(to) => {
            let parts: Vec<f64> = known.iter().map(|value| *value as f64).collect();
            to.write_batch(&parts, Some(&levels), None)
        }
        ColumnWriter::ByteArrayColumnWriter(to) => {
            let names: Vec<ByteArray> =
                known.iter().map(|value| format!("name {value}").as_str().into()).collect();
            to.write_batch(&names, Some(&levels), None)
        }
        _ => panic!("no such type is written here"),
    };
    assert_eq!(written.unwrap(), known.len());
}

fn arrow(columns: Vec<(impl AsRef<str>, ArrayRef)>) -> Vec<u8> {
    stream(&RecordBatch::try_from_iter(columns).unwrap())
}

fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// The columns as an Arrow stream of 64-bit numbers.
fn numbers(columns: &[Column<'_>]) -> Vec<(String, ArrayRef)> {
    let column = |(field, values): &Column<'_>| -> (String, ArrayRef) {
        let name = field.split(' ').nth(2).expect("how often, the type, the name");
        (name.to_owned(), Arc::new(Int64Array::from(values.to_vec())))
    };
    columns.iter().map(column).collect()
}

/// A Parquet file and an Arrow stream of requests at these times, with additional columns.
fn at(times: &[i64], more: &[Column<'_>]) -> [Vec<u8>; 2] {
    let times: Vec<Option<i64>> = times.iter().copied().map(Some).collect();
    let (zeros, lengths) = (vec![Some(0); times.len()], vec![Some(512); times.len()]);
    let values = [&times, &zeros, &zeros, &lengths];
    let needed = NEEDED.into_iter().zip(values.map(Vec::as_slice));
    let columns: Vec<Column<'_>> = needed.chain(more.iter().copied()).collect();
    [parquet(&columns), arrow(numbers(&columns))]
}

/// The rows of files by name, or why there are none.
fn read(files: &[(&str, &[u8])], options: &ReadOptions) -> Result<(Vec<Io>, TraceInfo), String> {
    let source = |(name, bytes): &(&str, &[u8])| Source::file(*name, Cursor::new(bytes.to_vec()));
    let sources = files.iter().map(source).collect();
    whole::read(sources, options).map_err(|error| error.to_string())
}

fn times(rows: &[Io]) -> Vec<u64> {
    rows.iter().map(|io| io.queued_ns).collect()
}

#[test]
fn rows_that_lack_what_every_row_has_are_refused_or_left_out() {
    for (column, field) in NEEDED.iter().enumerate() {
        let rows: [[i64; 3]; 4] = [[5, 7, 9], [0, 1, 1], [0, 4096, 8192], [512, 512, 512]];
        let mut values = rows.map(|row| row.map(Some));
        values[column][1] = None;
        let columns: Vec<Column<'_>> =
            NEEDED.iter().zip(&values).map(|(field, values)| (*field, &values[..])).collect();
        for bytes in [parquet(&columns), arrow(numbers(&columns))] {
            let why = read(&[("t", &bytes)], &ReadOptions::default()).unwrap_err();
            let name = field.split(' ').nth(2).unwrap();
            assert!(why.starts_with("t, record 2 ("), "{why}");
            assert!(why.contains(&format!("{name} is null")), "{why}");
            let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
            let (rows, info) = read(&[("t", &bytes)], &options).unwrap();
            assert_eq!((times(&rows), info.skipped), (vec![5, 9], 1), "{name}");
        }
    }
}

#[test]
fn what_a_row_need_not_have_may_be_absent() {
    let more: [Column<'_>; 3] = [
        ("optional int64 completed_ns", &[Some(9), None]),
        ("optional int32 device", &[None, Some(1)]),
        ("optional int64 process_id", &[None, Some(77)]),
    ];
    for bytes in at(&[5, 7], &more) {
        let (rows, _) = read(&[("t", &bytes)], &ReadOptions::default()).unwrap();
        let told = rows.iter().map(|io| (io.completed_ns, io.device, io.process));
        assert_eq!(told.collect::<Vec<_>>(), [(9, 0, 0), (7, 1, 77)]);
    }
    let head = "queued_ns,is_write,offset_bytes,length_bytes,completed_ns,io_type,process_id";
    let text = format!("{head}\n5,0,0,512,9,swap,\n7,0,0,512,,,77\n");
    let (rows, _) = read(&[("t", text.as_bytes())], &ReadOptions::default()).unwrap();
    let told = rows.iter().map(|io| (io.completed_ns, io.io_type, io.process));
    assert_eq!(told.collect::<Vec<_>>(), [(9, IoType::Swap, 0), (7, IoType::Unknown, 77)]);
    let text = format!("{head}\n5,0,,512,9,swap,\n");
    let why = read(&[("t", text.as_bytes())], &ReadOptions::default()).unwrap_err();
    assert!(why.contains("offset_bytes \"\" cannot be"), "{why}");
    // What some programs write for a column with a gap.
    let why = read(&[("t", text.replace("5,0,", "5.0,0,").as_bytes())], &ReadOptions::default());
    let why = why.unwrap_err();
    assert!(why.contains("queued_ns \"5.0\" cannot be: it must be a whole number"), "{why}");
}

#[test]
fn columns_whose_numbers_stand_for_something_else_are_refused() {
    for (column, annotation, kind) in [
        ("int64 queued_ns", "TIMESTAMP(MICROS,true)", "timestamp"),
        ("int64 completed_ns", "TIMESTAMP_MILLIS", "timestamp"),
        ("int64 issued_ns", "TIME(NANOS,true)", "time"),
        ("int32 process_id", "DATE", "date"),
        ("int64 length_bytes", "DECIMAL(9,2)", "decimal"),
        ("binary length_bytes", "UTF8", "text"),
        ("double offset_bytes", "", "floating point"),
    ] {
        let annotation =
            if annotation.is_empty() { String::new() } else { format!("({annotation})") };
        let field = format!("required {column} {annotation}");
        let name = column.split(' ').nth(1).unwrap();
        let others = NEEDED.into_iter().filter(|field| !field.ends_with(name));
        let columns: Vec<Column<'_>> =
            [field.as_str()].into_iter().chain(others).map(|one| (one, &[Some(1)][..])).collect();
        let why = read(&[("t", &parquet(&columns))], &ReadOptions::default()).unwrap_err();
        let told = format!("t: column {name} is of type {kind}, not of whole numbers");
        assert!(why.starts_with(&told), "{why}");
    }
}

#[test]
fn times_of_the_clock_in_nanoseconds_and_decimals_without_a_fraction_are_whole_numbers() {
    let clock = [Some(CLOCK_NS), Some(CLOCK_NS + HOUR_NS)];
    let (zeros, sizes) = ([Some(0); 2], [Some(4096), Some(512)]);
    let columns: [Column<'_>; 4] = [
        ("required int64 queued_ns (TIMESTAMP(NANOS,false))", &clock),
        ("required boolean is_write", &zeros),
        ("required int64 offset_bytes (DECIMAL(18,0))", &sizes),
        ("required int32 length_bytes (DECIMAL(9,0))", &sizes),
    ];
    let mut arrays = numbers(&columns);
    arrays[0].1 = Arc::new(TimestampNanosecondArray::from(clock.to_vec()).with_timezone_utc());
    for bytes in [parquet(&columns), arrow(arrays)] {
        let (rows, info) = read(&[("t", &bytes)], &ReadOptions::default()).unwrap();
        let told = rows.iter().map(|io| (io.queued_ns, io.request.offset, io.request.len));
        let hour_ns = HOUR_NS.unsigned_abs();
        assert_eq!(told.collect::<Vec<_>>(), [(0, 4096, 4096), (hour_ns, 512, 512)]);
        assert_eq!(info.started_unix_ns, Some(CLOCK_NS));
    }
}

#[test]
fn words_below_zero_are_out_of_range_and_those_without_a_sign_are_not() {
    for values in [[Some(-1), Some(-1)], [Some(8), Some(-1)]] {
        for name in ["completed_ns", "process_id", "queue_length", "command"] {
            let field = format!("required int32 {name}");
            let [bytes, _] = at(&[0, 0], &[(&field, &values)]);
            let why = read(&[("t", &bytes)], &ReadOptions::default()).unwrap_err();
            assert!(why.contains(&format!("a value of {name} is out of its range")), "{why}");
        }
        let field = "required int32 process_id (INTEGER(32,false))";
        let [bytes, _] = at(&[0, 0], &[(field, &values)]);
        let (rows, _) = read(&[("t", &bytes)], &ReadOptions::default()).unwrap();
        assert_eq!(rows[1].process, u32::MAX);
    }
}

#[test]
fn arrow_streams_of_others_may_have_other_widths_names_and_gaps() {
    let columns: [(&str, ArrayRef); 6] = [
        ("queued_ns", Arc::new(UInt64Array::from(vec![5u64, 7]))),
        ("is_write", Arc::new(UInt64Array::from(vec![0u64, 1]))),
        ("offset_bytes", Arc::new(Int32Array::from(vec![512, 0]))),
        ("length_bytes", Arc::new(Int32Array::from(vec![4096, 512]))),
        ("device", Arc::new(StringArray::from(vec!["sda", "sdb"]))),
        ("process_id", Arc::new(Int32Array::from(vec![Some(77), None]))),
    ];
    let read_back = |columns: &[(&str, ArrayRef)]| {
        read(&[("t", &arrow(columns.to_vec()))], &ReadOptions::default())
    };
    let (rows, told) = read_back(&columns).unwrap();
    let seen: Vec<_> = rows.iter().map(|io| (io.queued_ns, io.request, io.completed_ns)).collect();
    let request = |op, offset, len| Request { op, offset, len };
    let first = (5, request(Op::Read, 512, 4096), 5);
    assert_eq!(seen, [first, (7, request(Op::Write, 0, 512), 7)]);
    assert_eq!((rows[0].process, rows[1].process), (77, 0));
    assert_eq!((told.format.as_str(), told.devices[1].name.as_str()), ("arrow", "sdb"));
    let refused = |columns: &[(&str, ArrayRef)]| read_back(columns).unwrap_err();
    assert!(refused(&columns[1..]).contains("without the column \"queued_ns\""));
    let mut words = columns.clone();
    words[3].1 = Arc::new(StringArray::from(vec!["4k", "8k"]));
    assert!(refused(&words).contains("column length_bytes is of type Utf8"));
    words[3].1 = Arc::new(Int32Array::from(vec![-1, 8]));
    assert!(refused(&words).contains("a value of length_bytes is out of its range"));
}

/// The same holds for names outside a dictionary.
#[test]
fn a_name_that_is_absent_is_not_the_first_of_a_dictionary() {
    let named = |names: [&str; 2]| -> ArrayRef {
        let keys = Int32Array::from(vec![Some(0), None, Some(1)]);
        let names = Arc::new(StringArray::from(names.to_vec()));
        Arc::new(DictionaryArray::<Int32Type>::try_new(keys, names).unwrap())
    };
    let (zeros, times) = ([Some(0); 3], [Some(1), Some(2), Some(3)]);
    let values = [times, zeros, zeros, [Some(512); 3]];
    let columns: Vec<Column<'_>> =
        NEEDED.into_iter().zip(values.iter().map(|values| &values[..])).collect();
    let mut columns = numbers(&columns);
    columns.push(("device".to_owned(), named(["sda", "sdb"])));
    columns.push(("command".to_owned(), named(["bash", "fio"])));
    let (rows, info) = read(&[("t", &arrow(columns))], &ReadOptions::default()).unwrap();
    let devices = rows.iter().map(|io| info.devices[usize::from(io.device)].name.as_str());
    assert_eq!(devices.collect::<Vec<_>>(), ["sda", "", "sdb"]);
    let commands = rows.iter().map(|io| info.commands[io.command as usize].as_str());
    assert_eq!(commands.collect::<Vec<_>>(), ["bash", "", "fio"]);
}

/// As pandas, pyarrow and Polars write a table with names.
#[test]
fn names_in_parquet_are_those_of_disks_and_commands() {
    let more: [Column<'_>; 2] = [
        ("optional binary device (UTF8)", &[Some(0), None, Some(1)]),
        ("optional binary command (UTF8)", &[Some(7), Some(7), None]),
    ];
    let [bytes, _] = at(&[1, 2, 3], &more);
    let (rows, info) = read(&[("t", &bytes)], &ReadOptions::default()).unwrap();
    let devices = rows.iter().map(|io| info.devices[usize::from(io.device)].name.as_str());
    assert_eq!(devices.collect::<Vec<_>>(), ["name 0", "", "name 1"]);
    let commands = rows.iter().map(|io| info.commands[io.command as usize].as_str());
    assert_eq!(commands.collect::<Vec<_>>(), ["name 7", "name 7", ""]);
}

/// Once, the advice was `--skip-bad`, which left no row.
#[test]
fn what_cannot_be_unpacked_is_refused_and_not_left_out() {
    let bytes = said(|column| column.set_compression_codec(CompressionCodec::ZSTD));
    for skip_bad in [false, true] {
        let options = ReadOptions { skip_bad, ..ReadOptions::default() };
        let why = read(&[("t", &bytes)], &options).unwrap_err();
        assert!(why.starts_with("t: compressed with zstd, which is not read: write it"), "{why}");
    }
}

/// A Parquet file of two requests that claims these compressed and uncompressed sizes, in bytes,
/// for each column.
fn said_to_have(packed: i64, unpacked: i64) -> Vec<u8> {
    said(|column| column.set_total_compressed_size(packed).set_total_uncompressed_size(unpacked))
}

/// A Parquet file of two requests whose column metadata `as_said` changes.
fn said(as_said: impl Fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder) -> Vec<u8> {
    let [mut bytes, _] = at(&[1, 2], &[]);
    let file = Bytes::from(bytes.clone());
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
    let mut metadata = metadata.into_builder();
    let mut groups = metadata.take_row_groups();
    for column in groups[0].columns_mut() {
        *column = as_said(column.clone().into_builder()).build().unwrap();
    }
    let metadata = metadata.set_row_groups(groups).build();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    bytes
}

/// As written by programs that put all rows into one group.
#[test]
fn a_large_row_group_is_read_page_by_page() {
    let bytes = said_to_have(1 << 29, 1 << 30);
    let (rows, _) = read(&[("t", &bytes)], &ReadOptions::default()).unwrap();
    assert_eq!(times(&rows), [1, 2]);
}

/// Once, `--skip-bad` counted its rows as broken records.
#[test]
fn a_column_of_a_row_group_that_is_too_large_is_refused_and_not_left_out() {
    let more = (1 << 30) + 1;
    for (bytes, skip_bad) in [
        (said_to_have(more, 1), false),
        (said_to_have(more, 1), true),
        (said_to_have(1, more), false),
        (said_to_have(1, more), true),
    ] {
        let options = ReadOptions { skip_bad, ..ReadOptions::default() };
        let why = read(&[("t", &bytes)], &options).unwrap_err();
        assert!(why.contains("a column of more than 1 GiB: write the file in smaller"), "{why}");
    }
}

/// As when a program joins the tables of two traces and keeps the metadata of one; once, reading
/// such a file never ended.
#[test]
fn a_device_that_is_in_no_table_is_another_one_whatever_those_there_are_called() {
    let times = [Some(1), Some(2)];
    let values = [times, [Some(0); 2], [Some(0); 2], [Some(512); 2], [Some(0), Some(1)]];
    let fields = NEEDED.into_iter().chain(["optional int32 device"]);
    let columns: Vec<Column<'_>> = fields.zip(values.iter().map(|values| &values[..])).collect();
    let mut batch = RecordBatch::try_from_iter(numbers(&columns)).unwrap();
    let tables = r#"{"format":"x","devices":[{"name":"disk 1"}]}"#;
    batch.schema_metadata_mut().insert("ioscape.trace", tables);
    let (rows, info) = read(&[("t", &stream(&batch))], &ReadOptions::default()).unwrap();
    assert_eq!(rows.iter().map(|io| io.device).collect::<Vec<_>>(), [0, 1]);
    let names: Vec<&str> = info.devices.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names, ["disk 1", "disk 1 (2)"], "two of one name are one in text");
}

#[test]
fn tables_that_name_no_disk_are_parts_of_one_unless_their_times_overlap() {
    let device: [Column<'_>; 1] = [("required int32 device", &[Some(0), Some(0)])];
    for format in [0, 1] {
        let told = |one: &[i64], other: &[i64], more: &[Column<'_>]| {
            let [one, other] = [one, other].map(|times| at(times, more)[format].clone());
            let files = [("vol1", &one[..]), ("vol2", &other[..])];
            let (rows, info) = read(&files, &ReadOptions::default()).unwrap();
            assert_eq!((rows.len(), info.devices.len()), (4, 1));
            doubts(&info).into_iter().map(|doubt| doubt.message).collect::<Vec<_>>()
        };
        assert_eq!(told(&[5, 6], &[7, 8], &[]), [""; 0]);
        assert_eq!(told(&[5, 9], &[6, 10], &device), [""; 0]);
        let said = told(&[5, 9], &[6, 10], &[]);
        assert!(said[0].starts_with("vol1 and vol2 name no disk and count as one"), "{said:?}");
    }
}

#[test]
fn times_of_the_clock_begin_with_the_first_row() {
    let [parquet, arrow] = at(&[CLOCK_NS, CLOCK_NS + 1000], &[]);
    let line = |ns: i64| format!("{ns},0,0,512\n");
    let text = "queued_ns,is_write,offset_bytes,length_bytes\n".to_owned()
        + &line(CLOCK_NS)
        + &line(CLOCK_NS + 1000);
    for bytes in [&parquet[..], &arrow, text.as_bytes()] {
        let (rows, info) = read(&[("t", bytes)], &ReadOptions::default()).unwrap();
        assert_eq!((times(&rows), info.started_unix_ns), (vec![0, 1000], Some(CLOCK_NS)));
    }
    // Parts, the first of which has no rows.
    let [none, _] = at(&[], &[]);
    let [late, _] = at(&[CLOCK_NS + 5000], &[]);
    let files = [("0", &none[..]), ("1", &late[..]), ("2", &parquet[..])];
    let (rows, info) = read(&files, &ReadOptions::default()).unwrap();
    assert_eq!((times(&rows), info.started_unix_ns), (vec![0, 1000, 5000], Some(CLOCK_NS)));
}

#[test]
fn times_beside_tables_count_from_the_beginning_of_the_trace_however_late_they_are() {
    let device = Device { name: "sda".to_owned(), ..Device::default() };
    let info = TraceInfo { devices: vec![device], ..TraceInfo::default() };
    let queued_ns = CLOCK_NS.unsigned_abs();
    let row = Io { queued_ns, issued_ns: queued_ns, completed_ns: queued_ns, ..Io::default() };
    for format in [OutFormat::Parquet, OutFormat::Arrow, OutFormat::Csv] {
        let bytes = whole::written(format, &[row], &info);
        let (rows, told) = read(&[("t", &bytes)], &ReadOptions::default()).unwrap();
        assert_eq!((times(&rows), told.started_unix_ns), (vec![queued_ns], None), "{format:?}");
    }
}

/// Statistics tell which row groups hold a time only if it is known what times count from.
#[test]
fn of_times_of_the_clock_the_first_group_is_read_and_others_where_they_may_begin_the_trace() {
    let times: Vec<Option<i64>> = (0..4).map(|hour| Some(CLOCK_NS + hour * HOUR_NS)).collect();
    let (zeros, lengths) = ([Some(0); 4], [Some(512); 4]);
    let values = [&times[..], &zeros, &zeros, &lengths];
    let columns: Vec<Column<'_>> = NEEDED.into_iter().zip(values).collect();
    let bytes = grouped(&columns, 1, true);
    let hours = |files: &[(&str, &[u8])], from: u64, to: u64, skip_bad: bool| {
        let hour_ns = HOUR_NS.unsigned_abs();
        let (from_ns, to_ns) = (Some(from * hour_ns), Some(to * hour_ns));
        let options = ReadOptions { from_ns, to_ns, skip_bad, ..ReadOptions::default() };
        let (rows, _) = read(files, &options).unwrap();
        rows.iter().map(|io| io.queued_ns / hour_ns).collect::<Vec<_>>()
    };
    let file = ("t", &bytes[..]);
    assert_eq!(hours(&[file], 0, 2, false), [0, 1]);
    assert_eq!(hours(&[file], 2, 4, false), [0, 2, 3]);
    assert_eq!(hours(&[file], 2, 4, true), [0, 1, 2, 3]);
    assert_eq!(hours(&[file, file], 2, 4, false), [0, 0, 1, 1, 2, 2, 3, 3]);
}
