"""The language as JSON Schema, for completion and checks in editors."""

from typing import Any

from longhaul.scenario.model import Document
from longhaul.units.quantities import PARAMETER_PATTERN

Json = dict[str, Any]

_PARAMETER = {"$ref": "#/$defs/Parameter"}
_FIXED = ("version", "name", "description", "params", "sweep")
"""Keys at the top in which no parameter can stand."""
_NEEDS_TOPOLOGY = {"Node": "kind", "Link": "endpoints"}
"""What an entry must have, unless it only adds to what a topology makes."""


def json_schema() -> Json:
    """JSON Schema (draft 2020-12) of a scenario file; what it accepts may still be wrong."""
    schema = Document.model_json_schema(by_alias=True, mode="validation")
    kinds = {name: _with_parameters(each) for name, each in schema.pop("$defs").items()}
    for name, key in _NEEDS_TOPOLOGY.items():
        kinds[name]["required"].remove(key)
        if not kinds[name]["required"]:
            del kinds[name]["required"]
    kinds["Parameter"] = {
        "description": "The value of a parameter of this file.",
        "type": "string",
        "pattern": f"^{PARAMETER_PATTERN}$",
    }
    fixed = {key: each for key, each in schema["properties"].items() if key in _FIXED}
    whole = _with_parameters(schema)
    whole["properties"] |= fixed
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "title": "Longhaul scenario",
        "if": {"not": {"required": ["topology"]}},
        "then": {
            "properties": {
                section: {"additionalProperties": {"required": [_NEEDS_TOPOLOGY[kind]]}}
                for section, kind in (("nodes", "Node"), ("links", "Link"))
            }
        },
        "$defs": kinds,
    }


def _with_parameters(schema: Any) -> Any:
    """``schema`` in which every value of an object or a list may be a parameter instead."""
    if isinstance(schema, list):
        return [_with_parameters(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _with_parameters(each) for key, each in schema.items() if key != "examples"}
    if "examples" in schema:
        made["examples"] = schema["examples"]
    for key in ("properties", "patternProperties"):
        if key in made:
            made[key] = {name: _or_parameter(each) for name, each in made[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = _or_parameter(made[key])
    if "prefixItems" in made:
        made["prefixItems"] = [_or_parameter(each) for each in made["prefixItems"]]
    return made


def _or_parameter(schema: Json) -> Json:
    """The same or a parameter; what tells objects apart stays as it is."""
    if "const" in schema or schema == {"type": "string"}:
        return schema
    about: Json = {key: schema[key] for key in ("description", "default", "examples") if key in schema}
    kept = {key: each for key, each in schema.items() if key not in about and key != "title"}
    return {**about, "anyOf": [kept, _PARAMETER]}
