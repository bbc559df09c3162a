//! The search: perform the best refinement until none is valid and beneficial.

use std::time::Instant;

use super::benefit::{Benefit, Goal};
use super::classes;
use super::counting::Candidates;
use super::leaves::Deal;
use super::part::{Known, Part};
use super::quasi::Qid;
use super::state::{NONE, Shape, State};
use super::trace::{End, Step, Why};
use super::{Anonymity, Children, Limits, Outcome};
use crate::error::Result;
use crate::parallel;
use crate::privacy::Judge;
use crate::problem::Problem;
use crate::watch::Watch;

/// Scores this close, relative to the higher one, count as equal.
const CLOSE: f64 = 1e-10;

/// A refinement that may still be made.
struct Candidate {
    attribute: usize,
    /// The masked value.
    value: u32,
    into: Into,
    gain: f64,
    alive: bool,
}

/// What a masked value is refined into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    /// All its children.
    Children,
    /// One of the codes it hides, and the others.
    Code(u32),
    /// One of its children, and the others together under its own name.
    Child(u32),
}

/// A candidate with what it costs.
struct Choice {
    at: usize,
    loss: f64,
    score: f64,
}

pub(super) struct Search<'a> {
    problem: &'a Problem,
    benefit: Benefit,
    /// The quasi-identifiers; those asked for first, then the one that leads.
    parts: Vec<Part>,
    /// The quasi-identifiers of each attribute.
    parts_of: Vec<Vec<usize>>,
    states: Vec<State>,
    candidates: Vec<Candidate>,
    candidate_of: Candidates,
    beyond: Option<Judge<'a>>,
    trace: Vec<Step>,
    /// How many of the quasi-identifiers are asked for; one more may lead.
    asked: usize,
    /// Whether the one that leads is all that counts for now.
    led: bool,
    /// How anonymity that is lost counts.
    anonymity: Anonymity,
    /// Into which of its children a value may be refined.
    children: Children,
    /// Why the first refinement of each attribute was refused.
    refused: Vec<Option<Why>>,
}

impl<'a> Search<'a> {
    /// A search that keeps some quasi-identifiers safe. Where one leads, it is kept safe as well until nothing more can
    /// be refined, and then given up.
    pub fn new(problem: &'a Problem, goal: Goal, mut qids: Vec<Qid>, lead: Option<Qid>) -> Self {
        let (asked, led) = (qids.len(), lead.is_some());
        qids.extend(lead);
        let benefit = Benefit::new(problem, goal);
        let width = problem.attributes.len();
        let parts_of = (0..width)
            .map(|attribute| (0..qids.len()).filter(|at| qids[*at].contains(attribute)).collect())
            .collect();
        let beyond = Judge::beyond_size(problem);
        let states =
            problem.attributes.iter().enumerate().map(|(at, own)| State::new(at, own, &benefit)).collect();
        // What is asked beyond size is asked of classes, which are the combinations of all attributes.
        let whole = qids.iter().position(|qid| qid.attributes.len() == width).filter(|_| beyond.is_some());
        let part = |(at, qid): (usize, Qid)| Part::new(problem, qid, whole == Some(at));
        Search {
            problem,
            benefit,
            parts: parallel::map(qids.into_iter().enumerate(), part),
            parts_of,
            states,
            candidates: Vec::new(),
            candidate_of: vec![Vec::new(); width],
            beyond,
            trace: Vec::new(),
            asked,
            led,
            anonymity: Anonymity::Records,
            children: Children::All,
            refused: vec![None; width],
        }
    }

    /// The same with anonymity that is lost counted in a way.
    pub fn counting(self, anonymity: Anonymity) -> Self {
        Search { anonymity, ..self }
    }

    /// The same with values refined into some of their children where all of them are too many.
    pub fn into(self, children: Children) -> Self {
        Search { children, ..self }
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
        self.count(None);
        let end = loop {
            if watch.take_stop() {
                break End::Stopped;
            }
            watch.check()?;
            if self.trace.len() as u64 >= limits.iterations {
                break End::Iterations;
            }
            if limits.seconds.is_some_and(|most| start.elapsed().as_secs_f64() >= most) {
                break End::Seconds;
            }
            if !self.advance() {
                break End::Finished;
            }
            watch.advance(1);
        };
        Ok(self.finish(end))
    }

