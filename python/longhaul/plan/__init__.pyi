"""The types of plans: what a scenario becomes, and what the Rust crates execute.

A plan is JSON: every name is an index, every quantity an integer whose unit ends its key, every default is
filled in. ``tools/plan-types`` writes this file from the JSON Schema of the Rust crate ``plan``. All values
are read-only: mypy refuses to change a plan.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired

from typing_extensions import ReadOnly, TypedDict

WAYS: tuple[Literal["forward"], Literal["reverse"]]
"""The directions of a link: from its first endpoint to its second, and back."""

__all__ = [
    "WAYS",
    "AlgorithmSettings",
    "Arrivals",
    "Bbr3AlgorithmSettings",
    "BbrAlgorithmSettings",
    "BicAlgorithmSettings",
    "BlockReorderModel",
    "BridgedPort",
    "BundleModel",
    "BusyGapUnit",
    "BusyGapUnitFields",
    "Cause",
    "CdgAlgorithmSettings",
    "Cells",
    "Change",
    "CliCause",
    "CodelQueueDiscipline",
    "CompoundAlgorithmSettings",
    "ComputeStep",
    "ConstantDelayModel",
    "ConstantDistribution",
    "ConstantRateModel",
    "CorrelatedLossModel",
    "CubicAlgorithmSettings",
    "CubicRules",
    "DctcpAlgorithmSettings",
    "DelayModel",
    "Direction",
    "Distribution",
    "DrrQueueDiscipline",
    "EarlyReorderModel",
    "EmpiricalDistribution",
    "End",
    "Event",
    "EventCause",
    "ExponentialDistribution",
    "FastAlgorithmSettings",
    "FifoQueueDiscipline",
    "Flow",
    "FlowHashPolicy",
    "FlowKey",
    "FlowSender",
    "FlowletPolicy",
    "FourStateLossModel",
    "FqCodelQueueDiscipline",
    "Framing",
    "GammaDistribution",
    "GapUnit",
    "GeneralisedParetoDistribution",
    "GevDistribution",
    "GilbertElliottLossModel",
    "HeadDropQueueDiscipline",
    "HighSpeedResponse",
    "HighspeedAlgorithmSettings",
    "HostFile",
    "HostRoot",
    "HostSettings",
    "HtcpAlgorithmSettings",
    "HystartPlusPlusSlowStartSettings",
    "HystartSlowStartSettings",
    "IllinoisAlgorithmSettings",
    "IndependentLossModel",
    "InverseGaussianDistribution",
    "Isolation",
    "Job",
    "JobSender",
    "LeastQueuedPolicy",
    "LiaAlgorithmSettings",
    "LimitedSlowStartSettings",
    "Link",
    "LinkModel",
    "Loaded",
    "LogLogisticDistribution",
    "LognormalDistribution",
    "LossModel",
    "LossPosition",
    "LpAlgorithmSettings",
    "LpRules",
    "MainRoute",
    "MarkovLossModel",
    "Measure",
    "Monitor",
    "Mptcp",
    "MptcpEndpoint",
    "MptcpFlag",
    "MultcpAlgorithmSettings",
    "Multipath",
    "NamespacePort",
    "Node",
    "NodeKind",
    "NoneLossModel",
    "NoneReorderModel",
    "NormalDelayModel",
    "NormalDistribution",
    "NormalPacingModel",
    "NvAlgorithmSettings",
    "OliaAlgorithmSettings",
    "OnePerBlockLossModel",
    "OpportunitiesRateModel",
    "PacedPacingModel",
    "PacedRateModel",
    "Pacing",
    "PacingChange",
    "PacingClass",
    "PacingModel",
    "PacingRule",
    "PacketList",
    "PageCause",
    "ParetoDistribution",
    "Part",
    "PcapTraffic",
    "PeriodicLossModel",
    "PhiMode",
    "PieQueueDiscipline",
    "PingTraffic",
    "Placement",
    "Plan",
    "Policy",
    "Port",
    "PriorityBands",
    "PriorityQueueDiscipline",
    "Program",
    "PythonCause",
    "QueueDiscipline",
    "QueueModel",
    "RandomDelayModel",
    "Ranks",
    "RateModel",
    "Ready",
    "ReceiveStep",
    "Recovery",
    "RedQueueDiscipline",
    "RenewalLossModel",
    "RenoAlgorithmSettings",
    "ReorderModel",
    "ReplayTraffic",
    "RequestsTraffic",
    "Resequence",
    "RoundRobinPolicy",
    "Rounding",
    "RouteCosts",
    "RouteOverride",
    "RoutedPort",
    "RuleAlgorithmSettings",
    "RunsLossModel",
    "ScalableAlgorithmSettings",
    "SegmentBits",
    "SendStep",
    "Sender",
    "SeriesDelayModel",
    "SeriesRateModel",
    "ShareReorderModel",
    "Sizes",
    "SlowStartSettings",
    "StandardSlowStartSettings",
    "Step",
    "StochasticAlgorithmSettings",
    "StochasticModel",
    "Subnet",
    "TableDistribution",
    "TahoeAlgorithmSettings",
    "Tcp",
    "TcpTraffic",
    "TicksDelayModel",
    "TimesLossModel",
    "TokenBucketPacingModel",
    "TokenBucketRateModel",
    "Traffic",
    "UdpTraffic",
    "UniformDelayModel",
    "UniformDistribution",
    "UnlimitedRateModel",
    "VegasAlgorithmSettings",
    "VegasRules",
    "VenoAlgorithmSettings",
    "VlanBlockPolicy",
    "WakebyDistribution",
    "Way",
    "WeibullDistribution",
    "WeightedPolicy",
    "WestwoodAlgorithmSettings",
    "YeahAlgorithmSettings",
]

class StandardSlowStartSettings(TypedDict):
    """One segment for each acknowledged (RFC 5681, section 3.1)."""

    kind: ReadOnly[Literal["standard"]]
    limit: NotRequired[ReadOnly[int]]
    """Most segments that one acknowledgement adds: L of RFC 3465; 1 is RFC 5681 without byte counting."""

class LimitedSlowStartSettings(TypedDict):
    """Standard up to a window, and from there on at most half of that window per round trip (RFC 3742)."""

    kind: ReadOnly[Literal["limited"]]
    limit: NotRequired[ReadOnly[int]]
    """As for standard slow start."""
    max_threshold: NotRequired[ReadOnly[float]]
    """RFC 3742's ``max_ssthresh``, in segments."""

class HystartSlowStartSettings(TypedDict):
    """Ends before losses where acknowledgements come in long trains or the RTT rises (Ha, Rhee 2011), as
    in Linux; an acknowledgement adds all that it acknowledges."""

    kind: ReadOnly[Literal["hystart"]]
    ack_delay_ns: NotRequired[ReadOnly[int]]
    """A train may last half of the smallest RTT and of this: what segmentation offload delays."""
    ack_delta_ns: NotRequired[ReadOnly[int]]
    """Acknowledgements so close to each other are a train."""
    low_window: NotRequired[ReadOnly[float]]
    """A smaller window never leaves slow start, in segments."""
    max_rtt_threshold_ns: NotRequired[ReadOnly[int]]
    """A larger rise always counts."""
    min_rtt_divisor: NotRequired[ReadOnly[int]]
    """The share of the smallest RTT that counts as a rise, as its inverse."""
    min_rtt_threshold_ns: NotRequired[ReadOnly[int]]
    """A smaller rise of the RTT never counts."""
    rtt_samples: NotRequired[ReadOnly[int]]
    """RTT samples of a round that are only recorded; those after them can end slow start."""

class HystartPlusPlusSlowStartSettings(TypedDict):
    """Slows down before losses when the RTT rises, and ends (RFC 9406)."""

    kind: ReadOnly[Literal["hystart++"]]
    growth_divisor: NotRequired[ReadOnly[float]]
    """``CSS_GROWTH_DIVISOR``: so many times slower is conservative slow start."""
    limit: NotRequired[ReadOnly[int]]
    """L: most segments that one acknowledgement adds, for a sender that does not pace."""
    max_rtt_threshold_ns: NotRequired[ReadOnly[int]]
    """``MAX_RTT_THRESH``: a larger rise always counts."""
    min_rtt_divisor: NotRequired[ReadOnly[int]]
    """``MIN_RTT_DIVISOR``: the share of the last round's RTT that counts as a rise, as its inverse."""
    min_rtt_threshold_ns: NotRequired[ReadOnly[int]]
    """``MIN_RTT_THRESH``: a smaller rise of the RTT never counts."""
    rounds: NotRequired[ReadOnly[int]]
    """``CSS_ROUNDS``: rounds of conservative slow start, and then congestion avoidance."""
    rtt_samples: NotRequired[ReadOnly[int]]
    """``N_RTT_SAMPLE``: samples before a round is judged."""

SlowStartSettings = (
    StandardSlowStartSettings
    | LimitedSlowStartSettings
    | HystartSlowStartSettings
    | HystartPlusPlusSlowStartSettings
)
"""How a window grows below its threshold."""

CubicRules = Literal["linux", "rfc9438"]
"""Where Linux differs from the RFC."""

HighSpeedResponse = Literal["formula", "table"]
"""Where a(w) and b(w) come from."""

VegasRules = Literal["linux", "paper"]
"""Where Linux differs from the paper."""

LpRules = Literal["linux", "paper"]
"""Where Linux differs from the paper."""

StochasticModel = Literal["explicit", "mean", "draw"]
"""How losses take from the virtual streams."""

PhiMode = Literal["virtual-rtt", "streams-cut", "multiplier"]
"""What the factor phi does."""

