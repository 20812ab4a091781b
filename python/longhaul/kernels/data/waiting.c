// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arch/um/kernel/waiting.c: what system calls cost on the virtual clock.
 *
 * The processor is infinitely fast: a program takes no time. A program that waits without sleeping (it reads the
 * clock, repeats a call that fails, polls what is ready or with a timeout of 0, or yields) would then wait forever. Such calls are
 * free until a thread has made `tt-free` of them since virtual time last moved, or 12 if it was charged before. From
 * then on they are charged `tt-cost` ns, plus a share of the time that the thread has waited so.
 *
 * A charge ends early at the next event of this host (timer, interrupt), and the calls of one round of a loop after
 * it are free: a program that polls sees a packet at the time of its arrival, to the nanosecond. If a call of the
 * thread then succeeds, the thread has free calls again. Only a deadline that a program looks for by reading
 * the clock is overrun.
 *
 * Kernel parameters: tt-free=CALLS (1000), tt-cost=NS (1000), tt-syscall=NS (0; each system call costs this).
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/time-internal.h>
#include <asm/unistd.h>

/* One in so many free calls lets other programs run, which may end the wait without any time. */
#define CALLS_PER_YIELD 32
/* A thread that has waited so before (ping does, for the last part of each interval) has so many free calls. */
#define CALLS_OF_KNOWN 12
/* After an event, or after others ran, so many calls are free: one round of a loop. */
#define CALLS_PER_ROUND 7
/* So many rounds without a charge may follow each other because other programs ran: they may be waiting, too. */
#define ROUNDS_PER_CHARGE 2
/* A charge contains 1/1024 of the time waited for reads of the clock, which look for a deadline ... */
#define CLOCK_SHIFT 10
/* ... and 1/64 of it for other calls: they wait for an event, which ends the charge. */
#define EVENT_SHIFT 6

static unsigned long free_calls = 1000, cost_ns = 1000, syscall_ns;

static bool reads_clock(int call)
{
	switch (call) {
	case __NR_clock_gettime:
	case __NR_gettimeofday:
#ifdef __NR_time
	case __NR_time:
#endif
	case __NR_times:
	case __NR_getrusage:
		return true;
	default:
		return false;
	}
}

static bool polls(int call)
{
	switch (call) {
#ifdef __NR_poll
	case __NR_poll:
	case __NR_select:
	case __NR_epoll_wait:
#endif
	case __NR_ppoll:
	case __NR_pselect6:
	case __NR_epoll_pwait:
#ifdef __NR_epoll_pwait2
	case __NR_epoll_pwait2:
#endif
		return true;
	default:
		return false;
	}
}

static bool waits(struct waiting *w, int call, unsigned long result)
{
	if (IS_ERR_VALUE(result))
		return true;
	switch (call) {
	case __NR_wait4:
	case __NR_waitid:
	case __NR_io_getevents:
		return result == 0;
	case __NR_sched_yield:
		return true;
	}
	if (polls(call)) {
		/* What it has found, the program may ignore (iperf3 does, until its peer is ready), and poll again. */
		bool again = w->polled;

		w->polled = true;
		return result == 0 || again;
	}
	return reads_clock(call);
}

/* The thread has its free calls again. */
static void free_again(struct waiting *w)
{
	w->calls = w->known && free_calls > CALLS_OF_KNOWN ? free_calls - CALLS_OF_KNOWN : 0;
}

/* Whether another task ran. */
static bool let_others_run(void)
{
	unsigned long before = current->nvcsw + current->nivcsw;

	yield();
	return current->nvcsw + current->nivcsw != before;
}

/* Called after each system call: its number and its result. */
void time_travel_after_call(int call, unsigned long result)
{
	struct waiting *w = &current->thread.waiting;
	unsigned long long now, waited;

	if (time_travel_mode != TT_MODE_INFCPU && time_travel_mode != TT_MODE_EXTERNAL)
		return;
	if (syscall_ns)
		time_travel_ndelay(syscall_ns);

	now = time_travel_now();
	if (!waits(w, call, result)) {
		if (polls(call))
			return;
		w->polled = false;
		w->since = now;
		if (w->event)
			free_again(w);
		w->event = false;
		return;
	}
	if (now != w->last) {
		*w = (struct waiting) { .last = now, .since = now, .known = w->known };
		free_again(w);
	}
	if (IS_ERR_VALUE(result))
		schedule();
	if (++w->calls <= free_calls) {
		if (w->calls % CALLS_PER_YIELD == 0)
			let_others_run();
		return;
	}
	if (w->free) {
		w->free--;
		return;
	}
	if (let_others_run() && w->rounds < ROUNDS_PER_CHARGE) {
		w->rounds++;
		w->free = CALLS_PER_ROUND;
		return;
	}
	w->rounds = 0;
	w->known = true;
	waited = time_travel_now() - w->since;
	w->event = time_travel_charge(cost_ns + (waited >> (reads_clock(call) ? CLOCK_SHIFT : EVENT_SHIFT)));
	if (w->event)
		w->free = CALLS_PER_ROUND;
	w->last = time_travel_now();
}

static int __init set_free_calls(char *text)
{
	return !kstrtoul(text, 0, &free_calls);
}
__setup("tt-free=", set_free_calls);

static int __init set_cost(char *text)
{
	return !kstrtoul(text, 0, &cost_ns);
}
__setup("tt-cost=", set_cost);

static int __init set_syscall_cost(char *text)
{
	return !kstrtoul(text, 0, &syscall_ns);
}
__setup("tt-syscall=", set_syscall_cost);
