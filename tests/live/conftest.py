"""Live tests bring up real namespaces; where this machine cannot, they say so and are skipped."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _live(live_machine: None) -> None:
    """Skip everything here on a machine that cannot run live."""
