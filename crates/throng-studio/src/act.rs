//! What can be clicked. A page sends what it is about and the revision it has seen; what was changed elsewhere meanwhile is
//! shown first, and nothing is changed unseen.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use throng::policy::{Apart, Policy};
use throng::{Error, ErrorCode, Result, Role};

use crate::edit::{ApartText, RuleText, Text, typed};
use crate::opened::Opened;
use crate::project::Project;
use crate::screens::{self, At, Screen, View, hierarchies, publish};
use crate::studio::{SECRET, Studio};
use crate::trees::Grove;
use crate::work::Kind;

/// What a page sends.
#[derive(Debug, Deserialize)]
pub struct Request {
    revision: u64,
    screen: String,
    #[serde(default)]
    at: At,
    act: Act,
}

/// What can be done.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Act {
    /// Open a table of the folder.
    Open {
        file: String,
    },
    /// Write a first policy for the table.
    Guess,
    /// Set what the policy says of a column.
    Role {
        column: usize,
        value: String,
    },
    Kind {
        column: usize,
        value: String,
    },
    Weight {
        column: usize,
        value: String,
    },
    Confirm {
        column: usize,
        value: bool,
    },
    /// Take the text of the policy.
    Text {
        text: String,
    },
    Discard,
    Undo,
    Redo,
    /// Set a key of `[privacy]`, or the method.
    Privacy {
        key: String,
        value: String,
    },
    Method {
        value: String,
    },
    AddSet {
        columns: Vec<usize>,
        k: String,
    },
    RemoveSet {
        at: usize,
    },
    /// Loss over k.
    Compare {
        methods: Vec<String>,
        ks: String,
        also: String,
    },
    Choose {
        k: usize,
        method: String,
    },
    Stop {
        work: String,
    },
    /// Rules of an attribute.
    AddCut {
        column: usize,
        low: String,
        high: String,
        importance: String,
        hard: bool,
    },
    AddApart {
        column: usize,
        one: usize,
        other: usize,
        importance: String,
        hard: bool,
    },
    RemoveRule {
        column: usize,
        at: usize,
    },
    /// The tree of an attribute.
    Group {
        column: usize,
        nodes: Vec<usize>,
        label: String,
    },
    Rename {
        column: usize,
        node: usize,
        label: String,
    },
    Dissolve {
        column: usize,
        node: usize,
    },
    Shift {
        column: usize,
        nodes: Vec<usize>,
        target: Option<usize>,
    },
    Build {
        column: usize,
        build: String,
        sizes: String,
    },
    Import {
        column: usize,
        text: String,
    },
    RemoveHierarchy {
        column: usize,
    },
    /// The result.
    Make,
    Evaluate {
        task: String,
    },
    /// The publication.
    Tick {
        item: String,
        value: bool,
    },
    Repeatable {
        value: bool,
    },
    Publish {
        order: Order,
    },
}

/// What is to be written.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Order {
    pub release: String,
    pub report: String,
    pub publish: String,
    pub escape: bool,
    pub recipe: bool,
    pub certificate: bool,
    pub replace: bool,
}

/// Carries out what was clicked and tells what the page shows then.
pub fn carry_out(studio: &Arc<Studio>, request: Request) -> Value {
    let screen = Screen::named(&request.screen).unwrap_or(Screen::Table);
    let seen = studio.project(|project| project.revision) == request.revision;
    let outcome = match seen || harmless(&request.act) {
        true => act(studio, &request.at, request.act),
        false => {
            Err(Error::new(ErrorCode::BadUsage, "this was changed elsewhere meanwhile, so nothing was done")
                .with_hint("the page now shows how things stand; do it again if it still fits"))
        }
    };
    let says = outcome.as_deref().unwrap_or_default().to_owned();
    let mut told = screens::parts(studio, screen, &request.at, &says);
    if let Err(error) = outcome {
        told["error"] = json!(screens::trouble(&error));
    }
    told
}

