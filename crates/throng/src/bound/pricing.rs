//! Prices of points, and the passes that make them proofs.
//!
//! A pass visits all points in a fixed order, the most demanding and the dearest first, and sees to it that no class whose
//! first point is visited is paid more than it costs ([`super::anchor`]). Prices only fall meanwhile and every class has
//! one first point, so that after a pass no class at all is paid too much: their sum is then a bound. Between passes prices
//! are raised, and lowered again by the classes that stood in the way before ([`Pool`]).
//!
//! Anchors are searched side by side in batches of a fixed size, each with the prices from before the batch; where an anchor
//! lowers a point that another of its batch has lowered, it is searched again. So the outcome does not depend on the number of
//! threads.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::anchor::{Found, Scene, Scratch};
use super::costs::ONE;
use super::dearest::{Dearest, Offer};
use super::index::Index;
use super::pool::Pool;
use super::space::{Caps, Space};

/// Anchors that are searched side by side.
const BATCH: usize = 64;
/// An anchor may take so many times the work that is left for each.
const AHEAD: u64 = 16;
/// Prices by which anchors are ordered are equal if they differ by less than one in so many.
const STEPS: f64 = 24.0;
/// Raises and sweeps between two passes.
const SWEEPS: usize = 100;
/// How much prices are raised at first, as a share of their mean, and how that falls from pass to pass.
const RAISE: f64 = 0.06;
const COOLER: f64 = 0.9;
/// Within the sweeps of one pass it falls to this share.
const COOLEST: f64 = 0.02;

pub(super) struct Pricing {
    pub space: Space,
    index: Index,
    pub prices: Vec<i64>,
    pool: Pool,
    pub passes: u32,
    /// Steps taken so far.
    pub work: u64,
    pub given_up: u64,
    pub again: u64,
    pub reached: usize,
    random: u64,
}

impl Pricing {
    /// The points of a space in the order of an index; which point of the space stands at each place is told beside.
    pub fn new(space: &Space) -> (Self, Vec<u32>) {
        let (index, order) = Index::order(space);
        let space = space.reordered(&order);
        let prices = vec![0; space.len()];
        let pricing = Pricing {
            space,
            index,
            prices,
            pool: Pool::default(),
            passes: 0,
            work: 0,
            given_up: 0,
            again: 0,
            reached: 0,
            random: 0x9e37_79b9_7f4a_7c15,
        };
        (pricing, order)
    }

    /// Pays every point what the box around it and its nearest others costs.
    pub fn start(&mut self) {
        let found: Vec<(i64, u64)> = (0..self.space.len() as u32)
            .into_par_iter()
            .map_init(Nearest::default, |nearest, point| nearest.box_around(&self.space, &self.index, point))
            .collect();
        self.work += found.iter().map(|(_, work)| work).sum::<u64>();
        self.prices = found.into_iter().map(|(price, _)| price).collect();
    }

    /// Whether prices may be negative: that helps where values have caps.
    fn free(&self) -> bool {
        self.space.caps != Caps::None
    }

    /// Σ of prices over records.
    pub fn total(&self) -> i128 {
        let each = self.prices.iter().zip(&self.space.records);
        each.map(|(price, records)| i128::from(*price) * i128::from(*records)).sum()
    }

    /// The order of anchors: the most demanding first, then the dearest; alike ones by lot, for neighbours in the order should
    /// not be neighbours in space.
    fn order(&self) -> Vec<u32> {
        let step = |price: i64| if price <= 0 { 0 } else { ((price as f64).log2() * STEPS) as i64 + 1 };
        let key = |point: &u32| {
            let at = *point as usize;
            let lot = u64::from(*point).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            (u32::MAX - self.space.sizes[at], -step(self.prices[at]), lot, *point)
        };
        let mut order: Vec<u32> = (0..self.space.len() as u32).collect();
        order.sort_by_cached_key(key);
        order
    }

