//! One attribute of a policy in code.

use serde::Serialize;

use super::policy::{Key, key};
use crate::policy::{Kind, Role};

/// What a policy says of one attribute.
///
/// ```
/// use throng::{Attribute, Kind, Policy};
///
/// let regions = [("South", ["Rome"]), ("North", ["Oslo"])].map(|(name, cities)| (name, cities.to_vec()));
/// let policy = Policy::builder()
///     .k(2)
///     .attribute("age", Attribute::quasi().kind(Kind::Numeric).weight(2.0))
///     .attribute("city", Attribute::quasi().groups(regions))
///     .attribute("zip", Attribute::quasi().hierarchy_set("prefix", [3, 1]))
///     .build()?;
/// # let _ = policy;
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Attribute {
    pub(super) keys: Vec<Key>,
}

impl Attribute {
    /// Could be known to someone who wants to find a person: generalized.
    pub fn quasi() -> Self {
        Self::of(Role::Quasi)
    }

    /// What must not be learned about a person: published, protected by l and t.
    pub fn sensitive() -> Self {
        Self::of(Role::Sensitive)
    }

    /// What recipients want to predict: published.
    pub fn class() -> Self {
        Self::of(Role::Class)
    }

    /// Names a person: never published.
    pub fn identifier() -> Self {
        Self::of(Role::Identifier)
    }

    /// Published as it is.
    pub fn other() -> Self {
        Self::of(Role::Other)
    }

    fn of(role: Role) -> Self {
        Attribute { keys: Vec::new() }.set("role", role.name())
    }

    /// Its kind; guessed from the table unless this says it.
    pub fn kind(self, kind: Kind) -> Self {
        self.set("kind", kind.name())
    }

    /// Its weight, above 0.
    pub fn weight(self, weight: f64) -> Self {
        self.set("weight", weight)
    }

    /// How its values are grouped: nested maps and lists, as an inline hierarchy of a policy.
    pub fn hierarchy(self, nested: impl Serialize) -> Self {
        self.set("hierarchy", nested)
    }

    /// A hierarchy of one level below the root: names of groups with their values.
    pub fn groups<N, V>(self, groups: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: IntoIterator<Item: Into<String>>,
    {
        let values = |values: V| values.into_iter().map(|value| toml::Value::String(value.into())).collect();
        let table: toml::Table =
            groups.into_iter().map(|(name, own)| (name.into(), toml::Value::Array(values(own)))).collect();
        self.set("hierarchy", table)
    }

    /// A hierarchy that is made by steps: `intervals`, `prefix` or `dates` with their list.
    pub fn hierarchy_set(self, builder: &str, steps: impl Serialize) -> Self {
        self.set("hierarchy", std::collections::BTreeMap::from([(builder, steps)]))
    }

    /// A hierarchy in a file; relative names start at the working directory.
    pub fn hierarchy_file(self, path: impl AsRef<std::path::Path>) -> Self {
        self.set("hierarchy", path.as_ref().display().to_string())
    }

    /// What the key that was given last is called by whoever gave it, for fronts in other languages; errors name it so.
    #[doc(hidden)]
    pub fn called(mut self, place: &str) -> Self {
        if let Some(key) = self.keys.last_mut() {
            key.place = Some(place.to_owned());
        }
        self
    }

    /// Any key of an attribute's section, such as `rules` or `leaf_weights`.
    pub fn set(mut self, name: &str, value: impl Serialize) -> Self {
        self.keys.retain(|own| own.name != name);
        self.keys.push(key(name, value));
        self
    }
}
