//! What is decided between the steps of a run on a cluster, from states of all machines.

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};

use super::job::{Adjusted, Steps};
use super::state::{self, Dealt, Released, merged};
use crate::audit::{self, PartFindings};
use crate::error::{Error, ErrorCode, Fault, Result};
use crate::method::{Fact, Solution};
use crate::plan::Solved as SolvedPlan;
use crate::policy::Policy;
use crate::report::{PartsReport, Provenance, Report};
use crate::run::bounded::memory::{AUDIT_ROW, Room, Shape, check_parts};
use crate::run::{Clock, in_parts, report};
use crate::scale::cuts::Cuts;
use crate::scale::known::PartCounts;
use crate::scale::rounds::{self, first_cuts, groups};
use crate::scale::rows::changed;
use crate::scale::sketch::{Checksum, TableSketch};
use crate::secret::Secret;
use crate::table::Origin;

/// The most parts. Cuts come from a sample, which is too thin for more.
const MOST_PARTS: usize = 4096;

/// What a run on a cluster is asked for.
pub struct Asked {
    /// The policy as it was written.
    pub policy: Policy,
    /// Arguments in place of what it says.
    pub adjusted: Adjusted,
    /// What the order of rows and every lot is drawn from; fresh unless somebody brings one.
    pub secret: Option<Secret>,
    /// The columns of the table.
    pub schema: SchemaRef,
    /// Bytes of memory that solving a part may take.
    pub memory: u64,
    /// The number of parts of the first round; as many as the memory asks for where nobody says.
    pub parts: Option<usize>,
    /// Arguments that override the policy, for the report.
    pub overrides: Vec<String>,
}

/// A round: what its parts must come to, by their place among those that are solved together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Round {
    pub(super) number: u32,
    pub(super) expected: Vec<Checksum>,
    /// Number of records of all of them.
    pub(super) records: u64,
    /// Between which codes of each attribute their records lie.
    pub(super) cells: Vec<Vec<(u32, u32)>>,
    /// For each part that rows were dealt to, the place of the group that it is solved with.
    #[serde(skip)]
    pub group_of_part: Vec<i32>,
}

impl Round {
    /// As bytes for all machines.
    pub fn encode(&self) -> Result<Vec<u8>> {
        state::encode(self)
    }
}

/// What follows on a round.
pub struct Next {
    /// Which classes are kept.
    pub limit: Vec<u8>,
    /// Where the rest is cut; nothing if all are kept.
    pub cuts: Option<Vec<u8>>,
}

/// Decides between steps.
pub struct Driver {
    steps: Steps,
    room: Room,
    asked_parts: Option<usize>,
    memory: u64,
    overrides: Vec<String>,
    clock: Clock,
    warnings: Vec<String>,
    checksum: Option<(u64, Checksum)>,
    capacity: u64,
    cuts: Cuts,
    row_bytes: u64,
    rows: u64,
    /// The number of parts that were solved in each round.
    parts: Vec<usize>,
    facts: Vec<Fact>,
    bytes: u64,
    audit_parts: u64,
    released: Option<Released>,
}

impl Driver {
    /// Checks everything that can be checked before any row is looked at.
    pub fn new(asked: Asked) -> Result<Self> {
        let clock = Clock::start();
        check_parts(asked.parts, MOST_PARTS)?;
        let room = Room::new(asked.memory);
        let steps = Steps::new(&asked.policy, asked.adjusted, asked.secret, asked.schema, room)?;
        Ok(Driver {
            steps,
            room,
            asked_parts: asked.parts,
            memory: asked.memory,
            overrides: asked.overrides,
            clock,
            warnings: Vec::new(),
            checksum: None,
            capacity: 1,
            cuts: Cuts::none(),
            row_bytes: 0,
            rows: 0,
            parts: Vec::new(),
            facts: Vec::new(),
            bytes: 0,
            audit_parts: 1,
            released: None,
        })
    }

    /// What all machines know of the run so far.
    pub fn shared(&self) -> Result<Vec<u8>> {
        self.steps.encode()
    }

    /// Takes the sketches of all rows; gives the first cuts.
    pub fn sketched(&mut self, states: &[Vec<u8>]) -> Result<Vec<u8>> {
        let sketch = merged(states, TableSketch::merge_all)?.filter(|sketch| sketch.rows > 0);
        let Some(sketch) = sketch else {
            return Err(Error::new(ErrorCode::EmptyTable, "the table has no records")
                .with_hint("a table needs at least one record"));
        };
        let policy = self.steps.plan.policy();
        self.warnings = in_parts::check_as_is(&sketch, &Origin::memory("the table"), policy)?;
        self.checksum = Some((sketch.rows, sketch.checksum));
        self.steps.bind(sketch.clone())?;
        let known = &self.steps.bound()?.known;
        let shape = Shape { attributes: known.problem.attributes.len(), coded: known.coded.len() };
        self.capacity = self.room.capacity(sketch.rows, shape, self.asked_parts, MOST_PARTS)?;
        self.cuts = first_cuts(known, &sketch, self.capacity);
        self.clock.lap("read");
        state::encode(&self.cuts)
    }