class TahoeAlgorithmSettings(TypedDict):
    """Tahoe: back to one segment after any loss (Jacobson 1988)."""

    algorithm: ReadOnly[Literal["tahoe"]]
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class RenoAlgorithmSettings(TypedDict):
    """RFC 5681."""

    algorithm: ReadOnly[Literal["reno"]]
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class BicAlgorithmSettings(TypedDict):
    """Binary increase (Xu, Harfoush, Rhee 2004)."""

    algorithm: ReadOnly[Literal["bic"]]
    beta: NotRequired[ReadOnly[float]]
    """What is left of the window after a loss: 819/1024."""
    delayed_acks: NotRequired[ReadOnly[bool]]
    """Multiply increments by the mean number of segments that an acknowledgement is for, as Linux does;
    the BIC of Linux 2.6 did not."""
    fast_convergence: NotRequired[ReadOnly[bool]]
    """After a loss below the last maximum, aim lower than where it happened."""
    low_window: NotRequired[ReadOnly[float]]
    """Up to this window it is Reno."""
    max_increment: NotRequired[ReadOnly[float]]
    """``S_max``: most segments that a round trip adds."""
    min_increment: NotRequired[ReadOnly[float]]
    """Segments that a round trip adds close to the last maximum: 4/20."""
    search_divisor: NotRequired[ReadOnly[float]]
    """The search goes by this share of the distance to the last maximum, as its inverse."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class CubicAlgorithmSettings(TypedDict):
    """RFC 9438."""

    algorithm: ReadOnly[Literal["cubic"]]
    beta: NotRequired[ReadOnly[float]]
    """``beta_cubic``: what is left of the window after a loss."""
    c: NotRequired[ReadOnly[float]]
    """C, in segments per second cubed."""
    fast_convergence: NotRequired[ReadOnly[bool]]
    """After a loss below the last maximum, aim lower than where it happened (section 4.7)."""
    first_growth: NotRequired[ReadOnly[float]]
    """Until the first loss a round trip adds at least this share of the window; the RFC has 0."""
    max_growth_per_s: NotRequired[ReadOnly[float | None]]
    """Beyond the last maximum, at most so many segments per second; None: no limit, as in the RFC."""
    reno_friendly: NotRequired[ReadOnly[bool]]
    """Never slower than Reno would be (section 4.3)."""
    rules: NotRequired[ReadOnly[CubicRules]]
    """Whose rules hold where Linux differs from the RFC."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class HighspeedAlgorithmSettings(TypedDict):
    """RFC 3649."""

    algorithm: ReadOnly[Literal["highspeed"]]
    byte_counting: NotRequired[ReadOnly[bool]]
    """Each acknowledged segment adds a(w)/w (RFC 3465); otherwise each acknowledgement does, as in the RFC
    and in Linux."""
    high_decrease: NotRequired[ReadOnly[float]]
    """``High_Decrease``: the share of the window that a loss takes at ``High_Window``."""
    high_window: NotRequired[ReadOnly[float]]
    """``High_Window``, in segments."""
    low_window: NotRequired[ReadOnly[float]]
    """``Low_Window``: up to here it is Reno."""
    response: NotRequired[ReadOnly[HighSpeedResponse]]
    """Where a(w) and b(w) come from. The table holds for the default windows alone."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class ScalableAlgorithmSettings(TypedDict):
    """Scalable TCP (Kelly 2003)."""

    algorithm: ReadOnly[Literal["scalable"]]
    decrease: NotRequired[ReadOnly[float]]
    """b: the share of the window that a loss takes."""
    increase: NotRequired[ReadOnly[float]]
    """a: segments that each acknowledged one adds."""
    legacy_window: NotRequired[ReadOnly[float]]
    """Up to this window it is Reno, in segments: 16 in the paper."""
    reno_friendly: NotRequired[ReadOnly[bool]]
    """Never slower than Reno, as in Linux."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class HtcpAlgorithmSettings(TypedDict):
    """H-TCP (Leith, Shorten 2004)."""

    algorithm: ReadOnly[Literal["htcp"]]
    adaptive_backoff: NotRequired[ReadOnly[bool]]
    """The factor after a congestion is RTTmin/RTTmax, between 0.5 and 0.8; otherwise 0.5."""
    bandwidth_switch: NotRequired[ReadOnly[float]]
    """A change of throughput between two congestions by more than this share makes the factor 0.5, and
    that of the next congestion, too."""
    low_speed_ns: NotRequired[ReadOnly[int]]
    """``Delta_L``: until so long after a congestion it is Reno."""
    rtt_scaling: NotRequired[ReadOnly[bool]]
    """Divides the growth by 0.1 s/RTTmin, between 0.5 and 10, so that long and short round trips grow
    alike per second (section 3.4), rounded down, at least 1."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class FastAlgorithmSettings(TypedDict):
    """FAST (Jin, Wei, Low 2004)."""

    algorithm: ReadOnly[Literal["fast"]]
    alpha: NotRequired[ReadOnly[float]]
    """Segments that the flow keeps in queues."""
    gamma: NotRequired[ReadOnly[float]]
    """Share of the way to its aim that the window goes in a round trip; above 0, at most 1."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth while the queue is short and nothing was lost."""
    slow_start_delay_ns: NotRequired[ReadOnly[int]]
    """Slow start ends when the mean queueing delay reaches this."""

class CompoundAlgorithmSettings(TypedDict):
    """Compound TCP (Tan, Song, Zhang, Sridharan 2006)."""

    algorithm: ReadOnly[Literal["compound"]]
    alpha: NotRequired[ReadOnly[float]]
    """Factor of the growth alpha w^k per round trip."""
    beta: NotRequired[ReadOnly[float]]
    """Share of the window that a loss takes."""
    gamma: NotRequired[ReadOnly[float]]
    """With so many segments in queues the delay window shrinks."""
    k: NotRequired[ReadOnly[float]]
    """Exponent of the growth."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""
    zeta: NotRequired[ReadOnly[float]]
    """By so many times the segments in queues."""

class WestwoodAlgorithmSettings(TypedDict):
    """Westwood+ (Grieco, Mascolo 2004)."""

    algorithm: ReadOnly[Literal["westwood"]]
    half_in_recovery: NotRequired[ReadOnly[bool]]
    """During a recovery the window is half of what it was, and only then what the path carries; otherwise
    that from the beginning of the recovery on, as in the paper."""
    least_interval_ns: NotRequired[ReadOnly[int]]
    """A sample of the bandwidth takes a round trip, and at least so long."""
    memory: NotRequired[ReadOnly[float]]
    """Weight of the past in the mean of the bandwidth, at least 0, below 1: 0.9 in the paper."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""
    stages: NotRequired[ReadOnly[int]]
    """How often the mean is taken: of the samples (1, as in the paper), or of their means (2)."""
    tick_ns: NotRequired[ReadOnly[int]]
    """RTTs are measured in so much, and rounded up: a tick of the kernel's clock. 0: exactly."""

class VegasAlgorithmSettings(TypedDict):
    """Vegas (Brakmo, Peterson 1995)."""

    algorithm: ReadOnly[Literal["vegas"]]
    alpha: NotRequired[ReadOnly[float]]
    """With fewer segments in queues the window grows by one."""
    beta: NotRequired[ReadOnly[float]]
    """With more segments in queues it shrinks by one."""
    decrease: NotRequired[ReadOnly[float]]
    """What is left of the window after a loss."""
    gamma: NotRequired[ReadOnly[float]]
    """With more segments in queues slow start ends."""
    rules: NotRequired[ReadOnly[VegasRules]]
    """Whose rules hold where Linux differs from the paper."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class IllinoisAlgorithmSettings(TypedDict):
    """Illinois (Liu, Basar, Srikant 2006)."""

    algorithm: ReadOnly[Literal["illinois"]]
    alpha_max: NotRequired[ReadOnly[float]]
    """Segments that a round trip adds while queues are empty."""
    alpha_min: NotRequired[ReadOnly[float]]
    """Segments that a round trip adds when queues are as long as they were ever seen."""
    beta_max: NotRequired[ReadOnly[float]]
    """Share of the window that a loss takes with long queues."""
    beta_min: NotRequired[ReadOnly[float]]
    """Share of the window that a loss takes with short queues."""
    delays: NotRequired[ReadOnly[Sequence[float]]]
    """``d_1`` to ``d_3`` as shares of the longest delay: up to the first alpha is greatest, up to the
    second beta is least, from the third on beta is greatest."""
    low_window: NotRequired[ReadOnly[float]]
    """``W_thresh``: below this window it is Reno."""
    patience: NotRequired[ReadOnly[int]]
    """theta: round trips with a short queue before alpha becomes greatest again."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class VenoAlgorithmSettings(TypedDict):
    """Veno (Fu, Liew 2003)."""

    algorithm: ReadOnly[Literal["veno"]]
    beta: NotRequired[ReadOnly[float]]
    """With at least so many segments in queues, the path counts as congested."""
    congested_decrease: NotRequired[ReadOnly[float]]
    """What is left of the window after a loss on a congested path."""
    random_decrease: NotRequired[ReadOnly[float]]
    """What is left of the window after a loss on a path that does not count as congested."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class YeahAlgorithmSettings(TypedDict):
    """``YeAH`` (Baiocchi, Castellani, Vacirca 2007)."""

    algorithm: ReadOnly[Literal["yeah"]]
    delta: NotRequired[ReadOnly[float]]
    """``delta``: a loss takes at least the window divided by so much, unless the flow competes."""
    epsilon: NotRequired[ReadOnly[float]]
    """``epsilon``: it gives up at most the window divided by so much at a time."""
    gamma: NotRequired[ReadOnly[float]]
    """``gamma``: divides the segments in queues that it gives up at a time."""
    max_queue: NotRequired[ReadOnly[float]]
    """``Q_max``: with more segments in queues it is slow, and gives them up."""
    phi: NotRequired[ReadOnly[float]]
    """``phi``: it is slow, too, where the queueing delay is more than the smallest RTT divided by so much."""
    rho: NotRequired[ReadOnly[int]]
    """``rho``: after so many round trips of being slow in a row the flow competes with others, and a loss
    halves the window."""
    scalable_count: NotRequired[ReadOnly[float]]
    """While it is fast, a segment is added for each so many acknowledged, or for each window if that is
    smaller: Scalable TCP."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""
    zeta: NotRequired[ReadOnly[int]]
    """After more round trips than so many of being fast since the last loss, the estimate of what
    competing flows have begins anew."""

class LpAlgorithmSettings(TypedDict):
    """TCP-LP (Kuzmanovic, Knightly 2003)."""

    algorithm: ReadOnly[Literal["lp"]]
    delta: NotRequired[ReadOnly[float]]
    """delta: a smoothed delay above this share of the range from the smallest to the largest is an early
    congestion."""
    gamma: NotRequired[ReadOnly[float]]
    """gamma: weight of a sample in the smoothed delay."""
    inference_rtts: NotRequired[ReadOnly[float]]
    """The inference phase that follows an early congestion, in RTTs: the window does not grow, and another
    early congestion makes it one segment."""
    rules: NotRequired[ReadOnly[LpRules]]
    """Whose rules hold where Linux differs from the paper."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class CdgAlgorithmSettings(TypedDict):
    """CDG (Hayes, Armitage 2011)."""

    algorithm: ReadOnly[Literal["cdg"]]
    backoff_beta: NotRequired[ReadOnly[float]]
    """beta: what is left of the window after a backoff."""
    backoff_factor: NotRequired[ReadOnly[float]]
    """The probability of a backoff is 1 - exp(-f g), where f is this and g the sum of the gradients in
    seconds. With the paper's G in seconds it is 1/G, divided by the number of gradients."""
    gradient_rounds: NotRequired[ReadOnly[int]]
    """Round trips whose gradients are added up, at most 256."""
    ineffective_backoffs: NotRequired[ReadOnly[int]]
    """After so many backoffs in a row that leave the RTT as long as it was, it waits for losses. 0: never."""
    loss_tolerance: NotRequired[ReadOnly[bool]]
    """Whether losses beside a queue that is not full leave the window as it is."""
    shadow_window: NotRequired[ReadOnly[bool]]
    """Whether a loss leaves at least half of the window that it would have without backoffs."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold: by default ``HyStart`` at any window, without a smallest or largest rise
    of the RTT."""

