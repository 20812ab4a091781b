"""What tests of several directories share."""

import pytest
from machine import why_not_live


@pytest.fixture(scope="session")
def live_machine() -> None:
    """Skip a test that needs real namespaces on a machine that has none."""
    reason = why_not_live()
    if reason:
        pytest.skip(f"live runs do not work here: {reason}")
