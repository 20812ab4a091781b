use crate::pipe::Pipe;
use crate::{Bundle, Change, Counters, Fate, Link, LinkPacket, OfferResult};
use longhaul_units::{Histogram, Span, Time};

/// One direction between two nodes: a link, or parallel routes that are one. What holds of [`Link`]
/// holds of it.
#[derive(Debug)]
pub enum Line<P> {
    /// One link.
    Link(Box<Link<P>>),
    /// One link whose models need no waiting; the same, but faster.
    Pipe(Box<Pipe<P>>),
    /// Parallel routes.
    Bundle(Box<Bundle<P>>),
}

impl<P: LinkPacket> From<Link<P>> for Line<P> {
    /// Of a link that has not been used yet.
    fn from(link: Link<P>) -> Self {
        match Pipe::new(Box::new(link)) {
            Ok(pipe) => Line::Pipe(Box::new(pipe)),
            Err(link) => Line::Link(link),
        }
    }
}

impl<P: LinkPacket> Line<P> {
    /// See [`Link::offer`].
    pub fn offer(&mut self, now: Time, packet: P) -> OfferResult {
        match self {
            Line::Link(link) => link.offer(now, packet),
            Line::Pipe(pipe) => pipe.offer(now, packet),
            Line::Bundle(bundle) => bundle.offer(now, packet),
        }
    }

    /// See [`Link::next_event`].
    pub fn next_event(&self) -> Time {
        match self {
            Line::Link(link) => link.next_event(),
            Line::Pipe(pipe) => pipe.next_event(),
            Line::Bundle(bundle) => bundle.next_event(),
        }
    }

    /// See [`Link::take`].
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        match self {
            Line::Link(link) => link.take(now),
            Line::Pipe(pipe) => pipe.take(now),
            Line::Bundle(bundle) => bundle.take(now),
        }
    }

    /// See [`Link::upcoming`]; of parallel routes nothing is known before it comes out.
    pub fn upcoming(&mut self, now: Time, before: Time, each: impl FnMut(&P, Time)) {
        match self {
            Line::Link(link) => link.upcoming(now, before, each),
            Line::Pipe(pipe) => pipe.upcoming(now, before, each),
            Line::Bundle(_) => {}
        }
    }

    /// See [`Link::least_delay`]; of parallel routes zero.
    pub fn least_delay(&self) -> Span {
        match self {
            Line::Link(link) => link.least_delay(),
            Line::Pipe(pipe) => pipe.least_delay(),
            Line::Bundle(_) => Span::ZERO,
        }
    }

    /// See [`Link::drop_pending`].
    pub fn drop_pending(&mut self) -> Option<(P, Fate)> {
        match self {
            Line::Link(link) => link.drop_pending(),
            Line::Pipe(_) => None,
            Line::Bundle(bundle) => bundle.drop_pending(),
        }
    }

    /// See [`Link::change`]; of parallel routes, `route` changes alone if it is given, else all do.
    pub fn change(&mut self, now: Time, route: Option<usize>, change: &Change) {
        if let Line::Pipe(pipe) = self {
            *self = Line::Link(pipe.take_link(now));
        }
        match self {
            Line::Link(link) => link.change(now, change),
            Line::Pipe(_) => {}
            Line::Bundle(bundle) => bundle.change(now, route, change),
        }
    }

    /// Counts as of `now` what has begun to leave since; no packet notices.
    pub fn settle(&mut self, now: Time) {
        match self {
            Line::Link(link) => link.catch_up(now),
            Line::Pipe(pipe) => pipe.settle(now),
            Line::Bundle(bundle) => bundle.catch_up(now),
        }
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        match self {
            Line::Link(link) => *link.counters(),
            Line::Pipe(pipe) => pipe.counters(),
            Line::Bundle(bundle) => bundle.counters(),
        }
    }

    /// See [`Link::waits`].
    pub fn waits(&self) -> Histogram {
        match self {
            Line::Link(link) => link.waits().clone(),
            Line::Pipe(pipe) => pipe.waits(),
            Line::Bundle(bundle) => bundle.waits(),
        }
    }

    /// See [`Link::waiting`].
    pub fn waiting(&self) -> (u64, u64) {
        match self {
            Line::Link(link) => link.waiting(),
            Line::Pipe(pipe) => pipe.waiting(),
            Line::Bundle(bundle) => bundle.waiting(),
        }
    }

    /// See [`Link::next_start`].
    pub fn next_start(&self) -> Time {
        match self {
            Line::Link(link) => link.next_start(),
            Line::Pipe(pipe) => pipe.next_start(),
            Line::Bundle(bundle) => bundle.next_start(),
        }
    }

    /// See [`Link::in_flight`].
    pub fn in_flight(&self) -> u64 {
        match self {
            Line::Link(link) => link.in_flight(),
            Line::Pipe(pipe) => pipe.in_flight(),
            Line::Bundle(bundle) => bundle.in_flight(),
        }
    }
}
