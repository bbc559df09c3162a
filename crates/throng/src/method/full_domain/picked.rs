//! A string that somebody picks, such as one of those that a report lists: `string = [2, 0, 1]`, a level for each
//! quasi-identifier in the order of the table.

use super::goal::Measure;
use super::lattice::Lattice;
use super::search::{Found, Scored};
use crate::error::{Error, ErrorCode, Result};
use crate::method::options::Options;

/// Reads it from the options of a policy.
pub(super) fn read(options: &Options) -> Result<Option<Vec<u8>>> {
    let Some(written) = options.structured("string")? else { return Ok(None) };
    let level = |value: &toml::Value| value.as_integer().and_then(|level| u8::try_from(level).ok());
    let levels = written.as_array().and_then(|list| list.iter().map(level).collect::<Option<Vec<u8>>>());
    levels.map(Some).ok_or_else(|| {
        Error::new(ErrorCode::BadOption, "string must be a list of levels, one for each quasi-identifier")
            .with_hint("for example string = [2, 0, 1]; level 0 is the values themselves")
    })
}

/// The string, if it may be published.
pub(super) fn found(string: &[u8], lattice: &Lattice<'_>, measure: &Measure<'_>) -> Result<Found> {
    let own = &lattice.attributes;
    let names = || lattice.problem.attributes.iter().map(|attribute| attribute.name.as_str());
    if string.len() != own.len() {
        let (given, wanted) = (string.len(), own.len());
        let message = format!("string has {given} levels, but there are {wanted} quasi-identifiers");
        let names: Vec<&str> = names().collect();
        return Err(Error::new(ErrorCode::BadOption, message)
            .with_hint(format!("give one level for each of {}", names.join(", "))));
    }
    for ((level, own), name) in string.iter().zip(own).zip(names()) {
        if *level > own.top {
            let message = format!("string gives \"{name}\" level {level}, but its levels end at {}", own.top);
            return Err(Error::new(ErrorCode::BadOption, message).for_attribute(name));
        }
        if !(own.lowest..=own.highest).contains(level) {
            let message = format!("\"{name}\" cannot be published at level {level}");
            let hint = format!(
                "of its levels {} to {} are left: finer ones fail by themselves, coarser ones break a hard rule",
                own.lowest, own.highest
            );
            return Err(Error::new(ErrorCode::RequirementUnreachable, message)
                .for_attribute(name)
                .with_hint(hint));
        }
    }
    let groups = lattice.groups(string);
    if !lattice.verdict(&groups).valid {
        let message = "the picked string does not meet the requirement";
        return Err(Error::new(ErrorCode::RequirementUnreachable, message)
            .with_hint("raise some of its levels, or leave string out and let the search find one"));
    }
    let score = measure.score(string, &groups);
    let best = Scored::alone(string.to_vec(), score, lattice.tops(string));
    Ok(Found { best: Some(best), equal: Vec::new(), bound: score, proven: false, tests: 1, nodes: 0 })
}
