use super::{error_of, with_attribute_lines};

/// Checks the message, line and column of each policy.
fn check(cases: &[(&str, &str, u64, u64)]) {
    for (text, message, line, column) in cases {
        let error = error_of(text);
        assert_eq!(error.message(), *message, "{text}");
        assert_eq!(
            (error.place().line, error.place().column),
            (Some(*line), Some(*column)),
            "{error}\n{text}"
        );
        assert!(error.excerpt().is_some(), "{text}");
    }
}

/// Checks lines in the section of a quasi-identifier; they start on line 5.
fn check_attribute(cases: &[(&str, &str, u64, u64)]) {
    for (lines, message, line, column) in cases {
        let text = with_attribute_lines(lines);
        check(&[(&text, message, *line, *column)]);
        assert!(error_of(&text).place().attribute.is_some(), "{text}");
    }
}

/// Checks lines in `[privacy]`; they start on line 5, after one quasi-identifier and one sensitive attribute.
fn check_privacy(cases: &[(&str, &str, u64, u64)]) {
    for (lines, message, line, column) in cases {
        let text =
            format!("[attribute]\nage.role = \"quasi\"\nflu.role = \"sensitive\"\n[privacy]\n{lines}\n");
        check(&[(&text, message, *line, *column)]);
    }
}

#[test]
fn groups_of_regulators_say_what_they_need() {
    check_attribute(&[
        (
            "hierarchy = { safe_harbor = \"zipcode\" }",
            "safe_harbor has the builders \"age\", \"birth\", \"date\" and \"zip\"",
            5,
            29,
        ),
        ("hierarchy = { ema = \"dose\" }", "ema has the builder \"age\"", 5, 21),
        (
            "hierarchy = { safe_harbor = \"birth\" }",
            "as_of must be a date like \"2026-12-31\": the year of birth of whoever is over 89 must not be told, \
             so the day of the release is needed",
            5,
            13,
        ),
        (
            "hierarchy = { safe_harbor = \"zip\", restricted = [\"36\"] }",
            "restricted must be a list of three digits each, such as [\"036\", \"059\"]",
            5,
            49,
        ),
        (
            "hierarchy = { safe_harbor = \"zip\", kept = [\"036\"], restricted = [\"036\"] }",
            "restricted and kept say the same in two ways",
            5,
            43,
        ),
        (
            "hierarchy = { safe_harbor = \"date\", kept = [\"036\"] }",
            "kept has no use in this builder",
            5,
            44,
        ),
        (
            "hierarchy = { safe_harbor = \"age\", intervals = [5, 12] }",
            "intervals must be widths above 0, each a multiple of the one before",
            5,
            48,
        ),
        (
            "hierarchy = { safe_harbor = \"zip\", keep = [\"036\"] }",
            "unknown key \"keep\" in a hierarchy with safe_harbor",
            5,
            36,
        ),
        (
            "kind = \"numeric\"\nhierarchy = { safe_harbor = \"date\" }",
            "ranges of exact values would tell more than Safe Harbor allows, but this attribute is numeric",
            6,
            13,
        ),
        (
            "kind = \"categorical\"\nhierarchy = { safe_harbor = \"age\" }",
            "ages under Safe Harbor are numbers, but this attribute is categorical",
            6,
            13,
        ),
        (
            "hierarchy = { safe_harbor = \"age\" }\ntop = 95",
            "Safe Harbor wants all ages from 90 on in one group",
            6,
            7,
        ),
    ]);
    let sensitive = "[privacy]\nk = 2\n[attribute.zip]\nrole = \"sensitive\"\nhierarchy = { safe_harbor = \"zip\" }\n\
        [attribute.age]\nrole = \"quasi\"\n";
    assert!(error_of(sensitive).message().contains("what Safe Harbor forbids would be published"));
}

#[test]
fn syntax_errors_point_at_the_place() {
    check(&[
        ("[privacy]\nk = 5\nk = 6\n", "the key k is given twice", 3, 1),
        ("[privacy]\nk = 5\n[privacy]\n", "the key privacy is given twice", 3, 2),
        ("[privacy\nk = 5\n", "the policy is not valid TOML: unclosed table, expected `]`", 1, 9),
        (
            "[privacy]\né = 5\n",
            "the policy is not valid TOML: invalid unquoted key, expected letters, numbers, `-`, `_`",
            2,
            1,
        ),
        (
            "[method]\nname = \"x\n",
            "the policy is not valid TOML: invalid basic string, expected `\"`",
            2,
            10,
        ),
    ]);
}

