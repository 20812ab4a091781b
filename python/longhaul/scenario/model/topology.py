"""A whole network in one section: its topology, and its links."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import AlsoText, Count, HostName, Name, Number, Strict, choice, problem
from longhaul.scenario.model.chosen import Chosen
from longhaul.scenario.model.link import Mtu, Profile
from longhaul.scenario.model.queue import QueueModel
from longhaul.units.quantities import Span

LinkModel = Annotated[
    Annotated[Name, Tag("name")] | Annotated[Profile, Tag("models")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "models"),
]
"""The name of a profile, or models as a profile has them."""
Hosts = Annotated[int, Count(at_least=1, at_most=1000)]
Routers = Annotated[int, Count(at_least=1, at_most=10_000)]


class Network(Strict):
    """What all topologies have in common."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    access: LinkModel | None = None
    """Links of hosts: the name of a profile, or models; 50us and 10Gbit if left out."""
    wan: LinkModel | None = None
    """Links between routers: the name of a profile, or models; 10ms and 1Gbit if left out."""
    mtu: Mtu | None = None
    """Largest packet of every link in bytes, such as 9000; 1500 if left out."""
    addresses: Literal["ipv4", "ipv6", "dual"] | None = None
    """Addresses of all nodes, as at the top of the file."""


class Hosted(Network):
    """A topology with hosts at its routers."""

    hosts: Hosts = 1
    """Hosts at each router that has some."""


class Chain(Hosted):
    """Routers in a row: r1, r2, and so on."""

    kind: Literal["chain"]
    routers: Routers = 3
    """How many routers."""
    hosts_at: Literal["ends", "all"] = "ends"
    """Whether hosts are at the first and the last router, or at all."""


class Star(Hosted):
    """Sites r1, r2, and so on, each with a link to the router hub."""

    kind: Literal["star"]
    sites: Routers = 4
    """How many sites around the hub."""


class Ring(Hosted):
    """Sites r1, r2, and so on in a circle."""

    kind: Literal["ring"]
    sites: Annotated[int, Count(at_least=3, at_most=10_000)] = 4
    """How many sites, three at least."""


class Mesh(Hosted):
    """Sites r1, r2, and so on, each with a link to every other."""

    kind: Literal["mesh"]
    sites: Annotated[int, Count(at_least=2, at_most=10_000)] = 4
    """How many sites."""


class Torus(Hosted):
    """Routers in a grid whose ends meet: r1-1 is joined to r1-2, r2-1, and the last of its row and column."""

    kind: Literal["torus"]
    size: Annotated[tuple[Annotated[int, Count(at_least=3, at_most=1000)], ...], Field(strict=False)] = (4, 4)
    """Routers along each dimension, three at least; two or more dimensions."""

    @field_validator("size", mode="before")
    @classmethod
    def _dimensions(cls, value: Any) -> Any:
        if not isinstance(value, list) or not 2 <= len(value) <= 4:
            raise problem(
                Code.WRONG_LENGTH,
                "must be the lengths of two to four dimensions",
                'write for example "[4, 4]"',
            )
        return value


class Dumbbell(Network):
    """Hosts left1.. at router left and right1.. at router right, and one link between: bottleneck."""

    kind: Literal["dumbbell"]
    left: Hosts = 2
    """Hosts on the left, which are sources."""
    right: Hosts = 2
    """Hosts on the right, which are sinks."""


class FishBone(Hosted):
    """Clients head1.. and tail1.. at the ends of a spine s1, s2, ..; at each of its routers two ribs.

    Hosts at ribs up1, up2, .. are sources and those at down1, down2, .. sinks of traffic that crosses.
    """

    kind: Literal["fish-bone"]
    length: Routers = 3
    """Routers of the spine."""


class Tree(Hosted):
    """A root and so many levels below it: r1, r2, then r1-1, r1-2; hosts at the lowest routers."""

    kind: Literal["tree"]
    depth: Annotated[int, Count(at_least=1, at_most=12)] = 2
    """Levels of routers below the root."""
    fanout: Annotated[int, Count(at_least=1, at_most=1000)] = 2
    """Routers below each that is not one of the lowest."""


