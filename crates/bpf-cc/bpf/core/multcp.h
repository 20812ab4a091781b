// MulTCP: J. Crowcroft, P. Oechslin, SIGCOMM Computer Communication Review 28 (1998) 53, section 3.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	/* N, (N - 1/2) / N, and the window up to which slow start trebles. */
	u64 flows, keep, knee;
};

struct law {
	struct window window;
};

INLINE void law_begin(struct law *law, u64 initial) { window_begin(&law->window, initial); }

INLINE void law_grow(struct law *law, const struct parameters *with, const struct ack *ack)
{
	struct window *window = &law->window;
	u64 size = window->size;
	u64 rest = window_grow(window, &with->slow_start, ack);
	if (window_in_slow_start(window) && size < with->knee)
		window_add(window, smaller(window->size - size, window->threshold - window->size));
	if (rest)
		window_add(window, product(rest, quotient(with->flows, window->size)));
}

INLINE u64 law_target(const struct law *law, const struct parameters *with, u32 in_flight)
{
	return product(window_used(&law->window, in_flight), with->keep);
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
