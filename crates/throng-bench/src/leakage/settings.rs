//! The tables and requirements of the study.

use std::fmt::Write as _;
use std::path::Path;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::random;
use crate::{Result, records};

/// A table with its policy but for the method.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What it is called.
    pub name: String,
    /// The table.
    pub csv: String,
    /// The policy.
    pub policy: String,
}

/// How far apart the seeds of two draws are.
const DRAWS_APART: u64 = 1 << 32;

/// Numbers are below this.
const VALUES: u32 = 10_000;

/// Shares of sensitive values in thousandths.
const THIRDS: &[u32] = &[300, 200, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50];
const HALVES: &[u32] = &[490, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51];
const SIXTHS: &[u32] = &[165, 84, 84, 84, 84, 84, 83, 83, 83, 83, 83];

/// Tables of so many records with independent numbers; the study's. Each draw gives others.
pub fn synthetic(rows: usize, draw: u64) -> Vec<Setting> {
    let setting = |dimensions, shares: &[u32], requirement: &str| Setting {
        name: format!("{dimensions}-d, {requirement}, top {:.3}", f64::from(shares[0]) / 1000.0),
        csv: numbers(rows, dimensions, shares, draw),
        policy: (0..dimensions).fold(
            format!("[privacy]\n{}\n[attribute.s]\nrole = \"sensitive\"\n", requirement.replace(", ", "\n")),
            |text, at| text + &format!("[attribute.q{at}]\nrole = \"quasi\"\nkind = \"numeric\"\n"),
        ),
    };
    vec![
        setting(1, THIRDS, "l = 3"),
        setting(2, THIRDS, "l = 3"),
        setting(2, THIRDS, "l = 3, k = 10"),
        setting(1, HALVES, "l = 2"),
        setting(3, HALVES, "l = 2"),
        setting(1, SIXTHS, "l = 6"),
        setting(3, SIXTHS, "l = 6"),
        // Just below half of what is possible: the nearest to the limit that `auto` leaves to peel.
        setting(1, SIXTHS, "l = 3"),
        setting(2, SIXTHS, "l = 3"),
        setting(3, SIXTHS, "l = 3"),
    ]
}

fn numbers(rows: usize, dimensions: usize, shares: &[u32], draw: u64) -> String {
    let mut random = random(dimensions as u64 * 1000 + u64::from(shares[0]) + DRAWS_APART * draw);
    let total: u32 = shares.iter().sum();
    let count = |share: &u32| (rows * *share as usize).div_ceil(total as usize);
    let mut values: Vec<usize> = shares
        .iter()
        .enumerate()
        .flat_map(|(value, share)| std::iter::repeat_n(value, count(share)))
        .collect();
    // Rounding up leaves a few too many of the rarest.
    values.truncate(rows);
    values.shuffle(&mut random);
    let names: Vec<String> = (0..dimensions).map(|at| format!("q{at}")).collect();
    let mut text = format!("{},s\n", names.join(","));
    for value in values {
        for _ in 0..dimensions {
            let _ = write!(text, "{},", random.random_range(0..VALUES));
        }
        let _ = writeln!(text, "v{value}");
    }
    text
}

/// Records of census9-like with Occupation shuffled, at several l. Each draw gives others.
pub fn census(folder: &Path, rows: usize, draw: u64) -> Result<Vec<Setting>> {
    let (header, mut all) = records(&folder.join("census9-like.csv.zst"))?;
    let mut random = random(9 + DRAWS_APART * draw);
    all.shuffle(&mut random);
    all.truncate(rows);
    let names: Vec<String> = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let sensitive =
        names.iter().position(|name| name == SENSITIVE).ok_or("census9-like has no Occupation")?;
    let mut values: Vec<Vec<u8>> = all.iter().map(|record| record[sensitive].to_vec()).collect();
    values.shuffle(&mut random);
    let kept: Vec<usize> =
        (0..names.len()).filter(|at| QUASI.contains(&names[*at].as_str()) || *at == sensitive).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(kept.iter().map(|at| &names[*at]))?;
    for (record, value) in all.iter().zip(&values) {
        writer
            .write_record(kept.iter().map(|at| if *at == sensitive { &value[..] } else { &record[*at] }))?;
    }
    let csv = String::from_utf8(writer.into_inner().map_err(|error| error.to_string())?)?;
    let requirements =
        ["l = 2", "l = 3", "l = 4", "l = 5", "l = 5, k = 10", "l = 6", "l = 6, k = 10", "l = 9", "l = 10"];
    Ok(requirements
        .map(|own| Setting { name: format!("census, {own}"), csv: csv.clone(), policy: policy(folder, own) })
        .to_vec())
}

const SENSITIVE: &str = "Occupation";
const QUASI: [&str; 7] = ["Age", "Gender", "Education", "Marital", "Race", "Work-class", "Country"];

fn policy(folder: &Path, requirement: &str) -> String {
    let mut text = format!("[privacy]\n{}\n", requirement.replace(", ", "\n"));
    for name in QUASI {
        let file = folder.join(format!("hierarchies/census9-like/{name}.csv"));
        let kind = match name == "Age" || !file.exists() {
            true => String::new(),
            false => format!("hierarchy = {:?}\n", file.display().to_string()),
        };
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\n{kind}");
    }
    text + &format!("[attribute.{SENSITIVE}]\nrole = \"sensitive\"\n")
}
