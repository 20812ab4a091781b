# ruff: noqa: ARG002
"""Runs a Python file of Mininet with a stand-in for the package, and writes the topology that it defines.

Arguments: the file, where to write, and NAME,ARGUMENT,... of ``topos`` or nothing. Runs alone, as text: it
imports nothing of Longhaul.
"""

import importlib.abc
import importlib.machinery
import inspect
import json
import os
import resource
import sys
import types
from typing import Any


class Topo:
    """What the class of that name in ``mininet.topo`` records."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Build it, as Mininet does."""
        self.recorded_nodes: dict[str, dict[str, Any]] = {}
        self.recorded_links: list[dict[str, Any]] = []
        self.hopts = params.pop("hopts", {})
        self.sopts = params.pop("sopts", {})
        self.lopts = params.pop("lopts", {})
        self.build(*args, **params)

    def build(self, *args: Any, **params: Any) -> None:
        """Subclasses do it."""

    def addNode(self, name: str, **options: Any) -> str:  # noqa: N802, D102
        return self._add(name, "host", {**self.hopts, **options})

    def addHost(self, name: str, **options: Any) -> str:  # noqa: N802, D102
        return self._add(name, "host", {**self.hopts, **options})

    def addSwitch(self, name: str, **options: Any) -> str:  # noqa: N802, D102
        return self._add(name, "switch", {**self.sopts, **options})

    def addLink(  # noqa: N802, D102
        self, node1: str, node2: str, port1: Any = None, port2: Any = None, key: Any = None, **options: Any
    ) -> int:
        self.recorded_links.append(
            {"ends": [str(node1), str(node2)], "options": plain({**self.lopts, **options}), "line": line()}
        )
        return len(self.recorded_links) - 1

    def hosts(self, sort: bool = True) -> list[str]:  # noqa: D102
        return [name for name, node in self.recorded_nodes.items() if node["kind"] == "host"]

    def switches(self, sort: bool = True) -> list[str]:  # noqa: D102
        return [name for name, node in self.recorded_nodes.items() if node["kind"] == "switch"]

    def nodes(self, sort: bool = True) -> list[str]:  # noqa: D102
        return list(self.recorded_nodes)

    def links(self, *args: Any, **options: Any) -> list[tuple[str, str]]:  # noqa: D102
        return [tuple(link["ends"]) for link in self.recorded_links]

    def isSwitch(self, name: str) -> bool:  # noqa: N802, D102
        return bool(self.recorded_nodes[name]["kind"] == "switch")

    def _add(self, name: str, kind: str, options: dict[str, Any]) -> str:
        self.recorded_nodes[str(name)] = {"kind": kind, "options": plain(options), "line": line()}
        return name


def plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON has them."""
    return {
        str(key): value
        if isinstance(value, str | int | float | bool)
        else getattr(value, "__name__", str(value))
        for key, value in options.items()
        if value is not None
    }


def line() -> int:
    """The line of the user's file that is being executed."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != FILE:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0


class Anything:
    """Whatever else a file takes from Mininet: it may be named, called and subclassed, and does nothing."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Take anything."""

    def __call__(self, *args: Any, **options: Any) -> "Anything":
        """Do nothing."""
        return self

    def __getattr__(self, name: str) -> "Anything":
        """Have everything."""
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Module(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        """Make it."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "Topo":
            return Topo
        if name == "irange":
            return lambda start, end: list(range(start, end + 1))
        return type(name, (Anything,), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``mininet`` and everything below it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: D102
        if name.partition(".")[0] != "mininet":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:  # noqa: D102
        module = Module(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:  # noqa: D102
        pass


def argument(word: str) -> Any:
    """An argument of ``--topo``, as Mininet reads it."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def chosen(names: dict[str, Any], topo: str) -> tuple[str, Topo]:
    """The topology that is asked for, or the only one."""
    topos = names.get("topos") or {}
    name, *words = topo.split(",") if topo else [""]
    options = dict(word.split("=", 1) for word in words if "=" in word)
    arguments = [argument(word) for word in words if "=" not in word]
    classes = {
        key: each
        for key, each in names.items()
        if inspect.isclass(each)
        and issubclass(each, Topo)
        and each is not Topo
        and each.__module__ == "topology"
    }
    known = {**classes, **topos}
    if name:
        if name not in known:
            sys.exit(f"there is no topology {name!r}, but {', '.join(known) or 'none'}")
        made = known[name]
    elif len(topos) == 1:
        ((name, made),) = topos.items()
    elif len(classes) == 1:
        ((name, made),) = classes.items()
    else:
        sys.exit(f"defines {len(known)} topologies; name one with --topo: {', '.join(known) or 'none'}")
    found = made(*arguments, **{key: argument(word) for key, word in options.items()})
    if not isinstance(found, Topo):
        sys.exit(f"{name} is not a Topo")
    return name, found


FILE = ""
"""The user's file."""


def main() -> None:
    """Execute the file, and write what it defines."""
    global FILE
    FILE, out_path, topo = sys.argv[-3:]
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, Finder())
    sys.path.insert(0, os.path.dirname(FILE))
    with open(FILE, "rb") as source:
        code = compile(source.read(), FILE, "exec")
    # A file that starts its network when it is a program is read as mn --custom reads it.
    names: dict[str, Any] = {"__name__": "topology", "__file__": FILE}
    exec(code, names)
    called, topology = chosen(names, topo)
    with open(out_path, "w", encoding="utf-8") as out:
        json.dump(
            {
                "name": called,
                "nodes": [{"name": name, **node} for name, node in topology.recorded_nodes.items()],
                "links": topology.recorded_links,
            },
            out,
        )


if __name__ == "__main__":
    main()
