//! `throng init`

use std::path::Path;
use std::process::ExitCode;

use throng::policy::suggest::suggest;
use throng::policy::{Policy, Role};
use throng::release::Output;
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
    let mut output = Output::create(path)?;
    let progress = Progress::start(false)?;
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let table = Table::read(&arguments.data, &Reading::new(&plan, &progress))?;
    let text = suggest(&table);
    drop(progress);
    let policy = Policy::parse(&text, Some(path))
        .map_err(|error| Error::bug(format!("the suggested policy is not valid: {}", error.message())))?;
    output.write_all(text.as_bytes())?;
    output.publish()?;
    if !is_standard(path) {
        show::note(&next_steps(&arguments.data, path, &policy));
    }
    Ok(ExitCode::SUCCESS)
}

fn next_steps(data: &Path, path: &Path, policy: &Policy) -> String {
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
            text += &format!("  {title:17}  {}\n", names.join(", "));
        }
    }
    text + &format!(
        "\nThen: throng anonymize {} --policy {} -o release.csv --report report.html",
        data.display(),
        path.display()
    )
}
