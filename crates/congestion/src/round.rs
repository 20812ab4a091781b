use crate::congestion_control::Ack;

/// Tells round trips: one has passed when what was sent last as it began has been acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    end: u64,
}

impl Round {
    /// Whether `ack` ends a round trip; if so, the next one begins with it. The first
    /// acknowledgement of a connection always does.
    pub(crate) fn ended(&mut self, ack: &Ack) -> bool {
        let ended = ack.first_unacked >= self.end;
        if ended {
            // At least one segment on, or a second acknowledgement of nothing new would end a round.
            self.end = ack.next_sequence.max(ack.first_unacked + 1);
        }
        ended
    }
}
