"""Requests about the links of a live run: their models now, and presets of impairments."""

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex

from longhaul.analysis.configuration import Configured, Json, lanes
from longhaul.analysis.wording import model_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.bodies import ImpairmentStart
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.links import ImpairmentRow, LinkDirection, LinkNow
from longhaul.page.responses.texts import Done
from longhaul.page.run_requests import Experiments
from longhaul.run.impairments import PRESETS, Impairment, cause
from longhaul.run.interventions import link_models
from longhaul.scenario.edit.splicing import flow
from longhaul.scenario.show.model_syntax import written_change

_NO_DEFAULT = object()
_DEFAULTS: Json = {"reorder": False, "loss_position": "ingress"}
"""Left out of what is shown, as in a scenario."""


@dataclass
class Links:
    """The links of runs, and the impairments that were caused from the page."""

    experiments: Experiments
    _impairments: dict[str, tuple[str, Impairment]] = field(default_factory=dict)
    """By their ids, each with the id of its run."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self, asked: Asked) -> LinkNow:
        """How a link is configured now."""
        socket = self.experiments.socket_of(self.experiments.directory_of(asked))
        link = asked.path["link"]
        models = link_models(socket, link)
        return {
            "link": link,
            "forward": _direction(models["forward"]),
            "reverse": _direction(models["reverse"]),
            "impairment": self._of(asked.path["run"], link),
            "presets": [
                {"name": each.name, "title": each.title, "description": each.description} for each in PRESETS
            ],
        }

    def cause(self, asked: Asked, body: ImpairmentStart) -> ImpairmentRow:
        """Apply a preset to a link."""
        run = asked.path["run"]
        preset = next((each for each in PRESETS if each.name == body.preset), None)
        if preset is None:
            known = ", ".join(each.name for each in PRESETS)
            raise RefusedError(Code.PAGE_REQUEST, 400, '"preset" is unknown', remedy=f"send one of {known}")
        socket = self.experiments.socket_of(self.experiments.directory_of(asked))
        with self._lock:
            there = self._of(run, body.link)
            if there is not None:
                message = f"{there['title']} is active on {body.link}"
                raise RefusedError(Code.PAGE_CONFLICT, 409, message, remedy="undo it first")
            impairment = cause(socket, body.link, preset, by="page", way=body.way)
            name = token_hex(8)
            self._impairments[name] = (run, impairment)
        return _row(name, impairment)

    def undo(self, asked: Asked) -> Done:
        """Put a link back to what it was before a preset."""
        run, impairment = self._impairments.get(asked.path["impairment"], ("", None))
        if impairment is None or run != asked.path["run"]:
            raise RefusedError(Code.PAGE_NOT_FOUND, 404, "this was undone already")
        impairment.undo(by="page")
        self._impairments.pop(asked.path["impairment"], None)
        return {"ok": True}

    def close(self) -> None:
        """End what changes links by itself, from any thread, and leave no link down."""
        for _run, impairment in list(self._impairments.values()):
            if impairment.is_flapping:
                with suppress(LonghaulError):
                    impairment.undo(by="page")

    def _of(self, run: str, link: str) -> ImpairmentRow | None:
        """What is active on a link."""
        for name, (of, impairment) in list(self._impairments.items()):
            if impairment.is_over or not impairment.socket.exists():
                self._impairments.pop(name, None)
            elif of == run and impairment.link == link:
                return _row(name, impairment)
        return None


def _direction(model: Json) -> LinkDirection:
    numbers = Configured.of(model)
    # Parallel routes have models of their own; the first stands for them where they are alike.
    _number, lane = next(lanes(model))
    plain = {key: value for key, value in lane.items() if _DEFAULTS.get(key, _NO_DEFAULT) != value}
    models, without_syntax = written_change(plain)
    names = {"count": "framing", "coalesce": "coalesce_ns"}
    return {
        "delay_ns": numbers.delay_ns,
        "bits_per_s": numbers.bits_per_s,
        "loss": numbers.loss,
        "up": numbers.up,
        "models": {key: flow(value) for key, value in models.items()},
        "described": {key: model_text(lane.get(names.get(key, key))) for key in without_syntax},
    }


def _row(name: str, impairment: Impairment) -> ImpairmentRow:
    return {
        "id": name,
        "link": impairment.link,
        "way": impairment.way,
        "preset": impairment.preset.name,
        "title": impairment.preset.title,
        "flapping": impairment.is_flapping,
    }