class FatTree(Network):
    """Three layers of switches with k ports (Al-Fares et al. 2008): core1.., p1-a1.., p1-e1.., k pods."""

    kind: Literal["fat-tree"]
    k: Annotated[int, Count(at_least=2, at_most=48)] = 4
    """Ports of a switch, an even number: k pods, (k/2)^2 cores."""
    hosts: Hosts | None = None
    """Hosts at each edge switch; k/2 if left out."""
    spread: bool = True
    """Whether packets take different cores by the number of the host they go to; up to k = 8."""

    @model_validator(mode="after")
    def _even(self) -> "FatTree":
        if self.k % 2:
            remedy = f"write {self.k - 1} or {self.k + 1}"
            raise problem(
                Code.TOPOLOGY_INVALID,
                f"k must be even, not {self.k}: half of the ports go up",
                remedy,
                at="k",
            )
        return self


class Clusters(Network):
    """Clusters c1, c2, and so on, joined over a WAN."""

    kind: Literal["clusters"]
    clusters: Annotated[int, Count(at_least=2, at_most=1000)] = 2
    """How many clusters."""
    hosts: Hosts = 4
    """Hosts of each cluster."""
    style: Literal["gateway", "end-node"] = "gateway"
    """gateway: hosts share the WAN links of their cluster's router, which has one to every other cluster.

    end-node: each host has a link of its own to the router wan, beside that to its cluster's switch.
    """


class Spot(Strict):
    """A site on the globe."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    at: Annotated[
        tuple[
            Annotated[float, Number(at_least=-90, at_most=90, example="48.85")],
            Annotated[float, Number(at_least=-180, at_most=180, example="2.35")],
        ],
        Field(strict=False, examples=["[48.85, 2.35]"]),
    ]
    """Latitude and longitude in degrees."""
    hosts: Hosts | None = None
    """Hosts here, where not as many as elsewhere."""


def _spot(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if len(value) != 2:
        raise problem(
            Code.WRONG_TYPE, "must be latitude and longitude in degrees", 'write for example "[48.85, 2.35]"'
        )
    return {"at": value}


class Mapped(Hosted):
    """A topology whose delays follow from distances."""

    route_factor: Annotated[float, Number(at_least=1, at_most=10, example="1.5")] | None = None
    """Length of fibre over the great circle; 1.5 below 1000 km and 1.25 above 1200 km if left out."""
    index: Annotated[float, Number(at_least=1, at_most=10, example="1.468")] = 1.468
    """Group index of the glass: light is so much slower there than in vacuum."""


class Sites(Mapped):
    """Sites with coordinates, and links whose delays are those of fibre between them."""

    kind: Literal["sites"]
    sites: Annotated[
        dict[HostName, Annotated[Spot, BeforeValidator(_spot)]],
        Field(min_length=1, examples=["{par: [48.85, 2.35], nyc: [40.71, -74.01]}"]),
    ]
    """Name of each site with its latitude and longitude, or with {at: [..], hosts: 8}."""
    join: (
        Literal["mesh", "ring", "chain", "star"]
        | Annotated[
            tuple[Annotated[tuple[HostName, HostName], Field(strict=False)], ...], Field(strict=False)
        ]
    ) = "mesh"
    """Which sites have links: a shape in the order of the sites (star: to the first), or pairs."""

    @field_validator("join", mode="before")
    @classmethod
    def _shape_or_pairs(cls, value: Any) -> Any:
        shapes = ("mesh", "ring", "chain", "star")
        if isinstance(value, list):
            if not all(isinstance(each, list) and len(each) == 2 for each in value):
                raise problem(
                    Code.WRONG_LENGTH,
                    "must be pairs of sites",
                    'write for example "[[par, nyc], [par, ams]]"',
                )
            return value
        choice({"join": value}, "join", shapes, (), "shape")
        return value

    @model_validator(mode="after")
    def _known_sites(self) -> "Sites":
        for pair in self.join if isinstance(self.join, tuple) else ():
            for end in pair:
                choice({"join": end}, "join", tuple(self.sites), (), "site")
            if pair[0] == pair[1]:
                raise problem(
                    Code.SAME_ENDS, f'both ends of a link are "{pair[0]}"', "name two sites", at="join"
                )
        return self


class Grid5000(Mapped):
    """Nine sites in France as Grid'5000 had them in 2006, on a backbone of our choice with 10 Gbit/s."""

    kind: Literal["grid5000"]


