"""The base of all models of the language: frozen, strict, with suggestions for unknown keys."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from longhaul.diagnostics import Code, printable
from longhaul.scenario.syntax.problems import ENOUGH_PROBLEMS, did_you_mean
from longhaul.scenario.syntax.yaml_tree import Placed
from longhaul.units.quantities import PARAMETER_PATTERN


@dataclass(frozen=True)
class KeyProblem:
    """Something wrong with a key, found while its mapping is validated."""

    code: Code
    mapping: Placed
    key: str
    message: str
    remedy: str


@dataclass
class Findings:
    """The validation context: gathers problems that need not end a model's validation."""

    keys: list[KeyProblem] = field(default_factory=list)


class Strict(BaseModel):
    """A mapping with known keys and no others."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_by_name=False,
        validate_by_alias=True,
        defer_build=True,
    )

    later: ClassVar[Mapping[str, str]] = {}
    """Keys of the language that this version does not know yet, with what to write meanwhile."""
    instead: ClassVar[Mapping[str, str]] = {}
    """Words that other tools use, with the remedy."""

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Placed) or not isinstance(info.context, Findings):
            return data
        known = cls.keys()
        kept = Placed()
        kept.node, kept.path = data.node, data.path
        for key, value in data.items():
            if (key not in known or value is None) and len(info.context.keys) >= ENOUGH_PROBLEMS:
                continue
            if key not in known:
                info.context.keys.append(KeyProblem(Code.KEY_UNKNOWN, data, key, *cls._unknown(key, known)))
            elif value is None:
                info.context.keys.append(
                    KeyProblem(Code.VALUE_MISSING, data, key, "has no value", "write one, or remove the key")
                )
            else:
                kept[key] = value
        return kept

    @classmethod
    def keys(cls) -> list[str]:
        """The keys as the file spells them."""
        return [info.alias or name for name, info in cls.model_fields.items()]

    @classmethod
    def _unknown(cls, key: str, known: list[str]) -> tuple[str, str]:
        if key in cls.later:
            return "is not in this version yet", cls.later[key]
        if key.lower() in cls.instead:
            return f'there is no key "{printable(key)}"', cls.instead[key.lower()]
        return f'there is no key "{printable(key)}" here', did_you_mean(key, known)


class AlsoText:
    """Adds, to the JSON Schema of an object, the short form as text."""

    def __init__(self, pattern: str, *examples: str) -> None:
        """Text that matches ``pattern``."""
        self.pattern = pattern
        self.examples = examples

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = {"type": "string", "pattern": self.pattern, "examples": list(self.examples)}
        return {"anyOf": [text, handler(schema)]}


class AlsoBoolean:
    """Adds, to the JSON Schema of an object, the short forms ``true`` and ``false``."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "boolean"}, handler(schema)]}


class OneOrList:
    """The annotation of a list that may be written as its only item."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(one_or_list, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        listed = handler(schema)
        return {"anyOf": [listed["items"], {**listed, "minItems": 1}]}


@dataclass(frozen=True)
class Count:
    """The annotation of a bare whole number, or of a parameter in its place."""

    at_least: int
    at_most: int = 10**12

    def check(self, value: object) -> int:
        """``value`` itself, if it lies within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise problem(
                Code.WRONG_TYPE,
                "must be a whole number",
                f"write for example {max(self.at_least, 1)}, without unit",
            )
        if value < self.at_least:
            raise problem(
                Code.OUT_OF_RANGE,
                f"must be at least {self.at_least}, not {printable(str(value))}",
                "write a larger number",
            )
        if value > self.at_most:
            raise problem(
                Code.OUT_OF_RANGE,
                f"must be at most {self.at_most}, not {printable(str(value))}",
                "write a smaller number",
            )
        return value

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number = {"type": "integer", "minimum": self.at_least, "maximum": self.at_most}
        return {"anyOf": [number, {"type": "string", "pattern": f"^{PARAMETER_PATTERN}$"}]}


