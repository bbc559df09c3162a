//! Groups that regulators publish, with their sources.
//!
//! **HIPAA Safe Harbor** (45 CFR 164.514(b)(2)(i)): of ZIP codes the first three digits are kept, and those of areas with 20,000
//! people or fewer become 000 (B); of dates the year is kept, and all ages over 89, with all that tells of them, become one group
//! (C). The rule says what may be published at all, whatever k is: so these builders have a *finest* level, and nothing below
//! it is ever published. A tree alone would let a class of equal dates of birth be published with its day.
//!
//! **EMA**: the age groups of ICH E11(R1) for children, and of the EU Clinical Trials Register for adults (18-64, 65-84, 85 and
//! over). They are groups to report in, not a limit: single ages may be published where k allows it. Policy 0070's guidance on
//! anonymisation asks to generalize ages and prescribes no bands of its own.
//!
//! Whoever meets these rules is not thereby anonymous, nor is the rest of Safe Harbor's list of identifiers checked here.

use super::Spelling;
use super::value;

/// The three-digit areas that held 20,000 people or fewer in the census of 2000, as the guidance of HHS on de-identification lists
/// them (section 3.1). HHS asks to use newer figures of the census where there are some.
const RESTRICTED_2000: [&str; 17] = [
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879", "884",
    "890", "893",
];
/// In place of the digits of a restricted area.
const RESTRICTED: &str = "000";
/// An area may be told if more people live there.
pub const FEW_PEOPLE: u64 = 20_000;
/// Ages from here on are one group.
pub const OLDEST: i64 = 90;
/// Ages at which a group of ICH E11 and of the EU register begins, its name, and that of the group around it.
const AGE_GROUPS: [(f64, &str, &str); 6] = [
    (0.0, "0-23 months", "under 18 years"),
    (2.0, "2-11 years", "under 18 years"),
    (12.0, "12-17 years", "under 18 years"),
    (18.0, "18-64 years", "18-64 years"),
    (65.0, "65-84 years", "65 years and over"),
    (85.0, "85 years and over", "65 years and over"),
];

/// Groups that a regulator publishes.
#[derive(Clone, Debug, PartialEq)]
pub enum Official {
    /// Safe Harbor, ages in years: from 90 on one group. Below it, bands of these widths for methods that recode by levels.
    Age(Vec<f64>),
    /// Safe Harbor, dates that tell nothing of an age over 89: the year.
    Date,
    /// Safe Harbor, dates of birth: the year, and those who are or become 90 in this year or before in one group.
    Birth(i64),
    /// Safe Harbor, ZIP codes: three digits.
    Zip(Areas),
    /// Age groups of ICH E11 and the EU register, ages in years.
    EmaAge,
}

/// Which three-digit areas are told.
#[derive(Clone, Debug, PartialEq)]
pub enum Areas {
    /// All but the list of HHS from the census of 2000.
    Census2000,
    /// All but these.
    AllBut(Vec<String>),
    /// These alone.
    Only(Vec<String>),
}

