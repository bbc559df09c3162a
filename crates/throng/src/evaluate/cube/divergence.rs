//! The divergence of one level of the cube.
//!
//! For each group-by the combinations that occur in the table are kept as a trie over its attributes, each combination
//! with the counts of its sensitive values. A class's box walks down only those branches that lie in it. So memory
//! follows the records, not the cube, and time what boxes and occurring combinations have in common. Group-bys are
//! computed in parallel, their outcomes added in order.

use crate::audit::Cell;
use crate::error::Result;
use crate::loss::Extent;
use crate::method::Partition;
use crate::parallel;
use crate::problem::Problem;
use crate::table::{Domain, Scale};
use crate::watch::Watch;
use crate::with_matrix;

/// What a Q of 0 counts as.
const FLOOR: f64 = 1e-12;

/// The codes that a class covers in one attribute, and over how many values a record is spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest code.
    pub low: u32,
    /// The highest code.
    pub high: u32,
    /// How many values it covers: whole numbers in between, or leaves.
    pub width: f64,
}

impl Range {
    /// What the cell for codes `low ..= high` covers.
    pub fn of_codes(domain: &Domain, low: u32, high: u32) -> Self {
        if low == high {
            return Range { low, high, width: 1.0 };
        }
        match domain.scale() {
            Scale::Categorical(tree) => {
                let leaves = tree.leaves_under(tree.ancestor(low as usize, high as usize));
                Range { low: leaves.start as u32, high: leaves.end as u32 - 1, width: leaves.len() as f64 }
            }
            Scale::Numeric { values, .. } if domain.missing() == Some(high) => {
                let all = Self::numbers(values, 0, values.len().saturating_sub(1));
                Range { low: 0, high, width: all.width + 1.0 }
            }
            Scale::Numeric { values, .. } => Self::numbers(values, low as usize, high as usize),
        }
    }

    /// What a published cell covers.
    pub fn of_cell(domain: &Domain, cell: &Cell) -> Self {
        match domain.scale() {
            Scale::Categorical(_) => {
                let (start, end) = cell.leaves;
                Range { low: start, high: end - 1, width: f64::from(end - start) }
            }
            Scale::Numeric { values, .. } => {
                let missing = domain.missing().filter(|_| cell.missing);
                let numbers = cell.range.and_then(|(low, high)| {
                    let first = values.partition_point(|value| *value < low);
                    let last = values.partition_point(|value| *value <= high);
                    (first < last).then(|| Self::numbers(values, first, last - 1))
                });
                match (numbers, missing) {
                    (Some(range), Some(code)) => Range { high: code, width: range.width + 1.0, ..range },
                    (Some(range), None) => range,
                    (None, code) => {
                        let code = code.unwrap_or(0);
                        Range { low: code, high: code, width: 1.0 }
                    }
                }
            }
        }
    }

    fn numbers(values: &[f64], low: usize, high: usize) -> Self {
        let whole = values.iter().all(|value| value.fract() == 0.0);
        let between = values.get(high).zip(values.get(low)).map_or(0.0, |(high, low)| high - low);
        let width = if whole { between + 1.0 } else { (high - low + 1) as f64 };
        Range { low: low as u32, high: high as u32, width }
    }
}

/// A class of a generalized release: its box, and how often each sensitive value occurs in it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What it covers in each attribute.
    pub ranges: Vec<Range>,
    /// Values and counts, values ascending.
    pub counts: Vec<(u32, f64)>,
}

/// A release as its recipients see it.
#[derive(Clone, Debug)]
pub enum View {
    /// Generalized.
    Boxes {
        /// The classes.
        shapes: Vec<Shape>,
        /// Records in them.
        published: usize,
    },
    /// Permuted.
    Rows {
        /// The codes of all rows, attribute by attribute.
        codes: Vec<Vec<u32>>,
        /// The group of each row.
        groups: Vec<u32>,
        /// Sensitive values of each group and their counts.
        counts: Vec<Vec<(u32, f64)>>,
    },
}

/// Values and how often each occurs, ascending.
pub fn counts(values: impl Iterator<Item = u32>) -> Vec<(u32, f64)> {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f64)).collect()
}

