//! Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009.
//!
//! Figures 22 to 36 and what the text says of them, on the stand-in for CENSUS: seven quasi-identifiers, occupation
//! sensitive.

mod cube;
mod direct;
mod dual;
mod measure;
mod plot;
mod synthetic;

use throng::Result;
use throng::report::{Block, Page, Section, Verdict};

use crate::{Entry, Setting};
use plot::Plots;

/// The registry entry.
pub const GHINITA: Entry = Entry {
    name: "ghinita2009",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    run,
};

fn run(setting: &Setting) -> Result<Page> {
    let mut plots = Plots::default();
    direct::anonymity(setting, &mut plots)?;
    direct::diversity(setting, &mut plots)?;
    synthetic::run(setting, &mut plots)?;
    dual::run(setting, &mut plots)?;
    cube::run(setting, &mut plots)?;
    let claims = plots.claims.clone();
    let count = |verdict: Verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let (held, partly, failed) = (count(Verdict::Held), count(Verdict::Partly), count(Verdict::Failed));
    let mut sections = vec![Section { heading: "Claims".to_owned(), blocks: vec![Block::Claims(claims)] }];
    sections.extend(plots.sections);
    Ok(Page {
        over: "Reproduction".to_owned(),
        private: false,
        title: "A framework for efficient data anonymization".to_owned(),
        subtitle: format!("{} · census9-like in place of CENSUS", GHINITA.citation),
        headline: vec![format!(
            "Of {} claims {held} held, {partly} held in part and {failed} did not hold.",
            held + partly + failed
        )],
        sections,
    })
}
