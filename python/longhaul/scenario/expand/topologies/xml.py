"""Safe reading of XML: no entities, no other files, bounded depth; elements with line numbers."""

from dataclasses import dataclass, field
from xml.parsers import expat

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError

_DEEPEST = 64


@dataclass
class Element:
    """An element, its children and the text before the first of them."""

    tag: str
    """Without its namespace."""
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> list["Element"]:
        """The children called ``tag``."""
        return [child for child in self.children if child.tag == tag]

    def first(self, *tags: str) -> "Element | None":
        """The first descendant that ``tags`` lead to."""
        here: Element | None = self
        for tag in tags:
            here = next((child for child in here.children if child.tag == tag), None) if here else None
        return here

    def word(self, *tags: str) -> str:
        """The text of that descendant, or nothing."""
        found = self.first(*tags)
        return found.text.strip() if found else ""


def read_xml(content: bytes, *, name: str) -> Element:
    """The root of ``content``, which errors call ``name``; raises :class:`LonghaulError`."""
    reader = _Reader(name)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, found: reader.begin(tag, found, parser.CurrentLineNumber)
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.EntityDeclHandler = lambda *_declaration: reader.refuse_entities(parser.CurrentLineNumber)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        place = f"{name}:{error.lineno}:{error.offset + 1}"
        remedy = (
            "the file may be cut off; fetch it again" if _cut_off(error.code) else "correct the file there"
        )
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED, f"{place}: {reason}", remedy=remedy, exit_code=2
        ) from None
    except (LookupError, ValueError) as error:
        message = f"{name}: {printable(str(error))}"
        raise LonghaulError(Code.NOT_TEXT, message, remedy="write the file in UTF-8", exit_code=2) from None
    return reader.root


def _cut_off(code: int) -> bool:
    ends = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
    return code in {expat.errors.codes[each] for each in ends}


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.root = Element("", {}, 0)
        self.open: list[Element] = []

    def begin(self, tag: str, attributes: dict[str, str], line: int) -> None:
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        element = Element(tag.rpartition(" ")[2], plain, line)
        if len(self.open) >= _DEEPEST:
            message = f"{self.name}:{line}: elements lie {_DEEPEST} deep"
            raise LonghaulError(
                Code.FOREIGN_FILE_MALFORMED, message, remedy="this is not a topology", exit_code=2
            )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if self.open and not self.open[-1].children:
            self.open[-1].text += text

    def refuse_entities(self, line: int) -> None:
        message = f"{self.name}:{line}: declares an entity, which could grow without bound"
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED, message, remedy="write its text out where it is used", exit_code=2
        )
