//! How the numbers, dates and times of day of a column are spelt: `3.5` or `3,5`, `2024-02-29`, `29.02.2024`, `02/29/2024 13:45` or
//! `08:30`.
//!
//! A spelling is guessed from all values of a column, and only if one alone reads all of them: `03/04/1990` may be in March
//! or in April, `1,234` may be a little more than one or a little more than a thousand. What cannot be told apart is said,
//! and the policy tells it (`format`, `decimal`).

use super::value;

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
    /// Dates of another form, perhaps with a time, or times of day.
    Format(Format),
}

/// What is measured on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Numbers.
    Numbers,
    /// Dates, in days since 1970-01-01.
    Dates,
    /// Times of day, in seconds since midnight.
    Times,
}

impl Measured {
    /// What they are called, several of them.
    pub fn words(self) -> &'static str {
        match self {
            Measured::Numbers => "numbers",
            Measured::Dates => "dates",
            Measured::Times => "times of day",
        }
    }

    /// How one is written in a policy.
    pub fn example(self) -> &'static str {
        match self {
            Measured::Numbers => "64",
            Measured::Dates => "\"2024-02-29\"",
            Measured::Times => "\"08:30\"",
        }
    }
}

/// A time of day, `08:30` or `08:30:15`, as seconds since midnight.
pub fn time_of_day(text: &str) -> Option<f64> {
    Format { text: "%H:%M:%S".to_owned() }.read(text)
}

/// What the values of a column allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guess {
    /// They are numbers or dates, spelt like this.
    Clear(Spelling),
    /// They are, but may be read in two ways.
    Either(Spelling, Spelling),
    /// They are neither.
    Neither,
}

impl Spelling {
    /// Guesses from all different values.
    #[allow(clippy::needless_pass_by_value, reason = "an iterator is made for this call alone")]
    pub fn guess<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Guess {
        let Some(first) = texts.clone().next() else { return Guess::Neither };
        let all = |spelling: &Spelling| texts.clone().all(|text| spelling.read(text).is_some());
        let simple = [Spelling::Point, Spelling::Iso].into_iter().find(|spelling| all(spelling));
        if let Some(spelling) = simple {
            return Guess::Clear(spelling);
        }
        let mut dates = Format::candidates().filter(|format| format.read(first).is_some());
        let mut fitting = dates.by_ref().map(Spelling::Format).filter(|spelling| all(spelling));
        match (fitting.next(), fitting.next()) {
            (Some(one), Some(other)) if texts.clone().all(|text| one.read(text) == other.read(text)) => {
                Guess::Clear(one)
            }
            (Some(one), Some(other)) => Guess::Either(one, other),
            (Some(one), None) => Guess::Clear(one),
            (None, _) => Self::guess_comma(&texts),
        }
    }

    /// How most values are spelt; as plain numbers if none is a number or a date.
    #[allow(clippy::needless_pass_by_value, reason = "an iterator is made for this call alone")]
    pub fn of_most<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Spelling {
        let simple = [Spelling::Point, Spelling::Iso, Spelling::Comma, Spelling::Grouped];
        let read = |own: &Spelling| texts.clone().filter(|text| own.read(text).is_some()).count();
        let mut most = (0, Spelling::Point);
        for own in simple.into_iter().chain(Format::candidates().map(Spelling::Format)) {
            let count = read(&own);
            if count > most.0 {
                most = (count, own);
            }
        }
        most.1
    }

