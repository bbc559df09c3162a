//! Prices of points, and the passes that make them proofs.
//!
//! A pass visits all points in a fixed order, the most demanding and the dearest first, and sees to it that no class whose
//! first point is visited is paid more than it costs ([`super::anchor`]). Prices only fall meanwhile and every class has
//! one first point, so that after a pass no class at all is paid too much: their sum is then a bound. Between passes prices
//! are raised, and lowered again by the classes that stood in the way before ([`Pool`]).
//!
//! Anchors are searched side by side in batches of a fixed size, each with the prices from before the batch; a point that several of
//! them lower gets the lowest of these prices, which suits the classes of all. So the outcome does not depend on the number of threads.

use std::time::Instant;

use super::anchor::{Found, Scene, Scratch};
use super::boxes::Boxes;
use super::costs::ONE;
use super::index::Index;
use super::known::Known;
use super::nearest::Nearest;
use super::pool::Pool;
use super::space::{Caps, Space};
use crate::parallel;

/// Points whose nearest others tell how long it takes to find those of all.
const POINTS_TRIED: usize = 50;
/// Parts in which those of all are found, so that the first tell how long it takes.
const PARTS_OF_START: usize = 64;
const LEAST_PART_OF_START: usize = 1 << 12;
/// Anchors that are searched side by side at most and at least, and batches of them otherwise: those of small tables share helpers, and
/// a batch must not take most of the work where each of it is given up.
const BATCH: (usize, usize) = (4, 64);
const BATCHES: usize = 64;
/// An anchor may take so many times the work that is left for each.
const AHEAD: u64 = 4;
/// Prices by which anchors are ordered are equal if they differ by less than one in so many.
const STEPS: f64 = 24.0;
/// How prices are raised between two passes.
struct Raises {
    /// Raises, each followed by a sweep over the cuts.
    sweeps: usize,
    /// How much prices are raised at first, as a share of their mean, where classes are small, and to what share of that it falls in
    /// the end. The larger classes are, the more of them it takes to pull prices down again.
    most: f64,
    cooled: f64,
    /// Few classes are known after the first passes that would stop prices from rising too far.
    first: [f64; 3],
    /// Sweeps in which a cut lowered nothing, after which it is forgotten.
    idle: u16,
}

/// Cuts that are forgotten are found again in boxes that are known.
const RAISES_OVER_BOXES: Raises =
    Raises { sweeps: 60, most: 0.45, cooled: 0.03, first: [0.04, 0.06, 0.06], idle: 130 };
/// With time for many passes fewer sweeps are enough, and prices may be raised further.
const RAISES_WITH_TIME: Raises = Raises { sweeps: 40, most: 0.7, cooled: 0.06, ..RAISES_OVER_BOXES };
/// Where each record is searched around a pass is much dearer the further prices are above what holds: they are raised less, and to no
/// more than so many times what is proved.
const RAISES_AROUND: Raises =
    Raises { sweeps: 120, most: 0.06, cooled: 0.03, first: [0.02, 0.03, 1.0], idle: 400 };
const MOST_ABOVE: f64 = 1.1;
const LITTLE: f64 = 0.01;
/// Where prices may be negative their mean is far below what most of them come to.
const RAISES_FREE: Raises =
    Raises { sweeps: 120, most: 0.3, cooled: 0.15, first: [0.1, 0.2, 1.0], idle: 400 };
/// Within the sweeps of one pass it falls to this share.
const COOLEST: f64 = 0.015;
/// Known boxes are looked at again after so many sweeps.
const SWEEPS_PER_LOOK: usize = 6;
/// Of the way from the proved start to what the box of the nearest costs, the first raise goes so far; less far where classes are larger
/// than so many, because a pass then takes longer to pull prices down again.
const FIRST_WAY: f64 = 0.44;
const LARGE_CLASSES: f64 = 25.0;
/// A pass over boxes may take so many times the work of the one before.
const GROWTH: u64 = 10;

