//! One block: its groups, and the steps that ruin a few of them and make others of their records.

use super::super::cut::SAVES;
use super::super::group::{Group, Work};
use super::around::Around;
use super::draws::Draws;
use super::reach::{Place, Reach};
use super::sight::{Boxes, Sight};
use super::{Manner, Task};
use crate::loss::Extent;
use crate::privacy::Tally;
use crate::problem::{Code, Matrix};

/// How often another group is drawn where one has little to lose.
const TRIES: usize = 4;
/// A record that was left out is drawn as often as so many groups.
const LOST_AS_GROUPS: usize = 2;
/// How often a step begins by leaving a record out, where that is allowed and could pay.
const LOSES: f64 = 0.4;
/// How many steps are taken between looks at the clock.
const STEPS_PER_LOOK: usize = 16;
/// Groups near a record: some are ruined with its own, and what is left over may join the others. Where values have limits few of these
/// have room for a given one, so that there are more of them.
const NEAR: usize = 16;
const NEAR_WITH_LIMITS: usize = 64;
/// How often groups near one record are ruined until something comes of it: finding them takes longer than that.
const ATTEMPTS: usize = 6;

/// A block at work. Its records have numbers of their own, so that what is looked at lies together in memory.
pub(super) struct Block<'a, C: Code> {
    pub task: &'a Task<'a, C>,
    /// The record that each number stands for.
    pub ids: Vec<u32>,
    pub matrix: Matrix<C>,
    pub worth: Vec<f32>,
    pub groups: Vec<Group<C>>,
    /// Records that are in no group, and how many more may be.
    pub lost: Vec<u32>,
    pub spare: usize,
    /// Where records lie and groups reach, if there is nothing but a few numbers.
    places: Vec<Place>,
    reaches: Vec<Reach>,
    weights: Place,
    /// The boxes of groups as records see them.
    boxes: Boxes,
    /// The penalty of each group.
    ncps: Vec<f32>,
    pub draws: Draws,
    pub looks: u64,
    pub room: Room<C>,
}

/// Room that steps use in turns.
pub(super) struct Room<C> {
    pub around: Around,
    pub tally: Tally,
    /// The groups near a record, the nearest first, and some of them in an order by lot.
    pub near: Vec<(f32, u32)>,
    drawn: Vec<u32>,
    /// What each group costs with a record.
    sums: Vec<f32>,
    /// The box of a group without a record, and of another with it.
    pub rest: Extent<C>,
    pub swapped: Extent<C>,
    /// How often each value of the limited attribute occurs in the group that grows.
    pub counts: Vec<u32>,
    pub scores: Vec<f32>,
    /// What the box would cost with each record; what was found for a smaller box is no more.
    pub wider: Vec<(f32, u32)>,
    /// The boxes of a group and of another without each of their records, and what these cost.
    pub rests: Vec<(Reach, f32)>,
    pub lefts: Vec<(Reach, f32)>,
}

/// Groups in place of those that were ruined.
pub(super) struct Attempt<C: Code> {
    pub pool: Vec<u32>,
    pub made: Vec<Group<C>>,
    /// Records that go to groups that were left alone.
    pub outside: Vec<(u32, usize)>,
    /// Records that are left out, and how many more may be.
    pub lost: Vec<u32>,
    pub spare: usize,
    pub cost: f64,
    pub limit: f64,
}

impl<C: Code> Attempt<C> {
    /// Leaves a record out.
    pub fn lose(&mut self, record: u32, fine: f64) {
        self.lost.push(record);
        self.spare -= 1;
        self.cost += fine;
    }
}

impl<'a, C: Code> Block<'a, C> {
    pub fn new(
        task: &'a Task<'a, C>,
        (groups, lost): (Vec<Group<C>>, &[u32]),
        spare: usize,
        draws: Draws,
    ) -> Self {
        let mut ids: Vec<u32> = groups.iter().flat_map(|group| group.records.iter().copied()).collect();
        let grouped = ids.len() as u32;
        ids.extend(lost);
        let matrix = task.work.matrix.gather(&ids);
        let (sight, rows) = (&task.sight, 0..ids.len());
        let places: Vec<Place> = match sight.is_of_few_numbers() {
            true => rows.map(|record| sight.place(matrix.row(record))).collect(),
            false => Vec::new(),
        };
        let worth = ids.iter().map(|record| task.worth[*record as usize] as f32).collect();
        let mut next = 0..;
        let local = |group: Group<C>| {
            let records = next.by_ref().take(group.records.len()).collect();
            Group { records, ..group }
        };
        let groups: Vec<Group<C>> = groups.into_iter().map(local).collect();
        let values = task.frequency().map_or(0, |(_, counted)| counted.domain.len());
        let room = Room {
            around: Around::default(),
            tally: task.work.judge.tally(),
            near: Vec::new(),
            drawn: Vec::new(),
            sums: Vec::new(),
            rest: Extent::around(&matrix, &[]),
            swapped: Extent::around(&matrix, &[]),
            counts: vec![0; values],
            scores: Vec::new(),
            wider: Vec::new(),
            rests: Vec::new(),
            lefts: Vec::new(),
        };
        let lost = (grouped..ids.len() as u32).collect();
        let (looks, boxes) = (0, task.sight.no_boxes());
        let mut block = Block {
            task,
            ids,
            matrix,
            worth,
            groups: Vec::new(),
            lost,
            spare,
            places,
            reaches: Vec::new(),
            weights: sight.weights(),
            boxes,
            ncps: Vec::new(),
            draws,
            looks,
            room,
        };
        block.add(groups);
        block
    }

