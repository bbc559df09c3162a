//! What is shown: six screens, each with the policy beside it.

pub mod hierarchies;
pub mod privacy;
pub mod publish;
pub mod result;
pub mod rules;
pub mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use minijinja::{Environment, Value, context};
use serde::Serialize;
use serde_json::json;
use throng::report::pieces;
use throng::{Error, ErrorCode, Policy, Result, Role};

use crate::opened::Opened;
use crate::pane;
use crate::studio::Studio;
use crate::work::{Kind, State, Told};

/// Where on a screen one is: the query of its address.
pub type At = BTreeMap<String, String>;

/// The screens, in the order of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    Table,
    Hierarchies,
    Rules,
    Privacy,
    Result,
    Publish,
}

impl Screen {
    const ALL: [(Screen, &'static str, &'static str); 6] = [
        (Screen::Table, "table", "Table"),
        (Screen::Hierarchies, "hierarchies", "Hierarchies"),
        (Screen::Rules, "rules", "Rules"),
        (Screen::Privacy, "privacy", "Privacy"),
        (Screen::Result, "result", "Result"),
        (Screen::Publish, "publish", "Publish"),
    ];

    /// The screen of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own, _)| *own == name).map(|(screen, ..)| *screen)
    }

    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(own, ..)| *own == self).map_or("table", |(_, name, _)| name)
    }

    fn title(self) -> &'static str {
        Self::ALL.iter().find(|(own, ..)| *own == self).map_or("", |(.., title)| title)
    }
}

/// What a screen is made from.
pub struct View<'a> {
    pub studio: &'a Arc<Studio>,
    pub at: &'a At,
    pub opened: Arc<Opened>,
    pub policy: Policy,
}

impl View<'_> {
    /// A whole number of the address.
    pub fn number(&self, key: &str) -> Option<usize> {
        self.at.get(key).and_then(|text| text.parse().ok())
    }

    /// The columns of a role: place and name.
    pub fn columns(&self, role: Role) -> Vec<(usize, &str)> {
        let names = self.opened.table.names().iter().map(String::as_str).enumerate();
        names
            .filter(|(_, name)| self.policy.attributes.get(*name).is_some_and(|own| own.role == role))
            .collect()
    }

    /// The column that the address names, or the first of those that can be chosen.
    pub fn chosen(&self, among: &[(usize, &str)]) -> Option<usize> {
        let wanted = self.number("column").filter(|wanted| among.iter().any(|(at, _)| at == wanted));
        wanted.or_else(|| among.first().map(|(at, _)| *at))
    }
}

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../templates/", $name)))),*]
    };
}

static TEMPLATES: &[(&str, &str)] = templates![
    "base.html",
    "parts.html",
    "pane.html",
    "table.html",
    "risk.html",
    "hierarchies.html",
    "rules.html",
    "privacy.html",
    "loss.html",
    "result.html",
    "publish.html",
    "stop.html",
    "entered.html",
    "login.html",
    "refusal.html",
];

fn environment() -> &'static Environment<'static> {
    static MADE: OnceLock<Environment<'static>> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut environment = pieces::environment();
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
        environment.add_filter("urlencode", |text: String| urlencoded(&text));
        for (name, source) in TEMPLATES {
            // The templates are part of the program: a test renders every one of them.
            let _ = environment.add_template(name, source);
        }
        environment
    })
}

/// A text as a part of an address.
fn urlencoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Fills in a template.
pub fn render(name: &str, context: Value) -> Result<String> {
    let template = environment().get_template(name);
    template.and_then(|template| template.render(context)).map_err(|cause| {
        Error::bug(format!(
            "the page {name} cannot be filled in: {} on line {}",
            cause.kind(),
            cause.line().unwrap_or(0)
        ))
    })
}

/// Markup of our own, to be placed as it is.
pub fn markup(text: impl Into<String>) -> Value {
    Value::from_safe_string(text.into())
}

