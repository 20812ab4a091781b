"""The first program of a guest: makes the measurements that its arguments name, and prints each as JSON."""

import ctypes
import json
import mmap
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MS = 1_000_000


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def reads() -> list[int]:
    """100 reads of the clock in a row."""
    return [now() for _ in range(100)]


def sleeps() -> list[int]:
    """What ten timers of 1 ms take, without slack."""
    timers = []
    for _ in range(10):
        begin = now()
        select.select([], [], [], 0.001)
        timers.append(now() - begin)
    return timers


def wait_by_reads() -> int:
    """1 ms, waited for by reading the clock."""
    begin = now()
    while now() < begin + MS:
        pass
    return now() - begin


def wait_long_by_reads() -> list[float]:
    """1 s, likewise, and how many reads it took."""
    begin, count = now(), 0
    while now() < begin + 1000 * MS:
        count += 1
    return [now() - begin, count]


def _until_set(wait: Callable[[], object]) -> int:
    """How long ``wait`` is repeated until another process sets a byte in memory, after 100 ms."""
    shared = mmap.mmap(-1, 4096)
    if os.fork() == 0:
        time.sleep(0.1)
        shared[0] = 1
        os._exit(0)
    begin = now()
    while not shared[0]:
        wait()
    os.wait()
    return now() - begin


def wait_by_yield() -> int:
    return _until_set(os.sched_yield)


def wait_by_errors() -> int:
    receiver, _sender = socket.socketpair()
    receiver.setblocking(False)

    def receive() -> None:
        with suppress(BlockingIOError):
            receiver.recv(1)

    return _until_set(receive)


def wait_by_polls_of_what_is_ready() -> int:
    """A program polls what is ready, and reads the clock, but does not take what is there."""
    receiver, sender = socket.socketpair()
    sender.send(b"x")

    def poll() -> None:
        select.select([receiver], [], [], 1)
        now()

    return _until_set(poll)


def wait_by_polls_alone() -> int:
    receiver, sender = socket.socketpair()
    sender.send(b"x")
    return _until_set(lambda: select.select([receiver], [], [], 1))


def _arrival(wait: Callable[[socket.socket], object]) -> int:
    """When a message is seen that another process sends after 50 ms."""
    receiver, sender = socket.socketpair()
    begin = now()
    if os.fork() == 0:
        # PR_SET_TIMERSLACK of prctl(2): to the nanosecond.
        ctypes.CDLL(None).prctl(29, 1)
        time.sleep(0.05)
        sender.send(b"x")
        os._exit(0)
    wait(receiver)
    found = now() - begin
    os.wait()
    return found


def arrival_seen_by_polling_and_by_sleeping() -> list[int]:
    def poll(receiver: socket.socket) -> None:
        while not select.select([receiver], [], [], 0)[0]:
            pass

    return [_arrival(poll), _arrival(lambda receiver: receiver.recv(1))]


def two_that_wait_by_reads() -> int:
    begin = now()
    child = os.fork()
    while now() < begin + 10 * MS:
        pass
    if child == 0:
        os._exit(0)
    os.wait()
    return now() - begin


def registers() -> str:
    """What the program says that was built of registers.c."""
    return subprocess.run([os.environ["REGISTERS"]], stdout=subprocess.PIPE, check=False).stdout.decode()


def computing() -> list[int]:
    """How long the same computing takes, twice, and a thousand calls of the kernel."""
    times = []
    for _ in range(2):
        begin = now()
        sum(range(3_000_000))
        times.append(now() - begin)
    begin = now()
    for _ in range(1_000):
        os.getppid()
    return [*times, now() - begin]


def two_that_compute() -> list[float]:
    """When two processes are done that compute, and how long one of them has done so itself."""
    receiver, sender = os.pipe()
    begin = now()
    for _ in range(2):
        if os.fork() == 0:
            times = []
            for _ in range(300):
                start = now()
                sum(range(10_000))
                times.append(now() - start)
            # The median: few times contain a turn of the other.
            os.write(sender, f"{300 * sorted(times)[150]}\n".encode())
            os._exit(0)
    done = []
    for _ in range(2):
        os.wait()
        done.append(now() - begin)
    return [*done, int(os.read(receiver, 100).split()[1])]


def randomness() -> list[str]:
    """Bytes, a UUID and the address of the stack."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    stack = next(line for line in maps if line.endswith("[stack]"))
    uuid = Path("/proc/sys/kernel/random/uuid").read_text().strip()
    return [os.urandom(16).hex(), uuid, stack.partition(" ")[0]]


def counter() -> list[int]:
    """The time stamp counter before and after 1 ms, and the clock."""
    # rdtsc; shl rdx, 32; or rax, rdx; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    begin = now()
    first = read()
    select.select([], [], [], 0.001)
    return [begin, first, read(), now()]


def algorithms() -> list[str]:
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
    return sorted(available.split())


def forks_then_sleeps() -> None:
    """Leaves several processes running for the host to look at."""
    for _ in range(3):
        if os.fork() == 0:
            while True:
                time.sleep(1e6)
    print(json.dumps({"ready": True}), flush=True)
    while True:
        subprocess.run(["true"], check=True)


def main() -> None:
    # A second after boot: some programs take an earlier time for none.
    time.sleep(1)
    for name in sys.argv[1:]:
        print(json.dumps({name: globals()[name]()}), flush=True)


if __name__ == "__main__":
    try:
        main()
    finally:
        # RB_POWER_OFF of reboot(2).
        ctypes.CDLL(None).reboot(0x4321FEDC)
