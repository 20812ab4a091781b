// HighSpeed TCP: RFC 3649, section 5.
#pragma once
#include "window.h"

struct parameters {
	struct slow_start slow_start;
	u64 low_window;
	/* log2 of it; and what b loses with each doubling beyond it. */
	u64 log2_low_window, slope;
	/* a and b by the table; and whether each segment adds a(w)/w, not each acknowledgement. */
	u64 table, byte_counting;
};

#define ROWS 72

/* RFC 3649, appendix B: in row i, counted from 1, the largest window with a(w) = i, and b(w) in 256ths. */
static const struct {
	u32 window, decrease;
} table[ROWS] = {
	{ 38, 128 }, { 118, 112 }, { 221, 104 }, { 347, 98 }, { 495, 93 }, { 663, 89 }, { 851, 86 }, { 1058, 83 },
	{ 1284, 81 }, { 1529, 78 }, { 1793, 76 }, { 2076, 74 }, { 2378, 72 }, { 2699, 71 }, { 3039, 69 },
	{ 3399, 68 }, { 3778, 66 }, { 4177, 65 }, { 4596, 64 }, { 5036, 62 }, { 5497, 61 }, { 5979, 60 },
	{ 6483, 59 }, { 7009, 58 }, { 7558, 57 }, { 8130, 56 }, { 8726, 55 }, { 9346, 54 }, { 9991, 53 },
	{ 10661, 52 }, { 11358, 52 }, { 12082, 51 }, { 12834, 50 }, { 13614, 49 }, { 14424, 48 }, { 15265, 48 },
	{ 16137, 47 }, { 17042, 46 }, { 17981, 45 }, { 18955, 45 }, { 19965, 44 }, { 21013, 43 }, { 22101, 43 },
	{ 23230, 42 }, { 24402, 41 }, { 25618, 41 }, { 26881, 40 }, { 28193, 39 }, { 29557, 39 }, { 30975, 38 },
	{ 32450, 38 }, { 33986, 37 }, { 35586, 36 }, { 37253, 36 }, { 38992, 35 }, { 40808, 35 }, { 42707, 34 },
	{ 44694, 33 }, { 46776, 33 }, { 48961, 32 }, { 51258, 32 }, { 53677, 31 }, { 56230, 30 }, { 58932, 30 },
	{ 61799, 29 }, { 64851, 28 }, { 68113, 28 }, { 71617, 27 }, { 75401, 26 }, { 79517, 26 }, { 84035, 25 },
	{ 89053, 24 },
};

/* The first row whose window is not smaller, or the last one. */
INLINE u32 row_of(u64 window)
{
	u32 row = 0, half;
	for (half = 64; half; half /= 2)
		if (row + half < ROWS && (u64)table[row + half - 1].window << 32 < window)
			row += half;
	return row;
}

struct cc {
	struct window window;
	/* a(w) of the window of so many whole segments. */
	u64 whole, increase;
};

INLINE void cc_begin(struct cc *cc, u64 initial)
{
	window_begin(&cc->window, initial);
	cc->whole = 0;
	cc->increase = ONE;
}

/* Bits of the fraction that log2() finds and power_of_2() heeds. */
#define DIGITS 24

/* The logarithm to the base 2 of a number from 1 on, to DIGITS bits: each squaring brings one of them. */
INLINE u64 log2_of(u64 number)
{
	u64 found = 0, reached;
	int step;
	if (number >> 48)
		number >>= 16, found += 16 * ONE;
	if (number >> 40)
		number >>= 8, found += 8 * ONE;
	if (number >> 36)
		number >>= 4, found += 4 * ONE;
	if (number >> 34)
		number >>= 2, found += 2 * ONE;
	if (number >> 33)
		number >>= 1, found += ONE;
	number >>= 1; /* Now 1 to 2, with 31 bits after the point. */
	for (step = 1; step <= DIGITS; step++) {
		number = number * number >> 31;
		reached = number >> 32;
		OPAQUE(reached);
		number >>= reached;
		found += reached << (32 - step);
	}
	return found;
}

/* 2^(1/2), 2^(1/4), ... with 31 bits after the point. */
static const u32 roots_of_2[DIGITS] = {
	3037000500u, 2553802834u, 2341847524u, 2242560872u, 2194507417u, 2170868212u,
	2159144272u, 2153306067u, 2150392887u, 2148937775u, 2148210589u, 2147847087u,
	2147665360u, 2147574502u, 2147529075u, 2147506361u, 2147495005u, 2147489326u,
	2147486487u, 2147485068u, 2147484358u, 2147484003u, 2147483825u, 2147483737u,
};

/* 2^exponent, for exponents below 31. */
INLINE u64 power_of_2(u64 exponent)
{
	u64 found = 1ULL << 31, digit, factor;
	int step;
	for (step = 0; step < DIGITS; step++) {
		digit = exponent >> (31 - step) & 1;
		OPAQUE(digit);
		factor = (1ULL << 31) + digit * (roots_of_2[step] - (1ULL << 31));
		found = found * factor >> 31;
	}
	return found << 1 << (exponent >> 32 & 31);
}

/* b(w), if log2_window is the logarithm of the window, which is larger than low_window. */
INLINE u64 cc_decrease(const struct parameters *with, u64 log2_window)
{
	u64 beyond = log2_window > with->log2_low_window ? log2_window - with->log2_low_window : 0;
	u64 less = product(beyond, with->slope);
	return larger(ONE / 2 - smaller(less, ONE / 2), ONE / 100);
}

/* a(w) = w^2 p(w) 2 b(w) / (2 - b(w)) with p(w) = 0.078 / w^1.2. */
INLINE u64 cc_increase(const struct parameters *with, u64 window)
{
	u64 log2_window, share;
	if (window <= with->low_window)
		return ONE;
	if (with->table)
		return (row_of(window) + 1ULL) << 32;
	log2_window = log2_of(window);
	share = cc_decrease(with, log2_window);
	share = quotient(2 * share, 2 * ONE - share);
	/* 0.078 and 0.8, rounded to the nearest. */
	return larger(product(product(power_of_2(product(log2_window, 3435973837ULL)), 335007449ULL), share), ONE);
}

INLINE void cc_grow(struct cc *cc, const struct parameters *with, const struct ack *ack)
{
	u64 rest = window_grow(&cc->window, &with->slow_start, ack);
	u64 whole = cc->window.size >> 32;
	if (!rest)
		return;
	if (cc->whole != whole) {
		cc->whole = whole;
		cc->increase = cc_increase(with, whole << 32);
	}
	if (!with->byte_counting)
		rest = smaller(rest, ONE);
	window_add(&cc->window, product(rest, quotient(cc->increase, cc->window.size)));
}

INLINE u64 cc_target(const struct cc *cc, const struct parameters *with, u32 in_flight)
{
	u64 used = window_used(&cc->window, in_flight);
	if (used <= with->low_window)
		return used - used / 2;
	if (with->table)
		return used - product(used, (u64)table[row_of(used)].decrease << 24);
	return used - product(used, cc_decrease(with, log2_of(used)));
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
