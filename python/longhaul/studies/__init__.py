"""Studies: claims as data, measured by a program, evaluated by their rules, and kept with their provenance.

>>> from longhaul.studies import Part, at_most, exact, run_study      # doctest: +SKIP
"""

from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.claims import Claim, Numbers, read_claims
from longhaul.studies.command import Part, run_study
from longhaul.studies.evaluation import (
    Case,
    EvaluatedClaim,
    Measurement,
    at_least,
    at_most,
    between,
    exact,
    holds_if,
    measured,
    near,
    ratios,
)
from longhaul.studies.figures import Figures
from longhaul.studies.paper import PaperFigure, PaperFigures, PaperValue, read_paper
from longhaul.studies.reasons import fitting_reasons, read_reasons
from longhaul.studies.results_files import read_table
from longhaul.studies.study import Study

__all__ = [
    "Case",
    "Claim",
    "EvaluatedClaim",
    "Figures",
    "Measurement",
    "Numbers",
    "PaperFigure",
    "PaperFigures",
    "PaperValue",
    "Part",
    "Study",
    "StudyFolder",
    "at_least",
    "at_most",
    "between",
    "exact",
    "fitting_reasons",
    "holds_if",
    "measured",
    "near",
    "ratios",
    "read_claims",
    "read_paper",
    "read_reasons",
    "read_table",
    "run_study",
]
