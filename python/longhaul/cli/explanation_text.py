"""What a code means, as text or JSON."""

import json
import textwrap
from difflib import get_close_matches
from itertools import groupby
from typing import Any

from longhaul.diagnostics.codes import Code
from longhaul.diagnostics.explanations import Example, Explanation, explanations
from longhaul.errors import LonghaulError

_WIDTH = 80


def explain(code: str | None, *, as_json: bool) -> str:
    """The explanation of ``code`` in either case, or all codes with their titles."""
    known = explanations()
    if code is None:
        if as_json:
            return json.dumps([_brief(each) for each in known.values()], indent=1)
        return _listed(list(known.values()))
    found = known[_named(code)]
    return json.dumps(_full(found), indent=1) if as_json else _text(found)


def _named(word: str) -> Code:
    """The code that ``word`` spells, in either case, or with brackets as in a message."""
    wanted = word.strip("[]").upper()
    if wanted in Code.__members__.values():
        return Code(wanted)
    family = [each for each in Code if each[:3] == wanted[:3]]
    near = get_close_matches(wanted, family or list(Code), n=1)
    hint = f"did you mean {near[0]}?" if near else "longhaul explain lists all codes"
    raise LonghaulError(Code.WORD_UNKNOWN, f'there is no code "{word[:40]}"', remedy=hint, exit_code=2)


def _listed(known: list[Explanation]) -> str:
    lines = []
    for family, members in groupby(known, key=lambda each: (each.code[:3], each.family)):
        lines += ["", f"{family[0]}xx {family[1]}"]
        lines += [f"  {each.code}  {each.title}" for each in members]
    return "\n".join(lines[1:])


def _text(found: Explanation) -> str:
    parts = [f"{found.code}: {found.title}", textwrap.fill(found.text, _WIDTH)]
    if found.wrong and found.right:
        parts += [f"Wrong:\n{_block(found.wrong)}", f"Correct:\n{_block(found.right)}"]
    return "\n\n".join(parts)


def _block(example: Example) -> str:
    text = textwrap.indent(example.text, "    ")
    for name, content in example.files.items():
        text += f"\n  {name}:\n{textwrap.indent(content.rstrip(), '    ')}"
    return text


def _brief(found: Explanation) -> dict[str, Any]:
    severity = "warning" if found.code.startswith("W") else "error"
    return {"code": found.code, "severity": severity, "family": found.family, "title": found.title}


def _full(found: Explanation) -> dict[str, Any]:
    return {
        **_brief(found),
        "explanation": found.text,
        "wrong": _example(found.wrong),
        "right": _example(found.right),
    }


def _example(example: Example | None) -> dict[str, Any] | None:
    return None if example is None else {"scenario": example.text, "files": dict(example.files)}
