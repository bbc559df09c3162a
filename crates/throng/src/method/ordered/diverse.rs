//! l-diverse groups along a line.
//!
//! Ghinita et al. 2009, section 4.3. Records are dealt into one queue per sensitive value, each in the order of the
//! line; the heads of the queues are the *frontier*. Groups are built one after the other, each of heads of different
//! queues, such that what remains can still be divided (*eligible*: no value occurs in more than 1/l of it):
//! 1. *greedy*: the l heads that come first on the line; while the rest is not eligible, the next one too;
//! 2. *fall-back*, if all heads would not do: the heads of the l most frequent remaining values, and further ones as
//!    needed;
//! 3. *look-ahead*: the head that now comes first joins if it is nearer to the group's first record than to the l-th
//!    of the frontier, which would be in the group it opens otherwise.
//!
//! The paper adds up to m heads before it falls back. That need not be tried: let M be the count of the most frequent
//! remaining values and R what remains. A group that takes one of *each* value with count M leaves a maximum of
//! M − 1, any other leaves M, and larger groups only leave less. So the first fitting group of more than l records is the
//! one that reaches the last of those values, it fits exactly if it has at most R − (M − 1)·l records, and that is less
//! than 2l whenever the l first heads did not fit. Both frontier and frequencies are heaps whose entries are brought
//! up to date when they surface: O(N · log m).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::privacy::ROUNDING;
use crate::watch::Watch;

/// Groups of places on the line: all places, group after group, and the sizes of the groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// Places, group by group.
    pub places: Vec<u32>,
    /// How many belong to each group.
    pub sizes: Vec<usize>,
}

impl Groups {
    /// The places of each group.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = &self.places[..];
        self.sizes.iter().map(move |size| {
            let (group, after) = rest.split_at(*size);
            rest = after;
            group
        })
    }
}

/// Groups of at least `l` records with different values each. `values` are the sensitive values, all below `domain`,
/// in the order of the line; none may occur in more than 1/l of them. `distance` tells how far two places are apart, the
/// earlier one given first.
pub fn diversify(
    values: &[u32],
    domain: usize,
    l: usize,
    distance: impl Fn(u32, u32) -> f64,
    watch: &dyn Watch,
) -> Result<Groups> {
    let mut deck = Deck::new(values, domain, l);
    if !deck.eligible_without(0, 0) {
        return Err(Error::bug(format!("the values are not eligible for l = {l}")));
    }
    let mut groups = Groups { places: Vec::with_capacity(values.len()), sizes: Vec::new() };
    let (mut picked, mut told) = (Vec::new(), 0);
    while deck.left > 0 {
        let start = groups.places.len();
        deck.pick_group(&mut picked);
        groups.places.extend(picked.iter().map(|head| head.place));
        deck.look_ahead(&picked, &mut groups.places, &distance);
        groups.sizes.push(groups.places.len() - start);
        if groups.sizes.len().is_multiple_of(1024) {
            watch.check()?;
            watch.advance((groups.places.len() - told) as u64);
            told = groups.places.len();
        }
    }
    Ok(groups)
}

/// Whether a distance is less than another one. Distances are sums of fractions: two that are equal can differ in their
/// last digits, and which of them is less then must not decide anything.
fn nearer(one: f64, other: f64) -> bool {
    one + ROUNDING * other < other
}

/// The first record of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    place: u32,
    value: u32,
}

/// The queues and what is known of them.
struct Deck {
    l: usize,
    /// The place after each place in its queue. All heads lie close together on the line, and so does what is read here,
    /// however many queues there are.
    following: Vec<u32>,
    /// The place of the head of each queue, and how many it has left.
    queues: Vec<(u32, u32)>,
    /// One head per queue, or an earlier one that is gone by now.
    frontier: BinaryHeap<Reverse<Head>>,
    /// One count per queue, or an earlier, higher one.
    frequent: BinaryHeap<(u32, Reverse<Head>)>,
    /// How many queues have each length.
    of_length: Vec<u32>,
    longest: usize,
    left: usize,
}

impl Deck {
    fn new(values: &[u32], domain: usize, l: usize) -> Self {
        let mut queues = vec![(0u32, 0u32); domain];
        let mut following = vec![0; values.len()];
        for (place, value) in (0..values.len() as u32).zip(values).rev() {
            let (head, length) = &mut queues[*value as usize];
            following[place as usize] = *head;
            *head = place;
            *length += 1;
        }
        let longest = queues.iter().map(|(_, length)| *length as usize).max().unwrap_or(0);
        let mut of_length = vec![0; longest + 1];
        queues.iter().for_each(|(_, length)| of_length[*length as usize] += 1);
        let mut deck = Deck {
            l,
            following,
            queues,
            frontier: BinaryHeap::new(),
            frequent: BinaryHeap::new(),
            of_length,
            longest,
            left: values.len(),
        };
        deck.frontier = (0..domain as u32).filter_map(|value| deck.head(value)).map(Reverse).collect();
        deck.frequent =
            deck.frontier.iter().map(|Reverse(head)| (deck.length(head.value), Reverse(*head))).collect();
        deck
    }

