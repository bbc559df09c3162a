//! Numbers that states, banks and insurers give out, by their check digits.
//!
//! Each test is the rule that the issuer has published. Rules with one check digit pass one number in ten by chance, which
//! is why a column is judged by nearly all of its values.

/// The numbers of people that are recognised.
pub(super) const NATIONAL: &[fn(&str) -> bool] = &[
    is_german_tax_id,
    is_german_pension_number,
    is_german_health_number,
    is_french_nir,
    is_spanish_dni,
    is_italian_code,
    is_dutch_bsn,
    is_nhs_number,
    is_british_insurance_number,
    is_american_ssn,
    is_swiss_ahv,
    is_austrian_number,
    is_belgian_number,
];

/// The digits of a text that has nothing else but what people put between them.
fn digits(text: &str) -> Option<Vec<u32>> {
    let allowed = text.chars().all(|c| c.is_ascii_digit() || " .-/".contains(c));
    allowed.then(|| text.chars().filter_map(|c| c.to_digit(10)).collect())
}

/// Letters and digits alone, in upper case.
fn compact(text: &str) -> Option<String> {
    let allowed = text.chars().all(|c| c.is_ascii_alphanumeric() || " .-/".contains(c));
    allowed
        .then(|| text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect())
}

fn value(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit))
}

fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// ISO 13616: the country, two check digits, up to thirty characters; 1 modulo 97.
pub(super) fn is_iban(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| (15..=34).contains(&text.len())) else { return false };
    let (start, rest) = text.split_at(4);
    let country = start.bytes().take(2).all(|byte| byte.is_ascii_uppercase());
    let checks = start.bytes().skip(2).all(|byte| byte.is_ascii_digit());
    let number = rest.chars().chain(start.chars()).filter_map(|c| c.to_digit(36));
    let remainder = number.fold(0u64, |sum, digit| {
        if digit < 10 { (sum * 10 + u64::from(digit)) % 97 } else { (sum * 100 + u64::from(digit)) % 97 }
    });
    country && checks && remainder == 1
}

/// Numbers of cards and of devices: 13 to 19 digits, by Luhn's rule.
pub(super) fn is_card(text: &str) -> bool {
    digits(text).is_some_and(|digits| (13..=19).contains(&digits.len()) && luhn(&digits))
}

fn luhn(digits: &[u32]) -> bool {
    let doubled = |(at, digit): (usize, &u32)| match at % 2 {
        0 => *digit,
        _ => digit * 2 - if *digit > 4 { 9 } else { 0 },
    };
    digits.iter().any(|digit| *digit > 0)
        && digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}

/// Steueridentifikationsnummer: eleven digits, ISO 7064 modulo 11, 10.
pub(super) fn is_german_tax_id(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 11 && digits[0] != 0) else {
        return false;
    };
    let product = digits[..10].iter().fold(10, |product, digit| match (digit + product) % 10 {
        0 => 20 % 11,
        sum => sum * 2 % 11,
    });
    (11 - product) % 10 == digits[10]
}

/// Rentenversicherungsnummer: area, birth date, a letter, a serial number, a check digit.
pub(super) fn is_german_pension_number(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| text.len() == 12) else { return false };
    let letter = text.as_bytes()[8];
    if !letter.is_ascii_uppercase()
        || text.bytes().enumerate().any(|(at, byte)| at != 8 && !byte.is_ascii_digit())
    {
        return false;
    }
    let spelt = format!("{}{:02}{}", &text[..8], letter - b'A' + 1, &text[9..11]);
    let weights = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
    let across = |(c, weight): (char, u32)| {
        let product = c.to_digit(10).unwrap_or(0) * weight;
        product / 10 + product % 10
    };
    let sum: u32 = spelt.chars().zip(weights).map(across).sum();
    text[11..].parse() == Ok(sum % 10)
}

/// Krankenversichertennummer: a letter, eight digits, a check digit.
pub(super) fn is_german_health_number(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| text.len() == 10) else { return false };
    let letter = text.as_bytes()[0];
    if !letter.is_ascii_uppercase() || text.bytes().skip(1).any(|byte| !byte.is_ascii_digit()) {
        return false;
    }
    let spelt = format!("{:02}{}", letter - b'A' + 1, &text[1..9]);
    let across = |(at, c): (usize, char)| {
        let product = c.to_digit(10).unwrap_or(0) * if at % 2 == 0 { 1 } else { 2 };
        product / 10 + product % 10
    };
    text[9..].parse() == Ok(spelt.chars().enumerate().map(across).sum::<u32>() % 10)
}

