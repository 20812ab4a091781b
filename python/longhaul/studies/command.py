"""The command line of a study's program."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from longhaul.errors import LonghaulError
from longhaul.launch import collect_rarely
from longhaul.run import signals
from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.claims import How
from longhaul.studies.figures import Draw, redraw
from longhaul.studies.paper import PAPER, read_paper
from longhaul.studies.study import Study
from longhaul.subprocesses import python_script_command

SMALL_ROUNDS = 2
"""Repetitions of a study that is only tried out: the least that have an interval."""


@dataclass(frozen=True)
class Part:
    """What one part of a study does. ``claims.yaml`` says how it measures, and what it evaluates."""

    run: Callable[[Study, argparse.Namespace], None]
    rounds: int = 1
    """How often it measures; 1 for what is deterministic."""
    draw: Draw | None = None
    """Draws its figures from its tables: after it has run, and with ``--draw`` from the published tables."""


def run_study(
    script: str,
    about: str | None,
    parts: Mapping[str, Part],
    *,
    options: Mapping[str, tuple[Any, str]] | None = None,
) -> None:
    """Run the parts that the command line names, publish their results, and exit.

    ``script``: the program itself, ``__file__``; its folder has ``claims.yaml``. ``about``: its description.
    ``options``: more of the command line, with default and help. A study with ``--small``, or with other
    rounds or options than the defaults, does not have its full size, and publishes nothing.
    """
    collect_rarely()
    try:
        _run(Path(script).resolve(), about, parts, options or {})
    except LonghaulError as error:
        print(error.headline, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted; with --resume the study keeps what this commit has measured", file=sys.stderr)
        sys.exit(130)


def _run(
    script: Path, about: str | None, parts: Mapping[str, Part], options: Mapping[str, tuple[Any, str]]
) -> None:
    folder = StudyFolder(script.parent)
    claims = folder.claims
    claims.check_parts(parts, script)
    # Mistakes in this file are reported before anything is measured.
    read_paper(folder.folder / PAPER, claims)
    kinds = list(dict.fromkeys([*parts, *get_args(How)]))
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", action="append", choices=kinds, help="a part, or all live, virtual or simulated ones"
    )
    parser.add_argument("--rounds", type=int, help="of what is repeated, instead of each part's own")
    parser.add_argument("--small", action="store_true", help="a small size, to try it out; publishes nothing")
    parser.add_argument("--resume", action="store_true", help="keep what this commit has measured")
    parser.add_argument(
        "--draw", action="store_true", help="draw the figures again from published tables; measure nothing"
    )
    for option, (default, what) in options.items():
        parser.add_argument(f"--{option}", type=type(default), default=default, help=what)
    given = parser.parse_args()
    # Whoever ends the study ends its networks, too.
    signals.interrupt_on_signals()
    rounds = given.rounds
    usual = all(getattr(given, option) == default for option, (default, _what) in options.items())
    chosen = {name: part for name, part in parts.items() if folder.is_chosen(name, given.only or ())}
    if not chosen:
        print(f"no part of {script.stem} is {' or '.join(given.only)}")
        sys.exit(0)
    if given.draw:
        draw_again(folder, chosen)
        return
    study = Study(
        script.parent,
        whole=usual and rounds is None,
        small=given.small,
        resume=given.resume,
        parts=list(chosen),
    )
    for name, part in chosen.items():
        usual_rounds = study.size(part.rounds, small=min(part.rounds, SMALL_ROUNDS))
        given.rounds = rounds if rounds and part.rounds > 1 else usual_rounds
        with study.part(name, rounds=given.rounds):
            part.run(study, given)
            if part.draw:
                study.draw(part.draw)
    study.finish()


def draw_again(study: StudyFolder, parts: Mapping[str, Part]) -> None:
    """Draw the figures of these parts from their published tables, and write the pages anew."""
    for name, part in parts.items():
        drawn = redraw(study, name, part.draw) if part.draw else []
        known = study.measured_parts.get(name, {}).get("figures", {})
        if drawn:
            print(f"{name}: {', '.join(drawn)}")
        elif name not in study.measured_parts:
            print(f"{name}: not measured")
        elif known:
            print(f"{name}: its program draws only while it measures")
    if study.pages:
        subprocess.run(python_script_command(str(study.pages)), check=True)
