//! `throng completions` and `throng man`, both made from the arguments' own descriptions.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use throng::release::{Files, publish_all};
use throng::{Error, ErrorCode, Result};

use crate::args::Arguments;
use crate::show;

pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "throng", &mut script);
    show::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub fn manual(folder: Option<&Path>) -> Result<ExitCode> {
    let command = Arguments::command();
    match folder {
        Some(folder) => write_pages(command, folder)?,
        None => show::print(&String::from_utf8_lossy(&page(command, "standard output".as_ref())?))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One page for the program and one for each command, all of them or none.
fn write_pages(mut command: clap::Command, folder: &Path) -> Result<()> {
    let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", folder, &cause);
    std::fs::create_dir_all(folder).map_err(fail)?;
    command = command.disable_help_subcommand(true);
    command.build();
    let shown = command.get_subcommands().filter(|own| !own.is_hide_set()).cloned().collect::<Vec<_>>();
    let (mut files, mut outputs) = (Files::default(), Vec::new());
    for own in std::iter::once(command).chain(shown) {
        let name = own.get_display_name().unwrap_or(own.get_name()).to_owned();
        let path = folder.join(format!("{name}.1"));
        check_page(&path)?;
        let mut output = files.create("a manual page", &path)?;
        output.write_all(&page(own, &path)?)?;
        outputs.push(output);
    }
    publish_all(outputs)
}

fn page(command: clap::Command, path: &Path) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))?;
    Ok(page)
}

/// A manual page is replaced by its new version; another file that has its name is not.
fn check_page(path: &Path) -> Result<()> {
    match std::fs::read(path) {
        Ok(found) if !found.windows(4).any(|word| word == b"\n.TH") => {
            Err(Error::new(ErrorCode::WouldOverwrite, "a manual page would overwrite a file that is none")
                .in_file(path)
                .with_hint("choose another folder with --out DIR"))
        }
        _ => Ok(()),
    }
}
