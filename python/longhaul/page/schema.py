"""The JSON Schema of the API: body and response of each address, and the events of streams."""

from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from longhaul.page import bodies
from longhaul.page.addresses import addresses
from longhaul.page.json_requests import body_type
from longhaul.page.responses import (
    captures,
    claims,
    drawings,
    events,
    export,
    files,
    hosts,
    jobs,
    kernels,
    links,
    places,
    relays,
    runs,
    shards,
    studies,
    traces,
    transfers,
)
from longhaul.page.responses import texts as of_texts
from longhaul.page.responses.events import Event
from longhaul.page.responses.texts import Refused
from longhaul.page.services import Services
from longhaul.results import certificate

_SUBJECTS = (
    bodies,
    of_texts,
    drawings,
    files,
    runs,
    shards,
    kernels,
    hosts,
    links,
    captures,
    places,
    studies,
    transfers,
    traces,
    relays,
    claims,
    jobs,
    export,
    events,
    certificate,
)


class _Closed(GenerateJsonSchema):
    """Objects have the keys that are named, and others only where their own type lets them through."""

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        is_open = getattr(schema.get("cls"), "__pydantic_config__", {}).get("extra") == "allow"
        return {**super().typed_dict_schema(schema), "additionalProperties": is_open}


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of all that the server takes and says, but for reports and the page itself.

    ``bodies`` and ``answers`` by method and path, ``refused`` for a status from 400 on, ``event`` for what a
    stream tells, with its kind; ``subjects`` are the names of the types, by module.
    """
    known = addresses(Services.of(Path()))
    wanted = {str(each): get_type_hints(each.answer)["return"] for each in known}
    wanted |= {"refused": Refused, "event": Event}
    sent = {str(each): body for each in known if (body := body_type(each.answer)) is not None}
    made, named = TypeAdapter.json_schemas(
        [
            *((name, "serialization", TypeAdapter(each)) for name, each in wanted.items()),
            *((name, "validation", TypeAdapter(each)) for name, each in sent.items()),
        ],
        schema_generator=_Closed,
    )
    found = {name: schema for (name, mode), schema in made.items() if mode == "serialization"}
    types = named["$defs"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "refused": found.pop("refused"),
        "event": found.pop("event"),
        "bodies": {name: made[name, "validation"] for name in sent},
        "answers": found,
        "subjects": {
            subject.__name__.rpartition(".")[2]: [
                name
                for name, each in vars(subject).items()
                if name in types and each.__module__ == subject.__name__
            ]
            for subject in _SUBJECTS
        },
        "$defs": types,
    }
