//! What people see: errors, results, exit codes.
//!
//! What comes from tables, policies and names of files may hold characters that steer a terminal; all that is shown goes
//! through here and cannot.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use throng::words::{harmless, harmless_json};
use throng::{Error, ErrorCode, Result};

/// How an error is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In words.
    Text,
    /// As one line of JSON: `{"code", "message", "hint", "place"}`.
    Json,
}

/// The exit code of an error.
pub fn exit_code(error: &Error) -> ExitCode {
    ExitCode::from(error.fault().exit_code())
}

/// Writes an error to standard error. Where that is closed there is nobody to tell.
pub fn error(error: &Error, form: Form) {
    let text = match (form, error.excerpt()) {
        (Form::Json, _) => as_json(error),
        (Form::Text, Some(_)) => with_excerpt(error),
        (Form::Text, None) => harmless(&format!("error: {error}")).into_owned(),
    };
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

fn as_json(error: &Error) -> String {
    let json = serde_json::to_string(error).unwrap_or_else(|_| format!("error: {error}"));
    harmless_json(&json).into_owned()
}

/// Wrong arguments, from what clap says about them: the first paragraph tells what is wrong.
pub fn usage_error(said: &str) -> Error {
    let paragraph: Vec<&str> = said.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let sentence = paragraph.join(" ");
    let sentence = sentence.strip_prefix("error: ").unwrap_or(&sentence);
    let usage = said.lines().find_map(|line| line.strip_prefix("Usage: "));
    let hint =
        usage.map_or_else(|| "see --help".to_owned(), |usage| format!("the usage is {usage}; see --help"));
    Error::new(ErrorCode::BadUsage, sentence).with_hint(hint)
}

fn with_excerpt(error: &Error) -> String {
    let Some(excerpt) = error.excerpt() else { return error.to_string() };
    let file = error.place().file.as_ref();
    let path = file.map(|file| harmless(&file.display().to_string()).into_owned()).unwrap_or_default();
    let (message, label) = (harmless(error.message()), harmless(excerpt.label.as_str()));
    let end = excerpt.source.len();
    let span = excerpt.span.start.min(end)..excerpt.span.end.min(end);
    let snippet = Snippet::source(excerpt.source.as_str())
        .path(path)
        .annotation(AnnotationKind::Primary.span(span).label(label.as_ref()));
    let mut report = vec![Level::ERROR.primary_title(message.as_ref()).element(snippet)];
    let hint = error.hint().map(harmless);
    if let Some(hint) = &hint {
        report.push(Group::with_title(Level::HELP.secondary_title(hint.as_ref())));
    }
    let renderer = if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report)
}

/// Writes text to standard output; a closed pipe is not an error.
pub fn print(text: &str) -> Result<()> {
    write_out(&harmless(text))
}

/// Writes JSON to standard output.
pub fn print_json(json: &str) -> Result<()> {
    write_out(&harmless_json(json))
}

fn write_out(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io(ErrorCode::CannotWrite, "write", "standard output".as_ref(), &cause))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
}

/// A file's name as a shell takes it.
pub fn argument(path: &std::path::Path) -> String {
    throng::report::quoted(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_where_a_shell_would_take_them_apart() {
        for (name, shown) in
            [("a/b-1.csv", "a/b-1.csv"), ("my data.csv", "'my data.csv'"), ("it's;rm", "'it'\\''s;rm'")]
        {
            assert_eq!(argument(name.as_ref()), shown);
        }
    }
}