class NvAlgorithmSettings(TypedDict):
    """NV, New Vegas (Brakmo, Linux)."""

    algorithm: ReadOnly[Literal["nv"]]
    congestion_decrease: NotRequired[ReadOnly[float]]
    """Share of the segments above the limit that a congestion takes."""
    decrease_rounds: NotRequired[ReadOnly[int]]
    """Round trips before the window shrinks without a loss."""
    decrease_samples: NotRequired[ReadOnly[int]]
    """Samples before the window shrinks without a loss."""
    fast_growth_decisions: NotRequired[ReadOnly[int]]
    """More decisions than so many without congestion double the growth of Reno. 0: they do not."""
    increase_samples: NotRequired[ReadOnly[int]]
    """Samples before the window is allowed to grow."""
    loss_decrease: NotRequired[ReadOnly[float]]
    """What is left of the window after a loss."""
    min_window: NotRequired[ReadOnly[float]]
    """Congestion without losses leaves at least so many segments."""
    pad: NotRequired[ReadOnly[float]]
    """Segments that may wait in queues: with more the path is congested."""
    pad_buffer: NotRequired[ReadOnly[float]]
    """Within so many segments below the limit, the window neither grows nor shrinks."""
    reset_period_ns: NotRequired[ReadOnly[int]]
    """How often the smallest RTT becomes that of the last period, give or take a quarter by chance."""
    rtt_weight: NotRequired[ReadOnly[float]]
    """Weight of a sample in the smoothed RTT."""
    slow_growth_decisions: NotRequired[ReadOnly[int]]
    """Each timeout halves the growth; more decisions than so many without congestion double it again. 0:
    timeouts do not change the growth."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""
    slow_start_samples: NotRequired[ReadOnly[int]]
    """Samples before the first slow start ends without a loss."""
    stop_rounds: NotRequired[ReadOnly[int]]
    """After more round trips than so many without a decision, with too few samples to shrink, the window
    does not grow."""
    threshold_factor: NotRequired[ReadOnly[float]]
    """The slow-start threshold after a congestion without losses, as a multiple of the limit."""

class DctcpAlgorithmSettings(TypedDict):
    """RFC 8257."""

    algorithm: ReadOnly[Literal["dctcp"]]
    gain: NotRequired[ReadOnly[float]]
    """g: weight of the latest window in the mean share of marks; above 0, below 1 (section 4.2)."""
    initial_alpha: NotRequired[ReadOnly[float]]
    """DCTCP.Alpha at the beginning: 1 yields most to begin with."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class MultcpAlgorithmSettings(TypedDict):
    """MulTCP (Crowcroft, Oechslin 1998)."""

    algorithm: ReadOnly[Literal["multcp"]]
    flows: NotRequired[ReadOnly[float]]
    """N: it counts as so many connections; at least 0.5."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class LiaAlgorithmSettings(TypedDict):
    """Linked increases of Multipath TCP (RFC 6356)."""

    algorithm: ReadOnly[Literal["lia"]]
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class OliaAlgorithmSettings(TypedDict):
    """Opportunistic linked increases of Multipath TCP (Khalili et al. 2012)."""

    algorithm: ReadOnly[Literal["olia"]]
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

class StochasticAlgorithmSettings(TypedDict):
    """Stochastic TCP, a reconstruction (Hacker, Smith 2008)."""

    algorithm: ReadOnly[Literal["stochastic"]]
    model: NotRequired[ReadOnly[StochasticModel]]
    """How losses take from the streams."""
    phi: NotRequired[ReadOnly[float]]
    """At least 1; 1 is as aggressive as N connections."""
    phi_mode: NotRequired[ReadOnly[PhiMode]]
    """What phi does."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold, of the whole."""
    streams: NotRequired[ReadOnly[int]]
    """N: virtual streams, 1 to 65,536."""

class BbrAlgorithmSettings(TypedDict):
    """BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00)."""

    algorithm: ReadOnly[Literal["bbr"]]
    drain_gain: NotRequired[ReadOnly[float]]
    """As ``probe_gain``."""
    min_rtt_memory_ns: NotRequired[ReadOnly[int]]
    """``RTpropFilterLen``: so long a smallest RTT is believed."""
    min_window: NotRequired[ReadOnly[float]]
    """``BBRMinPipeCwnd``, in segments."""
    probe_gain: NotRequired[ReadOnly[float]]
    """Pacing gain of the probing and of the draining phase of the cycle; six phases at 1 follow."""
    probe_rtt_ns: NotRequired[ReadOnly[int]]
    """``ProbeRTTDuration``."""
    quanta: NotRequired[ReadOnly[float]]
    """3 ``send_quantum``: segments in flight on top, for hosts that send in batches."""
    startup_gain: NotRequired[ReadOnly[float]]
    """``BBRHighGain``: 2/ln 2, doubles the rate each round trip."""
    window_gain: NotRequired[ReadOnly[float]]
    """``cwnd_gain`` of ``ProbeBW``: segments in flight, in bandwidth-delay products."""

class Bbr3AlgorithmSettings(TypedDict):
    """BBR, version 3 (draft-ietf-ccwg-bbr-06)."""

    algorithm: ReadOnly[Literal["bbr3"]]
    beta: NotRequired[ReadOnly[float]]
    """Beta: what is left after losses at least."""
    down_gain: NotRequired[ReadOnly[float]]
    """Pacing gain of ``ProbeBW_DOWN``."""
    drain_gain: NotRequired[ReadOnly[float]]
    """``DrainPacingGain``."""
    headroom: NotRequired[ReadOnly[float]]
    """Headroom: the share of the long-term bound that is left to others."""
    loss_threshold: NotRequired[ReadOnly[float]]
    """``LossThresh``: the share of losses in a round trip from which on it was too much."""
    min_rtt_memory_ns: NotRequired[ReadOnly[int]]
    """``MinRTTFilterLen``."""
    min_window: NotRequired[ReadOnly[float]]
    """``MinPipeCwnd``, in segments."""
    offload_budget: NotRequired[ReadOnly[float]]
    """``offload_budget``: segments in flight at least, for hosts that send in batches."""
    pacing_margin: NotRequired[ReadOnly[float]]
    """``PacingMarginPercent``, as a share."""
    probe_rounds: NotRequired[ReadOnly[int]]
    """Most round trips between probes: 62 or 63, by chance."""
    probe_rtt_gain: NotRequired[ReadOnly[float]]
    """``ProbeRTTCwndGain``."""
    probe_rtt_interval_ns: NotRequired[ReadOnly[int]]
    """``ProbeRTTInterval``."""
    probe_rtt_ns: NotRequired[ReadOnly[int]]
    """``ProbeRTTDuration``."""
    startup_gain: NotRequired[ReadOnly[float]]
    """``StartupPacingGain``: 4 ln 2."""
    startup_losses: NotRequired[ReadOnly[int]]
    """``StartupFullLossCnt``: with so many losses in a round trip startup may end for them."""
    up_gain: NotRequired[ReadOnly[float]]
    """Pacing gain of ``ProbeBW_UP``."""
    up_window_gain: NotRequired[ReadOnly[float]]
    """Window gain of ``ProbeBW_UP``."""
    window_gain: NotRequired[ReadOnly[float]]
    """``DefaultCwndGain``: segments in flight, in bandwidth-delay products."""

class RuleAlgorithmSettings(TypedDict):
    """Formulas of the scenario."""

    algorithm: ReadOnly[Literal["rule"]]
    after_loss: NotRequired[ReadOnly[str | float]]
    """The window and its threshold after a loss or a mark, in segments."""
    after_timeout: NotRequired[ReadOnly[str | float]]
    """The threshold after a timeout, in segments; the window is 1."""
    per_ack: NotRequired[ReadOnly[str | float]]
    """Segments that each acknowledged one adds to the window in congestion avoidance, from -1 to 1."""
    slow_start: NotRequired[ReadOnly[SlowStartSettings]]
    """Growth below the threshold."""

AlgorithmSettings = (
    TahoeAlgorithmSettings
    | RenoAlgorithmSettings
    | BicAlgorithmSettings
    | CubicAlgorithmSettings
    | HighspeedAlgorithmSettings
    | ScalableAlgorithmSettings
    | HtcpAlgorithmSettings
    | FastAlgorithmSettings
    | CompoundAlgorithmSettings
    | WestwoodAlgorithmSettings
    | VegasAlgorithmSettings
    | IllinoisAlgorithmSettings
    | VenoAlgorithmSettings
    | YeahAlgorithmSettings
    | LpAlgorithmSettings
    | CdgAlgorithmSettings
    | NvAlgorithmSettings
    | DctcpAlgorithmSettings
    | MultcpAlgorithmSettings
    | LiaAlgorithmSettings
    | OliaAlgorithmSettings
    | StochasticAlgorithmSettings
    | BbrAlgorithmSettings
    | Bbr3AlgorithmSettings
    | RuleAlgorithmSettings
)
"""Which algorithm, with its parameters; plain data, as a plan has it."""

Arrivals = Literal["even", "poisson"]
"""How far apart datagrams leave."""

FlowKey = Literal["hosts", "flow"]
"""The fields that identify a flow."""

class FlowHashPolicy(TypedDict):
    """The same for all packets of a flow, by a hash that depends on the seed."""

    kind: ReadOnly[Literal["flow-hash"]]
    key: ReadOnly[FlowKey]
    """The fields that identify a flow."""

class RoundRobinPolicy(TypedDict):
    """One after another, packet by packet."""

    kind: ReadOnly[Literal["round-robin"]]

class VlanBlockPolicy(TypedDict):
    """Tags 8 to 15 are given in turn, and routes have blocks of neighbouring tags: of two routes each
    takes four packets at a time. Routes must divide 8."""

    kind: ReadOnly[Literal["vlan-block"]]

class WeightedPolicy(TypedDict):
    """Packet by packet in proportion to weights, as evenly as possible; not all may be 0."""

    kind: ReadOnly[Literal["weighted"]]
    weights: ReadOnly[Sequence[int]]
    """One for each route."""

class LeastQueuedPolicy(TypedDict):
    """The route with the fewest bytes waiting, the first of equals."""

    kind: ReadOnly[Literal["least-queued"]]

class FlowletPolicy(TypedDict):
    """A flow that was silent for so long may go another way: where the fewest bytes wait."""

    kind: ReadOnly[Literal["flowlet"]]
    gap_ns: ReadOnly[int]
    """That silence."""

Policy = (
    FlowHashPolicy | RoundRobinPolicy | VlanBlockPolicy | WeightedPolicy | LeastQueuedPolicy | FlowletPolicy
)
"""Which route a packet takes. Routes that are down are passed over."""

class Resequence(TypedDict):
    """Putting packets back into the order in which they were offered."""

    limit_bytes: ReadOnly[int]
    """How many bytes may wait; when there are more, the first in order go."""
    wait_ns: ReadOnly[int]
    """How long a packet waits for those that were offered before it."""

class ConstantDistribution(TypedDict):
    """Always the same."""

    dist: ReadOnly[Literal["constant"]]
    value: ReadOnly[float]
    """That amount; not negative."""

class UniformDistribution(TypedDict):
    """Uniform from ``low`` to ``high``."""

    dist: ReadOnly[Literal["uniform"]]
    high: ReadOnly[float]
    """Greatest amount; at least ``low``."""
    low: ReadOnly[float]
    """Least amount."""

