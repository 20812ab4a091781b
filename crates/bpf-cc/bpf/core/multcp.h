// MulTCP: J. Crowcroft, P. Oechslin, SIGCOMM Computer Communication Review 28 (1998) 53, section 3.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	/* N, (N - 1/2) / N, and the window up to which slow start trebles. */
	u64 flows, keep, knee;
};

struct cc {
	struct window window;
};

INLINE void cc_begin(struct cc *cc, u64 initial) { window_begin(&cc->window, initial); }

INLINE void cc_grow(struct cc *cc, const struct parameters *with, const struct ack *ack)
{
	struct window *window = &cc->window;
	u64 size = window->size;
	u64 rest = window_grow(window, &with->slow_start, ack);
	if (window_in_slow_start(window) && size < with->knee)
		window_add(window, smaller(window->size - size, window->threshold - window->size));
	if (rest)
		window_add(window, product(rest, quotient(with->flows, window->size)));
}

INLINE u64 cc_target(const struct cc *cc, const struct parameters *with, u32 in_flight)
{
	return product(window_used(&cc->window, in_flight), with->keep);
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
