//! The dearest of some records, at most so many and at most a cap of each value.

/// Keeps the dearest of what it is given. That one value at its cap gives up its cheapest, and else the cheapest of all goes,
/// gives the largest sum that there is: such choices form a matroid.
#[derive(Default)]
pub(super) struct Dearest {
    room: usize,
    capped: bool,
    /// Price and candidate, the cheapest first.
    kept: Vec<(i64, u32)>,
    sum: i64,
    /// How many of each value there are; used where values have caps.
    counts: Vec<u32>,
    /// Values that were counted, so that beginning anew takes no longer than what came before.
    counted: Vec<u32>,
}

/// One of whom the dearest are kept.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub price: i64,
    pub candidate: u32,
    pub records: u32,
    pub value: u32,
    pub cap: u32,
}

impl Dearest {
    /// Begins anew, with one record of a value already taken.
    pub fn begin(&mut self, room: usize, taken: Option<(u32, usize)>) {
        self.room = room;
        self.kept.clear();
        self.sum = 0;
        self.capped = taken.is_some();
        if let Some((value, values)) = taken {
            self.counted.drain(..).for_each(|value| self.counts[value as usize] = 0);
            if self.counts.len() < values {
                self.counts.resize(values, 0);
            }
            self.count(value);
        }
    }

    pub fn full(&self) -> bool {
        self.kept.len() == self.room
    }

    pub fn sum(&self) -> i64 {
        self.sum
    }

    /// Where prices are costs below 0: at this cost nothing is kept any more.
    pub fn limit(&self) -> u32 {
        match self.kept.first() {
            Some((price, _)) if self.full() => (-price) as u32,
            _ => u32::MAX,
        }
    }

    pub fn candidates(&self) -> impl Iterator<Item = u32> + '_ {
        self.kept.iter().map(|(_, candidate)| *candidate)
    }

    #[inline(always)]
    pub fn add(&mut self, offer: Offer, values: &[u32]) {
        if self.room == 0 || self.kept.len() == self.room && offer.price <= self.kept[0].0 {
            return;
        }
        for _ in 0..offer.records.min(self.room as u32) {
            if !self.add_one(offer, values) {
                return;
            }
        }
    }

    fn add_one(&mut self, offer: Offer, values: &[u32]) -> bool {
        if self.capped && self.counts[offer.value as usize] >= offer.cap {
            // The cheapest of this value must go.
            let of_value = |kept: &(i64, u32)| values[kept.1 as usize] == offer.value;
            match self.kept.iter().position(of_value) {
                Some(at) if self.kept[at].0 < offer.price => self.drop_one(at, values),
                _ => return false,
            }
        } else if self.kept.len() == self.room {
            if self.kept[0].0 >= offer.price {
                return false;
            }
            self.drop_one(0, values);
        }
        let at = self.kept.partition_point(|kept| kept.0 < offer.price);
        self.kept.insert(at, (offer.price, offer.candidate));
        self.sum += offer.price;
        if self.capped {
            self.count(offer.value);
        }
        true
    }

    fn count(&mut self, value: u32) {
        self.counts[value as usize] += 1;
        self.counted.push(value);
    }

    fn drop_one(&mut self, at: usize, values: &[u32]) {
        let (price, candidate) = self.kept.remove(at);
        self.sum -= price;
        if self.capped {
            self.counts[values[candidate as usize] as usize] -= 1;
        }
    }
}
