//! Sizes of memory as people write them.

use crate::error::{Error, ErrorCode, Result};

/// Less than this is not kept: a run takes 120 MiB for itself.
pub(crate) const LEAST: u64 = 128 << 20;

/// The bytes that a text such as `2GiB`, `500 MB` or `1073741824` says.
pub(crate) fn memory(text: &str) -> Result<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let times: Option<u64> = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kib" => Some(1 << 10),
        "m" | "mib" => Some(1 << 20),
        "g" | "gib" => Some(1 << 30),
        "t" | "tib" => Some(1 << 40),
        "kb" => Some(1_000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "tb" => Some(1_000_000_000_000),
        _ => None,
    };
    let number: Option<f64> = number.parse().ok().filter(|number: &f64| number.is_finite());
    let bytes = number.zip(times).map(|(number, times)| (number * times as f64) as u64);
    let Some(bytes) = bytes else {
        return Err(Error::new(
            ErrorCode::BadUsage,
            format!("\"{}\" is no size of memory", crate::words::shorten(text)),
        )
        .with_hint("write it like 2GiB, 500MB or 1073741824"));
    };
    enough(bytes)
}

/// The same bytes, or an error if they are too few for any run.
pub(crate) fn enough(bytes: u64) -> Result<u64> {
    match bytes >= LEAST {
        true => Ok(bytes),
        false => Err(Error::new(
            ErrorCode::BadUsage,
            "so little memory is not enough for a run, whatever the table",
        )
        .with_hint(format!("write {}MiB or more", LEAST >> 20))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("2GiB", 2 << 30),
            ("1.5 GiB", 3 << 29),
            ("500MB", 500_000_000),
            ("1g", 1 << 30),
            ("1073741824", 1 << 30),
        ] {
            assert_eq!(memory(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "GiB", "2 apples", "-1GiB", "1KiB", "1e9GiB", "nan"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }
}
