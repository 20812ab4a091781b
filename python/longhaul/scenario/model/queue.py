"""Queues: limit, discipline, and early drops or marks."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from longhaul.diagnostics import Code, printable
from longhaul.scenario.model.base import AlsoText, Count, Number, Strict, choice, one_or_list, problem
from longhaul.scenario.model.chosen import Chosen
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.quantities import PARAMETER_PATTERN, Share, Size, Span

_MS = 10**6


class QueueLimit(Strict):
    """How much may wait: one of packets (100p), bytes (1MiB), time at the rate (20ms) or BDPs (1bdp)."""

    packets: int | None = None
    bytes: int | None = None
    ns: int | None = None
    bdp: str | None = None
    """A decimal number of bandwidth-delay products."""


_PATTERN = rf"^({PARAMETER_PATTERN}|[0-9]+ ?p|[0-9]*\.?[0-9]+ ?(bdp|B|[kMGT]B|[KMGT]iB|ns|us|ms|s))$"


def parse_limit(value: Any) -> QueueLimit:
    """The limit that ``value`` spells; raises for everything else."""
    text = str(value)
    before_unit = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit, number = text[len(before_unit) :], before_unit.removesuffix(" ")
    if isinstance(value, bool | dict | list) or not unit or not number:
        example = f"{text}p" if text.isdecimal() and len(text) < 12 else "100p"
        raise problem(
            Code.UNIT_MISSING,
            f"{_quoted(value)} has no unit",
            f'write "{example}" (packets), "1MiB", "20ms" or "1bdp"',
        )
    if unit in ("p", "bdp"):
        if not number.replace(".", "", 1 if unit == "bdp" else 0).isdecimal() or len(number) > 12:
            raise problem(
                Code.QUANTITY_MALFORMED,
                f"{_quoted(value)} is not a limit",
                f'write for example "{"100p" if unit == "p" else "1bdp"}"',
            )
        return QueueLimit(packets=int(number)) if unit == "p" else QueueLimit(bdp=number)
    if unit.lower() in ("pkt", "pkts", "packets", "packet"):
        raise problem(Code.UNIT_UNKNOWN, f'{_quoted(value)}: there is no unit "{unit}"', f'write "{number}p"')
    if unit.lower() == "bdp":
        raise problem(
            Code.UNIT_UNKNOWN, f'{_quoted(value)}: there is no unit "{unit}"', f'write "{number}bdp"'
        )
    if unit in Span.units or unit in Span.misspelt:
        return QueueLimit(ns=Span.parse(text).ns)
    return QueueLimit(bytes=Size.parse(text).bytes)


def _quoted(value: Any) -> str:
    return f'"{str(value)[:40]}"'


Limit = Annotated[
    QueueLimit, BeforeValidator(parse_limit), WithJsonSchema({"type": "string", "pattern": _PATTERN})
]


def _above_zero(value: Span) -> Span:
    if not value.ns:
        raise problem(Code.ZERO_VALUE, "must be more than zero", "write for example 100ms")
    return value


def _turn(value: Size) -> Size:
    if not 1 <= value.bytes <= 2**31:
        raise problem(Code.ZERO_VALUE, f"{value} is not a quantum", "write for example 1514B")
    return value


PositiveSpan = Annotated[Span, AfterValidator(_above_zero)]
Turn = Annotated[Size, AfterValidator(_turn)]
"""What a flow may send each time that it is served."""


class Fifo(Strict):
    """First in, first out; what does not fit is not let in."""

    kind: Literal["fifo"] = "fifo"
    limit: Limit


class HeadDrop(Strict):
    """First in, first out; what has waited longest makes room."""

    kind: Literal["head-drop"]
    limit: Limit | None = None


class Red(Strict):
    """Random early detection (Floyd and Jacobson 1993)."""

    kind: Literal["red"]
    limit: Limit | None = None
    min: Limit
    """Average of what waits below which nothing is dropped."""
    max: Limit
    """Average at which ``probability`` is reached."""
    probability: Share = Share.parse("10%")
    weight: Share = Share.parse("0.2%")
    gentle: bool = True
    ecn: bool = False

    @model_validator(mode="after")
    def _possible(self) -> "Red":
        for key in ("probability", "weight"):
            if not getattr(self, key).share:
                raise problem(Code.ZERO_VALUE, "must be more than zero", "write for example 0.2%", at=key)
        return self


class Codel(Strict):
    """Controlled delay; defaults of RFC 8289, section 4.4."""

    kind: Literal["codel"]
    limit: Limit = Field(QueueLimit(packets=1000), json_schema_extra={"default": "1000p"})
    target: Span = Span(5 * _MS)
    interval: PositiveSpan = Span(100 * _MS)
    ecn: bool = False


class FqCodel(Strict):
    """Flows in turn, each with controlled delay; defaults of RFC 8290, section 5.2."""

    kind: Literal["fq-codel"]
    limit: Limit = Field(QueueLimit(packets=10_240), json_schema_extra={"default": "10240p"})
    target: Span = Span(5 * _MS)
    interval: PositiveSpan = Span(100 * _MS)
    quantum: Turn = Size(1514)
    flows: Annotated[int, Count(at_least=1, at_most=65_536)] = 1024
    ecn: bool = True


class Pie(Strict):
    """Proportional integral controller enhanced; defaults of RFC 8033, sections 4 and 5."""

    kind: Literal["pie"]
    limit: Limit = Field(QueueLimit(packets=1000), json_schema_extra={"default": "1000p"})
    target: Span = Span(15 * _MS)
    update: PositiveSpan = Span(15 * _MS)
    alpha: Annotated[float, Number(at_least=0, at_most=1000, example="0.125")] = 0.125
    beta: Annotated[float, Number(at_least=0, at_most=1000, example="1.25")] = 1.25
    burst: Span = Span(150 * _MS)
    ecn: bool = False


class Drr(Strict):
    """Flows in turn, by bytes (deficit round robin; Shreedhar and Varghese 1995)."""

    kind: Literal["drr"]
    limit: Limit | None = None
    quantum: Turn = Size(1514)
    flows: Annotated[int, Count(at_least=1, at_most=65_536)] = 1024


DSCP: Mapping[str, int] = {
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{cls}{drop}": 8 * cls + 2 * drop for cls in range(1, 5) for drop in range(1, 4)},
    "be": 0,
    "df": 0,
    "le": 1,
    "va": 44,
    "ef": 46,
}
"""Names of code points: RFC 2474, 2597, 3246, 5865, 8622."""
MOST_BANDS = 8


def _bands(value: Any) -> Any:
    """Bands of the 64 code points; what no band names goes with ``default``, or into the last band."""
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_BANDS:
        example = 'write for example "[[ef, cs6], [af41, af42], default]"'
        raise problem(Code.WRONG_LENGTH, f"must be a list of 1 to {MOST_BANDS} bands", example)
    found: dict[int, int] = {}
    rest: int | None = None
    for band, words in enumerate(value):
        for word in one_or_list(words):
            if word == "default" and rest is None:
                rest = band
                continue
            point = _code_point(word)
            if point in found or word == "default":
                raise problem(Code.QUEUE_INVALID, f'"{printable(str(word))}" is in two bands', "name it once")
            found[point] = band
    last = len(value) - 1 if rest is None else rest
    return tuple(found.get(point, last) for point in range(64))


def _code_point(word: Any) -> int:
    if isinstance(word, int) and not isinstance(word, bool) and 0 <= word < 64:
        return word
    if isinstance(word, str) and word.lower() in DSCP:
        return DSCP[word.lower()]
    shown = printable(str(word))
    if isinstance(word, str):
        raise problem(
            Code.QUEUE_INVALID, f'there is no DSCP "{shown}"', did_you_mean(word, [*DSCP, "default"])
        )
    raise problem(Code.QUEUE_INVALID, f'"{shown}" is not a DSCP', "write a name like ef, or 0 to 63")


class Priority(Strict):
    """Bands by the DSCP of packets; the first with anything waiting goes."""

    kind: Literal["priority"]
    limit: Limit | None = None
    bands: Annotated[
        tuple[int, ...],
        BeforeValidator(_bands),
        Field(strict=False, json_schema_extra={"items": {}}, examples=[[["ef", "cs6"], "default"]]),
    ]


_KINDS = {
    "fifo": Fifo,
    "head-drop": HeadDrop,
    "red": Red,
    "codel": Codel,
    "fq-codel": FqCodel,
    "pie": Pie,
    "drr": Drr,
    "priority": Priority,
}


def _queue(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"kind": "fifo", "limit": value}
    if "kind" not in value:
        value["kind"] = "fifo"
    choice(value, "kind", tuple(_KINDS), ("cake", "fq", "sfq", "dualpi2"), "queue")
    return value


Queue = Fifo | HeadDrop | Red | Codel | FqCodel | Pie | Drr | Priority
QueueModel = Annotated[
    Queue,
    Chosen("kind", _KINDS),
    BeforeValidator(_queue),
    AlsoText(_PATTERN, "1bdp", "100p", "20ms"),
]
