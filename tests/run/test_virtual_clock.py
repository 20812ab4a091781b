"""Which Linux the hosts on the virtual clock have: the command line's, the scenario's, or the newest."""

from pathlib import Path

import pytest
from installed_kernels import installed

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.check import examine, report
from longhaul.run.virtual_clock import clock_of
from longhaul.scenario import load_scenario

SCENARIO = """\
version: 1
name: pair
duration: 1s
params: {linux: 6.10}
kernel: $linux
nodes: {a: {kind: host}, b: {kind: host}}
links: {a-b: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic: {probe: {kind: ping, from: a, to: b}}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three kernels, of which one is outdated."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "cache/longhaul/kernels"
    for name in ("6.1.4", "6.10.2", "6.12.117"):
        installed(place, name)
    installed(place, "6.6.9", outdated=True)
    return place


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "pair.yaml"
    path.write_text(SCENARIO)
    return path


def chosen(scenario: Path, kernel: str | None = None, **settings: str) -> str:
    clock = clock_of("virtual", load_scenario(scenario, settings=settings), kernel)
    assert clock is not None
    return clock.kernel.name


def test_a_scenario_names_a_version_that_keeps_its_zero_and_set_changes_it(scenario: Path) -> None:
    assert chosen(scenario) == "6.10.2"
    assert chosen(scenario, linux="6.1") == "6.1.4"
    assert chosen(scenario, linux="6.12.117") == "6.12.117"


def test_the_command_line_precedes_the_scenario_and_without_both_it_is_the_newest(scenario: Path) -> None:
    assert chosen(scenario, "6.1") == "6.1.4"
    scenario.write_text(SCENARIO.replace("kernel: $linux\n", ""))
    assert chosen(scenario) == "6.12.117"


def test_the_real_clock_has_no_kernel_of_its_own(scenario: Path) -> None:
    assert clock_of("real", load_scenario(scenario, settings={"linux": "7.0"})) is None


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("7", 'this user has no guest kernel "7"; there is 6.12.117, 6.10.2, 6.6.9, 6.1.4, or build one'),
        ("6.6", "guest kernel 6.6.9 was built by another version of Longhaul; build it again"),
    ],
)
def test_a_version_that_a_run_cannot_have_is_an_error_at_its_place(
    scenario: Path, version: str, words: str
) -> None:
    with pytest.raises(LonghaulError, match=r"pair\.yaml:5:9: kernel: ") as caught:
        chosen(scenario, linux=version)
    assert words in str(caught.value)
    assert (caught.value.code, caught.value.exit_code) == (Code.KERNEL_NOT_BUILT, 3)
    with pytest.raises(LonghaulError, match=r'^this user has no guest kernel "9"'):
        chosen(scenario, "9")


def test_check_warns_of_a_kernel_without_the_virtual_clock(scenario: Path) -> None:
    loaded = load_scenario(scenario)
    assert Code.VIRTUAL_CLOCK_ONLY in [each.code for each in examine(loaded).warnings]
    assert Code.VIRTUAL_CLOCK_ONLY not in [each.code for each in examine(loaded, clock="virtual").warnings]


def test_check_for_the_virtual_clock_reports_a_missing_kernel_of_each_scenario(scenario: Path) -> None:
    other = scenario.with_name("other.yaml")
    other.write_text(SCENARIO.replace("6.10", "6.11"))
    text, code = report([other, scenario], settings={}, as_json=False, clock="virtual")
    assert code == 2
    assert 'other.yaml:5:9: kernel: this user has no guest kernel "6.11"' in text
    assert "pair.yaml: good" in text
