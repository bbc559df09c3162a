//! What values are by their form: e-mail addresses, phone numbers, account numbers, codes.
//!
//! A column has a shape if nearly all of its different values have it. Numbers with check digits are held against them
//! (`check_digits`), so that chance does not do.

use super::check_digits as check;
use super::{given_names, streets};

/// The forms of values that are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Email,
    Url,
    Ip,
    Mac,
    Uuid,
    Hash,
    Iban,
    National,
    Card,
    Phone,
    Plate,
    Point,
    Handle,
    File,
    Address,
    Names,
    FreeText,
    Icd,
    Atc,
    Postcode,
}

/// The share of different values that must have a shape.
const NEARLY_ALL: f64 = 0.85;
/// Fewer different values than this say nothing where chance could do.
const ENOUGH: usize = 3;
/// Different values that are looked at.
const LOOKED_AT: usize = 1000;

type Test = fn(&str) -> bool;

/// Shapes that no other column has by chance, even with one value.
const UNMISTAKABLE: &[(Shape, Test)] = &[
    (Shape::Email, is_email),
    (Shape::Url, is_url),
    (Shape::Uuid, is_uuid),
    (Shape::Mac, is_mac),
    (Shape::Ip, is_ip),
    (Shape::Iban, check::is_iban),
    (Shape::Point, is_point),
    (Shape::Hash, is_hash),
    (Shape::Hash, is_token),
    (Shape::Hash, is_object_identifier),
    (Shape::File, is_file),
];

/// Shapes that take a few values to be sure of.
const LIKELY: &[(Shape, Test)] = &[
    (Shape::Handle, is_handle),
    (Shape::Card, check::is_card),
    (Shape::Phone, is_phone),
    (Shape::Plate, is_plate),
    (Shape::Atc, is_atc),
    (Shape::Icd, is_icd),
    (Shape::Postcode, is_postcode),
];

impl Shape {
    /// The shape of a column's different values.
    pub fn of(values: &[&str]) -> Option<Self> {
        let step = values.len().div_ceil(LOOKED_AT).max(1);
        let sample: Vec<&str> = values.iter().step_by(step).map(|text| text.trim()).collect();
        let all = |test: &Test| {
            let count = sample.iter().filter(|text| test(text)).count();
            count > 0 && count as f64 >= NEARLY_ALL * sample.len() as f64
        };
        let find = |list: &[(Shape, Test)]| list.iter().find(|(_, test)| all(test)).map(|(shape, _)| *shape);
        find(UNMISTAKABLE)
            .or_else(|| {
                (check::NATIONAL.iter().any(all) && sample.len() >= ENOUGH).then_some(Shape::National)
            })
            .or_else(|| find(LIKELY).filter(|_| sample.len() >= ENOUGH))
            .filter(|shape| *shape != Shape::Icd || are_of_several_chapters(&sample))
            .or_else(|| streets::are_addresses(&sample).then_some(Shape::Address))
            .or_else(|| given_names::are_people(&sample).then_some(Shape::Names))
            .or_else(|| is_free_text(&sample).then_some(Shape::FreeText))
    }

    /// Why a column of this shape names someone; nothing if it does not.
    pub fn identifies(self) -> Option<&'static str> {
        Some(match self {
            Shape::Email => "the values are e-mail addresses",
            Shape::Url => "the values are web addresses",
            Shape::Ip | Shape::Mac => "the values are addresses of computers",
            Shape::Uuid | Shape::Hash => "the values are made to be different for everyone",
            Shape::Iban | Shape::Card => "the values are numbers of accounts or cards, by their check digits",
            Shape::National => "the values have the form of numbers that states and insurers give to people",
            Shape::Phone => "the values look like phone numbers",
            Shape::Plate => "the values look like number plates",
            Shape::Point => "the values are points on a map",
            Shape::Handle => "the values look like names of accounts",
            Shape::File => "the values are names of files, in which anything may stand",
            Shape::Address => "the values look like street addresses",
            Shape::Names => "the values look like names of people",
            Shape::FreeText => "the values are sentences, in which anything may stand",
            Shape::Icd | Shape::Atc | Shape::Postcode => return None,
        })
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else { return false };
    let plain = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace) && !text.contains('@');
    plain(local) && plain(host) && host.split('.').all(|part| !part.is_empty()) && host.contains('.')
}

