"""The first process of a host on the virtual clock, which is a Linux kernel of its own.

Like the worker it imports nothing but the compiled module.
"""

import sys


def main() -> int:
    """Be a host until the run's supervisor powers it off."""
    from longhaul import _longhaul

    _longhaul.run_as_init()
    return 0


if __name__ == "__main__":
    sys.exit(main())
