// Binary increase: L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004, section IV.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	u64 low_window, max_increment, min_increment;
	/* The search divisor, its inverse, and that of what it is less one. */
	u64 divisor, share, share_beyond;
	u64 beta, fast_convergence;
	/* Whether increments are multiplied by the segments per acknowledgement. */
	u64 delayed_acks;
};

struct cc {
	struct window window;
	/* Where the last loss was; 0 before the first one. */
	u64 maximum, maximum_before;
	/* Mean number of segments that an acknowledgement is for. */
	u64 per_ack;
};

INLINE void cc_begin(struct cc *cc, u64 initial)
{
	window_begin(&cc->window, initial);
	cc->maximum = cc->maximum_before = 0;
	cc->per_ack = 2 * ONE;
}

/* Segments that the next round trip adds. */
INLINE u64 cc_increment(const struct cc *cc, const struct parameters *with)
{
	u64 window = cc->window.size, step;
	if (window <= with->low_window)
		return ONE;
	if (!cc->maximum)
		return larger(with->max_increment, window / 20);
	if (window < cc->maximum) {
		step = product(cc->maximum - window, with->share);
		return step <= ONE ? with->min_increment : smaller(step, with->max_increment);
	}
	window -= cc->maximum;
	if (window < with->divisor)
		return with->min_increment;
	return smaller(product(window, with->share_beyond), with->max_increment);
}

INLINE void cc_grow(struct cc *cc, const struct parameters *with, const struct ack *ack)
{
	u64 rest, increment;
	if (ack->acked && !ack->recovering)
		cc->per_ack += (smaller(ack->acked, 1 << 16) << 28) - cc->per_ack / 16;
	rest = window_grow(&cc->window, &with->slow_start, ack);
	if (!rest)
		return;
	increment = cc_increment(cc, with);
	if (with->delayed_acks)
		increment = product(increment, cc->per_ack);
	window_add(&cc->window, product(rest, quotient(increment, cc->window.size)));
}

INLINE u64 cc_target(struct cc *cc, const struct parameters *with, u32 in_flight)
{
	u64 used = window_used(&cc->window, in_flight);
	int lower = with->fast_convergence && used < cc->maximum;
	cc->maximum_before = cc->maximum;
	cc->maximum = lower ? product(used, (ONE + with->beta) / 2) : used;
	return used <= with->low_window ? used / 2 : product(used, with->beta);
}

INLINE void cc_on_congestion(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&cc->window, cc_target(cc, with, in_flight));
}

INLINE void cc_on_timeout(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&cc->window, cc_target(cc, with, in_flight));
	cc->maximum = 0;
}

INLINE void cc_on_spurious(struct cc *cc, const struct parameters *with)
{
	window_restore(&cc->window);
	cc->maximum = cc->maximum_before;
}
