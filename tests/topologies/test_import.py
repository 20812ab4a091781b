"""Topologies of files become scenarios that check, simulate and run."""

import json
from math import pi
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.expand.topologies.importing import Made, import_topology
from longhaul.scenario.lower.resolve import resolve
from longhaul.units.quantities import Rate, Span

from .files import EQUATOR, NATIVE, XML, edge, graphml, node

DEGREE_KM = 2 * pi * 6371.0088 / 360


def made(tmp_path: Path, text: str, **given: Any) -> Made:
    path = tmp_path / "net.graphml"
    path.write_text(text, encoding="utf-8")
    return import_topology(path, given)


def plan(scenario: Made) -> Any:
    resolved = resolve(parse_scenario(scenario.text.encode(), name="made.yaml"))
    assert resolved.warnings == ()
    return json.loads(json.dumps(resolved.plan))


def links(scenario: Made) -> dict[str, Any]:
    return {link["name"]: link for link in plan(scenario)["links"]}


def test_sites_hosts_links_and_rates_of_a_graph(tmp_path: Path) -> None:
    scenario = made(tmp_path, EQUATOR, rate=Rate(10**9))
    found = links(scenario)
    names = [each["name"] for each in plan(scenario)["nodes"]]
    assert names[::2] == ["null-island", "porto", "sao-paulo", "sao-paulo-2"]
    assert names[1] == "null-island-h1"
    # 10 degrees are 1112 km: between 1000 and 1200, so 1500 km of fibre.
    assert 1000 < 10 * DEGREE_KM < 1200
    delay_us = round(1500 * 1.468 / 299_792.458 * 1e6)
    forward = found["null-island-porto"]["forward"]
    assert forward["delay"]["delay_ns"] == delay_us * 1000
    assert forward["rate"]["bits_per_s"] == 10**10
    assert found["sao-paulo-sao-paulo-2"]["forward"]["rate"]["bits_per_s"] == 10**9
    assert "routes: {count: 2, policy: flow-hash, rate: 2.5Gbit}" in scenario.text
    for words in (
        "S\u00e3o Paulo (node 2)",
        "1112 km straight, 1500 km of fibre; rate: LinkSpeedRaw 10000000000.0",
        'rate: LinkLabel "2.5 Gbps" (2 times)',
        'rate unknown (LinkLabel "dark fibre" is not a rate), so --rate 1Gbit',
        "group index 1.468",
    ):
        assert words in scenario.text


def test_the_probe_expects_the_sum_of_the_longest_way(tmp_path: Path) -> None:
    scenario = made(tmp_path, EQUATOR, route_factor=1.0, index=1.5)
    each_us = round(10 * DEGREE_KM * 1.5 / 299_792.458 * 1e6)
    round_trip = Span(2 * (3 * each_us + 2 * 50) * 1000)
    assert f"min: {round_trip}}}" in scenario.text
    assert "from: null-island-h1, to: sao-paulo-2-h1" in scenario.text


def test_a_hub_lies_amid_its_neighbours_and_has_no_hosts(tmp_path: Path) -> None:
    text = graphml(
        node("0", at=(0, 10)),
        node("1", at=(0, 30)),
        node("2", label="cloud", hub=True),
        edge("0", "2"),
        edge("1", "2"),
    )
    scenario = made(tmp_path, text)
    assert "cloud: {kind: router, at: [0, 20]}" in scenario.text
    assert "a hyperedge of the file" in scenario.text
    assert "cloud-h1" not in scenario.text


def test_places_that_are_not_known_take_the_default_and_are_named(tmp_path: Path) -> None:
    text = graphml(node("0", at=(0, 0)), node("1", label="Ext"), edge("0", "1"))
    with pytest.raises(LonghaulError, match=r"Ext has no coordinates; add them, or --default-delay 5ms"):
        made(tmp_path, text)
    scenario = made(tmp_path, text, default_delay=Span(7_000_000))
    assert links(scenario)["0-ext"]["forward"]["delay"]["delay_ns"] == 7_000_000
    assert "Ext: no coordinates, so all links there take 7ms" in scenario.warnings


def test_parts_are_kept_or_left_out_and_named(tmp_path: Path) -> None:
    text = graphml(
        *(node(str(each), at=(0, each), label=f"city {each}") for each in range(5)),
        edge("0", "1"), edge("1", "2"), edge("3", "4"), edge("2", "2"),
    )  # fmt: skip
    kept = made(tmp_path, text)
    assert any(
        "in 2 parts; no packet gets from the largest to city 3, city 4" in each for each in kept.warnings
    )
    assert "left out, from a node to itself: 1 link" in kept.warnings
    assert len(plan(kept)["nodes"]) == 10
    cut = made(tmp_path, text, largest_part=True)
    assert "left out, since no link leads there: city 3, city 4" in cut.warnings
    assert len(plan(cut)["nodes"]) == 6


