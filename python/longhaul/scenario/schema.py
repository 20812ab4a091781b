"""The language as JSON Schema, for editors that complete and check while one writes."""

from typing import Any

from longhaul.scenario.model import Document


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a scenario file; what it accepts may still be wrong."""
    schema = Document.model_json_schema(by_alias=True, mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Longhaul scenario",
    }
