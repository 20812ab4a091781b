"""Relays from Python: serve a relay, work beside it, and add wrappers to the path of messages.

>>> import longhaul
>>> with longhaul.relay.running("scenarios/relay.yaml") as relay:        # doctest: +SKIP
...     relay.set("tromso-aalborg", delay="60ms")
>>> relay.result.verdict                                                 # doctest: +SKIP
'faithful'
"""

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Way
from longhaul.relay import server
from longhaul.relay.server import Opened, Order
from longhaul.relay.wrappers import Message, Parameters, Wrapper
from longhaul.run import interventions, persistent_networks
from longhaul.run.api import Result
from longhaul.scenario import Resolved, load_scenario, resolve
from longhaul.units.quantities import Span

__all__ = ["Message", "Opened", "Parameters", "Running", "Wrapper", "running", "serve"]


def serve(
    scenario: str | os.PathLike[str],
    *,
    wrappers: Sequence[Wrapper] = (),
    params: Mapping[str, Any] | None = None,
    gateway: str | None = None,
    name: str | None = None,
    duration: str | None = None,
    log: bool = True,
    runs: str | os.PathLike[str] = "runs",
) -> Result:
    """Relay until Ctrl-C, ``longhaul down`` or the end of ``duration`` (such as ``10min``).

    ``gateway`` is the cluster whose gateway this is, where they are apart or chained; without ``log``
    messages are not recorded one by one. Raises LonghaulError, also when a wrapper failed.
    """
    order = _order(gateway=gateway, name=name, duration=duration, log=log, runs=runs)
    served = server.serve(_resolved(scenario, params), order, told=_nobody, wrappers=wrappers)
    return Result(served.directory, served.summary, served.exit_code)


def running(
    scenario: str | os.PathLike[str],
    *,
    wrappers: Sequence[Wrapper] = (),
    params: Mapping[str, Any] | None = None,
    gateway: str | None = None,
    name: str | None = None,
    duration: str | None = None,
    log: bool = True,
    runs: str | os.PathLike[str] = "runs",
) -> "Running":
    """Relay in a thread beside the program; return when every listener is open."""
    order = _order(gateway=gateway, name=name, duration=duration, log=log, runs=runs)
    return Running(_resolved(scenario, params), order, wrappers)


class Running:
    """A running relay. The end of its ``with`` block stops it; :attr:`result` then has the results."""

    def __init__(self, resolved: Resolved, order: Order, wrappers: Sequence[Wrapper]) -> None:
        """Made by :func:`running`."""
        self.name = server.name_of(resolved, order)
        self.listening: tuple[Opened, ...] = ()
        """Where it listens, with the ports that it has."""
        self.result: Result | None = None
        self._failure: BaseException | None = None
        self._heard = threading.Event()
        self._wakes, self._stops = os.pipe()
        self._thread = threading.Thread(
            target=self._serve, args=(resolved, order, wrappers), name="longhaul-relay", daemon=True
        )
        self._thread.start()
        self._heard.wait()
        if self._failure is not None:
            self.stop()

    def set(
        self,
        link: str,
        *,
        way: Way | None = None,
        route: int | None = None,
        up: bool | None = None,
        **models: Any,
    ) -> float:
        """Change models of a link now: ``set("wan", delay="60ms")``, ``set("wan", up=False)``.

        Returns when the change took effect, in seconds of the relay's clock. Raises ScenarioError.
        """
        return interventions.set_link(self.name, link, models, up=up, way=way, route=route)

    def status(self) -> dict[str, Any]:
        """The counters of the relay so far."""
        return persistent_networks.ask_status(self.name)

    def stop(self) -> Result:
        """Stop the relay and return its results, also when called again. Raises LonghaulError."""
        if self._stops >= 0:
            os.write(self._stops, b"\0")
            self._thread.join()
            os.close(self._wakes)
            os.close(self._stops)
            self._stops = -1
        if self._failure is not None:
            raise self._failure
        if self.result is None:
            raise LonghaulError(Code.INTERNAL, "the relay ended without results", exit_code=70)
        return self.result

    def __enter__(self) -> Self:
        """Return the relay, which is running already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End it; what failed in it is raised unless something else is."""
        try:
            self.stop()
        except LonghaulError:
            if kind is None:
                raise

    def _serve(self, resolved: Resolved, order: Order, wrappers: Sequence[Wrapper]) -> None:
        def told(opened: list[Opened]) -> None:
            self.listening = tuple(opened)
            self._heard.set()

        try:
            served = server.serve(resolved, order, told=told, wrappers=wrappers, stop=self._wakes)
            self.result = Result(served.directory, served.summary, served.exit_code)
        except BaseException as error:  # noqa: BLE001 (raised again where the relay is waited for)
            self._failure = error
        finally:
            self._heard.set()


def _order(
    *,
    gateway: str | None,
    name: str | None,
    duration: str | None,
    log: bool,
    runs: str | os.PathLike[str],
) -> Order:
    span = Span.parse(duration).ns if duration is not None else None
    return Order(Path(runs), list(sys.argv), gateway=gateway, name=name, duration_ns=span, messages=log)


def _resolved(scenario: str | os.PathLike[str], params: Mapping[str, Any] | None) -> Resolved:
    settings = {name: str(value) for name, value in (params or {}).items()}
    return resolve(load_scenario(Path(scenario), settings=settings))


def _nobody(_opened: list[Opened]) -> None:
    """A listener for relays whose addresses are known."""
