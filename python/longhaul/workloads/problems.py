"""The classes of the NAS parallel benchmarks: sizes, and the values that a right result has.

Sizes and values are those of NPB 2.3 and 3 (NAS-91-002; NAS-95-020), except that class W of MG is NPB 3's.
"""

from dataclasses import dataclass

CLASSES = ("S", "W", "A", "B", "C")

SEED = 314_159_265
"""The seed of all kernels but EP."""

EP_SEED = 271_828_183


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """EP: 2^exponent pairs, and the sums of the Gaussian deviates."""

    exponent: int
    sums: tuple[float, float]


EP = {
    "S": Pairs(exponent=24, sums=(-3.247834652034740e3, -6.958407078382297e3)),
    "W": Pairs(exponent=25, sums=(-2.863319731645753e3, -6.320053679109499e3)),
    "A": Pairs(exponent=28, sums=(-4.295875165629892e3, -1.580732573678431e4)),
    "B": Pairs(exponent=30, sums=(4.033815542441498e4, -2.660669192809235e4)),
    "C": Pairs(exponent=32, sums=(4.764367927995374e4, -8.084072988043731e4)),
}


@dataclass(frozen=True, kw_only=True)
class Keys:
    """IS: 2^keys keys below 2^span, in 2^buckets buckets, and the ranks that five of the keys have.

    In iteration i, from 1, the rank of the key at ``places[k]`` is ``ranks[k] + (i + shift_up)`` for k in
    ``rising`` and ``ranks[k] - (i + shift_down)`` for others.
    """

    keys: int
    span: int
    buckets: int
    places: tuple[int, ...]
    ranks: tuple[int, ...]
    rising: tuple[int, ...]
    shift_up: int
    shift_down: int