    fn guess_comma<'a>(texts: &(impl Iterator<Item = &'a str> + Clone)) -> Guess {
        let all = |spelling: Spelling| texts.clone().all(|text| spelling.read(text).is_some());
        match (all(Spelling::Comma), all(Spelling::Grouped)) {
            (true, true) => Guess::Either(Spelling::Comma, Spelling::Grouped),
            (true, false) => Guess::Clear(Spelling::Comma),
            (false, true) => Guess::Clear(Spelling::Grouped),
            (false, false) => Guess::Neither,
        }
    }

    /// Reads a number, a date as days since 1970-01-01, or a time of day as seconds since midnight.
    pub fn read(&self, text: &str) -> Option<f64> {
        match self {
            Spelling::Point => value::number(text),
            Spelling::Comma => value::number(&ungrouped(text, '.', ',')?),
            Spelling::Grouped => value::number(&ungrouped(text, ',', '.')?),
            Spelling::Iso => value::date(text),
            Spelling::Format(format) => format.read(text),
        }
    }

    /// Writes a number with at most so many digits after the point, or all that it has; a date rounded down to what it is
    /// spelt with.
    pub fn write(&self, number: f64, decimals: Option<usize>) -> String {
        match self {
            Spelling::Point | Spelling::Grouped => rounded(number, decimals),
            Spelling::Comma => rounded(number, decimals).replace('.', ","),
            Spelling::Iso => {
                let (year, month, day) = value::civil_from_days(number.floor() as i64);
                format!("{year:04}-{month:02}-{day:02}")
            }
            Spelling::Format(format) => format.write(number),
        }
    }

    /// Whether it spells dates.
    pub fn is_date(&self) -> bool {
        self.measured() == Measured::Dates
    }

    /// What it spells.
    pub fn measured(&self) -> Measured {
        match self {
            Spelling::Point | Spelling::Comma | Spelling::Grouped => Measured::Numbers,
            Spelling::Format(format) if format.is_time() => Measured::Times,
            Spelling::Iso | Spelling::Format(_) => Measured::Dates,
        }
    }

    /// By how much a date or time may be rounded down when it is written.
    pub fn rounding(&self) -> f64 {
        match self {
            Spelling::Format(format) if format.is_time() => format.least(),
            Spelling::Iso | Spelling::Format(_) => 1.0,
            Spelling::Point | Spelling::Comma | Spelling::Grouped => 0.0,
        }
    }

    /// The label of all from one number to before another: `[20-25)`, or `[20-24]` where there are `whole` numbers only. Dates
    /// and times end with the last of them.
    pub fn band(&self, low: f64, width: f64, whole: bool) -> String {
        match self {
            Spelling::Format(format) if format.is_time() => {
                let least = format.least();
                let finer = Format { text: "%H:%M:%S".to_owned() };
                let (format, least) = if width % least == 0.0 { (format, least) } else { (&finer, 1.0) };
                format!("[{}-{}]", format.write(low), format.write((low + width).min(86_400.0) - least))
            }
            Spelling::Format(format) if !format.has_time() && width.fract() == 0.0 => {
                format!("[{}-{}]", format.write(low), format.write(low + width - 1.0))
            }
            Spelling::Iso if width.fract() == 0.0 => {
                format!("[{}-{}]", self.write(low, None), self.write(low + width - 1.0, None))
            }
            Spelling::Iso | Spelling::Format(_) => {
                format!("[{}-{})", self.write(low, None), self.write(low + width, None))
            }
            _ if whole => format!("[{low}-{}]", low + width - 1.0),
            _ => format!("[{low}-{})", low + width),
        }
    }

    /// Year and month of a date.
    pub fn year_and_month(&self, text: &str) -> Option<(i64, i64)> {
        match self {
            Spelling::Iso => {
                value::date(text)?;
                Some((text.get(..4)?.parse().ok()?, text.get(5..7)?.parse().ok()?))
            }
            // Not every day that can be read is one: the 31st of February has no month.
            Spelling::Format(format) => {
                format.read(text).filter(|_| !format.is_time())?;
                format.parse(text).map(|parts| (parts.year, parts.month))
            }
            Spelling::Point | Spelling::Comma | Spelling::Grouped => None,
        }
    }

    /// The line of a policy that says so; nothing for what needs no saying.
    pub fn key(&self) -> Option<(&'static str, String)> {
        match self {
            Spelling::Point | Spelling::Iso => None,
            Spelling::Comma => Some(("decimal", ",".to_owned())),
            Spelling::Grouped => Some(("decimal", ".".to_owned())),
            Spelling::Format(format) => Some(("format", format.text.clone())),
        }
    }
}

