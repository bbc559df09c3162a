//! The options of a method: what a policy's `[method]` says beyond name and seed.

use toml::{Table, Value};

use crate::error::{Error, Result, did_you_mean};

/// Options as written; a method takes those it knows, and what is left over is an error.
pub struct Options<'a> {
    method: &'static str,
    written: &'a Table,
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
    /// The options written for a method.
    pub fn new(method: &'static str, written: &'a Table) -> Self {
        Options { method, written, known: Vec::new() }
    }

    /// Takes a whole number of at least `least`, or the default.
    pub fn whole(&mut self, key: &'static str, least: u64, default: u64) -> Result<u64> {
        self.known.push(key);
        match self.written.get(key) {
            None => Ok(default),
            Some(Value::Integer(number)) if u64::try_from(*number).is_ok_and(|number| number >= least) => {
                Ok(*number as u64)
            }
            Some(_) => Err(Error::input(format!(
                "the option \"{key}\" of {} must be a whole number of at least {least}",
                self.method
            ))),
        }
    }

    /// Takes one of some names and returns its place; the first is the default.
    pub fn choice(&mut self, key: &'static str, names: &[&str]) -> Result<usize> {
        self.known.push(key);
        let Some(written) = self.written.get(key) else { return Ok(0) };
        let place = written.as_str().and_then(|written| names.iter().position(|name| *name == written));
        place.ok_or_else(|| {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            Error::input(format!(
                "the option \"{key}\" of {} must be one of {}",
                self.method,
                names.join(", ")
            ))
        })
    }

    /// The first option that nothing took, and an error about it.
    pub fn unknown(&self) -> Option<(&'a str, Error)> {
        let unknown = self.written.keys().find(|key| !self.known.contains(&key.as_str()))?;
        let error = Error::input(format!("the method {} has no option \"{unknown}\"", self.method));
        let error = match did_you_mean(unknown, self.known.iter().copied()) {
            Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
            None if self.known.is_empty() => error.with_hint("it has no options"),
            None => error.with_hint(format!("its options are {}", self.known.join(", "))),
        };
        Some((unknown, error))
    }
}