#[test]
fn unknown_keys_are_pointed_at_wherever_they_are() {
    check(&[
        ("[privcy]\nk = 5\n", "unknown key \"privcy\" in the policy", 1, 2),
        ("[attributes.age]\n", "unknown key \"attributes\" in the policy", 1, 2),
        ("[data]\nmising = []\n", "unknown key \"mising\" in [data]", 2, 1),
        ("[privacy]\nk = 5\nmaxloss = 1\n", "unknown key \"maxloss\" in [privacy]", 3, 1),
        (
            "[privacy]\n[[privacy.quasi_identifiers]]\nattribute = []\n",
            "unknown key \"attribute\" in [[privacy.quasi_identifiers]]",
            3,
            1,
        ),
        (
            "[attribute.age]\nrole = \"quasi\"\nwieght = 2\n",
            "unknown key \"wieght\" in [attribute.age]",
            3,
            1,
        ),
        (
            "[attribute.age]\nrules = [{ cut = [1, 2], important = 3 }]\n",
            "unknown key \"important\" in a rule",
            2,
            26,
        ),
    ]);
}

#[test]
fn unknown_keys_come_with_the_known_ones() {
    let error = error_of("[privacy]\nsupress = 0.1\n");
    let hint = "did you mean \"suppress\"? the keys of [privacy] are k, quasi_identifiers, k_column, own_k, k_map, \
        population, fraction, l, diversity, c, t, beta, likeness, delta, alpha, alpha_values, max_loss, \
        max_span, max_gcp, max_query_error, queries, suppress, strict";
    assert_eq!(error.hint(), Some(hint));
    let error = error_of("[data]\nquite_different = 0.1\n");
    assert_eq!(
        error.hint(),
        Some("the keys of [data] are missing, incomplete, unlisted, header, max_expansion")
    );
}

#[test]
fn wrong_types_say_what_was_expected_and_found() {
    check(&[
        ("[privacy]\nk = \"5\"\n", "k must be a whole number, found a string", 2, 5),
        ("[privacy]\nk = 5.5\n", "k must be a whole number, found the number 5.5", 2, 5),
        (
            "[privacy]\nk = 99999999999999999999\n",
            "k must be a whole number, found a number that is too large",
            2,
            5,
        ),
        ("[privacy]\nl = true\n", "l must be a number, found true", 2, 5),
        ("[privacy]\nt = 2024-01-01\n", "t must be a number, found a date", 2, 5),
        (
            "[privacy]\nquasi_identifiers = 3\n",
            "quasi_identifiers must be a list of tables, found the number 3",
            2,
            21,
        ),
        ("privacy = 5\n", "[privacy] must be a table, found the number 5", 1, 11),
        ("[data]\nmissing = \"?\"\n", "missing must be a list of strings, found a string", 2, 11),
        ("[data]\nmissing = [\"?\", -9]\n", "missing must be a list of strings, found the number -9", 2, 17),
        ("[method]\nname = 5\n", "name must be a string, found the number 5", 2, 8),
        ("[method]\nseed = [1]\n", "seed must be a whole number, found a list", 2, 8),
        ("method = []\n", "[method] must be a table, found a list", 1, 10),
        ("[method]\nx = 99999999999999999999\n", "the value of x cannot be read", 2, 5),
        ("[attribute]\nage = \"quasi\"\n", "[attribute.age] must be a table, found a string", 2, 7),
        ("[attribute.age]\nrole = {}\n", "role must be a string, found a table", 2, 8),
        ("[attribute.age]\nrules = [5]\n", "a rule must be a table, found the number 5", 2, 10),
        (
            "[attribute.age]\nrules = [{ cut = [1, 2], hard = 1 }]\n",
            "hard must be true or false, found the number 1",
            2,
            33,
        ),
        (
            "[attribute.age]\nrules = [{ cut = [1, \"2\"] }]\n",
            "cut must be a list of numbers, found a string",
            2,
            22,
        ),
    ]);
}

