//! The search: perform the best refinement until none is valid and beneficial.

use std::hash::Hash;
use std::time::Instant;

use super::benefit::{Benefit, Goal};
use super::counting::{Beyond, Candidates, Counter, Groups, in_parallel};
use super::leaves::{Deal, Leaves, Piece};
use super::quasi::Qid;
use super::rows::Rows;
use super::state::{NONE, Shape, State};
use super::trace::{End, Step};
use super::{Limits, Outcome};
use crate::error::Result;
use crate::method::{Boxes, Partition};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;

/// Scores this close, relative to the higher one, count as equal.
const CLOSE: f64 = 1e-10;

/// A refinement that may still be made.
struct Candidate {
    attribute: usize,
    /// The masked value.
    value: u32,
    /// The code to disclose, where the value hides several.
    code: Option<u32>,
    gain: f64,
    /// The least count it would make, for each quasi-identifier of its attribute.
    least: Vec<u32>,
    alive: bool,
}

/// A candidate with what it costs.
struct Choice {
    at: usize,
    loss: f64,
    score: f64,
}

pub(super) struct Search<'a, C> {
    problem: &'a Problem,
    benefit: Benefit,
    qids: Vec<Qid>,
    /// The quasi-identifiers of each attribute.
    qids_of: Vec<Vec<usize>>,
    rows: Rows,
    leaves: Leaves<C>,
    states: Vec<State>,
    candidates: Vec<Candidate>,
    candidate_of: Candidates,
    /// The combinations of each quasi-identifier that does not have all attributes.
    groups: Vec<Option<Groups>>,
    /// A(QID) of each quasi-identifier.
    anonymity: Vec<u32>,
    beyond: Option<Beyond<'a>>,
    trace: Vec<Step>,
    /// How many of the quasi-identifiers are asked for; one more may lead.
    asked: usize,
    /// Whether the one that leads is all that counts for now.
    led: bool,
}

impl<'a, C: Code + Hash> Search<'a, C> {
    /// A search that keeps some quasi-identifiers safe. Where one leads, it is kept safe as well until nothing more can
    /// be refined, and then given up.
    pub fn new(
        problem: &'a Problem,
        matrix: &Matrix<C>,
        goal: Goal,
        mut qids: Vec<Qid>,
        lead: Option<Qid>,
    ) -> Self {
        let (asked, led) = (qids.len(), lead.is_some());
        qids.extend(lead);
        let benefit = Benefit::new(problem, goal);
        let width = problem.attributes.len();
        let qids_of = (0..width)
            .map(|attribute| (0..qids.len()).filter(|at| qids[*at].contains(attribute)).collect())
            .collect();
        let beyond = (!problem.requirement.only_size())
            .then_some(Beyond { requirement: &problem.requirement, sensitive: &problem.sensitive });
        let (rows, codes) = match beyond {
            Some(_) => Rows::each_record(matrix),
            None => Rows::compress(matrix),
        };
        let states: Vec<State> =
            problem.attributes.iter().enumerate().map(|(at, own)| State::new(at, own, &benefit)).collect();
        let whole = |qid: &Qid| qid.attributes.len() == width;
        Search {
            problem,
            benefit,
            leaves: Leaves::new(codes, problem.len(), width),
            rows,
            states,
            candidates: Vec::new(),
            candidate_of: vec![Vec::new(); width],
            groups: qids.iter().map(|qid| (!whole(qid)).then(Groups::new)).collect(),
            anonymity: vec![problem.len() as u32; qids.len()],
            qids,
            qids_of,
            beyond,
            trace: Vec::new(),
            asked,
            led,
        }
    }

    /// Whether a quasi-identifier decides for now what is valid and what it costs.
    fn decides(&self, qid: usize) -> bool {
        (qid >= self.asked) == self.led
    }

    pub fn run(mut self, limits: &Limits, watch: &dyn Watch) -> Result<Outcome> {
        // Who stopped the work before the search began did not mean the search.
        watch.check()?;
        let start = Instant::now();
        for attribute in 0..self.states.len() {
            self.open(attribute, 0);
        }
        let all: Vec<usize> = (0..self.states.len()).collect();
        let every_qid: Vec<usize> = (0..self.qids.len()).collect();
        self.count(&[Piece { leaf: 0, from: 0, side: 0 }], &all, &every_qid);
        let end = loop {
            if watch.enough() {
                break End::Stopped;
            }
            watch.check()?;
            if self.trace.len() as u64 >= limits.iterations {
                break End::Iterations;
            }
            if limits.seconds.is_some_and(|most| start.elapsed().as_secs_f64() >= most) {
                break End::Seconds;
            }
            match self.choose() {
                Some(choice) => self.perform(&choice),
                None if self.led => {
                    self.led = false;
                    continue;
                }
                None => break End::Finished,
            }
            watch.advance(1);
        };
        Ok(self.finish(end))
    }