fn is_url(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let schemes = ["http://", "https://", "ftp://", "www."];
    schemes.iter().any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| rest.contains('.')))
}

fn is_uuid(text: &str) -> bool {
    let text = text.trim_start_matches('{').trim_end_matches('}');
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

fn is_hash(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    [32, 40, 56, 64, 96, 128].contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && digits < text.len()
}

fn is_mac(text: &str) -> bool {
    [(':', 6, 2), ('-', 6, 2), ('.', 3, 4)].iter().any(|(between, count, length)| {
        let parts: Vec<&str> = text.split(*between).collect();
        let hex = |part: &&str| part.len() == *length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        parts.len() == *count && parts.iter().all(hex)
    })
}

/// A long word of letters and digits without order, as tokens, ULIDs and signed cookies are.
fn is_token(text: &str) -> bool {
    let allowed = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-=+/.".contains(&byte));
    let (mut changes, mut before) = (0, None);
    for byte in text.bytes() {
        let digit = byte.is_ascii_digit();
        changes += usize::from(before.is_some_and(|other| other != digit));
        before = Some(digit);
    }
    (20..=4096).contains(&text.len())
        && allowed
        && changes >= 4
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// `1.2.840.113619.2.55.3`, as studies and images are numbered.
fn is_object_identifier(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() >= 6 && ["0", "1", "2"].contains(&parts[0]) && parts.iter().all(number)
}

/// `/scans/mueller.dcm`, `C:\photos\12.jpg`, `img_12.jpg`.
fn is_file(text: &str) -> bool {
    const ENDINGS: &str = " jpg jpeg png gif tif tiff bmp heic pdf doc docx odt xls xlsx txt csv xml json dcm nii wav mp3 m4a \
        mp4 mov avi zip gz bam fastq vcf edf ";
    let Some((stem, ending)) = text.rsplit_once('.') else { return false };
    !stem.is_empty()
        && !ending.contains(' ')
        && ENDINGS.contains(&format!(" {} ", ending.to_ascii_lowercase()))
}

/// `@anna_s`, as people are called in networks.
fn is_handle(text: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    text.strip_prefix('@').is_some_and(|name| name.chars().count() >= 2 && name.chars().all(allowed))
}

fn is_ip(text: &str) -> bool {
    let address = text.split_once('/').map_or(text, |(address, _)| address);
    address.parse::<std::net::IpAddr>().is_ok()
}

/// `48.1374, 11.5755`, `POINT(11.5755 48.1374)` or `48°08'14"N 11°34'31"E`.
fn is_point(text: &str) -> bool {
    if text.matches('°').count() == 2 {
        return text
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_whitespace() || "°'\"′″’”.,;NSEWO-".contains(c));
    }
    let inside =
        text.strip_prefix("POINT").unwrap_or(text).trim().trim_start_matches('(').trim_end_matches(')');
    let parts: Vec<&str> =
        inside.split([',', ';', ' ']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let degrees = |part: &&str| {
        let exact = part.split_once('.').is_some_and(|(_, decimals)| decimals.len() >= 3);
        exact && part.parse::<f64>().is_ok_and(|degrees| degrees.abs() <= 180.0)
    };
    parts.len() == 2 && parts.iter().all(degrees)
}

/// Seven to fifteen digits with what people put between them, starting as numbers do that can be called.
fn is_phone(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let allowed = text.chars().all(|c| c.is_ascii_digit() || " -/().+".contains(c));
    if !allowed || !(7..=15).contains(&digits.len()) || is_like_date(text) {
        return false;
    }
    let groups: Vec<usize> =
        text.split(|c: char| !c.is_ascii_digit()).map(str::len).filter(|length| *length > 0).collect();
    let spaced = groups.len() > 1;
    let called = text.starts_with('+') || text.starts_with("00") || text.starts_with("(");
    called
        || digits.starts_with('0') && digits.len() >= 9 && (spaced || digits.len() >= 10)
        || [&[3, 3, 4][..], &[1, 3, 3, 4], &[3, 3, 3], &[3, 2, 2, 2], &[3, 4], &[2, 3, 2, 2]]
            .contains(&&groups[..])
            && !text.contains('.')
}

fn is_like_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['.', '/', '-', ' ', ':', 'T']).collect();
    let year =
        |part: &&str| part.len() == 4 && ["18", "19", "20"].iter().any(|start| part.starts_with(start));
    parts.len() >= 3
        && parts.iter().all(|part| (1..=4).contains(&part.len()))
        && parts.iter().take(3).any(year)
}

