"""What each code means: its title, its explanation and an example, from the Markdown files in this package.

A file has families (``# E03: values``) of codes (``## E0301 UNIT_MISSING: title``). A code has a paragraph
and, where a scenario can be at fault, fenced blocks: ``yaml wrong`` and ``yaml right``, and files that they
name (``csv wrong trace.csv``). A block that is neither wrong nor right belongs to both. An example has only
the sections that matter; the others are those of :data:`OTHERS`, except where the block is ``whole``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from longhaul.diagnostics.codes import Code

OTHERS = {
    "version": "version: 1",
    "name": "name: example",
    "duration": "duration: 10s",
    "nodes": "nodes: {a: {kind: host}, b: {kind: host}}",
    "links": "links: {wan: {endpoints: [a, b], delay: 5ms, rate: 1Gbit}}",
}
"""Sections of a scenario that an example leaves out."""

_CODE = re.compile(r"## (?P<code>[EW]\d{4}) (?P<name>[A-Z_]+): (?P<title>.+)")
_FENCE = re.compile(r"```(?P<language>\w+)(?: (?P<state>wrong|right))?(?P<whole> whole)?(?: (?P<file>\S+))?")
_BYTE = re.compile(r"\\x([0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class Example:
    """A part of a scenario, and the files that it names."""

    text: str
    files: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = False

    @property
    def content(self) -> bytes:
        """The whole file: ``text`` after the sections that it leaves out; ``\\xe9`` in it is that byte."""
        given = set(re.findall(r"^(\w+):", self.text, re.MULTILINE))
        if "topology" in given:
            given |= {"nodes", "links"}
        others = [] if self.is_whole else [line for key, line in OTHERS.items() if key not in given]
        text = "\n".join([*others, self.text, ""])
        return _BYTE.sub(lambda found: chr(int(found[1], 16)), text).encode("latin-1")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means, why it is an error or a warning, and what to do."""

    code: Code
    family: str
    title: str
    text: str
    wrong: Example | None = None
    right: Example | None = None


@cache
def explanations() -> Mapping[Code, Explanation]:
    """Those of all codes, in the order of the codes."""
    pages = [page for page in files(__name__).iterdir() if page.name.endswith(".md")]
    found = {each.code: each for page in pages for each in _read(page.read_text(encoding="utf-8"))}
    return {code: found[code] for code in Code}


def _read(page: str) -> list[Explanation]:
    found = []
    family = ""
    for part in re.split(r"^(?=##? [EW]\d\d)", page, flags=re.MULTILINE):
        heading, _, body = part.partition("\n")
        if heading.startswith("# "):
            family = heading.partition(": ")[2]
        elif match := _CODE.fullmatch(heading):
            found.append(_explanation(match, family, body))
    return found


def _explanation(heading: re.Match[str], family: str, body: str) -> Explanation:
    paragraph, *blocks = re.split(r"^(?=```\w)", body, flags=re.MULTILINE)
    scenarios: dict[str, tuple[str, bool]] = {}
    named: dict[str, dict[str, str]] = {"wrong": {}, "right": {}}
    for block in blocks:
        fence, _, inner = block.partition("\n")
        match = _FENCE.fullmatch(fence)
        assert match, fence
        text = inner.rpartition("```")[0].rstrip("\n")
        for state in [match["state"]] if match["state"] else ["wrong", "right"]:
            if match["file"]:
                named[state][match["file"]] = f"{text}\n"
            else:
                scenarios[state] = text, bool(match["whole"])
    examples = {state: Example(text, named[state], whole) for state, (text, whole) in scenarios.items()}
    words = " ".join(paragraph.split())
    code = Code[heading["name"]]
    assert code == heading["code"], heading[0]
    return Explanation(code, family, heading["title"], words, examples.get("wrong"), examples.get("right"))
