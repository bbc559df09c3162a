//! `throng evaluate`

use std::process::ExitCode;

use throng::plan::Registry;
use throng::release::Files;
use throng::run::Evaluate;
use throng::{Error, ErrorCode, Result, report};

use super::{load_policy, on_threads};
use crate::args;
use crate::progress::Progress;
use crate::show;

pub fn run(arguments: &args::Evaluate) -> Result<ExitCode> {
    let (mut policy, _) = load_policy(&arguments.policy, &arguments.overrides)?;
    let options = policy.evaluate.entry(arguments.task.clone()).or_default();
    for setting in &arguments.set {
        let (key, value) = read_setting(setting)?;
        options.insert(key, value);
    }
    if arguments.folds.is_some() {
        if !matches!(arguments.task.as_str(), "classify" | "regress") {
            return Err(Error::new(ErrorCode::BadUsage, format!("the task {} has no folds", arguments.task))
                .with_hint("leave --folds out, or use --task classify or regress"));
        }
        options.insert("export".to_owned(), toml::Value::Boolean(true));
    }
    let evaluate = Evaluate {
        data: arguments.data.clone(),
        policy,
        release: arguments.release.clone(),
        task: arguments.task.clone(),
        secret: None,
        registry: Registry::default(),
    };
    // Opened first: a page that cannot be written should be known before the work.
    let mut files = Files::default();
    files.read("the table", &arguments.data);
    files.read_policy(&evaluate.policy);
    if let Some(release) = &arguments.release {
        files.read("the release", release);
    }
    let page = arguments.report.as_deref().map(|path| files.create("the report", path)).transpose()?;
    let mut folds = Vec::new();
    if let Some(name) = &arguments.folds {
        for part in ["table", "release"] {
            let mut path = name.clone().into_os_string();
            path.push(format!(".{part}.csv"));
            folds.push((
                part,
                files.create(&format!("the folds of the {part}"), std::path::Path::new(&path))?,
            ));
        }
    }
    let progress = Progress::start(arguments.running.quiet)?;
    let evaluation = on_threads(&arguments.running, || evaluate.run(&progress))?;
    drop(progress);
    if let Some(mut page) = page {
        page.write_all(report::page_html(&evaluation.page)?.as_bytes())?;
        page.publish()?;
    }
    for (part, mut output) in folds {
        let own = evaluation.exported.iter().find(|own| own.name == part);
        let own = own.ok_or_else(|| Error::bug("folds that were not given away"))?;
        output.write_all(own.csv.as_bytes())?;
        output.publish()?;
    }
    if arguments.folds.is_some() {
        show::note(
            "The folds are for your own use: they hold the table as it is, and rows stand in the same order as in the release.",
        );
    }
    if arguments.json {
        show::print_json(&report::json(&evaluation)?)?;
    } else if !arguments.running.quiet {
        show::print(&report::page_terminal(&evaluation.page))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `KEY=VALUE`, the value as in a policy; a text needs no quotes.
fn read_setting(setting: &str) -> Result<(String, toml::Value)> {
    let (key, value) = setting.split_once('=').ok_or_else(|| {
        Error::new(ErrorCode::BadUsage, format!("--set {setting} gives no value"))
            .with_hint("write --set KEY=VALUE")
    })?;
    let read = |text: &str| format!("value = {text}").parse::<toml::Table>().ok()?.remove("value");
    let value = read(value.trim()).unwrap_or_else(|| toml::Value::String(value.to_owned()));
    Ok((key.trim().to_owned(), value))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn settings_are_values_of_a_policy_or_plain_texts() {
        assert_eq!(read_setting("count = 5").unwrap(), ("count".into(), toml::Value::Integer(5)));
        assert_eq!(read_setting("file=a b.toml").unwrap().1, toml::Value::String("a b.toml".into()));
        assert_eq!(read_setting("on=true").unwrap().1, toml::Value::Boolean(true));
        assert!(read_setting("nothing").is_err());
    }
}
