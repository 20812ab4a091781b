// Stochastic TCP, a reconstruction: N virtual streams in one connection; see docs/models/tcp-parallel.md.
#pragma once
#include "window.h"

#define CC_DRAWS 1
#define CC_RECOVERS 1
/* A power of 2. */
#define MOST_STREAMS 32

struct parameters {
	struct slow_start slow_start;
	/* N; segments that a round trip adds to the whole. */
	u64 streams, increment;
};

struct cc {
	struct window window;
	/* What every stream has grown by since they were split off. A stream's window is its base and this. */
	u64 grown;
	u64 split, in_episode;
	/* One bit for each stream that was halved in this episode. */
	u64 halved;
	u64 base[MOST_STREAMS];
	u64 before[MOST_STREAMS];
};

#define EACH_STREAM(index, with) \
	_Pragma("clang loop unroll(disable)") for (index = 0; index < MOST_STREAMS && index < (with)->streams; index++)

INLINE void cc_begin(struct cc *cc, u64 initial)
{
	window_begin(&cc->window, initial);
	cc->grown = cc->split = cc->in_episode = cc->halved = 0;
}

INLINE void cc_grow(struct cc *cc, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&cc->window, &with->slow_start, ack), step;
	if (!rest)
		return;
	step = product(rest, quotient(with->increment, cc->window.size));
	window_add(&cc->window, step);
	if (cc->split)
		cc->grown += step / with->streams;
}

INLINE void cc_begin_episode(struct cc *cc, const struct parameters *with)
{
	u64 share = cc->window.size / with->streams;
	u32 index;
	cc->in_episode = 1;
	cc->halved = 0;
	if (!cc->split)
		cc->grown = 0;
	EACH_STREAM (index, with) {
		if (!cc->split)
			cc->base[index] = share;
		cc->before[index] = cc->base[index];
	}
	cc->split = 1;
	/* Remembers the window as it was before the loss. */
	window_reduce(&cc->window, cc->window.size);
}

/* The window is the sum of the streams'. Bases may be below zero, sums are not. */
INLINE void cc_add_up(struct cc *cc, const struct parameters *with)
{
	u64 sum = 0;
	u32 index;
	EACH_STREAM (index, with)
		sum += cc->base[index] + cc->grown;
	cc->window.size = larger(sum, 2 * ONE);
}

/* Once in a round trip, as of any connection. */
INLINE void cc_halve(struct cc *cc, const struct parameters *with, u32 index)
{
	u64 window;
	index &= MOST_STREAMS - 1;
	if (cc->halved >> index & 1)
		return;
	cc->halved |= 1ULL << index;
	window = cc->base[index] + cc->grown;
	cc->base[index] = larger(window / 2, smaller(window, ONE)) - cc->grown;
	cc_add_up(cc, with);
}

/* One segment was found lost. `chance`, uniform from 0 to 1, says whose: in proportion to their windows. */
INLINE void cc_on_lost(struct cc *cc, const struct parameters *with, u32 chance)
{
	u64 left, window;
	u32 index, found = with->streams - 1;
	if (!cc->in_episode)
		cc_begin_episode(cc, with);
	left = product(cc->window.size, chance);
	EACH_STREAM (index, with) {
		window = cc->base[index] + cc->grown;
		if (left < window) {
			found = index;
			break;
		}
		left -= window;
	}
	cc_halve(cc, with, found);
	cc->window.threshold = cc->window.size;
}

INLINE void cc_on_congestion(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	u32 index, largest = 0;
	u64 most = 0;
	if (!cc->in_episode) {
		/* A mark, without a segment lost: the largest stream yields. */
		cc_begin_episode(cc, with);
		EACH_STREAM (index, with) {
			if (cc->base[index] + cc->grown > most) {
				most = cc->base[index] + cc->grown;
				largest = index;
			}
		}
		cc_halve(cc, with, largest);
	}
	cc->window.threshold = cc->window.size;
}

INLINE void cc_on_timeout(struct cc *cc, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&cc->window, window_used(&cc->window, in_flight) / 2);
	cc->split = cc->in_episode = 0;
}

INLINE void cc_on_recovered(struct cc *cc, u64 now_ns) { cc->in_episode = 0; }

INLINE void cc_on_spurious(struct cc *cc, const struct parameters *with)
{
	u32 index;
	window_restore(&cc->window);
	if (!cc->split)
		return;
	/* The streams that were, with what has grown since. */
	EACH_STREAM (index, with)
		cc->base[index] = cc->before[index];
	cc->halved = 0;
	cc_add_up(cc, with);
}
