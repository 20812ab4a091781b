//! Packets, models and inputs for the tests.
#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses its own part of this one")]

use longhaul_link::{
    BundleModel, Cells, Change, CodelParameters, DelayModel, DelaySeries, DrrParameters, Fate, FlowKey,
    FqCodelParameters, Framing, GapUnit, Line, Link, LinkModel, LinkPacket, LossModel, LossPosition,
    OfferResult, Opportunities, PieParameters, Policy, PriorityBands, QueueDiscipline, QueueModel, RateModel,
    RateSeries, RedParameters, ReorderModel, Resequence, Rounding, Series,
};
use longhaul_random::{Distribution, Seed};
use longhaul_units::{Histogram, Probability, Rate, Span, Time};
use proptest::prelude::*;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

/// A numbered packet; packets of one train continue each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packet {
    pub number: u64,
    pub bytes: u32,
    pub train: u64,
}

impl LinkPacket for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn continues(&self, previous: &Self) -> bool {
        self.train == previous.train && self.number == previous.number + 1
    }
    fn flow(&self) -> u64 {
        self.number % 5
    }
    fn dscp(&self) -> u8 {
        (self.number % 64) as u8
    }
    fn mark(&mut self) -> bool {
        self.number.is_multiple_of(3)
    }
}

/// A packet of a train of its own.
pub fn packet(number: u64, bytes: u32) -> Packet {
    Packet { number, bytes, train: number }
}

/// A link that only passes things on.
pub fn transparent() -> LinkModel {
    LinkModel::default()
}

pub fn link(model: LinkModel) -> Link<Packet> {
    Link::new(model, &Seed::new(1), "par-nyc/forward", Span::ZERO)
}

pub fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

pub fn gigabit(n: u64) -> RateModel {
    bits_per_s(n * 1_000_000_000)
}

pub fn bits_per_s(bits: u64) -> RateModel {
    RateModel::constant(Rate::from_bits_per_s(bits).unwrap())
}

pub fn ethernet() -> Framing {
    Framing { overhead_bytes: 38, ..Framing::default() }
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
        while link.drop_pending().is_some() {}
        assert!(link.next_event() > event, "a drained link wants nothing more of this instant");
    }
}

/// An instant late enough for everything in these tests, but early enough to add to.
pub const END: Time = Time::from_ns(1_000_000_000_000);

/// What happens to a link, after a pause.
#[derive(Clone, Debug)]
pub enum Input {
    Offer { bytes: u32, continues: bool },
    Change(Box<Change>),
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
    pub fates: Vec<OfferResult>,
    pub out: Vec<(u64, Time)>,
    /// Who ended inside, in order of numbers.
    pub inside: Vec<(u64, Fate)>,
    pub counters: longhaul_link::Counters,
    pub waits: Histogram,
}

/// Feeds the inputs to a link and brings it up at the end, so that nothing is left waiting.
pub fn play(line: impl Into<Line<Packet>>, inputs: &[(Span, Input)], polls: Polls) -> Outcome {
    let mut line = line.into();
    let mut now = Time::ZERO;
    let (mut fates, mut out, mut inside) = (Vec::new(), Vec::new(), Vec::new());
    let mut train = 0;
    for (number, (pause, input)) in (0..).zip(inputs) {
        now += *pause;
        match polls {
            Polls::Prompt => poll_until(&mut line, now, &mut out, &mut inside),
            Polls::AtInputs => empty(&mut line, now, &mut out, &mut inside),
            Polls::Never => {}
        }
        match input {
            Input::Offer { bytes, continues } => {
                train = if *continues { train } else { number };
                fates.push(line.offer(now, Packet { number, bytes: *bytes, train }));
            }
            Input::Change(change) => line.change(now, None, change),
        }
        assert_conserved(&line);
    }
    // Whatever rate it had, nothing shall be left waiting for a token that may never come.
    let open = Change { up: Some(true), rate: Some(gigabit(1)), ..Change::default() };
    line.change(now, None, &open);
    match polls {
        Polls::Prompt => poll_until(&mut line, END, &mut out, &mut inside),
        Polls::AtInputs | Polls::Never => empty(&mut line, END, &mut out, &mut inside),
    }
    assert_conserved(&line);
    assert_eq!((line.waiting(), line.in_flight()), ((0, 0), 0));
    assert_eq!(line.next_event(), Time::NEVER);
    inside.sort_by_key(|each| (each.0, format!("{:?}", each.1)));
    Outcome { fates, out, inside, counters: line.counters(), waits: line.waits() }
}

