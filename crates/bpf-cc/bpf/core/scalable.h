// Scalable TCP: T. Kelly, SIGCOMM Computer Communication Review 33 (2003) 83.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	/* a, b, up to what window it is Reno, and whether it is never slower than Reno. */
	u64 increase, decrease, legacy_window, reno_friendly;
};

struct cc {
	struct window window;
};

INLINE void cc_begin(struct cc *cc, u64 initial) { window_begin(&cc->window, initial); }

INLINE void cc_grow(struct cc *cc, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&cc->window, &with->slow_start, ack);
	u64 size = cc->window.size, growth = with->increase;
	if (!rest)
		return;
	if (size <= with->legacy_window)
		growth = quotient(ONE, size);
	else if (with->reno_friendly)
		growth = larger(growth, quotient(ONE, size));
	window_add(&cc->window, product(rest, growth));
}

INLINE u64 cc_target(const struct cc *cc, const struct parameters *with, u32 in_flight)
{
	u64 used = window_used(&cc->window, in_flight);
	return used - (used <= with->legacy_window ? used / 2 : product(used, with->decrease));
}

INLINE void cc_on_congestion(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&cc->window, cc_target(cc, with, in_flight));
}

INLINE void cc_on_timeout(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&cc->window, cc_target(cc, with, in_flight));
}

INLINE void cc_on_spurious(struct cc *cc, const struct parameters *with) { window_restore(&cc->window); }
