"""Bodies of requests: what is taken, and what is said of what is not."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.page.bodies import (
    Body,
    EditsOfText,
    FileSave,
    LinkChange,
    QuantityText,
    RunComparison,
    RunStart,
    ScenarioText,
    TransferRequests,
    read_body,
)
from longhaul.page.refusals import RefusedError
from longhaul.page.schema import json_schema

KINDS = [
    EditsOfText,
    FileSave,
    LinkChange,
    QuantityText,
    RunComparison,
    RunStart,
    ScenarioText,
    TransferRequests,
]
EDIT = {"op": "set", "path": ["links", "wan", "delay"], "value": "5ms"}


def refusal(wanted: type[Body], body: Any) -> RefusedError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    with pytest.raises(RefusedError) as caught:
        read_body(content, wanted)
    return caught.value


@pytest.mark.parametrize(
    ("wanted", "body", "message"),
    [
        (ScenarioText, {}, '"text" is missing'),
        (ScenarioText, b"", '"text" is missing'),
        (ScenarioText, {"text": 1}, '"text" must be text'),
        (ScenarioText, {"text": "", "setings": {}}, '"setings" is not known here'),
        (ScenarioText, {"text": "", "settings": []}, '"settings" must be an object'),
        (ScenarioText, {"text": "", "settings": {"far": 5}}, '"settings.far" must be text'),
        (ScenarioText, {"text": "", "base": ["scenario:atlantic"]}, '"base" must be text'),
        (ScenarioText, [], "the body must be an object"),
        (RunStart, {"text": "", "mode": "fast"}, '"mode" must be live or sim'),
        (RunStart, {"text": "", "seed": -1}, '"seed" must be at least 0'),
        (RunStart, {"text": "", "seed": 2**64}, f'"seed" must be at most {2**64 - 1}'),
        (RunStart, {"text": "", "seed": True}, '"seed" must be a whole number'),
        (RunStart, {"text": "", "seed": 1.5}, '"seed" must be a whole number'),
        (QuantityText, {"kind": "mass", "text": "1kg"}, '"kind" must be delay, rate, loss, size or queue'),
        (EditsOfText, {"text": "", "edits": {}}, '"edits" must be a list'),
        (EditsOfText, {"text": "", "edits": [EDIT] * 1001}, '"edits" has more than 1000 entries'),
        (EditsOfText, {"text": "", "edits": [EDIT, {}]}, '"edits.1" has no op'),
        (
            EditsOfText,
            {"text": "", "edits": [{**EDIT, "op": "move"}]},
            '"edits.0" must be set, add, rename, split, remove',
        ),
        (EditsOfText, {"text": "", "edits": [{"op": "set", "value": 1}]}, '"edits.0.path" is missing'),
        (
            EditsOfText,
            {"text": "", "edits": [{**EDIT, "path": ["links", 1.5]}]},
            '"edits.0.path.1" must be text, or must be a whole number',
        ),
        (EditsOfText, {"text": "", "edits": [{**EDIT, "path": ["a"] * 31}]}, "has more than 30 entries"),
        (EditsOfText, {"text": "", "edits": [{**EDIT, "op": "remove"}]}, '"edits.0.value" is not known here'),
        (LinkChange, {"link": "wan", "changes": {}}, '"changes" has fewer than 1 entries'),
        (
            LinkChange,
            {"link": "wan", "way": "up", "changes": {"up": True}},
            '"way" must be forward or reverse',
        ),
        (
            LinkChange,
            {"link": "wan", "changes": {"delay": 60}},
            '"changes.delay" must be text, or must be true or false',
        ),
        (RunComparison, {"runs": ["a"]}, '"runs" has fewer than 2 entries'),
        (RunComparison, {"runs": ["a", 1]}, '"runs.1" must be text, or must be a list'),
        (RunComparison, {"runs": ["a", []]}, '"runs.1" must be text, or has fewer than 1 entries'),
        (TransferRequests, {"text": "", "policy": "fair", "format": "xml"}, '"format" must be yaml or csv'),
    ],
)
def test_a_wrong_body_is_refused_with_its_place(wanted: type[Body], body: Any, message: str) -> None:
    error = refusal(wanted, body)
    assert error.status == 400
    assert message in error.message


def test_a_key_that_is_not_known_is_answered_with_those_that_are() -> None:
    assert refusal(FileSave, {"text": "", "tag": "x"}).remedy == "send text, etag"


def test_a_text_that_is_too_long_has_a_status_of_its_own() -> None:
    read_body(json.dumps({"text": "a" * (1 << 20)}).encode(), ScenarioText)
    error = refusal(ScenarioText, {"text": "a" * ((1 << 20) + 1)})
    assert (error.status, error.message) == (413, '"text" has more than 1048576 characters')


@pytest.mark.parametrize("content", [b"nonsense", b"{", b"\xff", b'{"text": "\xff"}', b"[" * 100_000])
def test_what_is_not_json_is_refused_with_its_place(content: bytes) -> None:
    error = refusal(ScenarioText, content)
    assert error.status == 400
    assert "the body is not JSON: " in error.message
    assert " column " in error.message


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["text", "op", "path"]), inner)
    ),
    max_leaves=12,
)


@given(st.sampled_from(KINDS), st.data())
def test_any_json_is_taken_or_refused_in_one_line(wanted: type[Body], data: st.DataObject) -> None:
    body = data.draw(VALUES | st.fixed_dictionaries({}, optional=dict.fromkeys(wanted.model_fields, VALUES)))
    message = None
    try:
        read_body(json.dumps(body).encode(), wanted)
    except LonghaulError as error:
        message = error.message
    if message is not None:
        assert message
        assert "\n" not in message
        assert "Input should" not in message


def test_the_schema_has_the_body_of_every_address_that_takes_one() -> None:
    schema = json_schema()
    bodies = {name: each["$ref"].rpartition("/")[2] for name, each in schema["bodies"].items()}
    assert bodies["POST /runs"] == "RunStart"
    assert bodies["PUT /files/{name}"] == "FileSave"
    assert not any(name.startswith("GET") for name in bodies)
    # These say everything by their address.
    silent = {name for name in schema["answers"] if not name.startswith("GET")} - bodies.keys()
    assert all(
        name.endswith(("/stop", "/ticket", "/restore", "/reproduce")) or name.startswith("DELETE")
        for name in silent
    )
    for name in bodies.values():
        assert schema["$defs"][name]["additionalProperties"] is False
