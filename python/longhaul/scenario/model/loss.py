"""Loss models."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.amount import Packets
from longhaul.scenario.model.base import AlsoText, Column, Count, FileName, Number, Strict, choice, problem
from longhaul.scenario.model.chosen import Chosen
from longhaul.scenario.model.distribution import Constant as ConstantAmount
from longhaul.scenario.model.distribution import PacketDistribution, SizeDistribution, TimeDistribution
from longhaul.units.quantities import Rate, Share, Span

_ALL = Share.parse("100%")
_NOTHING = Share.parse("0%")


class LossModel(Strict):
    """The keys of every loss model."""

    position: Literal["ingress", "egress"] | None = None
    """Ingress: before the queue, where a lost packet takes no room and no time; egress: after the serialiser.

    Ingress is the default.
    """


class NoLoss(LossModel):
    """Nothing is lost."""

    model: Literal["none"]


class IndependentLoss(LossModel):
    """Each packet is lost by itself."""

    model: Literal["independent"]
    mean: Share


class BlockLoss(LossModel):
    """One packet, chosen at random, in every block is lost (NemC's drop_rate)."""

    model: Literal["block"]
    packets: Annotated[int, Count(at_least=1)]


class PeriodicLoss(LossModel):
    """The last packet of every so many is lost."""

    model: Literal["periodic"]
    every: Annotated[int, Count(at_least=1)]


class GilbertElliottLoss(LossModel):
    """Packets are lost in bursts: two states with geometric sojourns, the bad one loses everything."""

    model: Literal["gilbert-elliott"]
    mean: Share
    burst: Annotated[float, Number(at_least=1, at_most=1e9, example="3 or 2.5")]
    """Mean number of packets lost in a row."""

    @field_validator("burst", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, bool | str | list | dict):
            raise problem(
                Code.WRONG_TYPE,
                "must be the mean number of packets lost in a row",
                "write for example 3 or 2.5",
            )
        return value

    @model_validator(mode="after")
    def _possible(self) -> "GilbertElliottLoss":
        share = float(self.mean)
        if share >= 1:
            raise problem(
                Code.LOSS_IMPOSSIBLE,
                "loses everything",
                "a link that carries nothing is down: write up: false",
                at="mean",
            )
        if self.burst < share / (1 - share):
            least = share / (1 - share)
            message = f"bursts of {self.burst:g} cannot lose {self.mean} of all packets"
            raise problem(
                Code.LOSS_IMPOSSIBLE,
                message,
                f"write {least:.4g} or more, which is mean / (1 - mean)",
                at="burst",
            )
        return self


class MarkovLoss(LossModel):
    """Two states, each with a share of loss of its own."""

    model: Literal["markov"]
    good_to_bad: Share
    bad_to_good: Share
    loss_good: Share = _NOTHING
    loss_bad: Share = _ALL

    @model_validator(mode="after")
    def _moves(self) -> "MarkovLoss":
        if not self.good_to_bad.share + self.bad_to_good.share:
            raise problem(
                Code.LOSS_IMPOSSIBLE, "never leaves a state", "write a chance above 0%", at="good_to_bad"
            )
        return self


class FourStateLoss(LossModel):
    """Good gap 1, good within a burst 2, lost in a burst 3, lost by itself 4."""

    model: Literal["four-state"]
    p13: Share
    p31: Share
    p32: Share = _NOTHING
    p23: Share = _ALL
    p14: Share = _NOTHING

    @model_validator(mode="after")
    def _chances(self) -> "FourStateLoss":
        for first, second in (("p13", "p14"), ("p31", "p32")):
            if getattr(self, first).share + getattr(self, second).share > 1:
                message = f"{first} and {second} are more than 100% together"
                raise problem(
                    Code.LOSS_IMPOSSIBLE, message, "write less: they leave the same state", at=first
                )
        return self


class CorrelatedLoss(LossModel):
    """A packet's chance depends on the one before, and the mean is kept."""

    model: Literal["correlated"]
    mean: Share
    correlation: Share

    @model_validator(mode="after")
    def _below_one(self) -> "CorrelatedLoss":
        if self.correlation.share >= 1:
            raise problem(
                Code.DISTRIBUTION_INVALID,
                "with a correlation of 1 the value never changes",
                "write less than 100%",
                at="correlation",
            )
        return self


class _Renewal(LossModel):
    model: Literal["renewal"]
    burst: PacketDistribution = ConstantAmount[Packets](dist="constant", value=Packets(1.0))
    """Packets lost at the end of each gap, rounded up to whole ones."""

    @field_validator("burst")
    @classmethod
    def _something(cls, value: Any) -> Any:
        if isinstance(value, ConstantAmount) and value.value.packets < 1:
            raise problem(Code.LOSS_IMPOSSIBLE, "loses no packet", "write 1 or more")
        return value


class PacketRenewalLoss(_Renewal):
    """Gaps between losses are drawn one by one, and counted in packets."""

    unit: Literal["packets"]
    gap: PacketDistribution


class ByteRenewalLoss(_Renewal):
    """Gaps between losses are drawn one by one, and counted in IP bytes."""

    unit: Literal["bytes"]
    gap: SizeDistribution


class WallRenewalLoss(_Renewal):
    """Gaps between losses are drawn one by one, in time that passes."""

    unit: Literal["wall"] = "wall"
    gap: TimeDistribution
    lasts: Span | None = None
    """The end of a gap drops no packet that arrives later than this; by default a packet of any age."""


class BusyRenewalLoss(_Renewal):
    """Gaps between losses are drawn one by one, in time that the packets take at a rate."""

    unit: Literal["busy"]
    rate: Rate
    gap: TimeDistribution


class TraceLoss(LossModel):
    """Losses from a file."""

    model: Literal["trace"]
    file: FileName
    form: Literal["indices", "times", "gaps", "ns2"]
    """Numbers of the packets that are lost, the first being 1; times in seconds; packets that pass before
    each loss; or lines of how many pass and how many are lost."""
    column: Column | None = None
    """Of a CSV file with a header; the first if left out."""
    at_end: Literal["loop", "stop"] = "stop"
    period: Span | None = None
    """Of times: after how long they begin again; a mean gap after the last of them if left out."""

    @model_validator(mode="after")
    def _times_only(self) -> "TraceLoss":
        if self.period is not None and (self.form != "times" or self.at_end != "loop"):
            raise problem(Code.KEY_OUT_OF_PLACE, "belongs to times that loop", "remove it", at="period")
        return self


PRESETS = ("teragrid", "teragrid-literal-seconds", "teragrid-busy-10g")


class PresetLoss(LossModel):
    """A model under a name."""

    preset: Literal["teragrid", "teragrid-literal-seconds", "teragrid-busy-10g"]


_LOSSES = (
    "none",
    "independent",
    "block",
    "periodic",
    "gilbert-elliott",
    "markov",
    "four-state",
    "correlated",
    "renewal",
    "trace",
)
_UNITS = ("packets", "bytes", "wall", "busy")


def _loss(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"model": "independent", "mean": value}
    if "preset" in value:
        choice(value, "preset", PRESETS, (), "preset")
        return value
    choice(value, "model", _LOSSES, (), "loss model")
    if value["model"] == "renewal" and value.get("unit") is not None:
        choice(value, "unit", _UNITS, (), "unit of gaps")
    return value


def _kind(value: Any) -> str:
    if not isinstance(value, dict):
        return "none"
    if "preset" in value:
        return "a preset"
    if value.get("model") == "renewal":
        return f"renewal in {value.get('unit') or 'wall'}"
    return str(value.get("model"))


Loss = Annotated[
    NoLoss
    | IndependentLoss
    | BlockLoss
    | PeriodicLoss
    | GilbertElliottLoss
    | MarkovLoss
    | FourStateLoss
    | CorrelatedLoss
    | PacketRenewalLoss
    | ByteRenewalLoss
    | WallRenewalLoss
    | BusyRenewalLoss
    | TraceLoss
    | PresetLoss,
    Chosen(
        _kind,
        {
            "none": NoLoss,
            "independent": IndependentLoss,
            "block": BlockLoss,
            "periodic": PeriodicLoss,
            "gilbert-elliott": GilbertElliottLoss,
            "markov": MarkovLoss,
            "four-state": FourStateLoss,
            "correlated": CorrelatedLoss,
            "renewal in packets": PacketRenewalLoss,
            "renewal in bytes": ByteRenewalLoss,
            "renewal in wall": WallRenewalLoss,
            "renewal in busy": BusyRenewalLoss,
            "trace": TraceLoss,
            "a preset": PresetLoss,
        },
    ),
    BeforeValidator(_loss),
    AlsoText(Share.pattern(), "0.1%"),
]
