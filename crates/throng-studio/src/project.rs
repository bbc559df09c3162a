//! The project: the policy with its history, the table's name, and what was chosen.
//!
//! The file of the policy is what counts. It is read again before every look, so that changes by an editor or by another
//! command are seen, and written with every change that is valid. Text that is not valid stays a draft beside it. What else is
//! kept lies in a folder of its own, `.throng-studio`, readable by its owner alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use throng::release::Output;
use throng::{Error, ErrorCode, Policy, Result};

use crate::folder::Folder;

/// Steps that can be undone.
const MOST_STEPS: usize = 50;
/// The name of the policy where none is given.
pub const POLICY: &str = "throng.toml";
/// The folder with what is kept beside the policy.
const BESIDE: &str = ".throng-studio";
/// Keys of a policy whose texts are names of files.
const FILE_KEYS: [&str; 4] = ["hierarchy", "population", "queries", "test"];

/// A project.
pub struct Project {
    folder: Folder,
    policy: String,
    text: Option<String>,
    /// Moves with every change, so that nobody changes what they have not seen.
    pub revision: u64,
    kept: Kept,
}

/// What is kept beside the policy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    table: Option<String>,
    draft: Option<String>,
    undo: Vec<Step>,
    redo: Vec<Step>,
    ticked: BTreeSet<String>,
    ticked_for: String,
    repeatable: bool,
    /// Keys of attributes that their role does not allow now.
    aside: BTreeMap<String, BTreeMap<String, String>>,
}

/// What a change replaced.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Step {
    what: String,
    policy: Option<String>,
    files: Vec<(String, Option<String>)>,
}

/// A file and its new content; `None` removes it.
pub type FileChange = (String, Option<String>);

impl Project {
    /// Opens the project of a folder.
    pub fn open(folder: &Folder, table: Option<&Path>, policy: Option<&Path>) -> Result<Self> {
        let policy = match policy {
            Some(path) => folder.name_of(path)?,
            None => POLICY.to_owned(),
        };
        if folder.path().join(&policy).exists() {
            folder.existing(&policy)?;
        }
        let kept = std::fs::read(folder.path().join(BESIDE).join("state.json")).ok();
        let kept: Kept = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let mut project = Project { folder: folder.clone(), policy, text: None, revision: 1, kept };
        if let Some(path) = table {
            project.kept.table = Some(folder.name_of(path)?);
        }
        project.look();
        Ok(project)
    }

    /// The name of the policy.
    pub fn policy_name(&self) -> &str {
        &self.policy
    }

    /// Where the policy is.
    pub fn policy_path(&self) -> PathBuf {
        self.folder.path().join(&self.policy)
    }

    /// The name of the table.
    pub fn table(&self) -> Option<&str> {
        self.kept.table.as_deref()
    }

    /// The text of the policy, if there is one.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Text that somebody wrote and that is not valid yet.
    pub fn draft(&self) -> Option<&str> {
        self.kept.draft.as_deref()
    }

    /// Whether releases are drawn from the secret file of the project.
    pub fn repeatable(&self) -> bool {
        self.kept.repeatable
    }

    /// Says whether they are.
    pub fn set_repeatable(&mut self, repeatable: bool) -> Result<()> {
        self.kept.repeatable = repeatable;
        self.changed()
    }

    /// Reads the policy again if it changed on disk.
    pub fn look(&mut self) {
        let on_disk = std::fs::read_to_string(self.policy_path()).ok();
        if on_disk != self.text {
            self.text = on_disk;
            self.revision += 1;
        }
    }

    /// The policy, checked.
    pub fn policy(&self) -> Result<Policy> {
        match &self.text {
            Some(text) => self.check(text),
            None => Err(Error::new(ErrorCode::FileNotFound, "there is no policy yet")
                .with_hint("open a table: a first policy is written for it")),
        }
    }