    /// Performs the best refinements up to one that is seen; tells whether there was any.
    fn advance(&mut self) -> bool {
        let told = self.trace.len();
        while self.trace.len() == told {
            match self.choose() {
                Some(choice) => self.perform(&choice),
                None if self.led => {
                    self.led = false;
                    self.parts.truncate(self.asked);
                }
                None => return false,
            }
        }
        true
    }

    /// Makes candidates of a masked value.
    fn open(&mut self, attribute: usize, value: u32) {
        let state = &mut self.states[attribute];
        if state.shape == Shape::Suppression {
            if value == 0 && self.benefit.beneficial(&state.hidden) {
                for code in state.hidden_codes(attribute, &self.benefit) {
                    let gain = self.benefit.of_disclosure(attribute, code, &self.states[attribute].hidden);
                    self.add(attribute, 0, Into::Code(code), gain);
                }
            }
        } else if let Some(gain) = state.prepare(attribute, value, &self.benefit) {
            self.add(attribute, value, Into::Children, gain);
            self.open_children(attribute, value);
        }
    }

    /// Makes candidates of the single children of a value. Of two, none can be told without the other.
    fn open_children(&mut self, attribute: usize, value: u32) {
        let state = &self.states[attribute];
        let children = &state.values[value as usize].children;
        if self.children == Children::All || state.shape != Shape::Taxonomy || children.len() < 3 {
            return;
        }
        for child in children.clone() {
            let gain = self.gain_of_child(attribute, value, child);
            self.add(attribute, value, Into::Child(child), gain);
        }
    }

    fn gain_of_child(&self, attribute: usize, value: u32, child: u32) -> f64 {
        let state = &self.states[attribute];
        let ends = |value: u32| {
            let own = &state.values[value as usize];
            (own.low, own.high)
        };
        let rest = state.rest(attribute, value, &self.benefit);
        self.benefit.of_release(attribute, ends(value), ends(child), &rest)
    }

    /// Where a candidate is listed among those of its attribute.
    fn place(&self, attribute: usize, value: u32, into: Into) -> usize {
        let place = match into {
            Into::Children => value,
            Into::Code(code) => code,
            Into::Child(child) => self.states[attribute].place_of_child(child),
        };
        place as usize
    }

    fn add(&mut self, attribute: usize, value: u32, into: Into, gain: f64) {
        let place = self.place(attribute, value, into);
        let of = &mut self.candidate_of[attribute];
        if of.len() <= place {
            of.resize(place + 1, NONE);
        }
        of[place] = self.candidates.len() as u32;
        self.states[attribute].values[value as usize].open += 1;
        self.candidates.push(Candidate { attribute, value, into, gain, alive: true });
    }

    fn close(&mut self, at: usize) {
        let Candidate { attribute, value, into, .. } = self.candidates[at];
        let place = self.place(attribute, value, into);
        self.candidates[at].alive = false;
        self.states[attribute].values[value as usize].open -= 1;
        self.candidate_of[attribute][place] = NONE;
    }

    /// Whether a candidate has its turn: single children only when all of them together are refused.
    fn has_turn(&self, candidate: &Candidate) -> bool {
        let whole = || self.candidate_of[candidate.attribute][candidate.value as usize];
        match candidate.into {
            Into::Child(_) => !self.led && whole() == NONE,
            _ => true,
        }
    }

