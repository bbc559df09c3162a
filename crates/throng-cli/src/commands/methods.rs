//! `throng methods`

use std::process::ExitCode;

use throng::method::METHODS;
use throng::{Result, report};

use crate::args;
use crate::show;

pub fn run(arguments: &args::Methods) -> Result<ExitCode> {
    let text = if arguments.json { json()? } else { listing() };
    show::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn takes(entry: &throng::method::Entry) -> Vec<&'static str> {
    entry.takes.iter().map(|part| part.name()).collect()
}

fn listing() -> String {
    let mut text = String::new();
    for entry in METHODS {
        text += &format!("{}\n    {}\n", entry.name, entry.summary);
        text += &format!("    takes      {}\n", takes(entry).join(", "));
        text += &format!("    guarantees {}\n", entry.guarantee);
        text += &format!("    from       {}\n\n", entry.citation);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn json() -> Result<String> {
    let entries: Vec<_> = METHODS
        .iter()
        .map(|entry| {
            serde_json::json!({
                "name": entry.name,
                "summary": entry.summary,
                "takes": takes(entry),
                "guarantee": entry.guarantee,
                "citation": entry.citation,
            })
        })
        .collect();
    report::json(&entries)
}
