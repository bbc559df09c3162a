//! Names of people: the most frequent given names and surnames of six languages.
//!
//! Lists of a few hundred cover a large share of any real column, which is all that is needed: a column is judged by how many
//! of its values are known, and hardly any other column has a fifth of them.

use std::collections::HashSet;
use std::sync::LazyLock;

/// The share of different values that must hold a known given name or surname.
const ENOUGH: f64 = 0.3;
/// Fewer different values than this say nothing.
const FEWEST: usize = 4;
/// Of so many different values, rare names among them, this share will do.
const OF_MANY: (usize, f64) = (100, 0.2);

static KNOWN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| GIVEN.split_whitespace().chain(SURNAMES.split_whitespace()).collect());

/// Whether values look like names of people.
pub(super) fn are_people(sample: &[&str]) -> bool {
    let named = sample.iter().filter(|text| is_person(text)).count();
    let distinct = sample.iter().filter(|text| !text.is_empty()).count();
    let enough = if distinct >= OF_MANY.0 { OF_MANY.1 } else { ENOUGH };
    distinct >= FEWEST && named as f64 >= enough * distinct as f64
}

/// One to five words of letters, of which one is known.
fn is_person(text: &str) -> bool {
    let words: Vec<String> = text
        .split([' ', ',', '-', '.'])
        .filter(|word| !word.is_empty())
        .map(|word| word.chars().flat_map(char::to_lowercase).map(plain).collect())
        .collect();
    let letters = text.chars().all(|c| c.is_alphabetic() || " ,.-'’".contains(c));
    letters && (1..=5).contains(&words.len()) && words.iter().any(|word| KNOWN.contains(word.as_str()))
}

fn plain(c: char) -> char {
    match c {
        'á' | 'à' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' | 'ø' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    }
}

const GIVEN: &str = "\
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony donald mark \
    paul steven andrew kenneth joshua kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas eric \
    jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond patrick jack dennis jerry \
    tyler aaron jose henry adam douglas nathan peter zachary kyle noah ethan jeremy walter christian keith roger terry \
    austin sean gerald carl harold dylan arthur lawrence jordan jesse bryan billy bruce gabriel joe logan alan juan albert \
    willie elijah wayne randy mason vincent liam oliver harry oscar leo mary patricia jennifer linda elizabeth barbara \
    susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly emily donna michelle carol amanda melissa \
    deborah stephanie rebecca sharon laura cynthia dorothy amy kathleen angela shirley emma brenda pamela nicole anna \
    samantha katherine christine debra rachel carolyn janet maria olivia heather helen catherine diane julie victoria \
    joyce lauren kelly christina joan evelyn judith andrea hannah megan cheryl jacqueline martha madison teresa gloria \
    sara janice ann kathryn abigail sophia frances jean alice judy isabella julia grace amber denise danielle marilyn \
    beverly charlotte natalie theresa diana brittany doris kayla alexis lori mia ava amelia freya isla poppy ella lily \
    hans peter wolfgang klaus jurgen dieter manfred uwe gunter horst bernd werner helmut gerhard heinz karl walter stefan \
    andreas jan sebastian tobias matthias markus sven torsten thorsten ralf jens dirk frank olaf kai lukas finn jonas \
    felix maximilian paul leon luca elias anton emil moritz niklas philipp florian fabian simon tim jannik kurt otto fritz \
    ursula monika petra elke sabine renate helga karin brigitte ingrid erika christa gisela susanne gabriele heike \
    birgit angelika anja katja silke kerstin claudia stefanie anke marion nina lena lea leonie sophie johanna clara \
    frieda greta ida mila marie jana katharina franziska ute heidi elfriede hildegard gertrud jutta annette beate ulrike \
    jean pierre michel andre philippe louis alain jacques bernard marcel daniel roger robert claude christian henri \
    nicolas francois laurent julien thierry olivier guillaume antoine alexandre mathieu lucas hugo gabriel raphael arthur \
    jules maxime theo clement romain sebastien frederic pascal didier patrice yves gerard rene marc lucien camille manon \
    chloe lea ines jade louise zoe lina juliette sylvie monique jacqueline nathalie isabelle catherine francoise \
    valerie christelle sandrine veronique celine aurelie emilie pauline mathilde oceane brigitte chantal odile genevieve \
    helene elodie amelie margaux simone yvette \
    antonio manuel jose francisco juan javier carlos jesus miguel angel alejandro rafael pedro pablo sergio fernando \
    jorge luis alberto alvaro diego adrian raul ivan enrique ramon vicente andres joaquin eduardo mateo martin hugo \
    carmen josefa isabel dolores pilar teresa ana francisca cristina rosa lucia mercedes concepcion rosario juana beatriz \
    raquel paula elena silvia marta irene nuria rocio alba ines sofia valentina daniela martina guadalupe montserrat \
    giuseppe giovanni mario luigi angelo vincenzo pietro salvatore carlo franco domenico bruno paolo michele giorgio aldo \
    sergio luciano francesco alessandro andrea lorenzo matteo gabriele mattia riccardo davide marco luca stefano roberto \
    fabio simone federico nicola massimo claudio daniele enrico giulia francesca giuseppina angela giovanna lucia rosa \
    caterina antonietta chiara alessia martina sara elisa valentina federica silvia paola elena laura ginevra aurora \
    beatrice bianca vittoria margherita patrizia stefania simona roberta daniela barbara alessandra \
    jan johannes pieter cornelis hendrik willem dirk gerrit jacob kees piet henk wim gert bart bas daan sem lars thijs \
    jasper ruben stijn joost maarten jeroen sander martijn pim koen teun sjoerd bram anna johanna cornelia wilhelmina \
    hendrika grietje anneke annemarie marieke sanne fleur lotte femke eva tess noor saar sophie julia maud roos anouk \
    ingeborg mariska esther miranda marloes ilse trijntje truus joke wil ineke mohammed muhammad ahmed ali fatima aisha \
    mehmet mustafa ayse fatma yusuf omar hassan ibrahim zeynep emre amir khalid piotr anna katarzyna wei li";

const SURNAMES: &str = "\
    smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson \
    taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis robinson walker young allen \
    wright hill flores green adams nelson baker hall rivera campbell mitchell carter roberts evans edwards hughes patel \
    muller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schafer koch bauer richter klein wolf \
    schroder neumann schwarz zimmermann braun kruger hofmann hartmann lange schmitt werner schmitz krause meier lehmann \
    schmid schulze maier kohler herrmann konig walter mayer huber kaiser fuchs peters lang scholz moller weiss jung hahn \
    mueller schaefer schroeder krueger koehler koenig moeller \
    bernard dubois petit durand leroy moreau simon laurent lefebvre michel bertrand roux vincent fournier morel girard \
    andre mercier dupont lambert bonnet francois legrand garnier faure rousseau blanc guerin chevalier gauthier perrin \
    robin clement masson fernandez gomez diaz moreno munoz alvarez romero alonso gutierrez navarro torres dominguez \
    vazquez ramos gil serrano molina morales suarez ortega delgado castro ortiz rubio marin sanz iglesias nunez \
    rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti mancini costa giordano \
    rizzo lombardi moretti barbieri fontana santoro mariani rinaldi caruso ferrara galli martini leone longo gentile \
    jong jansen vries bakker janssen visser smit meijer mulder groot bos vos dijk hendriks leeuwen dekker brouwer dijkstra \
    smits graaf berg heuvel linden peeters maes jacobs mertens willems claes goossens wouters";
