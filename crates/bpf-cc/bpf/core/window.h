// The window, its threshold and slow start, which all algorithms here share.
#pragma once
#include "algorithm.h"

struct slow_start {
	/* Most segments that one acknowledgement adds, and after a timeout (RFC 3465). */
	u64 limit, limit_after_timeout;
	/* RFC 3742's max_ssthresh / 2, or INFINITE: not limited. */
	u64 half_max_threshold;
};

struct window {
	u64 size, threshold;
	/* Before the last reduction; 0: there is nothing to restore. */
	u64 size_before, threshold_before;
	u64 after_timeout;
};

INLINE void window_begin(struct window *window, u64 initial)
{
	window->size = between(ONE, initial, LARGEST_WINDOW);
	window->threshold = INFINITE;
	window->size_before = window->threshold_before = window->after_timeout = 0;
}

INLINE int window_in_slow_start(const struct window *window) { return window->size < window->threshold; }

/* Adds, up to the largest. */
INLINE void window_add(struct window *window, u64 growth)
{
	window->size = smaller(window->size + growth, LARGEST_WINDOW);
}

/* Grows in slow start. Returns the acknowledged segments that remain for the algorithm's own growth. */
INLINE u64 window_grow(struct window *window, const struct slow_start *rule, const struct ack *ack)
{
	u64 counted, growth, room, steps;
	if (ack->recovering || !ack->window_limited)
		return 0;
	if (!window_in_slow_start(window))
		return (u64)ack->acked << 32;
	counted = smaller(ack->acked, window->after_timeout ? rule->limit_after_timeout : rule->limit) << 32;
	growth = counted;
	/* RFC 3742, section 2. */
	if (rule->half_max_threshold != INFINITE && window->size > 2 * rule->half_max_threshold) {
		steps = window->size / rule->half_max_threshold;
		growth = steps > 1 ? counted / steps : counted;
	}
	room = window->threshold - window->size;
	if (growth < room) {
		window_add(window, growth);
		return 0;
	}
	window->size = window->threshold;
	window->after_timeout = 0;
	return ((u64)ack->acked << 32) - product(counted, quotient(room, growth));
}

/* The window as far as it was used. */
INLINE u64 window_used(const struct window *window, u32 in_flight)
{
	return smaller(window->size, ((u64)in_flight + 1) << 32);
}

/* Congestion: both become `target`, at least 2 (RFC 5681, equation 4). */
INLINE void window_reduce(struct window *window, u64 target)
{
	window->size_before = window->size;
	window->threshold_before = window->threshold;
	window->threshold = larger(target, 2 * ONE);
	window->size = window->threshold;
	window->after_timeout = 0;
}

/* A timeout: the threshold becomes `target`, and the window one segment. */
INLINE void window_collapse(struct window *window, u64 target)
{
	window_reduce(window, target);
	window->size = ONE;
	window->after_timeout = 1;
}

/* The last reduction was for nothing (RFC 4015). */
INLINE void window_restore(struct window *window)
{
	if (!window->size_before)
		return;
	window->size = larger(window->size, window->size_before);
	window->threshold = window->threshold_before;
	window->size_before = 0;
}
