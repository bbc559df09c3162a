//! Which column says whose record it is, in a table with several records of a person.
//!
//! Three things tell: the name of the column, that its values recur, and that other columns do not change where it does not,
//! as sex and birth date do not within a patient. A name that says so needs but the recurrence; without it, several columns
//! must be constant within the values, one of which says something about a person.
//!
//! Cost: a pass over each column for a column that comes into question.

use crate::collections::Arrange;
use crate::policy::{Policy, Role};
use crate::table::{Map, Storage, Table};

/// Words for people who have records, in the languages of the project.
const PEOPLE: &str = "patient patients patientin person persons people customer customers client clients member members \
    subject subjects participant participants respondent respondents user users employee employees student students \
    insured insuree beneficiary enrollee policyholder donor citizen resident taxpayer passenger borrower tenant \
    pupil proband probanden teilnehmer teilnehmerin kunde kunden kundin versicherter versicherte versicherten mitglied \
    mitarbeiter schueler buerger nutzer benutzer personne personnes assure adherent abonne salarie eleve etudiant \
    usager paciente pacientes persona personas cliente clientes usuario usuarios asegurado afiliado empleado alumno \
    paziente pazienti assistito utente utenti assicurato dipendente studente iscritto klant klanten patienten persoon \
    deelnemer verzekerde lid medewerker leerling gebruiker pat cust pers";
/// Words that make a number or a key of them.
const KEYS: &str = "id ids no nr num number code key uid ref nummer numero num identifier ident pseudonym pseudonyme \
    token hash matricule kennung schluessel clave codice chiave sleutel";
/// Numbers that every person has one of, as whole words.
const NUMBERS: &str = "pid mrn ssn nhs bsn ahv nir dni nie svnr curp cpf personid patientid customerid clientid userid \
    memberid subjectid employeeid studentid participantid personnr kundennr kundennummer patientennr patientennummer \
    patientnummer mitgliedsnummer versichertennummer klantnummer socialsecuritynumber nhc ipp nip nuhsa cip kvnr uhid \
    mbi nosologico insz rijksregisternummer burgerservicenummer nif curp rut codicefiscale svnummer ahvnummer patid";
/// What is said of a person and does not change from record to record.
const ABOUT: &str = "sex gender geschlecht sexe sexo sesso genero geslacht birth birthday birthdate birthyear dob yob born \
    geburtsdatum geburtsjahr geburtstag naissance nacimiento nascita geboortedatum race ethnicity name surname firstname \
    lastname vorname nachname nom prenom apellido nombre cognome nome naam zip postcode plz age alter edad eta";

/// Fewer cells than this say nothing about recurrence.
const ENOUGH: usize = 20;
/// Fewer different values are groups, not people.
const LEAST_PEOPLE: usize = 5;
/// More records than this on average are groups, not people, unless the name or other columns say otherwise.
const MOST_RECORDS: usize = 50;

/// In tables with more columns than this, only names are asked: each column that comes into question is held against all others.
const WIDE: usize = 500;

/// A column that says whose record it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonColumn {
    /// Its place in the table.
    pub column: usize,
    /// Different values.
    pub people: usize,
    /// Cells with a value.
    pub records: usize,
}

/// Finds the column that says whose record it is, among all columns that are coded.
pub(super) fn find(table: &Table, missing: &[&str]) -> Option<PersonColumn> {
    let names = table.names();
    let wide = names.len() > WIDE;
    let looked_at = |at: usize| !wide || is_named(&names[at]) || has(&names[at], ABOUT);
    let columns: Vec<Option<Vec<u32>>> = (0..names.len())
        .map(|column| looked_at(column).then(|| codes(table, column, missing)).flatten())
        .collect();
    let of = |at: usize| {
        let asked = !wide || is_named(&names[at]);
        Some((at, Repeats::of(columns[at].as_ref().filter(|_| asked)?)?))
    };
    let mut found: Vec<(bool, usize, PersonColumn)> = Vec::new();
    for (at, repeats) in (0..columns.len()).filter_map(of) {
        let constant: Vec<usize> =
            (0..columns.len()).filter(|other| *other != at && repeats.keeps(&columns, at, *other)).collect();
        let (named, few) = (is_named(&table.names()[at]), repeats.records <= MOST_RECORDS * repeats.people);
        let about = constant.iter().any(|other| has(&table.names()[*other], ABOUT));
        if named && (few || !constant.is_empty()) || few && about && constant.len() >= 2 {
            let column = PersonColumn { column: at, people: repeats.people, records: repeats.records };
            found.push((named, constant.len(), column));
        }
    }
    // A name first, then what determines most, then what tells most apart.
    found.arrange_by_key(|(named, constant, own)| {
        (!named, usize::MAX - constant, usize::MAX - own.people, own.column)
    });
    found.into_iter().next().map(|(.., column)| column)
}