/// The letters and digits of a text as a pattern: `A9` stands for a letter and a digit, other characters for themselves.
fn pattern(text: &str) -> String {
    let class = |c: char| match c {
        c if c.is_ascii_digit() => '9',
        c if c.is_alphabetic() && c.is_uppercase() => 'A',
        c if c.is_alphabetic() => 'a',
        c => c,
    };
    text.chars().map(class).collect()
}

/// German, French, Spanish, Italian, Dutch and British plates.
fn is_plate(text: &str) -> bool {
    let german = || {
        let Some((district, rest)) = text.split_once('-') else { return false };
        let (letters, digits): (String, String) =
            rest.chars().filter(|c| *c != ' ').partition(|c| c.is_alphabetic());
        let upper = |text: &str, most: usize| {
            (1..=most).contains(&text.chars().count())
                && text.chars().all(|c| c.is_alphabetic() && c.is_uppercase())
        };
        upper(district, 3)
            && upper(&letters, 2)
            && (1..=4).contains(&digits.len())
            && rest.trim_end_matches(['E', 'H']).ends_with(|c: char| c.is_ascii_digit())
    };
    let others = [
        "AA-999-AA",
        "9999 AAA",
        "9999AAA",
        "9999-AAA",
        "AA999AA",
        "AA 999 AA",
        "99-AA-99",
        "AA-99-99",
        "99-99-AA",
        "99-AAA-9",
        "9-AAA-99",
        "AA-99-AA",
        "A-999-AA",
        "AA-999-A",
        "AAA-99-A",
        "A-99-AAA",
        "AA99 AAA",
        "AA99AAA",
    ];
    others.contains(&pattern(text).as_str()) || german()
}

/// `E11.9`, `I10`, `F32.1`, as a diagnosis is coded in ICD-10.
fn is_icd(text: &str) -> bool {
    let text = text.trim_end_matches(['G', 'V', 'A', 'Z', 'R', 'L', 'B', '+', '*', '!', ' ']);
    let pattern = pattern(text);
    let long = ["A99.9", "A99.99", "A99.-", "A99.999", "A99.9999"].contains(&pattern.as_str());
    (long || pattern == "A99") && !text.starts_with('U') || text.starts_with("U0")
}

/// Codes that all begin with the same letter may count anything: `A11`, `A12`, `A13`.
fn are_of_several_chapters(sample: &[&str]) -> bool {
    let first = |text: &&str| text.chars().next();
    sample.iter().any(|text| text.contains('.') || first(text) != sample.first().and_then(first))
}

/// `N02BE01`, as a drug is coded.
fn is_atc(text: &str) -> bool {
    pattern(text) == "A99AA99" && "ABCDGHJLMNPRSV".contains(text.chars().next().unwrap_or(' '))
}

/// British, Dutch and Canadian postcodes, American ones of nine digits, and those with a country before.
fn is_postcode(text: &str) -> bool {
    let pattern = pattern(text);
    [
        "A9 9AA",
        "A99 9AA",
        "AA9 9AA",
        "AA99 9AA",
        "A9A 9AA",
        "AA9A 9AA",
        "9999 AA",
        "A9A 9A9",
        "99999-9999",
        "A-99999",
        "AA-9999",
        "AA-99999",
    ]
    .contains(&pattern.as_str())
}

/// Sentences, different in most cells.
fn is_free_text(sample: &[&str]) -> bool {
    let words = |text: &&str| text.split_whitespace().count() >= 5;
    sample.len() >= 10 && sample.iter().filter(|text| words(text)).count() * 2 > sample.len()
}