type Out = Vec<(u64, Time)>;
type Inside = Vec<(u64, Fate)>;

fn empty(line: &mut Line<Packet>, now: Time, out: &mut Out, inside: &mut Inside) {
    out.extend(std::iter::from_fn(|| line.take(now)).map(|(packet, due)| (packet.number, due)));
    inside.extend(std::iter::from_fn(|| line.drop_pending()).map(|(packet, fate)| (packet.number, fate)));
}

fn poll_until(line: &mut Line<Packet>, end: Time, out: &mut Out, inside: &mut Inside) {
    while line.next_event() <= end {
        let event = line.next_event();
        empty(line, event, out, inside);
        assert!(line.next_event() > event, "a drained link wants nothing more of this instant");
    }
}

/// Every packet that came in is in exactly one place.
pub fn assert_conserved(line: &Line<Packet>) {
    let c = line.counters();
    let ended = c.lost_packets + c.overflowed_packets + c.dropped_packets + c.down_packets;
    assert_eq!(
        c.offered_packets + c.copied_packets,
        c.delivered_packets + ended + line.waiting().0 + line.in_flight()
    );
}

impl Outcome {
    /// How many packets were offered and ended in this way.
    pub fn ended(&self, fate: Fate) -> u64 {
        self.fates.iter().filter(|&&offered| offered == OfferResult::Ended(fate)).count() as u64
    }
}

fn any_amount(most: f64) -> impl Strategy<Value = Distribution> {
    prop_oneof![
        (0.0..most).prop_map(|value| Distribution::Constant { value }),
        (0.0..most).prop_map(move |low| Distribution::Uniform { low, high: most }),
        (0.1..most).prop_map(|mean| Distribution::Exponential { mean }),
        (0.3..5.0, 0.1..most).prop_map(|(shape, scale)| Distribution::Weibull {
            shape,
            scale,
            location: 0.0
        }),
        (0.3..5.0, 0.1..most).prop_map(|(shape, scale)| Distribution::Gamma { shape, scale }),
        (1.1..5.0, 0.1..most).prop_map(|(shape, scale)| Distribution::Pareto { shape, scale }),
        (0.0..3.0, 0.0..1.0).prop_map(|(mu, sigma)| Distribution::Lognormal { mu, sigma }),
        (0.5..5.0, 0.1..most).prop_map(|(shape, scale)| Distribution::LogLogistic { shape, scale }),
        (0.1..most, 0.1..most).prop_map(|(mean, shape)| Distribution::InverseGaussian { mean, shape }),
        any_tail(most).prop_map(|(shape, scale, location)| Distribution::GeneralisedPareto {
            shape,
            scale,
            location
        }),
        any_tail(most).prop_map(|(shape, scale, location)| Distribution::Gev { shape, scale, location }),
        any_tail(most).prop_map(|(delta, gamma, xi)| Distribution::Wakeby {
            alpha: -gamma / 2.0,
            beta: 3.0,
            gamma,
            delta,
            xi
        }),
        Just(Distribution::Empirical { values: Arc::from([1.0, 2.0, 7.0]) }),
    ]
}

/// A shape, a scale and a location, which may be below zero, though not so far that all draws would be.
fn any_tail(most: f64) -> impl Strategy<Value = (f64, f64, f64)> {
    (-1.0..1.5, 0.1..most, -0.5..1.0).prop_map(|(shape, scale, at)| (shape, scale, scale * at))
}

