// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arch/um/os-Linux/seeded_random.c: the machine's randomness, or with the parameter tt-seed=N a fixed sequence.
 *
 * The sequence is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
 * The guest's own generator (drivers/char/random.c) is seeded from it, as from the machine's.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <init.h>
#include <os.h>

static bool seeded;
static uint64_t state;

static int __init set_seed(char *text, int *add)
{
	/* The command line is not to differ for the seed: it is not passed on. */
	*add = 0;
	state = strtoull(text, NULL, 0);
	seeded = true;
	return 0;
}

__uml_setup("tt-seed=", set_seed,
"tt-seed=N\n"
"    All randomness of this kernel is a function of N.\n\n");

static uint64_t next_word(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

int os_random_is_seeded(void);

int os_random_is_seeded(void)
{
	return seeded;
}

ssize_t os_getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *to = buffer;
	size_t done, part;
	uint64_t word;

	if (!seeded)
		return getrandom(buffer, length, flags);
	for (done = 0; done < length; done += part) {
		word = next_word();
		part = length - done < sizeof(word) ? length - done : sizeof(word);
		memcpy(to + done, &word, part);
	}
	return length;
}