/// What to say of a table whose policy counts records, if a column that says whose they are recurs in it.
pub fn warning(table: &Table, policy: &Policy) -> Option<String> {
    if policy.counts_people() {
        return None;
    }
    let missing: Vec<&str> = policy.missing.iter().map(String::as_str).collect();
    let found = (0..table.names().len()).filter(|at| is_named(&table.names()[*at])).find_map(|column| {
        let repeats = Repeats::of(&codes(table, column, &missing)?)?;
        Some((column, repeats))
    });
    let (column, Repeats { people, records, .. }) = found?;
    let name = &table.names()[column];
    Some(format!(
        "\"{name}\" looks like whose record it is, and {people} of them have {records} records. k and all else count \
         records here, so that several records of one person pass for several people; write role = \"person\" under \
         [attribute.\"{name}\"] to count people."
    ))
}

/// Whether a column is kept so that [`warning`] can look at it, although it is not published.
pub(crate) fn is_watched(policy: &Policy, name: &str) -> bool {
    policy.role(name) == Role::Identifier && !policy.counts_people() && is_named(name)
}

/// Whether a name says that it is a person, or the number of one.
fn is_named(name: &str) -> bool {
    let words = words(name);
    let among = |list: &str, word: &String| list.split_whitespace().any(|own| own == word);
    let (people, key) =
        (words.iter().any(|word| among(PEOPLE, word)), words.iter().any(|word| among(KEYS, word)));
    let rest = words.iter().filter(|word| !among(PEOPLE, word) && !among(KEYS, word)).count();
    people && rest == 0 && (key || words.len() == 1)
        || among(NUMBERS, &words.concat())
        || matches!(&words[..], [one] if is_compound(one))
}

/// `Teilnehmernr`, `verzekerdennummer`: people, letters that join, and a number.
fn is_compound(word: &str) -> bool {
    let among = |list: &str, word: &str| list.split_whitespace().any(|own| own == word);
    let joined = |people: &str| {
        let joints = ["", "s", "n", "en", "er"];
        joints.iter().filter_map(|joint| people.strip_suffix(joint)).any(|people| among(PEOPLE, people))
    };
    KEYS.split_whitespace().filter_map(|key| word.strip_suffix(key)).any(joined)
}

fn has(name: &str, list: &str) -> bool {
    words(name).iter().any(|word| list.split_whitespace().any(|own| own == word))
}

