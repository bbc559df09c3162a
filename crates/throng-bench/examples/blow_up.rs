//! Blows a table up to any number of rows.
//!
//! `cargo run --release -p throng-bench --example blow_up -- data/adult-sample.csv 1000000 big.csv [SHARE] [SEED]`

use throng_bench::{Result, blow_up};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, rows, target, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: blow_up SOURCE.csv ROWS TARGET.csv [SHARE of cells redrawn, 0.2] [SEED, 1]".into()
        );
    };
    let share = rest.first().map_or(Ok(0.2), |share| share.parse())?;
    let seed = rest.get(1).map_or(Ok(1), |seed| seed.parse())?;
    blow_up(source.as_ref(), rows.parse()?, target.as_ref(), share, seed)
}