def test_edges_of_each_direction_are_one_link_with_two_rates(tmp_path: Path) -> None:
    text = graphml(
        node("a", at=(0, 0)), node("b", at=(0, 1)), node("c", at=(0, 2)),
        edge("a", "b", label="10G"), edge("b", "a", label="1G"), edge("b", "c", label="1G"),
        direction="directed",
    )  # fmt: skip
    scenario = made(tmp_path, text)
    link = links(scenario)["a-b"]
    assert link["forward"]["rate"]["bits_per_s"] == 10**10
    assert link["reverse"]["rate"]["bits_per_s"] == 10**9
    assert links(scenario)["b-c"]["reverse"]["rate"]["bits_per_s"] == 10**9
    assert any(each.startswith("1 links that the file has one way only") for each in scenario.warnings)


def test_links_and_attachments_never_share_a_name(tmp_path: Path) -> None:
    text = graphml(
        *(node(key, at=(0, 1)) for key in ("a", "b", "a-b", "c", "b-c", "h1-a", "no", "12")),
        edge("a-b", "c"), edge("a", "b-c"), edge("a", "h1-a"),
        edge("b", "no"), edge("12", "a"), edge("c", "b"),
    )  # fmt: skip
    assert len(links(made(tmp_path, text, largest_part=False))) == 8 + 6


@pytest.mark.parametrize("text", [NATIVE, XML], ids=["native", "xml"])
def test_both_formats_of_sndlib_say_the_same(tmp_path: Path, text: str) -> None:
    scenario = made(tmp_path, text, demands=0.5, rate=Rate(10**9))
    found = links(scenario)
    rates = {name: found[name]["forward"]["rate"]["bits_per_s"] for name in found if "-h1" not in name}
    assert rates == {"berlin-hamburg": 622_000_000, "berlin-munich": 622_000_000, "hamburg-munich": 10**9}
    assert "kind: udp, from: berlin-h1, to: munich-h1, rate: 25Mbit, simulated: true" in scenario.text
    assert scenario.text.count("kind: udp") == 1, "a demand of nothing sends nothing"
    assert "largest module 622" in scenario.text
    assert "pre-installed capacity 622" in scenario.text
    assert any("1 Mbit/s is taken" in each for each in scenario.warnings)


def test_units_of_sndlib_are_given_or_stated(tmp_path: Path) -> None:
    scenario = made(tmp_path, NATIVE, capacity_unit=Rate(10**9), rate=Rate(10**9))
    assert links(scenario)["berlin-hamburg"]["forward"]["rate"]["bits_per_s"] == 622 * 10**9
    assert scenario.warnings == ()
    stated = NATIVE.replace("NODES (", "META (\n  unit = KBITPERSEC\n)\nNODES (")
    found = links(made(tmp_path, stated, rate=Rate(10**9)))
    assert found["berlin-hamburg"]["forward"]["rate"]["bits_per_s"] == 622_000


def test_pixels_are_no_coordinates(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="Berlin, Hamburg, Munich have no coordinates"):
        made(tmp_path, XML.replace('"geographical"', '"pixel"'))


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE graphml [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;">\n]>\n'
    "<graphml><graph><node id='&b;'/></graph></graphml>"
)
WRONG = {
    "nothing": ("", "is neither GraphML nor SNDlib; take one of them"),
    "cut off": (EQUATOR[:900], "net.graphml:14:41: unclosed token; the file may be cut off; fetch it again"),
    "not well formed": ("<graphml><graph></node></graphml>", ":1:19: mismatched tag; correct the file there"),
    "entities": (BOMB, "net.graphml:3: declares an entity, which could grow without bound; write its text"),
    "outside": (
        '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/hostname">]><graphml>&x;</graphml>',
        ":1: declares an entity",
    ),
    "deep": ("<a>" * 100 + "</a>" * 100, ":1: elements lie 64 deep; this is not a topology"),
    "page": ("<html></html>", ":1: <html> is neither GraphML nor SNDlib"),
    "gml": ("graph [\n]", ":1: is neither GraphML nor SNDlib; take the GraphML of this network"),
    "binary": ("\x7fELF\0\0\0", "is not text; take GraphML or SNDlib; unpack the file if it is packed"),
    "no graph": ("<graphml/>", ":1: has no graph; take a file with <graph> in it"),
    "no nodes": (graphml(), "has no nodes; take a file with a network in it"),
    "no links": (graphml(node("0", at=(0, 0))), "has no links; take a file with a network in it"),
    "no globe": (
        graphml(node("0", at=(95.5, 0)), edge("0", "0")),
        ':12: node "0" is at latitude 95.5, longitude 0, which is out of range; correct it',
    ),
    "words": (
        graphml(node("0", at=("north", 0))),
        ':12: the latitude of node "0", "north" is not a number; write one like 48.85',
    ),
    "half a place": (
        graphml(node("0", at=("", 5))),
        ':12: node "0" has no latitude; write both, or neither',
    ),
    "unknown end": (
        graphml(node("berlin"), edge("berlin", "berlim")),
        ':13: the target "berlim" is not a node; did you mean "berlin"?',
    ),
    "no end": (
        graphml(node("0"), '<edge source="0"/>'),
        ':13: <edge> has no "target"; add it',
    ),
    "twice": (graphml(node("0"), node("0")), ':13: there are two nodes "0"; rename one of them'),
    "solution": (NATIVE.replace("type: network", "type: solution"), ":1: "),
    "open": (NATIVE[:120], ":6: a parenthesis of line 6 is never closed; the file may be cut off"),
    "closed": (NATIVE.replace("NODES (", "NODES"), "closes a parenthesis that was never opened; remove it"),
    "capacity": (NATIVE.replace("622.00 0.00 0.00 0.00 ( )", "many"), ':12: the capacity, "many" is no'),
    "less": (NATIVE.replace("622.00 0.00 0.00", "-1 0.00 0.00"), ":12: the capacity is -1, which is"),
    "three ends": (NATIVE.replace("( Berlin Hamburg )", "( Berlin )"), ":12: does not say its two ends"),
    "stranger": (NATIVE.replace("Berlin Hamburg", "Berlin Humburg"), 'the end "Humburg" is not a node'  ),
    "one number": (NATIVE.replace("13.40 52.52", "13.40"), ':5: the coordinates of "Berlin" are 1 numbers'),
    "far": (NATIVE.replace("13.40", "1340"), ':5: node "Berlin" is at latitude 52.52, longitude 1340'),
    "xml without id": (XML.replace('<node id="Berlin">', "<node>"), ":5: a node has no id"),
    "xml capacity": (XML.replace("622.00", "lots"), ':11: capacity, "lots" is not a number'),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_bad_files_get_one_error_with_the_place_and_a_remedy(name: str, tmp_path: Path) -> None:
    text, words = WRONG[name]
    with pytest.raises(LonghaulError) as caught:
        made(tmp_path, text)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "net.graphml"))
    assert "; " in str(caught.value)
    assert caught.value.exit_code == 2