    /// The valid candidates; invalid ones are dropped, for they never become valid again.
    fn choices(&mut self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for at in 0..self.candidates.len() {
            let candidate = &self.candidates[at];
            if !candidate.alive {
                continue;
            }
            let (mut lost, mut price, mut deciding) = (0u64, 0.0, 0u64);
            let mut invalid: Option<(usize, u32)> = None;
            for &qid in self.parts_of[candidate.attribute].iter().filter(|qid| self.decides(**qid)) {
                let part = &self.parts[qid];
                let after = part.anonymity_after(at);
                lost += u64::from(part.anonymity - after);
                price += f64::from(part.anonymity - after + 1) / f64::from(part.anonymity.max(1));
                deciding += 1;
                if after < part.qid.k && invalid.is_none() {
                    invalid = Some((qid, after));
                }
            }
            if let Some((qid, records)) = invalid {
                // What the leading one forbids may be valid without it.
                if !self.led {
                    self.refuse(at, Why::TooFew { quasi_identifier: qid, records });
                    self.close(at);
                }
                continue;
            }
            if !self.has_turn(&self.candidates[at]) {
                continue;
            }
            let candidate = &self.candidates[at];
            let loss = lost as f64 / deciding as f64;
            let score = match self.anonymity {
                Anonymity::Records => candidate.gain / (loss + 1.0),
                Anonymity::Share => candidate.gain * deciding as f64 / price,
            };
            choices.push(Choice { at, loss, score });
        }
        choices
    }

    /// Notes why a refinement of all that an attribute hides is refused; of several, the one that came nearest.
    fn refuse(&mut self, at: usize, why: Why) {
        let Candidate { attribute, value, .. } = self.candidates[at];
        if value == 0 && self.refused[attribute].is_none_or(|before| why.is_nearer_than(before)) {
            self.refused[attribute] = Some(why);
        }
    }