pub(super) struct Pricing {
    pub space: Space,
    index: Index,
    /// What a class with each point costs at least, if all boxes are gone through: there may be too many.
    least: Option<Vec<i64>>,
    /// What the last pass over them took.
    boxes_work: u64,
    pub prices: Vec<i64>,
    /// Prices that are a proof, of the last pass or from the start.
    pub proved: Vec<i64>,
    /// What the box around each point and its nearest others costs.
    boxes: Vec<i64>,
    pool: Pool,
    /// Boxes in which passes over all boxes found classes.
    known: Known,
    pub passes: u32,
    /// Steps taken so far.
    pub work: u64,
    pub given_up: u64,
    random: u64,
}

impl Pricing {
    /// The points of a space in the order of an index; which point of the space stands at each place is told beside. None if it was
    /// stopped before.
    pub fn new(space: &Space, stopped: &dyn Fn() -> bool) -> Option<(Self, Vec<u32>)> {
        let space = space.dearest_first();
        let (index, order) = Index::order(&space, stopped)?;
        let space = space.reordered(&order);
        let prices = vec![0; space.len()];
        let pricing = Pricing {
            space,
            index,
            least: None,
            boxes_work: 0,
            proved: prices.clone(),
            boxes: Vec::new(),
            prices,
            pool: Pool::default(),
            known: Known::default(),
            passes: 0,
            work: 0,
            given_up: 0,
            random: 0x9e37_79b9_7f4a_7c15,
        };
        Some((pricing, order))
    }

    /// Whether all boxes can be gone through, rather than a search around every record.
    pub fn goes_through_boxes(&self) -> bool {
        Boxes::may_be_gone_through(&self.space)
    }

    /// About how many steps [`Self::start`] takes: those for some of the points, in proportion.
    pub fn work_of_start(&self) -> u64 {
        let (step, values) = ((self.space.len() / POINTS_TRIED).max(1), self.space.value_count());
        let tried =
            parallel::tasks((0..self.space.len()).step_by(step), Nearest::default, |nearest, point| {
                nearest.box_around(&self.space, &self.index, point as u32, values).2
            });
        let all = tried.iter().sum::<u64>() as u128 * self.space.len() as u128;
        u64::try_from(all / tried.len().max(1) as u128).unwrap_or(u64::MAX)
    }

    /// Pays every point what it costs together with the furthest of its nearest, as many as its class needs: no class with it
    /// costs less, so that these prices are a proof already. `has_room_for` is asked now and then whether there is time for the
    /// rest, in seconds; whether there was.
    pub fn start(&mut self, has_room_for: &dyn Fn(f64) -> bool) -> bool {
        // Seen from another member, a number may be rounded down once more on either side.
        let numbers = self.space.costs.iter().filter(|cost| cost.two_sided()).count() as i64;
        let values = self.space.value_count();
        let around =
            |nearest: &mut Nearest, point: &u32| nearest.box_around(&self.space, &self.index, *point, values);
        let points: Vec<u32> = (0..self.space.len() as u32).collect();
        let begin = Instant::now();
        let mut found: Vec<(i64, i64, u64)> = Vec::with_capacity(points.len());
        for points_of_part in points.chunks(points.len().div_ceil(PARTS_OF_START).max(LEAST_PART_OF_START)) {
            found.extend(parallel::map_with(points_of_part, Nearest::default, around));
            let rest = (points.len() - found.len()) as f64 / found.len() as f64;
            if !has_room_for(rest * begin.elapsed().as_secs_f64()) {
                return false;
            }
        }
        self.work += found.iter().map(|(_, _, work)| work).sum::<u64>();
        self.boxes = found.iter().map(|(_, cost, _)| *cost).collect();
        self.prices = found.into_iter().map(|(furthest, _, _)| (furthest - 2 * numbers).max(0)).collect();
        self.proved.clone_from(&self.prices);
        self.least = self.goes_through_boxes().then(|| self.prices.clone());
        true
    }

