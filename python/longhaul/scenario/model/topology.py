"""A whole network in one section: its topology, and its links."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    PlainValidator,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from longhaul.diagnostics import Code, printable
from longhaul.places import cities, named
from longhaul.scenario.model.base import (
    AlsoText,
    Count,
    FileName,
    HostName,
    Name,
    Number,
    Strict,
    choice,
    problem,
)
from longhaul.scenario.model.chosen import Chosen
from longhaul.scenario.model.described import Described
from longhaul.scenario.model.link import Mtu, Profile
from longhaul.scenario.model.queue import QueueModel
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.quantities import Distance, Span

LinkModel = Annotated[
    Annotated[Name, Tag("name")] | Annotated[Profile, Tag("models")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "models"),
]
"""The name of a profile, or models as a profile has them."""
Coordinates = Annotated[
    tuple[
        Annotated[float, Number(at_least=-90, at_most=90, example="48.85")],
        Annotated[float, Number(at_least=-180, at_most=180, example="2.35")],
    ],
    Field(strict=False, examples=["[48.85, 2.35]"]),
]
"""Latitude and longitude in degrees."""
Hosts = Annotated[int, Count(at_least=1, at_most=1000)]
Routers = Annotated[int, Count(at_least=1, at_most=10_000)]


class Network(Described):
    """What all topologies have in common."""

    access: LinkModel | None = None
    """Links of hosts: the name of a profile, or models; 50us and 10Gbit if left out."""
    mtu: Mtu | None = None
    """Largest packet of every link in bytes, such as 9000; 1500 if left out."""
    addresses: Literal["ipv4", "ipv6", "dual"] | None = None
    """Addresses of all nodes, as at the top of the file."""


class Routed(Network):
    """A topology of routers with links between them."""

    wan: LinkModel | None = None
    """Links between routers: the name of a profile, or models; 10ms and 1Gbit if left out."""


class Hosted(Routed):
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


class Dumbbell(Routed):
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


class FatTree(Routed):
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


class Clusters(Routed):
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


class Spot(Described):
    """A site on the globe."""

    at: Coordinates
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


class TeraGridNetwork(Described):
    """San Diego to Purdue as Hacker, Smith et al. (2008) simulated it: sdsc1.., sdsc, la, chi, purdue, .."""

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


def _place(value: Any) -> Any:
    """Latitude and longitude of a city that is given by its name."""
    if isinstance(value, list) and len(value) == 2:
        return value
    if not isinstance(value, str):
        remedy = 'write for example "[48.85, 2.35]", or a city: "Paris"'
        raise problem(Code.WRONG_TYPE, "must be latitude and longitude in degrees, or a city", remedy)
    city = named(value)
    if city is None:
        near = did_you_mean(value, (each.name for each in cities()), listed=())
        hint = f"{near} Or write" if near.endswith("?") else "write"
        message = f'there is no city "{printable(value)}" among those of 100,000 inhabitants or more'
        raise problem(Code.WORD_UNKNOWN, message, f"{hint} latitude and longitude: [48.85, 2.35]")
    return [city.latitude, city.longitude]


class Station(Described):
    """A ground station."""

    at: Annotated[Coordinates, BeforeValidator(_place), AlsoText(".", "Paris")]
    """Latitude and longitude in degrees, or a city."""
    hosts: Annotated[int, Count(at_least=0, at_most=1000)] | None = None
    """Hosts here, where not as many as elsewhere; 0 for a station that a link joins to a gateway."""


class AlsoPlace:
    """Adds, to the JSON Schema of a ground station, its place alone: a city, or latitude and longitude."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        place = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        return {"anyOf": [{"type": "string", "examples": ["Paris"]}, place, handler(schema)]}


def _station(value: Any) -> Any:
    return value if isinstance(value, dict) else {"at": value}


def _utc(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    for form in ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ"):
        try:
            return datetime.strptime(str(value), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise problem(
        Code.WRONG_TYPE, f'"{printable(str(value))}" is not a time', "write for example 2026-11-27T20:00:00Z"
    )


Utc = Annotated[
    datetime,
    PlainValidator(_utc),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?Z$",
            "examples": ["2026-11-27T20:00:00Z"],
        }
    ),
]


WALKER = ("planes", "satellites", "inclination", "altitude", "phasing", "shape")
"""The keys that describe orbits in place of elements."""


class Constellation(Network):
    """Satellites in orbit, ground stations, and links whose delays follow from positions over time."""

    kind: Literal["constellation"]
    stations: Annotated[
        dict[HostName, Annotated[Station, BeforeValidator(_station), AlsoPlace()]],
        Field(json_schema_extra={"minProperties": 2}, examples=["{london: London, nyc: [40.71, -74.01]}"]),
    ]
    """Name of each ground station with a city or its latitude and longitude, or {at: [..], hosts: 8}."""
    shape: Literal["delta", "star"] = "delta"
    """Planes around the whole equator, or around half of it (Walker)."""
    planes: Annotated[int, Count(at_least=1, at_most=10_000)] = 72
    """Orbital planes."""
    satellites: Annotated[int, Count(at_least=1, at_most=10_000)] = 22
    """Satellites in each plane."""
    inclination: Annotated[float, Number(at_least=0, at_most=180, example="53")] = 53.0
    """Inclination of the planes, in degrees."""
    altitude: Distance = Distance(550_000)
    """Altitude over the mean Earth."""
    phasing: Annotated[int, Count(at_least=0, at_most=10_000)] = 1
    """Walker's F, from 0 to planes - 1."""
    tle: FileName | None = None
    """A file of two-line elements beside the scenario; its satellites take the place of planes."""
    at: Utc | None = None
    """When the scenario begins (UTC), with tle; the newest epoch of the file if left out."""
    elevation: Annotated[float, Number(at_least=0, at_most=89, example="25")] = 25.0
    """Least angle in degrees of a satellite above the horizon of a station."""
    isl: bool = True
    """Whether satellites have links to each other (+Grid)."""
    hosts: Annotated[int, Count(at_least=0, at_most=1000)] = 1
    """Hosts at each ground station."""
    step: Span = Span(10**9)
    """Time between positions; routes are computed from current delays as often."""
    span: Span | None = None
    """How long satellites move; the duration of the scenario if left out."""
    ground: LinkModel | None = None
    """Links of ground stations to satellites: the name of a profile, or models; 1Gbit if left out."""
    space: LinkModel | None = None
    """Links between satellites: the name of a profile, or models; 10Gbit if left out."""

    instead: ClassVar[Mapping[str, str]] = {
        "wan": "write ground or space",
        "pattern": "write shape: delta, or shape: star",
        "gateways": "name them under stations",
        "epoch": "write at",
        "per_plane": "write satellites",
    }

    @field_validator("stations")
    @classmethod
    def _two_or_more(cls, value: dict[str, Station]) -> dict[str, Station]:
        if len(value) < 2:
            raise problem(
                Code.TOPOLOGY_INVALID,
                "a path needs two ground stations",
                "name two or more: {london: London, nyc: New York}",
            )
        return value

    @model_validator(mode="after")
    def _one_source(self) -> "Constellation":
        of_walker = [key for key in WALKER if key in self.model_fields_set]
        if self.tle is None and self.at is not None:
            raise problem(
                Code.KEY_OUT_OF_PLACE, "is the time of elements, and there are none", "add tle: FILE", at="at"
            )
        if self.tle is not None and of_walker:
            message = "is of Walker's constellations, and tle has orbits of its own"
            raise problem(Code.KEYS_CONFLICT, message, "remove it, or tle", at=of_walker[0])
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
    | Constellation
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