fn any_loss() -> impl Strategy<Value = LossModel> {
    prop_oneof![
        Just(LossModel::None {}),
        (0.0..=1.0).prop_map(|p| LossModel::Independent { probability: probability(p) }),
        (1u64..9).prop_map(|block| LossModel::OnePerBlock { block: count(block) }),
        (1u64..9).prop_map(|every| LossModel::Periodic { every: count(every) }),
        (0.0..0.5, 1.0..9.0).prop_map(|(mean, burst)| LossModel::GilbertElliott { mean, burst }),
        (0.0..0.9, 0.0..0.99).prop_map(|(mean, correlation)| LossModel::Correlated { mean, correlation }),
        (0.01..0.5, 0.01..0.9, 0.0..0.5).prop_map(|(p, r, g)| LossModel::Markov {
            good_to_bad: probability(p),
            bad_to_good: probability(r),
            loss_good: probability(g),
            loss_bad: probability(0.8),
        }),
        (0.0..0.5, 0.01..0.5, 0.0..0.5).prop_map(|(p13, p31, p32)| LossModel::FourState {
            p13,
            p31,
            p32,
            p23: 0.5,
            p14: 0.1
        }),
        (any_amount(9.0), any_amount(3.0)).prop_map(|(gap, burst)| LossModel::Renewal {
            gap,
            burst,
            unit: GapUnit::Packets,
            lasts: None
        }),
        (
            any_amount(9000.0),
            proptest::option::of(any_span(2000)),
            prop_oneof![
                Just(GapUnit::Bytes),
                Just(GapUnit::Wall),
                Just(GapUnit::Busy { rate: Rate::from_bits_per_s(1_000_000_000).unwrap() }),
            ]
        )
            .prop_map(|(gap, lasts, unit)| LossModel::Renewal {
                gap,
                burst: Distribution::Constant { value: 1.0 },
                unit,
                lasts
            }),
        (proptest::collection::vec((0u64..5, 0u64..3), 0..4), any::<bool>())
            .prop_map(|(runs, repeat)| LossModel::Runs { runs: Arc::from(runs), repeat }),
        proptest::collection::btree_set(0u64..30_000, 0..6).prop_map(|times| LossModel::Times {
            times: times.into_iter().map(Time::from_ns).collect(),
            repeat: Some(Span::from_us(40)),
        }),
    ]
}

fn any_span(most_ns: u64) -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ZERO), (0..=most_ns * 1000).prop_map(Span::from_ps)]
}

fn any_series(most: u64) -> impl Strategy<Value = Series> {
    (0..most, 0..most, 0..most, any::<bool>()).prop_map(|(a, b, c, repeat)| {
        let points = [(Time::ZERO, a), (Time::from_ns(7_000), b), (Time::from_ns(19_000), c)];
        Series::new(&points, repeat.then_some(Span::from_us(25))).unwrap()
    })
}

fn any_delay() -> impl Strategy<Value = DelayModel> {
    prop_oneof![
        any_span(20_000).prop_map(DelayModel::constant),
        (any_span(20_000), 0.0..=1.0).prop_map(|(mean, share)| DelayModel::Uniform {
            mean,
            half_width: Span::from_ps((mean.ps() as f64 * share) as u64),
        }),
        (any_span(20_000), any_span(10_000)).prop_map(|(mean, sd)| DelayModel::Normal { mean, sd }),
        (any_span(20_000), any_amount(9000.0), prop_oneof![Just(0.0), 0.0..0.99]).prop_map(
            |(base, jitter, correlation)| DelayModel::Random { mean: base, base, jitter, correlation }
        ),
        (any_series(20_000_000), any::<bool>()).prop_map(|(series, linear)| DelayModel::Series(
            DelaySeries { mean: Span::ZERO, series, linear }
        )),
        (any_span(20_000), 1u32..1_000_000, any::<bool>()).prop_map(|(delay, hz, up)| DelayModel::Ticks {
            delay,
            hz: NonZeroU32::new(hz + 1000).unwrap(),
            rounding: if up { Rounding::Up } else { Rounding::Nearest },
        }),
    ]
}

/// Rates with outages.
fn any_outages() -> impl Strategy<Value = RateSeries> {
    (any_bit_rate(), proptest::option::of(any_bit_rate()), any_bit_rate()).prop_map(|(a, b, c)| {
        let middle = b.map_or(0, Rate::bits_per_s);
        let points = [
            (Time::ZERO, a.bits_per_s()),
            (Time::from_ns(7_000), middle),
            (Time::from_ns(19_000), c.bits_per_s()),
        ];
        Series::new(&points, Some(Span::from_us(25))).and_then(RateSeries::try_from).unwrap()
    })
}

pub fn any_bit_rate() -> impl Strategy<Value = Rate> {
    (1u64..20_000_000_000).prop_map(|b| Rate::from_bits_per_s(b + 99_999_999).unwrap())
}

