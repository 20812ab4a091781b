// An algorithm as BPF programs (struct tcp_congestion_ops). Include after the algorithm's own header.
//
// The kernel has the window in whole segments, and changes it itself in recovery, after idle periods and when the
// application limits the sender; the algorithm has its fraction, too, and follows these changes. The callbacks are
// translated into the algorithm's events.
#pragma once

#define PROGRAM(name) __attribute__((section("struct_ops/" #name), used))
#define AS_IN_KERNEL __attribute__((preserve_access_index))

/* Only the fields needed; CO-RE relocates them when the programs are loaded. */
struct tcp_sock {
	u32 snd_una, snd_nxt, snd_cwnd, snd_ssthresh, snd_cwnd_clamp, packets_out, max_packets_out, lost;
	u8 is_cwnd_limited : 1;
} AS_IN_KERNEL;

struct ack_sample {
	u32 pkts_acked;
	int rtt_us;
} AS_IN_KERNEL;

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_CA_DISORDER 1
#define CA_EVENT_LOSS 3

static void *(*const bpf_sk_storage_get)(void *map, void *socket, void *value, u64 flags) = (void *)107;
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_prandom_u32)(void) = (void *)7;
#define CREATE 1

/* Set by the loader. */
const volatile struct parameters parameters __attribute__((section(".rodata")));

/* Hides the object's zeros from the optimizer. */
INLINE const struct parameters *loaded(void)
{
	const struct parameters *at = (const struct parameters *)&parameters;
	OPAQUE(at);
	return at;
}
#define WITH loaded()

struct connection {
	struct cc cc;
	/* Before the last congestion event, which may be a timeout. */
	struct cc before;
	/* Bytes acknowledged so far, and the sequence number that belongs to it. */
	u64 acknowledged;
	u32 snd_una;
	/* Losses that the algorithm has processed. */
	u32 lost;
	u64 min_rtt_ns;
	/* The kernel reduces the window, or repairs losses. */
	u8 recovering;
};

/* Created by the loader: a map of the type BPF_MAP_TYPE_SK_STORAGE. */
struct {
	int *key;
	struct connection *value;
} connections __attribute__((section(".maps"), used));

INLINE struct connection *connection_of(struct tcp_sock *tcp)
{
	return bpf_sk_storage_get(&connections, tcp, 0, 0);
}

#define FIELD_INFO(kind) __builtin_preserve_field_info(tcp->is_cwnd_limited, kind)

/* A field of one bit, wherever it is. */
INLINE u64 is_cwnd_limited(struct tcp_sock *tcp)
{
	const u8 *at = (const u8 *)tcp + FIELD_INFO(0);
	u64 value;
	switch (FIELD_INFO(1)) {
	case 1:
		value = *at;
		break;
	case 2:
		value = *(const unsigned short *)at;
		break;
	case 4:
		value = *(const u32 *)at;
		break;
	default:
		value = *(const u64 *)at;
	}
	return value << FIELD_INFO(4) >> FIELD_INFO(5);
}

/* Whether the window limited the sender; in slow start, also if half of it was used. */
INLINE u8 window_limited(struct tcp_sock *tcp)
{
	if (is_cwnd_limited(tcp))
		return 1;
	return tcp->snd_cwnd < tcp->snd_ssthresh && tcp->snd_cwnd < 2 * tcp->max_packets_out;
}

/* Takes over the kernel's own changes. */
INLINE void follow(struct window *window, struct tcp_sock *tcp)
{
	u32 threshold = tcp->snd_ssthresh;
	if (window->size >> 32 != tcp->snd_cwnd)
		window->size = between(ONE, (u64)tcp->snd_cwnd << 32, LARGEST_WINDOW);
	if (threshold >= TCP_INFINITE_SSTHRESH)
		window->threshold = INFINITE;
	else if (window->threshold >> 32 != threshold)
		window->threshold = (u64)threshold << 32;
}

INLINE u32 whole(u64 segments) { return segments == INFINITE ? TCP_INFINITE_SSTHRESH : segments >> 32; }

#ifdef CC_DRAWS
/* Bound of the loop for the verifier; further losses are processed with the next acknowledgement. */
#define MAX_LOSSES 8

INLINE void process_losses(struct connection *connection, struct tcp_sock *tcp)
{
	int count;
	_Pragma("clang loop unroll(disable)") for (count = 0; count < MAX_LOSSES; count++)
	{
		if (connection->lost == tcp->lost)
			break;
		connection->lost++;
		cc_on_lost(&connection->cc, WITH, bpf_get_prandom_u32());
	}
}
#endif

