"""JSON that native code reads and writes is that of the standard library."""

import json
from math import isnan

import pytest

from longhaul import json_text


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, -0.0, 1e400, 0.1, 123456789012345678901234567890, null, true], "b": {}, "a": "é"}',
        '"half of a pair: \\ud800"',
        "[" * 500 + "]" * 500,
        " [1]\n",
    ],
)
def test_documents_are_read_as_by_the_standard_library(text: str) -> None:
    assert json_text.read(text.encode()) == json.loads(text)


def test_what_is_not_a_number_is_read() -> None:
    assert isnan(json_text.read(b"[NaN]")[0])


@pytest.mark.parametrize("content", [b"", b"{", b"[1,]", b'{"a": 1} x', b'"\xff"'])
def test_what_is_not_json_is_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_text.read(content)
