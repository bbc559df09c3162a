//! Options of methods and tasks: what a policy's `[method]` says beyond name and seed, and `[evaluate.TASK]`.

use toml::{Table, Value};

use crate::error::{Error, Result, did_you_mean};

/// Options as written; their owner takes those it knows, and what is left over is an error.
pub struct Options<'a> {
    owner: String,
    written: &'a Table,
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
    /// The options written for an owner, such as "the method hilbert".
    pub fn new(owner: impl Into<String>, written: &'a Table) -> Self {
        Options { owner: owner.into(), written, known: Vec::new() }
    }

    /// Takes a whole number of at least `least`, or the default.
    pub fn whole(&mut self, key: &'static str, least: u64, default: u64) -> Result<u64> {
        let number = |value: &Value| value.as_integer().and_then(|number| u64::try_from(number).ok());
        let expected = format!("a whole number of at least {least}");
        self.take(key, &expected, |value| number(value).filter(|number| *number >= least))
            .map(|found| found.unwrap_or(default))
    }

    /// Takes a number that `allowed` accepts, `expected` in words.
    pub fn number(
        &mut self,
        key: &'static str,
        expected: &str,
        allowed: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        let number = |value: &Value| value.as_float().or(value.as_integer().map(|number| number as f64));
        self.take(key, expected, |value| number(value).filter(|number| allowed(*number)))
    }

    /// Takes `true` or `false`.
    pub fn flag(&mut self, key: &'static str, default: bool) -> Result<bool> {
        self.take(key, "true or false", Value::as_bool).map(|found| found.unwrap_or(default))
    }

    /// Takes one of several words; the first is the default.
    pub fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Result<T> {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let find = |value: &Value| {
            choices.iter().find(|(name, _)| value.as_str() == Some(name)).map(|(_, choice)| *choice)
        };
        let found = self.take(key, &names.join(" or "), find)?;
        found
            .or_else(|| choices.first().map(|(_, choice)| *choice))
            .ok_or_else(|| Error::bug(format!("the option {key} has no choices")))
    }

    /// Takes a text.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>> {
        self.take(key, "a text in quotes", |value| value.as_str().map(str::to_owned))
    }

    /// Takes a list of texts.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.take(key, "a list of texts", |value| value.as_array()?.iter().map(text).collect())
    }

    /// Takes a value of any type, as written.
    pub fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.written.get(key)
    }

    fn take<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        self.value(key)
            .map(|value| {
                read(value).ok_or_else(|| {
                    Error::input(format!("the option \"{key}\" of {} must be {expected}", self.owner))
                })
            })
            .transpose()
    }

    /// The first option that nothing took, and an error about it.
    pub fn unknown(&self) -> Option<(&'a str, Error)> {
        let unknown = self.written.keys().find(|key| !self.known.contains(&key.as_str()))?;
        let error = Error::input(format!("{} has no option \"{unknown}\"", self.owner));
        let error = match did_you_mean(unknown, self.known.iter().copied()) {
            Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
            None if self.known.is_empty() => error.with_hint("it has no options"),
            None => error.with_hint(format!("its options are {}", self.known.join(", "))),
        };
        Some((unknown, error))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn options_are_taken_checked_and_counted() {
        let written: Table =
            "rounds = 3\nshare = 1\nfast = true\ngoal = \"b\"\nnames = [\"x\"]\nroundz = 1".parse().unwrap();
        let mut options = Options::new("the method m", &written);
        assert_eq!(options.whole("rounds", 1, 7).unwrap(), 3);
        assert_eq!(options.whole("absent", 1, 7).unwrap(), 7);
        assert_eq!(options.number("share", "a share", |share| share <= 1.0).unwrap(), Some(1.0));
        assert!(options.flag("fast", false).unwrap());
        assert_eq!(options.choice("goal", &[("a", 1), ("b", 2)]).unwrap(), 2);
        assert_eq!(options.choice("none", &[("a", 1), ("b", 2)]).unwrap(), 1);
        assert_eq!(options.texts("names").unwrap(), Some(vec!["x".to_owned()]));
        let (unknown, error) = options.unknown().unwrap();
        assert_eq!(unknown, "roundz");
        assert_eq!(error.hint(), Some("did you mean \"rounds\"?"));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_right() {
        let written: Table = "rounds = 0\ngoal = \"c\"\nname = 7".parse().unwrap();
        let mut options = Options::new("the task t", &written);
        let message = |error: Error| error.message().to_owned();
        assert_eq!(
            message(options.whole("rounds", 1, 7).unwrap_err()),
            "the option \"rounds\" of the task t must be a whole number of at least 1"
        );
        assert_eq!(
            message(options.choice("goal", &[("a", 1), ("b", 2)]).unwrap_err()),
            "the option \"goal\" of the task t must be \"a\" or \"b\""
        );
        assert!(options.text("name").is_err());
    }
}
