"""Loss models of the plan."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import assert_never

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models.distribution import (
    distribution_mean,
    needed_mean,
    plan_distribution,
)
from longhaul.scenario.model.loss import (
    BlockLoss,
    BusyRenewalLoss,
    ByteRenewalLoss,
    CorrelatedLoss,
    FourStateLoss,
    GilbertElliottLoss,
    IndependentLoss,
    Loss,
    MarkovLoss,
    NoLoss,
    PacketRenewalLoss,
    PeriodicLoss,
    PresetLoss,
    TraceLoss,
    WallRenewalLoss,
)
from longhaul.scenario.syntax.csv_file import PACKETS, SIZE, TIME, CsvFile, InputFile, ascending, has_header
from longhaul.scenario.syntax.value_errors import ScenarioValueError, within
from longhaul.units.quantities import Span
from longhaul.units.text import count_text

_ONE: planned.Distribution = {"dist": "constant", "value": 1.0}
_MOST_PACKETS = 10**12
_TERAGRID_SHAPE = 2.9
# Times between losses on TeraGrid paths (Hacker and Smith 2008): Weibull, printed with shape 2.9 and scale
# 0.3, without a unit. Minutes (18 s) agree best with the throughput in the same paper: the mean,
# scale * Gamma(1 + 1 / 2.9), is then 16.05 s. Taken as seconds it is 0.2675 s, by the clock or, as ns-2
# counted, in the time that packets take at 10 Gbit/s.
PRESETS: Mapping[str, tuple[float, planned.GapUnit]] = {
    "teragrid": (18e9, "wall"),
    "teragrid-literal-seconds": (0.3e9, "wall"),
    "teragrid-busy-10g": (0.3e9, {"busy": {"bits_per_s": 10**10}}),
}


def plan_loss(loss: Loss | None, inputs: Inputs) -> planned.LossModel:
    """A loss model of the plan; raises :class:`ScenarioValueError` and :class:`FileError`."""
    match loss:
        case None | NoLoss():
            return {"model": "none"}
        case IndependentLoss() | GilbertElliottLoss() | CorrelatedLoss() if not loss.mean.share:
            return {"model": "none"}
        case IndependentLoss():
            return {"model": "independent", "probability": float(loss.mean)}
        case BlockLoss():
            return {"model": "one-per-block", "block": loss.packets}
        case PeriodicLoss():
            return {"model": "periodic", "every": loss.every}
        case GilbertElliottLoss():
            return {"model": "gilbert-elliott", "mean": float(loss.mean), "burst": loss.burst}
        case MarkovLoss():
            return {
                "model": "markov",
                "good_to_bad": float(loss.good_to_bad),
                "bad_to_good": float(loss.bad_to_good),
                "loss_good": float(loss.loss_good),
                "loss_bad": float(loss.loss_bad),
            }
        case FourStateLoss():
            return {
                "model": "four-state",
                "p13": float(loss.p13),
                "p31": float(loss.p31),
                "p32": float(loss.p32),
                "p23": float(loss.p23),
                "p14": float(loss.p14),
            }
        case CorrelatedLoss():
            return {
                "model": "correlated",
                "mean": float(loss.mean),
                "correlation": float(loss.correlation),
            }
        case PacketRenewalLoss() | ByteRenewalLoss() | WallRenewalLoss() | BusyRenewalLoss():
            return _renewal(loss, inputs)
        case PresetLoss():
            scale, unit = PRESETS[loss.preset]
            gap: planned.Distribution = {"dist": "weibull", "shape": _TERAGRID_SHAPE, "scale": scale}
            return {"model": "renewal", "gap": gap, "burst": _ONE, "unit": unit}
        case TraceLoss():
            return _traced(loss, inputs)
        case _:
            assert_never(loss)


def mean_loss(loss: planned.LossModel) -> float | None:
    """The share that a model of the plan loses in the long run; ``None`` where time decides."""
    match loss["model"]:
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
        case "four-state":
            return _mean_of_four_states(loss)
        case "renewal":
            if loss["unit"] != "packets":
                return None
            gap, burst = distribution_mean(loss["gap"]), distribution_mean(loss["burst"])
            # From one point to the next are gap packets, the first of a burst among them.
            return min(burst / (gap + burst - 1), 1.0) if gap + burst > 1 else None
        case "runs":
            if not loss["repeat"]:
                return None
            lost = sum(each for _good, each in loss["runs"])
            return float(lost / sum(good + each for good, each in loss["runs"]))
        case "times":
            return None
        case _:
            assert_never(loss)


def _mean_of_four_states(loss: planned.FourStateLossModel) -> float:
    """(w3 + w4) / sum(w) of the long-run weights of the states: ``docs/models/loss-markov.md``."""
    if loss["p13"] and loss["p32"] and not loss["p23"]:
        # The chain enters state 2, which receives all packets, and never leaves it.
        return 0.0
    if loss["p13"] and not loss["p31"]:
        # The chain enters states 2 and 3, and never returns to state 1.
        within, gap, alone = 1.0, 0.0, 0.0
    else:
        within, gap, alone = loss["p13"] / loss["p31"] if loss["p13"] else 0.0, 1.0, loss["p14"]
    received = within * loss["p32"] / loss["p23"] if within and loss["p32"] else 0.0
    return (within + alone) / (gap + received + within + alone)


def _renewal(
    loss: PacketRenewalLoss | ByteRenewalLoss | WallRenewalLoss | BusyRenewalLoss, inputs: Inputs
) -> planned.LossModel:
    units = {"packets": PACKETS, "bytes": SIZE, "wall": TIME, "busy": TIME}[loss.unit]
    with within("gap"):
        gap = plan_distribution(loss.gap, inputs, units)
        mean = needed_mean(gap)
    with within("burst"):
        burst = plan_distribution(loss.burst, inputs, PACKETS)
        needed_mean(burst)
    if mean < 0:
        raise ScenarioValueError(
            Code.LOSS_IMPOSSIBLE, ("gap",), "is below zero on average", "write larger gaps"
        )
    if loss.unit != "packets" and mean == 0:
        raise ScenarioValueError(Code.LOSS_IMPOSSIBLE, ("gap",), "is always zero", "write a gap above zero")
    unit: planned.GapUnit = (
        {"busy": {"bits_per_s": loss.rate.bits_per_s}} if isinstance(loss, BusyRenewalLoss) else loss.unit
    )
    model: planned.RenewalLossModel = {"model": "renewal", "gap": gap, "burst": burst, "unit": unit}
    if isinstance(loss, WallRenewalLoss) and loss.lasts is not None:
        return {**model, "lasts_ns": loss.lasts.ns}
    return model


def _traced(loss: TraceLoss, inputs: Inputs) -> planned.LossModel:
    file = inputs.file(loss.file, at="file")
    repeat = loss.at_end == "loop"
    match loss.form:
        case "times":
            return _times(loss, file, repeat=repeat)
        case "ns2":
            runs = _pairs(file)
        case "gaps":
            runs = [(gap, 1) for _line, gap in _whole(file, loss.column)]
        case "indices":
            rows = _whole(file, loss.column)
            if rows[0][1] == 0:
                raise file.wrong(
                    Code.CELL_INVALID, rows[0][0], "there is no packet 0", "the first packet is 1"
                )
            ascending(file, rows, what="number", strictly=True)
            numbers = [0, *(number for _line, number in rows)]
            runs = [(after - before - 1, 1) for before, after in pairwise(numbers)]
        case _:
            assert_never(loss.form)
    runs = _joined(runs)
    if repeat and not any(good + lost for good, lost in runs):
        raise file.wrong(
            Code.TRACE_UNUSABLE, 1, "a list without packets cannot loop", "write packets, or at_end: stop"
        )
    return {"model": "runs", "runs": [list(run) for run in runs], "repeat": repeat}


def _times(loss: TraceLoss, file: InputFile, *, repeat: bool) -> planned.LossModel:
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
            raise ScenarioValueError(
                Code.TRACE_UNUSABLE,
                (),
                "these times do not say when they begin again",
                "add for example period: 60s",
            )
        if period <= times[-1]:
            what = f"{Span(period)} is not after the last loss, at {Span(times[-1])}"
            raise ScenarioValueError(Code.TRACE_UNUSABLE, ("period",), what, "write a longer one")
    return {"model": "times", "times_ns": times, "repeat_ns": period}


def _whole(file: InputFile, column: str | None) -> list[tuple[int, int]]:
    """Line and value of whole numbers."""
    rows = _cells(file, column, default=1, most=_MOST_PACKETS)
    for line, text in file.rows():
        if re.search(r"[0-9]\.[0-9]*[1-9]|[0-9][eE]-", text) and column is None:
            raise file.wrong(
                Code.CELL_INVALID, line, f'"{text[:40]}" is not a whole number', "count packets in whole ones"
            )
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
        raise ScenarioValueError(
            Code.COLUMN_UNKNOWN, ("column",), "the file has no header", "remove column, or add a header"
        )
    rows = []
    for line, text in file.rows():
        words = re.split(r"[\s,;]+", text)
        if len(words) != 1:
            raise file.wrong(
                Code.ROW_MALFORMED,
                line,
                f"has {count_text(len(words), 'value')}",
                "write one a line, or a header first",
            )
        rows.append((line, round(file.number(line, words[0], most=most // default) * default)))
    return rows


def _pairs(file: InputFile) -> list[tuple[int, int]]:
    """Lines of how many packets pass and how many are then lost."""
    pairs = []
    for line, text in file.rows():
        words = re.split(r"[\s,;]+", text)
        if len(words) != 2 or not all(word.isascii() and word.isdecimal() for word in words):
            message = f'"{text[:40]}" is not how many pass and how many are lost'
            raise file.wrong(Code.ROW_MALFORMED, line, message, 'write two whole numbers, as in "120 3"')
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