#[test]
fn privacy_values_are_checked() {
    check_privacy(&[
        ("k = 0", "k must be a whole number of at least 1, found 0", 5, 5),
        ("k = -3", "k must be a whole number of at least 1, found -3", 5, 5),
        ("l = 0.9", "l must be a number of at least 1, found 0.9", 5, 5),
        ("l = inf", "l must be a number of at least 1, found inf", 5, 5),
        ("t = -0.1", "t must be a number from 0 to 1, found -0.1", 5, 5),
        ("t = 20", "t must be a number from 0 to 1, found 20", 5, 5),
        ("t = nan", "t must be a number from 0 to 1, found NaN", 5, 5),
        ("max_span = { age = -1 }", "age must be a number of at least 0, found -1", 5, 20),
        ("max_span = { age = \"x\" }", "age must be a number, found a string", 5, 20),
        ("max_span = 3", "max_span must be a table, found the number 3", 5, 12),
        ("max_loss = 1.1", "max_loss must be a number from 0 to 1, found 1.1", 5, 12),
        ("k = 2\nsuppress = 1", "suppress must be a number from 0 to below 1, found 1", 6, 12),
        (
            "l = 2\ndiversity = \"entropie\"",
            "diversity must be \"frequency\", \"distinct\", \"entropy\" or \"recursive\", found \"entropie\"",
            6,
            13,
        ),
        ("l = 2\ndiversity = \"recursive\"", "\"recursive\" diversity needs a factor c", 6, 13),
        ("l = 2\ndiversity = \"recursive\"\nc = 0", "c must be a number above 0, found 0", 7, 5),
        ("l = 2\nc = 3", "c belongs to \"recursive\" diversity only", 6, 5),
        (
            "l = 2.5\ndiversity = \"distinct\"",
            "l must be a whole number with \"distinct\" diversity, found 2.5",
            5,
            5,
        ),
        (
            "l = 2.5\ndiversity = \"recursive\"\nc = 3",
            "l must be a whole number with \"recursive\" diversity, found 2.5",
            5,
            5,
        ),
        ("beta = 0", "beta must be a number above 0, found 0", 5, 8),
        (
            "beta = 1\nlikeness = \"basics\"",
            "likeness must be \"enhanced\" or \"basic\", found \"basics\"",
            6,
            12,
        ),
        ("k = 2\nlikeness = \"basic\"", "likeness belongs to beta", 6, 12),
        ("delta = -1", "delta must be a number above 0, found -1", 5, 9),
        ("delta = \"x\"", "delta must be a number, found a string", 5, 9),
        ("alpha = 0", "alpha must be a number above 0 and at most 1, found 0", 5, 9),
        ("alpha = 1.5", "alpha must be a number above 0 and at most 1, found 1.5", 5, 9),
        ("k = 2\nalpha_values = [\"x\"]", "alpha_values belongs to alpha", 6, 16),
        (
            "alpha = 0.5\nalpha_values = [7]",
            "alpha_values must be a list of strings, found the number 7",
            6,
            17,
        ),
        ("k_map = 0\nfraction = 0.5", "k_map must be a whole number of at least 1, found 0", 5, 9),
        ("k_map = 5", "k_map needs either population or fraction", 5, 9),
        ("k_map = 5\nfraction = 0", "fraction must be a number above 0 and at most 1, found 0", 6, 12),
        ("k = 5\nfraction = 0.5", "fraction belongs to k_map", 6, 12),
        ("k_map = 5\npopulation = \"nobody.csv\"", "the population nobody.csv is not a file", 6, 14),
        ("k_map = 5\nfraction = 0.5\npopulation = \"x\"", "k_map needs either population or fraction", 7, 14),
        ("", "the policy asks for no privacy", 4, 1),
        ("suppress = 0.1\nquasi_identifiers = []", "the policy asks for no privacy", 4, 1),
    ]);
}

#[test]
fn models_of_sensitive_attributes_need_one() {
    for key in ["l", "t", "beta", "delta", "alpha"] {
        let error = error_of(&format!("[privacy]\n{key} = 1\n[attribute.age]\nrole = \"quasi\"\n"));
        let message =
            format!("{key} protects sensitive attributes, but no attribute has the role \"sensitive\"");
        assert_eq!((error.message(), error.place().line), (message.as_str(), Some(2)));
    }
}

