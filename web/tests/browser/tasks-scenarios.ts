/** What the tasks of a researcher are done with, and what hinders one of them. */

/** A live network: pings over the ocean, and others that stay on this side. */
export const NETWORK = `version: 1
name: network
duration: 900s
nodes:
  par: {kind: router, at: [48.85, 2.35]}
  nyc: {kind: router, at: [40.71, -74]}
  rom: {kind: router, at: [41.9, 12.5]}
  par1: {kind: host, attach: par}
  nyc1: {kind: host, attach: nyc}
  rom1: {kind: host, attach: rom}
links:
  atlantic: {endpoints: [par, nyc], delay: 35ms, rate: 20Mbit}
  alps: {endpoints: [par, rom], delay: 5ms, rate: 20Mbit}
traffic:
  far: {kind: ping, from: par1, to: nyc1, every: 100ms}
  near: {kind: ping, from: par1, to: rom1, every: 100ms}
`;
/** Three flows share a link, and one of them is far away. */
export const FLOWS = `version: 1
name: sharing
duration: 6s
params: {cc: reno}
nodes:
  west: {kind: router}
  east: {kind: router}
  a1..3: {kind: host, attach: west}
  b1..2: {kind: host, attach: east}
  b3: {kind: host}
links:
  detour: {endpoints: [b3, east], delay: 60ms, rate: 1Gbit}
  wan: {endpoints: [west, east], delay: 10ms, rate: 20Mbit, queue: {limit: 1bdp}}
traffic:
  first: {kind: tcp, from: a1, to: b1, cc: $cc}
  second: {kind: tcp, from: a2, to: b2, cc: $cc}
  distant: {kind: tcp, from: a3, to: b3, cc: $cc}
`;
export const SWEPT = `version: 1
name: algorithms
duration: 2s
params: {cc: reno}
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit, loss: 0.5%}}
traffic: {bulk: {kind: tcp, from: near, to: far, cc: $cc}}
`;
/** Live, while something else takes the cores now and then. */
export const HURRIED = `version: 1
name: hurried
duration: 3s
params: {cc: reno}
nodes: {near: {kind: host}, far: {kind: host}}
links: {wan: {endpoints: [near, far], delay: 10ms, rate: 20Mbit}}
traffic:
  bulk: {kind: tcp, from: near, to: far, cc: $cc}
  probe: {kind: ping, from: near, to: far, every: 50ms}
`;
export const REQUESTS = `version: 1
points: {lyon: 1Gbit, orsay: 1Gbit, tsukuba: {in: 1Gbit, out: 2Gbit}}
requests:
  backup: {from: lyon, to: tsukuba, volume: 500MB, deadline: 60s}
  images: {from: orsay, to: tsukuba, volume: 2GB, deadline: 20s}
  logs: {from: lyon, to: orsay, volume: 1GB, release: 2s, deadline: 12s, max_rate: 900Mbit}
`;
export const FILES = {
  network: NETWORK,
  sharing: FLOWS,
  algorithms: SWEPT,
  hurried: HURRIED,
  requests: REQUESTS,
};

/** On each core something more important than the engine, for 40 ms of each 200; it ends when it is told to. */
export const OTHERS = `import os, select, sys, time
for _ in range(len(os.sched_getaffinity(0)) - 1):
    if not os.fork():
        break
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(os.sched_get_priority_max(os.SCHED_FIFO)))
while not select.select([sys.stdin], [], [], 0.16)[0]:
    end = time.monotonic() + 0.04
    while time.monotonic() < end:
        pass`;

export const CITIES = [
  ['paris', 'Paris', 'paris'],
  ['nyc', 'New York City', 'new-york-city'],
  ['zurich', 'Zürich', 'zurich'],
] as const;