    fn length(&self, value: u32) -> u32 {
        self.queues[value as usize].1
    }

    fn head(&self, value: u32) -> Option<Head> {
        let (place, length) = self.queues[value as usize];
        (length > 0).then_some(Head { place, value })
    }

    /// Whether what remains can be divided once a group of `size` records is gone, `longest` of them from the longest
    /// queues.
    fn eligible_without(&self, size: usize, longest: usize) -> bool {
        let all = longest == self.of_length[self.longest] as usize;
        let most = self.longest - usize::from(all && self.longest > 0);
        most * self.l <= self.left - size
    }

    fn is_longest(&self, head: Head) -> bool {
        self.length(head.value) as usize == self.longest
    }

    /// Chooses the next group and takes it out of the queues.
    fn pick_group(&mut self, picked: &mut Vec<Head>) {
        self.pop_heads(self.l, picked);
        let mut longest = picked.iter().filter(|head| self.is_longest(**head)).count();
        if !self.eligible_without(picked.len(), longest) {
            let most = self.left - (self.longest - 1) * self.l;
            while picked.len() < most && !self.eligible_without(picked.len(), longest) {
                let Some(head) = self.pop_head() else { break };
                longest += usize::from(self.is_longest(head));
                picked.push(head);
            }
        }
        if self.eligible_without(picked.len(), longest) {
            picked.iter().for_each(|head| self.take(*head));
            self.put_back(picked.iter().map(|head| head.value));
        } else {
            self.put_back(picked.iter().map(|head| head.value));
            self.pick_frequent(picked);
            picked.iter().for_each(|head| self.take(*head));
            picked.sort_unstable();
        }
    }

    /// The heads of the most frequent values, l of them or as many as it takes.
    fn pick_frequent(&mut self, picked: &mut Vec<Head>) {
        picked.clear();
        let mut longest = 0;
        while picked.len() < self.l || !self.eligible_without(picked.len(), longest) {
            let Some(head) = self.pop_frequent() else { break };
            longest += usize::from(self.is_longest(head));
            picked.push(head);
        }
        for head in picked.iter() {
            // Out of date at once, and put right when it comes up again.
            self.frequent.push((self.length(head.value), Reverse(*head)));
        }
    }

    /// Lets the first head join the group if that is the nearer one.
    fn look_ahead(&mut self, group: &[Head], places: &mut Vec<u32>, distance: impl Fn(u32, u32) -> f64) {
        let Some(first) = self.pop_head() else { return };
        let mut further = Vec::with_capacity(self.l);
        self.pop_heads(self.l - 1, &mut further);
        let joins = further.len() + 1 == self.l
            && group.iter().all(|head| head.value != first.value)
            && self.eligible_without(1, usize::from(self.is_longest(first)))
            && nearer(
                distance(group[0].place.min(first.place), group[0].place.max(first.place)),
                further.last().map_or(0.0, |last| distance(first.place, last.place)),
            );
        if joins {
            self.take(first);
            places.push(first.place);
        }
        self.put_back(further.iter().chain([&first]).map(|head| head.value));
    }

    /// Takes the head of a queue out for good.
    fn take(&mut self, head: Head) {
        let length = self.length(head.value) as usize;
        self.queues[head.value as usize] = (self.following[head.place as usize], length as u32 - 1);
        self.of_length[length] -= 1;
        self.of_length[length - 1] += 1;
        self.left -= 1;
        if self.of_length[self.longest] == 0 {
            self.longest -= 1;
        }
    }

    /// Brings the heads of values that were popped back to the frontier.
    fn put_back(&mut self, values: impl Iterator<Item = u32>) {
        for value in values {
            let head = self.head(value);
            self.frontier.extend(head.map(Reverse));
        }
    }

    fn pop_heads(&mut self, count: usize, heads: &mut Vec<Head>) {
        heads.clear();
        while heads.len() < count
            && let Some(head) = self.pop_head()
        {
            heads.push(head);
        }
    }

    /// The head that comes first on the line.
    fn pop_head(&mut self) -> Option<Head> {
        loop {
            let Reverse(known) = self.frontier.pop()?;
            match self.head(known.value) {
                Some(head) if head == known => return Some(head),
                Some(head) => self.frontier.push(Reverse(head)),
                None => {}
            }
        }
    }

    /// The head of the longest queue; of several, the one that comes first on the line.
    fn pop_frequent(&mut self) -> Option<Head> {
        loop {
            let (known, Reverse(earlier)) = self.frequent.pop()?;
            let length = self.length(earlier.value);
            match self.head(earlier.value) {
                Some(head) if length == known => return Some(head),
                Some(head) => self.frequent.push((length, Reverse(head))),
                None => {}
            }
        }
    }
}
