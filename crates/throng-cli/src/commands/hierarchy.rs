//! `throng hierarchy`

use std::process::ExitCode;

use throng::method::refine::{hierarchy_file, propose};
use throng::policy::Policy;
use throng::problem::Problem;
use throng::release::Files;
use throng::table::source::is_standard;
use throng::{Error, ErrorCode, Result, run};

use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Hierarchy) -> Result<ExitCode> {
    let path = &arguments.output;
    if path.is_file() && !arguments.force {
        return Err(Error::new(ErrorCode::FileExists, "this hierarchy exists already")
            .in_file(path)
            .with_hint("name another file with -o, or overwrite it with --force"));
    }
    let mut files = Files::default();
    files.read("the table", &arguments.data);
    files.read("the policy", &arguments.policy);
    let mut output = files.create("the hierarchy", path)?;
    let policy = Policy::load(&arguments.policy)?;
    let progress = Progress::start(false)?;
    let table = run::read(&arguments.data, &policy, &progress)?;
    if arguments.built {
        let (lines, finest) = run::built(&table, &policy, &arguments.attribute)?;
        drop(progress);
        output.write_all(hierarchy_file(&lines).as_bytes())?;
        output.publish()?;
        if finest {
            show::note(
                "To look at only: used as a file, it would let exact values be published. Keep the builder in the policy.",
            );
        }
        if !is_standard(path) {
            show::note(&format!("Wrote {}: {} values.", path.display(), lines.len()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let lines = propose(&Problem::new(&table, &policy)?, &arguments.attribute)?;
    drop(progress);
    output.write_all(hierarchy_file(&lines).as_bytes())?;
    output.publish()?;
    if !is_standard(path) {
        show::note(&format!(
            "Wrote {}: {} values. Values share a group whose records are of similar classes; look at it and give the \
             groups names. Then write hierarchy = \"{}\" in the section of \"{}\".",
            path.display(),
            lines.len(),
            path.display(),
            arguments.attribute.escape_debug()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
