//! A number for each person, so that their records can be followed in a release without telling who they are.
//!
//! Numbers are drawn from the secret of the run: they have nothing to do with what the table calls people, with its order,
//! nor with the numbers of another release.

use rand::seq::SliceRandom;

use crate::error::{Error, Result};
use crate::problem::{People, Protected};
use crate::secret::Secret;
use crate::table::domain::encode_numeric;

/// The stream of random numbers.
const STREAM: u64 = 3;

/// The number of each record's person, from 1 on, as a column.
pub(super) fn numbers(people: &People, secret: &Secret, name: &str) -> Result<Protected> {
    let texts: Vec<String> = (1..=people.most()).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let encoding = encode_numeric(&texts, &vec![false; texts.len()])
        .map_err(|_| Error::bug("the numbers of people are no numbers"))?;
    let mut drawn = encoding.codes;
    drawn.shuffle(&mut secret.stream(STREAM));
    Ok(Protected {
        name: name.to_owned(),
        column: 0,
        domain: encoding.domain,
        has_hierarchy: false,
        codes: people.of_records().iter().map(|person| drawn[*person as usize]).collect(),
        people: None,
        whole: None,
    })
}