/// What is wrong with the keys of a builder: the key, and a sentence.
pub type Wrong = (&'static str, String);

impl Official {
    /// The keys that say which builder it is.
    pub const KEYS: [&'static str; 2] = ["safe_harbor", "ema"];
    /// All keys of these builders.
    pub const ALL_KEYS: [&'static str; 6] =
        ["safe_harbor", "ema", "intervals", "as_of", "restricted", "kept"];

    /// Reads what a policy or a recipe says.
    pub fn read(keys: &toml::Table) -> Result<Self, Wrong> {
        let word = |key: &str| keys.get(key).and_then(toml::Value::as_str);
        let (own, allowed) = match (word("safe_harbor"), word("ema")) {
            (Some("age"), None) => (Official::Age(widths(keys)?), &["intervals"][..]),
            (Some("date"), None) => (Official::Date, &[][..]),
            (Some("birth"), None) => (Official::Birth(as_of(keys)?), &["as_of"][..]),
            (Some("zip"), None) => (Official::Zip(areas(keys)?), &["restricted", "kept"][..]),
            (None, Some("age")) => (Official::EmaAge, &[][..]),
            (Some(_), Some(_)) => {
                return Err(("ema", "a hierarchy is of one regulator, not of two".to_owned()));
            }
            (None, Some(_)) => return Err(("ema", "ema has the builder \"age\"".to_owned())),
            _ => {
                let message = "safe_harbor has the builders \"age\", \"birth\", \"date\" and \"zip\"";
                return Err(("safe_harbor", message.to_owned()));
            }
        };
        let further = Self::ALL_KEYS.iter().skip(Self::KEYS.len());
        match further.into_iter().find(|key| keys.contains_key(**key) && !allowed.contains(key)) {
            Some(key) => Err((key, format!("{key} has no use in this builder"))),
            None => Ok(own),
        }
    }

    /// Reads words such as `zip`, `birth 2026-12-31` or `zip 036 059`, for whoever has no keys.
    pub fn of_words(builder: &str, words: &[&str]) -> Result<Self, Wrong> {
        let mut keys = toml::Table::new();
        keys.insert(builder.to_owned(), words.first().copied().unwrap_or_default().into());
        match words {
            ["birth", day, ..] => drop(keys.insert("as_of".to_owned(), (*day).into())),
            ["zip", areas @ ..] if !areas.is_empty() => {
                let areas: Vec<String> = areas.iter().map(|area| (*area).to_owned()).collect();
                drop(keys.insert("restricted".to_owned(), areas.into()));
            }
            _ => {}
        }
        Self::read(&keys)
    }

    /// The value of `hierarchy` that says it.
    pub fn text(&self) -> String {
        toml::Value::Table(self.keys()).to_string()
    }

    /// The keys that say it.
    pub fn keys(&self) -> toml::Table {
        let list = |own: &[String]| toml::Value::from(own.to_vec());
        let pairs = match self {
            Official::Age(widths) if widths.is_empty() => vec![("safe_harbor", "age".into())],
            Official::Age(widths) => {
                vec![("safe_harbor", "age".into()), ("intervals", widths.clone().into())]
            }
            Official::Date => vec![("safe_harbor", "date".into())],
            Official::Birth(year) => {
                vec![("safe_harbor", "birth".into()), ("as_of", format!("{year:04}-12-31").into())]
            }
            Official::Zip(Areas::Census2000) => vec![("safe_harbor", "zip".into())],
            Official::Zip(Areas::AllBut(own)) => {
                vec![("safe_harbor", "zip".into()), ("restricted", list(own))]
            }
            Official::Zip(Areas::Only(own)) => vec![("safe_harbor", "zip".into()), ("kept", list(own))],
            Official::EmaAge => vec![("ema", "age".into())],
        };
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// Whether it groups numbers, which are published as ranges.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Official::Age(_))
    }

    /// Whether values are published no finer than its first level.
    pub fn has_finest(&self) -> bool {
        matches!(self, Official::Date | Official::Birth(_) | Official::Zip(_))
    }

    /// Whether it reads dates or numbers, so that it must be known how they are spelt.
    pub fn is_spelt(&self) -> bool {
        !matches!(self, Official::Zip(_))
    }

    /// What a cell must be.
    pub fn asks_for(&self) -> String {
        match self {
            Official::Age(_) | Official::EmaAge => "an age in years".to_owned(),
            Official::Date => "a date like 2024-02-29 or a year".to_owned(),
            Official::Birth(year) => format!("a date of birth like 1985-11-19 or a year, up to {year}"),
            Official::Zip(_) => "a ZIP code of five digits, such as 53711 or 53711-1234".to_owned(),
        }
    }

    /// Where it comes from, for reports.
    pub fn source(&self) -> &'static str {
        match self {
            Official::Age(_) | Official::Date | Official::Birth(_) => {
                "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)"
            }
            Official::Zip(Areas::Census2000) => {
                "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(B), with the list of HHS from the census of 2000; \
                 newer figures of the census, where there are some, must be given as population or restricted"
            }
            Official::Zip(_) => {
                "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)(i)(B), with areas that the policy gives"
            }
            Official::EmaAge => "the age groups of ICH E11(R1) and of the EU Clinical Trials Register",
        }
    }

    /// The labels of a value from the finest that may be published upwards, if the regulator has a place for it. The finest label
    /// is its own value.
    pub fn path(&self, spelling: &Spelling, text: &str) -> Option<Vec<String>> {
        match self {
            Official::Age(_) => spelling.read(text).filter(|age| *age >= 0.0).map(|_| vec![text.to_owned()]),
            Official::Date => Some(by_year(year_of(spelling, text)?)),
            Official::Birth(as_of) => {
                let oldest = as_of - OLDEST;
                let old = format!("{oldest:04} or earlier");
                if text == old {
                    return Some(vec![old]);
                }
                let year = year_of(spelling, text).filter(|year| year <= as_of)?;
                Some(if year <= oldest { vec![old] } else { by_year(year) })
            }
            Official::Zip(areas) => {
                let digits = three_digits(text)?;
                Some(match areas.tell(digits) {
                    true => {
                        vec![digits.to_owned(), format!("{}*", &digits[..2]), format!("{}*", &digits[..1])]
                    }
                    false => vec![RESTRICTED.to_owned()],
                })
            }
            Official::EmaAge => {
                let age = spelling.read(text).filter(|age| *age >= 0.0)?;
                let (_, group, around) = AGE_GROUPS.iter().rev().find(|(from, ..)| *from <= age)?;
                Some(vec![text.to_owned(), (*group).to_owned(), (*around).to_owned()])
            }
        }
    }
}

impl Areas {
    fn tell(&self, digits: &str) -> bool {
        let among = |own: &[String]| own.iter().any(|area| area == digits);
        digits != RESTRICTED
            && match self {
                Areas::Census2000 => !RESTRICTED_2000.contains(&digits),
                Areas::AllBut(restricted) => !among(restricted),
                Areas::Only(kept) => among(kept),
            }
    }
}

/// The first three digits of a ZIP code; three digits are themselves.
pub fn three_digits(text: &str) -> Option<&str> {
    let (code, further) = text.split_once('-').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = matches!((code.len(), further.len()), (3 | 5 | 9, 0) | (5, 4));
    let dashed = text.contains('-') != further.is_empty();
    (fits && dashed && digits(code) && digits(further)).then(|| &code[..3])
}

fn year_of(spelling: &Spelling, text: &str) -> Option<i64> {
    let alone = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    match alone {
        true => text.parse().ok(),
        false => spelling.year_and_month(text).map(|(year, _)| year),
    }
}

fn by_year(year: i64) -> Vec<String> {
    vec![format!("{year:04}"), format!("{:03}0s", year / 10)]
}

fn widths(keys: &toml::Table) -> Result<Vec<f64>, Wrong> {
    let wrong =
        || ("intervals", "intervals must be widths above 0, each a multiple of the one before".to_owned());
    let Some(list) = keys.get("intervals") else { return Ok(Vec::new()) };
    let number = |own: &toml::Value| own.as_float().or(own.as_integer().map(|whole| whole as f64));
    let list = list.as_array().filter(|list| !list.is_empty()).ok_or_else(wrong)?;
    let widths: Vec<f64> = list.iter().map(number).collect::<Option<_>>().ok_or_else(wrong)?;
    let good = |width: &f64| width.is_finite() && *width > 0.0;
    let nested = |pair: &[f64]| {
        let ratio = pair[1] / pair[0];
        pair[1] > pair[0] && (ratio - ratio.round()).abs() <= 1e-9 * ratio
    };
    (widths.iter().all(good) && widths.windows(2).all(nested)).then_some(widths).ok_or_else(wrong)
}

fn as_of(keys: &toml::Table) -> Result<i64, Wrong> {
    let day = match keys.get("as_of") {
        Some(toml::Value::String(text)) => text.clone(),
        Some(toml::Value::Datetime(date)) => date.to_string(),
        _ => String::new(),
    };
    let wrong = || {
        let why =
            "the year of birth of whoever is over 89 must not be told, so the day of the release is needed";
        ("as_of", format!("as_of must be a date like \"2026-12-31\": {why}"))
    };
    value::date(&day).and_then(|_| day.get(..4)?.parse().ok()).filter(|year| *year > OLDEST).ok_or_else(wrong)
}

fn areas(keys: &toml::Table) -> Result<Areas, Wrong> {
    let list = |key: &'static str| {
        let Some(own) = keys.get(key) else { return Ok(None) };
        let wrong =
            || (key, format!("{key} must be a list of three digits each, such as [\"036\", \"059\"]"));
        let area = |own: &toml::Value| {
            own.as_str().filter(|own| own.len() == 3).and_then(three_digits).map(str::to_owned)
        };
        let areas: Option<Vec<String>> =
            own.as_array().map(|own| own.iter().map(area).collect()).ok_or_else(wrong)?;
        areas.map(Some).ok_or_else(wrong)
    };
    match (list("restricted")?, list("kept")?) {
        (None, None) => Ok(Areas::Census2000),
        (Some(restricted), None) => Ok(Areas::AllBut(restricted)),
        (None, Some(kept)) => Ok(Areas::Only(kept)),
        (Some(_), Some(_)) => Err(("kept", "restricted and kept say the same in two ways".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(own: &Official, spelling: &Spelling, text: &str) -> Option<String> {
        own.path(spelling, text).map(|path| path.join(" < "))
    }

    #[test]
    fn what_is_published_at_the_finest_is_its_own_value() {
        let zip = Official::Zip(Areas::Census2000);
        let (birth, date) = (Official::Birth(2026), Official::Date);
        for (own, text) in [
            (&zip, "53711"),
            (&zip, "05901"),
            (&birth, "1930-01-01"),
            (&birth, "1937-01-01"),
            (&date, "2020-02-29"),
        ] {
            let path = own.path(&Spelling::Iso, text);
            let finest = path.as_ref().and_then(|path| path.first()).cloned().unwrap_or_default();
            assert!(
                finest != text && path.is_some() && own.path(&Spelling::Iso, &finest) == path,
                "{text}: {path:?}"
            );
        }
    }

    #[test]
    fn years_of_birth_of_the_oldest_are_one_group() {
        let birth = Official::Birth(2026);
        for (text, expected) in [
            ("1936-12-31", Some("1936 or earlier")),
            ("1901-01-01", Some("1936 or earlier")),
            ("1937-01-01", Some("1937 < 1930s")),
            ("2026", Some("2026 < 2020s")),
            ("2027-01-01", None),
            ("", None),
        ] {
            assert_eq!(told(&birth, &Spelling::Iso, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn areas_of_few_people_are_not_told() {
        let zip = Official::Zip(Areas::Census2000);
        for (text, expected) in [
            ("53711", Some("537 < 53* < 5*")),
            ("53711-1234", Some("537 < 53* < 5*")),
            ("537111234", Some("537 < 53* < 5*")),
            ("537", Some("537 < 53* < 5*")),
            ("82301", Some("000")),
            ("00000", Some("000")),
            ("5371", None),
            ("53711-", None),
            ("53711-12", None),
            ("5371a", None),
        ] {
            assert_eq!(told(&zip, &Spelling::Point, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn ages_are_in_one_group_each() {
        for (age, expected) in [
            ("0", Some("0 < 0-23 months < under 18 years")),
            ("1.99", Some("1.99 < 0-23 months < under 18 years")),
            ("17", Some("17 < 12-17 years < under 18 years")),
            ("64.5", Some("64.5 < 18-64 years < 18-64 years")),
            ("85", Some("85 < 85 years and over < 65 years and over")),
            ("-1", None),
            ("old", None),
        ] {
            assert_eq!(told(&Official::EmaAge, &Spelling::Point, age).as_deref(), expected, "{age}");
        }
    }
}
