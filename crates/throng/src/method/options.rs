//! Options of methods and tasks: what a policy's `[method]` says beyond name and seed, and `[evaluate.TASK]`.
//!
//! An owner *declares* its options: name, what they may be, default, help. What was written is checked against that once, in
//! [`Options::check`]; owners read checked options only. So a front can show every option without running anything, and the
//! place of a mistake is always an option's name.

use std::ops::Bound;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use crate::error::{Error, ErrorCode, Result};
use crate::words::did_you_mean;

/// One option of a method or a task.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OptionSpec {
    /// Its name in a policy.
    pub name: &'static str,
    /// What it may be.
    #[serde(flatten)]
    pub kind: OptionKind,
    /// What it does, in a sentence without a full stop.
    pub help: &'static str,
}

/// What an option may be, and what it is when it is not written.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OptionKind {
    /// A whole number.
    Whole {
        /// No less.
        least: u64,
        /// Without one, the owner decides.
        default: Option<u64>,
    },
    /// Any number.
    Number {
        /// Which numbers.
        #[serde(serialize_with = "in_words")]
        allowed: Numbers,
        /// Without one, the owner decides.
        default: Option<f64>,
    },
    /// `true` or `false`.
    Flag {
        /// Unless written.
        default: bool,
    },
    /// One of several words; the first is the default.
    Choice {
        /// The words.
        words: &'static [&'static str],
    },
    /// A text; the owner decides without one.
    Text,
    /// A list of texts; the owner decides without one.
    Texts,
    /// The name of a method, whose own options may be written beside it.
    Method {
        /// Unless written.
        default: &'static str,
    },
    /// A table or list whose form the owner's documentation tells.
    Structured,
}

/// A range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// Where it begins.
    pub least: Bound<f64>,
    /// Where it ends; numbers are finite in any case.
    pub most: Bound<f64>,
}

impl Numbers {
    /// Above 0.
    pub const POSITIVE: Numbers = Numbers { least: Bound::Excluded(0.0), most: Bound::Unbounded };
    /// 0 or more.
    pub const NOT_NEGATIVE: Numbers = Numbers { least: Bound::Included(0.0), most: Bound::Unbounded };
    /// 0 or more, and no more than sums can take.
    pub const WORTH: Numbers = Numbers { least: Bound::Included(0.0), most: Bound::Included(1e9) };
    /// From 0 to 1.
    pub const SHARE: Numbers = Numbers { least: Bound::Included(0.0), most: Bound::Included(1.0) };
    /// Between 0 and 1, neither of them.
    pub const INNER_SHARE: Numbers = Numbers { least: Bound::Excluded(0.0), most: Bound::Excluded(1.0) };
    /// A time that a clock can add up.
    pub const SECONDS: Numbers = Numbers { least: Bound::Excluded(0.0), most: Bound::Included(1e9) };

    /// Whether a number is one of them.
    pub fn contains(&self, number: f64) -> bool {
        let above = match self.least {
            Bound::Included(least) => number >= least,
            Bound::Excluded(least) => number > least,
            Bound::Unbounded => true,
        };
        let below = match self.most {
            Bound::Included(most) => number <= most,
            Bound::Excluded(most) => number < most,
            Bound::Unbounded => true,
        };
        number.is_finite() && above && below
    }

    /// In words.
    pub fn describe(&self) -> String {
        let least = match self.least {
            Bound::Included(least) => format!("of at least {least}"),
            Bound::Excluded(least) => format!("above {least}"),
            Bound::Unbounded => String::new(),
        };
        let most = match self.most {
            Bound::Included(most) => format!("at most {most}"),
            Bound::Excluded(most) => format!("below {most}"),
            Bound::Unbounded => String::new(),
        };
        let joint = if least.is_empty() || most.is_empty() { "" } else { " and " };
        format!("a number {least}{joint}{most}").trim_end().to_owned()
    }
}

fn in_words<S: Serializer>(numbers: &Numbers, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&numbers.describe())
}

impl OptionKind {
    /// What it may be, in words.
    pub fn expected(&self) -> String {
        match self {
            OptionKind::Whole { least, .. } => format!("a whole number of at least {least}"),
            OptionKind::Number { allowed, .. } => allowed.describe(),
            OptionKind::Flag { .. } => "true or false".to_owned(),
            OptionKind::Choice { words } => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
            OptionKind::Text => "a text in quotes".to_owned(),
            OptionKind::Texts => "a list of texts".to_owned(),
            OptionKind::Method { .. } => "the name of a method in quotes".to_owned(),
            OptionKind::Structured => "a table or list".to_owned(),
        }
    }

