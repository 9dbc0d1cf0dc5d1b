//! Which of its stores a workgroup had waited for when it told others of them.
//!
//! Every instruction that stores to global memory has a number, which the words that it writes
//! keep. A wave that loads such a word at the scope of the device, or changes it by an atomic
//! operation, hears of that store and of all that the storing wave had heard of before: a vector
//! clock. A store may be read plainly by those who heard of a later one of the same workgroup that
//! was issued when this one was complete; who has only heard of one that was not can meet it in
//! either order.

use std::rc::Rc;

use rpds::RedBlackTreeMap;

use crate::loads::Loads;
use crate::memory::Visitor;
use crate::stamps::Stamps;
use crate::suspects::Suspects;
use crate::wave::Wave;

/// Number of a storing instruction among those of the launch, from 1.
pub(crate) type Number = u32;

/// One more than the last number that is given.
const NUMBERS: Number = 1 << 31;

/// An access, as far as it has an order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) workgroup: u32,
    pub(crate) wave: u32,
    /// The first store of its wave that is the access or behind it has this number, or a later
    /// one.
    pub(crate) number: Number,
    /// The barrier that orders it before what other waves do behind it.
    pub(crate) barrier: u32,
}

/// What a wave heard of: of every wave of the launch, by workgroup and wave, the last store. Clocks
/// share what they have in common: every store keeps one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock(Option<Rc<RedBlackTreeMap<(u32, u32), Number>>>);

impl Clock {
    fn get(&self, of: (u32, u32)) -> Number {
        let heard = self.0.as_ref().and_then(|heard| heard.get(&of));
        heard.copied().unwrap_or(0)
    }

    /// The last store of each wave of a workgroup.
    fn of(&self, workgroup: u32) -> impl Iterator<Item = Number> {
        let waves = (workgroup, 0)..=(workgroup, u32::MAX);
        let heard = self
            .0
            .iter()
            .flat_map(move |heard| heard.range(waves.clone()));
        heard.map(|(_, &number)| number)
    }

    /// Hears of all that another clock heard of.
    pub(crate) fn join(&mut self, other: &Clock) {
        let Some(theirs) = &other.0 else { return };
        let Some(mine) = &self.0 else {
            self.0 = Some(Rc::clone(theirs));
            return;
        };
        if Rc::ptr_eq(mine, theirs) {
            return;
        }
        // What the smaller one has that is newer goes into the larger one.
        let (large, small) = match mine.size() < theirs.size() {
            true => (theirs, mine),
            false => (mine, theirs),
        };
        let mut all = Rc::clone(large);
        for (&of, &number) in small.iter() {
            if all.get(&of).is_none_or(|known| *known < number) {
                Rc::make_mut(&mut all).insert_mut(of, number);
            }
        }
        self.0 = Some(all);
    }

    fn raise(&mut self, of: (u32, u32), number: Number) {
        let heard = Rc::make_mut(self.0.get_or_insert_default());
        heard.insert_mut(of, number);
    }
}

/// When a wave had waited for an access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    /// The first number that was not given yet.
    pub(crate) number: Number,
    /// The barrier that orders the wait before what other waves do behind it.
    pub(crate) barrier: u32,
}

impl Done {
    /// It has not waited so far.
    pub(crate) const NEVER: Done = Done {
        number: Number::MAX,
        barrier: u32::MAX,
    };
}

/// How an access lies to what a wave does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Before it, and complete.
    Complete,
    /// Its wave signalled behind it, but had not waited for it: it may happen yet.
    Pending,
    /// Nothing orders the two.
    Unordered,
}

/// An instruction that stored.
#[derive(Debug)]
struct Store {
    point: Point,
    done: Done,
    /// Barriers that its wave had passed.
    passed: u32,
    /// Barriers that its wave had passed when it last waited for all vector memory operations.
    settled: u32,
    how: How,
    /// What its wave had heard of, and an atomic operation found in its word.
    clock: Clock,
    /// The last of what it found there that its wave may not have heard of, or 0.
    found: Number,
}

/// How an instruction stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Plainly,
    /// With a scope, as LLVM stores what the source calls atomic where the chip tells them apart.
    Scoped,
    /// By an atomic operation.
    Atomically,
}

/// Why a load may see what was there before a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    /// The storing workgroup had not waited for it when it signalled.
    Stored,
    /// The loading wave had not waited for the load of the signal.
    Loaded,
}

impl Early {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Early::Stored => {
                "reads what another wave stored and did not wait for before it signalled"
            }
            Early::Loaded => {
                "reads what another workgroup stored before it waited for the load that told it so"
            }
        }
    }
}