    /// Takes steps until so much was looked at; gives the groups back, and the records in none of them.
    pub fn run(mut self, looks: u64) -> (Vec<Group<C>>, Vec<u32>) {
        let mut steps = 0;
        while self.looks < looks && self.groups.len() > 1 {
            if steps % STEPS_PER_LOOK == 0 && self.task.is_over() {
                break;
            }
            self.step();
            steps += 1;
        }
        for group in &mut self.groups {
            group.records.iter_mut().for_each(|record| *record = self.ids[*record as usize]);
        }
        let lost = self.lost.iter().map(|record| self.ids[*record as usize]).collect();
        (self.groups, lost)
    }

    pub fn work(&self) -> &'a Work<'a, C> {
        self.task.work
    }

    pub fn manner(&self) -> &'a Manner {
        &self.task.manner
    }

    /// Ruins and makes groups near one record.
    fn step(&mut self) {
        let found = self.draw_lost();
        let (own, seed) = match found {
            Some(at) => (None, self.lost[at]),
            None => {
                let own = self.draw_group();
                let records = &self.groups[own].records;
                (Some(own), records[self.draws.below(records.len())])
            }
        };
        self.find_near(own, seed);
        if let Some(own) = own
            && self.may_swap()
            && self.draws.unit() < self.manner().swaps
        {
            return self.exchange_while_it_helps(own);
        }
        for _ in 0..ATTEMPTS {
            if self.ruin_and_recreate(own, found, seed) {
                break;
            }
        }
    }

    /// Ruins some groups and makes others of their records. Tells whether they were kept.
    fn ruin_and_recreate(&mut self, own: Option<usize>, found: Option<usize>, seed: u32) -> bool {
        let mut ruined = self.draw_neighbours(own);
        let fine = found.map_or(0.0, |_| self.task.fine);
        let old = ruined.iter().map(|at| self.groups[*at].loss()).sum::<f64>() + fine;
        if old <= SAVES {
            return false;
        }
        let records = ruined.iter().map(|at| self.groups[*at].records.len()).sum::<usize>();
        let mut pool: Vec<u32> = Vec::with_capacity(records + 1);
        ruined.iter().for_each(|at| pool.extend(&self.groups[*at].records));
        pool.extend(found.map(|_| seed));
        let limit = old + self.task.temperature * self.draws.exponential() - SAVES;
        let spare = self.spare + usize::from(found.is_some());
        let (made, outside, lost) = (Vec::with_capacity(ruined.len() + 1), Vec::new(), Vec::new());
        let mut attempt = Attempt { pool, made, outside, lost, spare, cost: 0.0, limit };
        if let Some(own) = own {
            self.lose_the_odd_one(&mut attempt, own);
        }
        ruined.sort_unstable();
        if !self.recreate(&mut attempt, seed) || !self.place_rest(&mut attempt, &ruined) {
            return false;
        }
        self.polish(&mut attempt.made);
        let is_kept = self.exact_cost(&attempt) <= attempt.limit && self.holds_all(&attempt);
        if is_kept {
            self.accept(&ruined, found, attempt);
        }
        is_kept
    }

    /// A record that was left out, now and then.
    fn draw_lost(&mut self) -> Option<usize> {
        if self.lost.is_empty() {
            return None;
        }
        let drawn = self.draws.below(self.groups.len() + LOST_AS_GROUPS * self.lost.len());
        (drawn >= self.groups.len()).then(|| (drawn - self.groups.len()) / LOST_AS_GROUPS)
    }

    /// Leaves the record out that its group could do best without, where one may be and that could pay.
    fn lose_the_odd_one(&mut self, attempt: &mut Attempt<C>, own: usize) {
        let could_pay = attempt.limit > self.task.fine && 2.0 * self.groups[own].loss() > self.task.fine;
        if attempt.spare == 0 || !could_pay || self.draws.unit() >= LOSES {
            return;
        }
        let group = &self.groups[own];
        let without = |at: usize| {
            let mut records = group.records.clone();
            records.swap_remove(at);
            if records.is_empty() { 0.0 } else { self.group(records).ncp }
        };
        let odd = (0..group.records.len()).map(|at| (without(at), group.records[at]));
        let Some((_, odd)) = odd.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) else { return };
        self.looks += (group.records.len() as u64).pow(2) / 4;
        attempt.pool.retain(|record| *record != odd);
        attempt.lose(odd, self.task.fine);
    }

    /// A group, one with something to lose if there is one among a few.
    fn draw_group(&mut self) -> usize {
        let mut own = 0;
        for _ in 0..TRIES {
            own = self.draws.below(self.groups.len());
            if self.groups[own].loss() > 2.0 * self.task.temperature {
                break;
            }
        }
        own
    }

    /// A group and some of those that one of its records could join cheaply.
    fn draw_neighbours(&mut self, own: Option<usize>) -> Vec<usize> {
        let wanted = (2 + self.draws.below(self.task.manner.most_ruined - 1)).min(self.groups.len());
        let Room { near, drawn, .. } = &mut self.room;
        drawn.clear();
        drawn.extend(near.iter().take(2 * wanted).map(|(_, at)| *at));
        let front = drawn.len();
        let mut ruined = Vec::with_capacity(wanted);
        ruined.extend(own);
        for at in 0..(wanted - 1).min(front) {
            drawn.swap(at, at + self.draws.below(front - at));
            ruined.push(drawn[at] as usize);
        }
        ruined
    }

    /// Finds the groups but one that a record could join most cheaply, the nearest first.
    fn find_near(&mut self, own: Option<usize>, seed: u32) {
        self.look_around(seed);
        self.looks += self.groups.len() as u64 / 2;
        let count = if self.work().judge.count_decides() { NEAR } else { NEAR_WITH_LIMITS };
        let Room { near, sums, .. } = &mut self.room;
        near.clear();
        let mut limit = f32::INFINITY;
        for (at, (ncp, sum)) in self.ncps.iter().zip(sums).enumerate() {
            let cost = *sum - 0.9 * *ncp;
            if cost < limit && Some(at) != own {
                if near.len() < count {
                    near.push((cost, 0));
                }
                // Shifted by hand: they are few.
                let mut place = near.len() - 1;
                while place > 0 && near[place - 1].0 > cost {
                    near[place] = near[place - 1];
                    place -= 1;
                }
                near[place] = (cost, at as u32);
                limit = near.get(count - 1).map_or(f32::INFINITY, |(cost, _)| *cost);
            }
        }
    }

    fn accept(&mut self, ruined: &[usize], found: Option<usize>, attempt: Attempt<C>) {
        if let Some(at) = found {
            self.lost.swap_remove(at);
        }
        self.lost.extend(&attempt.lost);
        self.spare = attempt.spare;
        for (record, at) in attempt.outside {
            let group = &mut self.groups[at];
            group.extent.grow(self.matrix.row(record as usize));
            group.records.push(record);
            group.ncp = self.task.work.kernel.ncp(&group.extent);
            self.set_box(at);
        }
        for at in ruined.iter().rev() {
            self.remove(*at);
        }
        self.add(attempt.made);
    }

    fn add(&mut self, groups: Vec<Group<C>>) {
        for group in &groups {
            self.task.sight.add_box((group.extent.lows(), group.extent.highs()), &mut self.boxes);
            self.ncps.push(group.ncp as f32);
            self.reaches.extend(self.reach(&group.extent));
        }
        self.groups.extend(groups);
    }

    /// Tells of a group that changed where it lies.
    pub fn set_box(&mut self, at: usize) {
        if let Some(reach) = self.reach(&self.groups[at].extent) {
            self.reaches[at] = reach;
        }
        let Group { extent, ncp, .. } = &self.groups[at];
        self.task.sight.set_box(at, (extent.lows(), extent.highs()), &mut self.boxes);
        self.ncps[at] = *ncp as f32;
    }

    /// Whether places of records are known: where there is nothing but a few numbers.
    pub fn knows_places(&self) -> bool {
        !self.places.is_empty()
    }

    /// Where a record lies, and what each number costs at most.
    #[inline]
    pub fn place(&self, record: u32) -> &Place {
        &self.places[record as usize]
    }

    #[inline]
    pub fn weights(&self) -> &Place {
        &self.weights
    }

    #[inline]
    pub fn reach_of(&self, group: usize) -> &Reach {
        &self.reaches[group]
    }

    /// Takes a group out; the last one takes its place.
    fn remove(&mut self, at: usize) {
        Sight::remove_box(at, &mut self.boxes);
        self.ncps.swap_remove(at);
        if at < self.reaches.len() {
            self.reaches.swap_remove(at);
        }
        self.groups.swap_remove(at);
    }

    /// Finds what each group costs with a record, roughly.
    fn look_around(&mut self, record: u32) {
        let Task { sight, rough, .. } = self.task;
        let row = self.matrix.row(record as usize);
        sight.with_each(row, &self.boxes, &mut self.room.sums);
        if !sight.is_whole() {
            for (sum, group) in self.room.sums.iter_mut().zip(&self.groups) {
                *sum += sight.others(rough, (group.extent.lows(), group.extent.highs()), row);
            }
        }
    }

    /// What an attempt costs, to the last digit.
    fn exact_cost(&self, attempt: &Attempt<C>) -> f64 {
        let made: f64 = attempt.made.iter().map(Group::loss).sum();
        let joining = |(record, at): &(u32, usize)| {
            let (group, row) = (&self.groups[*at], self.matrix.row(*record as usize));
            let ends = (group.extent.lows(), group.extent.highs());
            let after = self.task.work.kernel.union_up_to((row, row), ends, f64::INFINITY);
            after * (group.records.len() + 1) as f64 - group.loss()
        };
        // One by one: where none may be left out, what it counts is infinite.
        let lost: f64 = attempt.lost.iter().map(|_| self.task.fine).sum();
        made + attempt.outside.iter().map(joining).sum::<f64>() + lost
    }

    /// Whether all groups that an attempt makes or changes may be classes.
    fn holds_all(&mut self, attempt: &Attempt<C>) -> bool {
        if self.work().judge.count_decides() {
            return attempt.made.iter().all(|group| group.records.len() >= self.work().judge.smallest());
        }
        if !attempt.made.iter().all(|group| self.holds(&group.records)) {
            return false;
        }
        let mut touched: Vec<usize> = attempt.outside.iter().map(|(_, group)| *group).collect();
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().all(|at| {
            let joining = attempt.outside.iter().filter(|(_, group)| *group == at).map(|(record, _)| *record);
            let records: Vec<u32> = self.groups[at].records.iter().copied().chain(joining).collect();
            self.holds(&records)
        })
    }

    /// Whether records of the block may be a class.
    pub fn holds(&mut self, records: &[u32]) -> bool {
        let ids = &self.ids;
        let records = records.iter().map(|record| ids[*record as usize]);
        self.task.work.judge.holds_in(&mut self.room.tally, records)
    }

    /// Whether a class may take a record in.
    pub fn holds_with(&self, records: &[u32], record: u32) -> bool {
        let id = |record: &u32| self.ids[*record as usize];
        let judge = &self.task.work.judge;
        judge.count_decides() || judge.holds_merged(records.iter().map(id), [record].iter().map(id))
    }

    /// The group of some records of the block; there is at least one.
    pub fn group(&self, records: Vec<u32>) -> Group<C> {
        let extent = Extent::around(&self.matrix, &records);
        let ncp = self.task.work.kernel.ncp(&extent);
        Group { records, extent, ncp }
    }

    /// Penalty of a box grown around a record, roughly.
    #[inline]
    pub fn ncp_with(&self, extent: &Extent<C>, record: u32) -> f32 {
        self.task.rough.union((extent.lows(), extent.highs()), self.matrix.row(record as usize))
    }

    /// How far a box reaches, if there is nothing but a few numbers.
    pub fn reach(&self, extent: &Extent<C>) -> Option<Reach> {
        let sight = &self.task.sight;
        let reach = || Reach::new(sight.place(extent.lows()), sight.place(extent.highs()));
        (!self.places.is_empty()).then(reach)
    }

    /// Penalty of a box grown around a record, roughly, by how far it reaches where that is known.
    #[inline]
    pub fn ncp_by_reach(&self, reach: Option<&Reach>, extent: &Extent<C>, record: u32) -> f32 {
        match (reach, self.places.get(record as usize)) {
            (Some(reach), Some(place)) => reach.with(place, &self.weights),
            _ => self.ncp_with(extent, record),
        }
    }

    /// Lets a box reach around a record too.
    pub fn grow_reach(&self, reach: &mut Option<Reach>, record: u32) {
        if let (Some(reach), Some(place)) = (reach, self.places.get(record as usize)) {
            reach.grow(place);
        }
    }

    /// What a group of the block and one more record would cost more than the group now, roughly.
    #[inline]
    pub fn cost_of_joining_at(&self, at: usize, record: u32) -> f64 {
        let group = &self.groups[at];
        let after = f64::from(self.ncp_by_reach(self.reaches.get(at), &group.extent, record));
        after * (group.records.len() + 1) as f64 - group.loss()
    }

    /// What a group and one more record would cost more than the group now, roughly.
    #[inline]
    pub fn cost_of_joining(&self, group: &Group<C>, record: u32) -> f64 {
        let after = f64::from(self.ncp_with(&group.extent, record));
        after * (group.records.len() + 1) as f64 - group.loss()
    }
}
