"""Queue disciplines as they are named on the command line: ``codel``, ``fifo,limit=4bdp``."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.lower.link_models.queue import LinkContext, plan_queue
from longhaul.scenario.model.queue import QueueModel
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.value_errors import ScenarioValueError

Json = dict[str, Any]

QUEUES = ("fifo", "head-drop", "red", "codel", "pie", "fq-codel", "drr")
"""Kinds that can be compared. ``priority`` needs traffic with code points, which the RFC's has not."""
RED_MIN, RED_MAX = Decimal(1) / 6, Decimal(1) / 2
"""RED's thresholds as shares of the limit; max = 3 min (S. Floyd, "Setting Parameters", 1997)."""
_LINK = LinkContext(bits_per_s=10**7, round_trip_ns=10**8, mtu=1500)
"""A link on which settings are checked before any run."""
_LISTED = "docs/reference/scenario.md lists the settings of queues"
_EXAMPLE = "write for example codel, fifo,limit=4bdp or codel,target=10ms,ecn=true"


def settings(text: str) -> Json:
    """The ``kind`` and the settings of a queue. Raises LonghaulError for one that does not exist."""
    kind, *words = text.split(",")
    if kind not in QUEUES:
        raise LonghaulError(
            Code.WORD_UNKNOWN,
            f'unknown queue discipline "{kind}"',
            remedy=did_you_mean(kind, QUEUES, listed=QUEUES),
            exit_code=2,
        )
    found: Json = {"kind": kind}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value) or key == "kind":
            raise _refused(text, f'"{word}" is not a setting', _EXAMPLE)
        try:
            found[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise _refused(text, f'"{word}" is not a setting', _EXAMPLE) from None
    _validate(text, queue(text, found, packets=100))
    return found


def queue(text: str, known: Json | None = None, *, packets: int) -> Json:
    """The ``queue`` of a link; its limit is one bandwidth-delay product, ``packets``, if it has no other.

    ``known`` are its :func:`settings`, if the caller has them.
    """
    found = dict(settings(text) if known is None else known)
    limit = str(found.get("limit", "1bdp"))
    share = _products(limit)
    if share is not None:
        limit = f"{max(1, round(share * packets))}p"
    found["limit"] = limit
    if found["kind"] == "red" and share is not None:
        found.setdefault("min", f"{max(1, round(RED_MIN * share * packets))}p")
        found.setdefault("max", f"{max(2, round(RED_MAX * share * packets))}p")
    for key in ("min", "max"):
        part = _products(str(found[key])) if key in found else None
        if part is not None:
            found[key] = f"{max(1, round(part * packets))}p"
    return found


def marks(text: str) -> bool:
    """Whether the queue was asked to mark packets; then flows of its runs can use ECN."""
    return settings(text).get("ecn") is True


def check(queues: Sequence[str]) -> None:
    """Raise LonghaulError for a queue that does not exist."""
    for each in queues:
        settings(each)


def _products(limit: str) -> Decimal | None:
    number = limit.removesuffix("bdp")
    if number == limit or not number.replace(".", "", 1).isdecimal() or len(number) > 9:
        return None
    return Decimal(number)


def _validate(text: str, found: Json) -> None:
    try:
        plan_queue(TypeAdapter(QueueModel).validate_python(found), _LINK)
    except ScenarioValueError as error:
        raise _refused(text, error.message, error.remedy) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][-1]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            raise _refused(text, f'{found["kind"]} has no setting "{key}"', _LISTED) from None
        known = first.get("ctx", {})
        said = known.get("message") or first["msg"].removeprefix("Value error, ")
        raise _refused(text, f"{key}: {said}" if key else said, known.get("remedy", _LISTED)) from None


def _refused(text: str, message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.QUEUE_INVALID, f'queue "{text}": {message}', remedy=remedy, exit_code=2)
