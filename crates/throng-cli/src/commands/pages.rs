//! `throng completions` and `throng man`, both made from the arguments' own descriptions.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
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
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", folder, &cause))?;
        clap_mangen::generate_to(command, folder)
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", folder, &cause))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", "standard output".as_ref(), &cause))?;
    show::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