@dataclass(frozen=True)
class Number:
    """The annotation of a bare number, or of a parameter in its place."""

    at_least: float
    at_most: float
    example: str = "2.5"

    def check(self, value: object) -> float:
        """``value`` as a float, if it lies within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise problem(
                Code.WRONG_TYPE, "must be a number", f"write for example {self.example}, without unit"
            )
        if not self.at_least <= value <= self.at_most:
            message = f"must lie between {self.at_least:g} and {self.at_most:g}, not {printable(str(value))}"
            raise problem(Code.OUT_OF_RANGE, message, f"write for example {self.example}")
        return float(value)

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number = {"type": "number", "minimum": self.at_least, "maximum": self.at_most}
        return {"anyOf": [number, {"type": "string", "pattern": f"^{PARAMETER_PATTERN}$"}]}


def problem(code: Code, message: str, remedy: str, *, at: str | None = None) -> PydanticCustomError:
    """An error that a validator raises about its value, or about key ``at`` in it."""
    return PydanticCustomError(
        "scenario",
        "{message}; {remedy}",
        {"code": code, "message": message, "remedy": remedy, "at": at},
    )


def one_or_list(value: Any) -> Any:
    """A single item as a list of one."""
    return [value] if not isinstance(value, list) else value


def _text_of(value: Any) -> Any:
    if isinstance(value, bool):
        raise problem(Code.WRONG_TYPE, "is true or false where text is wanted", "quote it")
    return str(value) if isinstance(value, int | Decimal) else value


def _kernel_version(value: Any) -> Any:
    text = _text_of(value)
    if not isinstance(text, str) or not re.fullmatch(KERNEL_PATTERN, text):
        raise problem(
            Code.NAME_INVALID,
            f'"{printable(str(value))}" is not the version of a kernel',
            "write for example 6.12, or the name of one",
        )
    return text


def choice(
    value: Mapping[str, Any], key: str, now: tuple[str, ...], later: tuple[str, ...], what: str
) -> None:
    """Refuse a mapping whose ``key`` names no choice, or none in this version."""
    if value.get(key) is None:
        raise problem(Code.KEY_MISSING, f'has no "{key}"', f"write one of {', '.join(now)}")
    word = str(value[key])
    if word in later:
        raise problem(
            Code.CHOICE_UNKNOWN,
            f'{what} "{word}" is not in this version yet',
            f"there are: {', '.join(now)}",
            at=key,
        )
    if word not in now:
        raise problem(
            Code.CHOICE_UNKNOWN, f'there is no {what} "{printable(word)}"', did_you_mean(word, now), at=key
        )


NAME_PATTERN = r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
KERNEL_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
HOST_PATTERN = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
RANGE_PATTERN = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.\.[0-9]{1,6}([a-z0-9-]{0,61}[a-z0-9])?)*"

FileName = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
"""A file beside the scenario."""
Column = Annotated[str, StringConstraints(min_length=1, max_length=128)]
"""A column of a CSV file; the end of its name is its unit."""
TracedHost = Annotated[str, StringConstraints(min_length=1, max_length=253)]
"""A host as a trace calls it."""
Text = Annotated[str, StringConstraints(max_length=4096)]
Word = Annotated[str, BeforeValidator(_text_of)]
"""Text that may look like a number."""
KernelVersion = Annotated[
    str,
    BeforeValidator(_kernel_version),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": f"^{KERNEL_PATTERN}$"}, {"type": "number"}]}),
    Field(examples=["6.12"]),
]
"""The version or name of a guest kernel, or the beginning of one; it may look like a number."""
Name = Annotated[str, StringConstraints(pattern=f"^{NAME_PATTERN}$")]
HostName = Annotated[str, StringConstraints(pattern=f"^{HOST_PATTERN}$")]
InterfaceName = Annotated[str, StringConstraints(pattern=f"^{HOST_PATTERN}(\\.{NAME_PATTERN})?$")]
"""An interface of a host: the host's name for the first one, ``HOST.NEIGHBOUR`` or ``HOST.LINK`` for each."""
HostRange = Annotated[str, BeforeValidator(_text_of), StringConstraints(pattern=f"^({RANGE_PATTERN})$")]
DestinationRange = Annotated[
    str,
    BeforeValidator(_text_of),
    StringConstraints(pattern=f"^({RANGE_PATTERN}|{HOST_PATTERN}\\.{NAME_PATTERN})$"),
]
"""Hosts, or an interface of one."""
HostRanges = Annotated[tuple[HostRange, ...], OneOrList(), Field(strict=False, min_length=1)]
DestinationRanges = Annotated[tuple[DestinationRange, ...], OneOrList(), Field(strict=False, min_length=1)]
Names = Annotated[tuple[Name, ...], OneOrList(), Field(strict=False, min_length=1)]
