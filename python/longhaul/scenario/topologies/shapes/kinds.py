"""From the section of a scenario to the elements of its network."""

from collections.abc import Iterator, Mapping

from longhaul.scenario.model import topology as model
from longhaul.scenario.topologies.shapes import chance, mapped, plain
from longhaul.scenario.topologies.shapes.elements import Element

Laws = Mapping[str, str]

ACCESS: Laws = {"delay": "50us", "rate": "10Gbit"}
WAN: Laws = {"delay": "10ms", "rate": "1Gbit"}
_WANS: Mapping[str, Laws] = {
    "fat-tree": {"delay": "5us", "rate": "10Gbit"},
    "sites": {"rate": "10Gbit"},
    "grid5000": {"rate": "10Gbit"},
    "waxman": {"rate": "1Gbit"},
}
"""Of kinds whose links are not those of a wide area, or say their delay themselves."""
_TERAGRID_HOST: Laws = {"delay": "50us", "rate": "1Gbit", "mtu": "9000"}


def elements(spec: model.Topology) -> Iterator[Element]:
    """Routers, hosts and joints, in the order of the scenario; endless work is the caller's to stop."""
    match spec:
        case model.Chain() | model.Ring() | model.Mesh():
            return plain.row(spec)
        case model.Star():
            return plain.star(spec)
        case model.Torus():
            return plain.torus(spec)
        case model.Dumbbell():
            return plain.dumbbell(spec)
        case model.FishBone():
            return plain.fish_bone(spec)
        case model.Tree():
            return plain.tree(spec)
        case model.FatTree():
            return plain.fat_tree(spec)
        case model.Clusters():
            return plain.clusters(spec)
        case model.Sites():
            return mapped.sites(spec)
        case model.Grid5000():
            return mapped.grid5000(spec)
        case model.TeraGridNetwork():
            return mapped.teragrid(spec)
        case model.Waxman():
            return chance.waxman(spec)
        case model.BarabasiAlbert():
            return chance.barabasi_albert(spec)


def default_laws(spec: model.Topology) -> Mapping[str, Laws]:
    """Laws of each kind of link where the section says none."""
    if isinstance(spec, model.TeraGridNetwork):
        behind = {"pool": "40us", "sink": "10us"} if spec.sink == "pool" else {}
        more = {name: {**_TERAGRID_HOST, "delay": delay} for name, delay in behind.items()}
        return {"access": _TERAGRID_HOST, "wan": {"rate": "10Gbit", "mtu": "9000"}, **more}
    return {"access": ACCESS, "wan": _WANS.get(spec.kind, WAN)}
