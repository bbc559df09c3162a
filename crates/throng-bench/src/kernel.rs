//! The penalty kernel against the definition written out.

use throng_bench::Result;

pub fn run() -> Result<()> {
    Ok(())
}
