// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arch/um/kernel/time_stamp_counter.c: the time stamp counter of programs counts nanoseconds of virtual time.
 *
 * Programs of a guest run on the real processor, whose counter they would see. On the virtual clock, the machine's
 * kernel stops them at RDTSC and RDTSCP instead (PR_SET_TSC of prctl(2)), and this file answers.
 */
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/time-internal.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>
#include <kern_util.h>
#include <sysdep/ptrace.h>

/* Whether the program was stopped when it read the counter, which is then done. Only for a stop that is no page fault. */
int time_travel_reads_counter(struct uml_pt_regs *regs)
{
	unsigned char code[3] = {};
	unsigned long ip = UPT_IP(regs);
	unsigned long long ns;
	int length;

	if (copy_from_user(code, (void __user *)ip, 2))
		return false;
	if (code[0] == 0x0f && code[1] == 0x31) {
		length = 2;
	} else if (code[0] == 0x0f && code[1] == 0x01) {
		if (get_user(code[2], (unsigned char __user *)(ip + 2)) || code[2] != 0xf9)
			return false;
		length = 3;
		regs->gp[HOST_CX] = 0;
	} else {
		return false;
	}
	ns = time_travel_now();
	regs->gp[HOST_AX] = ns & 0xffffffff;
	regs->gp[HOST_DX] = ns >> 32;
	regs->gp[HOST_IP] = ip + length;
	/* A loop that waits for the counter waits as one that reads the clock. */
	time_travel_after_call(__NR_clock_gettime, 0);
	return true;
}