class NormalDistribution(TypedDict):
    """Normal; users cut it at zero."""

    dist: ReadOnly[Literal["normal"]]
    mean: ReadOnly[float]
    """Mean."""
    sd: ReadOnly[float]
    """Standard deviation; not negative."""

class ExponentialDistribution(TypedDict):
    """Exponential."""

    dist: ReadOnly[Literal["exponential"]]
    mean: ReadOnly[float]
    """Mean; positive."""

class WeibullDistribution(TypedDict):
    """P(X > x) = exp(-((x - location)/scale)^shape); Weibull, J. Appl. Mech. 18 (1951) 293."""

    dist: ReadOnly[Literal["weibull"]]
    location: NotRequired[ReadOnly[float]]
    """Least amount."""
    scale: ReadOnly[float]
    """Scale; positive."""
    shape: ReadOnly[float]
    """Shape; positive. 1 is the exponential."""

class LognormalDistribution(TypedDict):
    """exp(mu + sigma Z) for a standard normal Z."""

    dist: ReadOnly[Literal["lognormal"]]
    mu: ReadOnly[float]
    """Mean of the logarithm."""
    sigma: ReadOnly[float]
    """Standard deviation of the logarithm; not negative."""

class GammaDistribution(TypedDict):
    """Gamma with mean shape * scale."""

    dist: ReadOnly[Literal["gamma"]]
    scale: ReadOnly[float]
    """Scale; positive."""
    shape: ReadOnly[float]
    """Shape; positive."""

class ParetoDistribution(TypedDict):
    """P(X > x) = (scale/x)^shape from ``scale`` on."""

    dist: ReadOnly[Literal["pareto"]]
    scale: ReadOnly[float]
    """Least amount; positive."""
    shape: ReadOnly[float]
    """Shape; positive. The mean is finite above 1, the variance above 2."""

class LogLogisticDistribution(TypedDict):
    """P(X <= x) = 1/(1 + (x/scale)^-shape): the logarithm is logistic."""

    dist: ReadOnly[Literal["log-logistic"]]
    scale: ReadOnly[float]
    """Scale, the median; positive."""
    shape: ReadOnly[float]
    """Shape; positive. The mean is finite above 1."""

class InverseGaussianDistribution(TypedDict):
    """The time until Brownian motion with drift reaches a level (Tweedie, Ann. Math. Stat. 28, 1957, 362)."""

    dist: ReadOnly[Literal["inverse-gaussian"]]
    mean: ReadOnly[float]
    """Mean; positive."""
    shape: ReadOnly[float]
    """Shape, an amount as well; positive. The variance is mean^3 / shape."""

class GeneralisedParetoDistribution(TypedDict):
    """P(X > x) = (1 + shape (x - location)/scale)^(-1/shape) (Pickands, Ann. Stat. 3, 1975, 119)."""

    dist: ReadOnly[Literal["generalised-pareto"]]
    location: ReadOnly[float]
    """Least amount."""
    scale: ReadOnly[float]
    """Scale; positive."""
    shape: ReadOnly[float]
    """Shape; above 0 the tail is heavy, 0 is the exponential. The mean is finite below 1."""

class GevDistribution(TypedDict):
    """Extreme values: P(X <= x) = exp(-(1 + shape (x - location)/scale)^(-1/shape)) (Jenkinson, Q. J. R.
    Meteorol. Soc. 81, 1955, 158)."""

    dist: ReadOnly[Literal["gev"]]
    location: ReadOnly[float]
    """Not exceeded with probability 1/e."""
    scale: ReadOnly[float]
    """Scale; positive."""
    shape: ReadOnly[float]
    """Shape; above 0 the upper tail is heavy (Frechet), 0 is Gumbel's. The mean is finite below 1."""

class WakebyDistribution(TypedDict):
    """x(F) = xi + (alpha/beta) (1 - (1 - F)^beta) - (gamma/delta) (1 - (1 - F)^-delta) (Houghton, Water
    Resour. Res. 14, 1978, 1105)."""

    dist: ReadOnly[Literal["wakeby"]]
    alpha: ReadOnly[float]
    """Weight of the first term; at least -``gamma``."""
    beta: ReadOnly[float]
    """Exponent of the first term, from -15 to 1000; more than -``delta`` where both terms have weight."""
    delta: ReadOnly[float]
    """Exponent of the second term, from -1000 to 15. The mean is finite below 1."""
    gamma: ReadOnly[float]
    """Weight of the second term; not negative."""
    xi: ReadOnly[float]
    """Least amount."""

class EmpiricalDistribution(TypedDict):
    """Each amount of a list with the same chance, without interpolation."""

    dist: ReadOnly[Literal["empirical"]]
    values: ReadOnly[Sequence[float]]
    """The amounts, ascending; at least one."""

class TableDistribution(TypedDict):
    """mean + sd * sample / 8192 for samples of a list: netem's tables."""

    dist: ReadOnly[Literal["table"]]
    mean: ReadOnly[float]
    """What a sample of 0 means."""
    samples: ReadOnly[Sequence[int]]
    """The samples, ascending; at least one."""
    sd: ReadOnly[float]
    """What a sample of 8192 adds."""

Distribution = (
    ConstantDistribution
    | UniformDistribution
    | NormalDistribution
    | ExponentialDistribution
    | WeibullDistribution
    | LognormalDistribution
    | GammaDistribution
    | ParetoDistribution
    | LogLogisticDistribution
    | InverseGaussianDistribution
    | GeneralisedParetoDistribution
    | GevDistribution
    | WakebyDistribution
    | EmpiricalDistribution
    | TableDistribution
)
"""A distribution of amounts (nanoseconds, bytes or packets, as its user says), drawn by inversion: one
draw of a ``Stream`` gives one amount, and a larger draw never a smaller one. Only the inverse Gaussian
takes two.

Normal, generalised Pareto, extreme values and Wakeby can be negative: users cut them at zero.

Parameters must be as ``check`` demands; what is read from a file is checked.
"""

Rounding = Literal["nearest", "up"]
"""How a delay becomes a number of ticks, counted from the first tick after the packet."""

class ConstantDelayModel(TypedDict):
    """The same delay for every packet."""

    model: ReadOnly[Literal["constant"]]
    delay_ns: ReadOnly[int]
    """That delay."""

class UniformDelayModel(TypedDict):
    """Uniform on mean ± half width."""

    model: ReadOnly[Literal["uniform"]]
    half_width_ns: ReadOnly[int]
    """Half of the width; at most the mean."""
    mean_ns: ReadOnly[int]
    """Mean."""

class NormalDelayModel(TypedDict):
    """Normal, cut at zero: a draw below zero counts as zero."""

    model: ReadOnly[Literal["normal"]]
    mean_ns: ReadOnly[int]
    """Mean before the cut."""
    sd_ns: ReadOnly[int]
    """Standard deviation before the cut."""

class RandomDelayModel(TypedDict):
    """A constant and a random part in nanoseconds; their sum is cut at zero."""

    model: ReadOnly[Literal["random"]]
    base_ns: ReadOnly[int]
    """The constant part."""
    correlation: ReadOnly[float]
    """Correlation of the normal ranks of neighbours (Gaussian copula, first order): at least 0, below 1.
    The distribution of each delay is kept."""
    jitter: ReadOnly[Distribution]
    """The random part, in nanoseconds."""
    mean_ns: ReadOnly[int]
    """Mean of the sum, which routing takes as the cost of the link."""

class SeriesDelayModel(TypedDict):
    """The value of a time series at the instant at which a packet enters the wire."""

    model: ReadOnly[Literal["series"]]
    linear: ReadOnly[bool]
    mean_ns: ReadOnly[int]
    points: ReadOnly[Sequence[Sequence[int]]]
    repeat_ns: NotRequired[ReadOnly[int | None]]

class TicksDelayModel(TypedDict):
    """Released at a tick of a clock: what emulators without better timers do."""

    model: ReadOnly[Literal["ticks"]]
    delay_ns: ReadOnly[int]
    """The configured delay."""
    hz: ReadOnly[int]
    """Ticks per second."""
    rounding: ReadOnly[Rounding]
    """How the delay becomes a number of ticks."""

DelayModel = (
    ConstantDelayModel
    | UniformDelayModel
    | NormalDelayModel
    | RandomDelayModel
    | SeriesDelayModel
    | TicksDelayModel
)
"""A model of the one-way delay of the wire."""

class Cells(TypedDict):
    """Cells as ATM has them: 48 bytes of payload in 53."""

    cell_bytes: ReadOnly[int]
    """Bytes of a cell; at least its payload."""
    payload_bytes: ReadOnly[int]
    """Bytes of payload in a cell."""

class Framing(TypedDict):
    """What each packet occupies the wire for."""

    cells: NotRequired[ReadOnly[Cells | None]]
    """The cells that a packet is cut into; None: it is sent whole."""
    least_bytes: ReadOnly[int]
    """Least bytes with that overhead: 84 for Ethernet."""
    overhead_bytes: ReadOnly[int]
    """Bytes added to each packet: 38 for Ethernet with preamble, header, FCS and gap; 42 with a VLAN tag;
    0 to count IP bytes alone."""

class BusyGapUnitFields(TypedDict):
    """Nanoseconds that the offered packets take at a rate."""

    bits_per_s: ReadOnly[int]
    """That rate."""

class BusyGapUnit(TypedDict):
    """Nanoseconds that the offered packets take at a rate."""

    busy: ReadOnly[BusyGapUnitFields]

GapUnit = Literal["packets", "bytes", "wall"] | BusyGapUnit
"""The unit of gaps between losses."""

class NoneLossModel(TypedDict):
    """No loss."""

    model: ReadOnly[Literal["none"]]

class IndependentLossModel(TypedDict):
    """Each packet is lost independently."""

    model: ReadOnly[Literal["independent"]]
    probability: ReadOnly[float]
    """Share of packets lost."""

class OnePerBlockLossModel(TypedDict):
    """Exactly one packet, chosen at random, is lost in each block (NemC's ``drop_rate``)."""

    model: ReadOnly[Literal["one-per-block"]]
    block: ReadOnly[int]
    """Packets in a block."""

class PeriodicLossModel(TypedDict):
    """The last packet of each block is lost."""

    model: ReadOnly[Literal["periodic"]]
    every: ReadOnly[int]
    """Packets from one loss to the next."""

class GilbertElliottLossModel(TypedDict):
    """Two states with geometric sojourns; the bad state loses every packet (Gilbert 1960)."""

    model: ReadOnly[Literal["gilbert-elliott"]]
    burst: ReadOnly[float]
    """Mean number of consecutive losses; at least 1 and at least mean / (1 - mean)."""
    mean: ReadOnly[float]
    """Long-run share of packets lost; 0 <= mean < 1."""

class MarkovLossModel(TypedDict):
    """Two states, each with its own loss probability (Elliott 1963). The two transitions are not both 0."""

    model: ReadOnly[Literal["markov"]]
    bad_to_good: ReadOnly[float]
    """Transition probability per packet, bad to good."""
    good_to_bad: ReadOnly[float]
    """Transition probability per packet, good to bad."""
    loss_bad: ReadOnly[float]
    """Share lost in the bad state."""
    loss_good: ReadOnly[float]
    """Share lost in the good state."""