/// The stores of a launch, whose workgroups run one at a time.
#[derive(Debug)]
pub(crate) struct Signals {
    /// By number; the first is 1.
    stores: Vec<Store>,
    /// Which of them stored a word.
    pub(crate) stamps: Stamps,
    /// Which waves loaded a word since.
    pub(crate) loads: Loads,
    /// Stores that are races unless their words turn out to be signals.
    pub(crate) suspects: Suspects,
    /// Whether a wave that waits behind a barrier waits for what others stored before it.
    shared: bool,
    /// Whether the waves of a workgroup run on two compute units, which have a cache each.
    across_units: bool,
}

impl Signals {
    /// None stored so far.
    pub(crate) fn new(shared: bool, across_units: bool) -> Signals {
        Signals {
            stores: Vec::new(),
            stamps: Stamps::default(),
            loads: Loads::default(),
            suspects: Suspects::default(),
            shared,
            across_units,
        }
    }

    fn get(&self, number: Number) -> Option<&Store> {
        self.stores.get((number as usize).checked_sub(1)?)
    }

    /// How a store stored.
    pub(crate) fn how(&self, number: Number) -> Option<How> {
        self.get(number).map(|store| store.how)
    }

    /// A store's place in the order of all.
    pub(crate) fn point(&self, number: Number) -> Option<Point> {
        self.get(number).map(|store| store.point)
    }

    /// Whether an access lies before what a wave does now that has heard of `heard`: in its own
    /// program, before a barrier, or before a signal that it heard of.
    pub(crate) fn is_before(&self, point: &Point, me: &Visitor, heard: &Clock) -> bool {
        if point.workgroup == me.workgroup && (point.wave == me.wave || me.passed > point.barrier) {
            return true;
        }
        let passed = |later: &Store| later.passed > point.barrier;
        self.any_signal(point, heard, |signal| signal >= point.number, passed)
    }

    /// Whether a clock tells of a store of an access's workgroup that is as asked: one of its own
    /// wave, by its number, or one of another wave.
    fn any_signal(
        &self,
        point: &Point,
        clock: &Clock,
        own: impl Fn(Number) -> bool,
        other: impl Fn(&Store) -> bool,
    ) -> bool {
        clock.of(point.workgroup).any(|signal| {
            let store = self.get(signal);
            store.is_some_and(|store| match store.point.wave == point.wave {
                true => own(signal),
                false => other(store),
            })
        })
    }

    /// Whether an access must have been waited for before the signal between it and what a wave does
    /// now: not within a wave, nor where waves share a cache.
    pub(crate) fn waits(&self, point: &Point, me: &Visitor) -> bool {
        point.workgroup != me.workgroup || self.across_units && point.wave != me.wave
    }

    /// Whether a wave that heard of `heard` passed a barrier, or heard of a signal, behind an access.
    fn is_signalled(&self, point: &Point, me: &Visitor, heard: &Clock) -> bool {
        let passed = point.workgroup == me.workgroup && me.passed > point.barrier;
        passed || self.is_told(point, heard)
    }

    /// The same where the access was complete by then.
    fn is_complete(&self, point: &Point, done: &Done, me: &Visitor, heard: &Clock) -> bool {
        let passed = point.workgroup == me.workgroup && me.passed > done.barrier;
        passed || self.is_released(point, done, heard)
    }

    /// Whether what others load later returns behind an access that lies before it: in one wave, and
    /// where waves share an order; else the access must be complete.
    pub(crate) fn returned(&self, point: &Point, done: &Done, me: &Visitor, heard: &Clock) -> bool {
        let own = (point.workgroup, point.wave) == (me.workgroup, me.wave);
        own || self.shared || self.is_complete(point, done, me, heard)
    }

    /// How an access, and when its wave had waited for it, lie to what a wave does now that has
    /// heard of `heard`.
    pub(crate) fn order(&self, point: &Point, done: &Done, me: &Visitor, heard: &Clock) -> Order {
        if !self.is_before(point, me, heard) {
            return Order::Unordered;
        }
        match self.waits(point, me) && !self.is_complete(point, done, me, heard) {
            true => Order::Pending,
            false => Order::Complete,
        }
    }

    /// The same of a store. Who has heard of no more than the store itself knows that it is there.
    pub(crate) fn order_of(&self, number: Number, me: &Visitor, heard: &Clock) -> Option<Order> {
        let store = self.get(number)?;
        let order = self.order(&store.point, &store.done, me, heard);
        match order == Order::Pending && !self.is_signalled(&store.point, me, heard) {
            true => Some(Order::Complete),
            false => Some(order),
        }
    }

    /// Number of the next store.
    pub(crate) fn next(&self) -> Number {
        self.stores.len() as Number + 1
    }

