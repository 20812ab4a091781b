// H-TCP: D. Leith, R. Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06.
#pragma once
#include "window.h"

#define CC_MEASURES 1
#define CC_RECOVERS 1
#define SECOND_NS 1000000000ULL
/* With a smaller RTTmin the factor is 1/2; RTTmax rises by so much at a time. */
#define LEAST_RTT_NS (SECOND_NS / 100)
#define MOST_RISE_NS (SECOND_NS / 50)

struct parameters {
	struct slow_start slow_start;
	/* Delta_L, and by what share the throughput may change between two congestions. */
	u64 low_speed_ns, bandwidth_switch;
	u64 adaptive_backoff, rtt_scaling;
};

struct past {
	/* When the last congestion was, or the connection began; 0 before that. */
	u64 congested_ns;
	u64 max_rtt_ns, beta;
	/* Throughput at the last congestion. */
	u64 last_bandwidth;
};

struct cc {
	struct window window;
	struct past now, before;
	u64 may_restore;
	u64 min_rtt_ns;
	/* Whether throughput was steady at the last congestion. */
	u64 steady;
	/* Throughput in segments per 2^40 ns: its mean, and the largest mean since the last congestion. */
	u64 bandwidth, most_bandwidth;
	/* The round trip that is being measured. */
	u64 began_ns, delivered;
};

INLINE void cc_begin(struct cc *cc, u64 initial)
{
	*cc = (struct cc){ .now.beta = ONE / 2 };
	window_begin(&cc->window, initial);
}

/* A round trip is over if the window was delivered. `afresh`: samples of before do not count. */
INLINE void cc_count(struct cc *cc, const struct ack *ack, int afresh)
{
	u64 span_ns = ack->now_ns - cc->began_ns, sample;
	cc->delivered += ack->delivered;
	if (cc->delivered << 32 < cc->window.size - ONE || span_ns < cc->min_rtt_ns || !span_ns)
		return;
	sample = (smaller(cc->delivered, (1 << 24) - 1) << 40) / span_ns;
	if (afresh) {
		cc->bandwidth = cc->most_bandwidth = sample;
	} else {
		cc->bandwidth = (3 * cc->bandwidth + sample) / 4;
		cc->most_bandwidth = larger(cc->most_bandwidth, cc->bandwidth);
	}
	cc->began_ns = ack->now_ns;
	cc->delivered = 0;
}

INLINE void cc_measure(struct cc *cc, const struct ack *ack)
{
	cc->min_rtt_ns = ack->min_rtt_ns;
	if (!cc->now.congested_ns)
		cc->now.congested_ns = ack->now_ns;
	if (ack->recovering) {
		cc->began_ns = ack->now_ns;
		cc->delivered = 0;
		return;
	}
	if (ack->rtt_ns) {
		cc->now.max_rtt_ns = larger(cc->now.max_rtt_ns, cc->min_rtt_ns);
		if (ack->rtt_ns <= cc->now.max_rtt_ns + MOST_RISE_NS)
			cc->now.max_rtt_ns = larger(cc->now.max_rtt_ns, ack->rtt_ns);
	}
	cc_count(cc, ack, ack->now_ns - cc->now.congested_ns < 4 * cc->min_rtt_ns);
}

/* Segments that a round trip adds. */
INLINE u64 cc_increment(const struct cc *cc, const struct parameters *with, u64 now_ns)
{
	u64 since_ns, beyond_ns, beyond, alpha, scale;
	if (!cc->now.congested_ns)
		return ONE;
	since_ns = now_ns > cc->now.congested_ns ? now_ns - cc->now.congested_ns : 0;
	beyond_ns = since_ns > with->low_speed_ns ? since_ns - with->low_speed_ns : 0;
	beyond_ns = smaller(beyond_ns, 30000 * SECOND_NS);
	beyond = (beyond_ns / SECOND_NS << 32) + (beyond_ns % SECOND_NS << 32) / SECOND_NS;
	alpha = ONE + 10 * beyond + product(beyond, beyond) / 4;
	if (with->rtt_scaling && cc->min_rtt_ns) {
		/* The inverse of 0.1 s / RTTmin between 0.5 and 10. */
		scale = (smaller(cc->min_rtt_ns, SECOND_NS) << 32) / (SECOND_NS / 10);
		alpha = larger(product(alpha, between(ONE / 10, scale, 2 * ONE)) >> 32 << 32, ONE);
	}
	return product(2 * (ONE - cc->now.beta), alpha);
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
	u64 most = cc->most_bandwidth, last = cc->now.last_bandwidth;
	u64 change = most > last ? most - last : last - most;
	u64 was_steady = cc->steady;
	cc->before = cc->now;
	cc->may_restore = 1;
	cc->steady = change <= product(last, with->bandwidth_switch);
	cc->now.beta = ONE / 2;
	if (with->adaptive_backoff && was_steady && cc->steady && cc->min_rtt_ns > LEAST_RTT_NS)
		cc->now.beta =
			between(ONE / 2, quotient(cc->min_rtt_ns, cc->now.max_rtt_ns), ONE / 10 * 8);
	/* RTTmax fades by a twentieth of what it is above RTTmin. */
	if (cc->now.max_rtt_ns > cc->min_rtt_ns)
		cc->now.max_rtt_ns = cc->min_rtt_ns + (cc->now.max_rtt_ns - cc->min_rtt_ns) * 19 / 20;
	cc->now.last_bandwidth = most;
	cc->now.congested_ns = now_ns;
	return product(window_used(&cc->window, in_flight), cc->now.beta);
}

INLINE void cc_on_congestion(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&cc->window, cc_target(cc, with, now_ns, in_flight));
}

INLINE void cc_on_timeout(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&cc->window, cc_target(cc, with, now_ns, in_flight));
}

INLINE void cc_on_recovered(struct cc *cc, u64 now_ns)
{
	/* Unless it was for nothing. */
	if (cc->may_restore)
		cc->now.congested_ns = now_ns;
}

INLINE void cc_on_spurious(struct cc *cc, const struct parameters *with)
{
	window_restore(&cc->window);
	if (!cc->may_restore)
		return;
	cc->now = cc->before;
	cc->may_restore = 0;
}
