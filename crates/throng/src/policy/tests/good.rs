use std::path::Path;

use super::{EXAMPLE, example_folder, with_attribute_lines};
use crate::policy::{Apart, DEFAULT_METHOD, DateUnit, Diversity, Hierarchy, Incomplete, Kind, Policy, Role};
use crate::privacy::MaxLoss;
use crate::schema::Tail;

fn parse(text: &str) -> Policy {
    Policy::parse(text, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn hierarchy(value: &str) -> Hierarchy {
    let policy = parse(&with_attribute_lines(&format!("hierarchy = {value}")));
    policy.attributes["age"].hierarchy.clone().unwrap()
}

fn tree_paths(value: &str) -> Vec<String> {
    let Hierarchy::Tree(tree) = hierarchy(value) else { panic!("not a tree: {value}") };
    tree.paths().map(|(leaf, path)| format!("{leaf}<{}", path.join("<"))).collect()
}

#[test]
fn the_full_example_is_read_as_written() {
    let (_folder, path) = example_folder();
    let policy = Policy::load(&path).unwrap();
    assert_eq!(policy.missing, ["?"]);
    assert_eq!(policy.incomplete, Incomplete::Drop);
    assert_eq!((policy.privacy.k(), policy.privacy.l()), (Some(10), Some(3.0)));
    assert_eq!(policy.privacy.t(), Some(0.2));
    assert_eq!(policy.privacy.get::<MaxLoss>(), Some(&MaxLoss { share: 0.3 }));
    assert_eq!(policy.privacy.diversity(), Diversity::Frequency);
    assert_eq!(policy.privacy.quasi_identifiers()[0].names(), ["race", "age"]);
    assert_eq!(policy.privacy.quasi_identifiers()[0].k, 4);
    assert_eq!((policy.method.name.as_str(), policy.method.seed), ("hilbert", 7));
    assert_eq!(policy.method.options["curve"].as_str(), Some("gray"));
    assert_eq!(policy.method.options.len(), 1);
    assert_eq!(&EXAMPLE[policy.method.span.clone().unwrap()], "\"hilbert\"");
    assert_eq!(&EXAMPLE[policy.option_span("curve").unwrap()], "curve");
    assert_eq!(&EXAMPLE[policy.privacy.span.clone()], "[privacy]");
    assert_eq!(policy.role("name"), Role::Identifier);
    assert_eq!(policy.role("not mentioned"), Role::Other);
}

#[test]
fn attributes_keep_the_order_of_the_text() {
    let (_folder, path) = example_folder();
    let policy = Policy::load(&path).unwrap();
    let names: Vec<&str> = policy.attributes.keys().map(String::as_str).collect();
    assert_eq!(names, ["workclass", "age", "race", "country", "disease", "name"]);
    let age = &policy.attributes["age"];
    assert_eq!((age.role, age.kind, age.weight), (Role::Quasi, Some(Kind::Numeric), 2.0));
    assert_eq!(&EXAMPLE[age.span.clone()], "age");
    assert_eq!((age.rules[0].apart.clone(), age.rules[0].importance), (Apart::Cut(64.0, 65.0), 25.0));
    let race = &policy.attributes["race"].rules[0];
    assert_eq!((race.apart.clone(), race.hard), (Apart::Values("White".into(), "Black".into()), false));
    assert!(policy.attributes["country"].hierarchy_span.is_some());
}

#[test]
fn a_short_policy_gets_the_defaults() {
    let policy = parse(&with_attribute_lines("rules = [{ cut = [1, 2] }]"));
    assert_eq!(policy.missing, [""]);
    assert_eq!(policy.incomplete, Incomplete::Keep);
    assert_eq!((policy.method.name.as_str(), policy.method.seed), (DEFAULT_METHOD, 0));
    assert_eq!(policy.method.span, None);
    assert_eq!((policy.privacy.suppress, policy.privacy.l()), (0.0, None));
    let age = &policy.attributes["age"];
    assert_eq!((age.weight, age.kind), (1.0, None));
    assert_eq!((age.rules[0].importance, age.rules[0].hard), (1.0, false));
}

#[test]
fn sections_may_be_written_in_any_form_of_toml() {
    let dotted = parse("privacy.k = 3\nattribute.age.role = \"quasi\"\n");
    assert_eq!(dotted.privacy.k(), Some(3));
    let inline = parse("privacy = { k = 3 }\nattribute = { b = { role = \"quasi\" }, a = {} }\n");
    assert_eq!(inline.attributes.keys().collect::<Vec<_>>(), ["b", "a"]);
    let windows = parse("\u{feff}[privacy]\r\nk = 3\r\n[attribute.\"zip code\"]\r\nrole = 'quasi'\r\n");
    assert_eq!(windows.role("zip code"), Role::Quasi);
}

#[test]
fn each_diversity_is_read() {
    for (word, extra, diversity) in [
        ("frequency", "", Diversity::Frequency),
        ("distinct", "", Diversity::Distinct),
        ("entropy", "", Diversity::Entropy),
        ("recursive", "c = 2", Diversity::Recursive { c: 2.0 }),
    ] {
        let text = format!(
            "[privacy]\nl = 2\ndiversity = \"{word}\"\n{extra}\n[attribute]\na.role = \"quasi\"\ns.role = \"sensitive\"\n"
        );
        assert_eq!(parse(&text).privacy.diversity(), diversity);
    }
}

#[test]
fn a_sensitive_attribute_may_have_a_hierarchy() {
    let text =
        with_attribute_lines("[attribute.disease]\nrole = \"sensitive\"\nhierarchy = { Lung = [\"flu\"] }");
    assert!(parse(&text).attributes["disease"].hierarchy.is_some());
}

#[test]
fn inline_trees_nest_and_may_be_uneven() {
    assert_eq!(tree_paths("{ Europe = [\"Italy\"], America = [\"US\"] }"), ["Italy<Europe", "US<America"]);
    let uneven = "{ Europe = { South = [\"Italy\", \"Spain\"], North = [\"Norway\"] }, America = [\"US\"] }";
    assert_eq!(
        tree_paths(uneven),
        ["Italy<South<Europe", "Spain<South<Europe", "Norway<North<Europe", "US<America"]
    );
    assert_eq!(
        tree_paths("{ low = [1, 2.50], high = [1_000, -3] }"),
        ["1<low", "2.50<low", "1000<high", "-3<high"]
    );
    assert_eq!(tree_paths("{ intervals = [5], more = [6] }"), ["5<intervals", "6<more"]);
    assert_eq!(tree_paths("{ dates = [\"month\", \"monday\"] }"), ["month<", "monday<"]);
}

#[test]
fn a_value_may_stand_beside_groups() {
    let beside = "{ Secondary = [\"9th\", \"10th\"], Bachelors = {}, Graduate = { Doctorate = \"\", Other = [\"Masters\"] } }";
    assert_eq!(
        tree_paths(beside),
        ["9th<Secondary", "10th<Secondary", "Bachelors<", "Doctorate<Graduate", "Masters<Other<Graduate"]
    );
}

#[test]
fn inline_trees_may_be_sections() {
    let text = with_attribute_lines(
        "[attribute.age.hierarchy]\nold = [70, 80]\n[attribute.age.hierarchy.young]\na = [1]",
    );
    let policy = parse(&text);
    let Some(Hierarchy::Tree(tree)) = &policy.attributes["age"].hierarchy else { panic!("no tree") };
    assert_eq!(tree.len(), 3);
}

#[test]
fn builders_are_told_from_trees() {
    assert!(
        matches!(hierarchy("{ intervals = [5, 20.0] }"), Hierarchy::Intervals(widths) if widths == [5.0, 20.0])
    );
    assert!(matches!(hierarchy("{ intervals = [0.1, 0.3] }"), Hierarchy::Intervals(_)));
    assert!(
        matches!(hierarchy("{ prefix = [4, 3, 0] }"), Hierarchy::Prefix(lengths) if lengths == [4, 3, 0])
    );
    let Hierarchy::Dates(units) = hierarchy("{ dates = [\"month\", \"year\", \"decade\"] }") else {
        panic!("no dates")
    };
    assert_eq!(units, [DateUnit::Month, DateUnit::Year, DateUnit::Decade]);
}

#[test]
fn groups_of_regulators_are_told_from_trees_and_say_what_they_are() {
    for value in [
        "{ safe_harbor = \"age\" }",
        "{ safe_harbor = \"age\", intervals = [5, 10] }",
        "{ safe_harbor = \"birth\", as_of = \"2026-12-31\" }",
        "{ safe_harbor = \"birth\", as_of = 2026-12-31 }",
        "{ safe_harbor = \"date\" }",
        "{ safe_harbor = \"zip\" }",
        "{ safe_harbor = \"zip\", restricted = [\"036\"] }",
        "{ safe_harbor = \"zip\", kept = [\"537\"] }",
        "{ ema = \"age\" }",
    ] {
        let Hierarchy::Official(own) = hierarchy(value) else { panic!("{value}") };
        let Hierarchy::Official(again) = hierarchy(&own.text()) else { panic!("{}", own.text()) };
        assert_eq!(own, again, "{value}");
    }
    // A list holds the values of a group, whatever it is called.
    assert!(matches!(hierarchy("{ safe_harbor = [\"x\"], ema = [\"y\"] }"), Hierarchy::Tree(_)));
    let age = parse(&with_attribute_lines("hierarchy = { safe_harbor = \"age\" }"));
    let age = &age.attributes["age"];
    assert!(
        age.kind == Some(Kind::Numeric)
            && matches!(&age.tails.top, Some(Tail::At { number, .. }) if *number == 90.0)
    );
}

#[test]
fn a_missing_policy_file_is_named() {
    let error = Policy::load(Path::new("no such policy.toml")).unwrap_err();
    assert_eq!(error.place().file.as_deref(), Some(Path::new("no such policy.toml")));
}