/// Whether something may be done by a page that has not seen the latest change.
fn harmless(act: &Act) -> bool {
    matches!(act, Act::Stop { .. } | Act::Make | Act::Evaluate { .. } | Act::Compare { .. })
}

fn act(studio: &Arc<Studio>, at: &At, act: Act) -> Result<String> {
    match act {
        Act::Open { file } => open(studio, &file),
        Act::Guess => guess(studio),
        Act::Role { column, value } => role(studio, column, &value),
        Act::Kind { column, value } => attribute(studio, column, "kind", &value),
        Act::Weight { column, value } => attribute(studio, column, "weight", &value),
        Act::Confirm { column, value } => {
            let name = studio.needs_table()?.column(column)?.to_owned();
            edit(studio, &format!("confirmation of {name}"), |text| {
                text.attribute(&name, "confirmed", value.then(|| true.into()))
            })
        }
        Act::Text { text } => match studio.project(|project| project.take(&text))? {
            None => Ok("The policy is saved.".to_owned()),
            Some(_) => Ok("The text is not a valid policy yet; the last valid one stays in use.".to_owned()),
        },
        Act::Discard => studio.project(Project::discard).map(|()| "The draft is discarded.".to_owned()),
        Act::Undo => stepped(studio.project(Project::undo)?, "Undone"),
        Act::Redo => stepped(studio.project(Project::redo)?, "Done again"),
        Act::Privacy { key, value } => privacy(studio, &key, &value),
        Act::Method { value } => {
            edit(studio, "method", |text| text.key("method", "name", Some(value.as_str().into())))
        }
        Act::AddSet { columns, k } => add_set(studio, &columns, &k),
        Act::RemoveSet { at } => {
            edit(studio, "set of quasi-identifiers", |text| text.remove_quasi_identifier(at))
        }
        Act::Compare { methods, ks, also } => compare(studio, methods, &ks, &also),
        Act::Choose { k, method } => edit(studio, &format!("k = {k} with {method}"), |text| {
            text.key("privacy", "k", Some((k as i64).into()))?;
            text.key("method", "name", Some(method.as_str().into()))
        }),
        Act::Stop { work } => Ok(stop(studio, &work)),
        Act::AddCut { .. } | Act::AddApart { .. } | Act::RemoveRule { .. } => rules(studio, &act),
        Act::Group { column, nodes, label } => {
            tree(studio, column, "group", |grove| grove.group(&nodes, &label))
        }
        Act::Rename { column, node, label } => {
            tree(studio, column, "new name", |grove| grove.rename(node, &label))
        }
        Act::Dissolve { column, node } => {
            tree(studio, column, "group taken apart", |grove| grove.dissolve(node))
        }
        Act::Shift { column, nodes, target } => {
            tree(studio, column, "move", |grove| grove.shift(&nodes, target))
        }
        Act::Build { column, build, sizes } => built(studio, column, &build, &sizes),
        Act::Import { column, text } => {
            let read = throng::policy::parse_hierarchy(text.as_bytes())?;
            tree(studio, column, "hierarchy from a file", |grove| {
                *grove = Grove::of(&read);
                Ok(())
            })
        }
        Act::RemoveHierarchy { column } => {
            let name = studio.needs_table()?.column(column)?.to_owned();
            edit(studio, "removal of a hierarchy", |text| text.attribute(&name, "hierarchy", None))
        }
        Act::Make => make(studio),
        Act::Evaluate { task } => studio.evaluate(&task).map(|()| "The evaluation is running.".to_owned()),
        Act::Tick { item, value } => {
            studio.project(|project| project.tick(&item, value)).map(|()| String::new())
        }
        Act::Repeatable { value } => repeatable(studio, value),
        Act::Publish { order } => {
            let view = view(studio, at)?;
            let run = publish::prepare(&view, &order)?;
            studio.publish(run);
            Ok("The release is being written.".to_owned())
        }
    }
}

fn view<'a>(studio: &'a Arc<Studio>, at: &'a At) -> Result<View<'a>> {
    let (opened, policy) = (studio.needs_table()?, studio.project(|project| project.policy())?);
    Ok(View { studio, at, opened, policy })
}

