"""Who does what a message says has one problem less: remedies that have something to write are followed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from longhaul.diagnostics import Diagnostic
from longhaul.errors import LonghaulError
from longhaul.scenario import ScenarioError, parse_scenario, resolve
from longhaul.scenario.edit.edits import Edit, edit

WRONG = Path(__file__).parent / "wrong"
SNIPPETS = (
    re.compile(r'did you mean "(?P<text>[^"]+)"'),
    re.compile(r'(?:write|add)(?: for example)? "(?P<text>[^"]+)"'),
    re.compile(r"(?:write|add)(?: for example)? (?P<text>[\[{].*[\]}])$"),
    re.compile(r"(?:write|add)(?: for example)? (?P<text>[a-z_]+: (?:\{.*\}|\[.*\]|[^ ,;]+))"),
    re.compile(r"(?:write|add)(?: for example)? (?P<text>[\d.]+)(?:$| or)"),
    re.compile(r"(?P<text>remove it|remove this)$"),
)
WORDS = {
    "p13 and p14 are more than 100% together",
    "a bucket holds a burst",
    "a router does not pace",
    "does not say what changes",
    'a key without ": "',
    'there is no node "left9"',
    '"traces/descending.csv" has no column "dely_ms"',
}
"""Messages whose remedies are sentences, guesses at a name, or for files that are wrong in other ways."""
EVENT = """version: 1
name: t
duration: 9s
nodes: {a: {kind: host}, b: {kind: host}}
links: {w: {endpoints: [a, b], delay: 1ms, rate: 1Mbit}}
traffic: {p: {kind: ping, from: a, to: b}}
events: [{at: 1s, link: w, CHANGE}]
"""


def problems(text: str) -> Sequence[Diagnostic]:
    try:
        resolve(parse_scenario(text.encode(), name="followed.yaml", folder=WRONG))
    except ScenarioError as error:
        return error.diagnostics
    return ()


def followed(text: str, problem: Diagnostic, snippet: str) -> Iterator[str]:
    """The text after the remedy, as one may understand it: for the word, its value, or a pair beside it."""
    lines = text.split("\n")
    at, begin = problem.span.line - 1, problem.span.column - 1
    word = lines[at][begin : begin + problem.span.width]
    new = lines[at][:begin] + snippet + lines[at][begin + problem.span.width :]
    yield "\n".join([*lines[:at], new, *lines[at + 1 :]])
    dotted = (
        problem.path.replace("links.w.delay", "links\0w\0delay") if "axes" in problem.path else problem.path
    )
    path = tuple(
        int(part) if part.isdecimal() else part.replace("\0", ".")
        for part in re.findall(r"[^.\[\]]+", dotted)
    )
    edits = []
    if snippet in ("remove it", "remove this"):
        edits = [Edit("remove", path)]
    elif pair := re.fullmatch(r"([a-z_]+): (.+)", snippet):
        value = yaml.safe_load(pair[2])
        places = [path[:length] for length in range(len(path), -1, -1)]
        edits = [Edit("set", (*place, pair[1]), value) for place in places]
        edits += [Edit("set", path[:-1], {pair[1]: value})]
    else:
        value = yaml.safe_load(snippet)
        edits = [Edit("set", path, value), Edit("set", path[:-1], value), Edit("rename", path, value)]
        close = [each for each in re.findall(r"\w+", word) if isinstance(value, str)]
        for each in close:
            yield text.replace(word, word.replace(each, str(value)))
    for each in edits:
        try:
            yield edit(text, [each]).text
        except LonghaulError:
            continue
    misspelt = re.search(r'"([^"]+)"', problem.message)
    if misspelt:
        yield re.sub(rf"(?<![\w-]){re.escape(misspelt[1])}(?![\w-])", snippet, text)


def works(text: str, problem: Diagnostic, snippet: str) -> bool:
    """Whether some way to follow the remedy leaves fewer problems, or none in the entry that had it.

    An example may speak of what this file does not have: then none may be left at this very key.
    """
    before = len(problems(text))
    is_example = "for example" in (problem.remedy or "")
    entry = problem.path.rpartition(".")[0] or problem.path

    def stays(left: Sequence[Diagnostic]) -> bool:
        if is_example:
            return any(each.path == problem.path for each in left)
        return any(each.file == problem.file and each.path.startswith(entry) for each in left)

    return any(
        len(left) < before or not stays(left)
        for left in (problems(new) for new in followed(text, problem, snippet))
    )


def snippet_of(problem: Diagnostic) -> str | None:
    if problem.message in WORDS or problem.file != "followed.yaml":
        return None
    found = next((found["text"] for each in SNIPPETS if (found := each.search(problem.remedy or ""))), None)
    # What only who writes the file can fill in is in capitals, or left out.
    return None if found is None or re.search(r"\b[A-Z]{4,}\b|\.\.\.", found) else found


def cases() -> Iterator[tuple[str, str]]:
    for path in sorted(WRONG.glob("*.yaml")):
        try:
            yield path.stem, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


@pytest.mark.parametrize(
    ("name", "text"), list(cases()), ids=lambda value: value if "\n" not in value else ""
)
def test_what_a_remedy_says_to_write_removes_the_problem(name: str, text: str) -> None:
    for problem in problems(text):
        snippet = snippet_of(problem)
        if snippet is not None:
            assert works(text, problem, snippet), problem.headline


@pytest.mark.parametrize(
    "change",
    [
        "set: {up: false}",
        "set: {up: true}",
        "set: {down: true}",
        "set: {down: 3s}",
        "up: false",
        "down: false",
    ],
)
def test_a_link_is_taken_down_and_brought_up_as_the_message_says(change: str) -> None:
    text = EVENT.replace("CHANGE", change)
    (problem,) = problems(text)
    snippets = re.findall(r"(?:up|down): \w+", problem.remedy or "")
    assert snippets, problem.headline
    for snippet in snippets:
        assert not problems(EVENT.replace("CHANGE", snippet)), f"{problem.headline} {snippet}"


@pytest.mark.parametrize("key", ["jitter: 1ms", "reorder: true", "latency: 5ms", "bandwidth: 5Mbit"])
def test_a_key_of_another_tool_has_a_remedy_that_works(key: str) -> None:
    text = EVENT.replace("CHANGE", f"set: {{{key}}}")
    (problem,) = problems(text)
    remedy = problem.remedy or ""
    snippet = re.search(r"delay: \{.*\}", remedy)
    named = re.search(r'did you mean "(\w+)"', remedy)
    assert snippet or named, problem.headline
    wanted = snippet[0].rstrip('"') if snippet else f"{named[1]}: {key.partition(': ')[2]}"  # type: ignore[index]
    assert not problems(EVENT.replace("CHANGE", f"set: {{{wanted}}}")), problem.headline
