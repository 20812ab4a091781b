// Scalable TCP: T. Kelly, SIGCOMM Computer Communication Review 33 (2003) 83.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	/* a, b, and up to what window it is Reno. */
	u64 increase, decrease, legacy_window;
};

struct law {
	struct window window;
};

INLINE void law_begin(struct law *law, u64 initial) { window_begin(&law->window, initial); }

INLINE void law_grow(struct law *law, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&law->window, &with->slow_start, ack);
	u64 size = law->window.size;
	if (rest)
		window_add(&law->window,
			   product(rest, size <= with->legacy_window ? quotient(ONE, size) : with->increase));
}

INLINE u64 law_target(const struct law *law, const struct parameters *with, u32 in_flight)
{
	u64 used = window_used(&law->window, in_flight);
	return used - (used <= with->legacy_window ? used / 2 : product(used, with->decrease));
}

INLINE void law_on_congestion(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_reduce(&law->window, law_target(law, with, in_flight));
}

INLINE void law_on_timeout(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&law->window, law_target(law, with, in_flight));
}

INLINE void law_on_spurious(struct law *law, const struct parameters *with) { window_restore(&law->window); }
