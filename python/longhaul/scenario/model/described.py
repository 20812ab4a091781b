"""Models whose attributes are described by their docstrings."""

import ast
import inspect
from textwrap import dedent

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from longhaul.scenario.model.base import Strict


class Described(Strict):
    """A mapping whose keys have the docstrings of its attributes as descriptions in the JSON Schema.

    Pydantic's ``use_attribute_docstrings`` parses the source of each model when its module is imported, which
    is a tenth of a short run. Here the source is parsed when a schema or a form is made.
    """

    @classmethod
    def descriptions(cls) -> dict[str, str]:
        """The docstrings by attribute, with those of its bases."""
        bases = [each for each in reversed(cls.__mro__) if issubclass(each, Described)]
        return {name: text for each in bases for name, text in _docstrings(each).items()}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        found = handler(schema)
        properties = handler.resolve_ref_schema(found)["properties"]
        for name, text in cls.descriptions().items():
            properties[name]["description"] = text
        return found


def _docstrings(model: type[Described]) -> dict[str, str]:
    (definition,) = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for attribute, after in zip(definition.body, definition.body[1:], strict=False):
        match attribute, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ) if name in model.model_fields:
                found[name] = inspect.cleandoc(text)
    return found
