//! What is known of methods before one is run, and the list of them.

use toml::Table;

use super::options::{Mistake, OptionKind, OptionSpec, Options};
use super::{Method, STANDARD, by_need, improve, within_limits};
use crate::error::{Error, ErrorCode, Result};
use crate::privacy::Part;
use crate::words::did_you_mean;

/// What the registry knows of a method.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its name in policies and on the command line.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
    /// Where it was described.
    pub citation: &'static str,
    /// What can be relied on.
    pub guarantee: &'static str,
    /// The parts of a requirement it takes.
    pub takes: &'static [Part],
    /// The parts of a requirement it cannot do without.
    pub needs: &'static [Part],
    /// Its options.
    pub options: &'static [OptionSpec],
    /// In what it differs from most methods.
    pub traits: Traits,
    /// Makes it ready to run.
    pub configure: fn(&Options, &Methods) -> Result<Box<dyn Method>>,
}

impl Entry {
    /// A method from elsewhere: its name, what it is for, what it takes, and how it is made. The rest is as for most methods and
    /// can be set after that.
    ///
    /// ```
    /// use throng::extend::{Entry, Method, Part, Problem, Solution};
    /// use throng::Watch;
    ///
    /// struct AllInOne;
    /// impl Method for AllInOne {
    ///     fn solve(&self, problem: &Problem, _: &dyn Watch) -> throng::Result<Solution> {
    ///         Ok(Solution::from_groups([(0..problem.len() as u32).collect()]))
    ///     }
    /// }
    /// let entry = Entry::new("all-in-one", "one class of all records", &[Part::K], |_, _| Ok(Box::new(AllInOne)));
    /// assert!(throng::Registry::default().with_method(entry).methods.find("all-in-one").is_ok());
    /// ```
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        takes: &'static [Part],
        configure: fn(&Options, &Methods) -> Result<Box<dyn Method>>,
    ) -> Self {
        Entry {
            name,
            summary,
            citation: "",
            guarantee: "",
            takes,
            needs: &[],
            options: &[],
            traits: Traits::USUAL,
            configure,
        }
    }
}

impl Entry {
    /// The same with options.
    #[must_use]
    pub const fn with_options(mut self, options: &'static [OptionSpec]) -> Self {
        self.options = options;
        self
    }
}

/// In what a method differs from most; all that is done differently for some methods is decided by these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// How its groups are meant to be published.
    pub published: Published,
    /// Whether a numeric attribute is recoded by the bands of its hierarchy.
    pub recodes_by_levels: bool,
    /// The share of records it may suppress under a policy that does not say.
    pub suppresses: f64,
    /// Whether the parts of a table can be solved one by one: it groups records, and what it does with some does not depend on
    /// others elsewhere.
    pub in_parts: bool,
    /// Why a comparison runs it only when it is named; `None` if it always does.
    pub compared_if_named: Option<&'static str>,
    /// Whether its classes can be kept within limits on their loss, beside what is required of them.
    pub kept_within_limits: bool,
    /// Whether it takes less time than a proof of how little could be lost, which is then made only where it is asked for.
    pub fast: bool,
}

/// How the groups of a method are meant to be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// As cells that all records of a group share.
    AsClasses,
    /// By permutation: exact quasi-identifiers in one table, sensitive values by group in another.
    ByPermutation,
}

impl Traits {
    /// Those of most methods.
    pub const USUAL: Traits = Traits {
        published: Published::AsClasses,
        recodes_by_levels: false,
        suppresses: 0.0,
        in_parts: true,
        compared_if_named: None,
        kept_within_limits: false,
        fast: false,
    };
    /// Those of methods that put records into classes which may be changed afterwards.
    pub const GROUPING: Traits = Traits { kept_within_limits: true, ..Self::USUAL };
    /// The same for methods that take about as long as sorting.
    pub const FAST_GROUPING: Traits = Traits { fast: true, ..Self::GROUPING };
}

/// Why a method cannot be used for a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It does not take a part of it, which this key asks for.
    DoesNotTake(Part, &'static str),
    /// It cannot do without a part that is not there.
    Needs(Part),
}

impl Refusal {
    /// What the method does, to follow its name.
    pub fn describe(&self) -> String {
        match self {
            Refusal::DoesNotTake(_, key) => format!("does not take {key}"),
            Refusal::Needs(part) => format!("needs {} in [privacy]", part.name()),
        }
    }
}

/// A list of methods.
///
/// ```
/// use throng::method::Methods;
/// let methods = Methods::standard();
/// assert_eq!(methods.find("peel")?.name, "peel");
/// assert_eq!(methods.find("peal").unwrap_err().hint(), Some("did you mean \"peel\"?"));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Methods(Vec<Entry>);

impl Default for Methods {
    fn default() -> Self {
        Self::standard()
    }
}

impl Methods {
    /// The methods of this library.
    pub fn standard() -> Self {
        Methods(STANDARD.to_vec())
    }

    /// With one more, in place of one of the same name.
    #[must_use]
    pub fn with(mut self, entry: Entry) -> Self {
        self.0.retain(|own| own.name != entry.name);
        self.0.push(entry);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter()
    }

