"""The link models that are compared, and the traffic that shows them, as text of the scenario language."""

from dataclasses import dataclass

from two_hosts import two_hosts

DATAGRAMS = """  stream: {kind: udp, from: a, to: b, rate: 8Mbit, start: 1s, stop: 19s}
  probe: {kind: ping, from: a, to: b, every: 20ms, start: 1s, stop: 19s}
"""
"""12,431 datagrams, and up to 900 echo requests."""
ALONE = """  stream: {kind: udp, from: a, to: b, rate: 8Mbit, start: 1s, stop: 19s}
"""
OVERLOAD = """  stream: {kind: udp, from: a, to: b, rate: 12Mbit, start: 1s, stop: 19s}
"""
TRANSFER = """  copy: {kind: tcp, from: a, to: b, cc: reno, start: 1s, stop: 19s}
  probe: {kind: ping, from: a, to: b, every: 20ms, start: 1s, stop: 19s}
"""


@dataclass(frozen=True)
class Model:
    """A model of Longhaul and that of Linux."""

    page: str
    """Of docs/models."""
    linux: str
    link: str
    traffic: str = DATAGRAMS
    events: str = ""

    def scenario(self, *, seed: int, seconds: int = 20) -> str:
        """The scenario in which they are compared."""
        return two_hosts(
            "netem-models",
            seed=seed,
            seconds=seconds,
            link=self.link,
            traffic=self.traffic,
            more=self.events,
        )


MODELS = {
    "delay": Model("delay", "netem delay", "delay: 25ms"),
    "delay, not a multiple of 8 us": Model("delay", "netem delay", "delay: 10.003ms"),
    "uniform jitter": Model(
        "delay-random",
        "netem delay with jitter",
        "delay: {base: 25ms, jitter: {dist: uniform, half_width: 3ms}, reorder: true}",
    ),
    "normal jitter": Model(
        "delay-random",
        "netem delay distribution normal",
        "delay: {base: 25ms, jitter: {dist: normal, sd: 2ms}, reorder: true}",
    ),
    "normal jitter, in order": Model(
        "delay-random",
        "netem delay distribution normal rate",
        "delay: {base: 25ms, jitter: {dist: normal, sd: 2ms}}",
    ),
    "independent loss": Model("loss-independent", "netem loss random", "delay: 10ms, loss: 1%"),
    "independent loss at the egress": Model(
        "loss-independent",
        "netem loss random",
        "delay: 10ms, loss: {model: independent, mean: 1%, position: egress}",
    ),
    "bursts of losses": Model(
        "loss-gilbert-elliott",
        "netem loss gemodel",
        "delay: 10ms, loss: {model: gilbert-elliott, mean: 2%, burst: 4}",
    ),
    "two states of loss": Model(
        "loss-markov",
        "netem loss gemodel",
        "delay: 10ms, loss: {model: markov, good_to_bad: 1%, bad_to_good: 20%, loss_bad: 40%}",
    ),
    "four states of loss": Model(
        "loss-markov",
        "netem loss state",
        "delay: 10ms, loss: {model: four-state, p13: 1%, p31: 30%, p32: 20%, p23: 40%, p14: 0.2%}",
    ),
    "duplicates": Model("duplicates", "netem duplicate", "delay: 10ms, duplicate: 1%"),
    "corruption": Model("corruption", "netem corrupt", "delay: 10ms, corrupt: 1%"),
    "early packets": Model(
        "reordering", "netem reorder gap", "delay: 10ms, reordering: {gap: 5, early: 25%}"
    ),
    "rate, not full": Model("rate", "netem rate", "delay: 10ms, rate: 10Mbit, queue: 50p", ALONE),
    "FIFO of packets, overfull": Model(
        "queue-fifo", "tbf, pfifo", "delay: 10ms, rate: 10Mbit, queue: 50p", OVERLOAD
    ),
    "FIFO of bytes, overfull": Model(
        "queue-fifo", "tbf limit", "delay: 10ms, rate: 10Mbit, queue: 60kB", OVERLOAD
    ),
    "FIFO and TCP": Model("queue-fifo", "tbf, pfifo", "delay: 10ms, rate: 20Mbit, queue: 50p", TRANSFER),
    "token bucket": Model(
        "rate-token-bucket",
        "tbf burst",
        "delay: 10ms, rate: {bucket: 10Mbit, burst: 15400B}, queue: 50p",
        OVERLOAD,
    ),
    "CoDel": Model("queue-codel", "codel", "delay: 10ms, rate: 20Mbit, queue: {kind: codel}", TRANSFER),
    "FQ-CoDel": Model(
        "queue-codel", "fq_codel", "delay: 10ms, rate: 20Mbit, queue: {kind: fq-codel}", TRANSFER
    ),
    "PIE": Model("queue-pie", "pie", "delay: 10ms, rate: 20Mbit, queue: {kind: pie}", TRANSFER),
    "RED": Model(
        "queue-red",
        "red",
        "delay: 10ms, rate: 20Mbit, queue: {kind: red, limit: 150p, min: 20p, max: 60p, gentle: false}",
        TRANSFER,
    ),
    "changes": Model(
        "changes",
        "tc qdisc change",
        "delay: 10ms, loss: 0.5%",
        events="events:\n"
        "  - {at: 7s, link: wan, set: {delay: 30ms}}\n"
        "  - {at: 13s, link: wan, set: {loss: 3%}}\n",
    ),
}