    /// Checks a text as the policy of this project. It may name files below the folder only.
    pub fn check(&self, text: &str) -> Result<Policy> {
        let path = self.policy_path();
        self.check_names(text)?;
        Policy::parse(text, Some(&path))
    }

    fn check_names(&self, text: &str) -> Result<()> {
        // What is no TOML is refused with its line by the policy.
        let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return Ok(()) };
        let mut names = Vec::new();
        collect(document.as_item(), "", &mut names);
        let base = Path::new(&self.policy).parent().unwrap_or(Path::new(""));
        names.into_iter().try_for_each(|(key, name)| {
            let path = self.folder.path().join(base).join(&name);
            // Texts of other keys may be anything, but if they name a file, it lies below the folder too.
            let names_file = FILE_KEYS.contains(&key.as_str()) || path.is_file();
            let inside = base.join(&name).to_str().map(|name| self.folder.existing(name));
            match inside {
                // One that does not exist is told by the policy, at its line.
                Some(Err(error)) if names_file && error.code() == ErrorCode::PermissionDenied => Err(error),
                _ => Ok(()),
            }
        })
    }

    /// Opens another table.
    pub fn set_table(&mut self, name: &str) -> Result<()> {
        self.folder.existing(name)?;
        self.kept.table = Some(name.to_owned());
        self.changed()
    }

    /// Replaces the text of the policy, and files that it names. Nothing is changed if the outcome is not valid.
    pub fn change(&mut self, what: &str, text: &str, files: Vec<FileChange>) -> Result<()> {
        let before = self.step(what, &files)?;
        self.write_files(&files)?;
        if let Err(error) = self.check(text) {
            self.write_files(&before.files)?;
            return Err(error);
        }
        self.write_policy(Some(text))?;
        self.kept.undo.push(before);
        let most = self.kept.undo.len().saturating_sub(MOST_STEPS);
        self.kept.undo.drain(..most);
        self.kept.redo.clear();
        self.kept.draft = None;
        self.changed()
    }

    /// Takes text as somebody types it: valid text becomes the policy, other text a draft. Gives back what is wrong with it.
    pub fn take(&mut self, text: &str) -> Result<Option<Error>> {
        if self.text.as_deref() == Some(text) {
            self.kept.draft = None;
            return self.changed().map(|()| None);
        }
        match self.check(text) {
            Ok(_) => self.change("text of the policy", text, Vec::new()).map(|()| None),
            Err(error) => {
                self.kept.draft = Some(text.to_owned());
                self.changed()?;
                Ok(Some(error))
            }
        }
    }

    /// Throws the draft away.
    pub fn discard(&mut self) -> Result<()> {
        self.kept.draft = None;
        self.changed()
    }

    /// What would be undone, and what would be done again.
    pub fn steps(&self) -> (Option<&str>, Option<&str>) {
        let last = |steps: &'_ [Step]| -> Option<usize> { steps.len().checked_sub(1) };
        (
            last(&self.kept.undo).map(|at| self.kept.undo[at].what.as_str()),
            last(&self.kept.redo).map(|at| self.kept.redo[at].what.as_str()),
        )
    }

    /// Takes the last change back.
    pub fn undo(&mut self) -> Result<Option<String>> {
        let Some(step) = self.kept.undo.pop() else { return Ok(None) };
        let now = self.restore(&step)?;
        self.kept.redo.push(now);
        self.changed().map(|()| Some(step.what))
    }

    /// Makes a change again that was taken back.
    pub fn redo(&mut self) -> Result<Option<String>> {
        let Some(step) = self.kept.redo.pop() else { return Ok(None) };
        let now = self.restore(&step)?;
        self.kept.undo.push(now);
        self.changed().map(|()| Some(step.what))
    }

    fn restore(&mut self, step: &Step) -> Result<Step> {
        let now = self.step(&step.what, &step.files)?;
        self.write_files(&step.files)?;
        self.write_policy(step.policy.as_deref())?;
        self.kept.draft = None;
        Ok(now)
    }

    /// What stands now where a change will be made.
    fn step(&self, what: &str, files: &[FileChange]) -> Result<Step> {
        let content = |(name, _): &FileChange| {
            let content = match self.folder.existing(name) {
                Ok(path) => Some(
                    std::fs::read_to_string(&path)
                        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read", &path, &cause))?,
                ),
                Err(_) => None,
            };
            Ok((name.clone(), content))
        };
        let files = files.iter().map(content).collect::<Result<Vec<_>>>()?;
        Ok(Step { what: what.to_owned(), policy: self.text.clone(), files })
    }

    fn write_files(&self, files: &[FileChange]) -> Result<()> {
        for (name, content) in files {
            let path = self.folder.path().join(name);
            match content {
                Some(content) => {
                    if let Some(parent) = path.parent() {
                        std::fs::create_dir_all(parent).map_err(|cause| {
                            Error::io(ErrorCode::CannotWrite, "make the folder", parent, &cause)
                        })?;
                    }
                    write(&self.folder.to_write(name)?, content.as_bytes())?;
                }
                None if path.exists() => std::fs::remove_file(&path)
                    .map_err(|cause| Error::io(ErrorCode::CannotWrite, "remove", &path, &cause))?,
                None => {}
            }
        }
        Ok(())
    }

    fn write_policy(&mut self, text: Option<&str>) -> Result<()> {
        match text {
            Some(text) => write(&self.policy_path(), text.as_bytes())?,
            None => std::fs::remove_file(self.policy_path())
                .map_err(|cause| Error::io(ErrorCode::CannotWrite, "remove", &self.policy_path(), &cause))?,
        }
        self.text = text.map(str::to_owned);
        Ok(())
    }

    /// Keys of an attribute that its role does not allow now, as TOML.
    pub fn aside(&self, attribute: &str) -> BTreeMap<String, String> {
        self.kept.aside.get(attribute).cloned().unwrap_or_default()
    }

    /// Puts such keys aside.
    pub fn put_aside(&mut self, attribute: &str, keys: BTreeMap<String, String>) -> Result<()> {
        self.kept.aside.insert(attribute.to_owned(), keys);
        self.kept.aside.retain(|_, keys| !keys.is_empty());
        self.save()
    }

    /// What the steward confirmed, as long as the policy is the one it was confirmed for.
    pub fn ticked(&self, item: &str) -> bool {
        self.kept.ticked_for == self.fingerprint() && self.kept.ticked.contains(item)
    }

    /// Notes what the steward confirmed.
    pub fn tick(&mut self, item: &str, value: bool) -> Result<()> {
        let now = self.fingerprint();
        if self.kept.ticked_for != now {
            self.kept.ticked.clear();
            self.kept.ticked_for = now;
        }
        match value {
            true => self.kept.ticked.insert(item.to_owned()),
            false => self.kept.ticked.remove(item),
        };
        self.save()
    }

    /// What a table and a policy are recognised by.
    pub fn fingerprint(&self) -> String {
        let all = format!("{}\n{}", self.table().unwrap_or_default(), self.text().unwrap_or_default());
        blake3::hash(all.as_bytes()).to_hex().to_string()
    }

    /// A file of what is kept beside the policy.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(BESIDE).join(name)
    }

    /// Keeps something beside the policy.
    pub fn keep(&self, name: &str, content: &[u8]) -> Result<()> {
        let folder = self.folder.path().join(BESIDE);
        make_private(&folder)
            .map_err(|cause| Error::io(ErrorCode::CannotWrite, "make the folder", &folder, &cause))?;
        write(&folder.join(name), content)
    }

    fn changed(&mut self) -> Result<()> {
        self.revision += 1;
        self.save()
    }

    fn save(&self) -> Result<()> {
        let json = serde_json::to_vec_pretty(&self.kept)
            .map_err(|cause| Error::bug(format!("what is kept cannot be written: {cause}")))?;
        self.keep("state.json", &json)
    }
}

