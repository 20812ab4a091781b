var e=`# Glossary

Terms of the field as Longhaul uses them. Each entry gives the unit, the places where you see the term, and the source of its definition.
Times use µs in text, and \`us\` in names of files, options and columns.

### Active queue management (AQM)
A queue discipline that drops or marks packets before its queue is full, so that the queue stays short.

- **Unit:** packets; column \`dropped_packets\`, fate \`dropped\`
- **Seen in:** \`queue\` of a link (\`red\`, \`codel\`, \`fq-codel\`, \`pie\`), \`longhaul benchmark-aqm\`
- **Source:** RFC 7567; [CoDel](../models/queue-codel.md), [PIE](../models/queue-pie.md), [RED](../models/queue-red.md)

### Bandwidth-delay product (BDP)
The number of bytes in flight that fill a path: its bottleneck rate times its round-trip time.

- **Unit:** bytes; \`1bdp\` as the limit of a queue
- **Seen in:** \`queue\` of a link, \`longhaul show\`
- **Source:** RFC 1072; RFC 6349

### Bottleneck
The link of a path that limits a flow. Results name the link and the direction with the highest utilisation over the run.

- **Seen in:** \`longhaul show\`, \`bottleneck\` in \`summary.json\`, the report
- **Source:** RFC 5136

### Compensation
Subtraction of the machine's base latency from the configured delay of directions that end at a host.

- **Seen in:** \`compensate\` of a scenario, \`--compensate\`
- **Source:** [decision 6](../decisions/0006-compensation.md)

### Confidence interval
The range that contains the true mean with a probability of 95 %, computed from repetitions with different seeds (Student's t). A
difference of two groups is statistically significant if its interval (Welch) does not contain zero.

- **Seen in:** \`half_width\` in \`summary.parquet\` of a sweep, \`longhaul compare\`
- **Source:** Student, Biometrika 6 (1908); B. L. Welch, Biometrika 34 (1947)

### Configured and measured
*Configured* values are those of the scenario and its changes. *Measured* values are those that the run observed.

- **Seen in:** \`configured\` and \`measured\` in \`phases\` of \`summary.json\`
- **Source:** [changes](../models/changes.md)

### Congestion window (cwnd)
The amount of data that a sender may have in flight according to its congestion-control algorithm.

- **Unit:** segments (\`cwnd_segments\`, \`window_segments\`) or bytes (\`cwnd_bytes\`)
- **Seen in:** \`sockets.parquet\`, \`flows.parquet\`
- **Source:** RFC 5681; \`cwnd\` in ss(8)

### Congestion-control algorithm
The part of a TCP sender that decides how many segments may be in flight, for example \`cubic\` or \`bbr\`. Short: algorithm, \`cc\`.

- **Seen in:** \`cc\` of traffic, \`tcp\` of a host, column \`cc\` of \`sockets.parquet\`
- **Source:** RFC 5681, RFC 9438; \`tcp_congestion_control\` in tcp(7); [models](../models/README.md)

### Corruption
The inversion of one random bit of a packet. The packet is still delivered.

- **Unit:** share of packets; metric \`links.NAME.forward.corrupted\`
- **Seen in:** \`corrupt\` of a link
- **Source:** tc-netem(8), \`corrupt\`; [corruption](../models/corruption.md)

### CPU wait
The share of the run in which at least one program of a host was ready to run and waited for a CPU (Linux PSI, \`some\` of the host's
control group).

- **Unit:** share; a host with more than 10 % is *starved*
- **Seen in:** \`waiting\` in \`fidelity.json\`, metric \`fidelity.waiting\`
- **Source:** the kernel's \`accounting/psi\`; [host verdict](../explanation/fidelity.md#host-verdict)

### Delay
The one-way time that a packet spends on the wire of a link. It does not include queueing or serialisation. See also
[RTT](#round-trip-time-rtt).

- **Unit:** ns in the plan and in results; \`250us\`, \`38ms\` in YAML
- **Seen in:** \`delay\` of a link
- **Source:** RFC 7679; tc-netem(8); [delay](../models/delay.md)

### Delay-based and loss-based algorithms
A loss-based algorithm (Reno, CUBIC) reduces its window when packets are lost; a delay-based one (Vegas, FAST) when the RTT grows.

- **Seen in:** \`cc\` of traffic
- **Source:** RFC 5681; L. Brakmo, L. Peterson, IEEE JSAC 13 (1995); [delay-based TCP](../models/tcp-delay-based.md)

### Deviation (of a delay)
The absolute difference between a packet's measured one-way delay and the configured one, as the hosts' kernels or their programs see the packet.
Lateness is the engine's own record.

- **Unit:** µs in text, ns in columns
- **Seen in:** [the study of deviations](../studies/delay-deviation.md)
- **Source:** S. Lachnit et al., PACMNET 3 (CoNEXT4, 2025); [fidelity](../explanation/fidelity.md#deviation-of-delays)

### Diagnostic
One problem of a scenario or another input: severity, place, message, remedy.

- **Seen in:** \`check\`, \`show --json\`, the page, \`LonghaulError.diagnostics\`
- **Source:** [diagnostics](diagnostics.md)

### Direction (forward, reverse)
A link has two directions with separate models and counters. *Forward* is from the first of its \`endpoints\` to the second.

- **Seen in:** \`forward\`, \`reverse\`, \`direction\` in YAML; column \`way\`
- **Source:** [links](scenario.md#links)

### Discrete-event simulator
The program that runs a scenario without real packets: its clock advances from one event to the next. Equal scenarios and seeds give
equal results.

- **Seen in:** \`longhaul sim\`, directories \`...-sim-...\`
- **Source:** [simulation](../models/simulation.md)

### Drop
A packet that the network does not deliver. The cause is a loss model, a full queue, AQM, a link that is down, a router, or pacing.
*Unintended drops* have a cause outside the model, such as a full socket buffer; a run that has them is invalid.

- **Unit:** packets
- **Seen in:** \`drops\` in \`summary.json\`, [fates](results.md#fates)
- **Source:** RFC 7680 (loss); [fidelity](../explanation/fidelity.md)

### Duplication
Delivery of a packet twice.

- **Unit:** share of packets; column \`copied_packets\`
- **Seen in:** \`duplicate\` of a link
- **Source:** RFC 5560; tc-netem(8); [duplicates](../models/duplicates.md)

### Event
A change of a link or of pacing that the scenario schedules. A change that a user makes during the run is an [intervention](#intervention).

- **Seen in:** \`events\` of a scenario, \`changes\` in \`summary.json\`
- **Source:** [events](scenario.md#events)

### Expectation
A condition on a metric of the run. If it fails, the run fails.

- **Seen in:** \`expect\` of a scenario, \`expectations\` in \`summary.json\`
- **Source:** [metrics](results.md#metrics-for-expect)

### Explicit congestion notification (ECN)
A mechanism in which a queue marks packets instead of dropping them, and TCP reduces its rate.

- **Unit:** packets; metric \`links.NAME.forward.marked\`
- **Seen in:** \`ecn\` of a queue and of \`tcp\`
- **Source:** RFC 3168; RFC 8257 (DCTCP)

### Fairness (Jain's index)
A measure of how equally flows share the network: 1 if all have the same goodput, 1/n if one of n flows has all of it.

- **Unit:** share
- **Seen in:** metric \`fairness.jain\`, column \`jain\`
- **Source:** R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984)

### Fate
The recorded outcome of a packet; each packet has exactly one: \`delivered\`, \`lost\`, \`overflowed\`, \`dropped\`, \`down\`, \`no_route\`,
\`ttl_expired\`, \`too_big\`, \`answered\`, \`pacer_dropped\`, \`filtered\`, \`looped\` or \`held\`.

- **Unit:** packets
- **Seen in:** column \`fate\` of \`packets.parquet\`, counters of each link
- **Source:** [fates](results.md#fates)

### Fidelity
How closely the emulation followed the model: the network's verdict (\`faithful\`, \`degraded\`, \`invalid\`) and the hosts' verdict (\`ok\`,
\`starved\`, \`unknown\`).

- **Seen in:** \`fidelity.json\`, metrics \`fidelity.verdict\` and \`fidelity.hosts\`
- **Source:** [verdict](../explanation/fidelity.md#the-verdict)

### Flow
The packets of one 5-tuple: source and destination address, source and destination port, protocol. An entry of \`traffic\` can have
several flows, which results call *streams*.

- **Seen in:** \`flows.parquet\`, \`connections.parquet\`
- **Source:** RFC 7011

### Framing
The bytes of the lower layers that a rate counts for each packet, for example 38 bytes for Ethernet: preamble, header, FCS and
inter-packet gap.

- **Unit:** bytes
- **Seen in:** \`count\` of a link
- **Source:** IEEE 802.3; \`overhead\` in tc-stab(8); [rate](../models/rate.md)

### Gilbert-Elliott model
A loss model with a good and a bad state. It produces bursts of lost packets.

- **Unit:** \`mean\` is a share, \`burst\` is in packets
- **Seen in:** \`loss\` of a link
- **Source:** E. N. Gilbert (1960), E. O. Elliott (1963); [Gilbert-Elliott loss](../models/loss-gilbert-elliott.md)

### Goodput
Payload that arrived in order, per second.

- **Unit:** bit/s
- **Seen in:** metric \`flows.NAME.goodput\`, column \`goodput_bits_per_s\`
- **Source:** RFC 2647, section 3.17; [goodput and throughput](../models/measures.md)

### Guest kernel
A Linux kernel that runs as an ordinary program (User-Mode Linux) and is one host of a run on the virtual clock.

- **Seen in:** \`longhaul kernel list\`
- **Source:** [guest kernels](../how-to/kernels.md); [decision 25](../decisions/0025-a-patched-kernel-for-virtual-time.md)

### Impairment
A degradation of a link that a user applies to a live run from a preset, and can undo: flap, burst loss, brown-out, or reordering. It consists of
[interventions](#intervention).

- **Seen in:** "Break it" of the page
- **Source:** [the page](../how-to/page.md#change-a-link-or-break-it); tc-netem(8)

### Initial window
The number of segments that a TCP sender may send before the first acknowledgement.

- **Unit:** segments; 10 by default
- **Seen in:** \`initial_window\` of \`tcp\`
- **Source:** RFC 6928; \`initcwnd\` in ip-route(8)

### Inter-packet gap error
The difference between the gap of two consecutive packets as written to the destination and their gap in the model.

- **Unit:** µs in text, ns in columns
- **Seen in:** metric \`fidelity.spacing\`, \`gap_errors\` and \`written_gap_errors\` of pacing
- **Source:** RFC 3393 (the same difference between two points of a path); [fidelity](../explanation/fidelity.md)

### Intervention
A change of the network that a user makes during a run, with \`longhaul set\`, on the page or from Python. The verdict names the number of
interventions.

- **Seen in:** \`changes\` in \`summary.json\`, with \`kind\` \`intervention\`
- **Source:** [interventions](../how-to/live.md#interventions)

### Isolation
The restrictions on programs of a host: capabilities, system calls, and what they can write.

- **Seen in:** \`isolation\` of a scenario
- **Source:** capabilities(7), namespaces(7), seccomp(2); [hosts](../explanation/security.md#hosts)

### Jitter
The random part of a link's delay. Of the packets of a flow, it is measured as packet delay variation: a quantile of the delay minus its
minimum.

- **Unit:** as the delay
- **Seen in:** \`jitter\` in \`delay\` of a link; measures of \`longhaul benchmark-aqm\`
- **Source:** RFC 3393 (delay variation); RFC 5481; tc-netem(8); [random delay](../models/delay-random.md)

### Journal
The record of every packet that enters the network, every change, and every departure, from which a run is replayed.

- **Seen in:** \`raw/journal.bin\`, \`--journal\`, \`longhaul compare --replay\`
- **Source:** [replay](../explanation/fidelity.md#differences-between-model-and-measurement)

### Lateness
The time by which a packet was written to its destination after it was due. *p99 lateness* is the value that 99 % of the packets do not
exceed.

- **Unit:** µs in text, ns in columns
- **Seen in:** \`lateness\` in \`fidelity.json\`, metric \`fidelity.lateness.p99\`
- **Source:** [fidelity](../explanation/fidelity.md)

### Link model
All models of one link: delay, loss, rate, queue discipline, reordering, duplication and corruption, for each direction.

- **Seen in:** \`links\`, \`profiles\` and \`set\` of events
- **Source:** [models](../models/README.md)

### Live, simulated and mixed runs
A *live* run uses real programs and real packets, a *simulated* run uses neither. In a *mixed* run simulated traffic shares links with real
packets.

- **Seen in:** \`longhaul run\`, \`longhaul sim\`, \`simulated\` of traffic
- **Source:** [live runs](../how-to/live.md)

### Loss model
The random process that decides which packets a link drops.

- **Unit:** share of packets; fate \`lost\`
- **Seen in:** \`loss\` of a link
- **Source:** tc-netem(8), \`loss\`; RFC 7680; [models](../models/README.md)

### Loss position
The point of a link where its loss model drops: at the *ingress* of the queue (the default) or at its *egress*, after the serialiser.

- **Seen in:** \`position\` in \`loss\` of a link
- **Source:** [loss](scenario.md#loss)

### Loss synchronisation
How many of the flows that share a queue lose packets at the same time. The global synchronisation ratio is the mean share of flows that
lose packets in a loss event.

- **Unit:** share; 1 if all flows lose in every event
- **Seen in:** \`longhaul benchmark-aqm\`
- **Source:** RFC 7928, section 2.4; [queue-discipline metrics](../models/aqm-metrics.md)

### Maximum segment size (MSS)
The largest payload of one TCP segment.

- **Unit:** bytes; column \`mss_bytes\`
- **Seen in:** \`sockets.parquet\`
- **Source:** RFC 9293, section 3.7.1

### Maximum transmission unit (MTU)
The largest IP packet that a link carries.

- **Unit:** bytes
- **Seen in:** \`mtu\` of a link; fate \`too_big\`
- **Source:** RFC 1191, RFC 8201

### Offered load
The traffic that arrives at a link, whether the link delivers or drops it.

- **Unit:** packets, bytes or bit/s; \`offered_packets\`, \`offered_bytes\`
- **Seen in:** \`links.parquet\`, \`load\` of background traffic
- **Source:** RFC 2285, section 3.5

### Overflow drop
A packet that arrives at a full queue and is dropped.

- **Unit:** packets; fate \`overflowed\`
- **Seen in:** column \`overflowed_packets\`
- **Source:** RFC 7567 (tail drop); [FIFO](../models/queue-fifo.md)

### Pacing
The even spacing of packets by a sender or a host, instead of bursts.

- **Unit:** bit/s
- **Seen in:** \`pacing\` of a host or of \`tcp\`, \`paced\` of a link's rate, column \`pacing_bits_per_s\`
- **Source:** tc-fq(8); PSPacer (PFLDnet 2005); [pacing](../how-to/pacing.md)

### Parallel routes
Several paths inside one link. A policy selects one for each packet, flow or flowlet.

- **Seen in:** \`routes\` of a link
- **Source:** RFC 2992; [routes](../models/routes.md)

### Ping (ICMP echo)
An ICMP echo request and its reply.

- **Unit:** ms in text, ns in columns
- **Seen in:** traffic of kind \`ping\`, \`probes.parquet\`
- **Source:** RFC 792, RFC 4443; ping(8)

### Plan
The resolved scenario in the form that the engine and the simulator execute, with indices and integers. *Transfer plans* are those of
\`longhaul transfer plan\`.

- **Seen in:** \`plan.json\`
- **Source:** [results](results.md)

### Propagation RTT
The sum of the configured delays of a path in both directions, without queueing.

- **Unit:** ns
- **Seen in:** \`path_rtt_p50_ns\` of pings
- **Source:** RFC 6349 (baseline RTT); [measures](../models/measures.md)

### Queue discipline
The rules for packets that wait for a link: their order, the limit, and which packets are dropped.

- **Seen in:** \`queue\` of a link
- **Source:** tc(8), "qdisc"; [queue](scenario.md#queue)

### Queueing delay
The time from a packet's arrival at a link until its first bit leaves.

- **Unit:** ns
- **Seen in:** metric \`links.NAME.forward.queueing_delay.p99\`
- **Source:** [queueing delay](../models/measures.md#queueing-delay)

### Rate
The capacity of a direction of a link. \`count\` says which bytes it includes.

- **Unit:** bit/s; 1 Gbit/s is 10⁹ bit/s
- **Seen in:** \`rate\` of a link
- **Source:** RFC 5136 (IP-type-P link capacity); tc-tbf(8); [rate](../models/rate.md)

### Read delay
The time from the arrival of a packet at the kernel, at a network interface of the machine that is a port, until the engine reads it.

- **Unit:** µs in text, ns in columns
- **Seen in:** \`read_delay\` in \`fidelity.json\`, metric \`fidelity.read_delay\`
- **Source:** \`SO_TIMESTAMPNS\` in socket(7); [ports](scenario.md#ports)

### Recovery
The detection and retransmission of lost segments by a TCP sender, for example with NewReno, SACK or RACK.

- **Seen in:** \`recovery\` of \`tcp\`
- **Source:** RFC 6582, RFC 6675, RFC 8985; [TCP transport](../models/tcp-transport.md)

### Relay
A gateway that delays the bytes of connections at the application level, without privileges.

- **Seen in:** \`longhaul relay\`, \`relay\` of a scenario
- **Source:** Longcut (Bongo et al.); [relay](../how-to/relay.md)

### Reordering
The arrival of packets in another order than the order of transmission.

- **Unit:** packets (\`reordered\`, of UDP flows and captures), or a share
- **Seen in:** \`reordering\` of a link, \`reorder\` in \`delay\`; links do not count it
- **Source:** RFC 4737; tc-netem(8), \`reorder\`; [reordering](../models/reordering.md)

### Replay
A recomputation of a live run from its journal, which compares every departure. Traffic of two kinds is different: \`replay\` repeats a list of
measured transfers, and \`pcap\` sends the packets of a capture, which tcpreplay(1) calls a replay.

- **Seen in:** \`longhaul compare --replay\`; traffic of kinds \`replay\` and \`pcap\`
- **Source:** [replay](../explanation/fidelity.md#differences-between-model-and-measurement), [flow lists](../how-to/flow-lists.md)

### Retransmission
A segment whose payload was sent before.

- **Unit:** packets (\`retransmits\`) or share (\`retransmission_rate\`)
- **Seen in:** \`flows.parquet\`, \`connections.parquet\`
- **Source:** RFC 9293, section 3.8.1; RFC 6298

### Round-trip time (RTT)
The time from the transmission of a packet to the arrival of its acknowledgement or reply.

- **Unit:** ns in columns, ms or µs in text
- **Seen in:** metrics \`flows.NAME.rtt.p50\` and \`probes.NAME.HOST.rtt.p50\`, column \`rtt_ns\`
- **Source:** RFC 2681; RFC 6298

### Scheduling stall
An interval over 100 µs in which the engine was ready to run and the machine did not run it.

- **Unit:** share of the run, µs
- **Seen in:** metric \`fidelity.gaps\`, \`fidelity.json\`
- **Source:** sched(7); [fidelity](../explanation/fidelity.md)

### Seed
The number from which all random streams of a run are derived. Equal scenarios and seeds draw equal losses, jitter and reordering.

- **Seen in:** \`seed\` of a scenario, \`--seed\`
- **Source:** [random streams](../models/random-streams.md)

### Serialisation
The transmission of a packet, bit by bit, at the rate of a link.

- **Unit:** ns; bits divided by the rate
- **Seen in:** \`rate\` of a link
- **Source:** RFC 7679 (wire time); [rate](../models/rate.md)

### Shaper
The part of a link that delays packets so that they do not exceed a rate. The packet at its front is the *head-of-line packet*.

- **Seen in:** \`rate\` of a link, \`bucket\` of a class
- **Source:** RFC 2475, section 2.3.3.3; tc(8)

### Simulated ends
The TCP and UDP endpoints of the simulator, which a mixed run also uses.

- **Seen in:** metric \`fidelity.simulated\`
- **Source:** [TCP transport](../models/tcp-transport.md)

### Slow start
The phase in which a TCP sender increases its window by up to one segment for each acknowledged segment, until the threshold
(\`ssthresh\`) or a loss.

- **Unit:** segments (\`ssthresh_segments\`)
- **Seen in:** \`slow_start\` of a \`cc\`
- **Source:** RFC 5681, section 3.1; RFC 9406 (HyStart++); [slow start](../models/tcp-slow-start.md)

### Sweep
Simulations of every combination of parameter values, each with several seeds.

- **Seen in:** \`longhaul sweep\`, \`sweep\` of a scenario
- **Source:** [sweeps](../how-to/sweeps.md)

### Throughput
Of a link: bytes whose transmission began, per second. Of a flow: payload sent per second, retransmissions included.

- **Unit:** bit/s
- **Seen in:** metrics \`links.NAME.forward.rate\` and \`flows.NAME.throughput\`
- **Source:** RFC 2863 (\`ifOutOctets\`); [throughput](../models/measures.md#throughput-and-utilisation-of-a-link)

### Token bucket
A rate that permits bursts: tokens accumulate at the rate up to a limit, and a packet leaves when there are enough tokens for all of its
bytes.

- **Unit:** bit/s (\`bucket\`), bytes (\`burst\`)
- **Seen in:** \`rate\` of a link, classes of \`pacing\`
- **Source:** tc-tbf(8); RFC 2697; [token bucket](../models/rate-token-bucket.md)

### Traffic generator
A client, server, source or sink that Longhaul runs for an entry of \`traffic\`.

- **Seen in:** \`traffic\` of a scenario; kinds \`tcp\`, \`udp\`, \`ping\`, \`requests\`, \`replay\`, \`pcap\`, \`background\`
- **Source:** [programs and traffic](scenario.md#programs-and-traffic)

### Transfer
A TCP connection that carries a known number of bytes and closes. Its completion time is \`took_ns\`.

- **Unit:** bytes, ns
- **Seen in:** \`requests.parquet\`, \`longhaul transfer\`
- **Source:** [transfers](../models/transfers.md)

### Utilisation
The throughput of a link divided by its rate.

- **Unit:** share
- **Seen in:** metric \`links.NAME.forward.utilisation\`, the page, the report
- **Source:** RFC 5136; [utilisation](../models/measures.md#throughput-and-utilisation-of-a-link)

### Workload
A real parallel program, usually with MPI, that runs on hosts of a scenario; \`longhaul-workload\` is a set of such programs. Flows that
Longhaul generates are traffic, not workloads.

- **Seen in:** \`run\` and \`simulate\` of \`programs\`
- **Source:** [parallel workloads](../how-to/workloads.md)
`;export{e as default};