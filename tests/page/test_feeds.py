"""Everybody who listens to a run hears the same, and nobody's slowness costs memory."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from random import Random
from typing import Any

import pytest

from longhaul.page import feeds
from longhaul.page.feeds import Feed, compressed
from longhaul.page.responses.events import Hello, NetworkChanged, Now, Sample
from longhaul.page.sampling import FIGURES, NOW_FIGURES

from .answered import check_event

HELLO: Hello = {
    "event": "hello",
    "version": 1,
    "figures": FIGURES,
    "now_figures": NOW_FIGURES,
    "id": "x~20260101T000000Z-live-0",
    "name": "x",
    "label": "x",
    "differs": "",
    "parameters": {},
    "metrics": {},
    "annotations": {"title": "", "tags": [], "note": "", "etag": ""},
    "mode": "live",
    "status": "running",
    "started_unix_s": 0.0,
    "seed": 1,
    "argv": [],
    "directory": "",
    "has_report": False,
    "outcome": {"state": "running", "detail": ""},
    "verdict": None,
    "verdict_text": None,
    "hosts": None,
    "duration_s": None,
    "expectations_met": None,
    "made_by_page": True,
    "duration_ns": None,
    "every_ns": 100_000_000,
    "links": [],
    "ends": [],
    "programs": [],
    "probes": [],
}


def changed(t_ns: int) -> NetworkChanged:
    return {
        "event": "change",
        "kind": "intervention",
        "at_ns": t_ns,
        "until_ns": t_ns,
        "link": "wan",
        "way": None,
        "route": None,
        "host": None,
        "by": "page",
        "user": "ann",
        "words": ["delay=60ms"],
        "position": None,
        "differences": [{"key": "delay", "old": "5 ms", "new": "60 ms"}],
        "text": "wan: delay 5 → 60 ms",
        "source": "ann, page",
    }


NOTHING: Any = {"links": None, "probes": None, "lateness_p99_ns": None}


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 20))


def read(event: bytes) -> tuple[str, Any]:
    fields = dict(line.split(": ", 1) for line in event.decode().strip().splitlines())
    data = json.loads(fields["data"])
    check_event(fields["event"], data)
    return fields["event"], data


async def heard(stream: AsyncIterator[bytes]) -> list[tuple[str, Any]]:
    return [read(event) async for event in stream]


def test_who_comes_late_hears_everything_in_order() -> None:
    async def test() -> None:
        feed = Feed(None)
        feed.tell({"event": "building", "nodes": 1, "of": 2})
        feed.tell({"event": "started"})
        first = asyncio.create_task(heard(feed.listen(HELLO)))
        await asyncio.sleep(0)
        outcome = {"state": "passed", "detail": ""}
        end: Any = {"reason": "duration", "exit_code": 0, "verdict": "faithful", "outcome": outcome}
        feed.tell({"event": "end", **end})
        feed.tell({"event": "started"})
        told = ["hello", "building", "started", "end"]
        assert [name for name, _data in await first] == told
        assert [name for name, _data in await heard(feed.listen(HELLO))] == told

    run(test)


def test_who_comes_back_hears_what_was_missed_alone() -> None:
    async def test() -> None:
        feed = Feed(None)
        for number in range(4):
            feed.tell(changed(number))
        stream = feed.listen(HELLO, after=3)
        assert read(await anext(stream))[0] == "hello"
        event = await anext(stream)
        assert event.startswith(b"id: 4\n")
        assert read(event)[1]["at_ns"] == 3
        await stream.aclose()

    run(test)


def test_a_slow_listener_gets_the_latest_of_each_kind_and_all_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "EVERY_S", 0.001)

    async def test() -> None:
        taken = 0

        def sample() -> list[Sample | Now]:
            nonlocal taken
            taken += 1
            found: list[Sample | Now] = [{"event": "sample", "t_ns": taken, **NOTHING}]
            now: Now = {"event": "now", "t_ns": taken, "averaged_ns": 1, "links": []}
            return [*found, now] if taken == 50 else found

        feed = Feed(sample)
        stream = feed.listen(HELLO)
        await anext(stream)
        first = read(await anext(stream))[1]["t_ns"]
        while taken < first + 100:
            await asyncio.sleep(0.001)
        feed.tell(changed(0))
        assert read(await anext(stream))[0] == "change"
        told = dict([read(await anext(stream)), read(await anext(stream))])
        assert told["sample"]["t_ns"] >= first + 100, "samples between were dropped"
        assert told["now"]["t_ns"] == 50, "no sample takes the place of what stands beside links"
        await stream.aclose()

    run(test)


def test_figures_that_cannot_be_read_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "EVERY_S", 0.001)

    async def test() -> None:
        def sample() -> list[Sample | Now]:
            raise ValueError("the record is broken")

        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        stream = Feed(sample).listen(HELLO)
        await anext(stream)
        kind, told = read(await anext(stream))
        assert (kind, "the record is broken" in told["message"]) == ("warning", True)
        await stream.aclose()

    run(test)


def test_nothing_is_sampled_while_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "EVERY_S", 0.001)

    async def test() -> None:
        taken: list[int] = []

        def sample() -> list[Sample | Now]:
            taken.append(1)
            return []

        feed = Feed(sample)
        stream = feed.listen(HELLO)
        await anext(stream)
        waiting = asyncio.create_task(anext(stream))
        while not taken:
            await asyncio.sleep(0.001)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await stream.aclose()
        await asyncio.sleep(0.05)
        count = len(taken)
        await asyncio.sleep(0.05)
        assert len(taken) == count

    run(test)


def test_a_silent_run_is_heard_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "HEARTBEAT_S", 0.01)

    async def test() -> None:
        stream = Feed(None).listen(HELLO)
        await anext(stream)
        assert (await anext(stream)).startswith(b": ")
        await stream.aclose()

    run(test)


def test_a_listener_that_names_links_hears_of_those_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "EVERY_S", 0.001)

    async def test() -> None:
        sample: Sample = {"event": "sample", "t_ns": 1, **NOTHING, "links": [[1.0], [2.0], [3.0]]}
        feed = Feed(lambda: [sample])
        for wanted, told in (([2, 0], [[3.0], [1.0]]), ([], []), ([7], []), (None, [[1.0], [2.0], [3.0]])):
            stream = feed.listen(HELLO, links=wanted)
            await anext(stream)
            assert read(await anext(stream))[1]["links"] == told
            await stream.aclose()

    run(test)


def test_a_compressed_stream_is_read_as_it_comes_and_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five minutes of ten samples a second, of twelve links that are all busy."""
    monkeypatch.setattr(feeds, "EVERY_S", 0.0)
    random = Random(1)
    links, minutes_ns = 12, 300 * 10**9

    async def test() -> None:
        t_ns = 0

        def figures() -> list[Sample | Now]:
            nonlocal t_ns
            t_ns += 10**8
            rows = [
                [
                    random.randrange(10**8),
                    random.randrange(10**8),
                    random.randrange(9),
                    None,
                    random.randrange(10**6),
                ]
                * 2
                for _ in range(links)
            ]
            found: list[Sample | Now] = [
                {
                    "event": "sample",
                    "t_ns": t_ns,
                    "links": rows,
                    "probes": [random.randrange(10**8)],
                    "lateness_p99_ns": 5,
                }
            ]
            if t_ns % (5 * 10**8) == 0:
                found.append({"event": "now", "t_ns": t_ns, "averaged_ns": 10**9, "links": rows})
            return found

        feed = Feed(figures)
        stream = compressed(feed.listen(HELLO, links=[0, 1, 2]))
        unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        sent, seen = 0, b""
        while t_ns < minutes_ns:
            piece = await anext(stream)
            sent += len(piece)
            seen += unpacker.decompress(piece)
            assert seen.endswith(b"\n\n"), "what was sent can be read at once"
        await stream.aclose()
        assert sent < 2_000_000
        assert not feed._listeners, "who left is forgotten"

    run(test)