/// Writes a file at once or not at all.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(content)?;
    output.publish()
}

#[cfg(unix)]
fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// All texts with their keys.
fn collect(item: &toml_edit::Item, key: &str, texts: &mut Vec<(String, String)>) {
    match item {
        toml_edit::Item::Value(value) => collect_values(value, key, texts),
        toml_edit::Item::Table(table) => table.iter().for_each(|(key, item)| collect(item, key, texts)),
        toml_edit::Item::ArrayOfTables(list) => {
            list.iter().flat_map(toml_edit::Table::iter).for_each(|(key, item)| collect(item, key, texts));
        }
        toml_edit::Item::None => {}
    }
}

fn collect_values(value: &toml_edit::Value, key: &str, texts: &mut Vec<(String, String)>) {
    match value {
        toml_edit::Value::String(text) => texts.push((key.to_owned(), text.value().clone())),
        toml_edit::Value::Array(list) => list.iter().for_each(|own| collect_values(own, "", texts)),
        toml_edit::Value::InlineTable(table) => {
            table.iter().for_each(|(key, own)| collect_values(own, key, texts))
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "[privacy]\nk = 5 # ours\n\n[attribute.age]\nrole = \"quasi\"\n";

    fn project(folder: &Path) -> Project {
        Project::open(&Folder::open(folder).unwrap(), None, None).unwrap()
    }

    #[test]
    fn changes_are_written_undone_and_kept_over_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(POLICY), TEXT).unwrap();
        let mut own = project(folder.path());
        let other = TEXT.replace("k = 5", "k = 7");
        own.change("k", &other, vec![("hierarchies/a.csv".into(), Some("a;*\n".into()))]).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join(POLICY)).unwrap(), other);
        let mut again = project(folder.path());
        assert_eq!(again.steps(), (Some("k"), None));
        assert_eq!(again.undo().unwrap().as_deref(), Some("k"));
        assert_eq!(again.text(), Some(TEXT));
        assert!(!folder.path().join("hierarchies/a.csv").exists(), "files are undone too");
        again.redo().unwrap();
        assert_eq!(again.text(), Some(other.as_str()));
        assert!(folder.path().join("hierarchies/a.csv").exists());
    }

    #[test]
    fn text_that_is_not_valid_stays_a_draft() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(POLICY), TEXT).unwrap();
        let mut own = project(folder.path());
        let error = own.take("[privacy]\nk = 0\n").unwrap().unwrap();
        assert_eq!(error.place().line, Some(2));
        assert_eq!(std::fs::read_to_string(folder.path().join(POLICY)).unwrap(), TEXT);
        assert_eq!(project(folder.path()).draft(), Some("[privacy]\nk = 0\n"), "a draft survives a restart");
        assert!(own.take(&TEXT.replace('5', "6")).unwrap().is_none());
        assert!(own.draft().is_none() && own.text().unwrap().contains("k = 6"));
    }

    #[test]
    fn a_policy_names_no_file_outside_of_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("project");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(outer.path().join("h.csv"), "a;*\n").unwrap();
        let own = project(&inner);
        for name in
            ["../h.csv".to_owned(), outer.path().join("h.csv").display().to_string(), "/etc/passwd".into()]
        {
            let text = format!("{TEXT}hierarchy = {name:?}\n");
            assert_eq!(own.check(&text).unwrap_err().code(), ErrorCode::PermissionDenied, "{name}");
        }
        let text = format!("{TEXT}\n[evaluate.queries]\nanything = [{{ file = \"../h.csv\" }}]\n");
        assert_eq!(own.check(&text).unwrap_err().code(), ErrorCode::PermissionDenied);
    }

    #[test]
    fn what_was_confirmed_holds_for_one_policy_only() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(POLICY), TEXT).unwrap();
        let mut own = project(folder.path());
        own.tick("roles", true).unwrap();
        assert!(own.ticked("roles"));
        own.change("k", &TEXT.replace('5', "4"), Vec::new()).unwrap();
        assert!(!own.ticked("roles"));
    }
}
