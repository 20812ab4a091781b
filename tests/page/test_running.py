"""A run's process hears that it is to end, however early."""

import io
import sys
import threading
import time

import pytest

from longhaul.page.run_process import Run, listen


def test_a_run_that_is_told_to_stop_before_it_begins_stops_once_it_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("stop\n"))
    run = Run()
    listener = threading.Thread(target=listen, args=(run,), daemon=True)
    listener.start()
    time.sleep(0.05)
    assert not run.asked
    # The signal comes to this thread, as it does to that of the run.
    run.stoppable = True
    with pytest.raises(KeyboardInterrupt):
        time.sleep(5)
    assert run.asked
    listener.join(5)
    assert not listener.is_alive()
