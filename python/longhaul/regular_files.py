"""Reading files that a user names: regular files only, with a size limit.

A scenario that is checked may be somebody else's, and may name ``/dev/zero``, ``/proc/kmsg`` or a FIFO.
"""

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, *, most_bytes: int) -> bytes:
    """The first ``most_bytes`` of a regular file. Raises OSError and, for an impossible name, ValueError."""
    # Opening a FIFO would wait for its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        # Files of the kernel, such as /proc/kmsg, say that they have no bytes, and may wait for some.
        return file.read(min(about.st_size, most_bytes))
