"""A soak: random runs for hours, one after another and three at once, beside a page and a network.

``make soak HOURS=6``, or in pieces: ``make soak HOURS=2`` adds to what is in ``pieces.csv``, ``--again``
begins anew. Each run has a random scenario, random changes and, one time in four, a fault; it must end with
a reason, be readable, and leave nothing. Every half minute the memory and the descriptors of the page, the
engine and the supervisor are counted, and everything of ours that the machine has; what grows from the first
quarter of a piece to its last is told.
"""

import argparse
import csv
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER.parent / "faults")]

import injection  # noqa: E402
from injection import until  # noqa: E402
from stage import Stage, is_settled  # noqa: E402

from longhaul.cli.regeneration import write_again  # noqa: E402
from longhaul.results import ending, run_record  # noqa: E402
from longhaul.run import groups  # noqa: E402
from longhaul.studies.provenance import provenance  # noqa: E402

RESULTS = FOLDER / "campaign"
STANDING = """
version: 1
name: standing
duration: 24h
nodes: {a: {kind: host}, b: {kind: host}, r: {kind: router}}
links:
  left: {endpoints: [a, r], delay: 1ms, rate: 50Mbit}
  right: {endpoints: [r, b], delay: 4ms, rate: 20Mbit}
traffic:
  load: {kind: udp, from: a, to: b, rate: 2Mbit}
  echo: {kind: ping, from: b, to: a, every: 100ms}
  background: {kind: tcp, from: a, to: b, simulated: true}
"""
CHANGES = ("delay=9ms", "delay=4ms", "loss=1%", "loss=0%", "rate=10Mbit", "rate=20Mbit", "down", "up")
EVERY_S = 30.0
WITHIN_S = 120.0
PAGE = "ui"
MARK = f"SOAK={os.getpid()}"
"""In the environment of all processes of a soak, so that other runs on this machine are not counted."""
_WRITING = threading.Lock()
"""Figures are drawn by one thread at a time."""


@dataclass
class Sample:
    """What there is at one moment."""

    piece: int
    t_s: float
    page_mb: float = 0.0
    page_files: int = 0
    engine_mb: float = 0.0
    engine_files: int = 0
    supervisor_mb: float = 0.0
    supervisor_files: int = 0
    lateness_p99_us: float = 0.0
    """Of the network that stays up, since it came up."""
    namespaces: int = 0
    """Network namespaces of the soak's processes."""
    groups: int = 0
    """Control groups of its runs."""
    files: int = 0
    """Files and directories in the runtime and temporary directories."""
    runs: int = 0
    """Runs that have ended so far."""
    bad: int = 0


COLUMNS = [each.name for each in fields(Sample)]
STEADY: dict[str, float] = {
    "page_mb": 20.0,
    "page_files": 3,
    "engine_mb": 5.0,
    "engine_files": 0,
    "supervisor_mb": 5.0,
    "supervisor_files": 0,
    "namespaces": 3,
    "groups": 3,
    "files": 6,
}
"""What may be more in the last quarter of a piece than in the first, by medians."""


@dataclass
class Soak:
    """A piece that is under way."""

    stage: Stage
    random: Random
    stop_s: float
    bad: list[str] = field(default_factory=list)
    ended: int = 0
    samples: list[Sample] = field(default_factory=list)


def random_scenario(random: Random, name: str) -> str:
    """Hosts at up to three routers, whatever models a link may have, and traffic of every kind."""
    routers = [f"r{number}" for number in range(random.randint(1, 3))]
    hosts = [f"h{number}" for number in range(random.randint(2, 5))]
    nodes = {name: {"kind": "router" if name in routers else "host"} for name in (*routers, *hosts)}
    links = {}
    ends = [*pairwise(routers), *((host, random.choice(routers)) for host in hosts)]
    for number, pair in enumerate(ends):
        link: dict[str, object] = {"endpoints": list(pair), "delay": f"{random.randint(0, 20)}ms"}
        link["rate"] = f"{random.choice((2, 10, 100))}Mbit"
        some = {
            "loss": random.choice(("1%", {"model": "gilbert-elliott", "mean": "2%", "burst": 3})),
            "queue": random.choice(("20p", {"kind": "codel", "limit": "100p"})),
            "duplicate": "1%",
            "corrupt": "0.5%",
            "reordering": {"share": "1%", "delay": "25ms"},
        }
        link |= {key: some[key] for key in random.sample(sorted(some), random.randint(0, 2))}
        links[f"l{number}"] = link
    traffic = {}
    for number in range(random.randint(1, 4)):
        source, sink = random.sample(hosts, 2)
        kinds = (
            {"kind": "udp", "rate": "1Mbit"},
            {"kind": "ping", "every": "100ms"},
            {"kind": "tcp", "cc": random.choice(("reno", "cubic"))},
            {"kind": "tcp", "simulated": True},
        )
        traffic[f"t{number}"] = {**random.choice(kinds), "from": source, "to": sink}
    events = [
        {
            "at": f"{random.randint(200, 1500)}ms",
            "link": random.choice(sorted(links)),
            "set": {"delay": "7ms"},
        }
        for _ in range(random.randint(0, 2))
    ]
    content = {
        "version": 1,
        "name": name,
        "seed": random.randrange(1 << 32),
        "duration": f"{random.randint(2, 5)}s",
        "nodes": nodes,
        "links": links,
        "traffic": traffic,
        "events": events,
    }
    return json.dumps(content)


