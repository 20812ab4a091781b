"""The agent of a run on several machines, as the coordinator sees it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from longhaul.machines import messages
from longhaul.machines.messages import Message, Writer

AGENT = """
import sys, time
from longhaul.machines import agent, messages

messages.ALIVE_S, messages.SILENT_S = 0.05, 0.5
collect = agent.Agent._collect
agent.Agent._collect = lambda self: (time.sleep(1.5), collect(self))[1]
sys.exit(agent.main())
"""
"""An agent that needs three times as long for its records as a coordinator may be silent."""


@contextmanager
def started() -> Iterator[tuple[Writer, "subprocess.Popen[bytes]"]]:
    with subprocess.Popen(
        [sys.executable, "-I", "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield Writer(cast("BinaryIO", process.stdin)), process
        finally:
            process.kill()


def answers(process: "subprocess.Popen[bytes]") -> Iterator[Message]:
    while (message := messages.read(cast("BinaryIO", process.stdout))) is not None:
        yield message


def test_an_agent_hears_the_coordinator_while_it_collects() -> None:
    with started() as (writer, process):
        writer.send({"do": "collect"})
        kinds = []
        for message in answers(process):
            kinds.append(message["is"])
            writer.send({"do": "alive"})
            if message["is"] == "collected":
                break
        assert kinds[-1] == "collected"
        writer.send({"do": "bye"})
        assert process.wait(timeout=10) == 0


def test_an_agent_ends_by_itself_when_the_coordinator_is_silent() -> None:
    with started() as (_, process):
        began = time.monotonic()
        assert [each["is"] for each in answers(process)][:2] == ["hello", "alive"]
        assert process.wait(timeout=10) == 1
        assert time.monotonic() - began < 5


def test_an_agent_starts_without_large_libraries() -> None:
    code = "import sys, longhaul.machines.agent; print(*{'numpy', 'pyarrow', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