fn any_rate() -> impl Strategy<Value = RateModel> {
    prop_oneof![
        1 => Just(RateModel::Unlimited {}),
        4 => any_bit_rate().prop_map(RateModel::constant),
        1 => (any_bit_rate(), any_bit_rate()).prop_map(|(a, b)| RateModel::Paced { rate: a.min(b), line: a.max(b) }),
        1 => (any_bit_rate(), 1u64..20_000, proptest::option::of(any_bit_rate())).prop_map(
            |(rate, burst_bytes, peak)| RateModel::TokenBucket { rate, burst_bytes: count(burst_bytes), peak },
        ),
        1 => any_outages().prop_map(RateModel::Series),
        1 => (1u64..9_000).prop_map(|bytes| {
            let times = [Time::from_ns(3_000), Time::from_ns(3_000), Time::from_ns(20_000)];
            RateModel::Opportunities(Opportunities::new(&times, Span::from_us(20), bytes).unwrap())
        }),
    ]
}

/// Disciplines that keep the order.
fn any_line() -> impl Strategy<Value = QueueDiscipline> {
    let codel = |target: u64, ecn| CodelParameters {
        target: Span::from_ns(target),
        interval: Span::from_us(20),
        ecn,
    };
    prop_oneof![
        4 => Just(QueueDiscipline::Fifo),
        1 => Just(QueueDiscipline::HeadDrop),
        1 => (0u64..9_000, any::<bool>(), any::<bool>(), 0.01..1.0).prop_map(|(least, gentle, ecn, weight)| {
            QueueDiscipline::Red(RedParameters {
                least, most: least * 2 + 1, probability: 0.3, weight, gentle, ecn, packet: NonZeroU32::new(1500).unwrap(),
            })
        }),
        1 => (0u64..9_000, any::<bool>()).prop_map(move |(target, ecn)| QueueDiscipline::Codel(codel(target, ecn))),
        1 => (0u64..9_000, 1u64..9_000, any::<bool>()).prop_map(|(target, update, ecn)| QueueDiscipline::Pie(PieParameters {
            target: Span::from_ns(target),
            update: Span::from_ns(update),
            alpha: 20_000.0,
            beta: 200_000.0,
            burst: Span::from_us(10),
            ecn,
        })),
    ]
}

/// All disciplines.
fn any_discipline() -> impl Strategy<Value = QueueDiscipline> {
    prop_oneof![
        5 => any_line(),
        1 => (1u32..9_000, 1u32..6).prop_map(|(quantum, flows)| QueueDiscipline::Drr(DrrParameters {
            quantum: NonZeroU32::new(quantum).unwrap(),
            flows,
        })),
        1 => (0u64..9_000, 1u32..9_000, 1u32..6).prop_map(|(target, quantum, flows)| QueueDiscipline::FqCodel(FqCodelParameters {
            target: Span::from_ns(target),
            interval: Span::from_us(20),
            quantum: NonZeroU32::new(quantum).unwrap(),
            flows,
            ecn: false,
        })),
        1 => Just(QueueDiscipline::Priority {
            bands: PriorityBands::try_from((0..64).map(|dscp| dscp % 3).collect::<Vec<u8>>()).unwrap(),
        }),
    ]
}

fn any_queue() -> impl Strategy<Value = QueueModel> {
    (proptest::option::of(0u64..20), proptest::option::of(0u64..20_000), any_line()).prop_map(
        |(limit_packets, limit_bytes, discipline)| QueueModel { limit_packets, limit_bytes, discipline },
    )
}

/// A number that is not zero.
pub fn count(n: u64) -> NonZeroU64 {
    NonZeroU64::new(n).unwrap()
}

fn any_probability() -> impl Strategy<Value = Probability> {
    prop_oneof![Just(Probability::ZERO), (0.0..=1.0).prop_map(probability)]
}

/// Models that let nothing overtake.
pub fn ordered_model() -> impl Strategy<Value = LinkModel> {
    (
        (any_loss(), any::<bool>(), any_queue(), any_rate()),
        (0u32..40, any_delay(), any_probability(), any_probability()),
    )
        .prop_map(|((loss, after, queue, rate), (overhead_bytes, delay, duplicate, corrupt))| {
            LinkModel {
                loss,
                loss_position: if after { LossPosition::Egress } else { LossPosition::Ingress },
                queue,
                rate,
                framing: Framing { overhead_bytes, ..Framing::default() },
                delay,
                duplicate,
                corrupt,
                ..transparent()
            }
        })
}

fn any_loss_position() -> impl Strategy<Value = LossPosition> {
    prop_oneof![Just(LossPosition::Ingress), Just(LossPosition::Egress)]
}

fn any_framing() -> impl Strategy<Value = Framing> {
    (
        0u32..40,
        0u32..90,
        proptest::option::of(Just(Cells { payload_bytes: NonZeroU32::new(48).unwrap(), cell_bytes: 53 })),
    )
        .prop_map(|(overhead_bytes, least_bytes, cells)| Framing { overhead_bytes, least_bytes, cells })
}

