"""Benchmarks of messages, over-relaxation and molecules, and what of them can be known without a network."""

import json
import re
import socket
import struct
import subprocess
import sys
from itertools import pairwise
from threading import Thread

import pytest

from longhaul.errors import LonghaulError
from longhaul.workloads import socket_benchmark
from longhaul.workloads.measuring import SIZES, repetitions
from longhaul.workloads.sites import sites_of

from .ranks import ENVIRONMENT, on_ranks, script, workload


def test_every_allreduce_gives_the_sum_on_1_to_9_ranks() -> None:
    ended = script(9, "sums.py")
    assert ended == {"tried": 9 * 3 * 7 * 6, "wrong": []}


def test_repetitions_are_cut_to_40_mib() -> None:
    assert [repetitions(size) for size in (0, 1, 40 << 10, 64 << 10, 4 << 20)] == [1000, 1000, 1000, 640, 10]
    assert repetitions(1 << 30) == 1
    assert SIZES[:4] == (0, 1, 2, 4)
    assert SIZES[-1] == 4 << 20


def test_ping_pong_times_are_in_order_and_make_the_throughput() -> None:
    ended = workload(3, "pingpong", "--sizes", "0,1K,256K", "--repetitions", "50", "--between", "0,2")
    assert [row["size"] for row in ended["rows"]] == [0, 1024, 262_144]
    for row in ended["rows"]:
        assert 0 < row["least_us"] <= row["mean_us"] <= row["most_us"]
        assert row["megabytes_per_s"] == pytest.approx(row["size"] / row["mean_us"])


@pytest.mark.parametrize("name", ["allreduce", "halo", "alltoall"])
def test_collective_times_are_in_order(name: str) -> None:
    ended = workload(3, name, "--sizes", "0,64K", "--repetitions", "20")
    for row in ended["rows"]:
        assert 0 < row["least_us"] <= row["mean_us"] <= row["most_us"]


def test_sites_come_from_sizes_or_a_list_or_names() -> None:
    hosts = ["par1", "par2", "nyc1", "nyc12", "ams"]
    assert sites_of(hosts) == [[0, 1], [2, 3], [4]]
    assert sites_of(hosts, sizes=[2, 3]) == [[0, 1], [2, 3, 4]]
    assert sites_of(hosts, listed="par1,nyc1; par2,nyc12,ams") == [[0, 2], [1, 3, 4]]
    with pytest.raises(LonghaulError, match="2\\+2 ranks are not 5; give sizes that add up to 5"):
        sites_of(hosts, sizes=[2, 2])
    with pytest.raises(LonghaulError, match='LONGHAUL_SITES does not name the host "ams"'):
        sites_of(hosts, listed="par1,par2;nyc1,nyc12")


@pytest.mark.parametrize(("ranks", "size"), [(2, (40, 31)), (3, (9, 8)), (4, (101, 64))])
def test_over_relaxation_is_sequential_bit_for_bit(ranks: int, size: tuple[int, int]) -> None:
    rows, columns = map(str, size)
    ended = workload(
        ranks, "sor", "--rows", rows, "--columns", columns, "--iterations", "30", "--wait", "sleep"
    )
    assert ended["verified"] is True


def test_over_relaxation_stops_at_its_tolerance() -> None:
    ended = workload(
        1, "sor", "--rows", "40", "--columns", "40", "--tolerance", "1e-6", "--iterations", "9999"
    )
    assert ended["iterations"] < 9999
    assert ended["largest_change"] <= 1e-6


def test_a_relaxing_skeleton_sends_the_same() -> None:
    arguments = ("sor", "--rows", "50", "--columns", "33", "--iterations", "20")
    real, skeleton = workload(3, *arguments), workload(3, *arguments, "--mode", "skeleton")
    for figure in ("most_sent_bytes", "sent_bytes_per_rank", "messages_per_rank"):
        assert real[figure] == skeleton[figure]


def test_longcuts_messages_have_19800_bytes() -> None:
    """The middle rank sends both ways after each colour, and 8 bytes of the largest change."""
    ended = workload(
        3, "sor", "--preset", "longcut", "--mode", "skeleton", "--compute", "10ms", "--iterations", "5"
    )
    assert ended["most_sent_bytes"] == 5 * (4 * 19_800 + 8)


