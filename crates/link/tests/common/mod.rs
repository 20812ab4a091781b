//! Packets, laws and inputs for the tests.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses its own part of this one")]

use longhaul_link::{Change, Delay, Fate, Laws, Link, Load, Loss, Offered, OutOfOrder, QueueLimit};
use longhaul_random::Seed;
use longhaul_units::{Probability, Rate, Span, Time};
use proptest::prelude::*;

/// A numbered packet; packets of one train continue each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packet {
    pub number: u64,
    pub bytes: u32,
    pub train: u64,
}

impl Load for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn continues(&self, previous: &Self) -> bool {
        self.train == previous.train && self.number == previous.number + 1
    }
}

/// A packet of a train of its own.
pub fn packet(number: u64, bytes: u32) -> Packet {
    Packet { number, bytes, train: number }
}

/// A link that only passes things on.
pub fn transparent() -> Laws {
    Laws {
        up: true,
        loss: Loss::None,
        queue: QueueLimit::default(),
        rate: None,
        framing_bytes: 0,
        delay: Delay::Constant(Span::ZERO),
        reorder: false,
        out_of_order: None,
        duplicate: Probability::ZERO,
    }
}

pub fn link(laws: Laws) -> Link<Packet> {
    Link::new(laws, &Seed::new(1), "par-nyc/forward", Span::ZERO)
}

pub fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

pub fn gigabit(n: u64) -> Option<Rate> {
    Rate::from_bits_per_s(n * 1_000_000_000)
}

/// Everything that can be taken by `now`: packet number and due time.
pub fn drain(link: &mut Link<Packet>, now: Time) -> Vec<(u64, Time)> {
    std::iter::from_fn(|| link.take(now)).map(|(packet, due)| (packet.number, due)).collect()
}

/// Polls at every event up to and including `end`, as a host that is never late.
pub fn run_until(link: &mut Link<Packet>, end: Time, out: &mut Vec<(u64, Time)>) {
    while link.next_event() <= end {
        let event = link.next_event();
        out.extend(drain(link, event));
        assert!(link.next_event() > event, "a drained link wants nothing more of this instant");
    }
}

/// An instant late enough for everything in these tests, but early enough to add to.
pub const END: Time = Time::from_ns(1_000_000_000_000);

/// What happens to a link, after a pause.
#[derive(Clone, Debug)]
pub enum Input {
    Offer { bytes: u32, continues: bool },
    Change(Change),
}

/// How a host polls between inputs.
#[derive(Clone, Copy, Debug)]
pub enum Polls {
    /// At every event, at once.
    Prompt,
    /// At every input only.
    AtInputs,
    /// At the end only.
    Never,
}

/// What came of a run.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub fates: Vec<Offered>,
    pub out: Vec<(u64, Time)>,
    pub counters: longhaul_link::Counters,
}

/// Feeds the inputs to a link and brings it up at the end, so that nothing is left waiting.
pub fn play(mut link: Link<Packet>, inputs: &[(Span, Input)], polls: Polls) -> Outcome {
    let mut now = Time::ZERO;
    let (mut fates, mut out) = (Vec::new(), Vec::new());
    let mut train = 0;
    for (number, (pause, input)) in (0..).zip(inputs) {
        now += *pause;
        match polls {
            Polls::Prompt => run_until(&mut link, now, &mut out),
            Polls::AtInputs => out.extend(drain(&mut link, now)),
            Polls::Never => {}
        }
        match input {
            Input::Offer { bytes, continues } => {
                train = if *continues { train } else { number };
                fates.push(link.offer(now, Packet { number, bytes: *bytes, train }));
            }
            Input::Change(change) => link.change(now, change),
        }
        assert_conserved(&link);
    }
    link.change(now, &Change { up: Some(true), ..Change::default() });
    match polls {
        Polls::Prompt => run_until(&mut link, END, &mut out),
        Polls::AtInputs | Polls::Never => out.extend(drain(&mut link, END)),
    }
    assert_conserved(&link);
    assert_eq!((link.waiting(), link.flying()), ((0, 0), 0));
    assert_eq!(link.next_event(), Time::NEVER);
    Outcome { fates, out, counters: *link.counters() }
}

