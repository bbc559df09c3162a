//! What one way gives in several tables of one setting.
//!
//! One table is a draw itself: if by chance neighbours have the most frequent value, every method seems to tell that, the
//! one that groups at random too. So figures are means over several tables.

use throng::attack::Attack;

use super::{Outcome, Way};

/// The head of a table of summaries.
pub const HEAD: &str = "| way | GCP | classes | farthest member (control) | dearest tenth (chance) | z² of 10 / 100 / 300 (control) | above chance |\n\
     | --- | --- | --- | --- | --- | --- | --- |";

/// The outcomes of one way in several tables.
#[derive(Clone, Debug, Default)]
pub struct Summary(pub Vec<Outcome>);

impl Summary {
    fn mean(&self, of: impl Fn(&Outcome) -> f64) -> f64 {
        self.0.iter().map(of).sum::<f64>() / self.0.len().max(1) as f64
    }

    /// The standard error of a mean over tables.
    fn error(&self, of: impl Fn(&Outcome) -> f64) -> f64 {
        let (mean, count) = (self.mean(&of), self.0.len() as f64);
        let squares: f64 = self.0.iter().map(|own| (of(own) - mean).powi(2)).sum();
        (squares / (count - 1.0).max(1.0) / count.max(1.0)).sqrt()
    }

    /// The mean loss.
    pub fn gcp(&self) -> f64 {
        self.mean(|own| own.gcp)
    }

    /// Mean hits of the farthest member above chance, in standard errors of chance.
    pub fn lift(&self) -> f64 {
        let variance: f64 = self.0.iter().map(|own| own.attack.farthest.error.powi(2)).sum();
        let above: f64 = self.0.iter().map(|own| own.attack.farthest.hits - own.attack.farthest.chance).sum();
        above / variance.sqrt().max(f64::EPSILON)
    }

    /// The mean of z² over windows of one length, by its place among lengths.
    pub fn z2(&self, length: usize) -> f64 {
        self.mean(|own| own.attack.windows[length].mean)
    }

    /// In how many tables some figure was above chance.
    pub fn above_chance(&self) -> usize {
        self.0.iter().filter(|own| !own.attack.is_within_noise()).count()
    }

    /// One line of the table.
    pub fn line(&self, way: &Way) -> String {
        let Some(Outcome { attack: Attack { windows, .. }, .. }) = self.0.first() else {
            return String::new();
        };
        let window = |at: usize| {
            let control = self.mean(|own| own.attack.windows[at].control.mean);
            let error = self.error(|own| own.attack.windows[at].mean);
            format!("{:.2} ± {:.2} ({:.2})", self.z2(at), error, control)
        };
        let squares: Vec<String> = (0..windows.len()).map(window).collect();
        format!(
            "| {} | {:.4} | {:.0} | {:.3} ({:.3} ± {:.3}) | {:.2} ({:.2}) | {} | {} of {} |",
            way.name,
            self.gcp(),
            self.mean(|own| own.attack.classes as f64),
            self.mean(|own| own.attack.farthest.hits),
            self.mean(|own| own.attack.farthest.control.mean),
            self.mean(|own| own.attack.farthest.error) / (self.0.len() as f64).sqrt(),
            self.mean(|own| own.attack.farthest.dearest_hits),
            self.mean(|own| own.attack.farthest.dearest_chance),
            squares.join(" / "),
            self.above_chance(),
            self.0.len()
        )
    }
}