    /// Takes what is known of the rows that were dealt; says which parts are solved together.
    pub fn dealt(&mut self, states: &[Vec<u8>]) -> Result<Round> {
        let Some(dealt) = merged(states, Dealt::merge_all)? else { return Err(changed()) };
        self.bytes += dealt.bytes;
        if let Some(counts) = &dealt.counts {
            let Some((rows, checksum)) = self.checksum else {
                return Err(Error::bug("rows before a sketch"));
            };
            if checksum != dealt.checksum {
                return Err(changed());
            }
            if counts.rows == 0 {
                return Err(Error::new(ErrorCode::EmptyTable, "the table has no records").with_hint(
                    "every row has a missing cell; set `incomplete = \"keep\"` under [data] to keep them",
                ));
            }
            self.rows = counts.rows;
            let coded = self.steps.bound()?.known.coded.len() as u64;
            self.row_bytes = 8 + 4 * coded + dealt.text_bytes / rows.max(1);
            self.steps.count(counts.clone(), rows - counts.rows)?;
            self.check_requirement(&dealt.of_parts)?;
            self.clock.lap("encode");
        }
        let known = &self.steps.bound()?.known;
        let at_once = if self.asked_parts.is_some() { u64::MAX } else { self.capacity };
        let groups = groups(known, &self.cuts, &dealt.of_parts, at_once);
        let mut group_of_part = vec![-1; dealt.of_parts.len()];
        let mut expected = vec![Checksum::default(); groups.len()];
        for (group, parts) in groups.iter().enumerate() {
            for part in parts {
                group_of_part[*part] = group as i32;
                expected[group].merge(&dealt.sums[*part]);
            }
        }
        let attributes = known.problem.attributes.len();
        let cells = groups.iter().map(|parts| self.cuts.cell(parts, attributes)).collect();
        let number = self.parts.len() as u32;
        self.parts.push(groups.len());
        let records = dealt.of_parts.iter().map(|part| part.rows).sum();
        Ok(Round { number, expected, records, cells, group_of_part })
    }

    fn check_requirement(&self, of_parts: &[PartCounts]) -> Result<()> {
        let known = &self.steps.bound()?.known;
        let whole = of_parts.iter().fold(PartCounts::new(known), |mut whole, part| {
            whole.merge(part);
            whole
        });
        known.problem.requirement.check_counts(&known.tally(&whole), &known.problem.data)
    }

    /// Takes what is known of the parts that were solved; says what is kept, and where the rest is cut.
    pub fn solved(&mut self, states: &[Vec<u8>]) -> Result<Next> {
        let solved = merged(states, state::Solved::merge_all)?;
        let Some(solved) = solved else { return Err(Error::bug("a round without parts")) };
        self.bytes += solved.bytes;
        for fact in solved.facts.into_values().flatten() {
            if !self.facts.contains(&fact) {
                self.facts.push(fact);
            }
        }
        let count = self.parts.last().copied().unwrap_or(0);
        let known = &self.steps.bound()?.known;
        let done =
            rounds::Round { cuts: &self.cuts, parts: count, gains: &solved.gains, sample: &solved.sample };
        let (limit, cuts) = rounds::next(known, &done, self.capacity);
        let limit = state::encode(&limit)?;
        let Some(cuts) = cuts else {
            self.clock.lap("anonymize");
            return Ok(Next { limit, cuts: None });
        };
        self.cuts = cuts;
        Ok(Next { limit, cuts: Some(state::encode(&self.cuts)?) })
    }

    /// The number of parts that the release is audited in.
    pub fn audit_parts(&mut self) -> u64 {
        self.clock.lap("write");
        let needed = self.room.audits(self.rows * (self.row_bytes + AUDIT_ROW));
        self.audit_parts = needed.max(self.asked_parts.unwrap_or(1) as u64).min(MOST_PARTS as u64);
        self.audit_parts
    }

    /// Takes what is known of all rows of the release; gives their number.
    pub fn released(&mut self, states: &[Vec<u8>]) -> Result<u64> {
        let Some(released) = merged(states, Released::merge_all)? else { return Err(changed()) };
        let rows = released.rows;
        self.bytes += released.bytes;
        self.released = Some(released);
        match rows == self.rows {
            true => Ok(rows),
            false => Err(changed()),
        }
    }

    /// Takes the findings of all parts of the release, in their order; gives the report if the release meets its requirement.
    pub fn audited(&mut self, findings: &[Vec<u8>]) -> Result<Report> {
        let parts = findings.iter().map(|part| state::decode(part)).collect::<Result<Vec<PartFindings>>>()?;
        if parts.iter().map(|part| part.rows).sum::<u64>() != self.rows {
            return Err(changed());
        }
        let plan = &self.steps.plan;
        let problem = &self.steps.bound()?.known.problem;
        let mut findings = audit::merged(problem, plan.policy(), parts)?;
        let sampled = self.released.take().map(|released| {
            released.shown.tell(&mut findings.measures.published_as_is, plan.policy(), self.rows)
        });
        plan.check(&findings).map_err(|error| match error.fault() {
            Fault::Requirement => error.in_file("the table"),
            _ => error,
        })?;
        self.clock.lap("audit");
        let told = PartsReport {
            memory: self.memory,
            files: None,
            parts: self.parts.clone(),
            passes: 2,
            audit_parts: self.audit_parts,
            scratch_bytes: self.bytes,
        };
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: "the table".to_owned(),
            policy: plan.policy().text.clone(),
            overrides: self.overrides.clone(),
            ..Provenance::default()
        };
        let solution = Solution { facts: self.facts.clone(), ..Solution::default() };
        let solved = SolvedPlan { solution, policy: plan.policy().clone() };
        let seconds = std::mem::replace(&mut self.clock, Clock::start()).finish();
        let mut report = report((plan, true), problem, &solved, findings, provenance, seconds);
        let mut notes = std::mem::take(&mut self.warnings);
        notes.push(format!(
            "The table was run on a cluster and {}. No lower bound on the loss is looked for in this way.",
            in_parts::told_rounds(&told.parts)
        ));
        notes.extend(in_parts::told_sampled(&sampled.unwrap_or_default()));
        report.notes.splice(0..0, notes);
        report.parts = Some(told);
        Ok(report)
    }
}
