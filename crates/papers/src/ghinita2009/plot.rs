//! Figures and the claims that are read from them.

use throng::report::{Block, Chart, Claim, Section, Series, Unit, Verdict};

/// What the reproduction tells.
#[derive(Default)]
pub struct Plots {
    pub sections: Vec<Section>,
    pub claims: Vec<Claim>,
    /// What we ask of ourselves, beyond what the paper claims.
    pub further: Vec<Claim>,
}

/// A figure: a value per place and series.
pub struct Figure {
    title: String,
    across: &'static str,
    places: Vec<String>,
    names: Vec<String>,
    values: Vec<Vec<Option<f64>>>,
    unit: Unit,
    log: bool,
}

impl Figure {
    pub fn new(title: &str, across: &'static str, unit: Unit) -> Self {
        let title = title.to_owned();
        Figure { title, across, places: Vec::new(), names: Vec::new(), values: Vec::new(), unit, log: false }
    }

    /// Equal distances are equal ratios.
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Sets the value of a series at a place; both are added as they come.
    pub fn set(&mut self, place: &str, name: &str, value: f64) {
        *self.value(place, name) = Some(value);
    }

    /// Adds to the value of a series at a place.
    pub fn add(&mut self, place: &str, name: &str, more: f64) {
        let value = self.value(place, name);
        *value = Some(value.unwrap_or(0.0) + more);
    }

    fn value(&mut self, place: &str, name: &str) -> &mut Option<f64> {
        let at = self.places.iter().position(|known| known == place).unwrap_or_else(|| {
            self.places.push(place.to_owned());
            self.places.len() - 1
        });
        let series = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.values.push(Vec::new());
            self.names.len() - 1
        });
        let values = &mut self.values[series];
        values.resize(self.places.len().max(values.len()), None);
        &mut values[at]
    }

    /// The values of a series where it has any.
    pub fn of(&self, name: &str) -> Vec<f64> {
        let at = self.names.iter().position(|known| known == name);
        at.map_or(Vec::new(), |at| self.values[at].iter().flatten().copied().collect())
    }

    fn told(&self, names: &[&str]) -> String {
        let rounded = |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.4}") };
        let one = |name: &&str| {
            let values: Vec<String> = self.of(name).into_iter().map(rounded).collect();
            format!("{name} {}", values.join(" / "))
        };
        let places = self.places.join(", ");
        format!("{} = {places}: {}", self.across, names.iter().map(one).collect::<Vec<_>>().join("; "))
    }

    fn block(self) -> Block {
        let series = self.names.into_iter().zip(self.values).map(|(name, mut values)| {
            values.resize(self.places.len(), None);
            Series { name, values }
        });
        Block::Lines(Chart {
            title: self.title,
            words: String::new(),
            across: self.across.to_owned(),
            places: self.places.clone(),
            series: series.collect(),
            unit: self.unit,
            log: self.log,
        })
    }
}

impl Plots {
    /// Claims that one series is below another wherever both have a value.
    pub fn below(&mut self, text: &str, figure: &Figure, low: &str, high: &str) {
        let pairs: Vec<(f64, f64)> = figure.of(low).into_iter().zip(figure.of(high)).collect();
        let well = pairs.iter().filter(|(low, high)| low < high).count();
        self.claim(text, Verdict::of(well, pairs.len()), figure.told(&[low, high]));
    }

    /// As [`Self::below`], of what is no claim of the paper.
    pub fn further_below(&mut self, text: &str, figure: &Figure, low: &str, high: &str) {
        self.below(text, figure, low, high);
        self.further.extend(self.claims.pop());
    }

    /// As [`Self::below`], but equal is good too.
    pub fn at_most(&mut self, text: &str, figure: &Figure, low: &str, high: &str) {
        let pairs: Vec<(f64, f64)> = figure.of(low).into_iter().zip(figure.of(high)).collect();
        let well = pairs.iter().filter(|(low, high)| *low <= high + 1e-9).count();
        self.claim(text, Verdict::of(well, pairs.len()), figure.told(&[low, high]));
    }

    pub fn claim(&mut self, text: &str, verdict: Verdict, evidence: String) {
        self.claims.push(Claim { text: text.to_owned(), verdict, evidence });
    }

    /// Adds figures under a heading.
    pub fn show(&mut self, heading: &str, words: &str, figures: Vec<Figure>) {
        let mut blocks: Vec<Block> = Vec::new();
        if !words.is_empty() {
            blocks.push(Block::Words(words.to_owned()));
        }
        blocks.extend(figures.into_iter().map(Figure::block));
        self.sections.push(Section { heading: heading.to_owned(), blocks });
    }
}
