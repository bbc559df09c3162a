//! `throng methods`

use std::process::ExitCode;

use throng::method::{Entry, Methods, OptionSpec};
use throng::{Result, report};

use crate::args;
use crate::show;

pub fn run(arguments: &args::Methods) -> Result<ExitCode> {
    let methods = Methods::standard();
    let text = match (&arguments.name, arguments.json) {
        (None, false) => listing(&methods),
        (None, true) => {
            report::json(&methods.iter().map(|entry| json(&methods, entry)).collect::<Result<Vec<_>>>()?)?
        }
        (Some(name), false) => one(&methods, methods.find(name)?)?,
        (Some(name), true) => report::json(&json(&methods, methods.find(name)?)?)?,
    };
    show::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn takes(entry: &Entry) -> Vec<&'static str> {
    entry.takes.iter().map(|part| part.name()).collect()
}

fn options(methods: &Methods, entry: &Entry) -> Result<Vec<OptionSpec>> {
    methods.options(entry, &toml::Table::new())
}

fn head(entry: &Entry) -> String {
    let mut text = format!("{}\n    {}\n", entry.name, entry.summary);
    text += &format!("    takes      {}\n", takes(entry).join(", "));
    text += &format!("    guarantees {}\n", entry.guarantee);
    text + &format!("    from       {}\n", entry.citation)
}

fn listing(methods: &Methods) -> String {
    let heads: Vec<String> = methods.iter().map(head).collect();
    heads.join("\n")
}

fn one(methods: &Methods, entry: &Entry) -> Result<String> {
    let mut text = head(entry);
    text += "\nOptions, to be written under [method]\n";
    for option in options(methods, entry)? {
        let default = match option.kind.default_in_words() {
            Some(default) => format!("{default} unless written"),
            None => "not set unless written".to_owned(),
        };
        text += &format!("    {}\n        {}\n", option.name, option.help);
        text += &format!("        {}; {default}\n", option.kind.expected());
    }
    Ok(text)
}

fn json(methods: &Methods, entry: &Entry) -> Result<serde_json::Value> {
    Ok(serde_json::json!({
        "name": entry.name,
        "summary": entry.summary,
        "takes": takes(entry),
        "guarantee": entry.guarantee,
        "citation": entry.citation,
        "options": options(methods, entry)?,
    }))
}
