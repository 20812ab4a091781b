use longhaul_units::{Rate, Span};

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not opened yet.
    Idle,
    /// LISTEN.
    Listening,
    /// SYN-SENT.
    SynSent,
    /// SYN-RECEIVED.
    SynReceived,
    /// ESTABLISHED.
    Established,
    /// Both FINs are acknowledged.
    Closed,
    /// Gave up after too many retransmissions.
    Failed,
}

/// The sender's recovery state (Linux: `tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// No known loss.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout, until all segments outstanding then are acknowledged.
    Loss,
}

/// What limited the sender at its last attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// Nothing.
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

/// Counters and estimates as in Linux's `TCP_INFO`. Windows and counts are in segments, unless named otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// State of the connection.
    pub state: State,
    /// Recovery state.
    pub ca_state: CaState,
    /// What limited the sender last.
    pub limited_by: LimitedBy,
    /// Congestion window in force.
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
    /// Segments estimated to be in the network (RFC 6675: pipe).
    pub in_flight: u32,
    /// `FlightSize`: segments sent and not cumulatively acknowledged.
    pub outstanding: u32,
    /// Of these, marked lost.
    pub lost: u32,
    /// Of these, SACKed.
    pub sacked: u32,
    /// Receive window of the peer.
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
    /// Duplicate data segments received.
    pub duplicates_received: u64,
    /// Payload acknowledged.
    pub bytes_acknowledged: u64,
    /// Segments delivered: acknowledged cumulatively or by SACK.
    pub delivered: u64,
    /// Segments marked lost, except by a timeout.
    pub losses: u64,
    /// D-SACKs received.
    pub dsacks: u64,
    /// Largest reordering measured, in segments.
    pub reordering: u32,
    /// Window reductions undone.
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

/// Counters of a sender that stay zero without losses, reordering, marks and probes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) retransmits: u64,
    /// Payload of the retransmissions.
    pub(crate) retransmitted_bytes: u64,
    pub(crate) marks: u64,
    pub(crate) dsacks: u32,
    pub(crate) reordering: u32,
    pub(crate) undone: u32,
    pub(crate) timeouts: u32,
    pub(crate) recoveries: u32,
    pub(crate) tail_probes: u32,
    pub(crate) window_probes: u32,
}