    /// The number of a store about to be executed; 0 where there are no more numbers.
    pub(crate) fn issue<const W: usize>(
        &mut self,
        workgroup: u32,
        how: How,
        wave: &Wave<W>,
    ) -> Number {
        let number = self.next();
        if number == NUMBERS {
            return 0;
        }
        self.stores.push(Store {
            point: Point {
                workgroup,
                wave: wave.id,
                number,
                barrier: wave.next_barrier(),
            },
            done: Done::NEVER,
            passed: wave.passed(),
            settled: wave.settled,
            how,
            clock: wave.heard.clone(),
            found: 0,
        });
        number
    }

    /// A wave waited for one of its stores.
    pub(crate) fn complete<const W: usize>(&mut self, number: Number, wave: &Wave<W>) {
        let done = self.now(wave);
        if let Some(store) = self.stores.get_mut((number as usize).wrapping_sub(1)) {
            store.done = done;
        }
    }

    /// What is said of an access that a wave has just waited for.
    pub(crate) fn now<const W: usize>(&self, wave: &Wave<W>) -> Done {
        Done {
            number: self.next(),
            barrier: wave.next_barrier(),
        }
    }

    /// The clock of a wave, given by workgroup and wave, hears of a store.
    pub(crate) fn hear(&self, clock: &mut Clock, me: (u32, u32), number: Number) {
        let Some(store) = self.get(number) else {
            return;
        };
        let of = (store.point.workgroup, store.point.wave);
        let news = of != me && clock.get(of) < number;
        // Who heard of a later store of a wave heard all that the wave had heard of before, but not
        // what its atomic operations found, unless it was told. Its own tell a wave what they found.
        if news || of == me || store.found != 0 {
            clock.join(&store.clock);
        }
        if news {
            clock.raise(of, number);
        }
    }

    /// A store by an atomic operation depends on what an earlier one wrote there: who hears of it
    /// hears of that one too.
    pub(crate) fn keep(&mut self, number: Number, earlier: Number) {
        let store = self.stores.get_mut((number as usize).wrapping_sub(1));
        // Lanes mostly find the same.
        let Some(store) = store.filter(|store| store.found != earlier) else {
            return;
        };
        let me = (store.point.workgroup, store.point.wave);
        let mut clock = std::mem::take(&mut store.clock);
        self.hear(&mut clock, me, earlier);
        let store = &mut self.stores[number as usize - 1];
        (store.clock, store.found) = (clock, earlier);
    }

    /// Whether a workgroup other than the given one executed a store.
    pub(crate) fn is_foreign(&self, number: Number, workgroup: u32) -> bool {
        self.get(number)
            .is_some_and(|store| store.point.workgroup != workgroup)
    }

    /// Whether a clock tells of a signal behind a store.
    fn is_told(&self, point: &Point, clock: &Clock) -> bool {
        let passed = |later: &Store| later.passed > point.barrier;
        self.any_signal(point, clock, |signal| signal > point.number, passed)
    }

    /// The same of a store by its number.
    pub(crate) fn is_store_told(&self, number: Number, clock: &Clock) -> bool {
        self.get(number)
            .is_some_and(|store| self.is_told(&store.point, clock))
    }

    /// Whether a clock tells of a signal that was issued when an access was complete.
    fn is_released(&self, point: &Point, done: &Done, clock: &Clock) -> bool {
        let waited = |later: &Store| {
            later.passed > done.barrier || self.shared && later.settled > point.barrier
        };
        self.any_signal(point, clock, |signal| done.number <= signal, waited)
    }

    /// The same of a store.
    pub(crate) fn is_store_released(&self, number: Number, clock: &Clock) -> bool {
        self.get(number)
            .is_some_and(|store| self.is_released(&store.point, &store.done, clock))
    }

    /// What a wave knows that heard of `heard` and has waited for loads of signals.
    pub(crate) fn with(
        &self,
        heard: &Clock,
        me: (u32, u32),
        signals: impl Iterator<Item = Number>,
    ) -> Clock {
        let mut all = heard.clone();
        for signal in signals {
            self.hear(&mut all, me, signal);
        }
        all
    }

    /// Why a wave may read another one's store too early that has heard of the first clock, and will
    /// have heard of the second once it has waited for its loads. Nothing is said of who heard of
    /// nothing.
    pub(crate) fn early(
        &self,
        number: Number,
        me: &Visitor,
        [heard, all]: [&Clock; 2],
    ) -> Option<Early> {
        let Store { point, done, .. } = self.get(number)?;
        if self.is_complete(point, done, me, heard) {
            return None;
        }
        if self.is_complete(point, done, me, all) {
            return Some(Early::Loaded);
        }
        self.is_signalled(point, me, all).then_some(Early::Stored)
    }
}
