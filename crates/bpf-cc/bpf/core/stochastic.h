// Stochastic TCP, a reconstruction: N virtual streams in one connection; see docs/models/tcp-parallel.md.
#pragma once
#include "window.h"

#define LAW_DRAWS 1
/* A power of 2. */
#define MOST_STREAMS 32

struct parameters {
	struct slow_start slow_start;
	/* N; segments that a round trip adds to the whole. */
	u64 streams, increment;
};

struct law {
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

INLINE void law_begin(struct law *law, u64 initial)
{
	window_begin(&law->window, initial);
	law->grown = law->split = law->in_episode = law->halved = 0;
}

INLINE void law_grow(struct law *law, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&law->window, &with->slow_start, ack), step;
	if (!rest)
		return;
	step = product(rest, quotient(with->increment, law->window.size));
	window_add(&law->window, step);
	if (law->split)
		law->grown += step / with->streams;
}

INLINE void law_begin_episode(struct law *law, const struct parameters *with)
{
	u64 share = law->window.size / with->streams;
	u32 index;
	law->in_episode = 1;
	law->halved = 0;
	if (!law->split)
		law->grown = 0;
	EACH_STREAM (index, with) {
		if (!law->split)
			law->base[index] = share;
		law->before[index] = law->base[index];
	}
	law->split = 1;
	/* Remembers the window as it was before the loss. */
	window_reduce(&law->window, law->window.size);
}

/* The window is the sum of the streams'. Bases may be below zero, sums are not. */
INLINE void law_add_up(struct law *law, const struct parameters *with)
{
	u64 sum = 0;
	u32 index;
	EACH_STREAM (index, with)
		sum += law->base[index] + law->grown;
	law->window.size = larger(sum, 2 * ONE);
}

/* Once in a round trip, as of any connection. */
INLINE void law_halve(struct law *law, const struct parameters *with, u32 index)
{
	u64 window;
	index &= MOST_STREAMS - 1;
	if (law->halved >> index & 1)
		return;
	law->halved |= 1ULL << index;
	window = law->base[index] + law->grown;
	law->base[index] = larger(window / 2, smaller(window, ONE)) - law->grown;
	law_add_up(law, with);
}

/* One segment was found lost. `chance`, uniform from 0 to 1, says whose: in proportion to their windows. */
INLINE void law_on_lost(struct law *law, const struct parameters *with, u32 chance)
{
	u64 left, window;
	u32 index, found = with->streams - 1;
	if (!law->in_episode)
		law_begin_episode(law, with);
	left = product(law->window.size, chance);
	EACH_STREAM (index, with) {
		window = law->base[index] + law->grown;
		if (left < window) {
			found = index;
			break;
		}
		left -= window;
	}
	law_halve(law, with, found);
	law->window.threshold = law->window.size;
}

INLINE void law_on_congestion(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	u32 index, largest = 0;
	u64 most = 0;
	if (!law->in_episode) {
		/* A mark, without a segment lost: the largest stream yields. */
		law_begin_episode(law, with);
		EACH_STREAM (index, with) {
			if (law->base[index] + law->grown > most) {
				most = law->base[index] + law->grown;
				largest = index;
			}
		}
		law_halve(law, with, largest);
	}
	law->window.threshold = law->window.size;
}

INLINE void law_on_timeout(struct law *law, const struct parameters *with, u64 now_ns, u32 in_flight)
{
	window_collapse(&law->window, window_used(&law->window, in_flight) / 2);
	law->split = law->in_episode = 0;
}

INLINE void law_on_recovered(struct law *law) { law->in_episode = 0; }

INLINE void law_on_spurious(struct law *law, const struct parameters *with)
{
	u32 index;
	window_restore(&law->window);
	if (!law->split)
		return;
	/* The streams that were, with what has grown since. */
	EACH_STREAM (index, with)
		law->base[index] = law->before[index];
	law->halved = 0;
	law_add_up(law, with);
}