/// Opens a table of the folder.
pub fn open(studio: &Arc<Studio>, file: &str) -> Result<String> {
    studio.project(|project| project.set_table(file))?;
    studio.read_table();
    Ok("The table is being read.".to_owned())
}

fn guess(studio: &Arc<Studio>) -> Result<String> {
    let opened = studio.needs_table()?;
    studio.project(|project| project.change("first policy", &opened.suggestion.text, &[]))?;
    Ok("A first policy was written; check the roles.".to_owned())
}

/// Changes the text of the policy.
fn edit(studio: &Studio, what: &str, change: impl FnOnce(&mut Text) -> Result<()>) -> Result<String> {
    studio.project(|project| {
        if project.draft().is_some() {
            return Err(drafted());
        }
        let mut text = Text::parse(project.text().unwrap_or_default())?;
        change(&mut text)?;
        project.change(what, &text.finish(), &[])
    })?;
    Ok(format!("Changed: {what}."))
}

fn drafted() -> Error {
    Error::new(ErrorCode::BadPolicySyntax, "the text of the policy is not valid yet")
        .with_hint("correct it beside the screen, or discard the draft")
}

fn attribute(studio: &Studio, column: usize, key: &str, value: &str) -> Result<String> {
    let opened = studio.needs_table()?;
    let name = opened.column(column)?;
    let value = match key {
        "weight" => typed(value),
        _ => Some(value).filter(|value| !value.is_empty()).map(Into::into),
    };
    edit(studio, &format!("{key} of {name}"), |text| text.attribute(name, key, value))
}

/// Keys of an attribute that some roles do not allow, with those that do.
const OF_ROLES: [(&str, &[Role]); 11] = [
    ("weight", &[Role::Quasi]),
    ("leaf_weights", &[Role::Quasi]),
    ("rules", &[Role::Quasi]),
    ("top", &[Role::Quasi]),
    ("bottom", &[Role::Quasi]),
    ("format", &[Role::Quasi, Role::Sensitive]),
    ("decimal", &[Role::Quasi, Role::Sensitive]),
    ("hierarchy", &[Role::Quasi, Role::Sensitive]),
    ("confirmed", &[Role::Quasi, Role::Sensitive, Role::Class, Role::Other, Role::Person]),
    ("publish", &[Role::Person]),
    ("together", &[Role::Person]),
];

/// Gives a column another role. What the new role does not allow is put aside, and comes back with a role that does.
fn role(studio: &Studio, column: usize, value: &str) -> Result<String> {
    let opened = studio.needs_table()?;
    let name = opened.column(column)?;
    let role = Role::NAMES.iter().find(|(own, _)| *own == value).map(|(_, role)| *role);
    let role = role.ok_or_else(|| {
        Error::new(ErrorCode::BadValue, "there is no such role").with_hint("choose one of the list")
    })?;
    studio.project(|project| {
        if project.draft().is_some() {
            return Err(drafted());
        }
        let mut text = Text::parse(project.text().unwrap_or_default())?;
        let mut aside = project.aside(name);
        for (key, roles) in OF_ROLES {
            if roles.contains(&role) {
                let kept = aside.remove(key).filter(|_| !text.has(name, key));
                if let Some(value) = kept.and_then(|kept| kept.parse::<toml_edit::Value>().ok()) {
                    text.attribute(name, key, Some(value))?;
                }
            } else if let Some(value) = text.take(name, key)? {
                aside.insert(key.to_owned(), value.to_string());
            }
        }
        text.attribute(name, "role", Some(role.name().into()))?;
        project.change(&format!("role of {name}"), &text.finish(), &[])?;
        project.put_aside(name, aside)
    })?;
    Ok(format!("Changed: role of {name}."))
}

fn privacy(studio: &Studio, key: &str, value: &str) -> Result<String> {
    const KEYS: [&str; 8] = ["k", "l", "t", "beta", "suppress", "max_gcp", "diversity", "c"];
    if !KEYS.contains(&key) {
        return Err(Error::new(ErrorCode::UnknownKey, "this key cannot be set here")
            .with_hint("write it into the policy"));
    }
    edit(studio, key, |text| text.key("privacy", key, typed(value)))
}

