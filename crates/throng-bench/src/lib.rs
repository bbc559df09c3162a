//! What the benchmarks share: making large tables, and the baseline they are compared with.

pub mod certificates;
pub mod leakage;

use std::error::Error;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::loss::{Extent, Kernel};
use throng::method::Partition;
use throng::problem::Problem;
use throng::with_matrix;

/// Any error; benchmarks only show it.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Writes a table of `rows` records that looks like `source` (CSV, may be zstd): its records in turn, with a share of
/// cells redrawn from their column's own distribution, so that large tables do not just repeat the small one.
pub fn blow_up(source: &Path, rows: usize, target: &Path, share: f64, seed: u64) -> Result<()> {
    let (header, records) = records(source)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let file = std::fs::File::create(target)?;
    let mut writer = csv::Writer::from_writer(BufWriter::with_capacity(1 << 20, file));
    writer.write_byte_record(&header)?;
    for row in 0..rows {
        let record = &records[row % records.len()];
        for column in 0..record.len() {
            // The cell of a random record is a draw from the column's distribution.
            let drawn = random.random_bool(share).then(|| &records[random.random_range(0..records.len())]);
            writer.write_field(&drawn.unwrap_or(record)[column])?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(|error| error.to_string())?.flush()?;
    Ok(())
}

/// Writes the records of a table (CSV, may be zstd) and then variations of them, up to `rows`: in each, a random number of
/// the first `columns` cells is redrawn from the values of their columns, each value being as likely as any other.
/// Fung et al. 2007, section 5.3.
pub fn vary(source: &Path, rows: usize, target: &Path, columns: usize, seed: u64) -> Result<()> {
    let (header, records) = records(source)?;
    let columns = columns.min(header.len());
    let domains: Vec<Vec<&[u8]>> = (0..columns)
        .map(|column| {
            let mut values: Vec<&[u8]> = records.iter().map(|record| &record[column]).collect();
            values.sort_unstable();
            values.dedup();
            values
        })
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(32);
    let file = std::fs::File::create(target)?;
    let mut writer = csv::Writer::from_writer(BufWriter::with_capacity(1 << 20, file));
    writer.write_byte_record(&header)?;
    for row in 0..rows {
        let mut cells: Vec<&[u8]> = records[row % records.len()].iter().collect();
        if row >= records.len() {
            let changed = random.random_range(1..=columns);
            for column in rand::seq::index::sample(&mut random, columns, changed) {
                cells[column] = domains[column][random.random_range(0..domains[column].len())];
            }
        }
        writer.write_record(cells)?;
    }
    writer.into_inner().map_err(|error| error.to_string())?.flush()?;
    Ok(())
}

fn records(source: &Path) -> Result<(csv::ByteRecord, Vec<csv::ByteRecord>)> {
    let file = BufReader::new(std::fs::File::open(source)?);
    let compressed = source.extension().is_some_and(|ending| ending == "zst");
    let input: Box<dyn std::io::Read> =
        if compressed { Box::new(zstd::Decoder::new(file)?) } else { Box::new(file) };
    let mut reader = csv::Reader::from_reader(input);
    let header = reader.byte_headers()?.clone();
    let records = reader.byte_records().collect::<std::result::Result<Vec<_>, _>>()?;
    if records.is_empty() { Err("the source has no records".into()) } else { Ok((header, records)) }
}

/// The baseline: reads a CSV file and writes it again, with the `csv` crate.
pub fn copy_csv(source: &Path, target: &Path) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(source)?;
    let mut writer = csv::Writer::from_path(target)?;
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        writer.write_byte_record(&record)?;
    }
    Ok(writer.flush()?)
}

/// The loss of a partition, from 0 to 1.
pub fn loss(problem: &Problem, partition: &Partition) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    let sum: f64 = with_matrix!(&problem.records, matrix => {
        let loss = |group: &[u32]| kernel.ncp(&Extent::around(matrix, group)) * group.len() as f64;
        partition.groups().map(loss).sum()
    });
    sum / problem.len() as f64 / problem.total_weight()
}

/// Peak memory of this process in bytes, where the system tells it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

/// CPU seconds of this process so far, of all its threads, where the system tells them. Ticks are hundredths of a second on the
/// systems that do.
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may hold spaces: user and system time are the 14th and 15th of all fields.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(ticks as f64 / 100.0)
}
