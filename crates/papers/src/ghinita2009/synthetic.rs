//! Correlated data of section 7.2: figure 28.
//!
//! Four quasi-identifiers of 0 … 9, evenly distributed; with probability α the sensitive value is a linear function of
//! them modulo 10, else a random one. The paper does not tell the coefficients, the number of records or l: we take
//! 1, 2, 3 and 4, 100,000 records and l = 5.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::report::{Unit, Verdict};
use throng::{Error, ErrorCode, Result};

use super::measure::Data;
use super::plot::{Figure, Plots};
use crate::{Setting, say};

/// Figure 28.
pub fn run(setting: &Setting, plots: &mut Plots) -> Result<()> {
    say("correlated data: figure 28");
    let (rows, words) = match setting.quick {
        true => (5_000, "5,000 records, l = 5."),
        false => (100_000, "100,000 records, l = 5."),
    };
    let mut gcp = Figure::new("Figure 28 (a): GCP", "α", Unit::Share);
    let mut time = Figure::new("Figure 28 (b): time", "α", Unit::Seconds);
    for tenths in 0..=5 {
        let alpha = f64::from(tenths) / 10.0;
        let data = table(rows, alpha)?;
        for method in ["hilbert", "idistance", "mondrian"] {
            let (_, found) = data.run("l = 5", &format!("name = \"{method}\""))?;
            gcp.set(&alpha.to_string(), method, found.gcp);
            time.set(&alpha.to_string(), method, found.seconds);
        }
    }
    let (hilbert, mondrian) = (gcp.of("hilbert"), gcp.of("mondrian"));
    let grows = |values: &[f64]| values.last().unwrap_or(&0.0) - values.first().unwrap_or(&0.0);
    let collapses = grows(&mondrian) > 2.0 * grows(&hilbert);
    plots.claim(
        "Mondrian deteriorates with correlation, Hilbert much less",
        if collapses { Verdict::Held } else { Verdict::Failed },
        format!(
            "GCP from α = 0 to 0.5: mondrian + {:.4}, hilbert + {:.4}",
            grows(&mondrian),
            grows(&hilbert)
        ),
    );
    let overtaken = hilbert.iter().zip(&mondrian).skip(1);
    let well = overtaken.clone().filter(|(hilbert, mondrian)| hilbert < mondrian).count();
    let list =
        |values: &[f64]| values.iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(" / ");
    plots.claim(
        "Hilbert overtakes Mondrian as soon as there is correlation (α = 0.1 … 0.5)",
        Verdict::of(well, overtaken.count()),
        format!("α = 0 … 0.5: hilbert {}; mondrian {}", list(&hilbert), list(&mondrian)),
    );
    let without = mondrian.first() < hilbert.first();
    plots.claim(
        "Without correlation Mondrian does well: it loses less than iDistance",
        if mondrian.first() < gcp.of("idistance").first() { Verdict::Held } else { Verdict::Failed },
        format!("at α = 0 Mondrian loses {} than Hilbert", if without { "less" } else { "more" }),
    );
    plots.show("l-diversity, correlated data", words, vec![gcp, time]);
    Ok(())
}

fn table(rows: usize, alpha: f64) -> Result<Data> {
    use std::fmt::Write;
    let mut random = ChaCha8Rng::seed_from_u64(28);
    let mut text = "A1,A2,A3,A4,S\n".to_owned();
    for _ in 0..rows {
        let codes: [u32; 4] = std::array::from_fn(|_| random.random_range(0..10));
        let linear: u32 =
            codes.iter().zip([1, 2, 3, 4]).map(|(code, factor)| code * factor).sum::<u32>() % 10;
        let value = if random.random_bool(alpha) { linear } else { random.random_range(0..10) };
        let [a, b, c, d] = codes;
        writeln!(text, "{a},{b},{c},{d},v{value}")
            .map_err(|_| Error::bug("a table that cannot be written"))?;
    }
    let fail =
        |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", &std::env::temp_dir(), &cause);
    let folder = tempfile::tempdir().map_err(fail)?;
    let path = folder.path().join("correlated.csv");
    std::fs::write(&path, text).map_err(fail)?;
    let quasi = |at: usize| format!("[attribute.A{at}]\nrole = \"quasi\"\nkind = \"numeric\"\n");
    let attributes = (1..=4).map(quasi).collect::<String>() + "[attribute.S]\nrole = \"sensitive\"\n";
    Ok(Data::made(folder, path, attributes))
}