/// A number without digits that say nothing.
fn rounded(number: f64, decimals: Option<usize>) -> String {
    let Some(decimals) = decimals else { return format!("{number}") };
    let text = format!("{number:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A number without what groups its thousands, which must be groups of three, and with a decimal point.
fn ungrouped(text: &str, group: char, decimal: char) -> Option<String> {
    let (whole, fraction) = match text.split_once(decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut groups = whole.trim_start_matches(['-', '+']).split(group);
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.clone().peekable();
    let grouped = rest.peek().is_none()
        || (1..=3).contains(&first.len()) && first != "0" && rest.all(|part| part.len() == 3);
    let digits = groups.chain([first]).all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let fits =
        grouped && digits && fraction.is_none_or(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let whole: String = whole.chars().filter(|c| *c != group).collect();
    fits.then(|| fraction.map_or(whole.clone(), |fraction| format!("{whole}.{fraction}")))
}

/// A form of dates, as `%d.%m.%Y`: `%d` day, `%m` month, `%Y` year, `%y` its last two digits, `%H` hour, `%M` minute, `%S`
/// second, anything else itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    text: String,
}

struct Parts {
    year: i64,
    month: i64,
    day: i64,
    seconds: f64,
}

/// The forms that are tried, dates with and without a time.
const DATES: [&str; 9] = [
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d.%m.%y",
    "%Y.%m.%d",
];
const TIMES_OF_DAY: [&str; 2] = ["%H:%M", "%H:%M:%S"];
const TIMES: [&str; 6] = ["", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", "T%H:%M:%SZ"];

impl Format {
    /// Checks a form: it must tell day, month and year, each once, or hour and minute. The error says what is wrong.
    pub fn new(text: &str) -> Result<Self, String> {
        let marks: Vec<&str> = text.split('%').skip(1).map(|part| part.get(..1).unwrap_or("")).collect();
        if let Some(unknown) = marks.iter().find(|mark| mark.is_empty() || !"dmYyHMS".contains(**mark)) {
            return Err(format!("a date has no part %{unknown}"));
        }
        let count = |wanted: &str| marks.iter().filter(|mark| wanted.contains(**mark)).count();
        let once = ["d", "m", "Yy"].iter().all(|wanted| count(wanted) == 1);
        let time_once = ["H", "M", "S"].iter().all(|wanted| count(wanted) <= 1);
        let no_date = count("dmYy") == 0 && count("H") == 1 && count("M") == 1;
        match (once || no_date) && time_once {
            true => Ok(Format { text: text.to_owned() }),
            false => Err("a date has a day %d, a month %m and a year %Y, each once; a time of day an hour %H and a minute %M"
                .to_owned()),
        }
    }

    /// The forms that are tried: all but plain ISO dates.
    fn candidates() -> impl Iterator<Item = Format> {
        let all = DATES.iter().flat_map(|date| TIMES.iter().map(move |time| format!("{date}{time}")));
        let times = TIMES_OF_DAY.iter().map(|time| (*time).to_owned());
        all.skip(1).chain(times).map(|text| Format { text })
    }

    /// Whether it tells times of day and no date.
    fn is_time(&self) -> bool {
        !self.text.contains("%d")
    }

    fn has_time(&self) -> bool {
        self.text.contains("%H")
    }

    /// The least time that it tells apart, in seconds.
    fn least(&self) -> f64 {
        if self.text.contains("%S") { 1.0 } else { 60.0 }
    }

    /// Days since 1970-01-01, or seconds since midnight.
    fn read(&self, text: &str) -> Option<f64> {
        let Parts { year, month, day, seconds } = self.parse(text)?;
        if self.is_time() {
            return (seconds < 86_400.0).then_some(seconds);
        }
        let days = value::date(&format!("{year:04}-{month:02}-{day:02}"))?;
        Some(days + seconds / 86_400.0)
    }

    fn write(&self, days: f64) -> String {
        // A second is the least that is spelt; rounded so that what was read is written again.
        let seconds = (if self.is_time() { days } else { days * 86_400.0 }).round() as i64;
        let (year, month, day) = value::civil_from_days(seconds.div_euclid(86_400));
        let seconds = seconds.rem_euclid(86_400);
        let mut text = String::new();
        let mut form = self.text.chars();
        while let Some(c) = form.next() {
            match (c, if c == '%' { form.next() } else { None }) {
                ('%', Some('Y')) => text += &format!("{year:04}"),
                ('%', Some('y')) => text += &format!("{:02}", year.rem_euclid(100)),
                ('%', Some('m')) => text += &format!("{month:02}"),
                ('%', Some('d')) => text += &format!("{day:02}"),
                ('%', Some('H')) => text += &format!("{:02}", seconds / 3600),
                ('%', Some('M')) => text += &format!("{:02}", seconds / 60 % 60),
                ('%', Some('S')) => text += &format!("{:02}", seconds % 60),
                (c, _) => text.push(c),
            }
        }
        text
    }

    fn parse(&self, text: &str) -> Option<Parts> {
        let mut parts = Parts { year: 0, month: 0, day: 0, seconds: 0.0 };
        let (mut form, mut rest) = (self.text.chars(), text);
        // A time of day may go without its seconds.
        let short = self.is_time();
        while let Some(c) = form.next() {
            if short && rest.is_empty() && form.as_str() == "%S" {
                return Some(parts);
            }
            if c != '%' {
                rest = rest.strip_prefix(c)?;
                continue;
            }
            let mark = form.next()?;
            let (number, after) = digits(rest, if mark == 'Y' { 4 } else { 2 })?;
            let in_range = |most: i64| (number <= most).then_some(number);
            // Two numbers with a colon may be a score: minutes and seconds have two digits.
            if short && mark != 'H' && rest.len() - after.len() != 2 {
                return None;
            }
            match mark {
                'Y' if rest.len() - after.len() == 4 => parts.year = number,
                // As POSIX reads two digits.
                'y' if rest.len() - after.len() == 2 => {
                    parts.year = number + if number < 69 { 2000 } else { 1900 };
                }
                'm' => parts.month = in_range(12)?,
                'd' => parts.day = in_range(31)?,
                'H' => parts.seconds += 3600.0 * in_range(23)? as f64,
                'M' => parts.seconds += 60.0 * in_range(59)? as f64,
                'S' => parts.seconds += in_range(60)? as f64,
                _ => return None,
            }
            rest = after;
            // Parts of a second.
            if mark == 'S'
                && let Some(after) = rest.strip_prefix('.')
            {
                rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
            }
        }
        rest.is_empty().then_some(parts)
    }
}

/// Up to so many digits that a text starts with, at least one.
fn digits(text: &str, most: usize) -> Option<(i64, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    Some((text.get(..count)?.parse().ok()?, &text[count..]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn clear(texts: &[&str]) -> Spelling {
        match Spelling::guess(texts.iter().copied()) {
            Guess::Clear(spelling) => spelling,
            other => panic!("{texts:?}: {other:?}"),
        }
    }

    #[test]
    fn a_column_tells_how_it_is_spelt() {
        for (texts, key) in [
            (&["1.5", "-2", "1e3"][..], None),
            (&["1985-11-19"], None),
            (&["19.11.1985", "1.2.1990"], Some("%d.%m.%Y")),
            (&["19/11/1985", "01/02/1990"], Some("%d/%m/%Y")),
            (&["11/19/1985", "01/02/1990"], Some("%m/%d/%Y")),
            (&["19-11-1985"], Some("%d-%m-%Y")),
            (&["1985/11/19"], Some("%Y/%m/%d")),
            (&["19.11.85"], Some("%d.%m.%y")),
            (&["19.11.1985 13:45", "20.11.1985 00:00"], Some("%d.%m.%Y %H:%M")),
            (&["2024-02-29 13:45:10"], Some("%Y-%m-%d %H:%M:%S")),
            (&["2024-02-29T13:45:10.250Z"], Some("%Y-%m-%dT%H:%M:%SZ")),
            (&["08:30", "8:05", "23:59"], Some("%H:%M")),
            (&["08:30", "08:30:15"], Some("%H:%M:%S")),
            (&["1,5", "2", "-0,25"], Some(",")),
            (&["1.234,5", "17"], Some(",")),
            (&["0,125"], Some(",")),
            (&["1,234.5", "17"], Some(".")),
            (&["01/01/1990", "02/02/1990"], Some("%d/%m/%Y")),
        ] {
            assert_eq!(clear(texts).key().map(|(_, text)| text).as_deref(), key, "{texts:?}");
        }
    }

    #[test]
    fn what_two_spellings_read_is_not_decided() {
        for texts in [&["03/04/1990", "01/02/1991"][..], &["1,234", "17"], &["1,234", "5,678"]] {
            assert!(matches!(Spelling::guess(texts.iter().copied()), Guess::Either(..)), "{texts:?}");
        }
        for texts in [
            &["red"][..],
            &["24:00"],
            &["08:60"],
            &["2:1", "3:0"],
            &["08:30", "2024-02-29"],
            &["08:30:"],
            &["30.02.1990"],
            &["1.5", "19.11.1985"],
            &["1,5", "x"],
            &["1,23,4"],
            &[],
        ] {
            assert_eq!(Spelling::guess(texts.iter().copied()), Guess::Neither, "{texts:?}");
        }
    }

    #[test]
    fn numbers_and_dates_mean_the_same_however_they_are_spelt() {
        let day = value::date("1985-11-19").unwrap();
        assert_eq!(clear(&["19.11.1985"]).read("19.11.1985"), Some(day));
        assert_eq!(clear(&["11/19/1985"]).read("11/19/1985"), Some(day));
        assert_eq!(clear(&["19.11.1985 12:00"]).read("19.11.1985 06:00"), Some(day + 0.25));
        assert_eq!(clear(&["1.234,5"]).read("1.234,5"), Some(1234.5));
        assert_eq!(clear(&["19.11.1985"]).year_and_month("19.11.1985"), Some((1985, 11)));
        assert_eq!(Spelling::Iso.year_and_month("1985-11-19"), Some((1985, 11)));
        assert_eq!(clear(&["19.11.1985"]).year_and_month("31.02.1985"), None);
        assert_eq!(Spelling::of_most(["x", "1.2.1990", "19.11.1985"].into_iter()), clear(&["19.11.1985"]));
    }

    #[test]
    fn what_is_read_is_written_again() {
        for text in [
            "1985-11-19",
            "19.11.1985",
            "11/19/1985",
            "19.11.85",
            "29.02.2024 13:45",
            "2024-02-29T13:45:10Z",
            "1,5",
        ] {
            let spelling = clear(&[text]);
            assert_eq!(spelling.write(spelling.read(text).unwrap(), Some(2)), text);
        }
        assert_eq!(Spelling::Iso.write(value::date("1985-11-19").unwrap() + 0.9, None), "1985-11-19");
        let written = |number: f64, decimals| Spelling::Point.write(number, decimals);
        assert_eq!(
            [written(37.25, Some(1)), written(-0.04, Some(1)), written(3.0, Some(2))],
            ["37.2", "0", "3"]
        );
        assert_eq!([written(1e-7, None), written(120.0, Some(0))], ["0.0000001", "120"]);
    }

    #[test]
    fn times_of_day_are_seconds_since_midnight() {
        let spelling = clear(&["08:30"]);
        assert_eq!((spelling.read("08:30"), spelling.measured()), (Some(30_600.0), Measured::Times));
        assert_eq!(clear(&["08:30:15"]).read("8:30:15"), Some(30_615.0));
        assert_eq!(spelling.write(30_659.0, None), "08:30");
        assert_eq!(spelling.year_and_month("08:30"), None);
        assert_eq!(time_of_day("00:00"), Some(0.0));
        for second in 0..86_400 {
            let text = clear(&["08:30:15"]).write(f64::from(second), None);
            assert_eq!(time_of_day(&text), Some(f64::from(second)));
        }
    }

    #[test]
    fn bands_are_labelled_as_their_values_are() {
        let time = clear(&["08:30"]);
        assert_eq!(time.band(28_800.0, 3600.0, true), "[08:00-08:59]");
        assert_eq!(time.band(82_800.0, 3600.0, true), "[23:00-23:59]");
        assert_eq!(time.band(30.0, 30.0, true), "[00:00:30-00:00:59]");
        assert_eq!(clear(&["08:30:15"]).band(0.0, 60.0, true), "[00:00:00-00:00:59]");
        let day = value::date("2020-01-01").unwrap();
        assert_eq!(Spelling::Iso.band(day, 30.0, true), "[2020-01-01-2020-01-30]");
        assert_eq!(clear(&["19.11.1985"]).band(day, 7.0, true), "[01.01.2020-07.01.2020]");
        assert_eq!(clear(&["19.11.1985 12:00"]).band(day, 1.0, true), "[01.01.2020 00:00-02.01.2020 00:00)");
        assert_eq!(Spelling::Point.band(20.0, 5.0, true), "[20-24]");
        assert_eq!(Spelling::Point.band(20.0, 5.0, false), "[20-25)");
    }

    #[test]
    fn forms_of_dates_are_checked() {
        assert!(Format::new("%d.%m.%Y").is_ok() && Format::new("%m/%d/%y %H:%M").is_ok());
        assert!(Format::new("%H:%M").is_ok() && Format::new("%H.%M.%S").is_ok());
        for wrong in ["%H", "%H:%M %d", "", "%d.%m", "%d.%d.%Y", "%q%d%m%Y", "%d.%m.%Y%", "%Y%y%d%m"] {
            assert!(Format::new(wrong).is_err(), "{wrong}");
        }
    }
}
