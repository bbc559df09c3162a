//! throng as a local web application: from a file to a safe release, without a manual.
//!
//! Pages are rendered on the server from the templates, tables and plots of reports; small modules of our own in the browser
//! send what was clicked and put in place what comes back. Nothing is computed there: every figure comes from the library,
//! through the same plans as the commands. State is a project folder (`project.rs`): the policy, the table's name, and beside
//! them a folder with what was chosen and found, so that closing and opening again loses nothing.
//!
//! Reading order: `gate.rs` decides who may ask; `server.rs` has the routes; `project.rs` holds the policy and its history;
//! `studio.rs` joins it with the opened table, long work (`work.rs`) and the cells of results (`cells.rs`); `act` carries out what was clicked; `screens` tell
//! the rest.

mod act;
mod cells;
mod edit;
mod folder;
mod gate;
mod opened;
mod pane;
mod project;
mod rows;
mod screens;
mod server;
mod studio;
mod trees;
mod work;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use throng::{Error, ErrorCode, Result};

/// What a studio is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The project folder; no file outside of it is read or written.
    pub folder: PathBuf,
    /// The table to open.
    pub table: Option<PathBuf>,
    /// The policy; `throng.toml` in the folder if none is named.
    pub policy: Option<PathBuf>,
    /// The port; any free one if 0.
    pub port: u16,
    /// Where to listen instead of 127.0.0.1, and under which conditions.
    pub listen: Option<Listen>,
}

/// For a server that others reach.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address to listen on.
    pub address: IpAddr,
    /// A file with the password.
    pub password: PathBuf,
    /// The names under which browsers reach it, as in the address bar.
    pub hosts: Vec<String>,
}

/// A studio that listens but does not answer yet.
pub struct Listening {
    listener: std::net::TcpListener,
    studio: std::sync::Arc<studio::Studio>,
    address: String,
}

/// Opens the project and starts to listen.
pub fn listen(options: &Options) -> Result<Listening> {
    let ip = options.listen.as_ref().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |listen| listen.address);
    let failed = |cause: std::io::Error| {
        let hint = match cause.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program has this port; leave --port out to take a free one"
            }
            _ => "leave --port out to take a free port",
        };
        Error::new(ErrorCode::BadUsage, format!("cannot listen on port {}: {cause}", options.port))
            .with_hint(hint)
    };
    let listener = std::net::TcpListener::bind(SocketAddr::new(ip, options.port)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let gate = gate::Gate::new(port, options.listen.as_ref())?;
    let address = gate.address();
    let studio = std::sync::Arc::new(studio::Studio::open(options, gate)?);
    Ok(Listening { listener, studio, address })
}

impl Listening {
    /// The address to open in a browser; on 127.0.0.1 it holds the secret that lets one in.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Answers until the process ends.
    pub fn serve(self) -> Result<()> {
        server::serve(self.listener, self.studio)
            .map_err(|cause| Error::new(ErrorCode::BadUsage, format!("the server cannot go on: {cause}")))
    }
}
