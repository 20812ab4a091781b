// What a law is told, as the trait `Law` of crates/congestion has it. Counts are in segments.
#pragma once
#include "fixed.h"

struct ack {
	u64 now_ns;
	u32 acked;
	/* Newly known to have arrived, in order or by SACK. */
	u32 delivered;
	/* This acknowledgement's RTT, 0 without one; the smallest of the connection so far. */
	u64 rtt_ns, min_rtt_ns;
	/* In what unit ever, if it is the same for both. */
	u64 first_unacked, next_sequence;
	u8 window_limited, recovering;
};