/// What an error says, for a template.
pub fn told(error: &Error) -> Value {
    let Trouble { message, hint, file, line, attribute, code } = trouble(error);
    context! { message, hint, file, line, attribute, code }
}

/// What an error says, for a page.
#[derive(Debug, Serialize)]
pub struct Trouble {
    message: String,
    hint: Option<String>,
    file: Option<String>,
    line: Option<u64>,
    attribute: Option<String>,
    code: &'static str,
}

/// What an error says. Of files only the name is told.
pub fn trouble(error: &Error) -> Trouble {
    let place = error.place();
    let file = place.file.as_deref().map(|file| {
        file.file_name()
            .map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
    });
    Trouble {
        message: capital(error.message()),
        hint: error.hint().map(capital),
        file,
        line: place.line,
        attribute: place.attribute.clone(),
        code: error.code().name(),
    }
}

/// A sentence with a capital and a full stop.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let text = letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect());
    if text.ends_with(['.', '!', '?', ':']) { text } else { format!("{text}.") }
}

/// What a piece of work says, where there is something to say.
pub fn work(told: Option<Told>) -> Option<Value> {
    let own = told.filter(|told| told.state != State::Done)?;
    Some(context! {
        kind => own.kind.name(),
        state => own.state.name(),
        stage => own.stage.clone(),
        note => own.note.clone(),
        done => own.done,
        total => own.total,
        error => own.error.as_ref().map(self::told),
    })
}

/// A whole page.
pub fn page(studio: &Arc<Studio>, screen: Screen, at: &At) -> String {
    let (main, title) = (main_part(studio, screen, at), screen.title());
    let context = context! {
        main => markup(main),
        pane => markup(pane::pane(studio, screen, at)),
        screen => screen.name(),
        title,
        screens => Screen::ALL.map(|(own, name, title)| context! { name, title, here => own == screen }).to_vec(),
        token => studio.gate.token.clone(),
        revision => studio.project(|project| project.revision),
        folder => studio.folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        table => studio.project(|project| project.table().map(str::to_owned)),
        version => env!("CARGO_PKG_VERSION"),
    };
    render("base.html", context).unwrap_or_else(|error| refusal(error.message()))
}

/// The parts of a page that change, and something to say.
pub fn parts(studio: &Arc<Studio>, screen: Screen, at: &At, says: &str) -> serde_json::Value {
    json!({
        "main": main_part(studio, screen, at),
        "pane": pane::pane(studio, screen, at),
        "revision": studio.project(|project| project.revision),
        "table": studio.project(|project| project.table().map(str::to_owned)),
        "says": says,
    })
}

fn main_part(studio: &Arc<Studio>, screen: Screen, at: &At) -> String {
    let made = match screen {
        Screen::Table => table::show(studio, at),
        _ => view(studio, at).and_then(|view| match screen {
            Screen::Hierarchies => hierarchies::show(&view),
            Screen::Rules => rules::show(&view),
            Screen::Privacy => privacy::show(&view),
            Screen::Result => result::show(&view),
            Screen::Publish | Screen::Table => publish::show(&view),
        }),
    };
    made.or_else(|error| stopped(studio, screen, &error)).unwrap_or_else(|error| refusal(error.message()))
}

fn view<'a>(studio: &'a Arc<Studio>, at: &'a At) -> Result<View<'a>> {
    let opened = studio.needs_table()?;
    let policy = studio.project(|project| project.policy())?;
    policy.check_columns(opened.table.names())?;
    Ok(View { studio, at, opened, policy })
}

/// What is shown where a screen has nothing to show: why, and what to do.
fn stopped(studio: &Arc<Studio>, screen: Screen, error: &Error) -> Result<String> {
    let reading = studio.works.of(Kind::Open);
    render(
        "stop.html",
        context! {
            title => screen.title(),
            error => told(error),
            work => work(reading),
            to_table => error.code() == ErrorCode::FileNotFound,
        },
    )
}

/// The page that takes one in.
pub fn entered() -> String {
    render("entered.html", context! {}).unwrap_or_default()
}

