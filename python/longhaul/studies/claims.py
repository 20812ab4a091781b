"""``claims.yaml``: what a study asks, its parts, and its claims, each with the rule that decides it.

A claim's text and rule contain placeholders such as ``{within}``, which are filled from the claim's numbers.
The program of the study reads the same numbers, so that each stands in one place. ``{within:%}`` shows a
share as per cent. Numbers that several claims share are those of the file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.model.base import OneOrList, Strict, Text, problem
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.yaml_tree import (
    Branch,
    FileKind,
    Leaf,
    Path,
    Source,
    follow,
    read_file,
    read_tree,
)

CLAIMS = "claims.yaml"
"""The file in the folder of a study."""
How = Literal["live", "virtual", "simulated", "arithmetic"]
"""How a part measures: on the real clock, on the virtual one, in the simulator, or by calculation."""

_KIND = FileKind(
    "claims file",
    begin='begin with "question: ..."',
    start="write its question, its parts and its claims",
    shorten="divide the study",
    share="write the value again",
)
_PLACEHOLDER = re.compile(r"\{([^{}:]*)(:[^{}]*)?\}")
_SHARE = ":%"
_SHOWN = ("text", "rule", "place", "over")
"""The fields of a claim that may have placeholders, beside the lists ``paper`` and ``assumes``."""


def _number(value: Any) -> Any:
    every = value if isinstance(value, list) else [value]
    if not every or any(isinstance(each, bool) or not isinstance(each, int | Decimal) for each in every):
        raise problem(Code.WRONG_TYPE, "must be a number, or a list of numbers", "write it without unit")
    return tuple(every)


def _with_a_digit(value: str) -> str:
    if not re.search(r"\d|\{", value):
        raise problem(
            Code.WRONG_TYPE, f'"{printable(value)}" has no number', "write for example 37 %, or omit it"
        )
    return value


Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
NumberName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$")]
Amounts = Annotated[tuple[int | Decimal, ...], BeforeValidator(_number), Field(strict=False)]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
Value = Annotated[Sentence, AfterValidator(_with_a_digit)]
Sentences = Annotated[tuple[Sentence, ...], OneOrList(), Field(strict=False, min_length=1)]
Values = Annotated[tuple[Value, ...], OneOrList(), Field(strict=False, min_length=1)]


class _Part(Strict):
    how: How
    about: Text = ""


class _Claim(Strict):
    id: Id
    part: Id
    place: Sentence
    text: Sentence
    rule: Sentence
    numbers: dict[NumberName, Amounts] = Field(default_factory=dict)
    over: Text = ""
    paper: Values = ()
    assumes: Sentences = ()


class _Document(Strict):
    question: Sentence
    numbers: dict[NumberName, Amounts] = Field(default_factory=dict)
    """That several claims share."""
    parts: dict[Id, _Part]
    claims: Annotated[tuple[_Claim, ...], Field(strict=False)]


class Numbers(Mapping[str, float]):
    """The numbers of a claim by name. An unknown name raises LonghaulError."""

    def __init__(self, claim: str, amounts: Mapping[str, tuple[int | Decimal, ...]]) -> None:
        """``claim``: the id, for errors."""
        self._claim = claim
        self._amounts = amounts

    def __getitem__(self, name: str) -> float:
        """A single number; an integer where the file has one."""
        every = self.all(name)
        if len(every) != 1:
            raise LonghaulError(
                Code.CLAIM_NUMBER, f'"{name}" of claim {self._claim} is a list', remedy="read it with all()"
            )
        return every[0]

    def all(self, name: str) -> tuple[float, ...]:
        """The numbers of a list; one for a single number."""
        if name not in self._amounts:
            raise LonghaulError(
                Code.CLAIM_NUMBER,
                f'claim {self._claim} has no number "{name}"',
                remedy=did_you_mean(name, self._amounts),
            )
        return tuple(each if isinstance(each, int) else float(each) for each in self._amounts[name])

    def __iter__(self) -> Iterator[str]:
        """The names in the order of the file."""
        return iter(self._amounts)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._amounts)

    def as_json(self) -> dict[str, float | list[float]]:
        """For programs."""
        return {
            name: every[0] if len(every) == 1 else list(every)
            for name, every in ((name, self.all(name)) for name in self._amounts)
        }


@dataclass(frozen=True)
class Claim:
    """A sentence that a study evaluates, and how."""

    id: str
    part: str
    place: str
    """Where the paper says it; ``ours`` if it does not."""
    text: str
    rule: str
    """What counts as holding: measure, limit or tolerance, repetitions."""
    numbers: Numbers
    over: str = ""
    """What the conditions differ in."""
    paper: tuple[str, ...] = ()
    """The paper's own values."""
    assumes: tuple[str, ...] = ()
    """What the study assumes because the paper does not say it."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "id": self.id,
            "part": self.part,
            "place": self.place,
            "text": self.text,
            "rule": self.rule,
            "numbers": self.numbers.as_json(),
            "over": self.over,
            "paper": list(self.paper),
            "assumes": list(self.assumes),
        }


@dataclass(frozen=True)
class Part:
    """A part of a study, which can run alone."""

    how: How
    about: str = ""
    """What it does, in a few words."""


@dataclass(frozen=True)
class Claims:
    """A claims file, checked."""

    question: str
    parts: Mapping[str, Part]
    claims: tuple[Claim, ...]
    source: Source
    tree: Branch

    def of(self, part: str) -> list[Claim]:
        """The claims that a part evaluates."""
        return [claim for claim in self.claims if claim.part == part]

    def claim(self, id_: str, *, part: str | None = None) -> Claim:
        """The claim of that id, in a part if one is given. Raises LonghaulError if there is none."""
        known = {each.id: each for each in self.claims if part in (None, each.part)}
        if id_ not in known:
            where = f" in part {part}" if part else ""
            raise LonghaulError(
                Code.CLAIM_UNKNOWN,
                f'{self.source.name} has no claim "{printable(id_)}"{where}',
                remedy=did_you_mean(id_, known),
            )
        return known[id_]

    def numbers(self, id_: str) -> Numbers:
        """The numbers of a claim. Raises LonghaulError for an unknown id."""
        return self.claim(id_).numbers

    def check_parts(self, known: Mapping[str, Any], script: FilePath) -> None:
        """Raise :class:`ScenarioError` if the program has other parts than the file."""
        problems = []
        for name in self.parts:
            if name not in known:
                message, remedy = f"{script.name} has no such part", did_you_mean(name, known)
                problems.append(
                    _problem(self.source, self.tree, ("parts", name), Code.CLAIM_PART, message, remedy)
                )
        for name in known:
            if name not in self.parts:
                message = f'{script.name} has the part "{name}", which is not here'
                remedy = f"add for example {name}: {{how: live}}"
                problems.append(
                    _problem(self.source, self.tree, ("parts",), Code.CLAIM_PART, message, remedy)
                )
        if problems:
            raise ScenarioError(problems)


def read_claims(path: FilePath) -> Claims:
    """The claims of a file; raises LonghaulError, with every problem, if it is not right."""
    return parse_claims(read_file(path), name=str(path))


def parse_claims(content: bytes, *, name: str) -> Claims:
    """The claims in ``content``, which errors call ``name``."""
    source, tree = read_tree(name, content, kind=_KIND)
    document, problems = validate(source, tree, _Document)
    if document is not None:
        problems = [*problems, *_references(source, tree, document)]
    if document is None or problems:
        raise ScenarioError(problems)
    parts = {name: Part(each.how, each.about) for name, each in document.parts.items()}
    return Claims(
        document.question,
        parts,
        tuple(_filled(each, document.numbers) for each in document.claims),
        source,
        tree,
    )


def _references(source: Source, tree: Branch, document: _Document) -> Iterator[Diagnostic]:
    """What is wrong between the values of the file."""
    first: dict[str, int] = {}
    used = set()
    for number, claim in enumerate(document.claims):
        at = ("claims", number)
        if claim.part not in document.parts:
            message = f'there is no part "{claim.part}"'
            remedy = did_you_mean(claim.part, document.parts)
            yield _problem(source, tree, (*at, "part"), Code.CLAIM_PART, message, remedy)
        if claim.id in first:
            line = follow(tree, ("claims", first[claim.id], "id"))[0].line
            message = f'"{claim.id}" is the id of two claims, first in line {line}'
            yield _problem(source, tree, (*at, "id"), Code.CLAIM_DUPLICATE, message, "rename one of them")
        first.setdefault(claim.id, number)
        known = {**document.numbers, **claim.numbers}
        for key, name, form in _placeholders(claim):
            used.add(name)
            if form not in ("", _SHARE):
                message = f'"{{{printable(name + form)}}}" is not a placeholder'
                remedy = f"write {{{name}}}, or {{{name}:%}} for a share"
                yield _problem(source, tree, (*at, key), Code.CLAIM_NUMBER, message, remedy)
                continue
            if name not in known:
                message = f'"{{{printable(name)}}}" is not one of the numbers of this claim'
                near = did_you_mean(name, known) if known else f"add for example numbers: {{{name}: 10}}"
                yield _problem(source, tree, (*at, key), Code.CLAIM_NUMBER, message, near)
        shown = {name for _key, name, _form in _placeholders(claim)}
        yield from _unused(source, tree, (*at, "numbers"), set(claim.numbers) - shown, "of this claim")
    yield from _unused(source, tree, ("numbers",), set(document.numbers) - used, "of a claim")


def _unused(source: Source, tree: Branch, at: Path, names: set[str], whose: str) -> Iterator[Diagnostic]:
    for name in sorted(names):
        message = f"no text {whose} shows {{{name}}}"
        remedy = f"write {{{name}}} in the rule, or remove the number"
        yield _problem(source, tree, (*at, name), Code.CLAIM_NUMBER, message, remedy, at_key=True)


def _placeholders(claim: _Claim) -> Iterator[tuple[str, str, str]]:
    """The field, the name and the form of each."""
    for key, text in _texts(claim):
        yield from ((key, name, form) for name, form in _PLACEHOLDER.findall(text))


def _texts(claim: _Claim) -> Iterator[tuple[str, str]]:
    for key in _SHOWN:
        yield key, getattr(claim, key)
    for key, every in (("paper", claim.paper), ("assumes", claim.assumes)):
        yield from ((key, each) for each in every)


def _problem(
    source: Source, tree: Branch, path: Path, code: Code, message: str, remedy: str, *, at_key: bool = False
) -> Diagnostic:
    """A problem of the value at ``path``, or of its key."""
    place, node, walked = follow(tree, path)
    if isinstance(node, Leaf) and not at_key:
        place = node.place
    return source.problem(code, place, walked, message, remedy)


def _filled(claim: _Claim, shared: Mapping[str, tuple[int | Decimal, ...]]) -> Claim:
    shown = dict.fromkeys(name for _key, name, _form in _placeholders(claim))
    numbers = {name: claim.numbers[name] if name in claim.numbers else shared[name] for name in shown}

    def text(value: str) -> str:
        return _PLACEHOLDER.sub(
            lambda found: _amounts_text(numbers[found[1]], is_share=found[2] == _SHARE),
            " ".join(value.split()),
        )

    return Claim(
        id=claim.id,
        part=claim.part,
        place=text(claim.place),
        text=text(claim.text),
        rule=text(claim.rule),
        numbers=Numbers(claim.id, numbers),
        over=text(claim.over),
        paper=tuple(map(text, claim.paper)),
        assumes=tuple(map(text, claim.assumes)),
    )


def _amounts_text(amounts: tuple[int | Decimal, ...], *, is_share: bool) -> str:
    """``64, 128 and 256``, or ``5 %``."""
    *others, last = (f"{float(each) * 100:g} %" if is_share else _plain(each) for each in amounts)
    return f"{', '.join(others)} and {last}" if others else last


def _plain(value: int | Decimal) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,f}"
