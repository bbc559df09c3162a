//! What the name of a column says about it, in English, German, French, Spanish, Italian and Dutch.
//!
//! A name is taken apart into words (`words`), each word says something (`lexicon`), and the rules here weigh what
//! stands beside what: `patient_id` names someone, `patient_age` and `id_type` do not.

use super::lexicon::Says;
use super::words::{Word, words};

/// These may be of anything, where no person or thing stands beside them.
const CODES: [&str; 7] = ["code", "kode", "codice", "codigo", "cod", "index", "idx"];

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// That it identifies people.
    Identifies,
    /// That it says whose record it is, unless most share its values.
    Person,
    /// That it is whatever somebody wrote.
    Text,
    /// That it may number people or things.
    MayIdentify,
    /// Something people would not want known.
    Sensitive,
    /// Something others may know.
    Quasi,
    Unknown,
}

/// A column's name, taken apart into words.
pub(super) struct Name {
    words: Vec<Word>,
}

impl Name {
    pub fn new(name: &str) -> Self {
        Name { words: words(name) }
    }

    pub fn is_postcode(&self) -> bool {
        self.has(Says::Postcode) && self.meaning() == Meaning::Quasi
    }

    pub fn is_coordinate(&self) -> bool {
        self.has(Says::Coordinate)
    }

    pub fn meaning(&self) -> Meaning {
        let measured = self.has(Says::Kind) || self.has(Says::Count) || self.counts();
        let identifies = !measured && (self.identifies() || self.names_someone() || self.numbers_someone());
        let number = self.has(Says::Number) && !measured;
        if identifies {
            Meaning::Identifies
        } else if self.has(Says::Text) {
            Meaning::Text
        } else if self.has(Says::Age) || self.has(Says::Birth) || self.is_time_of_death() {
            Meaning::Quasi
        } else if self.has(Says::Sensitive) {
            Meaning::Sensitive
        } else if self.is_about_place() || self.has(Says::Coordinate) || self.has(Says::Known) {
            Meaning::Quasi
        } else if number || !measured && (self.has(Says::Thing) || self.has(Says::Name)) {
            Meaning::MayIdentify
        } else if !measured && self.has(Says::Person) {
            Meaning::Person
        } else if self.has(Says::Date) || self.has(Says::Shared) {
            Meaning::Quasi
        } else {
            Meaning::Unknown
        }
    }

    fn has(&self, says: Says) -> bool {
        self.words.iter().any(|word| word.says.contains(&says))
    }

    fn has_any(&self, list: &[Says]) -> bool {
        list.iter().any(|says| self.has(*says))
    }

    /// `time_of_death` is in the newspaper; `cause_of_death` is not.
    fn is_time_of_death(&self) -> bool {
        self.has(Says::Date)
            && self.words.iter().any(|word| ["death", "deceased", "mortality"].contains(&word.text.as_str()))
    }

    fn is_about_place(&self) -> bool {
        self.has_any(&[Says::Place, Says::Postcode])
    }

    /// Whether it is the number of something that is not known: `kit_no`, but not `room_no`.
    pub fn numbers_something(&self) -> bool {
        let strong = |word: &Word| word.says.contains(&Says::Number) && !CODES.contains(&word.text.as_str());
        let known = [Says::Shared, Says::Place, Says::Known, Says::Sensitive, Says::Kind, Says::Count];
        self.words.iter().any(strong) && !self.has_any(&known)
    }

    /// Whether it is something of a person that has a number, and nothing else.
    pub fn is_thing(&self) -> bool {
        let one = |word: &Word| word.says.contains(&Says::Thing) && !word.plural;
        let else_known =
            [Says::Shared, Says::Place, Says::Known, Says::Sensitive, Says::Kind, Says::Count, Says::Date];
        self.words.iter().any(one) && !self.has_any(&else_known)
    }

    pub fn identifies(&self) -> bool {
        let part_of_address = self.is_about_place();
        let issued = self.ends_with(&[Says::Place, Says::Postcode, Says::Date]);
        self.has(Says::Street)
            || self.has(Says::Identifies) && !issued
            || self.has(Says::Address) && !part_of_address
    }

    /// Whether the first or the last word is about something else than the rest: `passport_country`, `date_passport`.
    fn ends_with(&self, list: &[Says]) -> bool {
        let about = |word: Option<&Word>| {
            word.is_some_and(|word| {
                list.iter().any(|says| word.says.contains(says)) && !word.says.contains(&Says::Identifies)
            })
        };
        about(self.telling().next()) || about(self.telling().last())
    }

    /// Words that say something.
    fn telling(&self) -> impl DoubleEndedIterator<Item = &Word> {
        self.words.iter().filter(|word| word.says != [Says::Little])
    }

    /// A name of a person: nothing else is said to have it.
    fn names_someone(&self) -> bool {
        let of_something =
            self.has_any(&[Says::Place, Says::Shared, Says::Known, Says::Sensitive, Says::Thing]);
        let unknown = self.words.iter().any(|word| word.says.is_empty());
        self.has(Says::Name)
            && (self.has(Says::Birth) && !self.is_about_place()
                || self.has(Says::Person) && !self.has_any(&[Says::Place, Says::Known, Says::Sensitive])
                || !of_something && !unknown)
    }

    /// A number of a person or of something that belongs to one person.
    fn numbers_someone(&self) -> bool {
        let telling: Vec<&Word> = self.telling().collect();
        let is_number = |word: &Word| word.says.contains(&Says::Number);
        if !telling.is_empty() && telling.iter().all(|word| is_number(word)) {
            // `code` and `no` alone may be anything.
            return telling.iter().any(|word| {
                !["code", "kode", "index", "idx", "cod", "n", "no"].contains(&word.text.as_str())
            });
        }
        let owned = |word: &Word| {
            let shared = [Says::Postcode, Says::Age, Says::Birth, Says::Sensitive, Says::Known, Says::Place];
            (word.says.contains(&Says::Person) || word.says.contains(&Says::Thing))
                && !shared.iter().any(|says| word.says.contains(says))
        };
        telling.iter().enumerate().filter(|(_, word)| is_number(word)).any(|(at, _)| {
            // `patient_id`, and `numero_paciente` where nothing stands before.
            let noun = at.checked_sub(1).map_or_else(|| telling.get(at + 1), |before| telling.get(before));
            noun.is_some_and(|noun| owned(noun))
        })
    }

    /// `number_of_visits`, `nb visites`, `num_visits`, and French `nombre d'enfants`.
    fn counts(&self) -> bool {
        let number = |word: &Word| word.says.contains(&Says::Number) || word.text == "nombre";
        let mut words = self.words.iter();
        if !words.next().is_some_and(number) {
            return false;
        }
        let of = self.words.get(1).is_some_and(|word| word.text == "of");
        of || self.telling().nth(1).is_some_and(|word| word.plural)
    }
}
