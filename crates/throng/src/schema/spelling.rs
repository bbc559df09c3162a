//! How the numbers and dates of an attribute are spelt, as a policy says it. `table` reads them.

/// How numbers or dates are spelt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Numbers such as `-3.5` and `1e6`.
    Point,
    /// Numbers such as `-3,5` and `1.234,5`.
    Comma,
    /// Numbers such as `1,234.5`.
    Grouped,
    /// Dates such as `2024-02-29`.
    Iso,
    /// Dates of another form, perhaps with a time.
    Date(DateFormat),
}

impl Spelling {
    /// Whether it spells dates.
    pub fn is_date(&self) -> bool {
        matches!(self, Spelling::Iso | Spelling::Date(_))
    }

    /// The line of a policy that says so; nothing for what needs no saying.
    pub fn key(&self) -> Option<(&'static str, String)> {
        match self {
            Spelling::Point | Spelling::Iso => None,
            Spelling::Comma => Some(("decimal", ",".to_owned())),
            Spelling::Grouped => Some(("decimal", ".".to_owned())),
            Spelling::Date(format) => Some(("format", format.text.clone())),
        }
    }
}

/// A form of dates, as `%d.%m.%Y`: `%d` day, `%m` month, `%Y` year, `%y` its last two digits, `%H` hour, `%M` minute, `%S`
/// second, anything else itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateFormat {
    pub(crate) text: String,
}

impl DateFormat {
    /// Checks a form: it must tell day, month and year, each once. The error says what is wrong.
    pub fn new(text: &str) -> Result<Self, String> {
        let marks: Vec<&str> = text.split('%').skip(1).map(|part| part.get(..1).unwrap_or("")).collect();
        if let Some(unknown) = marks.iter().find(|mark| mark.is_empty() || !"dmYyHMS".contains(**mark)) {
            return Err(format!("a date has no part %{unknown}"));
        }
        let count = |wanted: &str| marks.iter().filter(|mark| wanted.contains(**mark)).count();
        let once = ["d", "m", "Yy"].iter().all(|wanted| count(wanted) == 1);
        match once && ["H", "M", "S"].iter().all(|wanted| count(wanted) <= 1) {
            true => Ok(DateFormat { text: text.to_owned() }),
            false => Err("a date has a day %d, a month %m and a year %Y, each once".to_owned()),
        }
    }
}
