"""Presets of impairments on a link of a live run: sets of interventions that can be undone.

Undo puts the models that the preset changed back to what they were before it, by the run's own record of its
configuration.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from longhaul.analysis.configuration import Configured, Json
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import WAYS, Way
from longhaul.run.interventions import Surface, link_models, restore_models, set_models
from longhaul.units.quantities import Rate, Span

FLAPS = 5
FLAP_DOWN_S = 1.0
FLAP_UP_S = 2.0
_BROWN_OUT = 10
"""What the rate is divided by."""
_LATE_NS = 20_000_000
"""By which reordered packets are later than others."""

Models = Mapping[Way, Json]
"""The link model of each direction, in the plan's words."""


@dataclass(frozen=True)
class Preset:
    """A kind of impairment."""

    name: str
    title: str
    description: str
    words: Callable[[Json], Sequence[str]]
    """What to change, of the model of a direction, as ``longhaul set`` takes it."""


def _slow(model: Json) -> Sequence[str]:
    numbers = Configured.of(model)
    if numbers.bits_per_s is None:
        message = "a brown-out needs a rate, and the rate of this link is unlimited"
        raise LonghaulError(Code.CHANGE_MALFORMED, message, remedy="set a rate first", exit_code=2)
    # Each of parallel routes has its share.
    return (f"rate={Rate(max(1, numbers.bits_per_s // _BROWN_OUT // numbers.routes))}",)


def _late(model: Json) -> Sequence[str]:
    return (f"reordering={{share: 5%, delay: {Span(Configured.of(model).delay_ns + _LATE_NS)}}}",)


PRESETS = (
    Preset(
        "flap",
        "Flap",
        f"Down for {FLAP_DOWN_S:g} s and up for {FLAP_UP_S:g} s, {FLAPS} times",
        lambda _model: ("down",),
    ),
    Preset(
        "burst-loss",
        "Burst loss",
        "5 % of packets are lost, in bursts of 10 on average (Gilbert-Elliott)",
        lambda _model: ("loss={model: gilbert-elliott, mean: 5%, burst: 10}",),
    ),
    Preset(
        "brown-out",
        "Brown-out",
        "The rate drops to a tenth",
        _slow,
    ),
    Preset("reorder", "Reorder", "5 % of packets arrive 20 ms later than the others", _late),
)


@dataclass(eq=False)
class Impairment:
    """A preset that was applied to a link. Use :func:`cause`."""

    socket: Path
    """Of the run."""
    link: str
    way: Way | None
    """``None``: both."""
    preset: Preset
    before: Models
    keys: frozenset[str] = frozenset()
    """The models that the preset changed."""
    is_over: bool = False
    """Whether everything is as it was before, or the run has ended."""
    _undo: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def is_flapping(self) -> bool:
        """Whether the link still goes down and up by itself."""
        return self._thread is not None and self._thread.is_alive()

    def undo(self, *, by: Surface) -> None:
        """Put back what was before. Raises LonghaulError if the run cannot be changed any more."""
        self._undo.set()
        if self._thread is not None:
            self._thread.join()
        if self.is_over:
            return
        restore_models(
            self.socket, self.link, self.before, keys=self.keys, by=by, words=[f"undo {self.preset.name}"]
        )
        self.is_over = True

    def _apply(self, by: Surface) -> None:
        changes = _asked(self.preset, self.before, self.way)
        self.keys = set_models(self.socket, self.link, changes, by=by)
        if self.preset.name == "flap":
            self._thread = threading.Thread(target=self._flap, args=(by,), daemon=True)
            self._thread.start()

    def _flap(self, by: Surface) -> None:
        """Up and down again, from the first time that it is down."""
        # A run that has ended is not changed any more, and nothing is left to undo.
        with suppress(LonghaulError):
            for number in range(FLAPS):
                if number and not self._change("down", by):
                    return
                if self._undo.wait(FLAP_DOWN_S) or not self._change("up", by):
                    return
                if number < FLAPS - 1 and self._undo.wait(FLAP_UP_S):
                    return
        self.is_over = True

    def _change(self, word: str, by: Surface) -> bool:
        if not self._undo.is_set():
            set_models(self.socket, self.link, [(self.way, [word])], by=by)
        return not self._undo.is_set()


def cause(socket: Path, link: str, preset: Preset, *, by: Surface, way: Way | None = None) -> Impairment:
    """Apply ``preset`` to a link of the run whose socket is ``socket``. Raises LonghaulError."""
    impairment = Impairment(socket, link, way, preset, link_models(socket, link))
    impairment._apply(by)
    return impairment


def _asked(preset: Preset, before: Models, way: Way | None) -> Sequence[tuple[Way | None, Sequence[str]]]:
    """What to change in which direction, together where both become the same."""
    by_way = [(each, preset.words(before[each])) for each in (WAYS if way is None else (way,))]
    if len({tuple(words) for _way, words in by_way}) == 1:
        return [(way, by_way[0][1])]
    return by_way
