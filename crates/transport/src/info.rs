use longhaul_units::{Rate, Span};

/// How far the connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet.
    Idle,
    /// Waits for a SYN.
    Listening,
    /// Has sent a SYN.
    SynSent,
    /// Has answered a SYN.
    SynReceived,
    /// Data flow.
    Established,
    /// Both ends have closed, and each knows.
    Closed,
    /// Gave up after too many retransmissions.
    Failed,
}

/// What the sender does about losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is known.
    Open,
    /// Fast recovery.
    Recovery,
    /// A retransmission timeout has struck, and what was outstanding then is not all acknowledged.
    Loss,
}

/// What held the sender back when it was last asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Nothing yet.
    Nothing,
    /// The application has no more to send.
    Application,
    /// The congestion window.
    Window,
    /// Pacing.
    Pacing,
    /// The receiver's window.
    Receiver,
    /// The send buffer.
    SendBuffer,
}

/// What TCP_INFO would say. Windows and counts are in segments, unless named otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// How far the connection has come.
    pub state: State,
    /// What the sender does about losses.
    pub phase: Phase,
    /// What held the sender back last.
    pub limited_by: LimitedBy,
    /// Congestion window that is in force.
    pub window: f64,
    /// Slow-start threshold.
    pub threshold: f64,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Span,
    /// RTT variation.
    pub rttvar: Span,
    /// Retransmission timeout in force, with back-off.
    pub rto: Span,
    /// Smallest RTT.
    pub min_rtt: Span,
    /// Thought to be on their way.
    pub in_flight: u32,
    /// Sent and not acknowledged in order.
    pub outstanding: u32,
    /// Of these, taken for lost.
    pub lost: u32,
    /// Of these, arrived out of order.
    pub sacked: u32,
    /// The receiver will take so many more bytes.
    pub receiver_window_bytes: u64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload sent, retransmissions included.
    pub bytes_sent: u64,
    /// Retransmissions.
    pub retransmits: u64,
    /// Segments received, of whatever kind.
    pub segments_received: u64,
    /// Payload received in order.
    pub bytes_received: u64,
    /// Data segments that had arrived before.
    pub duplicates_received: u64,
    /// Payload acknowledged.
    pub bytes_acknowledged: u64,
    /// Segments known to have arrived, in order or not.
    pub delivered: u64,
    /// Segments that were found lost, other than by a timeout.
    pub losses: u64,
    /// D-SACKs received.
    pub dsacks: u64,
    /// Greatest reordering seen.
    pub reordering: u32,
    /// Reductions taken back.
    pub undone: u64,
    /// Delivered segments whose acknowledgement carried an ECN echo.
    pub marks: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Tail loss probes.
    pub tail_probes: u64,
    /// Probes of a closed window.
    pub window_probes: u64,
    /// Pacing rate, of payload.
    pub pacing_rate: Option<Rate>,
    /// Latest delivery rate, of full segments' payload.
    pub delivery_rate: Option<Rate>,
}

/// What only counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) segments_sent: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) retransmits: u64,
    pub(crate) losses: u64,
    pub(crate) dsacks: u32,
    pub(crate) reordering: u32,
    pub(crate) undone: u32,
    pub(crate) marks: u64,
    pub(crate) timeouts: u32,
    pub(crate) recoveries: u32,
    pub(crate) tail_probes: u32,
    pub(crate) window_probes: u32,
}
