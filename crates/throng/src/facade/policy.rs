//! Policies in code. What is said becomes the text of a policy and is checked as such, so that there is one set of
//! checks, and the report shows a policy that repeats the run. Where a check fails, the error names the argument.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::{Attribute, Data};
use crate::error::{Error, ErrorCode, Result};
use crate::policy::Policy;
use crate::policy::suggest::suggest;
use crate::privacy::Spec;
use crate::table::{Reading, Storage};
use crate::watch::Unwatched;

/// A policy that is being written.
///
/// ```
/// use throng::{Attribute, ErrorCode, Policy};
///
/// let policy = Policy::builder()
///     .k(5)
///     .l(2.0)
///     .identifier("name")
///     .quasi("age")
///     .attribute("city", Attribute::quasi().weight(2.0))
///     .sensitive("illness")
///     .method("mondrian")
///     .build()?;
/// assert_eq!(policy.privacy.k(), Some(5));
///
/// let error = Policy::builder().k(0).quasi("age").build().unwrap_err();
/// assert_eq!(error.code(), ErrorCode::BadValue);
/// assert!(error.message().starts_with("the argument k: "));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "`build` makes the policy"]
pub struct PolicyBuilder {
    sections: Vec<Section>,
    /// The section and the key that were given last.
    last: Option<(usize, usize)>,
    requirements: Vec<Arc<dyn Spec>>,
}

/// `[data]`, `[privacy]`, `[method]`, `[attribute.NAME]` or `[evaluate.TASK]`.
#[derive(Clone, Debug)]
struct Section {
    heading: String,
    attribute: Option<String>,
    keys: Vec<Key>,
}

/// A key and its value as TOML, or why it has none.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub name: String,
    value: std::result::Result<toml::Value, String>,
    /// What whoever wrote it calls it.
    pub place: Option<String>,
}

pub(super) fn key(name: &str, value: impl Serialize) -> Key {
    let value = toml::Value::try_from(value).map_err(|cause| cause.to_string());
    Key { name: name.to_owned(), value, place: None }
}

impl Policy {
    /// A policy in code.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// A first policy for a table, guessed from its values and names, as `throng init` does. Its text explains each guess and
    /// marks with CHECK what is not sure, which is held back.
    ///
    /// ```
    /// use throng::{Data, Policy, Role};
    /// let people = Data::csv("name,age,city\nAda,31,Rome\nBen,34,Oslo\nCleo,36,Rome\nDan,31,Oslo\n");
    /// let policy = Policy::guess(people)?;
    /// assert_eq!(policy.attributes["age"].role, Role::Quasi);
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn guess(data: impl Into<Data>) -> Result<Self> {
        let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
        let table = data.into().open(&Reading::new(&plan, &Unwatched))?;
        let text = suggest(&table)?.text;
        Policy::parse(&text, None)
            .map_err(|error| Error::bug(format!("the suggested policy is not valid: {}", error.message())))
    }

    /// Asks for one thing more, such as a privacy model of your own.
    pub fn with_requirement(mut self, requirement: Arc<dyn Spec>) -> Self {
        self.privacy.set(requirement);
        self
    }
}

impl PolicyBuilder {
    /// Everyone looks like at least k − 1 others.
    pub fn k(self, k: usize) -> Self {
        self.require("k", k as u64)
    }

    /// l-diversity of the sensitive attributes.
    pub fn l(self, l: f64) -> Self {
        self.require("l", l)
    }

    /// t-closeness of the sensitive attributes.
    pub fn t(self, t: f64) -> Self {
        self.require("t", t)
    }

    /// The share of records that may be left out.
    pub fn suppress(self, share: f64) -> Self {
        self.require("suppress", share)
    }

    /// Any key of `[privacy]`.
    pub fn require(self, name: &str, value: impl Serialize) -> Self {
        self.set("privacy", key(name, value))
    }

    /// A privacy model of your own, beside what the keys ask for.
    pub fn requirement(mut self, requirement: Arc<dyn Spec>) -> Self {
        self.requirements.push(requirement);
        self
    }

    /// Cells that are read as missing.
    pub fn missing<S: Into<String>>(self, markers: impl IntoIterator<Item = S>) -> Self {
        let markers: Vec<String> = markers.into_iter().map(Into::into).collect();
        self.data("missing", markers)
    }

    /// Any key of `[data]`.
    pub fn data(self, name: &str, value: impl Serialize) -> Self {
        self.set("data", key(name, value))
    }

    /// Any key of `[report]`.
    pub fn report(self, name: &str, value: impl Serialize) -> Self {
        self.set("report", key(name, value))
    }

    /// The method.
    pub fn method(self, name: &str) -> Self {
        self.option("name", name)
    }

    /// The seed of all that may be repeated; drawn in every run if there is none.
    pub fn seed(self, seed: u64) -> Self {
        self.option("seed", seed)
    }

    /// An option of the method.
    pub fn option(self, name: &str, value: impl Serialize) -> Self {
        self.set("method", key(name, value))
    }

    /// An option of a task of [`Evaluate`](super::Evaluate).
    pub fn task_option(self, task: &str, name: &str, value: impl Serialize) -> Self {
        self.set(&format!("evaluate.{}", quoted(task)), key(name, value))
    }

