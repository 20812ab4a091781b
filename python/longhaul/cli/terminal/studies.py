"""Studies and their claims, on the terminal."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.padding import Padding
from rich.text import Text

from longhaul.report.console import Console
from longhaul.results.studies import WORDS, Study, Word, word_of

_STYLES: dict[Word, str] = {
    "reproduced": "green",
    "depends": "yellow",
    "not reproduced": "red",
    "undecided": "cyan",
    "not measured": "dim",
}


def print_studies(studies: Sequence[Study]) -> None:
    """Two lines for each study, and the sum."""
    console = Console()
    for study in studies:
        console.print(Text.assemble((f"{study.name:<16}", "bold"), study.about), soft_wrap=True)
        measured = f"; measured {study.measured()[:10]}" if study.parts else ""
        console.print(
            Text.assemble(" " * 16, _counted(study.counts()) or "no results", measured), soft_wrap=True
        )
    sums: Counter[Word] = Counter()
    for study in studies:
        sums.update(study.counts())
    console.print(Text.assemble(f"{sums.total()} claims: ", _counted(sums)))


def _counted(counts: Mapping[Word, int]) -> Text:
    """Numbers of claims by verdict."""
    parts = [Text(f"{counts[word]} {word}", style=_STYLES[word]) for word in WORDS if counts.get(word)]
    return Text(", ").join(parts)


def print_claims(study: Study) -> None:
    """Each claim with its verdict, and what was found under each condition."""
    console = Console(highlight=False)
    console.print(f"{study.name}: {study.about}")
    if not study.parts:
        console.print(f"no results yet: longhaul study run {study.name}")
        return
    part = ""
    for claim in study.claims():
        if claim["part"] != part:
            part = claim["part"]
            about = study.parts[part]["provenance"]
            console.print(f"\npart {part}: {about['date']}, {about['machine']}", style="bold")
        verdict = claim["verdict"], _STYLES[word_of(claim["verdict"])]
        console.print()
        _indented(console, 2, Text.assemble(verdict, f": {claim['text']} ({claim['place']})"))
        _indented(console, 4, f"rule: {claim['rule']}")
        for case in claim["cases"]:
            condition = f"{case['condition']}: " if case["condition"] else ""
            _indented(console, 4, f"{case['outcome']:<5}  {condition}{case['found']}")
    counts = _counted(study.counts()) or "no claims"
    console.print()
    console.print(Text.assemble(counts, f"; data: {study.results}"), soft_wrap=True)


def _indented(console: Console, columns: int, text: Text | str) -> None:
    """Lines whose continuations are indented as their text is."""
    console.print(Padding(text, (0, 0, 0, columns), expand=False))