    /// Why attributes that are masked as a whole stayed so.
    fn stayed(&self, end: End) -> Vec<(usize, Why)> {
        let whole =
            |at: &usize| !self.states[*at].tells_any() && self.problem.attributes[*at].domain.len() > 1;
        let open = |at: usize| self.candidates.iter().any(|own| own.alive && own.attribute == at);
        let why = |at: usize| match self.refused[at] {
            Some(why) => why,
            None if open(at) && end != End::Finished => Why::Ended,
            None => Why::NothingToGain,
        };
        (0..self.states.len()).filter(whole).map(|at| (at, why(at))).collect()
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
            let Candidate { attribute, value, into, .. } = self.candidates[choice.at];
            let low_of = |value: u32| self.states[attribute].values[value as usize].low;
            let low = match into {
                Into::Children => low_of(value),
                Into::Code(code) => code,
                Into::Child(child) => low_of(child),
            };
            (self.problem.attributes[attribute].place, low)
        };
        choices.into_iter().filter(|choice| rank(choice) >= most - CLOSE * most.abs()).min_by_key(order)
    }

    /// What a candidate refines its value into.
    fn children(&self, at: usize) -> Vec<u32> {
        let Candidate { attribute, value, into, .. } = self.candidates[at];
        match into {
            Into::Children => self.states[attribute].values[value as usize].children.clone(),
            Into::Code(code) => vec![1 + code, 0],
            Into::Child(child) => vec![child, value],
        }
    }

    /// On which side of a refinement each code of its value goes.
    fn sides(&self, at: usize) -> Vec<u32> {
        let Candidate { attribute, into, .. } = self.candidates[at];
        let State { slot, values, .. } = &self.states[attribute];
        let outside = |low: u32, high: u32| move |code: u32| u32::from(code < low || code > high);
        let codes = 0..slot.len() as u32;
        match into {
            Into::Children => slot.clone(),
            Into::Code(code) => codes.map(outside(code, code)).collect(),
            Into::Child(child) => {
                let own = &values[child as usize];
                codes.map(outside(own.low, own.high)).collect()
            }
        }
    }

    fn perform(&mut self, choice: &Choice) {
        let Candidate { attribute, value, into, .. } = self.candidates[choice.at];
        let children = self.children(choice.at);
        let side = self.sides(choice.at);
        let mut step = self.step(choice);
        self.close(choice.at);
        match into {
            Into::Code(code) => self.disclose(attribute, code),
            Into::Child(child) => self.release(attribute, value, child),
            Into::Children => {
                self.close_children(attribute, value);
                self.states[attribute].values[value as usize].refined = true;
                children.iter().for_each(|child| self.open(attribute, *child));
            }
        }
        self.count(Some(&Deal { attribute, value, children: &children, side: &side }));
        step.anonymity = self.parts[..self.asked].iter().map(|part| part.anonymity).collect();
        if step.shows() {
            self.trace.push(step);
        }
    }

    /// Candidates of single children of a value that are alive.
    fn of_children(&self, attribute: usize, value: u32) -> Vec<(usize, u32)> {
        let state = &self.states[attribute];
        let of = |child: u32| {
            let at = self.candidate_of[attribute].get(state.place_of_child(child) as usize)?;
            (*at != NONE).then_some((*at as usize, child))
        };
        match state.shape {
            Shape::Taxonomy => state.values[value as usize].kept().filter_map(of).collect(),
            _ => Vec::new(),
        }
    }

    fn close_children(&mut self, attribute: usize, value: u32) {
        self.of_children(attribute, value).into_iter().for_each(|(at, _)| self.close(at));
    }

    /// Tells a child by itself and measures the gains of the others anew.
    fn release(&mut self, attribute: usize, value: u32, child: u32) {
        self.states[attribute].values[value as usize].released.push(child);
        let rest = self.states[attribute].rest(attribute, value, &self.benefit);
        if self.benefit.beneficial(&rest) {
            for (at, other) in self.of_children(attribute, value) {
                self.candidates[at].gain = self.gain_of_child(attribute, value, other);
            }
        } else {
            self.close_children(attribute, value);
        }
        self.open(attribute, child);
    }

    /// A refinement as it is told; the anonymity is what it would leave.
    fn step(&self, choice: &Choice) -> Step {
        let Candidate { attribute, value, gain, .. } = self.candidates[choice.at];
        let after = |part: &Part| match part.qid.contains(attribute) {
            true => part.anonymity_after(choice.at),
            false => part.anonymity,
        };
        let into = self.children(choice.at);
        Step {
            attribute: self.problem.attributes[attribute].name.clone(),
            refined: self.label(attribute, value),
            into: into.iter().map(|child| self.label(attribute, *child)).collect(),
            gain,
            loss: choice.loss,
            score: choice.score,
            anonymity: self.parts[..self.asked].iter().map(after).collect(),
        }
    }

    /// Takes a value out of the hidden ones and measures the gains of the others anew.
    fn disclose(&mut self, attribute: usize, code: u32) {
        let state = &mut self.states[attribute];
        state.disclose(attribute, code, &self.benefit);
        let beneficial = self.benefit.beneficial(&state.hidden);
        for at in 0..self.candidates.len() {
            let Candidate { attribute: own, into, alive, .. } = self.candidates[at];
            let (Into::Code(code), true) = (into, alive && own == attribute) else { continue };
            if beneficial {
                let hidden = &self.states[attribute].hidden;
                self.candidates[at].gain = self.benefit.of_disclosure(attribute, code, hidden);
            } else {
                self.close(at);
            }
        }
    }

    /// Lets the quasi-identifiers that hold a refined attribute follow, all of them at first, and counts their new leaves.
    fn count(&mut self, deal: Option<&Deal<'_>>) {
        let known = Known {
            states: &self.states,
            candidates: &self.candidate_of,
            count: self.candidates.len(),
            beyond: self.beyond.as_ref(),
        };
        let follow = |part: &mut Part| match deal {
            None => part.begin(&known),
            Some(deal) => part.refine(deal, &known),
        };
        let refused: Vec<Vec<u32>> = parallel::map(&mut self.parts, follow);
        for at in refused.into_iter().flatten() {
            if self.candidates[at as usize].alive {
                self.refuse(at as usize, Why::Beyond);
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
        let open = self.choices().iter().map(|choice| self.step(choice)).filter(Step::shows).collect();
        let stayed = self.stayed(end);
        self.parts.truncate(self.asked);
        let (partition, boxes) = classes::of(self.problem, &self.states, &self.parts);
        Outcome {
            partition,
            boxes,
            qids: self.parts.into_iter().map(|part| part.qid).collect(),
            trace: self.trace,
            end,
            open,
            masks: self.states.iter().map(super::masks::of).collect(),
            stayed,
            tried: Vec::new(),
        }
    }
}
