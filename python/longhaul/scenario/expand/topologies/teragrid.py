"""TeraGrid between San Diego and Purdue, as simulated by Hacker, Smith et al. (2008)."""

from dataclasses import dataclass, field

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.draft import comment
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.quantities import Span

QUEUES = {"long": 1000, "short": 50}
"""Packets."""

_HEAD = """\
# TeraGrid in 2007, San Diego to Purdue, as Hacker, Smith et al. (2008) simulated it: a transfer of six hours
# made 375.6 Mbit/s there, and its losses came at gaps of a Weibull distribution with shape 2.9.
#
# Their figures: hosts at 1 Gbit/s, a core of 10 Gbit/s, packets of 9000 bytes, queues of 1000 packets (long:
# no loss but the model's) or 50 (short), runs of 1000 s. Chosen here, as the paper has them in a drawing or
# not at all: the parts of the delay (their sum, 32.5 ms one way, makes a round trip of 65 ms), and the unit
# of the scale 0.3 of the losses; see docs/models/loss-renewal.md. Data lose packets between Los Angeles and
# Chicago, acknowledgements do not.
#
{about}
#   longhaul show {name}.yaml                      nodes, links and delays
#   longhaul sim {name}.yaml                       one run; --seed 2 is a repetition
#   longhaul sim {name}.yaml --set cc=scalable     another congestion control
version: 1
name: {name}
seed: 1
duration: {duration}
params: {{cc: reno}}
tcp: {{recovery: sack, buffers: 64MiB}}   # the window must never be the limit

topology: {{kind: teragrid{options}}}

traffic:
  transfer: {{kind: tcp, from: sdsc1, to: purdue1, cc: $cc}}
{traffic}"""

_EVERY_SECOND = "So many losses a second, whatever is sent."
_ABOUT_LOSS = {
    "teragrid": f"Losses: 0.3 is taken for minutes, 18 s by the clock. {_EVERY_SECOND}",
    "teragrid-literal-seconds": f"Losses: 0.3 is taken for seconds by the clock. {_EVERY_SECOND}",
    "teragrid-busy-10g": "Losses: 0.3 s of sending at 10 Gbit/s. The same share of packets, at any rate.",
    "none": "Losses: none but those of full queues.",
}
_ABOUT_CROSS = {
    "none": "One flow alone; with --cross shared-sink or literal, five more.",
    "shared-sink": "Cross traffic: five flows from hosts at Los Angeles. They end, with the transfer, behind"
    " one link of 1 Gbit/s, where flows can take from each other.",
    "literal": "Cross traffic: five flows from hosts at Los Angeles, each to a host of its own at Purdue. Six"
    " flows of 1 Gbit/s cannot fill the core, so they share nothing but the losses.",
}
_OPTIONS = {
    "none": "",
    "shared-sink": ", cross: la, sink: pool",
    "literal": ", cross: la",
}
"""Of the topology, for each kind of cross traffic."""


@dataclass(frozen=True)
class TeraGrid:
    """Which of the paper's scenarios; raises :class:`LonghaulError` where there is no such one."""

    loss: str = "teragrid"
    cross: str = "none"
    queue: str = "long"
    duration: Span = field(default_factory=lambda: Span(1000 * 10**9))

    def __post_init__(self) -> None:
        """Refuse words that mean nothing."""
        for what, word, words in (
            ("loss", self.loss, _ABOUT_LOSS),
            ("cross traffic", self.cross, _ABOUT_CROSS),
            ("queue", self.queue, QUEUES),
        ):
            if word not in words:
                raise LonghaulError(
                    Code.WORD_UNKNOWN,
                    f'there is no {what} "{word}"',
                    remedy=did_you_mean(word, words),
                    exit_code=2,
                )


def teragrid(name: str, chosen: TeraGrid) -> str:
    """The scenario file."""
    flows = "".join(
        f"  cross{number}: {{kind: tcp, from: x{number}, to: purdue{number + 1}, cc: reno}}\n"
        for number in range(1, 6)
    )
    options = f", loss: {chosen.loss}, queue: {QUEUES[chosen.queue]}p{_OPTIONS[chosen.cross]}"
    return _HEAD.format(
        name=name,
        about="".join(
            f"{line}\n"
            for each in (_ABOUT_LOSS[chosen.loss], _ABOUT_CROSS[chosen.cross])
            for line in (*comment(each), "#")
        ).removesuffix("\n"),
        duration=chosen.duration,
        options=options,
        traffic="" if chosen.cross == "none" else flows,
    )