class FourStateLossModel(TypedDict):
    """Four states: received in a gap (1), received in a burst (2), lost in a burst (3), isolated loss (4);
    Salsano, Ludovici and Ordine 2009. State 4 always returns to 1."""

    model: ReadOnly[Literal["four-state"]]
    p13: ReadOnly[float]
    """Transition probability from 1 to 3."""
    p14: ReadOnly[float]
    """Transition probability from 1 to 4; with ``p13`` at most 1."""
    p23: ReadOnly[float]
    """Transition probability from 2 to 3."""
    p31: ReadOnly[float]
    """Transition probability from 3 to 1; with ``p32`` at most 1."""
    p32: ReadOnly[float]
    """Transition probability from 3 to 2."""

class CorrelatedLossModel(TypedDict):
    """The probability depends on the fate of the previous packet; the mean is kept exactly."""

    model: ReadOnly[Literal["correlated"]]
    correlation: ReadOnly[float]
    """Correlation of consecutive fates; at least 0, below 1."""
    mean: ReadOnly[float]
    """Share of packets lost."""

class RenewalLossModel(TypedDict):
    """The gaps between losses are independent draws, and so are the bursts."""

    model: ReadOnly[Literal["renewal"]]
    burst: ReadOnly[Distribution]
    """Packets lost in a row, rounded up to a whole number of at least one."""
    gap: ReadOnly[Distribution]
    """From one loss to the next, in ``unit``; times in nanoseconds."""
    lasts_ns: NotRequired[ReadOnly[int | None]]
    """In wall time: how long the end of a gap waits for a packet to drop; None: any time."""
    unit: ReadOnly[GapUnit]
    """Unit of the gaps."""

class RunsLossModel(TypedDict):
    """Runs of packets from a list."""

    model: ReadOnly[Literal["runs"]]
    repeat: ReadOnly[bool]
    """Whether the list repeats; otherwise nothing is lost after its end. A list that repeats has packets."""
    runs: ReadOnly[Sequence[Sequence[int]]]
    """Pairs of (packets delivered, packets lost)."""

class TimesLossModel(TypedDict):
    """The first packet at or after each of a list of times is lost."""

    model: ReadOnly[Literal["times"]]
    repeat_ns: NotRequired[ReadOnly[int | None]]
    """The list repeats after this long, which is longer than the last time."""
    times_ns: ReadOnly[Sequence[int]]
    """Times since the start of the run, ascending."""

LossModel = (
    NoneLossModel
    | IndependentLossModel
    | OnePerBlockLossModel
    | PeriodicLossModel
    | GilbertElliottLossModel
    | MarkovLossModel
    | FourStateLossModel
    | CorrelatedLossModel
    | RenewalLossModel
    | RunsLossModel
    | TimesLossModel
)
"""A loss model."""

LossPosition = Literal["ingress", "egress"]
"""Where packets are lost."""

PriorityBands = Sequence[int]
"""The priority band, 0 to 7, of each DSCP."""

class FifoQueueDiscipline(TypedDict):
    """First in, first out; packets that do not fit are dropped."""

    kind: ReadOnly[Literal["fifo"]]

class HeadDropQueueDiscipline(TypedDict):
    """First in, first out; the packet that has waited longest is dropped for one that does not fit."""

    kind: ReadOnly[Literal["head-drop"]]

class RedQueueDiscipline(TypedDict):
    """Random early detection."""

    kind: ReadOnly[Literal["red"]]
    ecn: ReadOnly[bool]
    """Whether ECN-capable packets are marked instead of dropped while the average is below the greatest."""
    gentle: ReadOnly[bool]
    """Whether the probability rises to 1 between the greatest average and its double."""
    least_bytes: ReadOnly[int]
    """Average of queued bytes below which nothing is dropped."""
    most_bytes: ReadOnly[int]
    """Average from which on every packet is dropped (with ``gentle``: twice this); more than ``least``."""
    packet_bytes: ReadOnly[int]
    """Bytes of a typical packet, for the average over idle times and the probabilities."""
    probability: ReadOnly[float]
    """Drop probability at the greatest average, for a packet of ``packet`` bytes; above 0, at most 1."""
    weight: ReadOnly[float]
    """Weight of a new value in the average; above 0, at most 1."""

class CodelQueueDiscipline(TypedDict):
    """Controlled delay (RFC 8289)."""

    kind: ReadOnly[Literal["codel"]]
    ecn: ReadOnly[bool]
    """Whether ECN-capable packets are marked instead of dropped."""
    interval_ns: ReadOnly[int]
    """A worst-case round-trip time; positive."""
    target_ns: ReadOnly[int]
    """Acceptable standing delay."""

class FqCodelQueueDiscipline(TypedDict):
    """Flows in turn, each with controlled delay (RFC 8290)."""

    kind: ReadOnly[Literal["fq-codel"]]
    ecn: ReadOnly[bool]
    """Whether ECN-capable packets are marked instead of dropped."""
    flows: ReadOnly[int]
    """Number of queues that flows are hashed into, 1 to 65,536."""
    interval_ns: ReadOnly[int]
    """A worst-case round-trip time; positive."""
    quantum_bytes: ReadOnly[int]
    """Bytes that a flow may send in its turn."""
    target_ns: ReadOnly[int]
    """Acceptable standing delay."""

class PieQueueDiscipline(TypedDict):
    """Proportional integral controller enhanced (RFC 8033)."""

    kind: ReadOnly[Literal["pie"]]
    alpha: ReadOnly[float]
    """Weight of the distance from the target, per second; not negative."""
    beta: ReadOnly[float]
    """Weight of the trend, per second; not negative."""
    burst_ns: ReadOnly[int]
    """Burst allowance after quiet times."""
    ecn: ReadOnly[bool]
    """Whether ECN-capable packets are marked instead of dropped while the probability is at most 0.1."""
    target_ns: ReadOnly[int]
    """Target queueing delay."""
    update_ns: ReadOnly[int]
    """Time between updates of the drop probability; positive."""

class DrrQueueDiscipline(TypedDict):
    """Deficit round robin (Shreedhar and Varghese 1995)."""

    kind: ReadOnly[Literal["drr"]]
    flows: ReadOnly[int]
    """Number of queues that flows are hashed into, 1 to 65,536."""
    quantum_bytes: ReadOnly[int]
    """Bytes that a flow may send in its turn."""

class PriorityQueueDiscipline(TypedDict):
    """Strict priority by DSCP: the first band with packets sends."""

    kind: ReadOnly[Literal["priority"]]
    bands: ReadOnly[PriorityBands]
    """The band of each DSCP."""

QueueDiscipline = (
    FifoQueueDiscipline
    | HeadDropQueueDiscipline
    | RedQueueDiscipline
    | CodelQueueDiscipline
    | FqCodelQueueDiscipline
    | PieQueueDiscipline
    | DrrQueueDiscipline
    | PriorityQueueDiscipline
)
"""The order in which packets leave, and what is dropped or marked before the limit is reached."""

class QueueModel(TypedDict):
    """A queue: how much may wait for the wire, in which order packets leave, and what is dropped early."""

    discipline: NotRequired[ReadOnly[QueueDiscipline]]
    """The discipline."""
    limit_bytes: NotRequired[ReadOnly[int | None]]
    """IP bytes that may wait; None: no limit."""
    limit_packets: NotRequired[ReadOnly[int | None]]
    """Packets that may wait, the one on the wire not counted; None: no limit."""

class UnlimitedRateModel(TypedDict):
    """Packets take no time."""

    model: ReadOnly[Literal["unlimited"]]

class ConstantRateModel(TypedDict):
    """A constant rate."""

    model: ReadOnly[Literal["constant"]]
    bits_per_s: ReadOnly[int]
    """That rate."""

class PacedRateModel(TypedDict):
    """Each packet at the line's rate; the next begins when the byte clock of a slower rate allows it
    (PSPacer; Takano et al., PFLDnet 2005)."""

    model: ReadOnly[Literal["paced"]]
    bits_per_s: ReadOnly[int]
    """The slower rate."""
    line_bits_per_s: ReadOnly[int]
    """The line's rate; at least the slower rate."""

class TokenBucketRateModel(TypedDict):
    """A token bucket, full at the start: a packet leaves when there are tokens for all of it."""

    model: ReadOnly[Literal["token-bucket"]]
    bits_per_s: ReadOnly[int]
    """Rate at which the bucket fills."""
    burst_bytes: ReadOnly[int]
    """Capacity of the bucket. Larger packets are dropped on arrival."""
    peak_bits_per_s: NotRequired[ReadOnly[int | None]]
    """Rate at which a packet with tokens leaves, at least ``rate``; None: at once."""

class SeriesRateModel(TypedDict):
    """A time series; a packet leaves at the rate of the instant at which it begins, and none begins while
    the rate is zero."""

    model: ReadOnly[Literal["series"]]
    points: ReadOnly[Sequence[Sequence[int]]]
    repeat_ns: NotRequired[ReadOnly[int | None]]

class OpportunitiesRateModel(TypedDict):
    """A fixed number of bytes at each of a list of instants."""

    model: ReadOnly[Literal["opportunities"]]
    bytes: ReadOnly[int]
    repeat_ns: ReadOnly[int]
    times_ns: ReadOnly[Sequence[int]]

RateModel = (
    UnlimitedRateModel
    | ConstantRateModel
    | PacedRateModel
    | TokenBucketRateModel
    | SeriesRateModel
    | OpportunitiesRateModel
)
"""A model of the rate at which the wire takes packets."""

class NoneReorderModel(TypedDict):
    """No packet is reordered."""

    model: ReadOnly[Literal["none"]]

class BlockReorderModel(TypedDict):
    """One packet, chosen at random, in each block takes another delay, so that those behind it may
    overtake it (NemC's ``ooo_rate`` and ``ooo_delay``)."""

    model: ReadOnly[Literal["block"]]
    block: ReadOnly[int]
    """Packets in a block."""
    delay_ns: ReadOnly[int]
    """The chosen packet's delay, which exceeds the link's."""

class ShareReorderModel(TypedDict):
    """Each packet independently takes another delay."""

    model: ReadOnly[Literal["share"]]
    delay_ns: ReadOnly[int]
    """Its delay, which exceeds the link's."""
    probability: ReadOnly[float]
    """The probability that it does."""

class EarlyReorderModel(TypedDict):
    """After a number of packets in order, the next may leave without delay (netem's gap)."""

    model: ReadOnly[Literal["early"]]
    gap: ReadOnly[int]
    """Packets from one that may to the next."""
    probability: ReadOnly[float]
    """The probability that it does; otherwise the packet after it may."""

ReorderModel = NoneReorderModel | BlockReorderModel | ShareReorderModel | EarlyReorderModel
"""A reordering model, for a wire that keeps packets in order otherwise."""

