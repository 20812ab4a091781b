"""Outputs of programs, made up for these tests; addresses are those of documentation (RFC 5737, RFC 3849)."""

TRACEROUTE = """\
traceroute to far.example (203.0.113.9), 30 hops max, 60 byte packets
 1  gw.example (192.0.2.1)  1.000 ms  1.200 ms  1.100 ms
 2  core-1.example (192.0.2.2)  11 ms core-2.example (192.0.2.3)  12 ms core-1.example (192.0.2.2)  11.4 ms
 3  * * *
 4  slow.example (198.51.100.4) <MPLS:L=24001,E=0,S=1,T=1>  60.000 ms *  61.000 ms
 5  far.example (203.0.113.9)  41.000 ms  41.200 ms  41.100 ms
"""
NUMERIC = """\
traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, 60 byte packets
 1  192.0.2.1  1.000 ms  1.200 ms  1.100 ms
 2  192.0.2.2  11.000 ms 192.0.2.3  12.000 ms 192.0.2.2  11.400 ms
 3  * * *
 4  198.51.100.4 [AS64500]  60.000 ms *  61.000 ms
 5  203.0.113.9  41.000 ms  41.200 ms  41.100 ms
"""
BSD = """\
traceroute to far.example (203.0.113.9), 64 hops max, 40 byte packets
 1  gw.example (192.0.2.1)  1.000 ms  1.200 ms  1.100 ms
 2  core-1.example (192.0.2.2)  11.000 ms
    core-2.example (192.0.2.3)  12.000 ms
    core-1.example (192.0.2.2)  11.400 ms
 3  * * *
 4  slow.example (198.51.100.4)  60.000 ms *  61.000 ms
 5  far.example (203.0.113.9)  41.000 ms  41.200 ms  41.100 ms
"""
REFUSED = """\
traceroute to 203.0.113.9 (203.0.113.9), 30 hops max, 60 byte packets
 1  192.0.2.1  1.000 ms  1.200 ms  1.100 ms
 2  192.0.2.2  3000.100 ms !H  3000.000 ms !H  3000.200 ms !H
"""
SIX = """\
traceroute to far.example (2001:db8:9::9), 30 hops max, 80 byte packets
 1  2001:db8::1  1.000 ms  1.200 ms  1.100 ms
 2  2001:DB8:9::9  41.000 ms  41.200 ms  41.100 ms
"""
TRACEPATH = """\
 1?: [LOCALHOST]                      pmtu 1500
 1:  gw.example (192.0.2.1)                                1.100ms
 1:  gw.example (192.0.2.1)                                1.000ms
 2:  192.0.2.2                                            11.000ms pmtu 1400
 2:  192.0.2.2                                            11.400ms asymm  3
 3:  no reply
 4:  198.51.100.4                                         60.000ms
 5:  203.0.113.9                                          41.000ms reached
     Resume: pmtu 1400 hops 5 back 5
"""
REPORT = """\
Start: 2026-01-02T03:04:05+0000
HOST: near.example                Loss%   Snt   Last   Avg  Best  Wrst StDev
  1.|-- 192.0.2.1                  0.0%    10    1.1   1.1   1.0   1.2   0.1
  2.|-- 192.0.2.2                 50.0%    10   11.0  11.2  11.0  11.4   0.2
        |  `|-- 192.0.2.3
  3.|-- ???                       100.0    10    0.0   0.0   0.0   0.0   0.0
  4.|-- 198.51.100.4              20.0%    10   60.0  60.5  60.0  61.0   0.5
  5.|-- far.example (203.0.113.9) 10.0%    10   41.0  41.1  41.0  41.2   0.1
"""
JSON = """\
{"report": {
  "mtr": {"src": "near.example", "dst": "203.0.113.9", "tos": 0, "tests": 10},
  "hubs": [
    {"count": 1, "host": "192.0.2.1", "Loss%": 0.0, "Snt": 10, "Avg": 1.1, "Best": 1.0},
    {"count": "2", "host": "192.0.2.2", "Loss%": 50.0, "Snt": 10, "Avg": 11.2, "Best": 11.0},
    {"count": 3, "host": "???", "Loss%": 100.0, "Snt": 10, "Avg": 0.0, "Best": 0.0},
    {"count": 4, "host": "198.51.100.4", "Loss%": 20.0, "Snt": 10, "Avg": 60.5, "Best": 60.0},
    {"count": 5, "host": "far.example (203.0.113.9)", "Loss%": 10.0, "Snt": 10, "Avg": 41.1, "Best": 41.0}
  ]}}
"""
RAW = """\
x 0 33000
x 1 33001
x 2 33002
x 3 33003
x 4 33004
h 0 192.0.2.1
p 0 1000 33000
d 0 gw.example
h 1 192.0.2.2
p 1 11000 33001
h 3 198.51.100.4
p 3 60000 33003
h 4 203.0.113.9
p 4 41000 33004
x 0 33005
x 1 33006
x 2 33007
x 3 33008
x 4 33009
p 0 1200 33005
p 4 41200 33009
"""
PING = """\
PING far.example (203.0.113.9) 56(84) bytes of data.
64 bytes from far.example (203.0.113.9): icmp_seq=1 ttl=60 time=41.0 ms
64 bytes from far.example (203.0.113.9): icmp_seq=2 ttl=60 time=41.3 ms
64 bytes from far.example (203.0.113.9): icmp_seq=2 ttl=60 time=99.0 ms (DUP!)
64 bytes from far.example (203.0.113.9): icmp_seq=4 ttl=60 time=41.2 ms

--- far.example ping statistics ---
4 packets transmitted, 3 received, +1 duplicates, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 41.000/41.166/41.300/0.124 ms
"""
PING_QUIET_SIX = """\
PING far.example(far.example (2001:db8:9::9)) 56 data bytes

--- far.example ping statistics ---
10 packets transmitted, 10 received, 0% packet loss, time 1804ms
rtt min/avg/max/mdev = 41.000/41.166/41.300/0.124 ms
"""
PING_BSD = """\
PING far.example (203.0.113.9): 56 data bytes
64 bytes from 203.0.113.9: icmp_seq=0 ttl=60 time=41.000 ms

--- far.example ping statistics ---
2 packets transmitted, 1 packets received, 50.0% packet loss
round-trip min/avg/max/stddev = 41.000/41.000/41.000/0.000 ms
"""
PING_DEAD = """\
PING 203.0.113.9 (203.0.113.9) 56(84) bytes of data.
From 192.0.2.2 icmp_seq=1 Destination Host Unreachable

--- 203.0.113.9 ping statistics ---
3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 2043ms
"""
