// The inputs of an algorithm, as in the trait `CongestionControl` of crates/congestion. Counts are in segments.
#pragma once
#include "fixed.h"

struct ack {
	u64 now_ns;
	u32 acked;
	/* Newly delivered, cumulatively or by SACK. */
	u32 delivered;
	/* This acknowledgement's RTT, 0 without one; the smallest of the connection so far. */
	u64 rtt_ns, min_rtt_ns;
	/* Both in the same unit. */
	u64 first_unacked, next_sequence;
	u8 window_limited, recovering;
};