PROGRAM(init) void init(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	struct connection *connection = bpf_sk_storage_get(&connections, tcp, 0, CREATE);
	if (!connection)
		return;
	cc_begin(&connection->cc, (u64)tcp->snd_cwnd << 32);
	connection->acknowledged = 0;
	connection->snd_una = tcp->snd_una;
	connection->lost = tcp->lost;
	connection->min_rtt_ns = 0;
	connection->recovering = 0;
}

PROGRAM(cong_avoid) void cong_avoid(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	struct connection *connection = connection_of(tcp);
	struct ack ack = {};
	struct window *window;
	u32 most;
	if (!connection)
		return;
	window = &connection->cc.window;
	follow(window, tcp);
	ack.now_ns = bpf_ktime_get_ns();
	ack.acked = arguments[2];
	ack.window_limited = window_limited(tcp);
	cc_grow(&connection->cc, WITH, &ack);
	most = tcp->snd_cwnd_clamp;
	window->size = smaller(window->size, (u64)most << 32);
	tcp->snd_cwnd = window->size >> 32;
}

PROGRAM(ssthresh) u32 ssthresh(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	struct connection *connection = connection_of(tcp);
	if (!connection)
		return tcp->snd_cwnd > 4 ? tcp->snd_cwnd / 2 : 2;
	follow(&connection->cc.window, tcp);
	connection->before = connection->cc;
#ifdef CC_DRAWS
	process_losses(connection, tcp);
#endif
	cc_on_congestion(&connection->cc, WITH, bpf_ktime_get_ns(), tcp->packets_out);
	return whole(connection->cc.window.threshold);
}

/* Right after ssthresh(), if it was called for a timeout. */
PROGRAM(cwnd_event) void cwnd_event(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	struct connection *connection;
	if (arguments[1] != CA_EVENT_LOSS)
		return;
	connection = connection_of(tcp);
	if (!connection)
		return;
	connection->cc = connection->before;
	connection->lost = tcp->lost;
	cc_on_timeout(&connection->cc, WITH, bpf_ktime_get_ns(), tcp->packets_out);
	tcp->snd_ssthresh = whole(connection->cc.window.threshold);
}

PROGRAM(undo_cwnd) u32 undo_cwnd(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	struct connection *connection = connection_of(tcp);
	u32 window = tcp->snd_cwnd, restored;
	if (!connection)
		return window;
	cc_on_spurious(&connection->cc, WITH);
	restored = connection->cc.window.size >> 32;
	return restored > window ? restored : window;
}

#ifdef CC_MEASURES
/* With every acknowledgement, also during recovery. */
PROGRAM(pkts_acked) void pkts_acked(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	const struct ack_sample *sample = (void *)arguments[1];
	struct connection *connection = connection_of(tcp);
	struct ack ack = {};
	u32 una = tcp->snd_una;
	if (!connection)
		return;
	if (sample->rtt_us > 0) {
		ack.rtt_ns = (u64)(u32)sample->rtt_us * 1000;
		if (!connection->min_rtt_ns || ack.rtt_ns < connection->min_rtt_ns)
			connection->min_rtt_ns = ack.rtt_ns;
	}
	connection->acknowledged += (u32)(una - connection->snd_una);
	connection->snd_una = una;
	ack.now_ns = bpf_ktime_get_ns();
	ack.recovering = connection->recovering;
	ack.delivered = sample->pkts_acked;
	ack.min_rtt_ns = connection->min_rtt_ns;
	ack.first_unacked = connection->acknowledged;
	ack.next_sequence = connection->acknowledged + (u32)(tcp->snd_nxt - una);
	cc_measure(&connection->cc, &ack);
}
#endif

#ifdef CC_DRAWS
/* With every acknowledgement: further losses of a recovery lower its ssthresh. */
PROGRAM(pkts_acked) void pkts_acked(u64 *arguments)
{
	struct tcp_sock *tcp = (void *)arguments[0];
	struct connection *connection = connection_of(tcp);
	if (!connection || !connection->cc.in_episode || connection->lost == tcp->lost)
		return;
	process_losses(connection, tcp);
	tcp->snd_ssthresh = whole(connection->cc.window.threshold);
}

#endif

#ifdef CC_RECOVERS
PROGRAM(set_state) void set_state(u64 *arguments)
{
	struct connection *connection = connection_of((void *)arguments[0]);
	u8 recovering = arguments[1] > TCP_CA_DISORDER;
	if (!connection)
		return;
	if (connection->recovering && !recovering)
		cc_on_recovered(&connection->cc, bpf_ktime_get_ns());
	connection->recovering = recovering;
}
#endif
