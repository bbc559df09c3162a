//! What people see: errors, results, exit codes.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use throng::error::Fault;
use throng::{Error, Result};

/// The exit code of an error: 1 for requirements, 2 for input, 130 when stopped, 70 for our own mistakes.
pub fn exit_code(error: &Error) -> ExitCode {
    ExitCode::from(match error.fault() {
        Fault::Requirement => 1,
        Fault::Input => 2,
        Fault::Cancelled => 130,
        Fault::Bug => 70,
    })
}

/// Writes an error to standard error. Where that is closed there is nobody to tell.
pub fn error(error: &Error) {
    let mut stderr = std::io::stderr().lock();
    let _ = match error.excerpt() {
        Some(_) => writeln!(stderr, "{}", with_excerpt(error)),
        None => writeln!(stderr, "error: {error}"),
    };
}

fn with_excerpt(error: &Error) -> String {
    let Some(excerpt) = error.excerpt() else { return error.to_string() };
    let path = error.place().file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let end = excerpt.source.len();
    let span = excerpt.span.start.min(end)..excerpt.span.end.min(end);
    let snippet = Snippet::source(excerpt.source.as_str())
        .path(path)
        .annotation(AnnotationKind::Primary.span(span).label(excerpt.label.as_str()));
    let mut report = vec![Level::ERROR.primary_title(error.message()).element(snippet)];
    if let Some(hint) = error.hint() {
        report.push(Group::with_title(Level::HELP.secondary_title(hint)));
    }
    let renderer = if std::io::stderr().is_terminal() { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report)
}

/// Writes to standard output; a closed pipe is not an error.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("write", "standard output".as_ref(), &cause))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A file's name as a shell takes it.
pub fn argument(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "_-./,:=+@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
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
