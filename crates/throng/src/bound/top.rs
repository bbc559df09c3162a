//! The dearest records of some, where equal ones are one point.

/// Keeps the dearest of what it is given, so many records.
pub(super) struct Top {
    room: u32,
    records: u32,
    sum: i64,
    /// What is kept, as a heap with the cheapest first.
    kept: Vec<Kept>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    price: i64,
    item: u32,
    records: u32,
}

impl Top {
    pub fn new(room: u32) -> Self {
        Top { room, records: 0, sum: 0, kept: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.kept.clear();
        (self.records, self.sum) = (0, 0);
    }

    /// What they are paid, if there are enough of them.
    #[inline(always)]
    pub fn sum(&self) -> Option<i64> {
        (self.records == self.room).then_some(self.sum)
    }

    /// The price of the cheapest; nothing where there is room for more.
    #[inline(always)]
    pub fn least(&self) -> i64 {
        if self.records == self.room { self.kept[0].price } else { i64::MIN }
    }

    #[inline(always)]
    pub fn add(&mut self, price: i64, item: u32, records: u32) {
        if price > self.least() {
            self.insert(Kept { price, item, records: records.min(self.room) });
        }
    }

    fn insert(&mut self, new: Kept) {
        self.sum += new.price * i64::from(new.records);
        if self.records == self.room && self.kept[0].records == new.records {
            self.sum -= self.kept[0].price * i64::from(new.records);
            self.kept[0] = new;
            return self.sink();
        }
        self.records += new.records;
        self.kept.push(new);
        self.rise();
        while self.records > self.room {
            let excess = self.records - self.room;
            let last = &mut self.kept[0];
            let drop = excess.min(last.records);
            self.sum -= last.price * i64::from(drop);
            self.records -= drop;
            last.records -= drop;
            if last.records == 0 {
                self.kept.swap_remove(0);
                self.sink();
            }
        }
    }

    /// Moves the last up to its place.
    fn rise(&mut self) {
        let mut at = self.kept.len() - 1;
        let own = self.kept[at];
        while at > 0 {
            let above = (at - 1) / 2;
            if self.kept[above].price <= own.price {
                break;
            }
            self.kept[at] = self.kept[above];
            at = above;
        }
        self.kept[at] = own;
    }

    /// Moves the first down to its place.
    fn sink(&mut self) {
        let kept = &mut self.kept[..];
        let Some(own) = kept.first().copied() else { return };
        let mut at = 0;
        loop {
            let mut below = 2 * at + 1;
            if below >= kept.len() {
                break;
            }
            below += usize::from(below + 1 < kept.len() && kept[below + 1].price < kept[below].price);
            if kept[below].price >= own.price {
                break;
            }
            kept[at] = kept[below];
            at = below;
        }
        kept[at] = own;
    }

    /// Items and how many records of each, by item.
    pub fn members(&self) -> Vec<(u32, u32)> {
        let mut members: Vec<(u32, u32)> = self.kept.iter().map(|kept| (kept.item, kept.records)).collect();
        members.sort_unstable();
        members
    }
}
