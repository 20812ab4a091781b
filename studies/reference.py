"""Reference pages of the command line, of the Python API and of diagnostics.

They come from the help of options, from docstrings, and from the explanations of codes.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import click

EXIT_CODES = (
    (0, "good"),
    (1, "a program or an expectation failed"),
    (2, "wrong input or usage"),
    (3, "this machine cannot do it"),
    (
        4,
        "finished, but the network was invalid (with `--strict`: or degraded, or hosts starved), "
        "or an expectation with `else: untrusted` failed",
    ),
    (70, "internal error"),
    (130, "interrupted, partial results kept"),
)
API: dict[str, tuple[str, ...]] = {
    "Runs": ("run_live", "run_sim", "Result", "analysis.outcome:Outcome", "analysis.outcome:Failure"),
    "Networks that stay up": ("up", "Network", "run.live_links:LinkNow"),
    "Sweeps": ("sweep", "resume", "sweeps.sweep:Swept"),
    "Description of a scenario": ("describe", "Described"),
    "Comparisons": ("compare", "Comparison"),
    "Distribution fits": ("fit", "Fitted"),
    "Transfer plans": ("plan_transfers", "Planned"),
    "Figures": ("report.pictures:Picture",),
    "Topologies": ("topologies", "topologies:Sketch"),
    "Relays": (
        "relay:serve",
        "relay:running",
        "relay:Running",
        "relay.wrappers:Wrapper",
        "relay.wrappers:Message",
        "relay.wrappers:Parameters",
    ),
    "Studies": (
        "studies:run_study",
        "studies:Part",
        "studies:Study",
        "studies:Numbers",
        "studies:EvaluatedClaim",
        "studies:Case",
        "studies:Measurement",
        "studies:exact",
        "studies:measured",
        "studies:ratios",
        "studies:at_least",
        "studies:at_most",
        "studies:between",
        "studies:near",
        "studies:holds_if",
        "studies:read_table",
        "studies:StudyFolder",
        "studies:Figures",
        "studies:PaperFigures",
        "studies:PaperFigure",
        "studies:PaperValue",
    ),
    "Errors": ("errors:LonghaulError", "scenario:ScenarioError"),
}
"""What the package exports and what its functions return; ``MODULE:NAME`` if it is not at the top."""
INTERNAL = {"as_dict", "from_dict", "with_lines", "count_text"}
"""Public methods that only Longhaul itself calls."""
Definition = ast.FunctionDef | ast.ClassDef


def codes() -> str:
    """A table of codes for each family: title and explanation."""
    from longhaul.diagnostics.explanations import explanations

    pieces = []
    for family, members in groupby(explanations().values(), key=lambda each: (each.code[:3], each.family)):
        rows = [f"### {family[0]}: {family[1]}", "", "| code | problem | explanation |", "|---|---|---|"]
        rows += [f"| `{each.code}` | {each.title} | {each.text} |" for each in members]
        pieces.append("\n".join(rows))
    return "\n" + "\n\n".join(pieces) + "\n"


def command_line() -> str:
    """A table of commands, and a section for each with its usage, its options and their defaults."""
    from longhaul.cli.main import longhaul

    context = click.Context(longhaul, info_name="longhaul", max_content_width=200)
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES)
    parts = [
        "\n".join(["| command | what it does |", "|---|---|", *_index(context)]),
        *_commands(context, "##"),
        f"## Exit codes\n\n| code | meaning |\n|---|---|\n{codes}",
    ]
    return "\n" + "\n\n".join(parts) + "\n"


def _below(context: click.Context) -> Iterator[click.Context]:
    """The commands of a group."""
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield click.Context(command, parent=context, info_name=name)


def _index(context: click.Context) -> Iterator[str]:
    """A row for each command."""
    for below in _below(context):
        path = below.command_path
        about = prose(below.command.get_short_help_str(200))
        yield f"| [`{path}`](#{path.replace(' ', '-')}) | {about} |"


def _commands(context: click.Context, heading: str) -> Iterator[str]:
    """All commands below ``context``; those of a group are a level deeper."""
    for below in _below(context):
        yield "\n\n".join([f"{heading} {below.command_path}", *_about(below)])
        if isinstance(below.command, click.Group):
            yield from _commands(below, f"{heading}#")


def _about(context: click.Context) -> Iterator[str]:
    """Description, usage, options and examples of a command."""
    command = context.command
    examples = []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.lstrip().startswith("\b"):
            examples.append(textwrap.dedent(paragraph.strip().removeprefix("\b\n")))
        else:
            yield prose(" ".join(paragraph.split()))
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    options = [_option(each, context) for each in command.get_params(context) if "--help" not in each.opts]
    if any(options):
        yield "\n".join(filter(None, options))
    for example in examples:
        lines = re.sub(r"(?<!\\\n)^(?=\S)", "$ ", example, flags=re.MULTILINE)
        yield f"```console\n{lines}\n```"


def _option(parameter: click.Parameter, context: click.Context) -> str:
    """A line about an option; nothing for an argument, which the description explains."""
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return ""
    record = parameter.get_help_record(context)
    assert record is not None
    names, meaning = record[0].replace("INTEGER RANGE", "N"), parameter.help or ""
    extra = parameter.get_help_extra(context)
    facts = [f"Default: `{extra['default']}`." if extra.get("default") else ""]
    facts += [
        f"Range: `{extra['range']}`." if extra.get("range") else "",
        "Required." if parameter.required else "",
    ]
    return " ".join(filter(None, [f"- `{names}`:", prose(" ".join(meaning.split())), *facts]))


def prose(text: str) -> str:
    """Plain text as Markdown: options and names with special characters as code."""
    text = re.sub(r"(?<![\w`-])(--?[a-z][\w-]*)(?![\w`])", r"`\1`", text)
    return re.sub(r"(?<!`)([<*_])", lambda found: "&lt;" if found[1] == "<" else f"\\{found[1]}", text)


def python_api() -> str:
    """A section for each part of the API, with signatures and docstrings."""
    import longhaul

    named = {name.partition(":")[0] if ":" in name else name for names in API.values() for name in names}
    missing = set(longhaul.__all__) - named
    assert not missing, f"studies/reference.py: API lacks {missing}"
    parts = []
    for title, names in API.items():
        parts.append(f"## {title}")
        for name in names:
            parts += _member(name)
    return "\n" + "\n\n".join(parts) + "\n"


def _member(name: str) -> Iterator[str]:
    """The entry of a function or class, or the entries of a module's functions."""
    module, _, attribute = name.rpartition(":")
    found: Any = (
        getattr(import_module(f"longhaul.{module}"), attribute) if module else _exported(attribute or name)
    )
    if inspect.ismodule(found):
        yield docstring(inspect.getdoc(found) or "")
        for definition in _tree(Path(inspect.getfile(found))).body:
            if isinstance(definition, ast.FunctionDef) and not definition.name.startswith("_"):
                yield from _function(definition, f"longhaul.{name}.", "###")
        return
    definition = _definition(found)
    place = "longhaul." if not module else f"longhaul.{module}."
    if isinstance(definition, ast.FunctionDef):
        yield from _function(definition, place, "###")
    else:
        yield from _class(found, definition, place)


