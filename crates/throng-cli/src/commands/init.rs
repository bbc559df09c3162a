//! `throng init`

use std::path::Path;
use std::process::ExitCode;

use throng::policy::suggest::{Suggestion, suggest};
use throng::policy::{Policy, Role};
use throng::release::Files;
use throng::table::source::is_standard;
use throng::table::{Reading, Storage, Table};
use throng::{Error, ErrorCode, Result};

use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Init) -> Result<ExitCode> {
    let path = &arguments.output;
    if path.is_file() && !arguments.force {
        return Err(Error::new(ErrorCode::FileExists, "this policy exists already")
            .in_file(path)
            .with_hint("name another file with -o, or overwrite it with --force"));
    }
    let mut files = Files::default();
    files.read("the table", &arguments.data);
    let mut output = files.create("the policy", path)?;
    let progress = Progress::start(false)?;
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let table = Table::read(&arguments.data, &Reading::new(&plan, &progress))?;
    let suggestion = suggest(&table)?;
    drop((progress, table));
    let policy = Policy::parse(&suggestion.text, Some(path))
        .map_err(|error| Error::bug(format!("the suggested policy is not valid: {}", error.message())))?;
    output.write_all(suggestion.text.as_bytes())?;
    output.publish()?;
    if !is_standard(path) {
        show::note(&next_steps(&arguments.data, path, &policy, &suggestion));
    }
    Ok(ExitCode::SUCCESS)
}

fn next_steps(data: &Path, path: &Path, policy: &Policy, suggestion: &Suggestion) -> String {
    let roles = [
        (Role::Quasi, "quasi-identifiers"),
        (Role::Sensitive, "sensitive"),
        (Role::Identifier, "identifiers"),
        (Role::Person, "person"),
        (Role::Other, "other"),
    ];
    let mut text = format!("Wrote {}; check the guessed roles:\n\n", path.display());
    for (role, title) in roles {
        let with_role = policy.attributes.iter().filter(|(_, attribute)| attribute.role == role);
        let names: Vec<String> = with_role.map(|(name, _)| name.escape_debug().to_string()).collect();
        if !names.is_empty() {
            text += &format!("  {title:17}  {}\n", some_of(&names));
        }
    }
    text += &checks(suggestion);
    text + &format!(
        "\nThen: throng anonymize {} --policy {} -o release.csv --report report.html",
        show::argument(data),
        show::argument(path)
    )
}

/// Columns that are told one by one; the policy tells all of them.
const SHOWN: usize = 20;

fn some_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown}, … and {more} more") } else { shown }
}

/// The guesses that are not sure, as the policy marks them.
fn checks(suggestion: &Suggestion) -> String {
    let mut text = String::new();
    for (name, why) in suggestion.checks.iter().take(SHOWN) {
        text += &format!("  CHECK {}: {why}\n", name.escape_debug());
    }
    let more = suggestion.checks.len().saturating_sub(SHOWN);
    if more > 0 {
        text += &format!("  … and {more} more that the policy marks with CHECK\n");
    }
    if text.is_empty() {
        text
    } else {
        format!("\nNot sure of these; what is not sure is held back:\n\n{text}")
    }
}