impl View {
    /// How a partition looks once it is generalized; the first sensitive attribute is counted.
    pub fn generalized(problem: &Problem, partition: &Partition) -> Self {
        let sensitive = &problem.sensitive[0].codes;
        let shapes = with_matrix!(&problem.records, matrix => partition.groups().map(|group| {
            let extent = Extent::around(matrix, group);
            let range = |(at, attribute): (usize, &crate::problem::Attribute)| {
                use crate::problem::Code;
                Range::of_codes(&attribute.domain, extent.low(at).index() as u32, extent.high(at).index() as u32)
            };
            Shape {
                ranges: problem.attributes.iter().enumerate().map(range).collect(),
                counts: counts(group.iter().map(|record| sensitive[*record as usize])),
            }
        }).collect());
        View::Boxes { shapes, published: partition.groups().map(<[u32]>::len).sum() }
    }

    /// How a partition looks once it is permuted; the first sensitive attribute is counted.
    pub fn permuted(problem: &Problem, partition: &Partition) -> Self {
        let sensitive = &problem.sensitive[0].codes;
        let records: Vec<u32> = partition.groups().flatten().copied().collect();
        let code =
            |at: usize| records.iter().map(|record| problem.records.code(*record as usize, at)).collect();
        View::Rows {
            codes: (0..problem.attributes.len()).map(code).collect(),
            groups: (0..)
                .zip(partition.groups())
                .flat_map(|(at, group)| group.iter().map(move |_| at))
                .collect(),
            counts: partition
                .groups()
                .map(|group| counts(group.iter().map(|record| sensitive[*record as usize])))
                .collect(),
        }
    }
}

/// The divergence of a level: the mean over all group-bys of so many attributes.
pub fn of_level(problem: &Problem, view: &View, level: usize, watch: &dyn Watch) -> Result<f64> {
    let subsets = subsets(problem.attributes.len(), level);
    let columns: Vec<Vec<u32>> = (0..problem.attributes.len())
        .map(|at| (0..problem.len()).map(|record| problem.records.code(record, at)).collect())
        .collect();
    let one = |subset: &Vec<usize>| {
        watch.check()?;
        let mut trie = Trie::new(problem, &columns, subset);
        match view {
            View::Boxes { shapes, published } => {
                let mut wanted = vec![0.0; problem.sensitive[0].domain.len()];
                for shape in shapes {
                    trie.spread(shape, &mut wanted);
                }
                Ok(trie.divergence(problem.len(), *published))
            }
            View::Rows { codes, groups, counts } => {
                trie.count_rows(codes, groups, counts);
                Ok(trie.divergence(problem.len(), groups.len()))
            }
        }
    };
    let divergences = parallel::try_map(&subsets, one)?;
    Ok(divergences.iter().sum::<f64>() / divergences.len().max(1) as f64)
}

/// All sets of `size` numbers below `count`, ascending.
fn subsets(count: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        let grow = |set: Vec<usize>| {
            let first = set.last().map_or(0, |last| last + 1);
            (first..count).map(move |next| set.iter().copied().chain([next]).collect())
        };
        all = all.into_iter().flat_map(grow).collect();
    }
    all
}

/// The combinations of some attributes that occur, and their sensitive values.
struct Trie {
    subset: Vec<usize>,
    /// Level by level the codes of all nodes, and where the children of each begin on the next level.
    codes: Vec<Vec<u32>>,
    children: Vec<Vec<u32>>,
    /// Sensitive value, count in the table and estimate from the release of each cell.
    cells: Vec<(u32, f64, f64)>,
}

