//! What a class with a point costs at least on an attribute: the cheapest node or range around its code that holds enough of the
//! records at hand. Attributes are looked at one by one, so that the sum of what they say is no more than any class costs.

use super::boxes::{Boxes, Item, NONE};
use super::costs::Cost;
use super::space::Space;

/// An attribute with the codes of all points.
pub(super) struct Column {
    pub attribute: usize,
    pub codes: Vec<u32>,
    /// How many codes there may be.
    pub values: usize,
}

impl Column {
    pub fn new(space: &Space, attribute: usize, points: &[u32]) -> Self {
        let codes: Vec<u32> = points.iter().map(|point| space.row(*point)[attribute]).collect();
        let values = codes.iter().max().map_or(0, |most| *most as usize + 1);
        Column { attribute, codes, values }
    }
}

/// Records at hand of each code, and the least cost of each; memory that is used again.
#[derive(Default)]
pub(super) struct Hand {
    records: Vec<u32>,
    least: Vec<u32>,
    codes: Vec<u32>,
    counts: Vec<u32>,
    /// Codes on the way out of a growing range, by rising cost of what begins with them.
    ahead: std::collections::VecDeque<(usize, u32)>,
    ends: Vec<usize>,
    sums: Vec<u32>,
}

impl Hand {
    /// Raises what points cost at least, by what they cost on some attributes beside `cost`. Ranges of
    /// numbers begin no later than `last`. None if they are too few.
    pub fn raise_least<'a>(
        &mut self,
        boxes: &Boxes,
        space: &Space,
        columns: impl Iterator<Item = &'a Column>,
        (cost, last): (u32, u32),
        list: &mut [Item],
    ) -> Option<()> {
        self.sums.clear();
        self.sums.resize(list.len(), cost);
        for column in columns {
            self.count(boxes, column, list);
            let found = match &space.costs[column.attribute] {
                own @ Cost::Number { .. } => self.ranges(own, boxes.size, last),
                own => self.nodes(own, boxes.size),
            };
            if found.is_some() {
                for (sum, item) in self.sums.iter_mut().zip(&*list) {
                    *sum += self.least[column.codes[item.place as usize] as usize];
                }
            }
            self.codes.iter().for_each(|code| self.records[*code as usize] = 0);
            found?;
        }
        list.iter_mut().zip(&self.sums).for_each(|(item, sum)| item.least = item.least.max(*sum));
        Some(())
    }

    /// Counts the records of each code, and puts the codes in order.
    fn count(&mut self, boxes: &Boxes, column: &Column, list: &[Item]) {
        if self.records.len() < column.values {
            self.records.resize(column.values, 0);
            self.least.resize(column.values, 0);
        }
        self.codes.clear();
        for item in list {
            let code = column.codes[item.place as usize];
            let records = &mut self.records[code as usize];
            if *records == 0 {
                self.codes.push(code);
            }
            *records = records.saturating_add(boxes.records[item.place as usize]);
        }
        self.codes.sort_unstable();
        self.counts.clear();
        self.counts.extend(self.codes.iter().map(|code| self.records[*code as usize]));
    }

    /// The cheapest node of a tree around each code that holds enough records.
    fn nodes(&mut self, cost: &Cost, size: u32) -> Option<()> {
        let enough =
            |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum::<u64>() >= u64::from(size);
        if !enough(&self.counts) {
            return None;
        }
        let mut open = 0;
        for (code, count) in self.codes.iter().zip(&self.counts) {
            let alone = *count >= size;
            self.least[*code as usize] = if alone { 0 } else { NONE };
            open += usize::from(!alone);
        }
        if open == 0 {
            return Some(());
        }
        let gaps: Vec<u32> = self.codes.windows(2).map(|pair| cost.between(pair[0], pair[1])).collect();
        let mut heights = gaps.clone();
        heights.sort_unstable();
        heights.dedup();
        for height in heights {
            let mut at = 0;
            while at < self.codes.len() {
                let mut end = at + 1;
                while end < self.codes.len() && gaps[end - 1] <= height {
                    end += 1;
                }
                if end > at + 1 && enough(&self.counts[at..end]) {
                    for code in &self.codes[at..end] {
                        let least = &mut self.least[*code as usize];
                        if *least == NONE {
                            *least = height;
                            open -= 1;
                        }
                    }
                }
                at = end;
            }
            if open == 0 {
                break;
            }
        }
        Some(())
    }

    /// The narrowest range of a number around each code that holds enough records and begins no later than a code.
    fn ranges(&mut self, cost: &Cost, size: u32, last: u32) -> Option<()> {
        self.ends.clear();
        let (mut end, mut records) = (0, 0u64);
        let begins = self.codes.partition_point(|code| *code <= last);
        for left in 0..begins {
            while end < self.codes.len() && records < u64::from(size) {
                records += u64::from(self.counts[end]);
                end += 1;
            }
            if records < u64::from(size) {
                break;
            }
            self.ends.push(end - 1);
            records -= u64::from(self.counts[left]);
        }
        if self.ends.is_empty() {
            return None;
        }
        // Of the ranges that hold a code those begin no later than it and end no earlier; both ends only move on. Of those that
        // end earlier the last one is stretched to it.
        self.ahead.clear();
        let mut earlier = 0;
        for (at, code) in self.codes.iter().enumerate() {
            if let Some(end) = self.ends.get(at) {
                let width = cost.between(*code, self.codes[*end]);
                while self.ahead.back().is_some_and(|last| last.1 >= width) {
                    self.ahead.pop_back();
                }
                self.ahead.push_back((*end, width));
            }
            while self.ahead.front().is_some_and(|first| first.0 < at) {
                self.ahead.pop_front();
            }
            while self.ends.get(earlier).is_some_and(|end| *end <= at) {
                earlier += 1;
            }
            let around = self.ahead.front().map_or(NONE, |first| first.1);
            let stretched = match earlier.checked_sub(1) {
                Some(begin) => cost.between(self.codes[begin], *code),
                None => NONE,
            };
            self.least[*code as usize] = around.min(stretched);
        }
        Some(())
    }
}
