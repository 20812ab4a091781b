"""What a direction becomes in tc's words; limits and bursts against arithmetic."""

import re
from pathlib import Path
from textwrap import dedent, indent

import pytest

from longhaul.export.files import Exported, export
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import ScenarioError, parse_scenario, resolve

DEFAULT = Kernel()
FOLDER = Path(__file__).parents[2] / "scenarios"


def exported(models: str, *, kernel: Kernel = DEFAULT, head: str = "") -> Exported:
    text = f"version: 1\nname: one\nduration: 10s\n{head}"
    text += "nodes: {a: {kind: host}, b: {kind: host}}\nlinks:\n  ab:\n    endpoints: [a, b]\n"
    text += indent(dedent(models).strip(), "    ") + "\n"
    resolved = resolve(parse_scenario(text.encode(), name="one.yaml", folder=FOLDER))
    return export(resolved, "tc", machines=None, kernel=kernel)


def commands(models: str, **more: Kernel) -> list[str]:
    """Of ``a``, after the device."""
    lines = exported(models, **more).files["a.tc"].splitlines()
    return [line.removeprefix("tc qdisc replace dev eth1 ") for line in lines if line.startswith("tc")]


def number(word: str, line: str) -> int:
    found = re.search(rf"\b{word} (\d+)", line)
    assert found, line
    return int(found[1])


def test_netem_holds_more_than_the_bandwidth_delay_product() -> None:
    netem, bucket = commands("delay: 100ms\nrate: 1Gbit")
    # Fig. 4 of eWAN: 1 Gbit/s times 100 ms are 12.5 MB, 8,333 packets of 1500 bytes; netem's default is 1000.
    assert number("limit", netem) > 8334
    # What a line of 10 Gbit/s brings in 100 ms, twice.
    assert number("limit", netem) == 2 * -(-(10**10) // 80 // 1500) - 1
    assert bucket.startswith("parent 1:1 handle 10: ")


def test_a_faster_line_fills_netem_faster() -> None:
    (slow,) = commands("delay: 100ms", kernel=Kernel(line_bits_per_s=10**9))
    (fast,) = commands("delay: 100ms", kernel=Kernel(line_bits_per_s=10**11))
    assert number("limit", fast) == pytest.approx(100 * number("limit", slow), rel=1e-3)


def test_a_short_delay_keeps_netems_own_limit() -> None:
    assert commands("delay: 15us") == ["root handle 1: netem limit 1000 delay 15us"]


@pytest.mark.parametrize("hz", [100, 250, 1000])
def test_a_bucket_holds_what_its_rate_sends_in_a_tick(hz: int) -> None:
    (bucket,) = commands("rate: 1Gbit", kernel=Kernel(hz=hz))
    assert number("burst", bucket) == 10**9 // 8 // hz


def test_a_slow_bucket_holds_two_packets() -> None:
    (bucket,) = commands("rate: 1Mbit\nmtu: 9000")
    assert number("burst", bucket) == 2 * 9000


def test_a_written_burst_is_kept_and_the_queue_is_the_limit() -> None:
    (bucket,) = commands("rate: {bucket: 100Mbit, burst: 15400000B}\nqueue: 1ms")
    assert bucket == "root handle 10: stab overhead -14 tbf rate 100mbit burst 15400000 limit 12500"


def test_a_burst_below_a_tick_is_told() -> None:
    found = exported("rate: {bucket: 100Mbit, burst: 15400B}")
    assert len(found.warnings) == 1
    assert "one.yaml:8:5: links.ab.rate: a burst of 15400 bytes may not reach" in found.warnings[0].headline
    assert not exported("rate: {bucket: 100Mbit, burst: 15400B}", kernel=Kernel(hz=1000)).warnings


@pytest.mark.parametrize(
    ("count", "words"), [("ip", "overhead -14"), ("ethernet", "overhead 24"), ("vlan", "overhead 28")]
)
def test_the_bucket_counts_what_the_link_counts(count: str, words: str) -> None:
    # tc sees 14 bytes of Ethernet beside IP's: 38 - 14 = 24 are left of preamble, header, FCS and gap.
    (bucket,) = commands(f"rate: 1Gbit\ncount: {count}")
    assert f"stab {words} tbf" in bucket


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ("delay: {base: 10ms, jitter: {dist: uniform, half_width: 1ms}, reorder: true}", "delay 10ms 1ms"),
        (
            "delay: {base: 10ms, jitter: {dist: normal, sd: 250us}, reorder: true}",
            "delay 10ms 250us distribution normal",
        ),
        ("loss: 0.02%", "loss 0.02%"),
        # r = 1 / 4 and p = 0.02 / 4 / 0.98.
        ("loss: {model: gilbert-elliott, mean: 2%, burst: 4}", "loss gemodel 0.510204082% 25%"),
        (
            "loss: {model: markov, good_to_bad: 1%, bad_to_good: 30%, loss_good: 0.1%, loss_bad: 80%}",
            "loss gemodel 1% 30% 80% 0.1%",
        ),
        ("loss: {model: four-state, p13: 1%, p31: 30%}", "loss state 1% 30% 0% 100% 0%"),
        ("delay: 5ms\nreordering: {gap: 5, early: 25%}", "delay 5ms reorder 25% gap 5"),
        ("duplicate: 1%\ncorrupt: 0.01%", "duplicate 1% corrupt 0.01%"),
        ("up: false", "loss 100%"),
    ],
)
def test_netem_gets_the_model_in_its_words(models: str, words: str) -> None:
    (netem,) = commands(models)
    assert re.fullmatch(rf"root handle 1: netem limit \d+ {re.escape(words)}", netem), netem
    assert not exported(models).warnings


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ("100p", "pfifo limit 100"),
        ("{kind: codel, limit: 1000p}", "codel limit 1000 target 5ms interval 100ms"),
        (
            "{kind: fq-codel, limit: 1000p}",
            "fq_codel limit 1000 target 5ms interval 100ms flows 1024 quantum 1514",
        ),
        ("{kind: head-drop, limit: 150kB}", "pfifo_head_drop limit 100"),
        # RFC 8033 has alpha 0.125 and beta 1.25; tc counts sixteenths.
        ("{kind: pie, limit: 1000p}", "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20"),
    ],
)
def test_a_queue_is_the_buckets_child(queue: str, words: str) -> None:
    _bucket, child = commands(f"rate: 1Gbit\nqueue: {queue}")
    assert child.startswith(f"parent 10:1 handle 20: {words}"), child


