//! The keys of a policy while they are read: what is written is typed and checked here, and every mistake points at its
//! place in the text.
//!
//! [`Keys`] is what a kind of requirement ([`crate::privacy::Kind`]) gets to read itself from: the keys of `[privacy]`,
//! and the roles that the rest of the policy gives to attributes.

pub(crate) mod fields;
mod size;
pub(crate) mod source;
mod values;

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;

use self::fields::{Fields, Item};
pub(crate) use self::size::{LEAST, enough, memory};
use self::source::Source;
pub(crate) use self::values::{WEIGHT_EXPECTED, above_zero, choose, is_weight, out_of_range, weight, within};
use crate::error::{Error, ErrorCode, Result};
use crate::schema::Role;
use crate::words::suggest;

/// Where something stands in the text of a policy, if it was written there.
pub type Place = Option<Range<usize>>;

/// What k may be.
pub(crate) const K_EXPECTED: &str = "a whole number of at least 1";

/// The keys of `[privacy]`.
pub struct Keys<'t, 'i> {
    pub(crate) fields: Fields<'t, 'i>,
    pub(crate) source: Source<'t>,
    /// The attributes that the policy names, in its order.
    pub(crate) roles: &'t [(&'t str, Role)],
    /// Cells read as missing.
    pub(crate) missing: &'t [String],
}

impl Keys<'_, '_> {
    /// Any number, with its place.
    pub fn number(&self, key: &str) -> Result<Option<Spanned<f64>>> {
        self.fields.number(key)
    }

    /// A string, with its place.
    pub fn string(&self, key: &str) -> Result<Option<Spanned<String>>> {
        self.fields.string(key)
    }

    /// A whole number of at least 1.
    pub fn positive(&self, key: &str) -> Result<Option<usize>> {
        self.fields.whole(key)?.map(|written| positive(self.source, key, &written)).transpose()
    }

    /// A number from 0 to 1.
    pub fn share(&self, key: &str) -> Result<Option<f64>> {
        let check = |written: Spanned<f64>| {
            let expected = "a number from 0 to 1";
            within(self.source, key, &written, expected, |share| (0.0..=1.0).contains(&share))
        };
        self.number(key)?.map(check).transpose()
    }

    /// A number above 0.
    pub fn above_zero(&self, key: &str) -> Result<Option<f64>> {
        self.number(key)?.map(|written| above_zero(self.source, key, &written)).transpose()
    }

    /// One of several words.
    pub fn choose<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        self.string(key)?.map(|written| choose(self.source, key, &written, choices)).transpose()
    }

    /// An error if a key is given that protects sensitive attributes while the policy has none.
    pub fn require_sensitive(&self, key: &str) -> Result<()> {
        match self.fields.item(key) {
            Some(item) if self.with_role(Role::Sensitive).next().is_none() => {
                Err(self.source.point(needs_sensitive(key), &item.span(), "nothing to protect"))
            }
            _ => Ok(()),
        }
    }

    /// An error if a key is given that only makes sense beside another.
    pub fn require_beside(&self, key: &str, other: &str, example: &str) -> Result<()> {
        match (self.fields.item(key), self.fields.item(other)) {
            (Some(item), None) => Err(self
                .mistake(
                    ErrorCode::MissingKey,
                    &item.span(),
                    format!("{key} belongs to {other}"),
                    format!("{other} is missing"),
                )
                .with_hint(format!("remove {key}, or add {other}, for example {example}"))),
            _ => Ok(()),
        }
    }

    /// A mistake at a place in the policy.
    pub fn mistake(
        &self,
        code: ErrorCode,
        span: &Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Error {
        self.source.error(code, span, message, label)
    }

    /// A file named in the policy: relative names start at the policy's folder.
    pub fn beside(&self, file: &str) -> PathBuf {
        self.source.beside(file)
    }

    /// The role of an attribute that the policy names.
    pub fn role(&self, attribute: &str) -> Option<Role> {
        self.roles.iter().find(|(name, _)| *name == attribute).map(|(_, role)| *role)
    }

    /// The attributes of a role.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &str> {
        self.roles.iter().filter(move |(_, own)| *own == role).map(|(name, _)| *name)
    }

    /// The attributes that the policy names.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.roles.iter().map(|(name, _)| *name).collect()
    }

    /// The values of a list of tables, none when the key is absent.
    pub(crate) fn tables(&self, key: &str) -> Result<&[Item<'_>]> {
        self.fields.items(key, "a list of tables")
    }

    /// An error if a name is not that of a quasi-identifying attribute.
    pub(crate) fn require_quasi(&self, name: &Spanned<String>) -> Result<()> {
        let label = name.get_ref();
        if self.role(label) == Some(Role::Quasi) {
            return Ok(());
        }
        let message = format!("the attribute \"{label}\" does not have the role \"quasi\" in this policy");
        let hint = if self.role(label).is_some() {
            format!("write role = \"quasi\" in its section, or remove \"{label}\" here")
        } else {
            let quasi: Vec<&str> = self.with_role(Role::Quasi).collect();
            suggest(label, &quasi, &format!("\"{label}\" needs a section of its own with role = \"quasi\""))
        };
        Err(self
            .mistake(ErrorCode::UnknownAttribute, &name.span(), message, "not a quasi-identifying attribute")
            .with_hint(hint))
    }
}

/// A whole number of at least 1.
pub(crate) fn positive(source: Source<'_>, key: &str, written: &Spanned<i64>) -> Result<usize> {
    match usize::try_from(*written.get_ref()) {
        Ok(value) if value >= 1 => Ok(value),
        _ => Err(out_of_range(source, key, written, K_EXPECTED)),
    }
}

/// A k that is not there.
pub(crate) fn missing_k(source: Source<'_>, span: &Range<usize>, of: &str) -> Error {
    source
        .error(ErrorCode::MissingKey, span, format!("{of} without k"), "k is missing here")
        .with_hint("add it, for example k = 5")
}

/// A model of sensitive attributes without any.
pub(crate) fn needs_sensitive(key: &str) -> Error {
    Error::new(
        ErrorCode::NoSensitive,
        format!("{key} protects sensitive attributes, but no attribute has the role \"sensitive\""),
    )
    .with_hint(format!(
        "write role = \"sensitive\" in the section of the attribute to protect, or leave out {key}"
    ))
}