def test_the_exponents_of_numbers_cost_nothing(tmp_path: Path) -> None:
    huge = NATIVE.replace("622.00 0.00 0.00 0.00 ( )", "1e-999999999")
    made(tmp_path, huge)
    made(tmp_path, graphml(node("0", at=(0, 0)), node("1", at=(0, 1)), edge("0", "1", raw="1e999999999")))


@pytest.mark.parametrize("cross", ["none", "shared-sink", "literal"])
@pytest.mark.parametrize("queue", ["long", "short"])
@pytest.mark.parametrize("loss", ["teragrid", "teragrid-literal-seconds", "teragrid-busy-10g", "none"])
def test_teragrid_is_what_the_paper_says(cross: str, queue: str, loss: str) -> None:
    scenario = import_topology(Path("teragrid"), {"cross": cross, "queue": queue, "loss": loss})
    resolved = plan(scenario)
    found = {link["name"]: link for link in resolved["links"]}
    path = ["sdsc1-sdsc", "sdsc-la", "la-chi", "chi-purdue"]
    path += ["purdue-pool", "purdue1-pool"] if cross == "shared-sink" else ["purdue1-purdue"]
    for way in ("forward", "reverse"):
        assert sum(found[name][way]["delay"]["delay_ns"] for name in path) == 32_500_000
    packets = {"long": 1000, "short": 50}[queue]
    for name, link in found.items():
        core = name in ("sdsc-la", "la-chi", "chi-purdue")
        assert link["mtu"] == 9000
        for way in ("forward", "reverse"):
            assert link[way]["rate"]["bits_per_s"] == (10**10 if core else 10**9)
            assert link[way]["queue"]["limit_packets"] == packets
            lossy = name == "la-chi" and way == "forward" and loss != "none"
            assert (link[way]["loss"]["model"] == "renewal") == lossy
    assert resolved["duration_ns"] == 1000 * 10**9


def test_a_built_in_name_and_its_options_are_held_to_what_there_is() -> None:
    with pytest.raises(LonghaulError, match='there is no file "teragird"'):
        import_topology(Path("teragird"), {})
    with pytest.raises(LonghaulError, match='there is no cross traffic "shared"; did you mean "shared-sink"'):
        import_topology(Path("teragrid"), {"cross": "shared"})
    with pytest.raises(LonghaulError, match="--hosts does not apply to the built-in teragrid; leave it out"):
        import_topology(Path("teragrid"), {"hosts": 2})
    with pytest.raises(LonghaulError, match=r"--cross does not apply to x\.graphml; leave it out"):
        import_topology(Path("x.graphml"), {"cross": "none"})


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([EQUATOR, NATIVE, XML]), st.data())
def test_damaged_files_are_read_or_refused(tmp_path: Path, text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 40)))
    patch = data.draw(st.text(alphabet=' .-()<>/&#"0123456789abNaN\n\u0663\u4eac', max_size=6))
    try:
        scenario = made(tmp_path, text[:begin] + patch + text[end:], default_delay=Span(10**6), demands=1.0)
    except LonghaulError:
        return
    resolve(parse_scenario(scenario.text.encode(), name="made.yaml"))