/// Every packet that came in is in exactly one place.
pub fn assert_conserved(link: &Link<Packet>) {
    let c = link.counters();
    let ended = c.lost_packets + c.overflowed_packets + c.dropped_packets + c.down_packets;
    assert_eq!(
        c.offered_packets + c.copied_packets,
        c.delivered_packets + ended + link.waiting().0 + link.flying()
    );
}

impl Outcome {
    /// How many packets were offered and ended in this way.
    pub fn ended(&self, fate: Fate) -> u64 {
        self.fates.iter().filter(|&&offered| offered == Offered::Ended(fate)).count() as u64
    }
}

fn any_loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        (0.0..=1.0).prop_map(|p| Loss::Independent(probability(p))),
        (0u64..9).prop_map(Loss::OnePerBlock),
        (0.0..0.5, 1.0..9.0).prop_map(|(mean, burst)| Loss::GilbertElliott { mean, burst }),
    ]
}

fn any_span(most_ns: u64) -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ZERO), (0..=most_ns * 1000).prop_map(Span::from_ps)]
}

fn any_delay() -> impl Strategy<Value = Delay> {
    prop_oneof![
        any_span(20_000).prop_map(Delay::Constant),
        (any_span(20_000), 0.0..=1.0).prop_map(|(mean, share)| Delay::Uniform {
            mean,
            half_width: Span::from_ps((mean.ps() as f64 * share) as u64),
        }),
        (any_span(20_000), any_span(10_000)).prop_map(|(mean, sd)| Delay::Normal { mean, sd }),
    ]
}

fn any_rate() -> impl Strategy<Value = Option<Rate>> {
    proptest::option::weighted(
        0.8,
        (1u64..20_000_000_000).prop_map(|b| Rate::from_bits_per_s(b + 99_999_999).unwrap()),
    )
}

fn any_queue() -> impl Strategy<Value = QueueLimit> {
    (proptest::option::of(0u64..20), proptest::option::of(0u64..20_000))
        .prop_map(|(packets, bytes)| QueueLimit { packets, bytes })
}

fn any_probability() -> impl Strategy<Value = Probability> {
    prop_oneof![Just(Probability::ZERO), (0.0..=1.0).prop_map(probability)]
}

/// Laws that let nothing overtake.
pub fn ordered_laws() -> impl Strategy<Value = Laws> {
    (any_loss(), any_queue(), any_rate(), 0u32..40, any_delay(), any_probability()).prop_map(
        |(loss, queue, rate, framing_bytes, delay, duplicate)| Laws {
            loss,
            queue,
            rate,
            framing_bytes,
            delay,
            duplicate,
            ..transparent()
        },
    )
}

/// All laws.
pub fn any_laws() -> impl Strategy<Value = Laws> {
    let out_of_order = proptest::option::of((0u64..9, any_span(40_000)));
    (ordered_laws(), any::<bool>(), out_of_order).prop_map(|(laws, reorder, out_of_order)| Laws {
        reorder,
        out_of_order: out_of_order.map(|(block, delay)| OutOfOrder { block, delay }),
        ..laws
    })
}

fn any_change() -> impl Strategy<Value = Change> {
    use proptest::option::weighted;
    (
        weighted(0.3, any::<bool>()),
        weighted(0.3, any_loss()),
        weighted(0.3, any_queue()),
        weighted(0.3, any_rate()),
        weighted(0.3, any_delay()),
        weighted(0.3, any_probability()),
    )
        .prop_map(|(up, loss, queue, rate, delay, duplicate)| Change {
            up,
            loss,
            queue,
            rate,
            delay,
            duplicate,
        })
}

fn any_offer() -> impl Strategy<Value = (Span, Input)> {
    (any_span(3_000), 1u32..9001, any::<bool>())
        .prop_map(|(pause, bytes, continues)| (pause, Input::Offer { bytes, continues }))
}

/// Offers alone.
pub fn offers() -> impl Strategy<Value = Vec<(Span, Input)>> {
    proptest::collection::vec(any_offer(), 0..80)
}

/// Offers and, now and then, changes.
pub fn inputs() -> impl Strategy<Value = Vec<(Span, Input)>> {
    let change = (any_span(3_000), any_change()).prop_map(|(pause, change)| (pause, Input::Change(change)));
    proptest::collection::vec(prop_oneof![9 => any_offer(), 1 => change], 0..80)
}
