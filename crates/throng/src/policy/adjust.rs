//! Changes to a checked policy, such as flags of the command line that override it. The result is checked.

use std::sync::Arc;

use super::{Policy, Role};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::{K_EXPECTED, needs_sensitive};
use crate::privacy::DiversitySpec;
use crate::privacy::diversity::l_expected;

impl Policy {
    /// Requires another k.
    ///
    /// ```
    /// # let text = "[privacy]\nk = 5\n[attribute.age]\nrole = \"quasi\"\n";
    /// let policy = throng::policy::Policy::parse(text, None)?.with_k(10)?;
    /// assert_eq!(policy.privacy.k(), Some(10));
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn with_k(mut self, k: usize) -> Result<Self> {
        if k < 1 {
            return Err(Error::new(ErrorCode::BadValue, format!("k must be {K_EXPECTED}, found {k}")));
        }
        self.privacy.set_k(k);
        Ok(self)
    }

    /// Requires another l, of the form of diversity that the policy states.
    pub fn with_l(mut self, l: f64) -> Result<Self> {
        let form = self.privacy.diversity();
        if let Some(expected) = l_expected(l, form) {
            return Err(Error::new(ErrorCode::BadValue, format!("l must be {expected}, found {l}")));
        }
        if !self.attributes.values().any(|attribute| attribute.role == Role::Sensitive) {
            return Err(needs_sensitive("l"));
        }
        self.privacy.set(Arc::new(DiversitySpec { l: Some(l), form }));
        Ok(self)
    }

    /// Draws all randomness from another seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.method.seed = seed;
        self.method.seed_given = true;
        self
    }

    /// Takes another method. Of the further keys of `[method]`, which were written for the method named there, those
    /// that the other method does not have are left out when a plan is made. Whether the name is known is not checked
    /// here.
    pub fn with_method(mut self, name: &str) -> Result<Self> {
        if name.is_empty() {
            return Err(Error::new(ErrorCode::UnknownMethod, "the name of the method is empty")
                .with_hint("`throng methods` lists them"));
        }
        if self.method.name != name {
            self.method.name = name.to_owned();
            self.method.span = None;
            self.method.replaced = true;
        }
        Ok(self)
    }
}