    /// The method of a name, or an error that says what there is.
    pub fn find(&self, name: &str) -> Result<&Entry> {
        self.0.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|entry| entry.name).collect();
            let hint = match did_you_mean(name, names.iter().copied()) {
                Some(guess) => format!("did you mean \"{guess}\"?"),
                None => format!("the methods are {}", names.join(", ")),
            };
            Error::new(ErrorCode::UnknownMethod, format!("there is no method \"{name}\"")).with_hint(hint)
        })
    }

    /// Why a method cannot be used for a requirement, if so; `asked` are its parts, each with the key that asks for it.
    pub fn refusal(&self, entry: &Entry, asked: &[(Part, &'static str)]) -> Option<Refusal> {
        // Hard rules hold for every method: for those that do not take them, records are divided first.
        let mut beyond = asked.iter().filter(|(part, _)| *part != Part::HardRules);
        // Limits alone ask for the most privacy; beside something that is required they are kept to.
        let required = |part: &Part| matches!(part, Part::K | Part::OwnK | Part::L | Part::T);
        let kept = entry.traits.kept_within_limits
            && asked.iter().any(|(part, _)| required(part))
            && asked.iter().all(|(part, _)| *part != Part::People);
        let takes = |part: &Part| entry.takes.contains(part) || (kept && *part == Part::MaxLoss);
        let not_taken = beyond.find(|(part, _)| !takes(part));
        let needed = || entry.needs.iter().find(|part| asked.iter().all(|(own, _)| own != *part));
        not_taken
            .map(|(part, key)| Refusal::DoesNotTake(*part, key))
            .or_else(|| needed().map(|part| Refusal::Needs(*part)))
    }

    /// An error if a method cannot be used for a requirement.
    pub fn check_takes(&self, entry: &Entry, asked: &[(Part, &'static str)]) -> Result<()> {
        let Some(refusal) = self.refusal(entry, asked) else { return Ok(()) };
        let hint = match refusal {
            Refusal::Needs(_) => {
                "it looks for the most privacy within that limit; for example max_loss = 0.3".to_owned()
            }
            Refusal::DoesNotTake(part, key) => {
                let others = self.0.iter().filter(|entry| entry.takes.contains(&part));
                let others: Vec<&str> = others.map(|entry| entry.name).collect();
                match others.is_empty() {
                    true => format!("no method of this version takes {key}; leave it out"),
                    false => format!("methods that do: {}", others.join(", ")),
                }
            }
        };
        Err(Error::new(
            ErrorCode::MethodDoesNotFit,
            format!("the method {} {}", entry.name, refusal.describe()),
        )
        .with_hint(hint))
    }

    /// The options that a method has, with those of a method that it works with.
    pub fn options(&self, entry: &Entry, written: &Table) -> Result<Vec<OptionSpec>> {
        let mut options: Vec<OptionSpec> = entry.options.to_vec();
        for option in entry.options {
            if let OptionKind::Method { default } = option.kind {
                let name = written.get(option.name).and_then(toml::Value::as_str).unwrap_or(default);
                let further = self.find(name)?.options.iter();
                options
                    .extend(further.filter(|own| entry.options.iter().all(|option| option.name != own.name)));
            }
        }
        if entry.takes.contains(&Part::OwnK) {
            options.push(by_need::OPTION);
        }
        if entry.traits.published == Published::AsClasses {
            options.push(improve::OPTION);
            options.extend(improve::FURTHER_OPTIONS);
        }
        Ok(options)
    }

    /// A method ready to run, its options checked.
    pub fn configure(&self, entry: &Entry, written: &Table) -> std::result::Result<Box<dyn Method>, Mistake> {
        let name_of_method = |error| Mistake { key: String::new(), error };
        let declared = self.options(entry, written).map_err(name_of_method)?;
        let options = Options::check(&format!("the method {}", entry.name), declared, written)?;
        let mut method = (entry.configure)(&options, self).map_err(name_of_method)?;
        if entry.takes.contains(&Part::OwnK) {
            method = by_need::unless_together(method, &options).map_err(name_of_method)?;
        }
        if entry.traits.kept_within_limits {
            method = Box::new(within_limits::WithinLimits(method));
        }
        match entry.traits.published {
            Published::AsClasses => improve::if_asked(method, &options).map_err(name_of_method),
            Published::ByPermutation => Ok(method),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_method_can_be_made_with_its_defaults_and_with_every_choice() {
        let methods = Methods::standard();
        for entry in methods.iter() {
            assert!(methods.configure(entry, &Table::new()).is_ok(), "{}", entry.name);
            for option in entry.options {
                let OptionKind::Choice { words } = option.kind else { continue };
                for word in words {
                    let written: Table = format!("{} = \"{word}\"", option.name).parse().unwrap();
                    let made = methods.configure(entry, &written);
                    assert!(made.is_ok(), "{} with {written}: {:?}", entry.name, made.err());
                }
            }
        }
    }

    #[test]
    fn every_option_says_what_it_does() {
        for entry in Methods::standard().iter() {
            for option in entry.options {
                assert!(!option.help.is_empty() && !option.help.ends_with('.'), "{}", option.name);
            }
        }
    }

    #[test]
    fn options_of_a_method_that_another_works_with_are_its_own() {
        let methods = Methods::standard();
        let entry = methods.find("accuracy-search").unwrap();
        let over: Table = "over = \"mondrian\"\nties = \"table\"".parse().unwrap();
        assert!(methods.configure(entry, &over).is_ok());
        let mistake = methods.configure(entry, &"ties = \"table\"".parse().unwrap()).err().unwrap();
        assert_eq!(mistake.key, "ties");
    }
}