    /// What it is when it is not written, as a policy would write it.
    pub fn default_in_words(&self) -> Option<String> {
        match self {
            OptionKind::Whole { default, .. } => default.map(|number| number.to_string()),
            OptionKind::Number { default, .. } => default.map(|number| number.to_string()),
            OptionKind::Flag { default } => Some(default.to_string()),
            OptionKind::Choice { words } => words.first().map(|word| format!("\"{word}\"")),
            OptionKind::Method { default } => Some(format!("\"{default}\"")),
            OptionKind::Text | OptionKind::Texts | OptionKind::Structured => None,
        }
    }

    /// Whether a value may be written.
    pub fn allows(&self, value: &Value) -> bool {
        match self {
            OptionKind::Whole { least, .. } => whole(value).is_some_and(|number| number >= *least),
            OptionKind::Number { allowed, .. } => {
                number(value).is_some_and(|number| allowed.contains(number))
            }
            OptionKind::Flag { .. } => value.is_bool(),
            OptionKind::Choice { words } => value.as_str().is_some_and(|word| words.contains(&word)),
            OptionKind::Text | OptionKind::Method { .. } => value.is_str(),
            OptionKind::Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_str)),
            OptionKind::Structured => value.is_table() || value.is_array(),
        }
    }
}

fn whole(value: &Value) -> Option<u64> {
    value.as_integer().and_then(|number| u64::try_from(number).ok())
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|number| number as f64))
}

/// The words of a list of choices, for [`OptionKind::Choice`].
pub const fn words<const COUNT: usize, T>(choices: &[(&'static str, T)]) -> [&'static str; COUNT] {
    let mut words = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        words[at] = choices[at].0;
        at += 1;
    }
    words
}

/// Options that were found to be what their owner declares.
#[derive(Clone, Debug, Default)]
pub struct Options {
    declared: IndexMap<&'static str, OptionKind>,
    written: Table,
}

/// What is wrong with an option.
#[derive(Debug)]
pub struct Mistake {
    /// Its name.
    pub key: String,
    /// What is wrong.
    pub error: Error,
}

impl Options {
    /// Checks what was written for an owner, such as "the method hilbert".
    pub fn check(
        owner: &str,
        declared: impl IntoIterator<Item = OptionSpec>,
        written: &Table,
    ) -> std::result::Result<Self, Mistake> {
        let declared: IndexMap<_, _> =
            declared.into_iter().map(|option| (option.name, option.kind)).collect();
        for (key, value) in written {
            let error = match declared.get(key.as_str()) {
                None => unknown(owner, key, &declared),
                Some(kind) if !kind.allows(value) => Error::new(
                    ErrorCode::BadOption,
                    format!("the option \"{key}\" of {owner} must be {}", kind.expected()),
                ),
                Some(_) => continue,
            };
            return Err(Mistake { key: key.clone(), error });
        }
        Ok(Options { declared, written: written.clone() })
    }

    /// All options of an owner at their defaults.
    pub fn defaults(declared: &[OptionSpec]) -> Self {
        let declared = declared.iter().map(|option| (option.name, option.kind)).collect();
        Options { declared, written: Table::new() }
    }

    /// Whether an option was written.
    pub fn is_written(&self, key: &str) -> bool {
        self.written.contains_key(key)
    }

    /// A whole number that was written or has a default.
    pub fn whole(&self, key: &'static str) -> Result<u64> {
        self.whole_if_any(key)?.ok_or_else(|| undeclared(key))
    }

    /// A whole number, if one was written or there is a default.
    pub fn whole_if_any(&self, key: &'static str) -> Result<Option<u64>> {
        match self.kind(key)? {
            OptionKind::Whole { default, .. } => Ok(self.written.get(key).and_then(whole).or(default)),
            _ => Err(undeclared(key)),
        }
    }

    /// A number that was written or has a default.
    pub fn number(&self, key: &'static str) -> Result<f64> {
        self.number_if_any(key)?.ok_or_else(|| undeclared(key))
    }

    /// A number, if one was written or there is a default.
    pub fn number_if_any(&self, key: &'static str) -> Result<Option<f64>> {
        match self.kind(key)? {
            OptionKind::Number { default, .. } => Ok(self.written.get(key).and_then(number).or(default)),
            _ => Err(undeclared(key)),
        }
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &'static str) -> Result<bool> {
        match self.kind(key)? {
            OptionKind::Flag { default } => {
                Ok(self.written.get(key).and_then(Value::as_bool).unwrap_or(default))
            }
            _ => Err(undeclared(key)),
        }
    }

    /// What a word stands for.
    pub fn choice<T: Copy>(&self, key: &'static str, choices: &[(&str, T)]) -> Result<T> {
        let OptionKind::Choice { words } = self.kind(key)? else { return Err(undeclared(key)) };
        let word = self.written.get(key).and_then(Value::as_str).or(words.first().copied());
        let found = choices.iter().find(|(name, _)| Some(*name) == word).map(|(_, choice)| *choice);
        found.ok_or_else(|| undeclared(key))
    }

    /// A text, if one was written; for the name of a method, its default else.
    pub fn text(&self, key: &'static str) -> Result<Option<&str>> {
        let default = match self.kind(key)? {
            OptionKind::Text => None,
            OptionKind::Method { default } => Some(default),
            _ => return Err(undeclared(key)),
        };
        Ok(self.written.get(key).and_then(Value::as_str).or(default))
    }

    /// A list of texts, if one was written.
    pub fn texts(&self, key: &'static str) -> Result<Option<Vec<String>>> {
        let OptionKind::Texts = self.kind(key)? else { return Err(undeclared(key)) };
        let list = self.written.get(key).and_then(Value::as_array);
        Ok(list.map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect()))
    }

    /// A table or list, as written.
    pub fn structured(&self, key: &'static str) -> Result<Option<&Value>> {
        let OptionKind::Structured = self.kind(key)? else { return Err(undeclared(key)) };
        Ok(self.written.get(key))
    }

    fn kind(&self, key: &str) -> Result<OptionKind> {
        self.declared.get(key).copied().ok_or_else(|| undeclared(key))
    }
}