    /// A quasi-identifier about which nothing else is to be said.
    pub fn quasi(self, name: &str) -> Self {
        self.attribute(name, Attribute::quasi())
    }

    /// A sensitive attribute about which nothing else is to be said.
    pub fn sensitive(self, name: &str) -> Self {
        self.attribute(name, Attribute::sensitive())
    }

    /// A class to predict.
    pub fn class(self, name: &str) -> Self {
        self.attribute(name, Attribute::class())
    }

    /// A column that is never published.
    pub fn identifier(self, name: &str) -> Self {
        self.attribute(name, Attribute::identifier())
    }

    /// What is said of a column; of two that say something of the same, the last counts.
    pub fn attribute(mut self, name: &str, attribute: Attribute) -> Self {
        let heading = format!("attribute.{}", quoted(name));
        self.sections.retain(|section| section.heading != heading);
        self.sections.push(Section { heading, attribute: Some(name.to_owned()), keys: attribute.keys });
        self
    }

    /// What the key that was given last is called by whoever gave it, for fronts in other languages; errors name it so.
    #[doc(hidden)]
    pub fn called(mut self, place: &str) -> Self {
        if let Some(key) =
            self.last.and_then(|(section, key)| self.sections.get_mut(section)?.keys.get_mut(key))
        {
            key.place = Some(place.to_owned());
        }
        self
    }

    /// Checks it, as if it had been written as a file.
    pub fn build(self) -> Result<Policy> {
        let (text, lines) = self.text()?;
        let policy = Policy::parse(&text, None).map_err(|error| name_argument(error, &lines))?;
        Ok(self.requirements.into_iter().fold(policy, Policy::with_requirement))
    }

    fn set(mut self, heading: &str, key: Key) -> Self {
        let known = self.sections.iter().position(|section| section.heading == heading);
        let at = known.unwrap_or_else(|| {
            self.sections.push(Section { heading: heading.to_owned(), attribute: None, keys: Vec::new() });
            self.sections.len() - 1
        });
        let keys = &mut self.sections[at].keys;
        keys.retain(|own| own.name != key.name);
        keys.push(key);
        self.last = Some((at, keys.len() - 1));
        self
    }

    /// The policy as text, and what is said in each of its lines.
    fn text(&self) -> Result<(String, Vec<Said>)> {
        let (mut text, mut lines) = (String::new(), Vec::new());
        for section in &self.sections {
            text += &format!("[{}]\n", section.heading);
            lines.push(Said { argument: None, attribute: section.attribute.clone(), place: None });
            for key in &section.keys {
                let said = Said {
                    argument: Some(key.name.clone()),
                    attribute: section.attribute.clone(),
                    place: key.place.clone(),
                };
                let value = key.value.as_ref().map_err(|cause| {
                    let message = format!("the value cannot stand in a policy: {cause}");
                    said.name(Error::new(ErrorCode::BadValue, message))
                })?;
                text += &format!("{} = {}\n", quoted(&key.name), inline(value));
                lines.push(said);
            }
        }
        Ok((text, lines))
    }
}

/// What a line of the text says.
struct Said {
    argument: Option<String>,
    attribute: Option<String>,
    place: Option<String>,
}

impl Said {
    /// Lets an error tell the argument in place of the text, which nobody has seen.
    fn name(&self, error: Error) -> Error {
        let words = match (&self.argument, &self.attribute) {
            _ if self.place.is_some() => {
                format!("the argument {}: ", self.place.as_deref().unwrap_or_default())
            }
            (Some(argument), None) => format!("the argument {argument}: "),
            (Some(argument), Some(name)) => format!("the argument {argument} of the attribute \"{name}\": "),
            (None, Some(name)) => format!("the attribute \"{name}\": "),
            (None, None) => String::new(),
        };
        let error = error.preceded_by(words).without_text();
        match &self.attribute {
            Some(name) => error.for_attribute(name),
            None => error,
        }
    }
}

/// An error elsewhere, such as in the file of a hierarchy, is left as it is.
fn name_argument(error: Error, lines: &[Said]) -> Error {
    if error.place().file.as_deref() != Some(Path::new("the policy")) {
        return error;
    }
    let line = error.place().line.and_then(|line| lines.get(line as usize - 1));
    match line {
        Some(said) if error.excerpt().is_some_and(|excerpt| !excerpt.span.is_empty()) => said.name(error),
        // What is missing altogether has no line.
        _ => error.without_text(),
    }
}

/// A value on one line, whatever it holds.
fn inline(value: &toml::Value) -> String {
    let list = |values: Vec<String>| values.join(", ");
    match value {
        toml::Value::String(text) => quoted(text),
        toml::Value::Array(values) => format!("[{}]", list(values.iter().map(inline).collect())),
        toml::Value::Table(table) => {
            let pair =
                |(name, value): (&String, &toml::Value)| format!("{} = {}", quoted(name), inline(value));
            format!("{{ {} }}", list(table.iter().map(pair).collect()))
        }
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => quoted.extend(['\\', one]),
            one if one.is_control() => quoted += &format!("\\u{:04X}", u32::from(one)),
            one => quoted.push(one),
        }
    }
    quoted + "\""
}
