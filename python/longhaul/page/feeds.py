"""A run as a stream of events for any number of listeners.

What happened once is kept and told to everybody who comes; figures are told only to who is there, and of
several of one kind that a slow listener missed only the latest, so that nobody's slowness costs memory.
"""

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing

from longhaul.page.responses.events import ConnectionsNow, Event, Happening, Hello, Now, Sample

Figure = Sample | Now | ConnectionsNow
HEARTBEAT_S = 15.0
EVERY_S = 0.1
"""Between two samples."""
_MOST_EVENTS = 20_000


class Feed:
    """The events of one run. All methods but :meth:`tell_from_thread` belong to the loop's thread."""

    def __init__(self, sample: Callable[[], Sequence[Figure]] | None) -> None:
        """``sample`` is called in a thread, every :data:`EVERY_S` while somebody listens."""
        self._loop = asyncio.get_running_loop()
        self._sample = sample
        self._history: list[bytes] = []
        self._listeners: set[_Listener] = set()
        self._sampling: asyncio.Task[None] | None = None
        self.has_ended = False
        self.is_closed = False

    def tell(self, event: Happening) -> None:
        """Tell everybody, now and later; after ``end`` nothing comes."""
        if self.has_ended or (len(self._history) >= _MOST_EVENTS and event["event"] != "end"):
            return
        self._history.append(_written(event, number=len(self._history) + 1))
        self.has_ended = event["event"] == "end"
        self._wake()

    def close_from_thread(self) -> None:
        """End all streams, as the server ends; who listens may come again."""
        self.is_closed = True
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for listener in self._listeners:
            listener.wake.set()

    def tell_from_thread(self, event: Happening) -> None:
        """The same from another thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.tell, event)

    async def listen(
        self, hello: Hello, *, after: int = 0, links: Sequence[int] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """``hello``, the events behind number ``after``, and what comes, until the end.

        Samples have the ``links`` of these numbers alone, if there are any.
        """
        listener = _Listener(links)
        self._listeners.add(listener)
        if self._sampling is None and self._sample is not None and not self.has_ended:
            self._sampling = asyncio.create_task(self._keep_sampling(self._sample))
        told = min(after, len(self._history))
        try:
            yield _written(hello)
            while True:
                listener.wake.clear()
                while told < len(self._history):
                    told += 1
                    yield self._history[told - 1]
                if self.has_ended or self.is_closed:
                    return
                if listener.figures:
                    latest, listener.figures = listener.figures, {}
                    for text in latest.values():
                        yield text
                    continue
                try:
                    await asyncio.wait_for(listener.wake.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self._listeners.discard(listener)

    async def _keep_sampling(self, sample: Callable[[], Sequence[Figure]]) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        try:
            while self._listeners and not (self.has_ended or self.is_closed):
                for found in await asyncio.to_thread(sample):
                    text = _written(found)
                    for listener in self._listeners:
                        listener.figures[found["event"]] = listener.of(found) or text
                        listener.wake.set()
                due = max(due + EVERY_S, loop.time())
                await asyncio.sleep(due - loop.time())
        except Exception as error:
            # Figures that stand still must not look like those of now.
            remedy = "charts of the whole run appear when it ends; please report this"
            self.tell(
                {"event": "warning", "message": f"live figures have stopped: {error!r}", "remedy": remedy}
            )
            raise
        finally:
            self._sampling = None


class _Listener:
    def __init__(self, links: Sequence[int] | None) -> None:
        self._links = links
        self.wake = asyncio.Event()
        self.figures: dict[str, bytes] = {}
        """The latest that was not told yet, by kind."""

    def of(self, found: Figure) -> bytes | None:
        """What it wants of some figures, if that is not all."""
        if found["event"] != "sample" or self._links is None or found["links"] is None:
            return None
        links = [found["links"][place] for place in self._links if place < len(found["links"])]
        return _written({**found, "links": links})


def compressed(stream: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """``stream`` in the format of gzip, each piece of which can be read at once."""

    async def pieces() -> AsyncIterator[bytes]:
        # RFC 1952. Earlier events are the dictionary of later ones: samples differ in few digits.
        packer = zlib.compressobj(6, wbits=16 + zlib.MAX_WBITS)
        async with aclosing(stream):
            async for piece in stream:
                yield packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
        yield packer.flush()

    return pieces()


def _written(event: Event, *, number: int | None = None) -> bytes:
    """In ``text/event-stream`` the kind stands apart from the rest."""
    data = {key: value for key, value in event.items() if key != "event"}
    name = "" if number is None else f"id: {number}\n"
    return f"{name}event: {event['event']}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