    /// One pass with so much work; whether it came to an end. `stopped` is asked now and then. Boxes are gone through where that
    /// takes less than a search around every record, as far as is known.
    pub fn pass(&mut self, most_work: u64, stopped: &(dyn Fn() -> bool + Sync)) -> bool {
        match self.pass_over_boxes(most_work, stopped) {
            true => true,
            // Begun in vain: prices are as before.
            false if stopped() || self.boxes_work > 0 && self.least.is_none() => {
                self.boxes_work = 0;
                false
            }
            false => self.pass_over_anchors(most_work, stopped),
        }
    }

    fn pass_over_boxes(&mut self, most_work: u64, stopped: &(dyn Fn() -> bool + Sync)) -> bool {
        let boxes = self.least.as_ref().and_then(|least| Boxes::new(&self.space, &self.prices, least));
        let Some(boxes) = boxes else { return false };
        let most = if self.boxes_work == 0 { most_work / 2 } else { most_work.max(GROWTH * self.boxes_work) };
        let Some((cuts, work)) = boxes.pass(&self.space, &mut self.prices, most, stopped) else {
            if !stopped() {
                self.least = None;
                self.work += most;
            }
            return false;
        };
        cuts.iter().for_each(|cut| self.pool.push(cut));
        self.work += self.known.learn(&cuts, &self.space, &self.index, &self.prices);
        self.given_up = 0;
        self.proved.clone_from(&self.prices);
        self.boxes_work = work.max(1);
        self.work += work;
        self.passes += 1;
        true
    }

    /// Whether prices may be negative: that helps where values have caps.
    fn free(&self) -> bool {
        self.space.caps != Caps::None
    }

    /// Σ of proved prices over records.
    pub fn total(&self) -> i128 {
        self.sum(&self.proved)
    }

    fn sum(&self, prices: &[i64]) -> i128 {
        let each = prices.iter().zip(&self.space.records);
        each.map(|(price, records)| i128::from(*price) * i128::from(*records)).sum()
    }

    /// The order of anchors: the most demanding first, then the dearest; alike ones by lot, for neighbours in the order should
    /// not be neighbours in space.
    fn order(&self) -> Vec<u32> {
        let step = |price: i64| if price <= 0 { 0 } else { ((price as f64).log2() * STEPS) as i64 + 1 };
        let key = |point: u32| {
            let at = point as usize;
            let lot = u64::from(point).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            (u32::MAX - self.space.sizes[at], -step(self.prices[at]), lot, point)
        };
        let mut order: Vec<(u32, i64, u64, u32)> = (0..self.space.len() as u32).map(key).collect();
        order.sort_unstable();
        order.into_iter().map(|(.., point)| point).collect()
    }

