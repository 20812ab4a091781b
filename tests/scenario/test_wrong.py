"""Wrong scenarios: each gives its address and its remedy, and never a traceback.

`LONGHAUL_BLESS=1 pytest tests/scenario` writes the expected texts anew; read them before committing.
"""

import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.scenario import ScenarioError, parse_scenario, resolve
from longhaul.scenario.model.topology import KINDS

OPTIONS = [
    "hosts",
    "sites",
    "routers",
    "left",
    "size",
    "k",
    "access",
    "wan",
    "mtu",
    "addresses",
    "join",
    "seed",
    "style",
]
WRONG = Path(__file__).parent / "wrong"
FOLDER = WRONG.parents[2] / "scenarios"
GOOD = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))

if os.environ.get("LONGHAUL_FUZZ"):
    settings.register_profile("long", max_examples=20_000, deadline=None)
settings.register_profile("short", max_examples=300, deadline=None)
settings.load_profile("long" if os.environ.get("LONGHAUL_FUZZ") else "short")


def message(content: bytes, name: str) -> str:
    """What is wrong with ``content``; fails when nothing is."""
    with pytest.raises(ScenarioError) as caught:
        resolve(parse_scenario(content, name=name, folder=WRONG))
    return str(caught.value)


@pytest.mark.parametrize("path", sorted(WRONG.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_wrong_scenario_is_refused_with_its_golden_text(path: Path) -> None:
    text = message(path.read_bytes(), path.name) + "\n"
    golden = path.with_suffix(".txt")
    if os.environ.get("LONGHAUL_BLESS"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(WRONG.glob("*.txt")), ids=lambda path: path.stem)
def test_every_golden_text_has_place_and_remedy(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    address = rf"({path.stem}\.yaml|(traces|recorded|lists)/[a-z-]+\.\w+):\d+:\d+"
    assert re.match(rf"{address}: .+(; |\? ?).*", first), first
    assert len(first) < 150


def outcome(content: bytes) -> str:
    """``good``, or the message; anything but our own error fails the test."""
    try:
        resolve(parse_scenario(content, name="fuzz.yaml", folder=FOLDER))
    except LonghaulError as error:
        return str(error) or "an error without words"
    return "good"


@given(st.binary(max_size=400))
@example(b"\x00")
@example(b"&a [*a]")
@example(b"? {[]: {}}\n: !!python/object:os.system x")
@example(b"version: 1\nname: t\nnodes: {a..: {kind: host}}\n")
def test_any_bytes_are_refused_without_a_traceback(content: bytes) -> None:
    assert outcome(content) != "good"


SCALARS = st.one_of(
    st.sampled_from(
        [
            "5ms",
            "5",
            "-1ms",
            "1e400",
            "1Gbit",
            "100Mbps",
            "0.1%",
            "101%",
            "1bdp",
            "100p",
            "64MiB",
            "host",
            "router",
            "a",
            "b",
            "a1..3",
            "a..b",
            "~",
            "null",
            "true",
            "yes",
            "$p",
            "$$",
            "cubic",
            "fifo",
            "head-drop",
            "red",
            "codel",
            "fq-codel",
            "pie",
            "drr",
            "priority",
            "ef",
            "default",
            "gilbert-elliott",
            "markov",
            "four-state",
            "correlated",
            "renewal",
            "trace",
            "teragrid",
            "weibull",
            "pareto",
            "lognormal",
            "exponential",
            "empirical",
            "table",
            "packets",
            "busy",
            "indices",
            "ns2",
            "loop",
            "end",
            "linear",
            "nearest",
            "after",
            "round-robin",
            "weighted",
            "flowlet",
            "vlan-block",
            "atm",
            "dumbbell",
            "sites",
            "torus",
            "fat-tree",
            "barabasi-albert",
            "end-node",
            "core",
            "every-model.yaml",
            "traces/delay.csv",
            "/dev/zero",
            "..",
            "normal",
            "9000",
            "1279",
            "0x10",
            ".inf",
            ".nan",
            "2026-11-21",
            "999999999999999999999s",
            "1..100000000",
        ]
    ),
    st.text(max_size=8),
)
KEYS = st.sampled_from(
    [
        "version",
        "name",
        "seed",
        "duration",
        "params",
        "profiles",
        "nodes",
        "links",
        "traffic",
        "programs",
        "events",
        "measure",
        "expect",
        "routes",
        "kind",
        "attach",
        "profile",
        "at",
        "endpoints",
        "delay",
        "base",
        "jitter",
        "dist",
        "sd",
        "loss",
        "model",
        "mean",
        "burst",
        "rate",
        "queue",
        "limit",
        "mtu",
        "forward",
        "reverse",
        "from",
        "to",
        "every",
        "run",
        "host",
        "start",
        "stop",
        "link",
        "set",
        "over",
        "down",
        "metric",
        "min",
        "max",
        "equals",
        "a",
        "b",
        "a1..3",
        "addresses",
        "tcp",
        "count",
        "reorder",
        "duplicate",
        "corrupt",
        "place",
        "preset",
        "gap",
        "unit",
        "shape",
        "scale",
        "low",
        "high",
        "values",
        "file",
        "column",
        "form",
        "at_end",
        "period",
        "packets",
        "correlation",
        "good_to_bad",
        "bad_to_good",
        "p13",
        "p31",
        "trace",
        "time",
        "interpolate",
        "ticks",
        "hz",
        "rounding",
        "reordering",
        "share",
        "early",
        "paced",
        "line",
        "bucket",
        "peak",
        "opportunities",
        "bytes",
        "probability",
        "weight",
        "ecn",
        "target",
        "interval",
        "quantum",
        "flows",
        "bands",
        "policy",
        "each",
        "delays",
        "weights",
        "key",
        "resequence",
        "wait",
        "route",
        "topology",
        "left",
        "sites",
        "size",
        "k",
        "routers",
        "hosts",
        "access",
        "wan",
        "join",
        "function",
    ]
)


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    """Flow-style YAML of the language's own words in the wrong places."""
    kind = draw(st.integers(0, 3 if depth else 0))
    if kind == 0:
        return (
            '"' + draw(SCALARS).replace("\\", "").replace('"', "") + '"'
            if draw(st.booleans())
            else draw(SCALARS)
        )
    parts = draw(st.lists(trees(depth=depth - 1), max_size=4))
    if kind == 1:
        return "[" + ", ".join(parts) + "]"
    return "{" + ", ".join(f"{draw(KEYS)}: {part}" for part in parts) + "}"


@given(st.dictionaries(KEYS, trees(), max_size=6))
def test_fuzzed_words_of_the_language_never_give_a_traceback(sections: dict[str, str]) -> None:
    lines = ["version: 1", "name: t", *(f"{key}: {value}" for key, value in sections.items())]
    outcome("\n".join(lines).encode())


@given(st.sampled_from(["loss", "delay", "rate", "queue", "reordering", "routes", "count"]), trees(depth=2))
def test_fuzzed_models_of_a_sound_link_never_give_a_traceback(model: str, value: str) -> None:
    head = "version: 1\nname: t\nduration: 1s\nnodes: {a: {kind: host}, b: {kind: host}}\n"
    link = f"links: {{w: {{endpoints: [a, b], {model}: {value}}}}}\n"
    event = f"events: [{{at: 0.1s, link: w, set: {{{model}: {value}}}, over: 20ms}}]\n"
    outcome((head + link).encode())
    outcome((head + "links: {w: {endpoints: [a, b]}}\n" + event).encode())


@given(st.sampled_from(GOOD), st.integers(0, 10_000), st.integers(0, 40), st.text(max_size=6))
def test_fuzzed_edits_of_good_scenarios_never_give_a_traceback(
    path: Path, at: int, cut: int, text: str
) -> None:
    content = path.read_text(encoding="utf-8")
    at %= len(content)
    outcome((content[:at] + text + content[at + cut :]).encode("utf-8", errors="replace"))


@given(
    st.sampled_from(KINDS),
    st.dictionaries(st.sampled_from(OPTIONS), trees(depth=2), max_size=4),
    st.dictionaries(st.sampled_from(["nodes", "links", "routes", "profiles"]), trees(depth=2), max_size=2),
)
def test_fuzzed_topologies_never_give_a_traceback(
    kind: str, options: dict[str, str], sections: dict[str, str]
) -> None:
    inner = "".join(f", {key}: {value}" for key, value in options.items())
    lines = ["version: 1", "name: t", "duration: 1s", f"topology: {{kind: {kind}{inner}}}"]
    outcome("\n".join([*lines, *(f"{key}: {value}" for key, value in sections.items())]).encode())
