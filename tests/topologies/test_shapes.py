"""Each kind of topology is the graph that it is named after."""

from collections import Counter
from itertools import combinations, permutations
from math import exp, hypot

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longhaul import topologies
from longhaul.scenario import Resolved
from longhaul.scenario.expand.topologies.distance import Fibre, great_circle_km
from longhaul.scenario.lower.paths import Routes


def graph(resolved: Resolved) -> "nx.Graph[str]":
    """All nodes, and each link once."""
    names = [node["name"] for node in resolved.plan["nodes"]]
    made: nx.Graph[str] = nx.Graph()
    for node in resolved.plan["nodes"]:
        made.add_node(node["name"], kind=node["kind"])
    for link in resolved.plan["links"]:
        a, b = (names[end] for end in link["endpoints"])
        assert not made.has_edge(a, b)
        made.add_edge(a, b, name=link["name"], delay_ns=link["forward"]["delay"]["delay_ns"])
    return made


def core(sketch: topologies.Sketch) -> "nx.Graph[str]":
    """The routers and the links between them."""
    whole = graph(sketch.check())
    routers = [name for name, kind in whole.nodes(data="kind") if kind == "router"]
    return nx.Graph(whole.subgraph(routers))


def hosts_of(sketch: topologies.Sketch) -> list[str]:
    return [node["name"] for node in sketch.check().plan["nodes"] if node["kind"] == "host"]


def functions(sketch: topologies.Sketch) -> Counter[str]:
    return Counter(sketch.check().functions.values())


SMALL = st.integers(3, 12)


@settings(max_examples=25, deadline=None)
@given(count=SMALL, hosts=st.integers(1, 3))
def test_chains_stars_rings_and_meshes_are_those_of_the_book(count: int, hosts: int) -> None:
    assert nx.is_isomorphic(core(topologies.chain(routers=count)), nx.path_graph(count))
    assert nx.is_isomorphic(core(topologies.star(sites=count)), nx.star_graph(count))
    assert nx.is_isomorphic(core(topologies.ring(sites=count)), nx.cycle_graph(count))
    assert nx.is_isomorphic(core(topologies.mesh(sites=count)), nx.complete_graph(count))
    assert len(hosts_of(topologies.ring(sites=count, hosts=hosts))) == count * hosts
    assert len(hosts_of(topologies.chain(routers=count, hosts=hosts))) == 2 * hosts
    assert len(hosts_of(topologies.chain(routers=count, hosts=hosts, hosts_at="all"))) == count * hosts


