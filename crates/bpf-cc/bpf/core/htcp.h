// H-TCP: D. Leith, R. Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06.
#pragma once
#include "window.h"

#define CC_MEASURES 1
#define SECOND_NS 1000000000ULL

struct parameters {
	struct slow_start slow_start;
	/* Delta_L, and by what share the throughput may change between two congestions. */
	u64 low_speed_ns, bandwidth_switch;
	u64 adaptive_backoff, rtt_scaling;
};

struct cc {
	struct window window;
	/* Since the last congestion: when it was, 0 before the first; and the largest RTT. */
	u64 congested_ns, max_rtt_ns, min_rtt_ns;
	u64 beta;
	/* Most segments that a round trip brought, per 2^-40 ns; since the last congestion and before it. */
	u64 bandwidth, last_bandwidth;
	/* The round trip under way: what ends it, when it began, and segments delivered in it. */
	u64 round_end, round_began_ns, round_delivered;
	u64 congested_before_ns, beta_before, may_restore;
};

INLINE void cc_begin(struct cc *cc, u64 initial)
{
	*cc = (struct cc){ .beta = ONE / 2 };
	window_begin(&cc->window, initial);
}

INLINE void cc_measure(struct cc *cc, const struct ack *ack)
{
	u64 span_ns;
	cc->max_rtt_ns = larger(cc->max_rtt_ns, ack->rtt_ns);
	cc->min_rtt_ns = ack->min_rtt_ns;
	cc->round_delivered += ack->delivered;
	if (ack->first_unacked < cc->round_end)
		return;
	cc->round_end = larger(ack->next_sequence, ack->first_unacked + 1);
	span_ns = ack->now_ns - cc->round_began_ns;
	if (cc->round_began_ns && ack->now_ns > cc->round_began_ns)
		cc->bandwidth =
			larger(cc->bandwidth, (smaller(cc->round_delivered, (1 << 24) - 1) << 40) / span_ns);
	cc->round_began_ns = ack->now_ns;
	cc->round_delivered = 0;
}

/* Segments that a round trip adds. */
INLINE u64 cc_increment(const struct cc *cc, const struct parameters *with, u64 now_ns)
{
	u64 since_ns, beyond_ns, beyond, alpha, scale;
	if (!cc->congested_ns)
		return ONE;
	since_ns = now_ns > cc->congested_ns ? now_ns - cc->congested_ns : 0;
	beyond_ns = since_ns > with->low_speed_ns ? since_ns - with->low_speed_ns : 0;
	beyond_ns = smaller(beyond_ns, 30000 * SECOND_NS);
	beyond = (beyond_ns / SECOND_NS << 32) + (beyond_ns % SECOND_NS << 32) / SECOND_NS;
	alpha = ONE + 10 * beyond + product(beyond, beyond) / 4;
	if (with->rtt_scaling && cc->min_rtt_ns) {
		/* The inverse of 0.1 s / RTTmin between 0.5 and 10. */
		scale = (smaller(cc->min_rtt_ns, SECOND_NS) << 32) / (SECOND_NS / 10);
		alpha = larger(product(alpha, between(ONE / 10, scale, 2 * ONE)), ONE);
	}
	return product(2 * (ONE - cc->beta), alpha);
}

INLINE void cc_grow(struct cc *cc, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&cc->window, &with->slow_start, ack);
	if (rest)
		window_add(&cc->window,
			   product(rest, quotient(cc_increment(cc, with, ack->now_ns), cc->window.size)));
}

/* Section 3.2: the factor of this congestion. */
INLINE u64 cc_target(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	u64 now = cc->bandwidth, last = cc->last_bandwidth;
	u64 change = now > last ? now - last : last - now;
	cc->congested_before_ns = cc->congested_ns;
	cc->beta_before = cc->beta;
	cc->may_restore = 1;
	cc->beta = ONE / 2;
	if (with->adaptive_backoff && change <= product(last, with->bandwidth_switch) && cc->max_rtt_ns)
		cc->beta = between(ONE / 2, quotient(cc->min_rtt_ns, cc->max_rtt_ns), ONE / 10 * 8);
	cc->last_bandwidth = now;
	cc->bandwidth = 0;
	cc->max_rtt_ns = 0;
	cc->congested_ns = now_ns;
	return product(window_used(&cc->window, in_flight), cc->beta);
}

INLINE void cc_on_congestion(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&cc->window, cc_target(cc, with, now_ns, in_flight));
}

INLINE void cc_on_timeout(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&cc->window, cc_target(cc, with, now_ns, in_flight));
}

INLINE void cc_on_spurious(struct cc *cc, const struct parameters *with)
{
	window_restore(&cc->window);
	if (!cc->may_restore)
		return;
	cc->congested_ns = cc->congested_before_ns;
	cc->beta = cc->beta_before;
	cc->may_restore = 0;
}
