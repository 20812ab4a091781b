"""Which machine runs which nodes."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.machines.coordinator import rounds
from longhaul.machines.hostfile import Machine
from longhaul.machines.paths import MeasuredPath
from longhaul.machines.placement import Placement, place
from longhaul.machines.requirements import ENGINE_NS, check
from longhaul.scenario import load_scenario, resolve

SCENARIO = """\
version: 1
name: grid
duration: 1s
nodes:
  ra: {{kind: router{ra}}}
  rb: {{kind: router{rb}}}
  rc: {{kind: router{rc}}}
  a1..4: {{kind: host, attach: ra}}
  b1..2: {{kind: host, attach: rb}}
  c1..1: {{kind: host, attach: rc}}
links:
  ab: {{endpoints: [ra, rb], delay: {ab}}}
  bc: {{endpoints: [rb, rc], delay: 2ms}}
"""


def placed(
    tmp_path: Path, cores: Sequence[int], *, ra: str = "", rb: str = "", rc: str = "", ab: str = "10ms"
) -> tuple[Placement, dict[str, str]]:
    path = tmp_path / "grid.yaml"
    written = {key: f", place: {name}" if name else "" for key, name in (("ra", ra), ("rb", rb), ("rc", rc))}
    path.write_text(SCENARIO.format(**written, ab=ab))
    resolved = resolve(load_scenario(path))
    machines = [Machine(f"m{number + 1}", (), "", each) for number, each in enumerate(cores)]
    placement = place(resolved, resolved.plan, machines)
    names = [machine.name for machine in placement.machines]
    nodes = resolved.plan["nodes"]
    return placement, {
        node["name"]: names[machine] for node, machine in zip(nodes, placement.partition, strict=True)
    }


def test_the_network_is_cut_where_the_delay_is_largest(tmp_path: Path) -> None:
    placement, where = placed(tmp_path, [1, 1])
    assert [(cut.name, cut.delay_ns) for cut in placement.cuts] == [("ab", 10_000_000)]
    assert where["a1"] == where["ra"] != where["rb"] == where["c1"]


def test_the_largest_part_goes_to_the_machine_with_most_cores(tmp_path: Path) -> None:
    assert placed(tmp_path, [1, 16])[1]["a1"] == "m2"
    assert placed(tmp_path, [16, 1])[1]["a1"] == "m1"


def test_three_machines_have_a_site_each(tmp_path: Path) -> None:
    placement, where = placed(tmp_path, [1, 1, 1])
    assert {where[name] for name in ("ra", "rb", "rc")} == {"m1", "m2", "m3"}
    assert [cut.name for cut in placement.cuts] == ["ab", "bc"]


def test_place_decides_and_the_rest_is_where_its_neighbours_are(tmp_path: Path) -> None:
    placement, where = placed(tmp_path, [1, 1], rc="m1", ra="m2")
    assert (where["c1"], where["a4"]) == ("m1", "m2")
    assert where["b1"] == where["rb"]
    assert placement.cuts
    # A machine without nodes is not used.
    placement, where = placed(tmp_path, [1, 1, 1], ra="m3", rb="m1")
    assert [machine.name for machine in placement.machines] == ["m1", "m3"]
    assert where["c1"] == "m1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ra": "m7"}, "nodes.ra.place: m7 is not one of the machines m1, m2"),
        (
            {"ra": "m1", "rb": "m2", "ab": "0ms"},
            "ra, rb are on several machines, but links without a delay join them",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises(LonghaulError) as error:
        placed(tmp_path, [1, 1], **options)
    assert said in str(error.value)
    assert error.value.remedy


SEGMENT = """\
version: 1
name: segment
duration: 1s
nodes:
  s: {{kind: switch}}
  a1: {{kind: host, attach: s, profile: cable{host}}}
  a2..4: {{kind: host, attach: s, profile: cable}}
  r: {{kind: router{router}}}
  far: {{kind: router}}
  b1..2: {{kind: host, attach: far}}
profiles: {{cable: {{delay: 1ms}}}}
links:
  uplink: {{endpoints: [s, r], delay: 8ms}}
  wan: {{endpoints: [r, far], delay: 5ms}}
"""


def segment_placed(tmp_path: Path, *, host: str = "", router: str = "") -> tuple[Placement, dict[str, int]]:
    written = {key: f", place: {name}" if name else "" for key, name in (("host", host), ("router", router))}
    (tmp_path / "segment.yaml").write_text(SEGMENT.format(**written))
    resolved = resolve(load_scenario(tmp_path / "segment.yaml"))
    placement = place(resolved, resolved.plan, [Machine(f"m{number}", (), "", 1) for number in (1, 2)])
    names = [node["name"] for node in resolved.plan["nodes"]]
    return placement, dict(zip(names, placement.partition, strict=True))


def test_a_switch_is_on_the_machine_of_its_hosts_and_routers(tmp_path: Path) -> None:
    placement, where = segment_placed(tmp_path)
    # The delay of the uplink is larger.
    assert [cut.name for cut in placement.cuts] == ["wan"]
    assert len({where[name] for name in ("s", "r", "a1", "a2", "a3", "a4")}) == 1
    assert segment_placed(tmp_path, host="m2", router="m2")[1]["a4"] == 0


def test_a_division_of_a_segment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError) as error:
        segment_placed(tmp_path, host="m2", router="m1")
    said = "a1, r are on several machines, but switch s joins them, and an Ethernet segment is on one machine"
    assert said in str(error.value)
    assert error.value.remedy == "place: them on one machine"


def test_more_machines_than_sites_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="cannot be divided among 4 machines"):
        placed(tmp_path, [1, 1, 1, 1])


def measured(rtt_p50_ns: int, received: int = 100) -> MeasuredPath:
    return MeasuredPath((0, 1), 100, received, rtt_p50_ns // 2, rtt_p50_ns, 2 * rtt_p50_ns, None)


def test_a_delay_that_the_machines_network_takes_up_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    placement, _ = placed(tmp_path, [1, 1])
    fits_ns = 2 * (10_000_000 - ENGINE_NS)
    check(placement, [measured(fits_ns // 2)])
    assert not caplog.records
    check(placement, [measured(fits_ns)])
    assert "one packet in 100 takes" in caplog.text
    with pytest.raises(
        LonghaulError, match="link ab: its delay of 10 ms is too small to cross from m1 to m2"
    ):
        check(placement, [measured(fits_ns + 2)])
    with pytest.raises(LonghaulError, match="UDP datagrams between m1 and m2 are not answered"):
        check(placement, [measured(0, received=0)])


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(9, 17))))
def test_no_machine_is_measured_twice_at_a_time(pairs: set[tuple[int, int]]) -> None:
    found = rounds(pairs)
    assert sorted(pair for each in found for pair in each) == sorted(pairs)
    for each in found:
        ends = [end for pair in each for end in pair]
        assert len(set(ends)) == len(ends)
    most = max((sum(end in pair for pair in pairs) for end in range(18)), default=0)
    # A greedy choice needs less than twice as many as the machine with most neighbours has.
    assert len(found) <= max(2 * most - 1, 0)
