//! The windows of the number, with a node of every tree chosen: where they begin is halved until one code is left, and each half is
//! given up where none of its windows can be paid too much.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::anchor::{Cut, share};
use super::boxes::{Chosen, Item, Pass, Scratch};
use super::cheapest::Column;
use super::top::Top;

/// So often a window is lowered by sharing, before all of its records are paid what it costs at most.
const SHARED: usize = 50;

/// Points by the code of their number.
#[derive(Default)]
pub(super) struct Cell {
    /// Code and place, in this order.
    items: Vec<(u32, u32)>,
    prices: Vec<i64>,
}

impl Pass<'_> {
    /// All windows of the number; one of everything if there is no number.
    pub fn windows(&self, chosen: Chosen, list: &[Item], scratch: &mut Scratch) {
        match &self.boxes.number {
            Some(number) => self.halves(chosen, number, list, scratch),
            None => self.first_windows(chosen.cost, list, scratch),
        }
    }

    /// Goes on with windows that begin in the first half of codes, then with those of the second.
    fn halves(&self, chosen: Chosen, number: &Column, list: &[Item], scratch: &mut Scratch) {
        let code = |item: &Item| number.codes[item.place as usize];
        let may_begin = |code: &u32| (chosen.begins.0..=chosen.begins.1).contains(code);
        let mut codes: Vec<u32> = list.iter().map(code).filter(may_begin).collect();
        codes.sort_unstable();
        codes.dedup();
        let &[first, .., last] = &codes[..] else {
            if !codes.is_empty() {
                self.first_windows(chosen.cost, list, scratch);
            }
            return;
        };
        let middle = codes[(codes.len() - 1) / 2];
        self.go(Chosen { begins: (first, middle), ..chosen }, list, scratch);
        let later: Vec<Item> = list.iter().filter(|item| code(item) > middle).copied().collect();
        self.go(Chosen { begins: (middle + 1, last), ..chosen }, &later, scratch);
    }

    /// The windows that begin with the first code.
    fn first_windows(&self, cost: u32, list: &[Item], scratch: &mut Scratch) {
        let Scratch { top, cell, cuts, .. } = scratch;
        let code = |place: u32| self.boxes.number.as_ref().map_or(0, |number| number.codes[place as usize]);
        cell.items.clear();
        cell.items.extend(list.iter().map(|item| (code(item.place), item.place)));
        cell.items.sort_unstable_by_key(|(code, place)| (*code, u32::MAX - place));
        cell.prices.clear();
        cell.prices.extend(cell.items.iter().map(|(_, place)| self.price(*place)));
        let before = cuts.len();
        let steps = self.widen(cost, cell, top, cuts);
        self.work.fetch_add(steps, Ordering::Relaxed);
        if cuts.len() > before {
            for ((_, place), price) in cell.items.iter().zip(&cell.prices) {
                self.prices[*place as usize].store(*price, Ordering::Relaxed);
            }
        }
    }

    /// Window by window, each wider than the one before; returns how many items were looked at.
    fn widen(&self, cost: u32, cell: &mut Cell, top: &mut Top, cuts: &mut Vec<Cut>) -> u64 {
        let low = cell.items[0].0;
        let mut right = 0;
        top.clear();
        while right < cell.items.len() {
            let high = cell.items[right].0;
            let width = match &self.boxes.number {
                Some(number) => self.space.costs[number.attribute].between(low, high),
                None => 0,
            };
            let limit = i64::from(self.boxes.size) * i64::from(cost + width);
            while right < cell.items.len() && cell.items[right].0 == high {
                let place = cell.items[right].1;
                top.add(cell.prices[right], right as u32, self.boxes.records[place as usize]);
                right += 1;
            }
            if top.sum().is_some_and(|sum| sum > limit) {
                self.lower(0..right, limit, cell, top, cuts);
            }
        }
        right as u64
    }

    /// Lowers the dearest of a window until they are not paid too much.
    fn lower(&self, window: Range<usize>, limit: i64, cell: &mut Cell, top: &mut Top, cuts: &mut Vec<Cut>) {
        let records = |item: u32| self.boxes.records[cell.items[item as usize].1 as usize];
        let mut rounds = 0;
        while let Some(sum) = top.sum().filter(|sum| *sum > limit) {
            rounds += 1;
            if rounds > SHARED {
                let each = limit / i64::from(self.boxes.size);
                cell.prices[window.clone()].iter_mut().for_each(|price| *price = (*price).min(each));
            } else {
                let members = top.members();
                share(&members, sum - limit, records, false, &mut cell.prices);
                let point = |item: u32| self.boxes.points[cell.items[item as usize].1 as usize];
                let mut members: Vec<(u32, u32)> =
                    members.into_iter().map(|(item, count)| (point(item), count)).collect();
                members.sort_unstable();
                cuts.push(Cut { members, limit });
            }
            top.clear();
            for item in window.clone() {
                top.add(cell.prices[item], item as u32, records(item as u32));
            }
        }
    }
}
