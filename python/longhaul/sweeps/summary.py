"""The result of a sweep: a mean with its confidence interval for every variant and metric; when to stop."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from longhaul.analysis.estimates import estimate_groups, number_results
from longhaul.analysis.fidelity import Verdict
from longhaul.scenario.model.metrics import matching_metrics, unit_of
from longhaul.scenario.model.sweep import Until
from longhaul.sweeps.columns import MEASURES, PRINTED

MOST_DRAWN = 5000
"""Rows of a summary that are drawn or shown, and variants whose runs to come are; the file has all."""


def summarise(parts: Sequence[Path], patterns: Iterable[str], *, axes: Sequence[str] = ()) -> pa.Table:
    """A row for every variant and metric that ``patterns`` name.

    Columns: ``variant``, those of ``axes``, ``metric``, ``unit``, ``mean``, ``half_width`` of the mean's 95 %
    confidence interval (Student's t; null for one run, and where no run differs), ``sd``, ``least``,
    ``most``, ``runs`` (independent ones: those with equal digests count once) and ``repeats`` (all of them).
    """
    wanted = tuple(patterns)
    found = pa.concat_tables([_read(part, wanted, axes) for part in parts])
    estimates = [
        _estimates(rows, column, metric)
        for item in pc.unique(found["item"]).to_pylist()
        if item is not None
        for rows in [found.filter(pc.equal(found["item"], item))]
        for metric, column in _metrics(item, rows, wanted)
    ]
    if not estimates:
        return _SCHEMA.empty_table()
    summary = pa.concat_tables(estimates).sort_by([("variant", "ascending"), ("metric", "ascending")])
    if not axes:
        return summary
    values = found.group_by("variant", use_threads=False).aggregate([(axis, "min") for axis in axes])
    named = values.rename_columns([name.removesuffix("_min") for name in values.column_names])
    joined = named.join(summary, "variant", join_type="inner", use_threads=False)
    return joined.sort_by([("variant", "ascending"), ("metric", "ascending")]).select(
        ["variant", *axes, *_SCHEMA.names[1:]]
    )


def _read(part: Path, wanted: Sequence[str], axes: Sequence[str]) -> pa.Table:
    """The rows of a part that some of the metrics wanted may be in, without those of invalid runs."""
    columns = dict.fromkeys(
        [
            *("variant", "item", "digest", "verdict"),
            *axes,
            *(column for column, _kind in MEASURES.values()),
            PRINTED,
        ]
    )
    present = pq.read_schema(part).names
    rows = pq.read_table(part, columns=[each for each in columns if each in present])
    if "verdict" in present:
        verdict = pc.field("verdict")
        rows = rows.filter(verdict.is_null() | (verdict != "invalid"))
    items = [
        item
        for item in pc.unique(rows["item"]).to_pylist()
        if item is not None and any(matching_metrics(each, _names(item)) for each in wanted)
    ]
    return rows.filter(pc.is_in(rows["item"], value_set=pa.array(items, pa.string())))


def _names(item: str) -> list[str]:
    return [item, *(f"{item}.{measure}" for measure in MEASURES)]


def count_points(parts: Sequence[Path]) -> tuple[int, int]:
    """How many runs the parts have, and how many of them failed."""
    points = failed = 0
    for part in parts:
        rows = pq.read_table(part, columns=["variant", "repeat", "error"])
        points += rows.group_by(["variant", "repeat"]).aggregate([]).num_rows
        failed += len(rows) - rows["error"].null_count
    return points, failed


def variants_without_runs(parts: Sequence[Path], variants: int) -> list[int]:
    """Those of so many variants of which no part has a run."""
    seen: set[int] = set()
    for part in parts:
        seen.update(map(int, pc.unique(pq.read_table(part, columns=["variant"])["variant"]).to_numpy()))
    return [variant for variant in range(variants) if variant not in seen]


def count_verdicts(parts: Sequence[Path]) -> dict[str, int]:
    """How many runs have each verdict on their fidelity, the best first; empty for simulations."""
    found: Counter[str] = Counter()
    for part in parts:
        if "verdict" in pq.read_schema(part).names:
            rows = pq.read_table(part, columns=["variant", "repeat", "verdict"])
            runs = rows.filter(pc.is_valid(rows["verdict"])).group_by(["variant", "repeat", "verdict"])
            found.update(map(str, runs.aggregate([])["verdict"].to_pylist()))
    return {verdict: found[verdict] for verdict in get_args(Verdict) if found[verdict]}


def first_errors(parts: Sequence[Path], *, most: int = 5) -> list[tuple[int, int, str]]:
    """Variant, repetition and error of the first runs that failed."""
    found: list[tuple[int, int, str]] = []
    for part in parts:
        rows = pq.read_table(part, columns=["variant", "repeat", "error"])
        failed = rows.filter(pc.is_valid(rows["error"])).to_pylist()
        found += [(row["variant"], row["repeat"], row["error"]) for row in failed]
        if len(found) >= most:
            break
    return found[:most]


def _metrics(item: str, rows: pa.Table, wanted: Sequence[str]) -> list[tuple[str, str]]:
    """The metrics of ``item`` that were measured and are wanted, with their columns."""
    columns = {
        f"{item}.{measure}": column
        for measure, (column, _kind) in MEASURES.items()
        if column in rows.column_names and rows[column].null_count < len(rows)
    }
    if PRINTED in rows.column_names and rows[PRINTED].null_count < len(rows):
        columns[item] = PRINTED
    names = dict.fromkeys(name for pattern in wanted for name in matching_metrics(pattern, columns))
    return [(name, columns[name]) for name in names]


def _estimates(rows: pa.Table, column: str, metric: str) -> pa.Table:
    measured = rows.filter(pc.is_valid(rows[column]))
    variants, groups = np.unique(measured["variant"].to_numpy(), return_inverse=True)
    values = pc.cast(measured[column], pa.float64()).to_numpy()
    results = number_results(measured["digest"].to_pylist())
    found = estimate_groups(groups, values, results, count=len(variants))
    several = found.repeats > 1
    return pa.Table.from_arrays(
        [
            pa.array(variants),
            pa.repeat(metric, len(variants)),
            pa.repeat(unit_of(metric), len(variants)),
            pa.array(found.mean),
            pa.array(found.half_width, from_pandas=True),
            pa.array(np.where(several, np.sqrt(found.variance), np.nan), from_pandas=True),
            pa.array(found.least),
            pa.array(found.most),
            pa.array(found.runs, pa.int64()),
            pa.array(found.repeats, pa.int64()),
        ],
        schema=_SCHEMA,
    )


_FIELDS: list[tuple[str, pa.DataType]] = [
    ("variant", pa.int64()),
    ("metric", pa.string()),
    ("unit", pa.string()),
    ("mean", pa.float64()),
    ("half_width", pa.float64()),
    ("sd", pa.float64()),
    ("least", pa.float64()),
    ("most", pa.float64()),
    ("runs", pa.int64()),
    ("repeats", pa.int64()),
]
_SCHEMA = pa.schema(_FIELDS)


MOST_GROWTH = 2.0
"""By which the runs of a variant are multiplied at most in a round: the first estimates are rough."""


def more_runs(until: Until, parts: Sequence[Path], runs: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """For each variant that needs more: the first repetition to add, and how many.

    ``parts`` hold all rounds so far; ``runs`` says how many repetitions each variant has had.
    """
    table = summarise(parts, [until.metric]).select(["variant", "mean", "half_width", "repeats"]).to_pydict()
    wanted: dict[int, int] = {}
    for variant, mean, half_width, measured in zip(*table.values(), strict=True):
        had = runs[variant]
        need = _need(had, measured, mean, half_width, float(until.within))
        wanted[variant] = max(wanted.get(variant, 0), min(need, until.at_most))
    return {
        variant: (runs[variant], need - runs[variant])
        for variant, need in sorted(wanted.items())
        if need > runs[variant]
    }


def _need(had: int, measured: int, mean: float, half_width: float | None, within: float) -> int:
    """How many repetitions the variant should have after the next round; ``had`` if that is enough."""
    most = math.ceil(had * MOST_GROWTH)
    if half_width is None:
        return most if measured == 1 else had
    if half_width <= within * abs(mean):
        return had
    ratio = half_width / (within * abs(mean)) if mean else math.inf
    return max(had + 1, min(most, math.ceil(had * min(ratio, MOST_GROWTH) ** 2)))
