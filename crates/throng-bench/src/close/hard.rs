//! Tables that are hard: very many attributes, or numbers that are all different. CPU seconds of whole runs in processes of their own.

use throng_bench::Result;

use super::tables::{Cells, random};
use super::{Setting, Sheet};
use crate::sweep;

/// CPU seconds may be so many times those of mondrian, and so many more.
const TIMES: f64 = 3.0;
const MORE: f64 = 2.0;

pub fn run(setting: &Setting, sheet: &mut Sheet) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tables = [
        (60, 1_000, Cells::Flat),
        (5, 5_000, Cells::Floats),
        (5, 100_000, Cells::Floats),
        (30, 100_000, Cells::Flat),
    ];
    for (columns, rows, cells) in tables {
        let task = random(folder.path(), columns, rows, cells, 5)?;
        if !setting.wants(&task.name) {
            continue;
        }
        let policy = folder.path().join("policy.toml");
        std::fs::write(&policy, task.text("")?)?;
        let release = folder.path().join("release.csv");
        let measured = |method: &str| -> Result<(f64, f64, f64)> {
            let told = sweep::measured(&task.data, &policy, &release, method, 5, setting.threads)?;
            let of = |key: &str| told[key].as_f64().unwrap_or(f64::NAN);
            Ok((of("cpu"), of("gcp"), of("memory") / f64::from(1 << 20)))
        };
        let (plain, of_plain, _) = measured("mondrian")?;
        let (used, gcp, memory) = measured("auto")?;
        let line = format!(
            "{:<24}auto {used:.2} CPU s, {gcp:.5}, {memory:.0} MiB; mondrian {plain:.2} CPU s, {of_plain:.5}",
            task.name
        );
        sheet.at_most(&line, ("CPU s", used), TIMES * plain + MORE)?;
        sheet.at_most(&format!("{:<24}{gcp:.5}", ""), ("GCP", gcp), of_plain)?;
        if let Some(older) = setting.older() {
            let before = task.loss_of_program(older, "name = \"auto\"", setting.threads)?;
            sheet.at_most(&format!("{:<24}{gcp:.5}, before {before:.5}", ""), ("GCP", gcp), before)?;
        }
    }
    Ok(())
}