/// The words of a name in lower case without accents: `PatientID`, `patient_id` and `Patient-Nr.` are two each.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || small && letter.is_uppercase() {
            words.push(String::new());
        }
        small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase().map(without_accent));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn without_accent(letter: char) -> char {
    match letter {
        'à' | 'á' | 'â' | 'ä' | 'ã' => 'a',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ò' | 'ó' | 'ô' | 'ö' | 'õ' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    }
}

/// No value.
const NONE: u32 = u32::MAX;

/// The values of a column as numbers; `None` where the table does not keep it.
fn codes(table: &Table, column: usize, missing: &[&str]) -> Option<Vec<u32>> {
    let is_missing = |text: &str| text.trim().is_empty() || missing.contains(&text);
    match table.storage(column) {
        Storage::Skip => None,
        Storage::Coded => {
            let values = table.values(column);
            let number = |entry: &u32| if is_missing(values[*entry as usize]) { NONE } else { *entry };
            Some(table.numbers(column).iter().map(number).collect())
        }
        Storage::Text => {
            let place = (0..column).filter(|at| table.storage(*at) == Storage::Text).count();
            let mut numbers: Map<&str, u32> = Map::default();
            let mut codes = Vec::with_capacity(table.len());
            for row in 0..table.len() {
                let cell = table.nullable_text_row(row).nth(place).flatten();
                let next = numbers.len() as u32;
                let text = cell.filter(|text| !is_missing(text));
                codes.push(text.map_or(NONE, |text| *numbers.entry(text).or_insert(next)));
            }
            Some(codes)
        }
    }
}

/// A column whose values recur.
struct Repeats {
    people: usize,
    records: usize,
}

impl Repeats {
    /// `None` if they do not, or if there are too few to tell.
    fn of(codes: &[u32]) -> Option<Self> {
        let mut counts: Map<u32, u32> = Map::default();
        codes.iter().filter(|code| **code != NONE).for_each(|code| *counts.entry(*code).or_insert(0) += 1);
        let (people, records) = (counts.len(), counts.values().map(|count| *count as usize).sum::<usize>());
        let several = counts.values().filter(|count| **count > 1).count();
        // One value that recurs may be a slip; a fiftieth of them is none.
        (records >= ENOUGH && people >= LEAST_PEOPLE && 50 * several >= people)
            .then_some(Repeats { people, records })
    }

    /// Whether another column, which has fewer values, does not change where this one does not.
    fn keeps(&self, columns: &[Option<Vec<u32>>], at: usize, other: usize) -> bool {
        let (Some(own), Some(other)) = (&columns[at], &columns[other]) else { return false };
        let mut value_of: Map<u32, u32> = Map::default();
        let mut different: Map<u32, ()> = Map::default();
        for (own, other) in own.iter().zip(other).filter(|(own, _)| **own != NONE) {
            if *value_of.entry(*own).or_insert(*other) != *other {
                return false;
            }
            different.insert(*other, ());
        }
        different.len() > 1 && different.len() < self.people.max(2)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::format::CSV;
    use crate::table::Reading;
    use crate::watch::Unwatched;

    fn found(csv: &str) -> Option<String> {
        let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
        let table = Table::read_from(&CSV, csv.as_bytes(), &Reading::new(&plan, &Unwatched)).unwrap();
        find(&table, &[""]).map(|own| table.names()[own.column].clone())
    }

    fn visits(head: &str) -> String {
        let row = |at: usize| {
            let who = at * 7 % 30;
            format!("{},{},{},{}\n", 1000 + who, 1950 + who % 20, ["f", "m"][who % 2], at % 11)
        };
        format!("{head}\n") + &(0..90).map(row).collect::<String>()
    }

    #[test]
    fn names_say_whose_a_record_is() {
        for name in [
            "patient_id",
            "PatientID",
            "Kunden-Nr",
            "customer",
            "SSN",
            "Paciente",
            "participant no",
            "mrn",
            "NHC",
            "Teilnehmernr",
            "Verzekerdennummer",
            "Mitgliedsnr",
            "patiëntnummer",
            "Codice Fiscale",
        ] {
            assert!(is_named(name), "{name}");
        }
        for name in [
            "patient_age",
            "visit_id",
            "id",
            "customer_segment",
            "user_agent",
            "code",
            "salary",
            "Auftragsnummer",
            "usage",
        ] {
            assert!(!is_named(name), "{name}");
        }
    }

    #[test]
    fn a_named_column_that_recurs_is_found() {
        assert_eq!(found(&visits("patient_id,year,s,result")).as_deref(), Some("patient_id"));
    }

    #[test]
    fn without_a_name_what_stays_the_same_tells() {
        assert_eq!(found(&visits("nr,birth_year,sex,result")).as_deref(), Some("nr"));
        assert_eq!(found(&visits("nr,a,b,result")), None);
    }

    #[test]
    fn a_column_that_does_not_recur_is_none() {
        let rows: String = (0..50).map(|at| format!("{at},{}\n", at % 2)).collect();
        assert_eq!(found(&format!("patient_id,sex\n{rows}")), None);
    }
}