/// The page that asks for the password.
pub fn login(wrong: bool) -> String {
    render("login.html", context! { wrong }).unwrap_or_default()
}

/// A page that says no.
pub fn refusal(words: &str) -> String {
    render("refusal.html", context! { words }).unwrap_or_default()
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file of the pages.
pub fn asset(name: &str) -> Option<(&'static str, String)> {
    let own = |text: &str| text.to_owned();
    Some(match name {
        "studio.css" => (STYLE, [pieces::style(), include_str!("../../static/studio.css")].concat()),
        "studio.js" => (SCRIPT, own(include_str!("../../static/studio.js"))),
        "server.js" => (SCRIPT, own(include_str!("../../static/server.js"))),
        "pane.js" => (SCRIPT, own(include_str!("../../static/pane.js"))),
        "drop.js" => (SCRIPT, own(include_str!("../../static/drop.js"))),
        "tree.js" => (SCRIPT, own(include_str!("../../static/tree.js"))),
        "charts.js" => (SCRIPT, own(include_str!("../../static/charts.js"))),
        "icon.svg" => ("image/svg+xml", own(include_str!("../../static/icon.svg"))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Options;
    use crate::gate::Gate;

    fn studio(folder: &std::path::Path) -> Arc<Studio> {
        let options = Options { folder: folder.to_owned(), table: None, policy: None, port: 0, listen: None };
        Arc::new(Studio::open(&options, Gate::new(1, None).unwrap()).unwrap())
    }

    fn wait(studio: &Studio, kind: Kind) {
        for _ in 0..4000 {
            match studio.works.of(kind) {
                Some(told) if told.state == State::Running => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                told => {
                    return assert_eq!(told.map(|told| (told.state, told.error)), Some((State::Done, None)));
                }
            }
        }
        panic!("the work does not end");
    }

    #[test]
    fn every_template_is_valid() {
        for (name, source) in TEMPLATES {
            let error = pieces::environment().add_template(name, source).err();
            assert!(environment().get_template(name).is_ok(), "{name}: {error:?}");
        }
        assert_eq!(urlencoded("a b&é"), "a%20b%26%C3%A9");
    }

    #[test]
    fn every_screen_is_filled_in_before_and_after_a_result() {
        let folder = tempfile::tempdir().unwrap();
        let own = studio(folder.path());
        let all = |at: &At| -> Vec<String> {
            Screen::ALL.iter().map(|(screen, ..)| page(&own, *screen, at)).collect()
        };
        for page in all(&At::default()) {
            assert!(page.contains("</html>") && !page.contains("cannot be filled in"), "{page}");
        }
        let rows: String =
            (0..40).map(|at| format!("P{at},{},{}\n", 20 + at % 7, ["Rome", "<i>"][at % 2])).collect();
        std::fs::write(folder.path().join("people.csv"), format!("name,age,city\n{rows}")).unwrap();
        own.project(|project| project.set_table("people.csv")).unwrap();
        own.read_table();
        wait(&own, Kind::Open);
        own.compare(vec!["mondrian".into()], vec![2, 4], Some("queries")).unwrap();
        wait(&own, Kind::Frontier);
        own.make().unwrap();
        wait(&own, Kind::Result);
        own.evaluate("queries").unwrap();
        wait(&own, Kind::Evaluate);
        let some = At::from([
            ("column".into(), "2".into()),
            ("find".into(), "rome".into()),
            ("sort".into(), "0".into()),
        ]);
        for page in all(&At::default()).iter().chain(&all(&some)) {
            assert!(
                page.contains("<h1>") && !page.contains("cannot be filled in") && !page.contains("<i>"),
                "{page}"
            );
            assert!(!page.contains(" style=") && !page.contains("<script>"), "nothing stands inline: {page}");
        }
        let risk = table::risk(&own);
        assert!(risk.contains("unique-share"), "{risk}");
        let loss = privacy::loss(&own, &At::from([("k".into(), "3".into())]));
        assert!(loss.contains("quick-loss"), "{loss}");
    }
}
