"""``claims.yaml``: claims with their numbers filled in, and one clear error for each thing that is wrong."""

from pathlib import Path

import pytest

from longhaul.diagnostics import Diagnostic
from longhaul.errors import LonghaulError
from longhaul.studies.claims import Claims, parse_claims

RIGHT = """question: Is a queue full?
numbers: {within: 0.05}
parts:
  table: {how: arithmetic, about: what the paper says}
  live: {how: live}
claims:
  - id: delay-close
    part: table
    place: figure 1
    text: The delay is close to {target_ms} ms
    rule: within {within:%}, with {sizes} packets
    numbers: {target_ms: 2.5, sizes: [1000, 20000]}
    over: the size
    paper: "{target_ms} ms"
    assumes: [Packets have 1500 bytes, The queue is empty]
  - id: delay-live
    part: live
    place: ours
    text: A live delay is close, too
    rule: within {within:%}
"""


def parsed(text: str) -> Claims:
    return parse_claims(text.encode(), name="claims.yaml")


def refusal(text: str) -> LonghaulError:
    with pytest.raises(LonghaulError) as raised:
        parsed(text)
    return raised.value


def test_numbers_stand_once_and_are_filled_into_every_text() -> None:
    claims = parsed(RIGHT)
    close, live = claims.claims
    assert close.text == "The delay is close to 2.5 ms"
    assert close.rule == "within 5 %, with 1,000 and 20,000 packets"
    assert (close.paper, close.assumes) == (("2.5 ms",), ("Packets have 1500 bytes", "The queue is empty"))
    assert (close.numbers["target_ms"], close.numbers.all("sizes")) == (2.5, (1000, 20000))
    # A number of the file is one of each claim that shows it.
    assert (close.numbers["within"], dict(live.numbers)) == (0.05, {"within": 0.05})
    assert (claims.question, claims.parts["live"].how) == ("Is a queue full?", "live")
    assert claims.of("live") == [live]


MISTAKES = {
    "an unknown field": (
        ("    over: the size", "    ove: the size"),
        '13:5: claims[0].ove: there is no key "ove" here; did you mean "over"?',
    ),
    "a missing field": (
        ("    place: ours\n", ""),
        '16:5: claims[1]: has no "place"; add for example place: ...',
    ),
    "an id twice": (
        ("id: delay-live", "id: delay-close"),
        '16:9: claims[1].id: "delay-close" is the id of two claims, first in line 7; rename one of them',
    ),
    "a placeholder without its number": (
        ("{within:%}, with", "{withn:%}, with"),
        '11:11: claims[0].rule: "{withn}" is not one of the numbers of this claim; did you mean "within"?',
    ),
    "a placeholder with another form": (
        ("{within:%}, with", "{within:.1f}, with"),
        '11:11: claims[0].rule: "{within:.1f}" is not a placeholder; '
        "write {within}, or {within:%} for a share",
    ),
    "a number that is not shown": (
        ("{target_ms: 2.5, ", "{unused: 1, target_ms: 2.5, "),
        "12:15: claims[0].numbers.unused: no text of this claim shows {unused}; "
        "write {unused} in the rule, or remove the number",
    ),
    "a shared number that is not shown": (
        ("numbers: {within: 0.05}", "numbers: {within: 0.05, more: 1}"),
        "2:25: numbers.more: no text of a claim shows {more}; write {more} in the rule, or remove the number",
    ),
    "a number with a unit": (
        ("{target_ms: 2.5,", "{target_ms: 2.5ms,"),
        "12:26: claims[0].numbers.target_ms: must be a number, or a list of numbers; write it without unit",
    ),
    "a part that is not there": (
        ("part: live", "part: life"),
        '17:11: claims[1].part: there is no part "life"; did you mean "live"?',
    ),
    "a way to measure that is not known": (
        ("{how: live}", "{how: lively}"),
        '5:15: parts.live.how: "lively" is not known here; did you mean "live"?',
    ),
    "an id that is not a name": (
        ("id: delay-live", "id: Delay Live"),
        '16:9: claims[1].id: "Delay Live" is not a name; '
        "use lower-case letters, digits and hyphens, at most 63",
    ),
    "a value of the paper without a number": (
        ('paper: "{target_ms} ms"', "paper: fast"),
        '14:12: claims[0].paper: "fast" has no number; write for example 37 %, or omit it',
    ),
    "a bracket that is open": (
        ("question: Is", "question: [Is"),
        "1:11: did not find expected ',' or ']'; close the bracket that begins in line 1, or put a comma",
    ),
    "a tab": (
        ("    part: live\n", "\tpart: live\n"),
        "17:1: a tab cannot indent; write spaces",
    ),
    "a character that is not text": (
        ("question: Is", "question: \x00Is"),
        "1:11: the character U+0000 is not allowed in YAML; remove it",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_has_one_error_with_its_place_and_remedy(mistake: str) -> None:
    (old, new), says = MISTAKES[mistake]
    assert RIGHT.count(old) == 1
    error = refusal(RIGHT.replace(old, new))
    assert [each.text for each in error.diagnostics] == [f"claims.yaml:{says}"]
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "claims.yaml:1:1: the file is empty; write its question, its parts and its claims"),
        (b"- one", 'claims.yaml:1:1: is not a mapping of keys to values; begin with "question: ..."'),
        (b"question: \xe9", "claims.yaml:1:11: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        (
            b"question: *q",
            "claims.yaml:1:11: the alias *q is not used in claims files; write the value again",
        ),
    ],
)
def test_what_is_not_a_claims_file_is_said_in_its_words(content: bytes, says: str) -> None:
    with pytest.raises(LonghaulError) as raised:
        parse_claims(content, name="claims.yaml")
    assert raised.value.diagnostics[0].text == says