#[test]
fn several_quasi_identifiers_are_checked() {
    check_privacy(&[
        (
            "[[privacy.quasi_identifiers]]\nk = 0\nattributes = [\"age\"]",
            "k must be a whole number of at least 1, found 0",
            6,
            5,
        ),
        (
            "[[privacy.quasi_identifiers]]\nk = 2\nattributes = []",
            "a quasi-identifier needs at least one attribute",
            7,
            14,
        ),
        (
            "[[privacy.quasi_identifiers]]\nk = 2\nattributes = [\"age\", \"age\"]",
            "the attribute \"age\" stands in this quasi-identifier twice",
            7,
            22,
        ),
        (
            "[[privacy.quasi_identifiers]]\nk = 2\nattributes = [\"flu\"]",
            "the attribute \"flu\" does not have the role \"quasi\" in this policy",
            7,
            15,
        ),
        (
            "[[privacy.quasi_identifiers]]\nk = 2\nattributes = [\"aeg\"]",
            "the attribute \"aeg\" does not have the role \"quasi\" in this policy",
            7,
            15,
        ),
        ("[[privacy.quasi_identifiers]]\nk = 2", "a quasi-identifier without attributes", 5, 1),
        ("[[privacy.quasi_identifiers]]\nattributes = [\"age\"]", "a quasi-identifier without k", 5, 1),
    ]);
}

#[test]
fn what_is_missing_altogether_is_said() {
    check(&[
        ("", "the policy asks for no privacy", 1, 1),
        ("[attribute.age]\nrole = \"quasi\"\n\n", "the policy asks for no privacy", 2, 15),
        (
            "[privacy]\nk = 5\n",
            "no attribute has the role \"quasi\", so there is nothing to generalize",
            2,
            6,
        ),
        (
            "[privacy]\nl = 2\n[attribute.age]\nrole = \"quasi\"\n",
            "l protects sensitive attributes, but no attribute has the role \"sensitive\"",
            2,
            5,
        ),
        (
            "[privacy]\nt = 0.2\n[attribute.age]\nrole = \"quasi\"\n",
            "t protects sensitive attributes, but no attribute has the role \"sensitive\"",
            2,
            5,
        ),
    ]);
}

#[test]
fn other_words_and_seeds_are_checked() {
    check(&[
        (
            "[privacy]\nk = 2\n[attribute.a]\nrole = \"quasi\"\n[data]\nincomplete = \"dorp\"\n",
            "incomplete must be \"drop\" or \"keep\", found \"dorp\"",
            6,
            14,
        ),
        (
            "[privacy]\nk = 2\n[attribute.a]\nrole = \"quasi\"\n[method]\nseed = -1\n",
            "seed must be a whole number of at least 0, found -1",
            6,
            8,
        ),
    ]);
    let error = error_of("[attribute.a]\nrole = \"Quasi\"\n");
    assert_eq!(error.hint(), Some("did you mean \"quasi\"?"));
}

#[test]
fn attribute_values_are_checked() {
    check_attribute(&[
        ("kind = \"number\"", "kind must be \"numeric\" or \"categorical\", found \"number\"", 5, 8),
        ("weight = 0", "weight must be a number above 0, found 0", 5, 10),
        ("weight = inf", "weight must be a number above 0, found inf", 5, 10),
        (
            "[attribute.b]\nrole = \"public\"",
            "role must be \"quasi\", \"sensitive\", \"class\", \"identifier\", \"person\" or \"other\", found \"public\"",
            6,
            8,
        ),
        (
            "[attribute.b]\nweight = 2",
            "a weight makes sense only for an attribute with role \"quasi\"",
            6,
            10,
        ),
        (
            "[attribute.b]\nrole = \"sensitive\"\nrules = []",
            "rules make sense only for an attribute with role \"quasi\"",
            7,
            1,
        ),
        (
            "[attribute.b]\nrole = \"class\"\nhierarchy = {}",
            "a hierarchy makes sense only for an attribute with role \"quasi\" or \"sensitive\"",
            7,
            13,
        ),
    ]);
}