fn stepped(what: Option<String>, words: &str) -> Result<String> {
    Ok(what.map_or_else(|| "There is nothing to do.".to_owned(), |what| format!("{words}: {what}.")))
}

fn whole(text: &str, what: &str) -> Result<usize> {
    text.trim().parse().map_err(|_| {
        Error::new(ErrorCode::BadValue, format!("{what} must be a whole number")).with_hint("for example 5")
    })
}

fn add_set(studio: &Studio, columns: &[usize], k: &str) -> Result<String> {
    let opened = studio.needs_table()?;
    let names: Vec<String> =
        columns.iter().map(|column| opened.column(*column).map(str::to_owned)).collect::<Result<_>>()?;
    let k = whole(k, "k")?;
    edit(studio, "set of quasi-identifiers", |text| text.add_quasi_identifier(&names, k as i64))
}

fn compare(studio: &Arc<Studio>, methods: Vec<String>, ks: &str, also: &str) -> Result<String> {
    const MOST: usize = 40;
    let words = ks.split([',', ' ', ';']).filter(|word| !word.trim().is_empty());
    let mut ks: Vec<usize> = words.map(|word| whole(word, "k")).collect::<Result<_>>()?;
    ks.sort_unstable();
    ks.dedup();
    if ks.is_empty() || methods.is_empty() || ks.len() > MOST {
        return Err(Error::new(
            ErrorCode::BadUsage,
            format!("choose at least one method, and from 1 to {MOST} values of k"),
        ));
    }
    studio.compare(methods, ks, Some(also).filter(|task| !task.is_empty()))?;
    Ok("The comparison is running.".to_owned())
}

fn stop(studio: &Studio, work: &str) -> String {
    let own = Kind::ALL.into_iter().find(|kind| kind.name() == work);
    own.into_iter().for_each(|kind| studio.works.stop(kind));
    "It is being stopped.".to_owned()
}

/// Makes a release to look at. A policy without a seed gets one, so that what is looked at is what is published.
fn make(studio: &Arc<Studio>) -> Result<String> {
    let seeded = studio.project(|project| project.policy()).map(|policy| policy.method.seed_given)?;
    if !seeded {
        let seed = throng::plan::draw_seed()?;
        edit(studio, "seed", |text| text.key("method", "seed", Some((seed as i64).into())))?;
    }
    studio.make()?;
    Ok("The release is being made.".to_owned())
}

/// Keeps the secret of the project's releases in a file, or forgets about it.
fn repeatable(studio: &Studio, value: bool) -> Result<String> {
    let path = studio.folder.to_write(SECRET)?;
    if value && !path.exists() {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|cause| {
            Error::new(ErrorCode::NoRandomness, format!("the system gives no random numbers: {cause}"))
        })?;
        // Readable by its owner alone, as every output is until it is published.
        let mut output = throng::release::Output::create(&path)?;
        output.write_all(&bytes)?;
        output.publish()?;
        make_private(&path)?;
    }
    studio.project(|project| project.set_repeatable(value))?;
    studio.forget_cells();
    Ok(String::new())
}

#[cfg(unix)]
fn make_private(path: &std::path::Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
        .map_err(|cause| Error::io(ErrorCode::CannotWrite, "protect", path, &cause))
}

#[cfg(not(unix))]
fn make_private(_: &std::path::Path) -> Result<()> {
    Ok(())
}