@pytest.mark.parametrize(
    ("models", "line", "words"),
    [
        ("loss: {model: periodic, every: 100}", 8, "links.ab.loss: netem has no such losses (periodic)"),
        ("loss: {preset: teragrid}", 8, "links.ab.loss: netem has no such losses (renewal)"),
        ("loss: {model: correlated, mean: 1%, correlation: 0.3}", 8, "loses far less than its mean"),
        (
            "delay: {base: 1ms, jitter: {dist: pareto, shape: 3, mean: 1ms}}",
            8,
            "netem has no pareto jitter",
        ),
        ("delay: {base: 300us, ticks: {hz: 8192, rounding: nearest}}", 8, "netem has no coarse clock"),
        ("rate: {opportunities: traces/cell.up}", 8, "tc cannot follow a trace of rates"),
        ("rate: 1Gbit\nqueue: {kind: drr}", 9, "needs classes of traffic in tc; write fq-codel"),
        ("delay: 1ms\nreordering: {share: 1%, delay: 5ms}", 9, "not by delaying them"),
        ("routes: {count: 4, policy: round-robin, rate: 1Gbit}", 8, "tc has no parallel routes"),
    ],
)
def test_what_tc_cannot_express_is_refused_with_its_place(
    models: str, line: int, words: str, tmp_path: Path
) -> None:
    if "traces/cell.up" in models:
        (tmp_path / "cell.up").write_text("1\n2\n")
        models = models.replace("traces/cell.up", str(tmp_path / "cell.up"))
    with pytest.raises(ScenarioError) as caught:
        exported(models)
    text = str(caught.value)
    assert text.startswith(f"one.yaml:{line}:"), text
    assert words in text
    assert "; " in text.splitlines()[0]


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ("delay: {base: 10ms, jitter: {dist: normal, sd: 1ms}}", "changes the order of packets"),
        (
            "loss: {model: independent, mean: 1%, position: egress}\nrate: 1Gbit",
            "before the queue, not after it",
        ),
        (
            "rate: {paced: 500Mbit, line_rate: 1Gbit}",
            "tc has no pacing: a bucket of 250000 bytes takes its place",
        ),
        (
            "rate: 1Gbit\nqueue: {kind: red, min: 30p, max: 90p, limit: 200p, gentle: false, weight: 0.003}",
            "powers of 2: 0.00390625, not 0.003",
        ),
        (
            "rate: 1Gbit\nqueue: {kind: red, min: 30p, max: 90p, limit: 200p, gentle: false, weight: 1e-12}",
            "powers of 2: 4.65661e-10, not 1e-12",
        ),
        ("rate: 1Gbit\nqueue: {kind: red, min: 30p, max: 90p, limit: 200p}", "drops every packet above max"),
    ],
)
def test_what_tc_expresses_roughly_is_told(models: str, words: str) -> None:
    warnings = [each.headline for each in exported(models).warnings]
    assert len(warnings) == 1
    assert words in warnings[0]


@pytest.mark.parametrize("shift", [1, 4, 9, 12, 31])
def test_tc_chooses_the_weight_of_the_scenario(shift: int) -> None:
    queue = f"{{kind: red, min: 30p, max: 90p, limit: 200p, gentle: false, weight: {2**-shift}}}"
    (red,) = (line for line in commands(f"rate: 1Gbit\nqueue: {queue}") if " red " in line)
    least, packet, burst = (number(word, red) for word in ("min", "avpkt", "burst"))

    # As tc does: the first weight W from 1/2 down with burst + 1 - min <= (1 - (1 - W)^burst) / W.
    beyond = burst + 1 - least / packet
    chosen = next(each for each in range(1, 32) if beyond <= (1 - (1 - 2.0**-each) ** burst) / 2.0**-each)
    assert chosen == shift


def test_what_runs_on_the_network_is_left_out_and_told() -> None:
    head = "traffic: {t: {kind: ping, from: a, to: b}}\nevents: [{at: 1s, link: ab, down: 100ms}]\n"
    warnings = [each.headline for each in exported("delay: 1ms", head=head).warnings]
    assert [warning.split(": ", 2)[1] for warning in warnings] == ["traffic", "events"]