class LinkModel(TypedDict):
    """The model of one direction of a link. By default it is up, and does nothing to packets."""

    corrupt: NotRequired[ReadOnly[float]]
    """The probability that one bit of a packet arrives wrong."""
    delay: ReadOnly[DelayModel]
    """How long the wire takes after a packet's last bit has entered it; one way."""
    duplicate: ReadOnly[float]
    """The probability that a packet, once past the loss model, is followed by a copy of itself."""
    framing: NotRequired[ReadOnly[Framing]]
    """What each packet occupies the wire for."""
    loss: ReadOnly[LossModel]
    """The loss model."""
    loss_position: NotRequired[ReadOnly[LossPosition]]
    """Where packets are lost."""
    queue: ReadOnly[QueueModel]
    """The queue."""
    rate: ReadOnly[RateModel]
    """How fast the wire takes packets."""
    reorder: ReadOnly[bool]
    """Whether a packet may overtake another because its delay was smaller."""
    reordering: NotRequired[ReadOnly[ReorderModel | None]]
    """The reordering model."""
    up: ReadOnly[bool]
    """Whether it carries packets. Packets offered while it is down end as ``Fate::Down``; packets that
    wait stay and go on when it is up again."""

class BundleModel(TypedDict):
    """The model of parallel routes that are one link."""

    policy: ReadOnly[Policy]
    """Which route a packet takes."""
    resequence: NotRequired[ReadOnly[Resequence | None]]
    """Whether the far end puts packets back into order."""
    routes: ReadOnly[Sequence[LinkModel]]
    """The model of each route; 2 to 64."""

class EventCause(TypedDict):
    """The scenario. All steps of a gradual change have the same cause."""

    by: ReadOnly[Literal["event"]]
    begins_ns: ReadOnly[int]
    """When the event begins, since the start of the run."""
    over_ns: ReadOnly[int]
    """How long it takes; 0: it happens at once."""
    position: ReadOnly[int]
    """Position in the scenario's ``events``."""

class CliCause(TypedDict):
    """``longhaul set``."""

    by: ReadOnly[Literal["cli"]]
    user: ReadOnly[str]
    """Name of the account."""
    words: ReadOnly[Sequence[str]]
    """What was asked for, as it was written: ``delay=60ms``, ``down``."""

class PageCause(TypedDict):
    """The page."""

    by: ReadOnly[Literal["page"]]
    user: ReadOnly[str]
    """Name of the account."""
    words: ReadOnly[Sequence[str]]
    """What was asked for, as it was written: ``delay=60ms``, ``down``."""

class PythonCause(TypedDict):
    """A program in Python."""

    by: ReadOnly[Literal["python"]]
    user: ReadOnly[str]
    """Name of the account."""
    words: ReadOnly[Sequence[str]]
    """What was asked for, as it was written: ``delay=60ms``, ``down``."""

Cause = EventCause | CliCause | PageCause | PythonCause
"""Who asked for a change."""

class NormalPacingModel(TypedDict):
    """When no other class may; several of them take turns."""

    kind: ReadOnly[Literal["normal"]]

class PacedPacingModel(TypedDict):
    """By the byte clock of a rate (PSPacer)."""

    kind: ReadOnly[Literal["paced"]]
    bits_per_s: ReadOnly[int]
    """That rate."""

class TokenBucketPacingModel(TypedDict):
    """When a bucket has tokens for all of the packet (tbf(8))."""

    kind: ReadOnly[Literal["token-bucket"]]
    bits_per_s: ReadOnly[int]
    """Rate at which it fills."""
    burst_bytes: ReadOnly[int]
    """Capacity; the bucket is full at the start. Larger packets are dropped."""
    peak_bits_per_s: NotRequired[ReadOnly[int | None]]
    """Rate at which packets with tokens leave, at least ``rate``; None: the line's."""

PacingModel = NormalPacingModel | PacedPacingModel | TokenBucketPacingModel
"""When packets of a class may leave."""

PacingChange = TypedDict(
    "PacingChange",
    {
        "class": ReadOnly[int],
        "model": ReadOnly[PacingModel],
    },
)
"""Gives a class of a host another pacing model; queued packets stay."""

RouteCosts = Literal["configured", "current"]
"""From which delays routers compute shortest paths when the topology changes."""

class Change(TypedDict):
    """A change of a direction; what is None stays."""

    coalesce_ns: NotRequired[ReadOnly[int | None]]
    """A new span within which segments of a super-packet leave together, for packets whose first bit
    leaves from now on; where the direction ends at a host."""
    corrupt: NotRequired[ReadOnly[float | None]]
    """A new probability of wrong bits."""
    delay: NotRequired[ReadOnly[DelayModel | None]]
    """A new delay, for packets whose first bit leaves from now on."""
    duplicate: NotRequired[ReadOnly[float | None]]
    """A new probability of duplicates."""
    framing: NotRequired[ReadOnly[Framing | None]]
    """New framing, for packets whose first bit leaves from now on."""
    loss: NotRequired[ReadOnly[LossModel | None]]
    """A new loss model, in its initial state."""
    loss_position: NotRequired[ReadOnly[LossPosition | None]]
    """A new loss position, together with a new loss model. Queued packets have passed the ingress: a
    change applies to them only at the egress."""
    pacing: NotRequired[ReadOnly[Sequence[PacingChange]]]
    """New pacing models of classes of the host at its near end; for the host's ``Pacer``."""
    present: NotRequired[ReadOnly[bool | None]]
    """Whether the link is part of the network. What is in a link that leaves ends there, as on a link that
    is down."""
    queue: NotRequired[ReadOnly[QueueModel | None]]
    """New limits and a new discipline; queued packets stay, in their order."""
    rate: NotRequired[ReadOnly[RateModel | None]]
    """A new rate, from the next packet on."""
    reorder: NotRequired[ReadOnly[bool | None]]
    """Whether packets may overtake, from now on."""
    reordering: NotRequired[ReadOnly[ReorderModel | None]]
    """A new reordering model, for packets whose first bit leaves from now on."""
    reroute: NotRequired[ReadOnly[RouteCosts | None]]
    """Routers compute all routes anew after this change, with these costs of links; for the network."""
    up: NotRequired[ReadOnly[bool | None]]
    """Up or down."""

class PacingClass(TypedDict):
    """Packets that leave by one clock."""

    limit_bytes: NotRequired[ReadOnly[int | None]]
    """IP bytes that may wait; None: any number."""
    limit_packets: NotRequired[ReadOnly[int | None]]
    """Packets that may wait; None: any number."""
    model: ReadOnly[PacingModel]
    """When its packets may leave."""
    name: ReadOnly[str]
    """Its name, unique in its host."""

class FlowSender(TypedDict):
    """The flow at this position of the plan."""

    flow: ReadOnly[int]

class JobSender(TypedDict):
    """The job at this position of the plan."""

    job: ReadOnly[int]

Sender = FlowSender | JobSender
"""Whose a simulated packet is."""

PacingRule = TypedDict(
    "PacingRule",
    {
        "class": NotRequired[ReadOnly[int]],
        "destinations": NotRequired[ReadOnly[Sequence[int]]],
        "dscp": NotRequired[ReadOnly[int | None]],
        "flows": NotRequired[ReadOnly[int]],
        "ports": NotRequired[ReadOnly[Sequence[Sequence[int]]]],
        "protocol": NotRequired[ReadOnly[int | None]],
        "senders": NotRequired[ReadOnly[Sequence[Sender]]],
    },
)
"""Which packets belong to a class: those for which all holds that is said."""

class Pacing(TypedDict):
    """How a host spaces what it sends, before it comes to the link."""

    class_framing: NotRequired[ReadOnly[Framing]]
    """What the rates of classes count."""
    classes: ReadOnly[Sequence[PacingClass]]
    """At least one."""
    default: ReadOnly[int]
    """The class of what no rule matches, by position."""
    line_bits_per_s: ReadOnly[int]
    """The rate of the host's card, at which every packet leaves."""
    line_framing: NotRequired[ReadOnly[Framing]]
    """What a packet occupies the card for."""
    rules: NotRequired[ReadOnly[Sequence[PacingRule]]]
    """Who belongs to which class: the first that matches."""

class Direction(TypedDict):
    """One direction of a link: the fields of its ``LinkModel``, parallel routes, and the pacing of its
    host."""

    bundle: NotRequired[ReadOnly[BundleModel | None]]
    """Parallel routes. They replace all fields above but ``up``, and the mean of ``delay``, which routing
    takes as the cost of the link."""
    corrupt: NotRequired[ReadOnly[float]]
    """The share of packets in which one bit, chosen at random, arrives wrong."""
    delay: ReadOnly[DelayModel]
    """How long the wire takes; one way."""
    duplicate: ReadOnly[float]
    """The share of packets that arrive twice."""
    framing: NotRequired[ReadOnly[Framing]]
    """What each packet occupies the wire for."""
    loss: ReadOnly[LossModel]
    """The loss model."""
    loss_position: NotRequired[ReadOnly[LossPosition]]
    """Where packets are lost."""
    pacing: NotRequired[ReadOnly[Pacing | None]]
    """How the host at its near end spaces what it sends, before it comes here."""
    queue: ReadOnly[QueueModel]
    """The queue."""
    rate: ReadOnly[RateModel]
    """How fast the wire takes packets."""
    reorder: ReadOnly[bool]
    """Whether a packet may overtake another because its delay was smaller."""
    reordering: NotRequired[ReadOnly[ReorderModel | None]]
    """The reordering model."""
    up: ReadOnly[bool]
    """Whether it carries packets."""

End = Literal["source", "sink"]
"""One of the two ends of a flow."""

Way = Literal["forward", "reverse"]
"""One of the two directions of a link."""

class Event(TypedDict):
    """A change of a link at a time. A run that applies it records it in these words."""

    at_ns: ReadOnly[int]
    """When, since the start of the run."""
    cause: NotRequired[ReadOnly[Cause | None]]
    """Who asked for it; None: the plan does not say."""
    change: ReadOnly[Change]
    """What becomes different."""
    direction: NotRequired[ReadOnly[Way | None]]
    """Which direction; None for both."""
    link: ReadOnly[int]
    """Which link."""
    route: NotRequired[ReadOnly[int | None]]
    """Which of its parallel routes; None: the link, or all of them."""

Recovery = Literal["tahoe", "reno", "newreno", "sack", "sack-adaptive", "rack"]
"""How simulated TCP finds and repairs losses."""

class Tcp(TypedDict):
    """How simulated TCP behaves, but for its congestion control."""

    buffer_bytes: NotRequired[ReadOnly[int | None]]
    """Largest socket buffers, in bytes; half of the receiver's is offered as window. None: no limit."""
    delayed_ack: NotRequired[ReadOnly[bool]]
    """Whether the receiver acknowledges every other segment only."""
    ecn: NotRequired[ReadOnly[bool]]
    """Explicit congestion notification (RFC 3168)."""
    even: NotRequired[ReadOnly[bool]]
    """Whether that is one window per round trip, no faster (PSPacer's dynamic mode); else Linux's gains."""
    initial_window: NotRequired[ReadOnly[int | None]]
    """Window to begin with, in segments; None: as RFC 6928 says."""
    ipv6: NotRequired[ReadOnly[bool]]
    """Whether it travels in IPv6."""
    min_rto_ns: NotRequired[ReadOnly[int]]
    """Least retransmission timeout."""
    pacing: NotRequired[ReadOnly[bool]]
    """Whether segments are spread over the round trip, whatever the algorithm."""
    recovery: NotRequired[ReadOnly[Recovery]]
    """How losses are found and repaired."""