    /// Makes candidates of a masked value.
    fn open(&mut self, attribute: usize, value: u32) {
        let state = &mut self.states[attribute];
        if state.shape == Shape::Suppression {
            if value == 0 && self.benefit.beneficial(&state.hidden) {
                for code in state.hidden_codes(attribute, &self.benefit) {
                    let gain = self.benefit.of_disclosure(attribute, code, &self.states[attribute].hidden);
                    self.add(attribute, 0, Some(code), gain);
                }
            }
        } else if let Some(gain) = state.prepare(attribute, value, &self.benefit) {
            self.add(attribute, value, None, gain);
        }
    }

    fn add(&mut self, attribute: usize, value: u32, code: Option<u32>, gain: f64) {
        let of = &mut self.candidate_of[attribute];
        let place = code.unwrap_or(value) as usize;
        if of.len() <= place {
            of.resize(place + 1, NONE);
        }
        of[place] = self.candidates.len() as u32;
        let least = vec![u32::MAX; self.qids_of[attribute].len()];
        self.candidates.push(Candidate { attribute, value, code, gain, least, alive: true });
    }

    fn close(&mut self, at: usize) {
        let Candidate { attribute, value, code, .. } = self.candidates[at];
        self.candidates[at].alive = false;
        self.candidate_of[attribute][code.unwrap_or(value) as usize] = NONE;
    }

    /// The valid candidates; invalid ones are dropped, for they never become valid again.
    fn choices(&mut self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for at in 0..self.candidates.len() {
            let candidate = &self.candidates[at];
            if !candidate.alive {
                continue;
            }
            let own = self.qids_of[candidate.attribute].iter().zip(&candidate.least);
            let (mut lost, mut deciding, mut valid) = (0u64, 0u64, true);
            for (&qid, least) in own.filter(|(qid, _)| self.decides(**qid)) {
                let after = self.anonymity[qid].min(*least);
                lost += u64::from(self.anonymity[qid] - after);
                deciding += 1;
                valid &= after >= self.qids[qid].k;
            }
            if !valid {
                // What the leading one forbids may be valid without it.
                if !self.led {
                    self.close(at);
                }
                continue;
            }
            let loss = lost as f64 / deciding as f64;
            choices.push(Choice { at, loss, score: candidate.gain / (loss + 1.0) });
        }
        choices
    }

    /// The best valid candidate.
    fn choose(&mut self) -> Option<Choice> {
        let choices = self.choices();
        let rank = |choice: &Choice| match self.benefit.goal {
            Goal::Gain => self.candidates[choice.at].gain,
            Goal::Score | Goal::Loss => choice.score,
        };
        let most = choices.iter().map(rank).reduce(f64::max)?;
        let order = |choice: &Choice| {
            let Candidate { attribute, value, code, .. } = self.candidates[choice.at];
            let low = code.unwrap_or(self.states[attribute].values[value as usize].low);
            (self.problem.attributes[attribute].place, low)
        };
        choices.into_iter().filter(|choice| rank(choice) >= most - CLOSE * most.abs()).min_by_key(order)
    }

    /// What a candidate refines its value into.
    fn children(&self, at: usize) -> Vec<u32> {
        let Candidate { attribute, value, code, .. } = self.candidates[at];
        match code {
            None => self.states[attribute].values[value as usize].children.clone(),
            Some(code) => vec![1 + code, 0],
        }
    }

    fn perform(&mut self, choice: &Choice) {
        let Candidate { attribute, value, code, .. } = self.candidates[choice.at];
        let children = self.children(choice.at);
        let mut step = self.step(choice);
        let slot = &self.states[attribute].slot;
        let side = match code {
            None => slot.clone(),
            Some(code) => (0..slot.len() as u32).map(|other| u32::from(other != code)).collect(),
        };
        let deal = Deal { attribute, value, children: &children, side: &side };
        let pieces = self.leaves.refine(&self.rows, &deal);
        for (groups, qid) in self.groups.iter_mut().zip(&self.qids) {
            if let Some(groups) = groups {
                groups.follow(&pieces, qid.contains(attribute));
            }
        }
        self.close(choice.at);
        match code {
            Some(code) => self.disclose(attribute, code),
            None => {
                self.states[attribute].values[value as usize].refined = true;
                children.iter().for_each(|child| self.open(attribute, *child));
            }
        }
        let mut qids = self.qids_of[attribute].clone();
        // Who led before leads no more; who may come later is counted all along.
        qids.retain(|qid| self.led || *qid < self.asked);
        let mut affected: Vec<usize> =
            qids.iter().flat_map(|qid| self.qids[*qid].attributes.iter().copied()).collect();
        affected.sort_unstable();
        affected.dedup();
        affected.retain(|attribute| self.candidate_of[*attribute].iter().any(|at| *at != NONE));
        self.count(&pieces, &affected, &qids);
        step.anonymity = self.anonymity[..self.asked].to_vec();
        self.trace.push(step);
    }

