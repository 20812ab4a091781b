// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * arch/um/kernel/controller.c: what passes between this kernel and the controller of its clock.
 *
 * For each thing that this host does, the controller sends one message and gets one back:
 *
 *	RUN	It is `time`. Until `seq` ns later, the kernel may run on by itself. Queues have interrupts.
 *	WAIT	The kernel has run on by itself for `seq` ns, and has nothing to do until `time`.
 *
 * Neither is acknowledged. The upper 24 bits of `op` are a set of queues, of which 2 * D + Q is queue Q of device D, in
 * the order of the command line. KICK says that, at `time`, chains up to the index `seq` of a queue's available ring were
 * made available. A kick is kept here until the next message after which the kernel waits, and travels with it: the
 * controller never looks at a queue while the kernel runs. Where the driver needs an answer to a kick, an UPDATE follows
 * it, whose ACK may have interrupts, too.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/time-internal.h>
#include <linux/um_timetravel.h>
#include <os.h>

/* In addition to those of um_timetravel.h. */
#define KICK 10
#define MOST_KICKS 15

static struct um_timetravel_msg outgoing[MOST_KICKS + 1];
static unsigned int kicks;
static u32 interrupted;
static unsigned long long began;

/* Sends the kicks that were kept, and `msg`. */
void time_travel_send(int fd, const struct um_timetravel_msg *msg)
{
	int bytes = (kicks + 1) * sizeof(*msg);

	outgoing[kicks] = *msg;
	if (msg->op == UM_TIMETRAVEL_WAIT)
		outgoing[kicks].seq = time_travel_now() - began;
	kicks = 0;
	if (os_write_file(fd, outgoing, bytes) != bytes)
		panic("the controller of time is gone\n");
}

/* Keeps a kick. Whether there is room for more of them. */
bool time_travel_kick(unsigned int device, unsigned int queue, u16 available)
{
	unsigned long flags;
	bool room;

	local_irq_save(flags);
	outgoing[kicks++] = (struct um_timetravel_msg) {
		.op = KICK | TIME_TRAVEL_QUEUE(device, queue) << TIME_TRAVEL_QUEUES_SHIFT,
		.seq = available,
		.time = time_travel_now(),
	};
	room = kicks < MOST_KICKS;
	local_irq_restore(flags);
	return room;
}

static void interrupt(struct time_travel_event *event)
{
	u32 queues = interrupted;

	interrupted = 0;
	virtio_uml_interrupt(queues);
}

static struct time_travel_event interrupt_event = { .fn = interrupt };

/* The queues are looked at as soon as interrupts are enabled, after what else happens at this time. */
void time_travel_interrupt(u32 queues)
{
	if (!queues)
		return;
	interrupted |= queues;
	time_travel_add_event_rel(&interrupt_event, 0);
}

/* The kernel may run at the time of `msg`. Returns until when it may run on by itself. */
unsigned long long time_travel_run(const struct um_timetravel_msg *msg, u32 queues)
{
	began = msg->time;
	time_travel_interrupt(queues);
	return msg->time + msg->seq;
}
