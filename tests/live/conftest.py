"""Live tests bring up real namespaces; where this machine cannot, they say so and are skipped."""

import pytest
from machine import why_not_live


@pytest.fixture(autouse=True, scope="session")
def live_machine() -> None:
    """Skip everything here on a machine that cannot run live."""
    reason = why_not_live()
    if reason:
        pytest.skip(f"live runs do not work here: {reason}")