class TeraGridNetwork(Strict):
    """San Diego to Purdue as Hacker, Smith et al. (2008) simulated it: sdsc1.., sdsc, la, chi, purdue, .."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    kind: Literal["teragrid"]
    loss: Literal["teragrid", "teragrid-literal-seconds", "teragrid-busy-10g", "none"] = "teragrid"
    """The preset of losses between Los Angeles and Chicago, in the direction of the data."""
    cross: Literal["none", "la", "sdsc-la"] = "none"
    """Hosts of cross traffic x1 to x5: at Los Angeles, or two at San Diego and three at Los Angeles."""
    sink: Literal["direct", "pool"] = "direct"
    """pool: the hosts of Purdue are behind one more link of 1 Gbit/s, purdue-pool."""
    queue: QueueModel | None = None
    """Of every link; 1000p if left out."""


class Waxman(Hosted):
    """Routers at random places, the nearer the likelier joined (Waxman 1988); always connected."""

    kind: Literal["waxman"]
    routers: Annotated[int, Count(at_least=2, at_most=2000)] = 20
    """How many routers: r1, r2, and so on."""
    alpha: Annotated[float, Number(at_least=0.001, at_most=100, example="0.2")] = 0.2
    """How far links reach: their probability falls by e over this share of the longest distance."""
    beta: Annotated[float, Number(at_least=0.001, at_most=1, example="0.4")] = 0.4
    """Probability of a link between routers at the same place."""
    across: Span = Span(30 * 10**6)
    """One-way delay along a side of the square that routers are in; links have their share of it."""
    seed: Annotated[int, Count(at_least=0, at_most=2**64 - 1)] = 1
    """Another seed is another network; the seed of the run has no say in it."""
    sites: Routers | None = None
    """How many routers have hosts, the last ones; all if left out."""


class BarabasiAlbert(Hosted):
    """Routers that join one after the other, by preference those with many links (Barabasi, Albert 1999)."""

    kind: Literal["barabasi-albert"]
    routers: Annotated[int, Count(at_least=2, at_most=10_000)] = 20
    """How many routers: r1, r2, and so on."""
    links: Annotated[int, Count(at_least=1, at_most=100)] = 2
    """Links of each new router; it begins as a star of so many around one."""
    seed: Annotated[int, Count(at_least=0, at_most=2**64 - 1)] = 1
    """Another seed is another network; the seed of the run has no say in it."""
    sites: Routers | None = None
    """How many routers have hosts, the last ones; all if left out."""

    @model_validator(mode="after")
    def _more_than_links(self) -> "BarabasiAlbert":
        if self.routers <= self.links:
            remedy = f"write {self.links + 1} or more, or fewer links"
            raise problem(
                Code.TOPOLOGY_INVALID,
                f"{self.routers} routers cannot have {self.links} links each",
                remedy,
                at="routers",
            )
        return self


Topology = (
    Chain
    | Star
    | Ring
    | Mesh
    | Torus
    | Dumbbell
    | FishBone
    | Tree
    | FatTree
    | Clusters
    | Sites
    | Grid5000
    | TeraGridNetwork
    | Waxman
    | BarabasiAlbert
)
KINDS: tuple[str, ...] = tuple(
    get_args(each.model_fields["kind"].annotation)[0] for each in get_args(Topology)
)
"""The word for each of :data:`Topology`, in their order."""


def _known(value: Any) -> Any:
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, dict):
        raise problem(
            Code.WRONG_TYPE,
            "must be a kind, or a mapping of keys to values",
            'write for example "{kind: dumbbell}"',
        )
    if value.get("kind") is None:
        raise problem(Code.KEY_MISSING, 'has no "kind"', "write for example kind: dumbbell")
    choice(value, "kind", KINDS, (), "topology")
    return value


TopologyModel = Annotated[
    Topology,
    Chosen(lambda value: str(value["kind"]), dict(zip(KINDS, get_args(Topology), strict=True))),
    BeforeValidator(_known),
    AlsoText(f"^({'|'.join(KINDS)})$", "dumbbell"),
]


class Section(Strict):
    """The section by itself, as it is read before nodes and links are there."""

    topology: TopologyModel
