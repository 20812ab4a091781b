"""Changes of the network in results: phases beside their own configuration, changes named and marked."""

import json
import re

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from embedded import embedded_charts, panels

import longhaul
from longhaul.cli.main import longhaul as command
from longhaul.results.summary import write_results

S, MS = 10**9, 10**6
CHANGED = """
version: 1
name: changed
duration: 4s
nodes: {r: {kind: router}, s: {kind: router}, a: {kind: host, attach: r}, b: {kind: host, attach: s}}
links: {wan: {endpoints: [r, s], delay: 35ms, rate: 10Mbit}}
traffic:
  load: {kind: udp, from: a, to: b, rate: 2Mbit}
  probe: {kind: ping, from: a, to: b, every: 20ms}
events:
  - {at: 1s, link: wan, set: {delay: 80ms, rate: 5Mbit}}
  - {at: 2s, link: wan, down: 500ms}
  - {at: 3s, link: wan, set: {delay: 40ms}, over: 200ms}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Result:
    """A run whose link ann took down and brought up by hand, as its record says."""
    place = tmp_path_factory.mktemp("changed")
    (place / "changed.yaml").write_text(CHANGED)
    directory = longhaul.run_sim(place / "changed.yaml", runs=place / "runs", report=False).directory
    record = directory / "raw" / "changes.jsonl"
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    for row in rows:
        if row["cause"]["position"] == 1:
            row["cause"] = {"by": "cli", "user": "ann", "words": ["up" if row["change"]["up"] else "down"]}
    record.write_text("".join(json.dumps(row) + "\n" for row in rows))
    # What is changed without one counts as damage.
    (directory / "manifest.json").unlink()
    assert CliRunner().invoke(command, ["report", str(directory)]).exit_code == 0
    return longhaul.Result(directory, json.loads((directory / "summary.json").read_text()), 0)


def page(run: longhaul.Result) -> str:
    return (run.directory / "report.html").read_text()


def test_each_phase_of_a_link_is_measured_against_its_own_delay(run: longhaul.Result) -> None:
    phases = run.link("wan")["phases"]
    assert [(each["from_ns"] / S, each["gradual"]) for each in phases] == [
        (0, False),
        (1, False),
        (2, False),
        (2.5, False),
        (3.01, True),
        (3.2, False),
    ]
    met = [each for each in phases if each["measured"]["entered_packets"]]
    assert [each["measured"]["delay_ns"] for each in met] == pytest.approx(
        [each["configured"]["delay_ns"] for each in met], abs=1
    )
    assert phases[2]["configured"]["up"] is False
    assert phases[2]["measured"]["down_packets"] == phases[2]["measured"]["offered_packets"] > 0
    assert (
        sum(each["measured"]["offered_packets"] for each in phases) == run.link("wan")["packets"]["offered"]
    )


def test_no_row_has_a_mean_beside_another_configuration(run: longhaul.Result) -> None:
    row = next(each for each in re.findall(r"<tr>.*?</tr>", page(run)) if "r &gt; s" in each)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells[1:3] == ["35 → 80 → 40 ms"] * 2
    assert cells[4] == "10 → 5 Mbit/s"


def test_pings_are_compared_with_the_delays_that_they_met(run: longhaul.Result) -> None:
    probe = run.probe("probe")
    assert probe["path_rtt_ns"] == 70 * MS
    assert probe["path_rtt_steps"][:2] == [[0, 70 * MS], [S, 160 * MS]]
    for quantile in ("min", "p50", "max"):
        configured, measured = probe[f"path_rtt_{quantile}_ns"], probe[f"rtt_{quantile}_ns"]
        assert 0 <= measured - configured < 5 * MS


def test_utilisation_follows_the_rate_that_was_set(run: longhaul.Result) -> None:
    table = pq.read_table(run.directory / "links.parquet", filters=[("link", "==", "wan")]).to_pydict()
    used = [
        round(share, 2)
        for at_s, way, share in zip(table["t_s"], table["way"], table["utilisation"], strict=True)
        if way == "forward" and (0.5 < at_s < 0.9 or 1.3 < at_s < 1.9)
    ]
    # 2 Mbit/s of payload with headers and pings, of 10 and then of 5 Mbit/s.
    assert used[0] == pytest.approx(0.21, abs=0.02)
    assert used[-1] == pytest.approx(2 * used[0], abs=0.03)


def test_changes_are_listed_with_who_asked(run: longhaul.Result) -> None:
    assert [(each["at_ns"] / S, each["kind"], each["text"], each["source"]) for each in run.changes] == [
        (1, "event", "wan: delay 35 → 80 ms, rate 10 → 5 Mbit/s", "events[0]"),
        (2, "intervention", "wan: down", "ann, command line"),
        (2.5, "intervention", "wan: up", "ann, command line"),
        (3, "event", "wan: delay 80 → 40 ms", "events[2]"),
    ]
    assert [each["text"] for each in run.interventions] == ["wan: down", "wan: up"]
    listed = page(run).partition("Changes of the network")[2].partition("</table>")[0]
    assert listed.count("<strong>intervention</strong>") == 2
    assert "3.000 to 3.200 s" in listed


def test_the_verdict_names_the_interventions_on_every_surface(
    run: longhaul.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    from longhaul.cli.terminal.run import print_summary
    from longhaul.report.console import Console

    print_summary(run.summary, Console())
    printed = capsys.readouterr().out
    for surface in (page(run), printed, run._repr_html_()):
        assert "imulated, with 2 interventions" in surface
    assert "<title>changed: simulated, with 2 interventions</title>" in page(run)
    assert "did what the scenario says" not in page(run)
    assert "wan: down" in printed


def test_a_terminal_of_80_columns_has_whole_names_and_wrapped_series(
    run: longhaul.Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from longhaul.cli.terminal.run import print_summary
    from longhaul.report.console import Console

    monkeypatch.setenv("COLUMNS", "80")
    print_summary(run.summary, Console())
    printed = capsys.readouterr().out
    links = printed.partition("dropped packets")[0]
    assert "…" not in links
    for link in run.summary["links"]:
        assert f"\n{link['from']} > {link['to']}" in links
    assert max(map(len, links.splitlines())) <= 80


def test_every_chart_over_time_marks_every_change(run: longhaul.Result) -> None:
    made = [
        each for each in embedded_charts(run.directory).values() if each["axes"][0]["label"].endswith("[s]")
    ]
    assert len(made) >= 4
    for shown in made:
        for panel in panels(shown):
            assert [(each["at"], each["until"], each["solid"]) for each in panel["marks"]] == [
                (1, 1, False),
                (2, 2, True),
                (2.5, 2.5, True),
                (3, 3.2, False),
            ]
        assert [each["label"] for each in panels(shown)[0]["marks"]] == ["1", "2", "3", "4"]
        feet = [at for panel in panels(shown) for foot in panel["feet"] for at in foot["x"]]
        assert not {1, 2.5, 3} & set(feet), "marks are not taken for data"


def test_a_run_of_before_there_was_a_record_has_the_configuration_of_its_plan(run: longhaul.Result) -> None:
    (run.directory / "raw" / "changes.jsonl").unlink()
    (run.directory / "manifest.json").unlink()
    summary = write_results(run.directory)
    assert [each["kind"] for each in summary["changes"]] == ["event"] * 4
    assert [each["measured"] is None for each in summary["links"][4]["phases"]] == [True] * 6


def test_the_reasons_of_a_simulation_that_is_not_faithful_have_remedies(
    run: longhaul.Result, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from longhaul.cli.terminal.run import print_summary
    from longhaul.report.console import Console

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    reason = {"verdict": "degraded", "what": "2 damaged lines left out", "remedy": "run it again"}
    fidelity = {**run.summary["fidelity"], "verdict": "degraded", "reasons": [reason]}
    print_summary({**run.summary, "fidelity": fidelity}, Console())
    printed = capsys.readouterr().out
    assert "-> run it again" in printed
    assert "\x1b[33m  2 damaged lines left out" in printed, "yellow, as the verdict"
    assert "\x1b[1;33mdegraded, with 2 interventions" in printed