    /// A pass that searches around every record. What is not visited when the work is done is paid what was proved before, at most:
    /// classes of such points alone were looked at then.
    fn pass_over_anchors(&mut self, most_work: u64, stopped: &dyn Fn() -> bool) -> bool {
        let order = self.order();
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(point, place)| places[*point as usize] = place);
        let latest = self.index.latest(&places);
        let mut later = vec![i64::MIN / 4; order.len()];
        for place in (1..order.len()).rev() {
            later[place - 1] = later[place].max(self.prices[order[place] as usize]);
        }
        let (mut work, mut place) = (0, 0);
        self.given_up = 0;
        let batch = (order.len() / BATCHES).clamp(BATCH.0, BATCH.1);
        while place < order.len() && work < most_work {
            if stopped() {
                return false;
            }
            let end = (place + batch).min(order.len());
            let most = AHEAD * (most_work - work) / (order.len() - place) as u64;
            let dear = self.index.dear(&self.space, &self.prices, &places, place as u32);
            let scene = Scene {
                space: &self.space,
                index: &self.index,
                prices: &self.prices,
                order: &order,
                places: &places,
                latest: &latest,
                later: &later,
                dear: &dear,
                free: self.free(),
            };
            let found: Vec<Found> = parallel::tasks(place..end, Scratch::default, |scratch, place| {
                scene.anchor(place as u32, most, scratch)
            });
            for found in &found {
                work += found.work;
                self.given_up += u64::from(found.given_up);
                for (point, price) in &found.lowered {
                    let own = &mut self.prices[*point as usize];
                    *own = (*own).min(*price);
                }
                found.cuts.iter().for_each(|cut| self.pool.push(cut));
            }
            place = end;
        }
        for point in &order[place..] {
            let price = &mut self.prices[*point as usize];
            *price = (*price).min(self.proved[*point as usize]);
        }
        self.proved.clone_from(&self.prices);
        self.work += work;
        self.passes += 1;
        true
    }

    /// Raises prices little by little, each time lowering what is known to be too much: much at first and little when `progress`
    /// nears 1; `has_time` if many passes are to come. `stopped` is asked between sweeps.
    pub fn raise(&mut self, progress: f64, has_time: bool, stopped: &dyn Fn() -> bool) {
        if self.passes == 0 {
            return self.raise_first();
        }
        let mean = self.total() as f64 / self.space.all().max(1) as f64;
        let free = self.free();
        let raises = match self.least {
            _ if free => RAISES_FREE,
            Some(_) if has_time => RAISES_WITH_TIME,
            Some(_) => RAISES_OVER_BOXES,
            None => RAISES_AROUND,
        };
        let small = if free { 1.0 } else { (5.0 / self.most_size().max(5.0)).cbrt() };
        let raise = raises.most * small * raises.cooled.powf(progress);
        let raise = raise.min(raises.first.get(self.passes as usize - 1).copied().unwrap_or(1.0));
        let first = raise * mean.max(f64::from(ONE) * 1e-4);
        let mut order: Vec<u32> = (0..self.pool.len() as u32).collect();
        let most = self.most_size() as i64 * i64::from(ONE);
        let mut rise = 0;
        for sweep in 0..raises.sweeps {
            if stopped() {
                return;
            }
            if sweep % 8 == 0 {
                self.shuffle(&mut order);
            }
            let step = (first * COOLEST.powf(sweep as f64 / raises.sweeps as f64)) as i64;
            self.work += self.pool.sweep(&self.space, &order, (step, most), free, &mut self.prices);
            rise += step;
            if (sweep + 1) % SWEEPS_PER_LOOK == 0 {
                self.work += self.known.look_again(&self.space, rise, &mut self.pool, &mut self.prices);
                order.extend(order.len() as u32..self.pool.len() as u32);
                rise = 0;
            }
        }
        self.pool.prune(raises.idle);
        if self.least.is_none() && !free {
            self.keep_near_proved();
        }
    }

    /// Goes back towards what is proved where prices are far above it.
    fn keep_near_proved(&mut self) {
        let (proved, raised) = (self.sum(&self.proved) as f64, self.sum(&self.prices) as f64);
        // Where next to nothing is proved yet, there is little to go by.
        let little = LITTLE * f64::from(ONE) * self.space.all() as f64;
        let way = (MOST_ABOVE - 1.0) * proved.max(little) / (raised - proved).max(1.0);
        if way < 1.0 {
            for (price, proved) in self.prices.iter_mut().zip(&self.proved) {
                *price = *proved + ((*price - *proved) as f64 * way) as i64;
            }
        }
    }

    /// How many records a class has at least, where that is most.
    fn most_size(&self) -> f64 {
        self.space.sizes.iter().max().map_or(1.0, |size| f64::from(*size))
    }

    /// Part of the way to what the box of the nearest costs: nothing is known yet that would stop prices. The less the larger K,
    /// where each record is searched around: that takes the longer the further prices are above what holds.
    fn raise_first(&mut self) {
        let size = self.most_size();
        let way = match self.least {
            Some(_) => FIRST_WAY * (LARGE_CLASSES / size).min(1.0).sqrt().sqrt(),
            None => 2.5 / size.max(5.0),
        };
        let raise = |(price, cost): (&mut i64, &i64)| *price += ((cost - *price).max(0) as f64 * way) as i64;
        self.prices.iter_mut().zip(&self.boxes).for_each(raise);
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
