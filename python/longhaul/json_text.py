"""JSON as files and programs exchange it, written and read by native code.

The standard library writes indented JSON with a loop in Python: a second for the results of 500 links. It
reads numbers at a third of the speed.
"""

import json
from typing import Any


def read(content: bytes) -> Any:
    """The value of a JSON document in UTF-8; raises ValueError for what is not one."""
    from pydantic_core import from_json

    try:
        return from_json(content)
    except ValueError:
        # Halves of surrogate pairs, and deep nesting, which only the standard library reads.
        return json.loads(content)


def written(content: Any) -> bytes:
    """``content`` with an indentation of one, as UTF-8; raises TypeError for what JSON does not have."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(content, indent=1, inf_nan_mode="constants")
    except PydanticSerializationError:
        # Halves of surrogate pairs, as file names may have them, and numpy's numbers as the library says it.
        return json.dumps(content, indent=1).encode()


def compact(content: Any) -> bytes:
    """The same without blanks, for programs alone."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(content, inf_nan_mode="constants")
    except PydanticSerializationError:
        return json.dumps(content).encode()