#[test]
fn rules_are_checked() {
    check_attribute(&[
        ("rules = [{ importance = 2 }]", "a rule needs cut or apart", 5, 10),
        (
            "rules = [{ cut = [1, 2], apart = [\"a\", \"b\"] }]",
            "a rule has either cut or apart, not both",
            5,
            10,
        ),
        ("rules = [{ cut = [2, 1] }]", "cut must be two numbers, the smaller one first", 5, 18),
        ("rules = [{ cut = [1] }]", "cut must be two numbers, the smaller one first", 5, 18),
        ("rules = [{ cut = [1, inf] }]", "cut must be two numbers, the smaller one first", 5, 18),
        ("rules = [{ apart = [\"a\", \"a\"] }]", "apart must be two different values", 5, 20),
        ("rules = [{ apart = [\"a\"] }]", "apart must be two different values", 5, 20),
        ("rules = [{ cut = [1, 2], importance = 0 }]", "importance must be a number above 0, found 0", 5, 39),
        (
            "kind = \"categorical\"\nrules = [{ cut = [1, 2] }]",
            "cut is for numbers, but this attribute is categorical",
            6,
            18,
        ),
        (
            "kind = \"numeric\"\nrules = [{ apart = [\"a\", \"b\"] }]",
            "apart is for categories, but this attribute is numeric",
            6,
            20,
        ),
    ]);
}

#[test]
fn builders_are_checked() {
    check_attribute(&[
        ("hierarchy = { intervals = [] }", "the list of steps is empty", 5, 27),
        ("hierarchy = { intervals = [0] }", "the widths of intervals must be numbers above 0", 5, 28),
        (
            "hierarchy = { intervals = [5, 5] }",
            "the widths of intervals must increase, but 5 follows 5",
            5,
            31,
        ),
        (
            "hierarchy = { intervals = [5, 12] }",
            "each width must be a multiple of the one before, but 12 is no multiple of 5",
            5,
            31,
        ),
        ("hierarchy = { prefix = [3, 3] }", "the lengths of a prefix must decrease, but 3 follows 3", 5, 28),
        (
            "hierarchy = { prefix = [3, -1] }",
            "the lengths of a prefix must be whole numbers of at least 0",
            5,
            28,
        ),
        (
            "hierarchy = { prefix = [3.5] }",
            "the lengths of a prefix must be whole numbers of at least 0",
            5,
            25,
        ),
        (
            "hierarchy = { dates = [\"year\", \"month\"] }",
            "the units of dates must become coarser from one to the next",
            5,
            32,
        ),
        (
            "hierarchy = { dates = [\"year\", \"year\"] }",
            "the units of dates must become coarser from one to the next",
            5,
            32,
        ),
    ]);
}

#[test]
fn inline_trees_are_checked() {
    check_attribute(&[
        ("hierarchy = 5", "hierarchy must be the name of a file or a table, found the number 5", 5, 13),
        ("hierarchy = \"\"", "the name of the hierarchy file is empty", 5, 13),
        ("hierarchy = {}", "the hierarchy holds no value", 5, 13),
        ("hierarchy = { A = [] }", "the group \"A\" holds no value", 5, 19),
        ("hierarchy = { A = { B = [] } }", "the group \"B\" holds no value", 5, 25),
        (
            "hierarchy = { A = { B = {} }, B = \"\" }",
            "the value \"B\" has two parents: \"A\" and \"*\"",
            5,
            31,
        ),
        (
            "hierarchy = { A = \" \" }",
            "the group \"A\" must be a list of values or a table of groups, found a string",
            5,
            19,
        ),
        (
            "hierarchy = { A = \"x\" }",
            "the group \"A\" must be a list of values or a table of groups, found a string",
            5,
            19,
        ),
        (
            "hierarchy = { A = [true] }",
            "a value of the hierarchy must be a string or a number, found true",
            5,
            20,
        ),
        ("hierarchy = { A = [\"\"] }", "an empty label in the hierarchy", 5, 20),
        ("hierarchy = { \"\" = [\"x\"] }", "an empty label in the hierarchy", 5, 15),
        ("hierarchy = { A = [\"x\", \"x\"], B = [\"y\"] }", "the value \"x\" stands here twice", 5, 25),
        (
            "hierarchy = { A = [\"x\"], B = [\"x\"] }",
            "the value \"x\" has two parents: \"A\" and \"B\"",
            5,
            31,
        ),
        (
            "hierarchy = { A = { C = [\"x\"] }, B = { C = [\"y\"] } }",
            "the label \"C\" has two parents: \"A\" and \"B\"",
            5,
            45,
        ),
        (
            "hierarchy = { A = [\"x\", \"y\"], B = [\"A\"] }",
            "the label \"A\" is both a value and a group of other values",
            5,
            36,
        ),
    ]);
}
