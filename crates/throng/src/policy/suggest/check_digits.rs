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
    is_irish_number,
    is_polish_number,
    is_nordic_number,
    is_finnish_number,
    is_spanish_insurance_number,
    is_mexican_code,
    is_tax_number_of_the_andes,
    is_brazilian_number,
    is_orcid,
    is_vehicle_number,
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

/// PPS number of Ireland: seven digits, a letter modulo 23, perhaps a second letter that counts ninefold.
pub(super) fn is_irish_number(text: &str) -> bool {
    let Some(text) = compact(text).filter(|text| [8, 9].contains(&text.len())) else { return false };
    let Some(digits) = digits(&text[..7]).filter(|digits| digits.len() == 7) else { return false };
    let bytes = text.as_bytes();
    if !bytes[7..].iter().all(u8::is_ascii_uppercase) {
        return false;
    }
    let second =
        bytes.get(8).map_or(0, |letter| if *letter == b'W' { 0 } else { u32::from(letter - b'A') + 1 });
    let rest = (weighted(&digits, &[8, 7, 6, 5, 4, 3, 2]) + 9 * second) % 23;
    u32::from(bytes[7]) == if rest == 0 { u32::from(b'W') } else { u32::from(b'A') + rest - 1 }
}

/// PESEL of Poland: a birth date, a number, a check digit.
pub(super) fn is_polish_number(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 11) else { return false };
    let month = value(&digits[2..4]) % 20;
    (weighted(&digits[..10], &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) + digits[10]).is_multiple_of(10)
        && (1..=12).contains(&month)
        && (1..=31).contains(&value(&digits[4..6]))
}

/// Personnummer of Sweden: a birth date, a line or a plus, four digits, by Luhn's rule.
pub(super) fn is_nordic_number(text: &str) -> bool {
    let text = if text.len() == 13 { text.get(2..).unwrap_or(text) } else { text };
    let Some((date, number)) = text.split_once(['-', '+']) else { return false };
    let (Some(date), Some(number)) = (digits(date), digits(number)) else { return false };
    date.len() == 6
        && number.len() == 4
        && (1..=12).contains(&value(&date[2..4]))
        && luhn(&[date, number].concat())
}

/// Henkilötunnus of Finland: a birth date, a sign for the century, three digits, a letter modulo 31.
pub(super) fn is_finnish_number(text: &str) -> bool {
    if text.len() != 11 || !text.is_ascii() || !b"+-ABCDEFYXWVU".contains(&text.as_bytes()[6]) {
        return false;
    }
    let number = format!("{}{}", &text[..6], &text[7..10]).parse::<usize>();
    number.is_ok_and(|number| b"0123456789ABCDEFHJKLMNPRSTUVWXY"[number % 31] == text.as_bytes()[10])
}

/// Número de la Seguridad Social of Spain: province, number, two digits modulo 97.
pub(super) fn is_spanish_insurance_number(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 12) else { return false };
    let (province, number) = (value(&digits[..2]), value(&digits[2..10]));
    let whole = if number < 10_000_000 { province * 10_000_000 + number } else { value(&digits[..10]) };
    (1..=66).contains(&province) && whole % 97 == value(&digits[10..])
}

/// CURP and RFC of Mexico: letters of the name, the birth date, and what makes them different.
pub(super) fn is_mexican_code(text: &str) -> bool {
    let bytes = text.as_bytes();
    let upper = |from: usize, to: usize| bytes[from..to].iter().all(u8::is_ascii_uppercase);
    let number = |from: usize, to: usize| bytes[from..to].iter().all(u8::is_ascii_digit);
    let mixed = |from: usize, to: usize| bytes[from..to].iter().all(u8::is_ascii_alphanumeric);
    match bytes.len() {
        18 => {
            upper(0, 4)
                && number(4, 10)
                && upper(10, 16)
                && mixed(16, 18)
                && [b'H', b'M'].contains(&bytes[10])
        }
        13 => upper(0, 4) && number(4, 10) && mixed(10, 13),
        _ => false,
    }
}

/// RUT of Chile and CUIT of Argentina: a number, a line, a digit modulo 11.
pub(super) fn is_tax_number_of_the_andes(text: &str) -> bool {
    let Some((number, check)) = text.rsplit_once('-') else { return false };
    let Some(digits) = digits(number).filter(|digits| [7, 8, 10].contains(&digits.len())) else {
        return false;
    };
    let weights = [2, 3, 4, 5, 6, 7, 2, 3, 4, 5];
    let sum: u32 = digits.iter().rev().zip(weights).map(|(digit, weight)| digit * weight).sum();
    match 11 - sum % 11 {
        11 => check == "0",
        10 => check == "K" || check == "k",
        digit => check == digit.to_string(),
    }
}

/// CPF of Brazil: nine digits and two modulo 11.
pub(super) fn is_brazilian_number(text: &str) -> bool {
    let Some(digits) = digits(text).filter(|digits| digits.len() == 11) else { return false };
    let check = |count: usize| {
        let sum: u32 = digits[..count]
            .iter()
            .zip((2..=count as u32 + 1).rev())
            .map(|(digit, weight)| digit * weight)
            .sum();
        sum * 10 % 11 % 10
    };
    digits.iter().any(|digit| *digit != digits[0]) && check(9) == digits[9] && check(10) == digits[10]
}

/// ORCID: sixteen digits of a researcher, the last perhaps an X, ISO 7064 modulo 11, 2.
pub(super) fn is_orcid(text: &str) -> bool {
    let groups: Vec<&str> = text.rsplit('/').next().unwrap_or(text).split('-').collect();
    if !text.is_ascii() || groups.len() != 4 || groups.iter().any(|group| group.len() != 4) {
        return false;
    }
    let spelt = groups.concat();
    let Some(digits) = digits(&spelt[..15]).filter(|digits| digits.len() == 15) else { return false };
    let sum = digits.iter().fold(0, |sum, digit| (sum + digit) * 2);
    match (12 - sum % 11) % 11 {
        10 => spelt.ends_with('X'),
        digit => spelt[15..] == digit.to_string(),
    }
}

/// Vehicle identification number, ISO 3779: seventeen letters and digits without I, O and Q, of which the last are digits.
pub(super) fn is_vehicle_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let allowed = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"IOQ".contains(byte);
    bytes.len() == 17
        && bytes.iter().all(allowed)
        && bytes[13..].iter().all(u8::is_ascii_digit)
        && bytes[..3].iter().any(u8::is_ascii_uppercase)
}