@pytest.mark.parametrize("value", ["", "5", "-0.5", "true", "[]", "[5]", "{}", "{a: b}", "text", '""', "~"])
def test_any_other_value_is_right_or_has_errors_with_lines(value: str) -> None:
    lines = RIGHT.splitlines()
    for number, line in enumerate(lines):
        key = line.partition(": ")[0] if ": " in line else line.removesuffix(":")
        changed = [*lines[:number], f"{key}: {value}", *lines[number + 1 :]]
        found: tuple[Diagnostic, ...] = ()
        try:
            parsed("\n".join(changed))
        except LonghaulError as error:
            found = error.diagnostics
        assert all(each.span and each.file for each in found)


def test_parts_are_those_of_the_program() -> None:
    with pytest.raises(LonghaulError) as raised:
        parsed(RIGHT).check_parts({"table": 1, "lives": 1}, Path("some/queue.py"))
    assert [each.text for each in raised.value.diagnostics] == [
        'claims.yaml:3:1: parts: queue.py has the part "lives", which is not here; '
        "add for example lives: {how: live}",
        'claims.yaml:5:3: parts.live: queue.py has no such part; did you mean "lives"?',
    ]
    parsed(RIGHT).check_parts({"table": 1, "live": 1}, Path("queue.py"))


def test_an_unknown_claim_or_number_names_the_nearest() -> None:
    claims = parsed(RIGHT)
    with pytest.raises(LonghaulError, match='has no claim "delay-clos"; did you mean "delay-close"'):
        claims.numbers("delay-clos")
    with pytest.raises(LonghaulError, match='no claim "delay-live" in part table'):
        claims.claim("delay-live", part="table")
    numbers = claims.numbers("delay-close")
    with pytest.raises(
        LonghaulError, match='claim delay-close has no number "target"; did you mean "target_ms"'
    ):
        numbers["target"]
    with pytest.raises(LonghaulError, match=r'"sizes" of claim delay-close is a list; read it with all\(\)'):
        numbers["sizes"]