/// Numéro de sécurité sociale: sex, year, month, place, order; 97 minus the rest modulo 97.
pub(super) fn is_french_nir(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| [13, 15].contains(&text.len())) else { return false };
    // Corsica is written 2A and 2B.
    let spelt = text.replace("2A", "19").replace("2B", "18");
    let Some(digits) = digits(&spelt) else { return false };
    let plausible =
        [1, 2, 3, 4, 7, 8].contains(&digits[0]) && value(&digits[3..5]) <= 99 && digits.len() >= 13;
    match digits.len() {
        15 => plausible && 97 - value(&digits[..13]) % 97 == value(&digits[13..]),
        _ => plausible && [1, 2].contains(&digits[0]) && (1..=12).contains(&value(&digits[3..5])),
    }
}

/// DNI and NIE: eight digits, or X, Y or Z and seven, and a letter modulo 23.
pub(super) fn is_spanish_dni(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| text.len() == 9) else { return false };
    let number = match text.as_bytes()[0] {
        b'X' => format!("0{}", &text[1..8]),
        b'Y' => format!("1{}", &text[1..8]),
        b'Z' => format!("2{}", &text[1..8]),
        _ => text[..8].to_owned(),
    };
    let letter = text.as_bytes()[8];
    number.parse::<usize>().is_ok_and(|number| b"TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == letter)
}

/// Codice fiscale: six letters, two digits, a letter, two digits, a letter, three digits, a check letter.
pub(super) fn is_italian_code(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| text.len() == 16) else { return false };
    let letters = [0, 1, 2, 3, 4, 5, 8, 11, 15];
    if text.bytes().enumerate().any(|(at, byte)| letters.contains(&at) && !byte.is_ascii_uppercase()) {
        return false;
    }
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let place = |byte: u8| usize::from(if byte.is_ascii_digit() { byte - b'0' } else { byte - b'A' });
    let sum: u32 = text
        .bytes()
        .take(15)
        .enumerate()
        .map(|(at, byte)| if at % 2 == 0 { ODD[place(byte)] } else { place(byte) as u32 })
        .sum();
    text.as_bytes()[15] == b'A' + (sum % 26) as u8
}

/// Burgerservicenummer: nine digits, the test of eleven.
pub(super) fn is_dutch_bsn(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 9 && value(digits) > 0) else {
        return false;
    };
    (weighted(&digits[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) + 10 * digits[8]).is_multiple_of(11)
}

/// NHS number: ten digits, modulo 11.
pub(super) fn is_nhs_number(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 10 && value(digits) > 0) else {
        return false;
    };
    let check = 11 - weighted(&digits[..9], &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    check != 10 && check % 11 == digits[9]
}

/// National Insurance number: `QQ 12 34 56 C`.
pub(super) fn is_british_insurance_number(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| text.len() == 9) else { return false };
    let bytes = text.as_bytes();
    bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..8].iter().all(u8::is_ascii_digit)
        && (b'A'..=b'D').contains(&bytes[8])
}

/// Social security number: three, two and four digits, which has no check digit but ranges that are never given.
pub(super) fn is_american_ssn(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let all_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    lengths == [3, 2, 4] && all_digits && groups[0] != "000" && groups[1] != "00" && groups[2] != "0000"
}

/// AHV number: 756 and ten digits, checked as a barcode.
pub(super) fn is_swiss_ahv(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 13 && digits[..3] == [7, 5, 6]) else {
        return false;
    };
    (10 - weighted(&digits[..12], &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10) % 10 == digits[12]
}

/// Sozialversicherungsnummer: a number, a check digit in its fourth place, a birth date.
pub(super) fn is_austrian_number(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 10 && digits[0] != 0) else {
        return false;
    };
    let weights = [3, 7, 9, 0, 5, 8, 4, 2, 1, 6];
    weighted(&digits, &weights) % 11 == digits[3] && (1..=31).contains(&value(&digits[4..6]))
}

/// Rijksregisternummer: a birth date, a number, 97 minus the rest modulo 97.
pub(super) fn is_belgian_number(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 11) else { return false };
    let (number, check) = (value(&digits[..9]), value(&digits[9..]));
    97 - number % 97 == check || 97 - (2_000_000_000 + number) % 97 == check
}