Sizes = Literal["fixed", "exponential"]
"""How the payload of datagrams varies."""

PacketList = TypedDict(
    "PacketList",
    {
        "at_ns": ReadOnly[Sequence[int]],
        "bytes": ReadOnly[Sequence[int]],
        "class": ReadOnly[Sequence[int]],
        "flow": ReadOnly[Sequence[int]],
        "ttl": ReadOnly[Sequence[int]],
    },
)
"""Packets and when they leave, column by column; all columns have the same length."""

class TcpTraffic(TypedDict):
    """Bulk transfer over TCP."""

    kind: ReadOnly[Literal["tcp"]]
    bits_per_s: NotRequired[ReadOnly[int | None]]
    """The application hands over so many bits of payload a second; None: all at once."""
    bytes: NotRequired[ReadOnly[int | None]]
    """Payload of each connection, in bytes; None: until it is stopped."""
    cc: ReadOnly[AlgorithmSettings]
    """What controls the windows."""
    held: NotRequired[ReadOnly[bool]]
    """It does nothing until it is told to, by whoever drives the simulation."""
    streams: ReadOnly[int]
    """Connections side by side."""
    subflows: NotRequired[ReadOnly[Sequence[Sequence[int]]]]
    """Nodes between which each connection has subflows of Multipath TCP, the first one first; none: it is
    plain TCP."""
    tcp: NotRequired[ReadOnly[Tcp]]
    """How the rest of TCP behaves."""

class UdpTraffic(TypedDict):
    """Datagrams, spaced as ``arrivals`` says."""

    kind: ReadOnly[Literal["udp"]]
    arrivals: NotRequired[ReadOnly[Arrivals]]
    """How far apart they leave."""
    bits_per_s: ReadOnly[int]
    """Bits of payload a second; at least 1."""
    bytes: NotRequired[ReadOnly[int | None]]
    """Payload in all; None: until it is stopped."""
    on_off: NotRequired[ReadOnly[Sequence[Distribution] | None]]
    """Times of sending and of silence in turn, in ns; None: always sending."""
    payload_bytes: ReadOnly[int]
    """Payload of a datagram, in bytes; at least 1."""
    sizes: NotRequired[ReadOnly[Sizes]]
    """How their payload varies about ``payload_bytes``."""

class RequestsTraffic(TypedDict):
    """Transfers one after another or side by side, each over a TCP connection of its own."""

    kind: ReadOnly[Literal["requests"]]
    cc: ReadOnly[AlgorithmSettings]
    """What controls the windows."""
    gap: ReadOnly[Distribution]
    """From the begin of one to the begin of the next, in ns."""
    size: ReadOnly[Distribution]
    """Payload of each, in bytes, rounded; at least 1."""
    tcp: NotRequired[ReadOnly[Tcp]]
    """How the rest of TCP behaves."""

class ReplayTraffic(TypedDict):
    """Transfers that are listed, each over a TCP connection of its own."""

    kind: ReadOnly[Literal["replay"]]
    cc: ReadOnly[AlgorithmSettings]
    """What controls the windows."""
    tcp: NotRequired[ReadOnly[Tcp]]
    """How the rest of TCP behaves."""
    transfers: ReadOnly[Sequence[Sequence[int]]]
    """When each begins, in ns since the flow does, and its payload, in bytes, at least 1; in that order."""

class PcapTraffic(TypedDict):
    """Packets of a capture, at its times."""

    kind: ReadOnly[Literal["pcap"]]
    every_ns: ReadOnly[int]
    """From the begin of one pass to the begin of the next; not less than the last packet's time."""
    file: NotRequired[ReadOnly[str | None]]
    """The packets' bytes: a pcap file in the run directory, with a packet for each of the list. None:
    simulated packets, which have none."""
    packets: ReadOnly[PacketList]
    """The packets of one pass."""
    repeat: ReadOnly[int]
    """Passes over the list; at least 1."""

class PingTraffic(TypedDict):
    """Echo requests."""

    kind: ReadOnly[Literal["ping"]]
    count: NotRequired[ReadOnly[int | None]]
    """How many; None: until it is stopped."""
    every_ns: ReadOnly[int]
    """From one to the next; at least 1."""
    payload_bytes: ReadOnly[int]
    """Payload, in bytes."""

Traffic = TcpTraffic | UdpTraffic | RequestsTraffic | ReplayTraffic | PcapTraffic | PingTraffic
"""What a flow does."""

class Flow(TypedDict):
    """Traffic from one host to another, simulated or sent by the generators of a live run."""

    destination: ReadOnly[int]
    """The node that answers."""
    name: ReadOnly[str]
    """Its name."""
    simulated: NotRequired[ReadOnly[bool]]
    """Whether it is simulated in a live run; in a simulation every flow is."""
    source: ReadOnly[int]
    """The host that begins, by position among the nodes."""
    start_ns: ReadOnly[int]
    """When it begins."""
    stop_ns: NotRequired[ReadOnly[int | None]]
    """When it ends; None: with the run, or when it has sent what it should."""
    traffic: ReadOnly[Traffic]
    """What it does."""

class HostFile(TypedDict):
    """A file of a host, which programs can read."""

    executable: NotRequired[ReadOnly[bool]]
    """Whether it is a program."""
    sha256: ReadOnly[str]
    """The SHA-256 of its contents, in hexadecimal digits."""
    source: ReadOnly[str]
    """Its name in the scenario."""
    target: ReadOnly[str]
    """Where the host has it: an absolute path."""

class HostRoot(TypedDict):
    """A root directory, which the host finds under a layer of its own."""

    directories: ReadOnly[Sequence[str]]
    """The directories that overlayfs merges, the topmost first; they are not changed. Empty where an image
    has yet to be looked up."""
    image: NotRequired[ReadOnly[str | None]]
    """The image whose layers they are, if they are such."""
    keep_files: NotRequired[ReadOnly[bool]]
    """Whether the run directory keeps what the host writes."""

class HostSettings(TypedDict):
    """What programs of a host find in place of what the machine has."""

    capabilities: NotRequired[ReadOnly[Sequence[int] | None]]
    """Capabilities that its programs may have, by their numbers in linux/capability.h; None: all that
    isolation leaves."""
    cpu_millicores: NotRequired[ReadOnly[int | None]]
    """CPU time that its programs may use together, in thousandths of a CPU."""
    files: NotRequired[ReadOnly[Sequence[HostFile]]]
    """Files in place of the machine's, or beside them."""
    hostname: NotRequired[ReadOnly[str | None]]
    """Its host name; None: the name of the node."""
    memory_bytes: NotRequired[ReadOnly[int | None]]
    """Memory that its programs may use together."""
    pid_namespace: NotRequired[ReadOnly[bool]]
    """Whether it has its own PID namespace."""
    root: NotRequired[ReadOnly[HostRoot | None]]
    """A root directory in place of the machine's."""
    user: NotRequired[ReadOnly[str | None]]
    """The user that its programs run as: a name of the host's, or a number; None: root of the run."""

Isolation = Literal["none", "strict"]
"""What programs of hosts may do to the machine that they run on."""

class SendStep(TypedDict):
    """Hands over a message, and goes on at once."""

    do: ReadOnly[Literal["send"]]
    bytes: ReadOnly[int]
    """Its bytes; at least 1."""
    to: ReadOnly[int]
    """To which rank."""

ReceiveStep = TypedDict(
    "ReceiveStep",
    {
        "do": ReadOnly[Literal["receive"]],
        "bytes": ReadOnly[int],
        "from": ReadOnly[int],
    },
)
"""Waits for a message."""

class ComputeStep(TypedDict):
    """Does something else."""

    do: ReadOnly[Literal["compute"]]
    ns: ReadOnly[int]
    """For so long."""

Step = SendStep | ReceiveStep | ComputeStep
"""One thing that a rank does."""

class Job(TypedDict):
    """A simulated parallel program: ranks that compute, and send each other messages over TCP."""

    after: NotRequired[ReadOnly[Sequence[str]]]
    """Names of jobs that it begins after."""
    cc: ReadOnly[AlgorithmSettings]
    """What controls the windows."""
    name: ReadOnly[str]
    """Its name."""
    ranks: ReadOnly[Sequence[int]]
    """The host of each rank, by position among the nodes."""
    repeat: ReadOnly[int]
    """How often the steps are done."""
    start_ns: ReadOnly[int]
    """When it begins; if ``after`` names jobs, when the last of them has ended."""
    steps: ReadOnly[Sequence[Sequence[Step]]]
    """What each rank does, one after another."""
    tcp: NotRequired[ReadOnly[Tcp]]
    """How the rest of TCP behaves."""

class Link(TypedDict):
    """A link between two nodes; each direction has its own model."""

    endpoints: ReadOnly[Sequence[int]]
    """The two nodes; forward is from the first to the second."""
    forward: ReadOnly[Direction]
    """From the first endpoint to the second."""
    mtu: ReadOnly[int]
    """Largest IP packet, in bytes."""
    name: ReadOnly[str]
    """Its name."""
    present: NotRequired[ReadOnly[bool]]
    """Whether it is part of the network at the start; an event may let it join or leave."""
    reverse: ReadOnly[Direction]
    """From the second endpoint to the first."""

class Loaded(TypedDict):
    """A congestion-control algorithm, and the name by which the kernel knows it during the run: 1 to 15
    letters, digits and underscores."""

    cc: ReadOnly[AlgorithmSettings]
    """What it is."""
    name: ReadOnly[str]
    """The kernel's name for it."""

class MainRoute(TypedDict):
    """An entry of a host's main routing table: packets for ``destination`` leave by ``interface``, from
    its address."""

    destination: ReadOnly[int]
    """Node that has the destination address."""
    interface: ReadOnly[int]
    """Node of the interface, or the host for its first one."""

class Monitor(TypedDict):
    """Links of which packets, bytes, drops and queue are counted in short bins of time."""

    every_ns: ReadOnly[int]
    """How long a bin is."""
    flows: ReadOnly[bool]
    """Whether each flow is counted by itself, too."""
    links: ReadOnly[Sequence[int]]
    """Links, both directions of each."""

class Measure(TypedDict):
    """What a run records."""

    captures: ReadOnly[Sequence[int]]
    """Links whose packets are captured as pcapng, both directions."""
    every_ns: ReadOnly[int]
    """Interval of the samples of every link's counters."""
    journal: NotRequired[ReadOnly[bool]]
    """Whether everything that goes into the network and comes out is recorded, for a replay."""
    monitor: NotRequired[ReadOnly[Monitor | None]]
    """Links that are watched in short bins of time."""
    packet_links: ReadOnly[Sequence[int]]
    """Links whose packets are recorded with the instants of arrival and departure."""
    packet_window_ns: ReadOnly[int]
    """How much of each second those records cover, from its start; 10^9 for all of it."""
    snaplen: ReadOnly[int]
    """Bytes of each packet kept in a capture."""
    sockets_every_ns: NotRequired[ReadOnly[int | None]]
    """Interval at which the kernel's TCP sockets are read in a live run; None: never."""

