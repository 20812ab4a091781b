use std::io::{self, Write};

/// First line of a file of [`FlowRow`]s.
pub const FLOWS_HEADER: &str = "t_ns,flow,stream,sent_bytes,received_bytes,window_segments,threshold_segments,rtt_ns,retransmits,in_flight\n";

/// First line of a file of [`EchoRow`]s.
pub const ECHOES_HEADER: &str = "flow,seq,sent_ns,rtt_ns\n";

/// First line of a file of [`RequestRow`]s.
pub const REQUESTS_HEADER: &str = "flow,number,start_ns,bytes,took_ns\n";

/// One transfer of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Its number, from 0.
    pub number: u32,
    /// When it began, since the start of the run.
    pub start_ns: u64,
    /// Payload.
    pub bytes: u64,
    /// Until the sender knew that all had arrived and both ends had closed; `None`: not by the end.
    pub took_ns: Option<u64>,
}

impl RequestRow {
    /// Writes the row; `flow` is the flow's name.
    pub fn write(&self, flow: &str, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{flow},{},{},{},", self.number, self.start_ns, self.bytes)?;
        match self.took_ns {
            Some(took_ns) => writeln!(out, "{took_ns}"),
            None => writeln!(out),
        }
    }
}

/// One connection, or one stream of datagrams, at one instant; counts are totals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowRow {
    /// When, since the start of the run.
    pub t_ns: u64,
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Which of its connections.
    pub stream: u32,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload received, in order.
    pub received_bytes: u64,
    /// Congestion window, in segments; `None` for datagrams.
    pub window_segments: Option<f64>,
    /// Slow-start threshold, in segments; `None` before the first congestion.
    pub threshold_segments: Option<f64>,
    /// Smoothed RTT; `None` before the first sample.
    pub rtt_ns: Option<u64>,
    /// Segments sent again.
    pub retransmits: u64,
    /// Segments on their way, as the sender thinks.
    pub in_flight: u32,
}

impl FlowRow {
    /// Writes the row; `flow` is the flow's name.
    pub fn write(&self, flow: &str, out: &mut impl Write) -> io::Result<()> {
        let FlowRow { t_ns, stream, sent_bytes, received_bytes, retransmits, in_flight, .. } = self;
        write!(out, "{t_ns},{flow},{stream},{sent_bytes},{received_bytes},")?;
        some(self.window_segments, out)?;
        some(self.threshold_segments, out)?;
        some(self.rtt_ns, out)?;
        writeln!(out, "{retransmits},{in_flight}")
    }
}

/// One echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoRow {
    /// Position of the flow in the plan.
    pub flow: u32,
    /// Its number, from 1.
    pub seq: u64,
    /// When it left, since the start of the run.
    pub sent_ns: u64,
    /// When its answer came, after that; `None`: never.
    pub rtt_ns: Option<u64>,
}

impl EchoRow {
    /// Writes the row; `flow` is the flow's name.
    pub fn write(&self, flow: &str, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{flow},{},{},", self.seq, self.sent_ns)?;
        match self.rtt_ns {
            Some(rtt_ns) => writeln!(out, "{rtt_ns}"),
            None => writeln!(out),
        }
    }
}

fn some(value: Option<impl std::fmt::Display>, out: &mut impl Write) -> io::Result<()> {
    match value {
        Some(value) => write!(out, "{value},"),
        None => write!(out, ","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_as_many_fields_as_their_headers() {
        let row = FlowRow {
            t_ns: 5,
            flow: 0,
            stream: 1,
            sent_bytes: 2,
            received_bytes: 1,
            window_segments: Some(10.5),
            threshold_segments: None,
            rtt_ns: None,
            retransmits: 0,
            in_flight: 3,
        };
        let echo = EchoRow { flow: 0, seq: 1, sent_ns: 9, rtt_ns: None };
        let (mut flows, mut echoes) = (Vec::new(), Vec::new());
        row.write("bulk", &mut flows).unwrap();
        echo.write("probe", &mut echoes).unwrap();
        assert_eq!(flows, b"5,bulk,1,2,1,10.5,,,0,3\n");
        assert_eq!(echoes, b"probe,1,9,\n");
        let fields = |text: &str| text.split(',').count();
        assert_eq!(fields(std::str::from_utf8(&flows).unwrap()), fields(FLOWS_HEADER));
        assert_eq!(fields(std::str::from_utf8(&echoes).unwrap()), fields(ECHOES_HEADER));
    }
}