def _exported(name: str) -> Any:
    import longhaul

    return getattr(longhaul, name)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _definition(found: Any) -> Definition:
    for each in _tree(Path(inspect.getfile(found))).body:
        if isinstance(each, Definition) and each.name == found.__name__:
            return each
    raise AssertionError(found)


def _function(function: ast.FunctionDef, place: str, heading: str) -> Iterator[str]:
    yield f"{heading} {function.name}"
    yield f"```python\n{signature(function, place)}\n```"
    yield docstring(ast.get_docstring(function) or "")


def signature(function: ast.FunctionDef, place: str = "") -> str:
    """A call of the function with its parameters; one a line where they do not fit in one."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    words = [_parameter(each, default) for each, default in zip(positional, defaults, strict=True)]
    if positional and positional[0].arg in ("self", "cls"):
        words = words[1:]
    if given.vararg:
        words.append(f"*{_parameter(given.vararg, None)}")
    elif given.kwonlyargs:
        words.append("*")
    words += [_parameter(*each) for each in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        words.append(f"**{_parameter(given.kwarg, None)}")
    result = f" -> {_type(function.returns)}" if function.returns else ""
    line = f"{place}{function.name}({', '.join(words)}){result}"
    if len(line) <= 96:
        return line
    return "\n".join([f"{place}{function.name}(", *(f"    {each}," for each in words), f"){result}"])


def _parameter(parameter: ast.arg, default: ast.expr | None) -> str:
    kind = f": {_type(parameter.annotation)}" if parameter.annotation else ""
    value = ast.unparse(default).replace("'", '"') if default else ""
    return f"{parameter.arg}{kind}{' = ' if value else ''}{value}"


def _type(annotation: ast.expr | None) -> str:
    text = ast.unparse(annotation).strip("'\"") if annotation else ""
    return text.replace("_PathLike", "str | os.PathLike[str]")


def _class(found: type, definition: ast.ClassDef, place: str) -> Iterator[str]:
    """A class with its attributes, then its methods; inherited ones of the package included."""
    yield f"### {definition.name}"
    yield f"```python\nclass {place}{definition.name}\n```"
    yield docstring(ast.get_docstring(definition) or "")
    bodies = [definition.body]
    for base in found.__mro__[1:]:
        if base.__module__.startswith("longhaul.") and not issubclass(base, Exception):
            bodies.append(_definition(base).body)
    attributes = [line for body in bodies for line in _attributes(body)]
    if attributes:
        yield "\n".join(attributes)
    for body in bodies:
        for each in body:
            if isinstance(each, ast.FunctionDef) and _is_method(each):
                yield from _function(each, "", "####")


def _is_method(function: ast.FunctionDef) -> bool:
    return not (function.name.startswith("_") or function.name in INTERNAL or _is_property(function))


def _is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each) in ("property", "cached_property") for each in function.decorator_list)


def _attributes(body: list[ast.stmt]) -> Iterator[str]:
    """A line for each attribute and property, with its type and the text that follows it."""
    for each, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            if not each.target.id.startswith("_"):
                yield _attribute(each.target.id, _type(each.annotation), _text(after))
        elif isinstance(each, ast.FunctionDef) and _is_property(each) and not each.name.startswith("_"):
            yield _attribute(each.name, _type(each.returns), ast.get_docstring(each) or "")
        elif isinstance(each, ast.FunctionDef) and each.name == "__init__":
            yield from _instance_attributes(each)


def _instance_attributes(init: ast.FunctionDef) -> Iterator[str]:
    """A line for each public attribute that ``__init__`` sets."""
    kinds = {each.arg: _type(each.annotation) for each in [*init.args.args, *init.args.kwonlyargs]}
    for each, after in zip(init.body, [*init.body[1:], None], strict=True):
        target = each.targets[0] if isinstance(each, ast.Assign) else getattr(each, "target", None)
        if isinstance(target, ast.Attribute) and not target.attr.startswith("_"):
            kind = _type(each.annotation) if isinstance(each, ast.AnnAssign) else kinds.get(target.attr, "")
            yield _attribute(target.attr, kind, _text(after))


def _attribute(name: str, kind: str, text: str) -> str:
    typed = f"- `{name}`, `{kind}`" if kind else f"- `{name}`"
    return f"{typed}{': ' if text else ''}{docstring(text)}"


def _text(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value)
    return ""


def docstring(text: str) -> str:
    """A docstring as Markdown: names as code, sessions of the interpreter as blocks."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r" *# doctest: \+\w+", "", text)
    return "\n\n".join(
        f"```pycon\n{paragraph}\n```" if paragraph.startswith(">>>") else " ".join(paragraph.split())
        for paragraph in text.strip().split("\n\n")
    )
