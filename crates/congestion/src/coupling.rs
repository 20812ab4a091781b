//! What a subflow of a multipath connection knows of all of them.

/// A subflow that has a round-trip time, as its siblings see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subflow {
    /// The congestion window, in segments.
    pub window: f64,
    /// The smoothed round-trip time, in seconds; positive.
    pub srtt_s: f64,
    /// Segments acknowledged since the last loss, or between the last two, whichever is more.
    pub between_losses: f64,
}

/// The subflows of a connection, this one among them.
#[derive(Clone, Copy, Debug)]
pub struct Coupling<'a> {
    /// All that have a round-trip time.
    pub subflows: &'a [Subflow],
    /// Which of them this one is.
    pub own: usize,
}

impl Coupling<'_> {
    /// The rates of all together, in segments a second.
    pub(crate) fn rate(&self) -> f64 {
        self.subflows.iter().map(|each| each.window / each.srtt_s).sum()
    }
}

/// Segments between losses (l1 and l2 of OLIA).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossIntervals {
    since_last: f64,
    before: f64,
}

impl LossIntervals {
    pub(crate) fn add(&mut self, segments: u32) {
        self.since_last += f64::from(segments);
    }

    pub(crate) fn lose(&mut self) {
        self.before = std::mem::take(&mut self.since_last);
    }

    pub(crate) fn longest(&self) -> f64 {
        self.since_last.max(self.before)
    }
}
