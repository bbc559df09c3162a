//! What the names of columns suggest, in English and a few other languages.

/// These identify people, whatever the values are.
const IDENTIFIES: &str = "uuid guid firstname lastname surname forename fullname username nickname email mail ssn \
    phone telephone mobile fax passport iban mrn vorname nachname apellido apellidos prenom cognome achternaam \
    telefon telefono handy adresse direccion indirizzo 氏名 名前 電話 電話番号 住所 メール 姓名 电话 地址";
/// These do so if they are the whole name or if most values are different.
const MAY_IDENTIFY: &str = "id ids key name nom nome nombre naam patient person customer client member employee user \
    number no nr num code address street account licence license plate ip url index record row 番号 编号";
const SENSITIVE: &str = "disease diseases diagnosis diagnoses diagnose illness icd icd9 icd10 medication drug drugs \
    treatment therapy hiv aids cancer pregnancy pregnant abortion mental psychiatric salary income wage wages \
    gehalt einkommen lohn salaire salario ingreso stipendio reddito religion religious faith konfession religione \
    political sexuality orientation crime conviction offence offense arrest debt loan credit disability death \
    krankheit krankheiten enfermedad maladie malattia diagnostic diagnostico diagnosi addiction alcohol smoking \
    smoker 病名 診断 疾患 給与 年収 収入 宗教 疾病 诊断 收入 工资";
const QUASI: &str = "age alter edad eta idade leeftijd sex gender geschlecht sexe sexo sesso genero geslacht birth \
    birthday birthdate dob yob born geburtsdatum geburtstag geburtsjahr naissance nacimiento nascita nascimento \
    geboortedatum race ethnicity ethnic ethnie raza marital married familienstand civil relationship education \
    schooling degree bildung ausbildung educacion istruzione country nationality citizenship native nationalitaet \
    staatsangehoerigkeit pays pais paese land occupation job profession beruf ocupacion professione workclass \
    employment employer city town village stadt ort ville ciudad citta cidade municipality gemeinde county state \
    province provincia region bundesland district neighborhood neighbourhood language sprache children kids household \
    veteran 年齢 性別 生年月日 都道府県 国籍 職業 学歴 年龄 性别 出生日期 职业";
const POSTCODE: &str =
    "zip zipcode postcode postal postalcode plz postleitzahl codepostal cap cep 郵便番号 邮编";

/// A column's name, taken apart into words.
pub(super) struct Name {
    words: Vec<String>,
    joined: String,
}

impl Name {
    pub fn new(name: &str) -> Self {
        let words = words(name);
        Name { joined: words.concat(), words }
    }

    pub fn identifies(&self) -> bool {
        self.has(IDENTIFIES) || self.joined.contains("socialsecurity")
    }

    pub fn may_identify(&self) -> bool {
        self.has(MAY_IDENTIFY)
    }

    pub fn is_sensitive(&self) -> bool {
        self.has(SENSITIVE)
    }

    pub fn is_quasi(&self) -> bool {
        self.has(QUASI) || self.is_postcode()
    }

    pub fn is_postcode(&self) -> bool {
        self.has(POSTCODE)
    }

    pub fn is_one_word(&self) -> bool {
        self.words.len() == 1
    }

    /// Whether one of the words, or all of them joined (`post_code`), is in a list.
    fn has(&self, list: &str) -> bool {
        list.split_whitespace()
            .any(|known| self.joined == known || self.words.iter().any(|word| word == known))
    }
}

/// `marital-status`, `maritalStatus` and `Marital Status` are the same words; accents do not matter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let hump = c.is_uppercase() && before.is_lowercase();
        if hump || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            c.to_lowercase().for_each(|c| plain(c, word));
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn plain(c: char, word: &mut String) {
    match c {
        'ä' => word.push_str("ae"),
        'ö' => word.push_str("oe"),
        'ü' => word.push_str("ue"),
        'ß' => word.push_str("ss"),
        'á' | 'à' | 'â' | 'ã' => word.push('a'),
        'é' | 'è' | 'ê' | 'ë' => word.push('e'),
        'í' | 'ì' | 'î' | 'ï' => word.push('i'),
        'ó' | 'ò' | 'ô' | 'õ' => word.push('o'),
        'ú' | 'ù' | 'û' => word.push('u'),
        'ç' => word.push('c'),
        'ñ' => word.push('n'),
        other => word.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_into_words() {
        assert_eq!(words("maritalStatus"), ["marital", "status"]);
        assert_eq!(words("Marital Status"), ["marital", "status"]);
        assert_eq!(words("Staatsangehörigkeit"), ["staatsangehoerigkeit"]);
        assert_eq!(words("ZIP_code 2"), ["zip", "code", "2"]);
        assert!(words("--").is_empty());
    }

    #[test]
    fn names_suggest_roles_only_as_whole_words() {
        assert!(Name::new("patient_age").is_quasi() && Name::new("Date of birth").is_quasi());
        assert!(Name::new("edad").is_quasi() && Name::new("性別").is_quasi());
        assert!(Name::new("Post-Code").is_postcode());
        assert!(!Name::new("dosage").is_quasi() && !Name::new("manage").is_quasi());
        assert!(Name::new("eMail").identifies() || Name::new("email").identifies());
        assert!(Name::new("HIV_status").is_sensitive() && !Name::new("archive").is_sensitive());
        assert!(!Name::new("").is_quasi() && !Name::new("").may_identify());
    }
}
