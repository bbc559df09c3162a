//! Every example runs, as its reader would run it.
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub, missing_docs)]

use std::collections::BTreeSet;
use std::path::Path;

macro_rules! examples {
    ($($name:ident $file:literal,)*) => {
        $(
            #[path = $file]
            mod $name;

            #[test]
            fn $name() {
                $name::main().unwrap();
            }
        )*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    from_csv "../examples/from_csv.rs",
    arrow_in_memory "../examples/arrow_in_memory.rs",
    policy_in_code "../examples/policy_in_code.rs",
    own_method "../examples/own_method.rs",
    own_privacy_model "../examples/own_privacy_model.rs",
    audit "../examples/audit.rs",
    compare "../examples/compare.rs",
    recipe "../examples/recipe.rs",
}

#[test]
fn no_example_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: BTreeSet<String> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let run: BTreeSet<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, run);
}
