//! What went wrong, as a word that programs can branch on. Sentences may be worded anew in any version; a code
//! stays. `docs/errors.md` lists them all, and a test holds it against this table.

use std::fmt;

use super::Fault;

macro_rules! codes {
    ($($variant:ident $name:literal $fault:ident: $meaning:literal, $remedy:literal;)*) => {
        /// What went wrong, for programs; see `docs/errors.md`.
        ///
        /// ```
        /// use throng::error::ErrorCode;
        ///
        /// assert_eq!(ErrorCode::UnknownColumn.name(), "unknown-column");
        /// assert_eq!(ErrorCode::named("unknown-column"), Some(ErrorCode::UnknownColumn));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the documents.
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant),*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$variant => $meaning,)* }
            }

            /// What to do, in one line; the hint of an error knows more.
            pub fn remedy(self) -> &'static str {
                match self { $(ErrorCode::$variant => $remedy,)* }
            }

            /// Whose fault it is.
            pub fn fault(self) -> Fault {
                match self { $(ErrorCode::$variant => Fault::$fault,)* }
            }
        }
    };
}

codes! {
    // Arguments and files.
    BadUsage "bad-usage" Input: "an argument is missing, unknown or out of range", "see `throng COMMAND --help`, or the documentation of the function";
    FileNotFound "file-not-found" Input: "a file, or the folder of an output, does not exist", "check the path";
    PermissionDenied "permission-denied" Input: "a file may not be read or written", "check the permissions of the file and its folder";
    DiskFull "disk-full" Input: "there is no space left to write to", "free some space, or write to another disk";
    CannotRead "cannot-read" Input: "a file could not be read", "the message has the words of the operating system";
    CannotWrite "cannot-write" Input: "a file could not be written", "the message has the words of the operating system";
    IsAFolder "is-a-folder" Input: "a folder is named where a file is needed", "name a file";
    FileExists "file-exists" Input: "the file exists already and is not overwritten", "name another file, or use `--force`";
    WouldOverwrite "would-overwrite" Input: "an output would overwrite an input or another output", "give it another name";
    BadFileEnding "bad-file-ending" Input: "the ending of a name tells no format that can be written here", "use one of the endings that the message names";
    NeedsFileName "needs-file-name" Input: "standard input or output cannot be used here", "give the name of a file";

    // Policies.
    BadPolicySyntax "bad-policy-syntax" Input: "the policy is not valid TOML", "correct the line that is shown";
    UnknownKey "unknown-key" Input: "a key has no meaning where it stands, or not with the others", "check its spelling and its section, or remove it";
    DuplicateKey "duplicate-key" Input: "a key or name is given twice", "keep one of the two";
    MissingKey "missing-key" Input: "a key is missing that another one needs", "add it, or remove the other one";
    WrongType "wrong-type" Input: "the value of a key has another type than it needs", "write what the message expects";
    BadValue "bad-value" Input: "a value or range is out of bounds, or not one of the words that are allowed", "write what the message expects";
    NothingRequired "nothing-required" Input: "the policy asks for no privacy", "give at least one requirement in `[privacy]`, for example `k = 5`";
    NoQuasi "no-quasi-identifier" Input: "no attribute has the role `quasi`", "give it to each column by which people could be recognised";
    NoSensitive "no-sensitive-attribute" Input: "the requirement protects sensitive attributes, but there is none", "give the attribute to protect `role = \"sensitive\"`";
    NotOneSensitive "not-one-sensitive" Input: "exactly one sensitive attribute is needed here", "give one attribute `role = \"sensitive\"`";
    NoClass "no-class-attribute" Input: "no attribute has the role `class`", "give the attribute to predict `role = \"class\"`";
    UnknownAttribute "unknown-attribute" Input: "an attribute is named that does not exist or has not the role that is needed here", "name one that the hint lists";
    UnknownValue "unknown-value" Input: "a value is named that is neither in the table nor in the hierarchy", "check its spelling";
    WrongKind "wrong-kind" Input: "something for numbers is asked of categories, or the other way round", "change it, or the attribute's `kind`";
    BadRule "bad-rule" Input: "a rule contradicts itself or lacks a part", "write it as the hint shows";

    // Hierarchies.
    BadHierarchy "bad-hierarchy" Input: "a hierarchy is empty, uneven, repeats itself or contradicts itself", "correct the line that is named";
    HierarchyTwoParents "hierarchy-two-parents" Input: "a value or label of a hierarchy has two parents", "give it one parent everywhere";
    HierarchyLeafMissing "hierarchy-leaf-missing" Input: "a value of the table is not in the hierarchy of its attribute", "add a line for it to the hierarchy, or correct the cell";

    // Tables.
    UnknownColumn "unknown-column" Input: "a table has no column of this name", "check the spelling in the policy, and that it is the right table";
    UnlistedColumn "unlisted-column" Input: "a column of the table is not mentioned in the policy", "give it a section with a role, or say `unlisted = \"drop\"` under `[data]`";
    UnconfirmedIdentifier "unconfirmed-identifier" Input: "a column that would be published as it is looks like an identifier", "give it another role, or `confirmed = true` in its section";
    DuplicateColumn "duplicate-column" Input: "two columns have, or would have, the same name", "rename one of them";
    EmptyTable "empty-table" Input: "a table has no header, no columns or no records", "check that it is the right file";
    NoHeader "no-header" Input: "the first line of a table looks like a record", "put a line with the names of the columns above it";
    NotUtf8 "not-utf8" Input: "a file is not valid UTF-8", "save it as UTF-8";
    UnclosedQuote "unclosed-quote" Input: "a quote is opened and never closed", "close it; a quote inside quotes is written twice";
    WrongCellCount "wrong-cell-count" Input: "a record has more or fewer cells than the header", "correct the line that is named";
    RecordTooLong "record-too-long" Input: "a record is too long to be read", "look for a quote that was left open, or leave the column of long texts out";
    BadCell "bad-cell" Input: "a cell is not the number, date or text that it should be, or is `*` before anything was suppressed", "correct the cell, or list it under `[data] missing`";
    NoPerson "no-person" Input: "a record does not say whose it is, in a table whose policy counts people", "fill it in, or leave such rows out with `incomplete = \"drop\"`";
    BadJsonLine "bad-json-line" Input: "a line of JSON Lines is not one flat object with the keys of the first ones", "write one object per line, each key once, all keys early on";
    NestedValue "nested-value" Input: "a list or structure stands where a single value is needed", "give each part a column, or make the column an identifier";
    UnreadableFile "unreadable-file" Input: "a file is damaged or not of the format that its ending names", "check that it is complete";
    UnreadableType "unreadable-type" Input: "a column has a type that cannot be read", "give the column as text, or make it an identifier";
    ExpandsTooMuch "expands-too-much" Input: "a compressed file expands to more than is allowed", "allow more with `max_expansion` under `[data]` if you trust it";
    TableChanged "table-changed" Input: "a table was changed while it was read more than once", "run it again once nobody writes to it";
    BatchesDiffer "batches-differ" Input: "record batches of one table have different columns", "give all batches the schema of the table";

    // Methods, options, tasks.
    UnknownMethod "unknown-method" Input: "there is no method of this name", "`throng methods` lists them";
    MethodDoesNotFit "method-does-not-fit" Input: "the method, or a release by permutation, does not take this requirement", "use another method, or `auto`";
    UnknownOption "unknown-option" Input: "a method or task has no option of this name", "`throng methods NAME` lists them";
    BadOption "bad-option" Input: "an option has a value that it cannot take, or excludes another one", "write what the message expects, or leave one out";
    UnknownTask "unknown-task" Input: "there is no task of this name", "use one that the hint lists";
    NoMasks "no-masks" Input: "masks that other records could be masked with are needed, and there are none", "use the method `refine`";
    TableTooLarge "table-too-large" Input: "the table is too large for an exact answer", "use another method";
    BadQueries "bad-queries" Input: "a file of queries, or one query in it, cannot be understood", "write it as the hint shows";

    // Releases, audits, recipes, secrets.
    CellDoesNotFit "cell-does-not-fit" Input: "a cell cannot be written with the type of its column", "write the release as text";
    NoProof "no-proof" Input: "a certificate is asked for where no lower bound is proved", "leave it out, or ask for more effort";
    BadCertificate "bad-certificate" Input: "a file is no certificate, damaged, or was changed", "ask for it again, or write it anew with `throng anonymize --certificate`";
    NotThisCertificate "not-this-certificate" Input: "a certificate is for another table or another policy", "use the table and the policy that it was written with";
    NotThisRelease "not-this-release" Input: "the release cannot be one of this table under this policy", "check that table, release and policy belong together";
    SensitiveTableMissing "sensitive-table-missing" Input: "a release by permutation lacks the table of its sensitive values", "give both tables";
    BadRecipe "bad-recipe" Input: "a file is not a recipe, or a damaged one", "write it anew with `throng anonymize … --recipe FILE`";
    RecipeVersion "recipe-version" Input: "a recipe was written by a version with another format", "use that version, or learn the recipe anew";
    WeakSecret "weak-secret" Input: "a secret is so short that it could be guessed", "make one of at least 16 random bytes";
    NoRandomness "no-randomness" Input: "the system gives no random numbers", "bring your own with `--secret`";

    // Series.
    NoSeries "no-series" Input: "under this policy, or in this way, releases cannot follow on each other safely", "change what the message names, or publish once";
    BadLedger "bad-ledger" Input: "a file is no ledger or key of a series, is damaged, was edited, or belongs to another", "bring back the file that the last run wrote";
    LedgerInUse "ledger-in-use" Input: "another run works on the same series", "wait until it is done";
    SeriesGoesOn "series-goes-on" Input: "the ledger has releases already, so that the next one must follow on the last", "name the last release with `--after`";
    NotTheLast "not-the-last-release" Input: "a release is not the last one of the series, or was changed", "name the last release as it was published";
    SeriesPending "series-pending" Input: "an earlier run stopped half-way and nobody can tell whether its release was handed out", "say which with `--after` or `--replace`";
    SeriesChanged "series-changed" Input: "the policy or the table is no longer that of the releases before", "write it as it was, or begin a series of other people";
    PersonTwice "person-twice" Input: "a person has several records in a table of a series", "give each person one record";
    UnknownPerson "unknown-person" Input: "a person who is to be erased is not in the series, or still in the table", "check the spelling, and take the person out of the table";

    // Requirements that cannot be met.
    KExceedsTable "k-exceeds-table" Requirement: "k is larger than the number of records", "ask for less, or add records";
    DiversityUnreachable "diversity-unreachable" Requirement: "the whole table is not as diverse as the requirement asks", "ask for less";
    PopulationTooSmall "population-too-small" Requirement: "too few people of the population share the quasi-identifiers of a record", "ask for less";
    RulesInTheWay "rules-in-the-way" Requirement: "hard rules leave parts that cannot meet the requirement", "make the rules soft, or drop them";
    LimitTooTight "limit-too-tight" Requirement: "within the limit on the loss the requirement cannot be met", "allow more loss, or ask for less";
    TargetUnreachable "target-unreachable" Requirement: "the utility target is missed already at the smallest k", "allow more loss or error";
    RequirementUnreachable "requirement-unreachable" Requirement: "the method found no release that meets the requirement", "ask for less, or use another method";
    RecipeNotSafe "recipe-not-safe" Requirement: "masked with the recipe, the records do not meet its requirement", "mask more records at once, or allow suppression";
    NothingToCompare "nothing-to-compare" Requirement: "none of the methods could run", "name other methods or a smaller k";
    NoQueryMatches "no-query-matches" Requirement: "none of the queries matches a record, so their error cannot be measured", "use queries that match";

    // The rest.
    Cancelled "cancelled" Cancelled: "the run was stopped; nothing was written", "run it again";
    Bug "bug" Bug: "throng broke a promise of its own", "please report it";
}

impl ErrorCode {
    /// The code of a name.
    pub fn named(name: &str) -> Option<ErrorCode> {
        ErrorCode::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl serde::Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A code that a later version added is an error here.
impl<'de> serde::Deserialize<'de> for ErrorCode {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = std::borrow::Cow::<str>::deserialize(deserializer)?;
        ErrorCode::named(&name).ok_or_else(|| serde::de::Error::custom("not a code of an error"))
    }
}
