"""Studies and their claims, on the terminal."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.padding import Padding
from rich.text import Text

from longhaul.report.console import Console
from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.evaluation import WORDS, EvaluatedClaim, Word
from longhaul.studies.provenance import sentence
from longhaul.units.text import count_text, duration_text

_STYLES: dict[Word, str] = {
    "reproduced": "green",
    "depends": "yellow",
    "not reproduced": "red",
    "undecided": "cyan",
    "not measured": "dim",
}


def print_studies(studies: Sequence[StudyFolder]) -> None:
    """Two lines for each study, and the sum."""
    console = Console()
    # A claims file that is wrong is an error before anything is printed.
    counts = {study.name: study.counts() for study in studies}
    for study in studies:
        console.print(Text.assemble((f"{study.name:<16}", "bold"), study.claims.question), soft_wrap=True)
        measured = f"; measured {study.measured()[:10]}" if study.measured_parts else ""
        console.print(
            Text.assemble(" " * 16, _counted(counts[study.name]) or "no claims", measured), soft_wrap=True
        )
    sums: Counter[Word] = Counter()
    for each in counts.values():
        sums.update(each)
    console.print(Text.assemble(f"{count_text(sums.total(), 'claim')}: ", _counted(sums)), soft_wrap=True)


def _counted(counts: Mapping[Word, int]) -> Text:
    """Numbers of claims by verdict."""
    parts = [Text(f"{counts[word]} {word}", style=_STYLES[word]) for word in WORDS if counts.get(word)]
    return Text(", ").join(parts)


def print_claims(study: StudyFolder) -> None:
    """Each claim with its rule, the paper's value, what was found, and its verdict; part after part."""
    console = Console(highlight=False)
    console.print(f"{study.name}: {study.claims.question}", soft_wrap=True)
    for name, part in study.claims.parts.items():
        about = f": {part.about}" if part.about else ""
        console.print(f"\npart {name}, {part.how}{about}", style="bold", soft_wrap=True)
        results = study.measured_parts.get(name)
        if results:
            _indented(console, 2, sentence(results["provenance"]))
        command = study.command(name)
        took_s = study.part_took_s(name)
        _indented(console, 2, f"{command}{'' if took_s is None else f' ({duration_text(took_s)})'}")
        for evaluated in study.evaluated(name):
            _print_claim(console, evaluated)
    counts = _counted(study.counts()) or "no claims"
    console.print()
    console.print(Text.assemble(counts, f"; results: {study.results}"), soft_wrap=True)


def _print_claim(console: Console, evaluated: EvaluatedClaim) -> None:
    """A claim: ``verdict: text (place)``, and below it the rule, values, assumptions and conditions."""
    claim = evaluated.claim
    verdict = evaluated.verdict, _STYLES[evaluated.word]
    console.print()
    _indented(console, 2, Text.assemble(verdict, f": {claim.text} ({claim.place}) [{claim.id}]"))
    _indented(console, 4, f"rule: {claim.rule}")
    if claim.paper:
        _indented(console, 4, f"paper: {'; '.join(claim.paper)}")
    for each in claim.assumes:
        _indented(console, 4, f"assumed: {each}")
    for case in evaluated.cases:
        condition = f"{case.condition}: " if case.condition else ""
        _indented(console, 4, f"{case.outcome:<5}  {condition}{case.found}")


def _indented(console: Console, columns: int, text: Text | str) -> None:
    """Lines whose continuations are indented as their text is."""
    console.print(Padding(text, (0, 0, 0, columns), expand=False))