    /// One pass with so much work; whether it came to an end. `stopped` is asked between batches. What is not visited
    /// when the work is done is paid nothing.
    pub fn pass(&mut self, most_work: u64, stopped: &dyn Fn() -> bool) -> bool {
        let order = self.order();
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(point, place)| places[*point as usize] = place);
        let latest = self.index.latest(&places);
        let mut later = vec![i64::MIN / 4; order.len()];
        for place in (1..order.len()).rev() {
            later[place - 1] = later[place].max(self.prices[order[place] as usize]);
        }
        let (mut work, mut place) = (0, 0);
        (self.given_up, self.again) = (0, 0);
        while place < order.len() && work < most_work {
            if stopped() {
                return false;
            }
            let end = (place + BATCH).min(order.len());
            let most = AHEAD * (most_work - work) / (order.len() - place) as u64;
            let prices = std::mem::take(&mut self.prices);
            let scene = Scene {
                space: &self.space,
                index: &self.index,
                prices: &prices,
                order: &order,
                places: &places,
                latest: &latest,
                later: &later,
                free: self.free(),
            };
            let found: Vec<Found> = (place..end)
                .into_par_iter()
                .map_init(Scratch::default, |scratch, place| scene.anchor(place as u32, most, scratch))
                .collect();
            let mut now = prices.clone_if(found.iter().any(|found| !found.lowered.is_empty()));
            let mut scratch = None;
            let mut cuts = Vec::new();
            for (place, mut found) in (place..end).zip(found) {
                work += found.work;
                if let Some(now) = &mut now
                    && !found.lowered.is_empty()
                {
                    if found.lowered.iter().any(|(point, _)| now[*point as usize] != prices[*point as usize])
                    {
                        let scene = Scene { prices: now, ..scene };
                        found =
                            scene.anchor(place as u32, most, scratch.get_or_insert_with(Scratch::default));
                        work += found.work;
                        self.again += 1;
                    }
                    found.lowered.iter().for_each(|(point, price)| now[*point as usize] = *price);
                }
                self.given_up += u64::from(found.given_up);
                cuts.append(&mut found.cuts);
            }
            self.prices = now.unwrap_or(prices);
            cuts.iter().for_each(|cut| self.pool.push(cut));
            place = end;
        }
        self.reached = place;
        for point in &order[place..] {
            let price = &mut self.prices[*point as usize];
            *price = (*price).min(0);
        }
        self.work += work;
        self.passes += 1;
        true
    }

    /// Raises prices little by little, each time lowering what is known to be too much. `stopped` is asked between sweeps.
    pub fn raise(&mut self, stopped: &dyn Fn() -> bool) {
        let mean = self.total() as f64 / self.space.all().max(1) as f64;
        let first = RAISE * COOLER.powi(self.passes as i32 - 1) * mean.max(f64::from(ONE) * 1e-4);
        let mut order: Vec<u32> = (0..self.pool.len() as u32).collect();
        let free = self.free();
        let most = self.space.sizes.iter().max().map_or(1, |size| i64::from(*size)) * i64::from(ONE);
        for sweep in 0..SWEEPS {
            if stopped() {
                return;
            }
            if sweep % 8 == 0 {
                self.shuffle(&mut order);
            }
            let step = (first * COOLEST.powf(sweep as f64 / SWEEPS as f64)) as i64;
            self.prices.iter_mut().for_each(|price| *price = (*price + step).min(most));
            self.work += self.pool.sweep(&self.space, &order, free, &mut self.prices);
        }
        self.pool.prune();
    }

    fn shuffle(&mut self, order: &mut [u32]) {
        for at in (1..order.len()).rev() {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            order.swap(at, (((self.random >> 32) * (at as u64 + 1)) >> 32) as usize);
        }
    }
}

trait CloneIf: Sized {
    fn clone_if(&self, needed: bool) -> Option<Self>;
}

impl CloneIf for Vec<i64> {
    fn clone_if(&self, needed: bool) -> Option<Self> {
        needed.then(|| self.clone())
    }
}

/// The nearest others of a point.
#[derive(Default)]
struct Nearest {
    dearest: Dearest,
}

impl Nearest {
    /// What the box around a point and as many of its nearest as its class needs costs.
    fn box_around(&mut self, space: &Space, index: &Index, point: u32) -> (i64, u64) {
        let room = space.sizes[point as usize] as usize - 1;
        let row = space.row(point);
        // The dearest by −cost are the nearest.
        self.dearest.begin(room, None);
        let mut looks = 0;
        let dearest = &mut self.dearest;
        let nodes = index.nearest(space, row, |points| {
            looks += u64::from(points.end - points.start);
            for other in points {
                let records = space.records[other as usize] - u32::from(other == point);
                let cost = space.apart(point, other);
                if records > 0 {
                    let offer =
                        Offer { price: -i64::from(cost), candidate: other, records, value: 0, cap: u32::MAX };
                    dearest.add(offer, &[]);
                }
            }
            dearest.limit()
        });
        let mut ends: Vec<(u32, u32)> = row.iter().map(|code| (*code, *code)).collect();
        for other in dearest.candidates() {
            for ((low, high), code) in ends.iter_mut().zip(space.row(other)) {
                (*low, *high) = ((*low).min(*code), (*high).max(*code));
            }
        }
        let cost =
            space.costs.iter().zip(&ends).map(|(cost, (low, high))| i64::from(cost.between(*low, *high)));
        (cost.sum(), (nodes + looks) * (8 + space.width() as u64) / 32)
    }
}