fn any_reordering() -> impl Strategy<Value = ReorderModel> {
    prop_oneof![
        (1u64..9, any_span(40_000))
            .prop_map(|(block, delay)| ReorderModel::Block { block: count(block), delay }),
        (any_probability(), any_span(40_000))
            .prop_map(|(probability, delay)| ReorderModel::Share { probability, delay }),
        (1u64..9, any_probability())
            .prop_map(|(gap, probability)| ReorderModel::Early { gap: count(gap), probability }),
    ]
}

/// All models of a link.
pub fn any_model() -> impl Strategy<Value = LinkModel> {
    let reordering = proptest::option::of(any_reordering());
    (ordered_model(), any_discipline(), any::<bool>(), reordering).prop_map(
        |(model, discipline, reorder, reordering)| {
            let queue = QueueModel { discipline, ..model.queue.clone() };
            LinkModel { queue, reorder, reordering, ..model }
        },
    )
}

/// Parallel routes with all models.
pub fn any_bundle() -> impl Strategy<Value = BundleModel> {
    let policy = prop_oneof![
        Just(Policy::RoundRobin),
        Just(Policy::VlanBlock),
        Just(Policy::FlowHash { key: FlowKey::Flow }),
        Just(Policy::LeastQueued),
        Just(Policy::Weighted { weights: vec![3, 1, 0, 2] }),
        Just(Policy::Flowlet { gap: Span::from_us(2) }),
    ];
    let resequence = proptest::option::of((any_span(9_000), 0u64..30_000));
    (policy, proptest::collection::vec(any_model(), 4), resequence).prop_map(
        |(policy, routes, resequence)| BundleModel {
            policy,
            routes,
            resequence: resequence.map(|(wait, limit_bytes)| Resequence { wait, limit_bytes }),
        },
    )
}

/// Changes of all models that keep packets in order, or, with `all`, of those that do not, too.
fn any_change(all: bool) -> impl Strategy<Value = Change> {
    use proptest::option::weighted;
    let framing = any_framing();
    let order = (weighted(0.3, any::<bool>()), weighted(0.3, proptest::option::of(any_reordering())));
    (
        (weighted(0.3, any::<bool>()), weighted(0.3, any_loss()), weighted(0.3, any_queue())),
        (weighted(0.3, any_rate()), weighted(0.3, any_delay())),
        (weighted(0.3, any_probability()), weighted(0.3, any_probability())),
        (any_loss_position(), weighted(0.3, framing), weighted(0.3, any_span(20_000))),
        order,
    )
        .prop_map(
            move |(
                (up, loss, queue),
                (rate, delay),
                (duplicate, corrupt),
                (place, framing, coalesce),
                (reorder, reordering),
            )| Change {
                up,
                // A position comes with a model, as plans have it.
                loss_position: loss.as_ref().map(|_| place),
                loss,
                queue,
                rate,
                delay,
                reorder: reorder.filter(|_| all),
                duplicate,
                corrupt,
                framing,
                reordering: reordering.map(|model| model.unwrap_or(ReorderModel::None {})).filter(|_| all),
                coalesce,
                present: None,
                reroute: None,
                pacing: vec![],
            },
        )
}

fn any_offer() -> impl Strategy<Value = (Span, Input)> {
    (any_span(3_000), 1u32..9001, any::<bool>())
        .prop_map(|(pause, bytes, continues)| (pause, Input::Offer { bytes, continues }))
}

/// Offers alone.
pub fn offers() -> impl Strategy<Value = Vec<(Span, Input)>> {
    proptest::collection::vec(any_offer(), 0..80)
}

/// Offers and, now and then, changes that keep packets in order.
pub fn inputs() -> impl Strategy<Value = Vec<(Span, Input)>> {
    inputs_with(false)
}

/// Offers and, now and then, changes of any model.
pub fn any_inputs() -> impl Strategy<Value = Vec<(Span, Input)>> {
    inputs_with(true)
}

fn inputs_with(all: bool) -> impl Strategy<Value = Vec<(Span, Input)>> {
    let change = (any_span(3_000), any_change(all))
        .prop_map(|(pause, change)| (pause, Input::Change(Box::new(change))));
    proptest::collection::vec(prop_oneof![9 => any_offer(), 1 => change], 0..80)
}