impl Trie {
    fn new(problem: &Problem, columns: &[Vec<u32>], subset: &[usize]) -> Self {
        let sensitive = &problem.sensitive[0].codes;
        let key = |record: u32, depth: usize| match subset.get(depth) {
            Some(attribute) => columns[*attribute][record as usize],
            None => sensitive[record as usize],
        };
        let mut records: Vec<u32> = (0..problem.len() as u32).collect();
        let depth = subset.len();
        let whole = |record: u32| (0..=depth).map(move |level| key(record, level));
        records.sort_unstable_by(|a, b| whole(*a).cmp(whole(*b)));
        let mut trie = Trie {
            subset: subset.to_vec(),
            codes: vec![Vec::new(); depth],
            children: vec![Vec::new(); depth],
            cells: Vec::new(),
        };
        let mut before: Option<u32> = None;
        for &record in &records {
            let same =
                |level: &usize| before.is_some_and(|before| key(before, *level) == key(record, *level));
            let changed = (0..=depth).find(|level| !same(level));
            before = Some(record);
            match changed {
                None => {
                    if let Some(cell) = trie.cells.last_mut() {
                        cell.1 += 1.0;
                    }
                }
                Some(changed) => {
                    for level in changed..depth {
                        let next = trie.codes.get(level + 1).map_or(trie.cells.len(), Vec::len);
                        trie.children[level].push(next as u32);
                        trie.codes[level].push(key(record, level));
                    }
                    trie.cells.push((sensitive[record as usize], 1.0, 0.0));
                }
            }
        }
        for level in 0..depth {
            let end = trie.codes.get(level + 1).map_or(trie.cells.len(), Vec::len);
            trie.children[level].push(end as u32);
        }
        trie
    }

    /// Spreads a class over the cells of its box. `wanted` is room for one number per sensitive value, all zero.
    fn spread(&mut self, shape: &Shape, wanted: &mut [f64]) {
        let width: f64 = self.subset.iter().map(|attribute| shape.ranges[*attribute].width).product();
        for (value, count) in &shape.counts {
            wanted[*value as usize] = count / width;
        }
        let roots = 0..self.codes.first().map_or(0, Vec::len);
        self.walk(0, roots, shape, wanted);
        for (value, _) in &shape.counts {
            wanted[*value as usize] = 0.0;
        }
    }

    fn walk(&mut self, level: usize, nodes: std::ops::Range<usize>, shape: &Shape, wanted: &[f64]) {
        let range = shape.ranges[self.subset[level]];
        let codes = &self.codes[level][nodes.clone()];
        let first = nodes.start + codes.partition_point(|code| *code < range.low);
        let last = nodes.start + codes.partition_point(|code| *code <= range.high);
        for node in first..last {
            let below = self.children[level][node] as usize..self.children[level][node + 1] as usize;
            if level + 1 < self.codes.len() {
                self.walk(level + 1, below, shape, wanted);
            } else {
                for cell in &mut self.cells[below] {
                    cell.2 += wanted[cell.0 as usize];
                }
            }
        }
    }

    /// Adds the shares of the sensitive values in the groups of rows.
    fn count_rows(&mut self, codes: &[Vec<u32>], groups: &[u32], counts: &[Vec<(u32, f64)>]) {
        for (row, group) in groups.iter().enumerate() {
            let Some(cells) = self.find(|attribute| codes[attribute][row]) else { continue };
            let values = &counts[*group as usize];
            let size: f64 = values.iter().map(|(_, count)| count).sum();
            for (value, count) in values {
                let own = &self.cells[cells.clone()];
                if let Ok(at) = own.binary_search_by_key(value, |cell| cell.0) {
                    self.cells[cells.start + at].2 += count / size;
                }
            }
        }
    }

    /// The cells of a combination, if it occurs.
    fn find(&self, code: impl Fn(usize) -> u32) -> Option<std::ops::Range<usize>> {
        let mut nodes = 0..self.codes.first()?.len();
        for (level, attribute) in self.subset.iter().enumerate() {
            let at = self.codes[level][nodes.clone()].binary_search(&code(*attribute)).ok()?;
            let node = nodes.start + at;
            nodes = self.children[level][node] as usize..self.children[level][node + 1] as usize;
        }
        Some(nodes)
    }

    fn divergence(&self, records: usize, published: usize) -> f64 {
        let term = |(_, count, estimate): &(u32, f64, f64)| {
            let p = count / records as f64;
            let q = (estimate / published.max(1) as f64).max(FLOOR);
            p * (p / q).ln()
        };
        self.cells.iter().map(term).sum()
    }
}
