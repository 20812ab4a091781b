// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arch/um/os-Linux/processor_time.c: how long the machine's processor has run a process.
 */
#include <time.h>
#include <timetravel.h>

/* The clock of a process: see clock_getcpuclockid(3). */
#define CLOCK_OF(pid) ((~(clockid_t)(pid) << 3) | 2)

/* In ns since the process began; 0 if nobody asks for it. */
unsigned long long os_processor_time(int pid)
{
	struct timespec time;

	if (!time_travel_cpu_scale || clock_gettime(CLOCK_OF(pid), &time))
		return 0;
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}
