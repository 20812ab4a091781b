"""Unions of models of which only those are built that values need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Tag,
    TypeAdapter,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, core_schema
from pydantic_core.core_schema import ValidationInfo

Member = type[BaseModel] | Callable[[], type[BaseModel]]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The annotation of a union of models; a value belongs to the one that its kind names.

    Pydantic's own tagged unions build the validators of all their members when a module is imported, which is
    most of what ``longhaul check`` would take. Here a member is built when the first value of its kind comes.
    The JSON Schema is that of the tagged union.
    """

    kind: str | Callable[[Any], str]
    """The key that names the kind, or what tells it from the value."""
    members: Mapping[str, Member]
    """By kind: the model, or a function that makes it. An annotation before this one refuses other kinds."""

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        models = {kind: self._model(kind) for kind in self.members}
        union: Any
        if isinstance(self.kind, str):
            union = reduce(or_, models.values())
            tagged: Any = Annotated[union, Field(discriminator=self.kind)]
        else:
            union = reduce(or_, (Annotated[model, Tag(kind)] for kind, model in models.items()))
            tagged = Annotated[union, Discriminator(self.kind)]
        return handler(TypeAdapter(tagged).core_schema)

    def _validate(self, value: Any, info: ValidationInfo) -> BaseModel:
        if isinstance(value, BaseModel):
            return value
        if not isinstance(value, dict):
            raise PydanticKnownError("model_attributes_type")
        kind = str(value.get(self.kind)) if isinstance(self.kind, str) else self.kind(value)
        model: BaseModel = self._model(kind).__pydantic_validator__.validate_python(
            value, context=info.context
        )
        return model

    def _model(self, kind: str) -> type[BaseModel]:
        member = self.members[kind]
        return member if isinstance(member, type) else member()
