"""Requests about texts: files, templates, problems, edits, quantities."""

import os
import platform
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from longhaul.calibrate.host import examine
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page import folder, library
from longhaul.page.bodies import (
    EditsOfText,
    FileSave,
    PreflightText,
    QuantityText,
    RemoveEdit,
    RenameEdit,
    ScenarioText,
    Source,
    WriteEdit,
)
from longhaul.page.json_requests import Asked
from longhaul.page.quantities import read_quantity
from longhaul.page.refusals import RefusedError, as_problem
from longhaul.page.responses.drawings import Check, Edited
from longhaul.page.responses.texts import (
    BuiltInText,
    Can,
    Certified,
    FileText,
    Finding,
    Host,
    Preflight,
    Problem,
    Quantity,
    Saved,
    State,
    TemplateText,
)
from longhaul.page.scenario_check import NAME, look, of_all
from longhaul.results.certificate import Certificate, load_certificate
from longhaul.run.virtual_clock import clock_of, refused
from longhaul.scenario import Resolved, resolve
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.edit.edits import Edit, edit
from longhaul.scenario.model.schema import json_schema
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import plain, read_tree

Json = dict[str, Any]

_BUILT_IN = "scenario:"
"""Begins the name of a text that came with Longhaul, and whose files lie there."""


@dataclass
class Texts:
    """Answers about the texts of one directory."""

    directory: Path
    read_only: bool = False
    """Whether the server refuses to change anything."""

    def state(self, _asked: Asked) -> State:
        """Everything that the page needs to begin."""
        return {
            "version": version("longhaul"),
            "directory": str(self.directory),
            "host": self._host,
            "can": self._can,
            "read_only": self.read_only,
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
        return self._schema

    @cached_property
    def _schema(self) -> Json:
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

    def save(self, asked: Asked, body: FileSave) -> Saved:
        """WriteEdit a file, if nobody else has."""
        return folder.write(self.directory, asked.path["name"], body.text, before=body.etag)

    def check(self, _asked: Asked, body: ScenarioText) -> Check:
        """Problems and model of a text."""
        return self._look(body, body.text)

    def preflight(self, _asked: Asked, body: PreflightText) -> Preflight:
        """What stands between a text and a faithful run: problems of the text, and of this machine now."""
        found = self._look(body, body.text)["problems"]
        if body.clock == "virtual":
            found += self._virtual(body)
        elif body.mode == "live":
            found += [
                of_all(
                    Code.MACHINE_UNABLE if each.state == "missing" else Code.MACHINE_INACCURATE,
                    f"{each.what}: {each.detail}",
                    each.fix,
                )
                for each in examine(self_test=False)
                if each.state != "good"
            ]
        return {"warnings": found, "expected": self._expected(body)}

    def _virtual(self, body: PreflightText) -> list[Problem]:
        """What keeps a text from a run on the virtual clock: the kernel, and what hosts there cannot do."""
        try:
            resolved = self.resolved(body)
        except LonghaulError:
            # Said already.
            return []
        found = [as_problem(each) for each in refused(resolved, otherwise="run it live")]
        try:
            clock_of("virtual", resolved.scenario, body.kernel)
        except LonghaulError as error:
            found += [as_problem(each) for each in error.diagnostics]
        return found

    def _expected(self, body: ScenarioText) -> str | None:
        from longhaul.scenario.lower.preview import preview

        try:
            return preview(self.resolved(body)).line
        except LonghaulError:
            return None

    def resolved(self, body: ScenarioText) -> Resolved:
        """The scenario of a text. Raises ScenarioError with all that is wrong in it."""
        folder = self.base(body.base)
        return resolve(parse_scenario(body.text.encode(), name=NAME, settings=body.settings, folder=folder))

    def edit(self, _asked: Asked, body: EditsOfText) -> Edited:
        """A text with edits, the lines that changed, and what is wrong then."""
        edited = edit(body.text, [_edit(each) for each in body.edits])
        return {
            "text": edited.text,
            "changed_lines": list(edited.changed_lines),
            "check": self._look(body, edited.text),
        }

    def quantity(self, _asked: Asked, body: QuantityText) -> Quantity:
        """A quantity as one types."""
        return read_quantity(body.kind, body.text)

    def certificate(self, _asked: Asked) -> Certified:
        """What this machine has shown that it can do."""
        found = load_certificate()
        # One of an older version that lacks figures is as good as none.
        whole = found is not None and found.keys() >= Certificate.__required_keys__
        return {"certificate": cast("Certificate", found) if whole else None}

    def source(self, body: Source) -> tuple[str, str]:
        """What is to be run: what errors call it, and its text, that of a file if there is no other."""
        if body.file is None:
            if body.text is None:
                raise RefusedError(
                    Code.PAGE_REQUEST, 400, '"text" is missing', remedy='send "text" or "file"'
                )
            return NAME, body.text
        return body.file, self.read(body.file) if body.text is None else body.text

    def base(self, base: str | None) -> Path:
        """Where the files lie that a text names: with the scenarios of the project, if it is one of them."""
        return library.SCENARIOS if base is not None and base.startswith(_BUILT_IN) else self.directory

    def _look(self, body: ScenarioText, text: str) -> Check:
        certificate = load_certificate()
        return look(text, folder=self.base(body.base), settings=body.settings, certificate=certificate)


def _edit(asked: WriteEdit | RenameEdit | RemoveEdit) -> Edit:
    path = tuple(asked.path)
    match asked:
        case WriteEdit(text=str(text)):
            return Edit(asked.op, path, _value(text))
        case RemoveEdit():
            return Edit(asked.op, path, references=asked.references)
    return Edit(asked.op, path, asked.value)


def _value(text: str) -> Any:
    """What ``text`` says, as it would in the file."""
    try:
        entries = plain(read_tree("value", f"{{value: {text}}}".encode())[1])
    except ScenarioError:
        entries = {}
    if list(entries) != ["value"]:
        raise RefusedError(
            Code.PAGE_REQUEST,
            400,
            f'"{text[:60]}" is not one value',
            remedy="close what is open, or quote it",
        )
    return entries["value"]
