//! `throng hierarchy` as a user runs it.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;

/// Four towns; in two of them nearly everybody says yes, in the others nearly nobody does.
fn towns() -> String {
    let mut text = "town,age,answer\n".to_owned();
    for at in 0..120u32 {
        let town = ["north", "east", "south", "west"][(at % 4) as usize];
        let yes = (at % 4 < 2) != (at % 20 == 0);
        text += &format!("{town},{},{}\n", 20 + at % 30, if yes { "yes" } else { "no" });
    }
    text
}

const POLICY: &str = "[privacy]\nk = 10\n[method]\nname = \"refine\"\n[attribute.town]\nrole = \"quasi\"\n\
    [attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n[attribute.answer]\nrole = \"class\"\n";

#[test]
fn values_of_similar_classes_share_a_group_and_the_file_can_be_used() {
    let folder = Folder::new().with("towns.csv", &towns()).with("policy.toml", POLICY);
    let ran = folder.run(&[
        "hierarchy",
        "towns.csv",
        "--policy",
        "policy.toml",
        "--attribute",
        "town",
        "--for-class",
        "-o",
        "town.csv",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = std::fs::read_to_string(folder.path("town.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["east;east | north;*", "north;east | north;*", "south;south | west;*", "west;south | west;*"]
    );
    let with = POLICY.replace("[attribute.town]\n", "[attribute.town]\nhierarchy = \"town.csv\"\n");
    let folder = folder.with("with.toml", &with);
    let ran = folder.run(&["anonymize", "towns.csv", "--policy", "with.toml", "-o", "release.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let again = folder.run(&[
        "hierarchy",
        "towns.csv",
        "--policy",
        "policy.toml",
        "--attribute",
        "town",
        "--for-class",
        "-o",
        "town.csv",
    ]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
}

#[test]
fn what_cannot_be_grouped_is_said() {
    let folder = Folder::new()
        .with("towns.csv", &towns())
        .with("policy.toml", POLICY)
        .with("no-class.toml", &POLICY.replace("role = \"class\"", "role = \"other\"\nconfirmed = true"));
    let told = |policy: &str, attribute: &str, told: &str| {
        let ran = folder.run(&[
            "hierarchy",
            "towns.csv",
            "--policy",
            policy,
            "--attribute",
            attribute,
            "--for-class",
        ]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    };
    told("policy.toml", "age", "is a number");
    told("policy.toml", "village", "is not a quasi-identifier");
    told("no-class.toml", "town", "role \"class\"");
}
