// H-TCP: D. Leith, R. Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06.
#pragma once
#include "window.h"

#define LAW_MEASURES 1
#define SECOND_NS 1000000000ULL

struct parameters {
	struct slow_start slow_start;
	/* Delta_L, and by what share the throughput may change between two congestions. */
	u64 low_speed_ns, bandwidth_switch;
	u64 adaptive_backoff, rtt_scaling;
};

struct law {
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

INLINE void law_begin(struct law *law, u64 initial)
{
	*law = (struct law){ .beta = ONE / 2 };
	window_begin(&law->window, initial);
}

INLINE void law_measure(struct law *law, const struct ack *ack)
{
	u64 span_ns;
	law->max_rtt_ns = larger(law->max_rtt_ns, ack->rtt_ns);
	law->min_rtt_ns = ack->min_rtt_ns;
	law->round_delivered += ack->delivered;
	if (ack->first_unacked < law->round_end)
		return;
	law->round_end = larger(ack->next_sequence, ack->first_unacked + 1);
	span_ns = ack->now_ns - law->round_began_ns;
	if (law->round_began_ns && ack->now_ns > law->round_began_ns)
		law->bandwidth =
			larger(law->bandwidth, (smaller(law->round_delivered, (1 << 24) - 1) << 40) / span_ns);
	law->round_began_ns = ack->now_ns;
	law->round_delivered = 0;
}

/* Segments that a round trip adds. */
INLINE u64 law_increment(const struct law *law, const struct parameters *with, u64 now_ns)
{
	u64 since_ns, beyond_ns, beyond, alpha, scale;
	if (!law->congested_ns)
		return ONE;
	since_ns = now_ns > law->congested_ns ? now_ns - law->congested_ns : 0;
	beyond_ns = since_ns > with->low_speed_ns ? since_ns - with->low_speed_ns : 0;
	beyond_ns = smaller(beyond_ns, 30000 * SECOND_NS);
	beyond = (beyond_ns / SECOND_NS << 32) + (beyond_ns % SECOND_NS << 32) / SECOND_NS;
	alpha = ONE + 10 * beyond + product(beyond, beyond) / 4;
	if (with->rtt_scaling && law->min_rtt_ns) {
		/* The inverse of 0.1 s / RTTmin between 0.5 and 10. */
		scale = (smaller(law->min_rtt_ns, SECOND_NS) << 32) / (SECOND_NS / 10);
		alpha = larger(product(alpha, between(ONE / 10, scale, 2 * ONE)), ONE);
	}
	return product(2 * (ONE - law->beta), alpha);
}

INLINE void law_grow(struct law *law, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&law->window, &with->slow_start, ack);
	if (rest)
		window_add(&law->window,
			   product(rest, quotient(law_increment(law, with, ack->now_ns), law->window.size)));
}

/* Section 3.2: the factor of this congestion. */
INLINE u64 law_target(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	u64 now = law->bandwidth, last = law->last_bandwidth;
	u64 change = now > last ? now - last : last - now;
	law->congested_before_ns = law->congested_ns;
	law->beta_before = law->beta;
	law->may_restore = 1;
	law->beta = ONE / 2;
	if (with->adaptive_backoff && change <= product(last, with->bandwidth_switch) && law->max_rtt_ns)
		law->beta = between(ONE / 2, quotient(law->min_rtt_ns, law->max_rtt_ns), ONE / 10 * 8);
	law->last_bandwidth = now;
	law->bandwidth = 0;
	law->max_rtt_ns = 0;
	law->congested_ns = now_ns;
	return product(window_used(&law->window, in_flight), law->beta);
}

INLINE void law_on_congestion(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&law->window, law_target(law, with, now_ns, in_flight));
}

INLINE void law_on_timeout(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&law->window, law_target(law, with, now_ns, in_flight));
}

INLINE void law_on_spurious(struct law *law, const struct parameters *with)
{
	window_restore(&law->window);
	if (!law->may_restore)
		return;
	law->congested_ns = law->congested_before_ns;
	law->beta = law->beta_before;
	law->may_restore = 0;
}