IS = {
    "S": Keys(
        keys=16,
        span=11,
        buckets=9,
        places=(48427, 17148, 23627, 62548, 4431),
        ranks=(0, 18, 346, 64917, 65463),
        rising=(0, 1, 2),
        shift_up=0,
        shift_down=0,
    ),
    "W": Keys(
        keys=20,
        span=16,
        buckets=10,
        places=(357773, 934767, 875723, 898999, 404505),
        ranks=(1249, 11698, 1039987, 1043896, 1048018),
        rising=(0, 1),
        shift_up=-2,
        shift_down=0,
    ),
    "A": Keys(
        keys=23,
        span=19,
        buckets=10,
        places=(2112377, 662041, 5336171, 3642833, 4250760),
        ranks=(104, 17523, 123928, 8288932, 8388264),
        rising=(0, 1, 2),
        shift_up=-1,
        shift_down=-1,
    ),
    "B": Keys(
        keys=25,
        span=21,
        buckets=10,
        places=(41869, 812306, 5102857, 18232239, 26860214),
        ranks=(33422937, 10244, 59149, 33135281, 99),
        rising=(1, 2, 4),
        shift_up=0,
        shift_down=0,
    ),
    "C": Keys(
        keys=27,
        span=23,
        buckets=10,
        places=(44172927, 72999161, 74326391, 129606274, 21736814),
        ranks=(61147, 882988, 266290, 133997595, 133525895),
        rising=(0, 1, 2),
        shift_up=0,
        shift_down=0,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """CG: the order of the matrix, entries of each random vector, iterations, shift, and the eigenvalue."""

    order: int
    entries: int
    iterations: int
    shift: float
    zeta: float


CG = {
    "S": Matrix(order=1_400, entries=7, iterations=15, shift=10, zeta=8.5971775078648),
    "W": Matrix(order=7_000, entries=8, iterations=15, shift=12, zeta=10.362595087124),
    "A": Matrix(order=14_000, entries=11, iterations=15, shift=20, zeta=17.130235054029),
    "B": Matrix(order=75_000, entries=13, iterations=75, shift=60, zeta=22.712745482631),
    "C": Matrix(order=150_000, entries=15, iterations=75, shift=110, zeta=28.973605592845),
}


@dataclass(frozen=True, kw_only=True)
class Cube:
    """MG: 2^levels points along each axis, cycles, and the norm of the residual."""

    levels: int
    cycles: int
    norm: float
    smoother: tuple[float, float, float, float]

    @property
    def points_for_ranks(self) -> int:
        """The number of ranks up to which each has two points along each axis."""
        return int(8 ** (self.levels - 1))


SMALL_SMOOTHER = (-3 / 8, 1 / 32, -1 / 64, 0.0)
LARGE_SMOOTHER = (-3 / 17, 1 / 33, -1 / 61, 0.0)

MG = {
    "S": Cube(levels=5, cycles=4, norm=0.5307707005734e-4, smoother=SMALL_SMOOTHER),
    "W": Cube(levels=7, cycles=4, norm=0.6467329375339e-5, smoother=SMALL_SMOOTHER),
    "A": Cube(levels=8, cycles=4, norm=0.2433365309069e-5, smoother=SMALL_SMOOTHER),
    "B": Cube(levels=8, cycles=20, norm=0.1800564401355e-5, smoother=LARGE_SMOOTHER),
    "C": Cube(levels=9, cycles=20, norm=0.5706732285740e-6, smoother=LARGE_SMOOTHER),
}


@dataclass(frozen=True, kw_only=True)
class Box:
    """FT: points along x, y, z; steps; and the checksums that are known, from the first step on."""

    sizes: tuple[int, int, int]
    steps: int
    checksums: tuple[complex, ...]


FT = {
    "S": Box(
        sizes=(64, 64, 64),
        steps=6,
        checksums=(
            554.6087004964 + 484.5363331978j,
            554.6385409189 + 486.5304269511j,
            554.6148406171 + 488.3910722336j,
            554.5423607415 + 490.1273169046j,
            554.4255039624 + 491.7475857993j,
            554.2683411902 + 493.2597244941j,
        ),
    ),
    "W": Box(
        sizes=(128, 128, 32),
        steps=6,
        checksums=(
            567.3612178944 + 529.3246849175j,
            563.1436885271 + 528.2149986629j,
            559.4024089970 + 527.0996558037j,
            556.0698047020 + 526.0027904925j,
            553.0898991250 + 524.9400845633j,
            550.4159734538 + 523.9212247086j,
        ),
    ),
    "A": Box(
        sizes=(256, 256, 128),
        steps=6,
        checksums=(
            504.6735008193 + 511.4047905510j,
            505.9412319734 + 509.8809666433j,
            506.9376896287 + 509.8144042213j,
            507.7892868474 + 510.1336130759j,
            508.5233095391 + 510.4914655194j,
            509.1487099959 + 510.7917842803j,
        ),
    ),
    "B": Box(
        sizes=(512, 256, 256),
        steps=20,
        checksums=(
            517.7643571579 + 507.7803458597j,
            515.4521291263 + 508.8249431599j,
            514.6409228649 + 509.6208912659j,
            514.2378756213 + 510.1023387619j,
            513.9626667737 + 510.3976610617j,
            513.7423460082 + 510.5948019802j,
            513.5547056878 + 510.7404165783j,
            513.3910925466 + 510.8576573661j,
            513.2470705390 + 510.9577278523j,
            513.1197729984 + 511.0460304483j,
            513.0070319283 + 511.1252433800j,
            512.9070537032 + 511.1968077718j,
            512.8182883502 + 511.2616233064j,
            512.7393733383 + 511.3203605551j,
            512.6691062020 + 511.3735928093j,
            512.6064276004 + 511.4218460548j,
            512.5504076570 + 511.4656139760j,
            512.5002331720 + 511.5053595966j,
            512.4551951846 + 511.5415130407j,
            512.4146770029 + 511.5744692211j,
        ),
    ),
    "C": Box(
        sizes=(512, 512, 512),
        steps=20,
        checksums=(519.5078707457 + 514.9019699238j,),
    ),
}