def test_molecules_go_half_way_round_and_back() -> None:
    """Two pulses each way of 2500 atoms with 12 bytes, and 8 energies of 8 bytes, in each of 10 steps."""
    ended = workload(4, "molecules", "--steps", "10", "--step-time", "400us", "--wait", "sleep")
    assert ended["most_sent_bytes"] == 10 * (2 * 2 * 2500 * 12 + 64)
    assert ended["compute_s"] == pytest.approx(10 * 100e-6)


def test_sockets_measure_without_mpi() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-X", "importtime", "-m", "longhaul.workloads", "sockets"]
    with subprocess.Popen(
        [*command, "--serve", "--clients", "2", "--port", str(port)], stderr=subprocess.PIPE, text=True
    ) as server:
        client = [
            *command,
            "127.0.0.1",
            "--port",
            str(port),
            "--latencies",
            "50",
            "--messages",
            "500",
            "--json",
        ]
        ended = subprocess.run(client, capture_output=True, text=True, check=True, timeout=60)
        assert server.stderr is not None
        loaded = ended.stderr + server.stderr.read()
    latency, bandwidth = (json.loads(ended.stdout)[name] for name in ("latency", "bandwidth"))
    assert 0 < latency["least_us"] <= latency["median_us"] <= latency["most_us"]
    assert bandwidth["megabits_per_s"] * bandwidth["seconds"] == pytest.approx(512 * 500 * 8e-6)
    assert not re.search(r"\| (mpi4py|numpy)", loaded)


def test_clients_that_go_leave_the_server_of_sockets_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Thread(target=socket_benchmark.serve, args=(port,), kwargs={"clients": 2}, daemon=True)
    server.start()
    size, count = 1000, 20
    # Nothing is said; a reset before anything is; an end in the middle of what was asked for, which counts.
    for said in (b"\n", b"", f"latency {size} {count}\n".encode()):
        connection = socket_benchmark._connect("127.0.0.1", port)
        connection.sendall(said)
        if not said:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    assert socket_benchmark.measure_latency("127.0.0.1", port, size=size, count=count).count == count
    server.join(timeout=10)
    assert not server.is_alive()


@pytest.mark.parametrize(
    ("ranks", "arguments", "message"),
    [
        (1, ("pingpong",), "there is no pair of ranks 0,1 among 1; start it with mpirun -n 2"),
        (2, ("pingpong", "--sizes", "1k"), '"1k" is not a size; write "512", "64K" or "4MiB"'),
        (2, ("pingpong", "--between", "0"), '"0" is not a pair of ranks; write "0,7"'),
        (2, ("allreduce", "--sizes", "6"), "6 bytes are not a whole number of floats; take multiples of 4"),
        (2, ("allreduce", "--sites", "2,2"), "sites of 2+2 ranks are not 2"),
        (3, ("sor", "--rows", "4"), "4 rows are too few for 3 ranks; take 5 rows or more"),
        (1, ("sockets",), "name the host of the other end, or be it with --serve"),
    ],
)
def test_a_wrong_call_prints_one_message(ranks: int, arguments: tuple[str, ...], message: str) -> None:
    ended = on_ranks(ranks, "-m", "longhaul.workloads", *arguments)
    assert ended.returncode == 2
    assert ended.stderr.count("longhaul-workload: ") == 1
    assert message in ended.stderr


def test_help_says_what_there_is_without_mpi_or_numpy() -> None:
    code = (
        "import sys; sys.argv = ['longhaul-workload', '--help']\n"
        "from longhaul.workloads.main import workload\n"
        "try: workload.main(standalone_mode=False)\n"
        "finally: assert not {'numpy', 'mpi4py'} & set(sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    ).stdout
    listed = re.findall(r"^  (\w+)  ", out.partition("Workloads")[2], re.MULTILINE)
    assert all(len(name) > 1 for name in listed)
    assert len(listed) == 13


def test_each_size_of_the_list_is_twice_the_one_before() -> None:
    assert all(larger == 2 * smaller for smaller, larger in pairwise(SIZES[1:]))
