"""The elements of a network, from the section of a scenario."""

from collections.abc import Iterator, Mapping

from longhaul.scenario.expand.topologies.shapes import geographic, random_graphs, regular_graphs
from longhaul.scenario.expand.topologies.shapes.elements import Element
from longhaul.scenario.model import topology as model

Settings = Mapping[str, str]
Shape = (
    model.Chain
    | model.Star
    | model.Ring
    | model.Mesh
    | model.Torus
    | model.Dumbbell
    | model.FishBone
    | model.Tree
    | model.FatTree
    | model.Clusters
    | model.Sites
    | model.Grid5000
    | model.TeraGridNetwork
    | model.Waxman
    | model.BarabasiAlbert
)
"""A topology that is the same at all times."""

ACCESS: Settings = {"delay": "50us", "rate": "10Gbit"}
WAN: Settings = {"delay": "10ms", "rate": "1Gbit"}
_WANS: Mapping[str, Settings] = {
    "fat-tree": {"delay": "5us", "rate": "10Gbit"},
    "sites": {"rate": "10Gbit"},
    "grid5000": {"rate": "10Gbit"},
    "waxman": {"rate": "1Gbit"},
}
"""Of kinds whose links are not those of a wide area, or say their delay themselves."""
_TERAGRID_HOST: Settings = {"delay": "50us", "rate": "1Gbit", "mtu": "9000"}


def elements(spec: Shape) -> Iterator[Element]:
    """Routers, hosts and joints, in the order of the scenario; endless work is the caller's to stop."""
    match spec:
        case model.Chain() | model.Ring() | model.Mesh():
            return regular_graphs.row(spec)
        case model.Star():
            return regular_graphs.star(spec)
        case model.Torus():
            return regular_graphs.torus(spec)
        case model.Dumbbell():
            return regular_graphs.dumbbell(spec)
        case model.FishBone():
            return regular_graphs.fish_bone(spec)
        case model.Tree():
            return regular_graphs.tree(spec)
        case model.FatTree():
            return regular_graphs.fat_tree(spec)
        case model.Clusters():
            return regular_graphs.clusters(spec)
        case model.Sites():
            return geographic.sites(spec)
        case model.Grid5000():
            return geographic.grid5000(spec)
        case model.TeraGridNetwork():
            return geographic.teragrid(spec)
        case model.Waxman():
            return random_graphs.waxman(spec)
        case model.BarabasiAlbert():
            return random_graphs.barabasi_albert(spec)


def default_settings(spec: model.Topology) -> Mapping[str, Settings]:
    """Settings of each kind of link where the section says none."""
    if isinstance(spec, model.TeraGridNetwork):
        behind = {"pool": "40us", "sink": "10us"} if spec.sink == "pool" else {}
        more = {name: {**_TERAGRID_HOST, "delay": delay} for name, delay in behind.items()}
        return {"access": _TERAGRID_HOST, "wan": {"rate": "10Gbit", "mtu": "9000"}, **more}
    if isinstance(spec, model.Constellation):
        return {"access": ACCESS, "ground": {"rate": "1Gbit"}, "space": {"rate": "10Gbit"}}
    return {"access": ACCESS, "wan": _WANS.get(spec.kind, WAN)}
