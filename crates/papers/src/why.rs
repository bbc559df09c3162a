//! Why claims do not hold here: each that does not says so on its page.

use throng::report::{Block, Claim, Page, Verdict};

/// What stands behind claims that do not hold, or hold in part: words that the texts of such claims hold, and the reason.
pub type Reasons = &'static [(&'static [&'static str], &'static str)];

/// Adds to every claim that does not hold in full why that is, and tells how many held, section by section.
pub fn explain(page: &mut Page, reasons: Reasons) -> Vec<String> {
    let mut told = Vec::new();
    for section in &mut page.sections {
        let heading = section.heading.clone();
        for block in &mut section.blocks {
            let Block::Claims(claims) = block else { continue };
            claims.iter_mut().for_each(|claim| add_reason(claim, reasons));
            told.push(format!("{heading}: {}", counts(claims.iter())));
        }
    }
    told
}

fn add_reason(claim: &mut Claim, reasons: Reasons) {
    if claim.verdict == Verdict::Held {
        return;
    }
    let fits = |texts: &[&str]| texts.iter().any(|text| claim.text.contains(text));
    let why = reasons.iter().find(|(texts, _)| fits(texts)).map_or("not known", |(_, why)| why);
    claim.evidence = format!("{}. Why: {why}", claim.evidence.trim_end_matches('.'));
}

/// How many claims held, in words.
pub fn counts<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> String {
    let mut of = [0, 0, 0];
    for claim in claims {
        of[match claim.verdict {
            Verdict::Held => 0,
            Verdict::Partly => 1,
            Verdict::Failed => 2,
        }] += 1;
    }
    let [held, partly, failed] = of;
    format!("{held} of {} claims held, {partly} in part, {failed} did not", held + partly + failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::report::Section;

    fn claim(text: &str, verdict: Verdict) -> Claim {
        Claim { text: text.to_owned(), verdict, evidence: "1 against 2.".to_owned() }
    }

    #[test]
    fn claims_that_do_not_hold_say_why() {
        let claims = vec![
            claim("Hilbert loses less", Verdict::Held),
            claim("Hilbert is faster", Verdict::Failed),
            claim("Anatomy is nearer", Verdict::Partly),
        ];
        let section = Section { heading: "Claims".to_owned(), blocks: vec![Block::Claims(claims)] };
        let mut page = Page { sections: vec![section], ..Page::default() };
        let told = explain(&mut page, &[(&["Hilbert"], "its table is small.")]);
        assert_eq!(told, ["Claims: 1 of 3 claims held, 1 in part, 1 did not"]);
        let Block::Claims(claims) = &page.sections[0].blocks[0] else { panic!("the claims are gone") };
        let evidence: Vec<&str> = claims.iter().map(|claim| claim.evidence.as_str()).collect();
        let expected =
            ["1 against 2.", "1 against 2. Why: its table is small.", "1 against 2. Why: not known"];
        assert_eq!(evidence, expected);
    }
}
