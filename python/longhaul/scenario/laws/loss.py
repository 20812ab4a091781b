"""Laws of loss in the plan's words."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from longhaul.scenario.inputs import (
    PACKETS,
    SIZE,
    TIME,
    CsvFile,
    InputFile,
    Inputs,
    LawError,
    ascending,
    has_header,
    within,
)
from longhaul.scenario.laws.distribution import Plain, distribution_mean, needed_mean, plan_distribution
from longhaul.scenario.model.loss import (
    BlockLoss,
    BusyRenewalLoss,
    ByteRenewalLoss,
    CorrelatedLoss,
    FourStateLoss,
    GilbertElliottLoss,
    IndependentLoss,
    MarkovLoss,
    PacketRenewalLoss,
    PeriodicLoss,
    PresetLoss,
    TraceLoss,
    WallRenewalLoss,
)
from longhaul.scenario.units import Span

_ONE = {"dist": "constant", "value": 1.0}
_MOST_PACKETS = 10**12
_TERAGRID_SHAPE = 2.9
# Times between losses on TeraGrid paths (Hacker and Smith 2008): Weibull, printed with shape 2.9 and scale
# 0.3, without a unit. Minutes (18 s) agree best with the throughput in the same paper: the mean,
# scale * Gamma(1 + 1 / 2.9), is then 16.05 s. Taken as seconds it is 0.2675 s, by the clock or, as ns-2
# counted, in the time that packets take at 10 Gbit/s.
PRESETS: Mapping[str, tuple[float, Any]] = {
    "teragrid": (18e9, "wall"),
    "teragrid-literal-seconds": (0.3e9, "wall"),
    "teragrid-busy-10g": (0.3e9, {"busy": {"bits_per_s": 10**10}}),
}


def plan_loss(loss: Any, inputs: Inputs) -> Plain:
    """A loss law of the plan; raises :class:`LawError` and :class:`FileError`."""
    match loss:
        case IndependentLoss() if loss.mean.share:
            return {"law": "independent", "probability": float(loss.mean)}
        case BlockLoss():
            return {"law": "one-per-block", "block": loss.packets}
        case PeriodicLoss():
            return {"law": "periodic", "every": loss.every}
        case GilbertElliottLoss() if loss.mean.share:
            return {"law": "gilbert-elliott", "mean": float(loss.mean), "burst": loss.burst}
        case MarkovLoss():
            keys = ("good_to_bad", "bad_to_good", "loss_good", "loss_bad")
            return {"law": "markov", **{key: float(getattr(loss, key)) for key in keys}}
        case FourStateLoss():
            chances = ("p13", "p31", "p32", "p23", "p14")
            return {"law": "four-state", **{key: float(getattr(loss, key)) for key in chances}}
        case CorrelatedLoss() if loss.mean.share:
            return {
                "law": "correlated",
                "mean": float(loss.mean),
                "correlation": float(loss.correlation),
            }
        case PacketRenewalLoss() | ByteRenewalLoss() | WallRenewalLoss() | BusyRenewalLoss():
            return _renewal(loss, inputs)
        case PresetLoss():
            scale, unit = PRESETS[loss.preset]
            gap = {"dist": "weibull", "shape": _TERAGRID_SHAPE, "scale": scale}
            return {"law": "renewal", "gap": gap, "burst": dict(_ONE), "unit": unit}
        case TraceLoss():
            return _traced(loss, inputs)
    return {"law": "none"}


def mean_loss(loss: Mapping[str, Any]) -> float | None:
    """The share that a law of the plan loses in the long run; ``None`` where time decides."""
    match loss["law"]:
        case "none":
            return 0.0
        case "independent":
            return float(loss["probability"])
        case "one-per-block":
            return 1 / int(loss["block"])
        case "periodic":
            return 1 / int(loss["every"])
        case "gilbert-elliott" | "correlated":
            return float(loss["mean"])
        case "markov":
            bad = loss["good_to_bad"] / (loss["good_to_bad"] + loss["bad_to_good"])
            return float(bad * loss["loss_bad"] + (1 - bad) * loss["loss_good"])
        case "renewal" if loss["unit"] == "packets":
            gap, burst = distribution_mean(loss["gap"]), distribution_mean(loss["burst"])
            # From one point to the next are gap packets, the first of a burst among them.
            return min(burst / (gap + burst - 1), 1.0) if gap + burst > 1 else None
        case "runs" if loss["repeat"]:
            lost = sum(each for _good, each in loss["runs"])
            return float(lost / sum(good + each for good, each in loss["runs"]))
    return None


def _renewal(
    loss: PacketRenewalLoss | ByteRenewalLoss | WallRenewalLoss | BusyRenewalLoss, inputs: Inputs
) -> Plain:
    units = PACKETS
    if loss.unit != "packets":
        units = SIZE if loss.unit == "bytes" else TIME
    with within("gap"):
        gap = plan_distribution(loss.gap, inputs, units)
        mean = needed_mean(gap)
    with within("burst"):
        burst = plan_distribution(loss.burst, inputs, PACKETS)
        needed_mean(burst)
    if mean < 0:
        raise LawError(("gap",), "is below zero on average", "write larger gaps")
    if loss.unit != "packets" and mean == 0:
        raise LawError(("gap",), "is always zero", "write a gap above zero")
    unit: Any = {"busy": {"bits_per_s": loss.rate.bits_per_s}} if loss.unit == "busy" else loss.unit
    law = {"law": "renewal", "gap": gap, "burst": burst, "unit": unit}
    if isinstance(loss, WallRenewalLoss) and loss.lasts is not None:
        law["lasts_ns"] = loss.lasts.ns
    return law


def _traced(loss: TraceLoss, inputs: Inputs) -> Plain:
    file = inputs.file(loss.file, at="file")
    repeat = loss.at_end == "loop"
    if loss.form == "times":
        return _times(loss, file, repeat=repeat)
    if loss.form == "ns2":
        runs = _pairs(file)
    else:
        rows = _whole(file, loss.column)
        if loss.form == "gaps":
            runs = [(gap, 1) for _line, gap in rows]
        else:
            if rows[0][1] == 0:
                raise file.wrong(rows[0][0], "there is no packet 0", "the first packet is 1")
            ascending(file, rows, what="number", strictly=True)
            numbers = [0, *(number for _line, number in rows)]
            runs = [(after - before - 1, 1) for before, after in pairwise(numbers)]
    runs = _joined(runs)
    if repeat and not any(good + lost for good, lost in runs):
        raise file.wrong(1, "a list without packets cannot loop", "write packets, or at_end: stop")
    return {"law": "runs", "runs": [list(run) for run in runs], "repeat": repeat}


def _times(loss: TraceLoss, file: InputFile, *, repeat: bool) -> Plain:
    """Times are in seconds, or in what the name of the column ends in."""
    rows = _cells(file, loss.column, default=TIME["s"], most=Span.limit)
    ascending(file, rows, what="time", strictly=False)
    times = [at for _line, at in rows]
    period = None
    if repeat:
        if loss.period is not None:
            period = loss.period.ns
        elif len(times) > 1 and times[-1] > times[0]:
            period = times[-1] + max(1, (times[-1] - times[0]) // (len(times) - 1))
        else:
            raise LawError((), "these times do not say when they begin again", "add for example period: 60s")
        if period <= times[-1]:
            what = f"{Span(period)} is not after the last loss, at {Span(times[-1])}"
            raise LawError(("period",), what, "write a longer one")
    return {"law": "times", "times_ns": times, "repeat_ns": period}


def _whole(file: InputFile, column: str | None) -> list[tuple[int, int]]:
    """Line and value of whole numbers."""
    rows = _cells(file, column, default=1, most=_MOST_PACKETS)
    for line, text in file.rows():
        if re.search(r"[0-9]\.[0-9]*[1-9]|[0-9][eE]-", text) and column is None:
            raise file.wrong(line, f'"{text[:40]}" is no whole number', "count packets in whole ones")
    return rows


def _cells(file: InputFile, column: str | None, *, default: int, most: int) -> list[tuple[int, int]]:
    """Line and value of one number a line, or of a column; in ns where ``default`` is a time."""
    if has_header(file):
        table = CsvFile(file)
        wanted = column or table.header[0]
        units = TIME if default != 1 and wanted.rpartition("_")[2] in TIME else PACKETS
        found = table.column(wanted, units, at="column", most=most if units else most // default)
        factor = found.factor if units else default
        return [(line, round(value * factor)) for line, value in found.values]
    if column is not None:
        raise LawError(("column",), "the file has no header", "remove column, or add a header")
    rows = []
    for line, text in file.rows():
        words = re.split(r"[\s,;]+", text)
        if len(words) != 1:
            raise file.wrong(line, f"has {len(words)} values", "write one a line, or a header first")
        rows.append((line, round(file.number(line, words[0], most=most // default) * default)))
    return rows


def _pairs(file: InputFile) -> list[tuple[int, int]]:
    """Lines of how many packets pass and how many are then lost."""
    pairs = []
    for line, text in file.rows():
        words = re.split(r"[\s,;]+", text)
        if len(words) != 2 or not all(word.isascii() and word.isdecimal() for word in words):
            message = f'"{text[:40]}" is not how many pass and how many are lost'
            raise file.wrong(line, message, 'write two whole numbers, as in "120 3"')
        good, lost = (int(file.number(line, word, most=_MOST_PACKETS)) for word in words)
        pairs.append((good, lost))
    return pairs


def _joined(runs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Losses one after another as one run."""
    joined: list[tuple[int, int]] = []
    for good, lost in runs:
        if joined and not good:
            joined[-1] = (joined[-1][0], joined[-1][1] + lost)
        else:
            joined.append((good, lost))
    return joined