/// Changes the rules of an attribute.
fn rules(studio: &Studio, act: &Act) -> Result<String> {
    let (opened, policy) = (studio.needs_table()?, studio.project(|project| project.policy())?);
    let (Act::AddCut { column, .. } | Act::AddApart { column, .. } | Act::RemoveRule { column, .. }) = act
    else {
        return Err(Error::bug("no rule to change"));
    };
    let name = opened.column(*column)?;
    let mut rules: Vec<RuleText> =
        policy.attributes.get(name).map_or(Vec::new(), |own| own.rules.iter().map(as_text).collect());
    match act {
        Act::AddCut { low, high, importance, hard, .. } => {
            // Dates and times are texts; the policy is checked before anything is changed.
            let moments =
                [low, high].iter().all(|end| end.trim().parse::<f64>().is_err() && end.contains(['-', ':']));
            let apart = match moments {
                true => ApartText::Moments(low.trim().to_owned(), high.trim().to_owned()),
                false => ApartText::Cut(number(low)?, number(high)?),
            };
            rules.push(RuleText { apart, importance: number(importance)?, hard: *hard });
        }
        Act::AddApart { one, other, importance, hard, .. } => {
            let (grove, _) = hierarchies::grove(&opened, &policy, *column)?;
            let label = |node: usize| {
                grove.node(node).map(|node| node.label.clone()).ok_or_else(|| {
                    Error::new(ErrorCode::UnknownValue, "there is no such value")
                        .with_hint("choose two of the list")
                })
            };
            rules.push(RuleText {
                apart: ApartText::Values(label(*one)?, label(*other)?),
                importance: number(importance)?,
                hard: *hard,
            });
        }
        Act::RemoveRule { at, .. } if *at < rules.len() => drop(rules.remove(*at)),
        _ => {}
    }
    edit(studio, &format!("rules of {name}"), |text| text.rules(name, &rules))
}

fn as_text(rule: &throng::policy::Rule) -> RuleText {
    let apart = match &rule.apart {
        Apart::Cut(low, high) => ApartText::Cut(*low, *high),
        Apart::Moments(low, high) => ApartText::Moments(low.clone(), high.clone()),
        Apart::Values(one, other) => ApartText::Values(one.clone(), other.clone()),
    };
    RuleText { apart, importance: rule.importance, hard: rule.hard }
}

fn number(text: &str) -> Result<f64> {
    let read = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    read.ok_or_else(|| {
        Error::new(ErrorCode::BadValue, "a number is missing").with_hint("write one, such as 64 or 0.5")
    })
}

/// Changes the tree of an attribute, which becomes a file beside the policy.
fn tree(
    studio: &Studio,
    column: usize,
    what: &str,
    change: impl FnOnce(&mut Grove) -> Result<()>,
) -> Result<String> {
    let (opened, policy) = (studio.needs_table()?, studio.project(|project| project.policy())?);
    let name = opened.column(column)?;
    let (mut grove, _) = hierarchies::grove(&opened, &policy, column)?;
    change(&mut grove)?;
    grove.tree()?;
    let file = hierarchy_file(&policy, name);
    let base = studio.project(|project| {
        std::path::Path::new(project.policy_name()).parent().map(std::path::Path::to_owned)
    });
    let below = base.unwrap_or_default().join(&file).to_string_lossy().into_owned();
    let kind = policy.attributes.get(name).and_then(|own| own.kind);
    studio.project(|project| {
        if project.draft().is_some() {
            return Err(drafted());
        }
        let mut text = Text::parse(project.text().unwrap_or_default())?;
        text.attribute(name, "hierarchy", Some(file.as_str().into()))?;
        // Guessed kinds would change with a hierarchy; the one that is shown stays.
        if kind.is_none() {
            text.attribute(name, "kind", Some(opened.suggestion.columns[column].kind.name().into()))?;
        }
        project.change(&format!("{what}, {name}"), &text.finish(), &[(below.clone(), Some(grove.to_csv()))])
    })?;
    Ok(format!("Changed: {what}."))
}

