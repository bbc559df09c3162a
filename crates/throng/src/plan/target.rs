//! Given a utility target, the best privacy: the largest k that loses no more.
//!
//! One of the two questions that end Xu et al. 2006. `max_gcp` bounds the loss of the release, `max_query_error` the mean
//! error of 1,000 COUNT queries drawn over all quasi-identifiers, or of the queries of a file. Any method is run at one k after the other: k is
//! doubled while the target is met, then the gap is halved until it is closed. Loss need not grow with every step of k,
//! so a larger k beyond the first one that failed might meet the target by chance; it is not looked for. All that was
//! tried is reported.
//!
//! Cost: about 2·log₂ k runs of the method.

use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::evaluate::queries;
use crate::loss::{Extent, Kernel};
use crate::method::facts::{Frontier, FrontierStep};
use crate::method::{Boxes, Fact, Method, Recoding, Solution};
use crate::policy::Policy;
use crate::privacy::OwnQueries;
use crate::problem::{People, Problem};
use crate::watch::Watch;
use crate::with_matrix;
use crate::workload::{COUNT_QUERIES, COUNT_SEED};

/// What a release may lose.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its global certainty penalty, at most.
    pub max_gcp: Option<f64>,
    /// The mean error of COUNT queries, at most.
    pub max_query_error: Option<f64>,
    /// The queries, unless they are drawn.
    pub queries: Option<OwnQueries>,
}

/// The target of a policy, if it has one.
pub fn of(policy: &Policy) -> Option<Target> {
    let (max_gcp, max_query_error) = (policy.privacy.max_gcp(), policy.privacy.max_query_error());
    (max_gcp.is_some() || max_query_error.is_some()).then(|| Target {
        max_gcp,
        max_query_error,
        queries: policy.privacy.own_queries().cloned(),
    })
}

/// The best privacy that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The largest k that met the target.
    pub k: usize,
    /// What the method found for it.
    pub solution: Solution,
    /// All that was tried, by k.
    pub steps: Vec<FrontierStep>,
}

impl Target {
    /// Looks for the largest k, at least that of the policy, for which a method meets the target.
    pub fn best_privacy(
        &self,
        problem: &Problem,
        policy: &Policy,
        method: &dyn Method,
        watch: &dyn Watch,
    ) -> Result<Found> {
        let mut trial = problem.clone();
        let mut steps: Vec<FrontierStep> = Vec::new();
        let mut attempt = |k: usize| -> Result<(FrontierStep, Solution)> {
            watch.check()?;
            let mut privacy = policy.privacy.clone();
            privacy.set_k(k);
            trial.require(&privacy);
            let solution = method.solve(&trial, watch)?;
            let step = self.measure(&trial, &solution, k)?;
            steps.push(step);
            Ok((step, solution))
        };
        let mut most = policy.privacy.k().unwrap_or(1);
        let (first, mut best) = attempt(most)?;
        if !first.met {
            return Err(self.out_of_reach(&first));
        }
        let largest = problem.people.as_ref().map_or(problem.len(), People::count);
        let mut failed = largest + 1;
        while failed - most > 1 {
            // Doubled until something fails, then halfway.
            let next = if failed > largest { (2 * most).min(largest) } else { most.midpoint(failed) };
            let (step, solution) = attempt(next)?;
            if step.met {
                (most, best) = (next, solution);
            } else {
                failed = next;
            }
        }
        steps.arrange_by_key(|step| step.k);
        Ok(Found { k: most, solution: best, steps })
    }

    fn measure(&self, problem: &Problem, solution: &Solution, k: usize) -> Result<FrontierStep> {
        let gcp = gcp(problem, solution);
        let measure = |_| match &self.queries {
            Some(own) => queries::mean_error_of(problem, solution, own),
            None => queries::mean_error(problem, solution, COUNT_QUERIES, COUNT_SEED),
        };
        let query_error = self.max_query_error.map(measure).transpose()?;
        let within = |value: f64, most: Option<f64>| most.is_none_or(|most| value <= most);
        let met = within(gcp, self.max_gcp) && within(query_error.unwrap_or(0.0), self.max_query_error);
        Ok(FrontierStep { k, gcp, query_error, met })
    }

    fn out_of_reach(&self, first: &FrontierStep) -> Error {
        let error = first
            .query_error
            .map_or(String::new(), |error| format!(" and the mean error of queries {error:.4}"));
        Error::new(
            ErrorCode::TargetUnreachable,
            format!(
                "the utility target cannot be met: already at k = {} the loss is {:.4}{error}",
                first.k, first.gcp
            ),
        )
        .with_hint("raise max_gcp or max_query_error, lower k, or try another method")
    }

    fn in_words(&self) -> String {
        let parts = [
            self.max_gcp.map(|most| format!("a loss of at most {most}")),
            self.max_query_error.map(|most| format!("a mean error of queries of at most {most}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}

impl Found {
    /// The solution, with the fact of how it was found.
    pub fn into_solution(self, target: &Target) -> Solution {
        let mut solution = self.solution;
        solution.facts.push(Fact::Frontier(Frontier {
            asked: target.in_words(),
            k: self.k,
            steps: self.steps,
        }));
        solution
    }
}

/// The global certainty penalty of a solution; a suppressed record loses everything.
pub fn gcp(problem: &Problem, solution: &Solution) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    let of_box = |group: usize, boxes: &Boxes| -> f64 {
        let ends = boxes.ends.iter().enumerate();
        ends.map(|(at, ends)| kernel.penalty(at, ends[group].0 as usize, ends[group].1 as usize)).sum()
    };
    let groups = solution.partition.groups().enumerate();
    let published: f64 = with_matrix!(&problem.records, matrix => groups
        .map(|(at, group)| {
            let penalty = match &solution.recoding {
                Recoding::Boxes(boxes) | Recoding::Masks { boxes, .. } => of_box(at, boxes),
                Recoding::Tight | Recoding::Cells(_) => kernel.ncp(&Extent::around(matrix, group)),
            };
            group.len() as f64 * penalty
        })
        .sum());
    let lost = solution.suppressed.len() as f64 * problem.total_weight();
    (published + lost) / (problem.len() as f64 * problem.total_weight())
}
