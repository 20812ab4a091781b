// Numbers of 32 whole and 32 fractional bits, for machines without floating point and without 128-bit integers.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define INLINE static inline __attribute__((always_inline))

/* One. */
#define ONE (1ULL << 32)
/* Larger than every window; no window is. */
#define INFINITE (~0ULL)
/* No window is larger: quotient() takes numbers below 2^56. */
#define LARGEST_WINDOW (((1ULL << 24) - 1) << 32)

INLINE u64 smaller(u64 a, u64 b) { return a < b ? a : b; }

INLINE u64 larger(u64 a, u64 b) { return a > b ? a : b; }

INLINE u64 between(u64 least, u64 value, u64 most) { return smaller(larger(value, least), most); }

/* Keeps the compiler from knowing what a number is. Of one that is 0 or 1 it would make branches, and the kernel follows
 * all branches before it takes a program. */
#define OPAQUE(number) asm volatile("" : "+r"(number))

/* Rounded down; the product must be below 2^32. */
INLINE u64 product(u64 a, u64 b)
{
	u64 whole = a >> 32, part = a & 0xffffffff;
	return whole * b + part * (b >> 32) + (part * (b & 0xffffffff) >> 32);
}

/* a / b, but at most one; rounded down. For b below 2^56 as it is stored, in four digits to the base 256. */
INLINE u64 quotient(u64 a, u64 b)
{
	u64 digits = 0;
	if (a >= b)
		return ONE;
	a <<= 8, digits = a / b, a %= b;
	a <<= 8, digits = digits << 8 | a / b, a %= b;
	a <<= 8, digits = digits << 8 | a / b, a %= b;
	a <<= 8, digits = digits << 8 | a / b;
	return digits;
}