/// The file of an attribute's tree: the one that the policy names, if no other attribute has it, or one of its own.
fn hierarchy_file(policy: &Policy, name: &str) -> String {
    let document: toml_edit::DocumentMut = policy.text.parse().unwrap_or_default();
    let named = |attribute: &str| {
        let own = document.get("attribute")?.get(attribute)?.get("hierarchy")?;
        own.as_str().map(str::to_owned)
    };
    let own = named(name);
    let others: Vec<String> =
        policy.attributes.keys().filter(|other| *other != name).filter_map(|other| named(other)).collect();
    match own {
        Some(file) if !others.contains(&file) => file,
        _ => {
            let plain: String = name
                .chars()
                .map(|letter| if letter.is_alphanumeric() || letter == '-' { letter } else { '_' })
                .take(60)
                .collect();
            let stem = if plain.is_empty() { "column".to_owned() } else { plain };
            let free = |name: &String| !others.contains(name);
            let mut names = std::iter::once(format!("hierarchies/{stem}.csv"))
                .chain((2..).map(|at| format!("hierarchies/{stem}-{at}.csv")));
            names.find(free).unwrap_or_else(|| format!("hierarchies/{stem}.csv"))
        }
    }
}

fn built(studio: &Studio, column: usize, build: &str, sizes: &str) -> Result<String> {
    let (opened, policy) = (studio.needs_table()?, studio.project(|project| project.policy())?);
    let hierarchy = hierarchies::builder(build, sizes)?;
    opened.table.grown(column, &policy.missing, (&hierarchy, None))?;
    let name = opened.column(column)?;
    let list: toml_edit::Array = match &hierarchy {
        throng::policy::Hierarchy::Intervals(widths) => {
            widths.iter().map(|width| crate::edit::number(*width)).collect()
        }
        throng::policy::Hierarchy::Prefix(lengths) => lengths.iter().map(|length| *length as i64).collect(),
        throng::policy::Hierarchy::Dates(units) => units.iter().map(|unit| unit.name()).collect(),
        throng::policy::Hierarchy::Official(own) => {
            let value: toml_edit::Value =
                own.text().parse().map_err(|_| Error::bug("a builder that is no TOML"))?;
            return edit(studio, &format!("hierarchy of {name}"), |text| {
                text.attribute(name, "hierarchy", Some(value))
            });
        }
        throng::policy::Hierarchy::Tree(_) => return Err(Error::bug("a builder gives no tree")),
    };
    edit(studio, &format!("hierarchy of {name}"), |text| {
        let mut table = toml_edit::InlineTable::new();
        table.insert(build, list.into());
        text.attribute(name, "hierarchy", Some(table.into()))
    })
}

/// The tree of an attribute as a file, or one of the files that were published.
pub fn download(studio: &Arc<Studio>, at: &At) -> Result<(String, Vec<u8>)> {
    if let Some(column) = at.get("tree").and_then(|column| column.parse().ok()) {
        let (opened, policy): (Arc<Opened>, Policy) =
            (studio.needs_table()?, studio.project(|project| project.policy())?);
        let (grove, _) = hierarchies::grove(&opened, &policy, column)?;
        return Ok((format!("{}.csv", opened.column(column)?), grove.to_csv().into_bytes()));
    }
    let wanted = at.get("file").map_or("", String::as_str);
    let (policy, published) =
        (studio.project(|project| project.policy_name().to_owned()), studio.published());
    let known =
        wanted == policy || published.is_some_and(|own| own.files.iter().any(|file| file.name == wanted));
    if !known {
        return Err(Error::new(ErrorCode::FileNotFound, "this file was not published here")
            .with_hint("publish the release first"));
    }
    let path = studio.folder.existing(wanted)?;
    let bytes =
        std::fs::read(&path).map_err(|cause| Error::io(ErrorCode::CannotRead, "read", &path, &cause))?;
    Ok((wanted.rsplit('/').next().unwrap_or(wanted).to_owned(), bytes))
}

/// The report of a result as a page.
pub fn report(studio: &Arc<Studio>, at: &At) -> Result<String> {
    let wanted: Option<u64> = at.get("result").and_then(|number| number.parse().ok());
    let made = studio.results().into_iter().find(|made| Some(made.kept.number) == wanted);
    let made = made.ok_or_else(|| {
        Error::new(ErrorCode::FileNotFound, "there is no such result").with_hint("make one first")
    })?;
    throng::report::html(&made.kept.report)
}
