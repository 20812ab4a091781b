"""Claims follow from intervals: holds, fails or open under each condition, and one verdict of all."""

import pytest

from longhaul.studies import (
    Case,
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
from longhaul.studies.claims import Claim, Numbers
from longhaul.studies.evaluation import WORDS, EvaluatedClaim


def claim(over: str = "the delay") -> Claim:
    return Claim("it-is", "first", "figure 1", "It is so", "by a rule", Numbers("it-is", {}), over)


def verdict(*cases: Case, over: str = "the delay") -> str:
    return EvaluatedClaim(claim(over), cases).verdict


def test_the_mean_of_repetitions_has_students_interval() -> None:
    # t(0.975, 2) = 4.303; the standard error of 1, 2, 3 is 1/sqrt(3).
    found = measured([1, 2, 3])
    assert (found.value, found.runs) == (2, 3)
    assert found.half_width == pytest.approx(4.303 / 3**0.5, rel=1e-3)


def test_a_condition_holds_or_fails_with_its_whole_interval_and_is_open_else() -> None:
    found = Measurement(10, 1, 5)
    assert [at_least("", found, bound).outcome for bound in (9, 9.5, 11.5)] == ["holds", "open", "fails"]
    assert [at_most("", found, bound).outcome for bound in (11, 10.5, 8.5)] == ["holds", "open", "fails"]
    assert between("", found, 9, 11).outcome == "holds"
    assert between("", found, 0, 8).outcome == "fails"


def test_one_measurement_leaves_its_condition_open_and_a_simulation_does_not() -> None:
    assert at_least("", measured([10]), 1).outcome == "open"
    assert at_least("", exact(10), 1).outcome == "holds"


def test_equal_measurements_have_an_interval_of_no_width() -> None:
    assert measured([5, 5, 5]).half_width == 0


def test_ratios_are_of_pairs() -> None:
    assert ratios([2, 8], [1, 2]).value == 3


def test_a_verdict_is_of_all_conditions() -> None:
    holds, fails, unclear = (
        holds_if("1 ms", True, "x"),
        holds_if("2 ms", False, "y"),
        Case("3 ms", "open", "z"),
    )
    assert verdict(holds, holds) == "reproduced"
    assert verdict(fails, fails) == "not reproduced"
    assert verdict(holds, fails) == "depends on the delay"
    assert verdict(holds, unclear).startswith("undecided")
    assert verdict(fails, unclear).startswith("undecided")
    assert verdict() == "not measured"


def test_failing_conditions_are_listed_in_full_and_others_in_short() -> None:
    many = [holds_if(f"{n} us", True, "1") for n in range(9)]
    made = EvaluatedClaim(claim(), (*many, holds_if("9 us", False, "2"), holds_if("10 us", False, "3")))
    assert made.found() == "fails: 9 us: 2; 10 us: 3. holds: 0 us: 1; ...; 8 us: 1 (9 conditions)"


def test_results_have_the_verdict_and_the_conditions_and_nothing_of_the_claims_file() -> None:
    made = EvaluatedClaim(claim(), (holds_if("a", True, "1"), holds_if("b", False, "2")))
    assert made.as_result() == {
        "id": "it-is",
        "verdict": "depends",
        "cases": [
            {"condition": "a", "outcome": "holds", "found": "1"},
            {"condition": "b", "outcome": "fails", "found": "2"},
        ],
    }
    assert made.as_result()["verdict"] in WORDS
    assert made.verdict == "depends on the delay"


def test_a_number_is_near_its_target_by_a_share() -> None:
    found = Measurement(10, 1, 5)
    assert [near("", found, target, 0.2).outcome for target in (10, 8.5, 7)] == ["holds", "open", "fails"]


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Measurement(57.31, 0.84, 5), "57.3 ±0.8 us"),
        (Measurement(57.31, 0.14, 5), "57.31 ±0.14 us"),
        (Measurement(1234.5, 56.0, 5), "1,234 ±56 us"),
        (exact(0.0312), "0.0312 us"),
        (measured([3.0]), "3.00 us (one run)"),
    ],
)
def test_numbers_have_no_more_digits_than_their_intervals(found: Measurement, text: str) -> None:
    assert found.shown("us") == text
