//! Values that are street addresses: a number beside a word for a street, in six languages.
//!
//! Streets are named in as many ways as there are towns, so that half of a column's values are enough, as long as nearly all
//! have a number.

/// The share of different values that must have a word for a street.
const ENOUGH: f64 = 0.5;
/// The share that must have a number and a word.
const NUMBERED: f64 = 0.8;
/// Fewer different values than this say nothing.
const FEWEST: usize = 3;

/// Words that stand alone.
const WORDS: &str = "\
    street st road rd avenue ave av lane ln drive court ct boulevard blvd bd terrace crescent close square highway hwy \
    parkway pkwy way grove gardens mews row hill \
    straße strasse str weg gasse platz allee ring damm ufer steig chaussee promenade am an im zum zur \
    rue chemin allée impasse quai cours route place sentier passage faubourg résidence lotissement \
    calle cl avenida avda plaza pza paseo camino carretera ronda travesía pasaje urbanización glorieta callejón \
    via viale piazza corso largo vicolo strada piazzale contrada borgo lungomare \
    straat laan plein gracht kade dreef singel hof steeg dijk";

/// Words that also stand at the end of others.
const ENDS: &str = "straße strasse str weg gasse platz allee ring damm ufer steig straat laan plein gracht kade dreef singel";

/// Whether values look like street addresses.
pub(super) fn are_addresses(sample: &[&str]) -> bool {
    let numbered: Vec<&&str> = sample.iter().filter(|text| is_numbered(text)).collect();
    let streets = numbered.iter().filter(|text| has_street(text)).count();
    sample.len() >= FEWEST
        && numbered.len() as f64 >= NUMBERED * sample.len() as f64
        && streets as f64 >= ENOUGH * sample.len() as f64
}

/// A number of one to five digits, perhaps with a letter, and a word of at least three letters: `12 rue Haute`, `Am Markt 5b`.
fn is_numbered(text: &str) -> bool {
    let number = |word: &str| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        (1..=5).contains(&digits) && word[digits..].chars().filter(|c| c.is_alphabetic()).count() <= 3
    };
    let long = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() >= 3;
    words(text).any(number) && words(text).any(long)
}

fn has_street(text: &str) -> bool {
    words(text).any(|word| {
        let word = word.trim_end_matches('.').to_lowercase();
        let ends = |end: &str| word.len() > end.len() + 2 && word.ends_with(end);
        WORDS.split_whitespace().any(|own| own == word) || ENDS.split_whitespace().any(ends)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',', '/', '\t']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::are_addresses;

    #[test]
    fn addresses_of_six_languages_are_known() {
        for values in [
            ["12 High Street", "5 Oak Ave.", "8 Mill Lane", "Flat 2, 17 Park Road"],
            ["Hauptstraße 5", "Am Markt 12", "Lindenweg 3a", "Bahnhofstr. 77-79"],
            ["12 rue de la Paix", "5 bis avenue Foch", "8, chemin Vert", "17 bd Voltaire"],
            ["Calle Mayor 5", "Avda. Europa, 12", "Plaza de España 3", "Paseo del Prado 8"],
            ["Via Roma 12", "Viale Monza, 3", "Piazza Duomo 1/A", "Corso Como 8"],
            ["Dorpsstraat 5", "Kerklaan 12", "Plein 3", "Herengracht 8-II"],
        ] {
            assert!(are_addresses(&values), "{values:?}");
        }
    }

    #[test]
    fn other_texts_with_numbers_are_none() {
        for values in [
            ["Room 12", "Room 14", "Ward 3", "Ward 4"],
            ["2 children", "3 children", "1 child", "no child"],
            ["B-12", "C-14", "D-3", "A-77"],
            ["10 to 19 years", "20 to 29 years", "30 to 39 years", "40 and more"],
            ["Abt. 5", "Team 7", "Gruppe 9", "Klasse 3a"],
        ] {
            assert!(!are_addresses(&values), "{values:?}");
        }
    }
}
