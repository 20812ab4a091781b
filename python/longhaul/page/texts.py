"""What the page asks about texts: files, templates, problems, edits, quantities."""

import os
import platform
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from longhaul.measure.host import examine
from longhaul.page import folder, library
from longhaul.page.answers.drawn import Check, Edited
from longhaul.page.answers.texts import (
    BuiltInText,
    Can,
    Certificate,
    Certified,
    FileText,
    Finding,
    Host,
    Preflight,
    Quantity,
    Saved,
    State,
    TemplateText,
)
from longhaul.page.asking import Asked
from longhaul.page.looking import NAME, look, of_all
from longhaul.page.quantities import read_quantity
from longhaul.page.refusals import RefusedError
from longhaul.run.certificate import load_certificate
from longhaul.scenario.editing import OPERATIONS, Edit, edit
from longhaul.scenario.problems import ScenarioError
from longhaul.scenario.schema import json_schema
from longhaul.scenario.yaml_tree import plain, read_tree

Json = dict[str, Any]

_MOST_EDITS = 1_000
_BUILT_IN = "scenario:"
"""Begins the name of a text that came with Longhaul, and whose files lie there."""


@dataclass
class Texts:
    """Answers about the texts of one directory."""

    directory: Path

    def state(self, _asked: Asked) -> State:
        """Everything that the page needs to begin."""
        return {
            "version": version("longhaul"),
            "directory": str(self.directory),
            "host": self._host,
            "can": self._can,
            "templates": library.templates(),
            "scenarios": library.scenarios(),
            "files": folder.listing(self.directory),
        }

    @cached_property
    def _host(self) -> Host:
        findings: list[Finding] = [
            {"what": each.what, "state": each.state, "detail": each.detail, "fix": each.fix}
            for each in examine(self_test=False)
        ]
        return {
            "name": platform.node(),
            "kernel": platform.release(),
            "cpus": os.cpu_count(),
            "findings": findings,
        }

    @property
    def _can(self) -> Can:
        missing = [each for each in self._host["findings"] if each["state"] == "missing"]
        why = "; ".join(f"{each['what']}: {each['detail']}" for each in missing)
        remedy = "; ".join(each["fix"] for each in missing if each["fix"])
        return {"live": not missing, "why": why or None, "remedy": remedy or None}

    def schema(self, _asked: Asked) -> Json:
        """The language."""
        return json_schema()

    def scenario(self, asked: Asked) -> BuiltInText:
        """A scenario of the project."""
        name = asked.path["name"]
        return {"name": name, "text": library.read_scenario(name), "base": f"{_BUILT_IN}{name}"}

    def template(self, asked: Asked) -> TemplateText:
        """A template with its options."""
        return {"text": library.write_template(asked.path["name"], dict(asked.query))}

    def file(self, asked: Asked) -> FileText:
        """A file of the directory."""
        return folder.read(self.directory, asked.path["name"])

    def read(self, name: str) -> str:
        """The text of a file."""
        return folder.read(self.directory, name)["text"]

    def save(self, asked: Asked) -> Saved:
        """Write a file, if nobody else has."""
        before = asked.body.get("etag")
        if before is not None and not isinstance(before, str):
            raise RefusedError(400, '"etag" must be text or null')
        return folder.write(self.directory, asked.path["name"], asked.text("text"), before=before)

    def check(self, asked: Asked) -> Check:
        """Problems and model of a text."""
        return self._look(asked, asked.text("text"))

    def preflight(self, asked: Asked) -> Preflight:
        """What stands between a text and a faithful run: problems of the text, and of this machine now."""
        found = self._look(asked, asked.text("text"))["problems"]
        if asked.body.get("mode", "live") == "live":
            found += [
                of_all(
                    f"{each.what}: {each.detail}",
                    each.fix,
                    severity="error" if each.state == "missing" else "warning",
                )
                for each in examine(self_test=False)
                if each.state != "good"
            ]
        return {"warnings": found}

    def edit(self, asked: Asked) -> Edited:
        """A text with edits, the lines that changed, and what is wrong then."""
        edits = asked.body.get("edits")
        if not isinstance(edits, list) or len(edits) > _MOST_EDITS:
            raise RefusedError(400, f'"edits" must be a list of at most {_MOST_EDITS}')
        edited = edit(asked.text("text"), [_edit(each) for each in edits])
        return {
            "text": edited.text,
            "changed_lines": list(edited.changed_lines),
            "check": self._look(asked, edited.text),
        }

    def quantity(self, asked: Asked) -> Quantity:
        """A quantity as one types."""
        return read_quantity(asked.text("kind", most=40), asked.text("text", most=200))

    def certificate(self, _asked: Asked) -> Certified:
        """What this machine has shown that it can do."""
        found = load_certificate()
        # One of an older version that lacks figures is as good as none.
        whole = found is not None and found.keys() >= Certificate.__required_keys__
        return {"certificate": cast("Certificate", found) if whole else None}

    def asked(self, asked: Asked) -> tuple[str, str]:
        """What is to be run: what errors call it, and its text, that of a file if there is no other."""
        if asked.body.get("file") is None:
            return NAME, asked.text("text")
        name = asked.text("file", most=200)
        return name, asked.text("text") if "text" in asked.body else self.read(name)

    def base(self, asked: Asked) -> Path:
        """Where the files lie that a text names: with the scenarios of the project, if it is one of them."""
        base = asked.body.get("base")
        if isinstance(base, str) and base.startswith(_BUILT_IN):
            return library.SCENARIOS
        return self.directory

    def _look(self, asked: Asked, text: str) -> Check:
        settings = asked.texts("settings")
        certificate = load_certificate()
        return look(text, folder=self.base(asked), settings=settings, certificate=certificate)


def _edit(given: Any) -> Edit:
    if not isinstance(given, dict) or given.get("op") not in OPERATIONS:
        raise RefusedError(400, f"an edit has an op: {', '.join(OPERATIONS)}")
    path = given.get("path")
    if not isinstance(path, list) or not all(type(part) in (str, int) for part in path) or len(path) > 30:
        raise RefusedError(400, "an edit has a path, a list of names and positions")
    for typed in ("yaml", "text"):
        if typed in given:
            return Edit(given["op"], tuple(path), _value(given[typed]))
    return Edit(given["op"], tuple(path), given.get("value"), given.get("references") is True)


def _value(text: Any) -> Any:
    """What ``text`` says, as it would in the file."""
    if not isinstance(text, str):
        raise RefusedError(400, '"text" must be text')
    try:
        entries = plain(read_tree("value", f"{{value: {text}}}".encode())[1])
    except ScenarioError:
        entries = {}
    if list(entries) != ["value"]:
        raise RefusedError(400, f'"{text[:60]}" is not one value', remedy="close what is open, or quote it")
    return entries["value"]