/// An owner reads an option in another way than it declared it.
fn undeclared(key: &str) -> Error {
    Error::bug(format!("the option {key} is not declared as it is read"))
}

fn unknown(owner: &str, key: &str, declared: &IndexMap<&'static str, OptionKind>) -> Error {
    let error = Error::new(ErrorCode::UnknownOption, format!("{owner} has no option \"{key}\""));
    match did_you_mean(key, declared.keys().copied()) {
        Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
        None if declared.is_empty() => error.with_hint("it has no options"),
        None => {
            let names: Vec<&str> = declared.keys().copied().collect();
            error.with_hint(format!("its options are {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const GOALS: &[(&str, i32)] = &[("a", 1), ("b", 2)];
    const GOAL_WORDS: [&str; GOALS.len()] = words(GOALS);
    const SPECS: &[OptionSpec] = &[
        OptionSpec { name: "rounds", kind: OptionKind::Whole { least: 1, default: Some(7) }, help: "" },
        OptionSpec {
            name: "share",
            kind: OptionKind::Number { allowed: Numbers::SHARE, default: None },
            help: "",
        },
        OptionSpec { name: "fast", kind: OptionKind::Flag { default: false }, help: "" },
        OptionSpec { name: "goal", kind: OptionKind::Choice { words: &GOAL_WORDS }, help: "" },
        OptionSpec { name: "names", kind: OptionKind::Texts, help: "" },
        OptionSpec { name: "over", kind: OptionKind::Method { default: "hilbert" }, help: "" },
    ];

    fn check(text: &str) -> std::result::Result<Options, Mistake> {
        Options::check("the method m", SPECS.iter().copied(), &text.parse().unwrap())
    }

    #[test]
    fn options_are_what_was_written_or_their_defaults() {
        let options = check("rounds = 3\nshare = 1\nfast = true\ngoal = \"b\"\nnames = [\"x\"]").unwrap();
        assert_eq!(options.whole("rounds").unwrap(), 3);
        assert_eq!(options.number_if_any("share").unwrap(), Some(1.0));
        assert!(options.flag("fast").unwrap());
        assert_eq!(options.choice("goal", GOALS).unwrap(), 2);
        assert_eq!(options.texts("names").unwrap(), Some(vec!["x".to_owned()]));
        let options = check("").unwrap();
        assert_eq!(options.whole("rounds").unwrap(), 7);
        assert_eq!(options.number_if_any("share").unwrap(), None);
        assert_eq!(options.choice("goal", GOALS).unwrap(), 1);
        assert_eq!(options.text("over").unwrap(), Some("hilbert"));
        assert!(!options.is_written("rounds"));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_right() {
        let said = |text: &str| check(text).unwrap_err().error.message().to_owned();
        assert_eq!(
            said("rounds = 0"),
            "the option \"rounds\" of the method m must be a whole number of at least 1"
        );
        assert_eq!(
            said("share = 2"),
            "the option \"share\" of the method m must be a number of at least 0 and at most 1"
        );
        assert_eq!(said("goal = \"c\""), "the option \"goal\" of the method m must be \"a\" or \"b\"");
        let mistake = check("roundz = 1").unwrap_err();
        assert_eq!(
            (mistake.key.as_str(), mistake.error.hint()),
            ("roundz", Some("did you mean \"rounds\"?"))
        );
    }

    #[test]
    fn an_option_read_otherwise_than_declared_is_a_bug() {
        let options = check("").unwrap();
        assert!(options.flag("rounds").is_err());
        assert!(options.whole("other").is_err());
    }
}
