//! Filling in page templates.

use minijinja::{Environment, Output, State, UndefinedBehavior, Value, escape_formatter};

use super::svg::Svg;
use crate::error::{Error, Result};
use crate::words::harmless;

pub(super) const STYLE: &str = include_str!("style.css");
/// What every page begins with, up to its header.
const HEAD: &str = include_str!("head.html");

/// Fills in the template of a whole page, given from its header on.
pub(super) fn render_page(source: &str, context: Value) -> Result<String> {
    render(&[HEAD, source].concat(), context)
}

/// Fills in a template. Everything is escaped except what is passed as [`markup`].
pub(super) fn render(source: &str, context: Value) -> Result<String> {
    let mut environment = Environment::new();
    // A name that the template misspells must fail a test, not leave a hole in a report.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(format_harmless);
    // The name's ending turns escaping on.
    environment
        .render_named_str("page.html", source, context)
        .map_err(|cause| Error::bug(format!("the report page cannot be filled in: {}", cause.kind())))
}

/// Texts are escaped, and cannot turn the direction of what follows them.
pub(super) fn format_harmless(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    match value.as_str().filter(|_| !value.is_safe()).map(harmless) {
        Some(text) => escape_formatter(out, state, &Value::from(text.as_ref())),
        None => escape_formatter(out, state, value),
    }
}

/// A finished chart, to be placed as it is.
pub(super) fn markup(chart: Svg) -> Value {
    Value::from_safe_string(chart.into_markup())
}

/// The style sheet of every page.
pub(super) fn style() -> Value {
    Value::from_safe_string(STYLE.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use minijinja::context;

    #[test]
    fn text_is_escaped_and_charts_are_not() {
        let chart = super::super::svg::legend(&[]);
        let page =
            render("{{ text }}{{ chart }}", context! { text => "<b>", chart => markup(chart) }).unwrap();
        assert_eq!(page, "&lt;b&gt;<ul class=\"legend\"></ul>");
    }

    #[test]
    fn a_misspelt_name_is_a_bug_of_ours() {
        let error = render("{{ absent }}", context! {}).unwrap_err();
        assert_eq!(error.fault(), crate::error::Fault::Bug);
    }

    #[test]
    fn the_style_sheet_refers_to_nothing_outside() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    }
}