@settings(max_examples=15, deadline=None)
@given(size=st.lists(st.integers(3, 5), min_size=2, max_size=3))
def test_a_torus_has_degree_twice_its_dimensions_and_half_each_length_as_diameter(size: list[int]) -> None:
    torus = core(topologies.torus(size=size))
    assert set(dict(torus.degree).values()) == {2 * len(size)}
    assert nx.diameter(torus) == sum(length // 2 for length in size)
    assert nx.is_isomorphic(torus, nx.grid_graph(size, periodic=True))


@settings(max_examples=15, deadline=None)
@given(depth=st.integers(1, 4), fanout=st.integers(1, 3))
def test_a_tree_is_balanced_and_its_hosts_are_at_the_lowest_routers(depth: int, fanout: int) -> None:
    sketch = topologies.tree(depth=depth, fanout=fanout, hosts=2)
    assert nx.is_isomorphic(core(sketch), nx.balanced_tree(fanout, depth))
    assert len(hosts_of(sketch)) == 2 * fanout**depth


def test_a_dumbbell_has_one_bottleneck_between_sources_and_sinks() -> None:
    sketch = topologies.dumbbell(left=3, right=5)
    whole = graph(sketch.check())
    assert whole.edges["left", "right"]["name"] == "bottleneck"
    assert ("left", "right") in set(nx.bridges(whole))
    assert functions(sketch) == {"source": 3, "sink": 5, "access-link": 2}


def test_a_fish_bone_is_a_spine_with_two_ribs_at_each_of_its_routers() -> None:
    bone = core(topologies.fish_bone(length=5))
    assert len(bone) == 3 * 5
    assert nx.is_tree(bone)
    # A caterpillar: without its leaves a path is left.
    bone.remove_nodes_from([name for name, degree in list(bone.degree) if degree == 1])
    assert nx.is_isomorphic(bone, nx.path_graph(5))
    assert functions(topologies.fish_bone(length=5, hosts=2)) == {
        "client": 4,
        "source": 10,
        "sink": 10,
        "router": 2,
        "core": 3,
        "access-link": 10,
    }


@pytest.mark.parametrize("k", [2, 4, 6])
def test_a_fat_tree_has_the_numbers_of_al_fares(k: int) -> None:
    whole = graph(topologies.fat_tree(k=k).check())
    kinds = Counter(name.partition("-")[2][:1] or "core" for name in whole if "-h" not in name)
    assert kinds == {"core": k * k // 4, "a": k * k // 2, "e": k * k // 2}
    assert sum("-h" in name for name in whole) == k**3 // 4
    degrees = {degree for name, degree in whole.degree if "-h" not in name}
    assert degrees == {k}
    assert nx.diameter(whole) == 6
    assert whole.number_of_edges() == 3 * k**3 // 4


@pytest.mark.parametrize("k", [4, 6])
def test_a_fat_tree_carries_all_hosts_of_one_half_to_the_other_at_once(k: int) -> None:
    whole = graph(topologies.fat_tree(k=k).check())
    for a, b in whole.edges:
        whole.edges[a, b]["capacity"] = 1
    half = {f"p{pod}" for pod in range(1, k // 2 + 1)}
    hosts = [name for name in whole if "-h" in name]
    for host in hosts:
        ends = ("from", host) if host.partition("-")[0] in half else (host, "to")
        whole.add_edge(*ends, capacity=1)
    assert nx.maximum_flow_value(whole, "from", "to") == len(hosts) // 2


def test_hosts_of_a_fat_tree_are_reached_over_all_cores_and_none_twice_as_much() -> None:
    resolved = topologies.fat_tree(k=4).check()
    routes = Routes(resolved.plan)
    names = [node["name"] for node in resolved.plan["nodes"]]
    hosts = [index for index, name in enumerate(names) if "-h" in name]
    used: Counter[str] = Counter()
    for source in hosts:
        for destination in hosts:
            way = routes.way(source, destination) if source != destination else None
            if way is not None:
                passed = [names[node] for node in routes.nodes_of(source, way.there)]
                apart = {passed[0][:2], passed[-1][:2]}
                assert len(way.there) == (6 if len(apart) == 2 else 2 if len(passed) == 3 else 4)
                used.update(name for name in passed if name.startswith("core"))
    # 16 hosts, of which 12 are in other pods, over 4 cores.
    assert used == dict.fromkeys(("core1", "core2", "core3", "core4"), 16 * 12 // 4)


FAT_LINKS = [link["name"] for link in topologies.fat_tree(k=4).check().plan["links"]]


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.sampled_from(FAT_LINKS), st.integers(1, 20_000), max_size=4))
def test_a_fat_tree_whose_links_are_changed_leads_everywhere(delays_us: dict[str, int]) -> None:
    links = {name: {"delay": f"{delay}us"} for name, delay in delays_us.items()}
    resolved = topologies.fat_tree(k=4, **({"links": links} if links else {})).check()
    routes = Routes(resolved.plan)
    hosts = [index for index, node in enumerate(resolved.plan["nodes"]) if "-h" in node["name"]]
    for source, destination in permutations(hosts, 2):
        way = routes.way(source, destination)
        assert way is not None
        assert len(way.there) <= 6


def test_gateways_are_passed_by_all_hosts_and_end_nodes_pass_none() -> None:
    gateway = graph(topologies.clusters(clusters=3, hosts=4).check())
    assert {"c1", "c2", "c3"} <= set(nx.articulation_points(gateway))
    assert gateway.number_of_edges() == 3 * 4 + 3
    resolved = topologies.clusters(clusters=3, hosts=4, style="end-node").check()
    assert graph(resolved).number_of_edges() == 2 * 3 * 4
    names = [node["name"] for node in resolved.plan["nodes"]]
    routes = Routes(resolved.plan)

    def passed(source: str, destination: str) -> list[str]:
        way = routes.way(names.index(source), names.index(destination))
        assert way is not None
        return [names[node] for node in routes.nodes_of(names.index(source), way.there)]

    assert passed("c1-h1", "c2-h3") == ["c1-h1.wan", "wan", "c2-h3.wan"]
    assert passed("c1-h1", "c1-h2") == ["c1-h1", "c1", "c1-h2"]


def test_sites_are_as_far_apart_as_fibre_between_them_is_long() -> None:
    places = {"par": (48.85, 2.35), "ams": (52.37, 4.90), "nyc": (40.71, -74.01)}
    sketch = topologies.sites({name: list(at) for name, at in places.items()}, route_factor=1.5)
    whole = graph(sketch.check())
    for one, other in combinations(places, 2):
        straight = great_circle_km(places[one], places[other])
        assert whole.edges[one, other]["delay_ns"] == pytest.approx(
            straight * 1.5 * 1.468 / 299_792.458 * 1e9, abs=1000
        )
    assert sketch.check().positions == places


def test_sites_are_joined_as_the_section_says() -> None:
    places = {"a": [0, 0], "b": [0, 10], "c": {"at": [0, 20], "hosts": 3}, "d": [0, 30]}
    edges = {
        join: core(topologies.sites(places, join=join)).number_of_edges()
        for join in ("mesh", "ring", "chain", "star")
    }
    assert edges == {"mesh": 6, "ring": 4, "chain": 3, "star": 3}
    pairs = core(topologies.sites(places, join=[("b", "a"), ("a", "c"), ("a", "d")]))
    assert set(map(frozenset, pairs.edges)) == {frozenset("ba"), frozenset("ac"), frozenset("ad")}
    assert hosts_of(topologies.sites(places, hosts=1)) == ["a1", "b1", "c1", "c2", "c3", "d1"]


def test_grid5000_is_one_network_within_the_time_that_light_needs_across_france() -> None:
    grid = core(topologies.grid5000())
    assert len(grid) == 9
    assert nx.is_connected(grid)
    longest = max(delay for _a, _b, delay in grid.edges(data="delay_ns"))
    # No two towns of France are 1000 km apart.
    assert 0 < longest < Fibre().delay_ns(1000)


@settings(max_examples=40, deadline=None)
@given(
    routers=st.integers(2, 40),
    alpha=st.floats(0.05, 1),
    beta=st.floats(0.05, 1),
    seed=st.integers(0, 2**64 - 1),
)
def test_a_waxman_network_is_connected_and_its_seed_says_it_all(
    routers: int, alpha: float, beta: float, seed: int
) -> None:
    options = {"routers": routers, "alpha": alpha, "beta": beta, "topology_seed": seed}
    made = core(topologies.waxman(**options))
    assert len(made) == routers
    assert nx.is_connected(made)
    assert nx.utils.graphs_equal(made, core(topologies.waxman(**options)))


def test_waxman_links_are_as_likely_as_their_length_says() -> None:
    # In 20 networks of 40 routers the number of links is a sum of independent trials.
    from random import Random

    alpha, beta, expected, variance, links = 0.3, 0.5, 0.0, 0.0, 0
    for seed in range(20):
        draw = Random(seed).random
        points = [(draw(), draw()) for _router in range(40)]
        far = [hypot(a[0] - b[0], a[1] - b[1]) for a, b in combinations(points, 2)]
        chances = [beta * exp(-each / (alpha * max(far))) for each in far]
        expected += sum(chances)
        variance += sum(each * (1 - each) for each in chances)
        made = core(topologies.waxman(routers=40, alpha=alpha, beta=beta, topology_seed=seed))
        links += made.number_of_edges()
    # Links that only join parts are few with so many: less than one in each network.
    assert expected - 4 * variance**0.5 < links < expected + 4 * variance**0.5 + 20


def test_waxman_delays_are_lengths_in_a_square() -> None:
    delays = [d for _a, _b, d in core(topologies.waxman(across="30ms", beta=1.0)).edges(data="delay_ns")]
    assert 0 < max(delays) <= 30e6 * 2**0.5 + 1000


@settings(max_examples=40, deadline=None)
@given(links=st.integers(1, 4), more=st.integers(1, 40), seed=st.integers(0, 2**64 - 1))
def test_each_new_router_of_barabasi_and_albert_brings_so_many_links(
    links: int, more: int, seed: int
) -> None:
    routers = links + more
    made = core(topologies.barabasi_albert(routers=routers, links_each=links, topology_seed=seed))
    assert len(made) == routers
    assert nx.is_connected(made)
    assert made.number_of_edges() == links + links * (routers - links - 1)
    for new in range(links + 2, routers + 1):
        older = [name for name in made[f"r{new}"] if int(name[1:]) < new]
        assert len(older) == links


def test_barabasi_and_albert_prefer_who_has_many_links() -> None:
    # By mean-field theory router i has m sqrt(n / i) links (Barabasi and Albert, equation 2): of 1000 the
    # largest has some sqrt(1000) m; with choices at even odds it would be m (1 + ln 1000) at most, about 8 m.
    made = core(topologies.barabasi_albert(routers=1000, links_each=2))
    degrees = sorted(dict(made.degree).values())
    assert degrees[-1] > 2 * 1000**0.5 * 0.6
    assert degrees[0] == 2
    assert degrees[500] <= 3


def test_only_so_many_of_the_last_routers_have_hosts() -> None:
    sketch = topologies.barabasi_albert(routers=10, sites=3, hosts=2)
    assert hosts_of(sketch) == [f"r{site}-h{host}" for site in (8, 9, 10) for host in (1, 2)]