MptcpFlag = Literal["signal", "subflow", "backup", "fullmesh"]
"""How Multipath TCP uses an address (``ip-mptcp(8)``)."""

class MptcpEndpoint(TypedDict):
    """The addresses of an interface, to Multipath TCP."""

    flags: ReadOnly[Sequence[MptcpFlag]]
    """How they are used."""
    interface: ReadOnly[int]
    """Node of the interface, or the host for its first one."""

class Mptcp(TypedDict):
    """What the path manager of Multipath TCP may do in a host (``ip-mptcp(8)``)."""

    add_addr_accepted: ReadOnly[int]
    """Addresses that are taken of those that a connection's peer announces."""
    endpoints: ReadOnly[Sequence[MptcpEndpoint]]
    """Addresses that connections use beside that of their first subflow."""
    required: ReadOnly[bool]
    """Whether the scenario asks for it: a kernel without Multipath TCP is an error then."""
    subflows: ReadOnly[int]
    """Subflows of a connection beside its first."""

Multipath = Literal["none", "flow-hash"]
"""What routers do that have several paths of the same delay and the same number of links."""

NodeKind = Literal["host", "router", "switch", "interface"]
"""What a node is."""

class Subnet(TypedDict):
    """A network behind a device."""

    address: ReadOnly[str]
    """Its first address."""
    bits: ReadOnly[int]
    """Bits that all of its addresses share."""
    via: NotRequired[ReadOnly[str | None]]
    """The router behind the device that leads to it; None: its hosts are on the device's own segment."""

class NamespacePort(TypedDict):
    """Interfaces of the run inside a network namespace that exists already."""

    kind: ReadOnly[Literal["namespace"]]
    default_route: NotRequired[ReadOnly[bool | None]]
    """Whether all packets without another route leave by the first interface; None: if the namespace has
    no default route of its own."""
    interfaces: NotRequired[ReadOnly[Sequence[str]]]
    """Names of the interfaces, that of the first link first; the first free ones of ``eth0``, ``eth1`` and
    so on for those that are not named."""
    place: ReadOnly[str]
    """Which one, in the scenario's words: ``netns:blue``, ``podman:web``."""

class RoutedPort(TypedDict):
    """An Ethernet device of the machine, behind which hosts are that use this node's addresses as their
    gateway."""

    kind: ReadOnly[Literal["routed"]]
    device: ReadOnly[str]
    """The device's name."""
    subnets: ReadOnly[Sequence[Subnet]]
    """Networks behind the device."""

class BridgedPort(TypedDict):
    """An Ethernet device of the machine, whose frames go unchanged to the other bridged devices of its
    segment."""

    kind: ReadOnly[Literal["bridged"]]
    device: ReadOnly[str]
    """The device's name."""
    segment: ReadOnly[int]
    """Devices with the same number are one Ethernet segment."""

Port = NamespacePort | RoutedPort | BridgedPort
"""What is at a host's end of its links in a live run, in place of namespaces of Longhaul's own."""

class SegmentBits(TypedDict):
    """How many bits the addresses of an Ethernet segment share."""

    ipv4: ReadOnly[int]
    """Of IPv4."""
    ipv6: ReadOnly[int]
    """Of IPv6."""

class Node(TypedDict):
    """A host (real programs, own namespaces), a router or a switch (parts of the model)."""

    aliases: NotRequired[ReadOnly[Sequence[str]]]
    """Further names of its addresses: ``par1.nyc`` for the first interface of a host that has several."""
    forwards: NotRequired[ReadOnly[bool]]
    """Whether a host forwards packets of others between its interfaces, as a router."""
    initial_window: NotRequired[ReadOnly[int | None]]
    """First windows of a host's TCP, both to send and to receive, in segments; None: the kernel's."""
    ipv4: NotRequired[ReadOnly[str | None]]
    """Its IPv4 address, if the scenario has IPv4."""
    ipv6: NotRequired[ReadOnly[str | None]]
    """Its IPv6 address, if the scenario has IPv6."""
    kind: ReadOnly[NodeKind]
    """Host or router."""
    line_bits_per_s: NotRequired[ReadOnly[int | None]]
    """Line rate of a host's network cards on the virtual clock, in bit/s; None: unlimited."""
    main_routes: NotRequired[ReadOnly[Sequence[MainRoute]]]
    """What a host with several interfaces does not send from its first one, by destination. Of a host that
    forwards: all destinations, as it has no default route; empty if a routing daemon fills its table."""
    mptcp: NotRequired[ReadOnly[Mptcp | None]]
    """The path manager of Multipath TCP of a host with several interfaces."""
    mtu: ReadOnly[int]
    """MTU of a host's interface, in bytes of IP packet; 0 for a router or a switch."""
    name: ReadOnly[str]
    """Its name, which is also its host name unless its settings have another."""
    no_path_to: NotRequired[ReadOnly[Sequence[int]]]
    """Destinations that no path from this interface of a host leads to, but one from another interface of
    the host."""
    of: NotRequired[ReadOnly[int | None]]
    """The host whose interface this is, if it is an interface."""
    port: NotRequired[ReadOnly[Port | None]]
    """What is at this host's end of its links in a live run; None: namespaces of Longhaul's own."""
    segment: NotRequired[ReadOnly[SegmentBits | None]]
    """The network of the addresses of an interface at a switch; None for any other node, and where
    addresses are none of the segment's."""
    settings: NotRequired[ReadOnly[HostSettings | None]]
    """What a host has of its own beside its network; None: all that the machine has."""
    sysctls: NotRequired[ReadOnly[Mapping[str, str]]]
    """Sysctls to set in a host's network namespace (``net.ipv4.tcp_rmem`` ...)."""

class Part(TypedDict):
    """A real end of flows of the plan, none of which may be simulated."""

    congestion_control: NotRequired[ReadOnly[str | None]]
    """The kernel's congestion control; None: the host's."""
    end: ReadOnly[End]
    """Which of their ends."""
    flows: ReadOnly[Sequence[int]]
    """The flows, by position, at least one. All begin at the same host, or all end there; several are all
    ``Replay``."""
    port: ReadOnly[int]
    """Where the receivers listen."""

Ranks = Literal["by-cluster", "round-robin"]
"""How ranks are dealt to the hosts of a span."""

class Placement(TypedDict):
    """The hosts of a parallel program."""

    hosts: ReadOnly[Sequence[int]]
    """By position among the nodes, each once, in the order in which they are filled."""
    ranks: ReadOnly[Ranks]
    """Which rank goes where."""
    slots: ReadOnly[int]
    """Ranks on each host, at least one."""

class Ready(TypedDict):
    """How to tell that a service is ready."""

    tcp_port: ReadOnly[int]
    """A TCP port that it listens on."""
    within_ns: ReadOnly[int]
    """How long it may take."""

class Program(TypedDict):
    """A real program in a host."""

    after: NotRequired[ReadOnly[Sequence[str]]]
    """Names of programs that it starts after, however they end."""
    argv: ReadOnly[Sequence[str]]
    """Program and arguments; never passed through a shell."""
    cwd: NotRequired[ReadOnly[str | None]]
    """Working directory; None for the directory that the run was started from."""
    env: ReadOnly[Mapping[str, str]]
    """Variables added to the environment."""
    expect_exit: NotRequired[ReadOnly[int | None]]
    """The exit code that means success; None: any."""
    host: ReadOnly[int]
    """The host, by position among the nodes."""
    may_end: NotRequired[ReadOnly[bool]]
    """A service that may end by itself, however: others end only with ``expect_exit``, or when they are
    told to."""
    name: ReadOnly[str]
    """Its name; its output goes to ``logs/<name>.out`` and ``logs/<name>.err``."""
    plays: NotRequired[ReadOnly[Part | None]]
    """The end of a flow that the run itself plays, instead of executing ``argv``. It is ready before the
    clock starts, and minds neither ``start_ns`` nor ``ready``."""
    ready: NotRequired[ReadOnly[Ready | None]]
    """What tells that a service can be used."""
    service: ReadOnly[bool]
    """A service serves the others: the run does not wait for it, and stops it at the end."""
    span: NotRequired[ReadOnly[Placement | None]]
    """Hosts that its ranks may be started on, if it is a parallel program."""
    start_ns: ReadOnly[int]
    """When it starts; if ``after`` names programs, when the last of them has ended. A service starts
    before the clock does."""
    stop_ns: NotRequired[ReadOnly[int | None]]
    """When it is told to end (SIGTERM, SIGKILL two seconds later); None: when it likes."""

class RouteOverride(TypedDict):
    """At ``node``, packets for ``destination`` leave by ``link``, whatever the delays say."""

    destination: ReadOnly[int]
    """Where it wants to go."""
    link: ReadOnly[int]
    """The link that it takes; one of its endpoints is ``node``."""
    node: ReadOnly[int]
    """Where the packet is."""

class Plan(TypedDict):
    """A whole scenario, resolved."""

    algorithms: NotRequired[ReadOnly[Sequence[Loaded]]]
    """Congestion-control algorithms that are loaded into the kernel for a live run."""
    coalesce_ns: ReadOnly[int]
    """Segments of one super-packet leave together only if their due times lie within this span."""
    duration_ns: NotRequired[ReadOnly[int | None]]
    """When the run ends. None: when the last program that is not a service has ended, and every simulated
    job and flow that has an end."""
    events: ReadOnly[Sequence[Event]]
    """Changes while running, in order of time."""
    flows: NotRequired[ReadOnly[Sequence[Flow]]]
    """Traffic that is simulated, or sent by the generators of a live run."""
    gateway: NotRequired[ReadOnly[int | None]]
    """The host that takes packets for addresses that no node has, and routes them on; None: such packets
    have no way."""
    isolation: NotRequired[ReadOnly[Isolation]]
    """What programs of hosts may do to the machine."""
    jobs: NotRequired[ReadOnly[Sequence[Job]]]
    """Simulated parallel programs."""
    links: ReadOnly[Sequence[Link]]
    """Links; events and measurements refer to them by position."""
    measure: ReadOnly[Measure]
    """What to record."""
    multipath: NotRequired[ReadOnly[Multipath]]
    """What routers do that have several equally short paths."""
    name: ReadOnly[str]
    """The scenario's name."""
    nodes: ReadOnly[Sequence[Node]]
    """Hosts and routers; everything else refers to them by position."""
    programs: ReadOnly[Sequence[Program]]
    """What runs in the hosts, services first."""
    routes: ReadOnly[Sequence[RouteOverride]]
    """Next hops that replace the shortest path."""
    seed: ReadOnly[int]
    """Seed of every random stream."""
    version: ReadOnly[int]
    """Must equal ``VERSION``."""