def one(soak: Soak, until_s: float, number: int) -> None:
    """A run with everything that may happen to it, looked at when it has ended; none after ``until_s``."""
    if time.monotonic() > min(until_s, soak.stop_s):
        return
    random = Random(soak.random.random() + number)
    place = Stage(soak.stage.path / f"run-{number}", f"soak{number}")
    (place.path / "soak.yaml").write_text(random_scenario(random, place.name), encoding="utf-8")
    command = random.choice((("run",), ("run",), ("sim",)))
    said = (place.path / "said").open("w+b")
    with said:
        process = place.start(
            *command, "soak.yaml", "--no-report", stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        fault = ""
        if random.random() < 0.25:
            time.sleep(random.uniform(0, 4))
            there = injection.tagged(place.tag)
            if there:
                victim = random.choice(there)
                fault = " ".join(injection.command(victim))[-60:]
                injection.send(victim, random.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGABRT)))
        problem = _after(place, process, fault)
    place.kill()
    soak.ended += 1
    if problem:
        soak.bad.append(f"{place.path.name} ({fault or 'no fault'}): {problem}")
        print("BAD", soak.bad[-1], flush=True)
    else:
        shutil.rmtree(place.path, ignore_errors=True)


def _after(place: Stage, process: "subprocess.Popen[bytes]", fault: str) -> str:
    """What is wrong after a run; nothing: empty."""
    try:
        code = process.wait(WITHIN_S)
    except subprocess.TimeoutExpired:
        return f"it did not end within {WITHIN_S:.0f} s"
    directories = [
        each for each in (place.runs / place.name).glob("2*") if run_record.path_of(each) is not None
    ]
    if not until(lambda: all(is_settled(each) for each in directories), within_s=60):
        return "it has no end"
    if directories:
        with _WRITING:
            write_again(directories[0])
    if fault and not until(lambda: not place.left(), within_s=10):
        # What is killed in the instant in which it makes a directory cannot remove it; the next `clean` does.
        place.start("clean", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait(WITHIN_S)
    if not until(lambda: not place.left(), within_s=10):
        return f"left: {'; '.join(place.left())}"
    if not directories:
        return "" if fault else f"there is no run; exit code {code}"
    found = ending.read(directories[0])
    summary = json.loads((directories[0] / "summary.json").read_text(encoding="utf-8"))
    state = summary["outcome"]["state"]
    if not found.reason:
        return f"{found.status} without a reason"
    if not fault and (code != 0 or state != "passed") and summary["fidelity"]["verdict"] == "faithful":
        return f"exit code {code}, {state}: {found.reason}"
    return ""


class Standing:
    """The page and the network that stay up."""

    def __init__(self, soak: Soak) -> None:
        """Start both."""
        self.soak, self.stage = soak, soak.stage
        (self.stage.path / "standing.yaml").write_text(STANDING, encoding="utf-8")
        up = self.stage.start("up", "standing.yaml", "--name", "standing", stdout=subprocess.DEVNULL)
        if up.wait(WITHIN_S) != 0:
            raise SystemExit("the network that is to stay up does not come up")
        self.page = self.stage.start(
            PAGE, "--no-open", ".", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.page.stdout is not None
        found = re.search(rb"127\.0\.0\.1:(\d+)/#token=([\w-]+)", self.page.stdout.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2].decode()

    def command(self, *words: str) -> str:
        """What a command says."""
        process = self.stage.start(*words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return str(process.communicate(timeout=WITHIN_S)[0].decode(errors="replace"))

    def change(self) -> None:
        """Change a link by hand; wrong is only what the command refuses."""
        link = self.soak.random.choice(("left", "right"))
        said = self.command("set", link, self.soak.random.choice(CHANGES), "--name", "standing")
        if "longhaul:" in said:
            self.soak.bad.append(f"set: {said.strip()}")

    def simulate(self) -> None:
        """Have the page simulate something, and read what comes of it."""
        text = random_scenario(self.soak.random, "paged")
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN_S)
            headers = {"Authorization": f"Bearer {self.token}"}
            connection.request("POST", "/api/runs", json.dumps({"text": text, "mode": "sim"}), headers)
            answer = connection.getresponse()
            told = json.loads(answer.read())
            if answer.status != 200:
                self.soak.bad.append(f"page: {answer.status} {told}")
            connection.close()

    def sample(self, piece: int, t_s: float) -> Sample:
        """Count everything."""
        tree = injection.tree(None, tag=self.stage.tag)
        sample = Sample(piece, round(t_s, 1))
        with suppress(ValueError, KeyError):
            status = json.loads(self.command("status", "--name", "standing", "--json"))
            sample.lateness_p99_us = status["engine"]["lateness_p99_ns"] / 1e3
        for name, pid in (("page", self.page.pid), ("engine", tree.engine), ("supervisor", tree.supervisor)):
            if pid is None or injection.state(pid) in (None, "Z"):
                self.soak.bad.append(f"the {name} is gone")
                continue
            setattr(sample, f"{name}_mb", round(_resident_bytes(pid) / 1e6, 1))
            setattr(sample, f"{name}_files", len(list(Path(f"/proc/{pid}/fd").iterdir())))
        sample.namespaces = _namespaces()
        sample.groups = len(_own_groups())
        sample.files = sum(
            1 for place in (self.stage.runtime, self.stage.temporary) for _ in place.rglob("*")
        )
        sample.runs, sample.bad = self.soak.ended, len(self.soak.bad)
        return sample

    def end(self) -> None:
        """Take both down; nothing may be left of them."""
        self.page.send_signal(signal.SIGTERM)
        self.page.wait(WITHIN_S)
        self.command("down", "--name", "standing")
        if not until(lambda: not injection.tagged(self.stage.tag), within_s=20):
            self.soak.bad.append(f"left: {self.stage.left()}")


def _resident_bytes(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    return 0


def _namespaces() -> int:
    found = set()
    for pid in injection.tagged(MARK):
        with suppress(OSError):
            found.add(Path(f"/proc/{pid}/ns/net").readlink())
    return len(found)


def _own_groups() -> list[Path]:
    return [each for each in groups.everywhere() if groups.run_of(each).startswith(("soak", "standing-"))]


def grown(samples: Sequence[Sample]) -> list[str]:
    """What was more in the last quarter than in the first, by more than may be."""
    quarter = len(samples) // 4
    if quarter == 0:
        return []
    found = []
    for name, most in STEADY.items():
        first, last = (
            median(getattr(each, name) for each in part) for part in (samples[:quarter], samples[-quarter:])
        )
        if last - first > most:
            found.append(f"{name} grew from {first:g} to {last:g}")
    return found


def main() -> int:
    """Soak for so many hours, write the samples, and say what was bad; 0 if nothing was."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hours", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--jobs", type=int, default=3, help="runs at once, in every second ten minutes")
    options.add_argument("--again", action="store_true", help="forget earlier pieces")
    asked = options.parse_args()
    began_s = time.monotonic()
    os.environ.update([MARK.split("=")])
    earlier = [] if asked.again else _read()
    piece = max((each.piece for each in earlier), default=0) + 1
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    soak = Soak(Stage(folder, "standing"), Random(asked.seed), began_s + 3600 * asked.hours)
    standing = Standing(soak)
    running = threading.Thread(target=_run, args=(soak, asked.jobs))
    running.start()
    try:
        while running.is_alive():
            standing.change()
            standing.simulate()
            soak.samples.append(standing.sample(piece, time.monotonic() - began_s))
            _write([*earlier, *soak.samples], asked, time.monotonic() - began_s)
            last = soak.samples[-1]
            print(" ".join(f"{name}={value}" for name, value in asdict(last).items()), flush=True)
            running.join(EVERY_S)
    finally:
        soak.stop_s = 0.0
        running.join()
        standing.end()
    bad = [*soak.bad, *grown(soak.samples)]
    print(f"{soak.ended} runs in {(time.monotonic() - began_s) / 3600:.2f} h; bad: {len(bad)}")
    print("\n".join(bad))
    if not bad:
        shutil.rmtree(folder)
    return int(bool(bad))


def _run(soak: Soak, jobs: int) -> None:
    """One after another for ten minutes, then so many at once for ten, and so on."""
    number = 0
    while time.monotonic() < soak.stop_s:
        turn = min(soak.stop_s, time.monotonic() + 600)
        at_once = 1 if number == 0 or number % 2 == 0 else jobs
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(partial(one, soak, turn), range(1000 * number, 1000 * number + 1000)))
        number += 1


def _read() -> list[Sample]:
    path = RESULTS / "pieces.csv"
    if not path.is_file():
        return []
    kinds = {each.name: each.type for each in fields(Sample)}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Sample(**{name: (float if kinds[name] is float else int)(text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


def _write(samples: Sequence[Sample], asked: argparse.Namespace, took_s: float) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "pieces.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(asdict(each) for each in samples)
    found = provenance(FOLDER, command=f"make soak HOURS={asked.hours:g}", took_s=took_s, runs=[])
    pieces = {each.piece: each for each in samples}
    found |= {
        "hours": round(sum(each.t_s for each in pieces.values()) / 3600, 2),
        "runs": sum(each.runs for each in pieces.values()),
        "bad": sum(each.bad for each in pieces.values()),
    }
    (RESULTS / "provenance.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
