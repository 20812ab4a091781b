"""A study for tests of the page: arithmetic, and a part that waits."""

import time
from argparse import Namespace

from longhaul.studies import Part, Study, at_most, exact, holds_if, run_study


def quick(study: Study, _given: Namespace) -> None:
    """Evaluate two claims, and write a table."""
    most = study.numbers("half")["most"]
    study.evaluate("half", at_most("", exact(0.5), most))
    study.evaluate("double", [at_most("once", exact(0.5), most), at_most("twice", exact(1.0), most)])
    study.table("halves", [{"whole": whole, "half": whole / 2} for whole in (1, 2)])


def slow(study: Study, _given: Namespace) -> None:
    """Wait."""
    study.measured("waiting", lambda: time.sleep(60))
    study.evaluate("patience", holds_if("", holds=True, found="60 s"))


if __name__ == "__main__":
    run_study(__file__, __doc__, {"quick": Part(quick), "slow": Part(slow)})
