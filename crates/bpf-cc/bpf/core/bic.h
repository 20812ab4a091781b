// Binary increase: L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004, section IV.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	u64 low_window, max_increment, min_increment;
	/* The search divisor, its inverse, and that of what it is less one. */
	u64 divisor, share, share_beyond;
	u64 beta, fast_convergence;
};

struct law {
	struct window window;
	/* Where the last loss was; 0 before the first one. */
	u64 maximum, maximum_before;
};

INLINE void law_begin(struct law *law, u64 initial)
{
	window_begin(&law->window, initial);
	law->maximum = law->maximum_before = 0;
}

/* Segments that the next round trip adds. */
INLINE u64 law_increment(const struct law *law, const struct parameters *with)
{
	u64 window = law->window.size, step;
	if (window <= with->low_window)
		return ONE;
	if (!law->maximum)
		return larger(with->max_increment, window / 20);
	if (window < law->maximum) {
		step = product(law->maximum - window, with->share);
		return step <= ONE ? with->min_increment : smaller(step, with->max_increment);
	}
	window -= law->maximum;
	if (window < with->divisor)
		return with->min_increment;
	return smaller(product(window, with->share_beyond), with->max_increment);
}

INLINE void law_grow(struct law *law, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&law->window, &with->slow_start, ack);
	if (rest)
		window_add(&law->window, product(rest, quotient(law_increment(law, with), law->window.size)));
}

INLINE u64 law_target(struct law *law, const struct parameters *with, u32 in_flight)
{
	u64 used = window_used(&law->window, in_flight);
	int lower = with->fast_convergence && used < law->maximum;
	law->maximum_before = law->maximum;
	law->maximum = lower ? product(used, (ONE + with->beta) / 2) : used;
	return used <= with->low_window ? used / 2 : product(used, with->beta);
}

INLINE void law_on_congestion(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&law->window, law_target(law, with, in_flight));
}

INLINE void law_on_timeout(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&law->window, law_target(law, with, in_flight));
	law->maximum = 0;
}

INLINE void law_on_spurious(struct law *law, const struct parameters *with)
{
	window_restore(&law->window);
	law->maximum = law->maximum_before;
}
