"""Sections of the language whose models are imported when a scenario has them."""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema
from pydantic_core.core_schema import ValidationInfo


@dataclass(frozen=True)
class Deferred:
    """The annotation of a value whose type, with its module, is imported when the first value comes."""

    module: str
    name: str

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # Within another schema its own annotations apply, too.
        return handler(core_schema.definitions_schema(self._type.core_schema, []))

    def _validate(self, value: Any, info: ValidationInfo) -> Any:
        return self._type.validate_python(value, context=info.context)

    @cached_property
    def _type(self) -> TypeAdapter[Any]:
        return TypeAdapter(getattr(import_module(self.module), self.name))


def deferred(module: str, name: str) -> Any:
    """The type ``name`` of ``module``, as an annotation; type checkers import it as always."""
    return Annotated[Any, Deferred(module, name)]
