// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arch/um/kernel/computing.c: what computing costs on the virtual clock.
 *
 * The processor is infinitely fast, unless `tt-cpu` is given. Then the time that the machine's processor has spent on a
 * program is measured each time that the program enters the kernel, and passes on the virtual clock before anything else
 * is done for it. Interrupts come in while it passes, and other programs of this host take turns with it.
 *
 * The least time ever measured is that of entering the kernel itself, and is subtracted. A program that computes for less
 * than 10 us between calls that wait (waiting.c) still waits.
 *
 * Kernel parameter: tt-cpu=SCALE (0): virtual picoseconds for each measured nanosecond.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/time-internal.h>

#define LEAST_COMPUTING_NS 10000

unsigned long time_travel_cpu_scale;

static u64 entry_ns = U64_MAX;

/* Lets the measured time pass, and sets it to 0. */
void time_travel_compute(unsigned long long *measured_ns)
{
	struct waiting *w = &current->thread.waiting;
	bool still_waits;
	u64 left;

	if (!*measured_ns)
		return;
	entry_ns = min_t(u64, entry_ns, *measured_ns);
	left = div_u64((*measured_ns - entry_ns) * time_travel_cpu_scale, 1000);
	still_waits = *measured_ns - entry_ns < LEAST_COMPUTING_NS && w->last == time_travel_now();
	*measured_ns = 0;
	while (left) {
		u64 before = time_travel_now();

		time_travel_charge(left);
		left -= min_t(u64, left, time_travel_now() - before);
		if (need_resched())
			schedule();
	}
	if (still_waits)
		w->last = time_travel_now();
}

static int __init set_scale(char *text)
{
	return !kstrtoul(text, 0, &time_travel_cpu_scale);
}
__setup("tt-cpu=", set_scale);
