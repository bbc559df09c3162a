//! `throng studio`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use throng::{Error, ErrorCode, Result};
use throng_studio::{Listen, Options};

use crate::args;
use crate::show;

pub fn run(arguments: &args::Studio) -> Result<ExitCode> {
    let listen = arguments.listen.zip(arguments.password.clone()).map(|(address, password)| Listen {
        address,
        password,
        hosts: arguments.host.clone(),
    });
    let folder = std::env::current_dir()
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "open the folder", Path::new("."), &cause))?;
    let options = Options {
        folder,
        table: arguments.table.clone(),
        policy: arguments.policy.clone(),
        port: arguments.port,
        listen,
    };
    let listening = throng_studio::listen(&options)?;
    show::print(&format!("throng studio is at {} (Ctrl-C ends it)\n", listening.address()))?;
    if arguments.listen.is_some() {
        show::note(
            "The connection is not encrypted. Put a proxy with TLS before it, and pass its name with --host.",
        );
    }
    let _page = match arguments.no_open || arguments.listen.is_some() {
        true => None,
        false => open(listening.address()),
    };
    listening.serve().map(|()| ExitCode::SUCCESS)
}

/// Opens the address in a browser, if there is one. It goes by a page that only the owner can read: arguments of programs can
/// be seen by everybody on the machine.
fn open(address: &str) -> Option<tempfile::NamedTempFile> {
    use std::io::Write;
    let mut page = tempfile::Builder::new().prefix("throng-studio-").suffix(".html").tempfile().ok()?;
    let html = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={address}\">"
    );
    page.write_all(html.as_bytes()).ok()?;
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let path: PathBuf = page.path().to_owned();
    let quiet = std::process::Stdio::null;
    let mut command = std::process::Command::new(program);
    command.args(before).arg(path).stdin(quiet()).stdout(quiet()).stderr(quiet());
    // Without a browser the address that was printed will do.
    command.spawn().ok().map(|_| page)
}
