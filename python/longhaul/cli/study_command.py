"""What ``longhaul study run`` and ``longhaul study draw`` do."""

import time
from collections.abc import Sequence
from pathlib import Path

import click

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.studies import program
from longhaul.studies.catalogue import StudyFolder, find_directory, pick, studies_in
from longhaul.units.text import duration_text


def run_studies(
    names: Sequence[str],
    *,
    every: bool,
    only: Sequence[str],
    rounds: int | None,
    small: bool,
    resume: bool,
    directory: Path | None,
    own: Sequence[str],
) -> int:
    """Run them one after another until a signal ends one; returns the largest exit code."""
    chosen = _chosen(names, every=every, directory=directory)
    arguments = program.arguments(only, rounds=rounds, small=small, resume=resume)
    codes = []
    began = time.monotonic()
    for number, study in enumerate(chosen, start=1):
        left = [each.took_s(only) for each in chosen[number - 1 :]]
        click.echo(f"study {study.name} ({number} of {len(chosen)}){'' if small else _estimate(left)}")
        codes.append(program.run(study, [*arguments, *own]))
        if codes[-1] == program.INTERRUPTED:
            return program.INTERRUPTED
    if len(chosen) > 1:
        failed = [study.name for study, code in zip(chosen, codes, strict=True) if code]
        click.echo(f"{len(chosen)} studies in {duration_text(time.monotonic() - began)}")
        if failed:
            click.echo(f"not everything could be measured: {', '.join(failed)}", err=True)
    return max(codes)


def draw_studies(names: Sequence[str], *, every: bool, only: Sequence[str], directory: Path | None) -> int:
    """Draw their figures from their published tables; returns the largest exit code."""
    words = program.arguments(only, draw=True)
    return max(program.run(study, words) for study in _chosen(names, every=every, directory=directory))


def _chosen(names: Sequence[str], *, every: bool, directory: Path | None) -> list[StudyFolder]:
    """The named studies, or all. Raises LonghaulError for names with ``--all``, and for neither."""
    place = find_directory(directory)
    if every == bool(names):
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "--all, and names of studies" if every else "no study is named",
            remedy="name studies (longhaul study list), or write --all",
            exit_code=2,
        )
    return studies_in(place) if every else pick(place, names)


def _estimate(left: Sequence[float | None]) -> str:
    """How long what is left takes, as far as that is known."""
    known = [each for each in left if each is not None]
    if not known:
        return ""
    more = "" if len(known) == len(left) else ", and some that were never run"
    return f": about {duration_text(sum(known))} by the last time{more}"
