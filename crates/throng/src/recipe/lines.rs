//! Where in the text of a recipe a value stands, for errors that name it.

/// Line and column, from 1, of the value with a path such as `attributes.age.cells[2]`; of the innermost around it, if it is
/// not there. The text is JSON.
pub(super) fn place(text: &str, path: &str) -> Option<(u64, u64)> {
    let mut search = Search { text, at: 0, path, found: None };
    search.value("")?;
    let (_, at) = search.found?;
    let before = text.get(..at)?;
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() as u64 + 1;
    Some((line, column))
}

/// A walk over all values of a text.
struct Search<'t> {
    text: &'t str,
    at: usize,
    path: &'t str,
    /// How much of the path the best value so far has, and where it stands.
    found: Option<(usize, usize)>,
}

impl Search<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        self.at += rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes past a value with a path. `None` where the text is no JSON.
    fn value(&mut self, path: &str) -> Option<()> {
        let first = self.peek()?;
        let is_around = self.path == path
            || self
                .path
                .strip_prefix(path)
                .is_some_and(|rest| path.is_empty() || rest.starts_with(['.', '[']));
        if is_around && self.found.is_none_or(|(known, _)| path.len() > known) {
            self.found = Some((path.len(), self.at));
        }
        match first {
            b'{' => self.members(path),
            b'[' => self.elements(path),
            b'"' => self.string().map(drop),
            _ => {
                let rest = self.text.get(self.at..)?;
                self.at += rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
                Some(())
            }
        }
    }

    fn members(&mut self, path: &str) -> Option<()> {
        self.at += 1;
        while self.peek()? != b'}' {
            let key = self.string()?;
            self.peek().filter(|byte| *byte == b':')?;
            self.at += 1;
            self.value(&if path.is_empty() { key } else { format!("{path}.{key}") })?;
            self.at += usize::from(self.peek()? == b',');
        }
        self.at += 1;
        Some(())
    }

    fn elements(&mut self, path: &str) -> Option<()> {
        self.at += 1;
        let mut number = 0;
        while self.peek()? != b']' {
            self.value(&format!("{path}[{number}]"))?;
            self.at += usize::from(self.peek()? == b',');
            number += 1;
        }
        self.at += 1;
        Some(())
    }

    /// Goes past a string and tells it.
    fn string(&mut self) -> Option<String> {
        let rest = self.text.get(self.at..)?.strip_prefix('"')?;
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let whole = self.text.get(self.at..self.at + end + 2)?;
        self.at += end + 2;
        serde_json::from_str(whole).ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::place;

    #[test]
    fn values_are_found_wherever_they_stand() {
        let text = "{\"a\": 1,\n  \"b.c\": {\"ü\\\"\": [true, [],\n {\"x\": null}]}}";
        let cases = [
            ("a", (1, 7)),
            ("b.c", (2, 10)),
            ("b.c.ü\"[0]", (2, 19)),
            ("b.c.ü\"[1]", (2, 25)),
            ("b.c.ü\"[2].x", (3, 8)),
            ("b.c.ü\"[2].y", (3, 2)),
            ("other", (1, 1)),
        ];
        for (path, found) in cases {
            assert_eq!(place(text, path).unwrap(), found, "{path}");
        }
        assert_eq!(place("", "a"), None);
    }
}
