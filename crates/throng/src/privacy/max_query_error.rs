//! A utility target on what a release is good for: the largest k is looked for at which COUNT queries are off by no more
//! on average (Xu et al. 2006).
//!
//! The queries are drawn over all quasi-identifiers from a seed of their own, so that every release of a table faces the
//! same ones; or they are those of a file, `queries = "file.toml"`, which may ask about sensitive and class attributes too. Other
//! records that are masked in the same way are not held to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;

use super::{Achieved, Figure, Kind, Part, Spec, spec};
use crate::data::Data;
use crate::error::{Error, ErrorCode, Result};
use crate::keys::Keys;
use crate::published::Published;
use crate::workload::written::{self, Asked};
use crate::workload::{self, Column, Spread, Told};

/// The keys `max_query_error` and `queries`.
pub const KIND: Kind = Kind {
    key: "max_query_error",
    keys: &["max_query_error", FILE],
    read: |keys| {
        keys.require_beside(FILE, "max_query_error", "max_query_error = 0.1")?;
        let file = keys.string(FILE)?.map(|file| OwnQueries::read(keys, &file)).transpose()?;
        let most = keys.above_zero("max_query_error")?;
        Ok(most.map(|most| Arc::new(MaxQueryError { most, file }) as Arc<dyn Spec>))
    },
    unasked: spec::nothing,
};

const FILE: &str = "queries";

/// How far queries on a release may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxQueryError {
    /// The mean of |estimate − exact| / exact over the queries that match a record.
    pub most: f64,
    /// The queries, unless they are drawn.
    pub file: Option<OwnQueries>,
}

/// Queries of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnQueries {
    /// Its name as the policy has it.
    name: String,
    path: PathBuf,
    text: String,
}

impl OwnQueries {
    fn read(keys: &Keys<'_, '_>, file: &Spanned<String>) -> Result<Self> {
        let path = keys.beside(file.get_ref());
        let text = std::fs::read_to_string(&path).map_err(|_| {
            let message = format!("the queries {} cannot be read", path.display());
            keys.mistake(ErrorCode::CannotRead, &file.span(), message, "cannot be read")
                .with_hint("relative names start at the folder of the policy; the file is UTF-8 text")
        })?;
        Ok(OwnQueries { name: file.get_ref().clone(), path, text })
    }

    /// Where they came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How far they are off on a release, on average.
    pub fn mean_error(&self, data: &Data, further: &[Column<'_>], spread: &Spread) -> Result<f64> {
        let asked = Asked { data, further };
        let queries = written::read_text(&asked, &self.text).map_err(|error| error.in_file(&self.path))?;
        workload::mean_error_of(data, further, &queries, spread).ok_or_else(|| {
            Error::new(ErrorCode::NoQueryMatches, "none of the queries matches a record").in_file(&self.path)
        })
    }
}

impl Spec for MaxQueryError {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn needs_ranges(&self) -> bool {
        true
    }

    fn part(&self) -> Part {
        Part::K
    }

    fn keys(&self) -> toml::Table {
        let file = self.file.iter().map(|file| (FILE.to_owned(), toml::Value::String(file.name.clone())));
        let most = [(KIND.key.to_owned(), toml::Value::Float(self.most))];
        most.into_iter().chain(file).collect()
    }

    fn binds_other_records(&self) -> bool {
        false
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let most = self.most;
        let spread = Spread::of_cells(published.data, published.cells, published.rows());
        let meaning = match self.file {
            Some(_) => "how far the queries of the file are off on the release, on average",
            None => "how far COUNT queries on the release are off, on average",
        };
        let achieved = Achieved::at_most(KIND.key, "query error", meaning);
        let error = match &self.file {
            Some(file) => Some(file.mean_error(published.data, &columns(published), &spread)?),
            None => workload::mean_count_error(published.data, &spread),
        };
        Ok(vec![match error {
            Some(error) => achieved.reached(Figure::Number(error)).limited(most, |error| {
                format!("max_query_error = {most} is required, queries are off by {error:.4}")
            }),
            None => achieved.asked(
                Figure::Number(most),
                vec![format!(
                    "max_query_error = {most} is required, but no query that was drawn matches a record"
                )],
            ),
        }])
    }
}

/// What a release tells of sensitive and class attributes. The rows of a class share their sensitive values: by permutation
/// nobody can tell whose is whose, and else it makes no difference.
fn columns<'a>(published: &'a Published<'_>) -> Vec<Column<'a>> {
    let sensitive = published.data.sensitive.iter().zip(published.sensitive);
    let shared = published.data.sensitive.len() == 1;
    let sensitive = sensitive.map(|(own, codes)| match shared {
        true => {
            let (of_row, counts) = published.counts_by_class(codes);
            Column::of(own, Told::Groups(of_row, counts))
        }
        false => Column::of(own, Told::Rows(codes.into())),
    });
    let labels = published.data.labels.iter().zip(published.labels());
    let labels = labels
        .map(|(own, codes)| Column::of(own, codes.map_or(Told::Nothing, |codes| Told::Rows(codes.into()))));
    sensitive.chain(labels).collect()
}
