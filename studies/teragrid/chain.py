"""From a capture to a loss model: real transfers, and losses like those of TeraGrid, only more often."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import longhaul
from longhaul.analysis.captures import chosen, loss_gaps, within
from longhaul.analysis.fitting import fit_gaps
from longhaul.traces.captures import read_capture

SHAPE, SCALE_S = 2.9, 0.1
FASTER = 180
"""18 s are 0.1 s here, so that a minute has as many losses as three hours on TeraGrid."""
SECONDS = 90
SCENARIO = f"""version: 1
name: teragrid-capture
seed: 20070619
duration: {SECONDS + 2}s
addresses: ipv4
nodes: {{sdsc: {{kind: host}}, purdue: {{kind: host}}}}
links:
  wan:
    endpoints: [sdsc, purdue]
    delay: 2ms
    rate: 100Mbit
    queue: {{kind: fifo, limit: 4MB}}
    forward: {{loss: {{model: renewal, gap: {{dist: weibull, shape: {SHAPE}, scale: {SCALE_S * 1e3:g}ms}}}}}}
traffic:
  bulk: {{kind: tcp, from: sdsc, to: purdue, cc: reno, flows: 2, stop: {SECONDS}s}}
measure: {{packets: {{links: [wan], snaplen: 128B}}}}
"""


@dataclass(frozen=True)
class Chain:
    """What came out of the capture, and what the link did."""

    packets: int
    losses: int
    """That were found."""
    dropped: int
    """That the link's counter has."""
    first: str
    """The family that the ranking has first."""
    algorithm: Mapping[str, Any]
    """Loss by the clock, slowed down to TeraGrid's pace."""


def can_run() -> bool:
    """Whether this user may run real programs in namespaces."""
    return os.geteuid() == 0


def capture_to_model(directory: Path) -> Chain:
    """Run, capture, find the losses, fit; files go into ``directory``."""
    path = directory / "capture.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    run = longhaul.run_live(path, runs=directory / "runs")
    capture = within(read_capture(run.directory / "captures" / "wan@sdsc.pcapng"), "wan (first end)")
    flow = chosen(capture, name="all")
    gaps = loss_gaps(capture, flow, unit="s")
    fits = fit_gaps(gaps.values, seed=1)
    (weibull,) = (fit for fit in fits.fits if fit.family == "weibull")
    shape, scale = (each.value for each in weibull.parameters)
    return Chain(
        packets=flow.packets,
        losses=len(flow.losses.at_ns),
        dropped=run.link("wan")["packets"]["lost"],
        first=fits.fits[0].family,
        algorithm={
            "model": "renewal",
            "unit": "wall",
            "gap": {"dist": "weibull", "shape": round(shape, 4), "scale": f"{scale * FASTER:.4f}s"},
        },
    )