    /// A refinement as it is told; the anonymity is what it would leave.
    fn step(&self, choice: &Choice) -> Step {
        let Candidate { attribute, value, gain, .. } = self.candidates[choice.at];
        let mut anonymity = self.anonymity.clone();
        for (&qid, least) in self.qids_of[attribute].iter().zip(&self.candidates[choice.at].least) {
            anonymity[qid] = anonymity[qid].min(*least);
        }
        anonymity.truncate(self.asked);
        let into = self.children(choice.at);
        Step {
            attribute: self.problem.attributes[attribute].name.clone(),
            refined: self.label(attribute, value),
            into: into.iter().map(|child| self.label(attribute, *child)).collect(),
            gain,
            loss: choice.loss,
            score: choice.score,
            anonymity,
        }
    }

    /// Takes a value out of the hidden ones and measures the gains of the others anew.
    fn disclose(&mut self, attribute: usize, code: u32) {
        let state = &mut self.states[attribute];
        state.disclose(attribute, code, &self.benefit);
        let beneficial = self.benefit.beneficial(&state.hidden);
        for at in 0..self.candidates.len() {
            let Candidate { attribute: own, code, alive, .. } = self.candidates[at];
            let (Some(code), true) = (code, alive && own == attribute) else { continue };
            if beneficial {
                let hidden = &self.states[attribute].hidden;
                self.candidates[at].gain = self.benefit.of_disclosure(attribute, code, hidden);
            } else {
                self.close(at);
            }
        }
    }

    /// Counts new leaves, for the candidates of some attributes and for some quasi-identifiers.
    fn count(&mut self, pieces: &[Piece], affected: &[usize], qids: &[usize]) {
        let counter = Counter {
            rows: &self.rows,
            leaves: &self.leaves,
            states: &self.states,
            candidates: &self.candidate_of,
            count: self.candidates.len(),
            affected,
            beyond: self.beyond.as_ref(),
        };
        let counts = counter.count(pieces);
        let least = in_parallel(qids, |qid| match &self.groups[qid] {
            None => counter.least_of_leaves(pieces, &counts),
            Some(groups) => counter.least_of_groups(&self.qids[qid], &groups.of_leaf, pieces, &counts),
        });
        for (&qid, (of_candidates, of_combinations)) in qids.iter().zip(least) {
            self.anonymity[qid] = self.anonymity[qid].min(of_combinations);
            for (candidate, least) in self.candidates.iter_mut().zip(of_candidates) {
                if let Some(place) = self.qids_of[candidate.attribute].iter().position(|own| *own == qid) {
                    candidate.least[place] = candidate.least[place].min(least);
                }
            }
        }
        for at in counts.into_iter().flat_map(|counts| counts.refused) {
            if self.candidates[at as usize].alive {
                self.close(at as usize);
            }
        }
    }

    fn label(&self, attribute: usize, value: u32) -> String {
        let state = &self.states[attribute];
        let domain = &self.problem.attributes[attribute].domain;
        let value = &state.values[value as usize];
        domain.half_open_cell(value.low, value.high)
    }

    fn finish(mut self, end: End) -> Outcome {
        self.qids.truncate(self.asked);
        let open = self.choices().iter().map(|choice| self.step(choice)).collect();
        let mut records = Vec::with_capacity(self.problem.len());
        let mut sizes = Vec::with_capacity(self.leaves.leaves.len());
        for leaf in 0..self.leaves.leaves.len() as u32 {
            let before = records.len();
            self.rows.extend_with_records(self.leaves.rows(leaf), &mut records);
            sizes.push(records.len() - before);
        }
        let ends = (0..self.states.len())
            .map(|attribute| {
                let values = &self.states[attribute].values;
                (0..self.leaves.leaves.len() as u32)
                    .map(|leaf| &values[self.leaves.masks(leaf)[attribute] as usize])
                    .map(|value| (value.low, value.high))
                    .collect()
            })
            .collect();
        Outcome {
            partition: Partition::from_sizes(records, sizes),
            boxes: Boxes { ends, half_open: true },
            qids: self.qids,
            trace: self.trace,
            end,
            open,
            masks: self.states.iter().map(super::masks::of).collect(),
        }
    }
}
