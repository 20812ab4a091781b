"""Requests in files: what they say, and what is said about them where they are wrong."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longhaul.errors import LonghaulError
from longhaul.scenario.check.load import parse_scenario
from longhaul.scenario.lower.resolve import resolve
from longhaul.transfers.plan import Point
from longhaul.transfers.plan.networks import scenario_network
from longhaul.transfers.plan.plan_data import as_csv, as_yaml
from longhaul.transfers.plan.random_requests import Workload, generate
from longhaul.transfers.plan.request_files import parse_requests, placed

YAML = b"""version: 1
points: {lyon: 1Gbit, tsukuba: {in: 1Gbit, out: 2Gbit}}
requests:
  backup: {from: lyon, to: tsukuba, volume: 500MB, release: 1s, deadline: 1min, max_rate: 10MB/s}
  rest: {from: tsukuba, to: lyon, volume: 1GiB}
"""

CSV = b"""name,from,to,volume,release,deadline,max_rate
backup,lyon,tsukuba,500MB,1s,1min,10MB/s
rest,tsukuba,lyon,1GiB,,,
"""


def test_yaml_and_csv_say_the_same():
    found = parse_requests(YAML, name="a.yaml")
    assert found.requests == parse_requests(CSV, name="a.csv").requests
    backup, rest = found.requests
    assert (backup.name, backup.source, backup.destination) == ("backup", "lyon", "tsukuba")
    # 10 MB/s are 80 Mbit/s.
    assert (backup.volume_bytes, backup.release_s, backup.deadline_s) == (500 * 10**6, 1, 60)
    assert backup.max_bits_per_s == 80e6
    assert (rest.volume_bytes, rest.release_s) == (2**30, 0)
    assert (rest.deadline_s, rest.max_bits_per_s) == (math.inf, math.inf)
    assert found.points == {"lyon": Point(1e9, 1e9), "tsukuba": Point(1e9, 2e9)}


def test_what_is_generated_is_read_back():
    points, requests = generate(Workload(count=50), seed=3)
    found = parse_requests(as_yaml(points, requests).encode(), name="a.yaml")
    assert (found.points, found.requests) == (points, requests)
    assert parse_requests(as_csv(requests).encode(), name="a.csv").requests == requests


def plan_yaml(text):
    placed(parse_requests(text.encode(), name="a.yaml"), network=None, capacity_bits_per_s=None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "500MB",
            "500",
            'a.yaml:4:45: requests.backup.volume: "500" has no unit; write "500B" or "500MiB" [E0301]',
        ),
        ("500MB", "0B", "a.yaml:4:45: requests.backup.volume: moves nothing; write a byte or more [E0305]"),
        (
            "deadline: 1min",
            "deadline: 1s",
            "a.yaml:4:75: requests.backup.deadline: is not after the release at 1s; "
            "deadlines are times from the start of the plan, not spans [E0602]",
        ),
        (
            "volume: 1GiB",
            "volumes: 1GiB",
            'a.yaml:5:35: requests.rest.volumes: there is no key "volumes" here; '
            'did you mean "volume"? [E0202]',
        ),
        (
            "to: tsukuba",
            "to: tsukubo",
            'a.yaml:4:28: requests.backup.to: there is no place "tsukubo"; did you mean "tsukuba"? [E1202]',
        ),
        (
            "to: lyon",
            "to: tsukuba",
            "a.yaml:5:29: requests.rest.to: is also its source; name another place [E1202]",
        ),
    ],
)
def test_what_is_wrong_in_yaml_has_a_place_and_a_remedy(old, new, message):
    with pytest.raises(LonghaulError) as error:
        plan_yaml(YAML.decode().replace(old, new))
    assert str(error.value).splitlines()[0] == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("500MB", "500", 'a.csv:2:21: requests.backup.volume: "500" has no unit; write "500B" or "500MiB"'),
        ("volume", "size", 'a.csv:1:14: there is no column "size"; there are: '),
        (",max_rate", "", "a.csv:2:1: has 7 values, and the header 6; write one for each column"),
        ("rest,", "backup,", 'a.csv:3:1: "backup" is given twice, first in line 2; rename one of them'),
        ("name,from", "name,name", "a.csv:1:1: has no column from; have each once"),
    ],
)
def test_what_is_wrong_in_csv_has_a_place_and_a_remedy(old, new, message):
    with pytest.raises(LonghaulError) as error:
        parse_requests(CSV.decode().replace(old, new).encode(), name="a.csv")
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(("capacity", "what"), [(None, "no network is given"), (10**9, None)])
def test_csv_needs_a_network(capacity, what):
    found = parse_requests(CSV, name="a.csv")
    if what is None:
        case = placed(found, network=None, capacity_bits_per_s=capacity)
        assert case.tops_bits_per_s == (80e6, 1e9)
        return
    with pytest.raises(LonghaulError, match=f"a.csv: {what}; give one of points: in the file, --scenario"):
        placed(found, network=None, capacity_bits_per_s=capacity)


def test_two_networks_are_one_too_many():
    with pytest.raises(LonghaulError, match="several networks are given"):
        placed(parse_requests(YAML, name="a.yaml"), network=None, capacity_bits_per_s=10**9)


SCENARIO = b"""version: 1
name: two-ways
nodes: {lyon: {kind: host}, near: {kind: router}, far: {kind: router}, tsukuba: {kind: host}}
links:
  a: {endpoints: [lyon, near], rate: 10Gbit, delay: 1ms}
  short: {endpoints: [near, tsukuba], delay: 5ms, forward: {rate: 1Gbit}, reverse: {rate: 100Mbit}}
  long-1: {endpoints: [near, far], rate: 40Gbit, delay: 5ms}
  long-2: {endpoints: [far, tsukuba], rate: 40Gbit, delay: 5ms}
"""


def test_a_scenario_gives_the_rates_of_the_ways_that_packets_take():
    network = scenario_network(resolve(parse_scenario(SCENARIO, name="s.yaml")).plan)
    case = placed(parse_requests(CSV, name="a.csv"), network=network, capacity_bits_per_s=None)
    # Each way of a link has its own rate; the way by far is longer.
    names = [[case.links[link].name for link in path] for path in case.paths]
    assert names[0] == ["a lyon > near", "short near > tsukuba"]
    assert names[1] == ["short tsukuba > near", "a near > lyon"]
    assert case.tops_bits_per_s == (80e6, 100e6)


def test_a_value_that_is_too_long_is_refused_at_its_line():
    with pytest.raises(LonghaulError, match=":4:1: a value has more than 131072 characters; shorten it"):
        parse_requests(CSV + b'"' + 140_000 * b"x" + b'",lyon,tsukuba,1B,,,\n', name="a.csv")


def read_or_refused(content, name):
    try:
        found = parse_requests(content, name=name)
        placed(found, network=None, capacity_bits_per_s=None if found.points else 10**9)
    except LonghaulError as error:
        return str(error)
    return "good"


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([(YAML, "a.yaml"), (CSV, "a.csv")]), st.data())
def test_damaged_requests_are_read_or_refused(file, data):
    whole, name = file
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, min(len(whole), begin + 30)))
    read_or_refused(whole[:begin] + data.draw(st.binary(max_size=8)) + whole[end:], name)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["a.yaml", "a.csv"]), st.binary(max_size=200))
@example("a.csv", b'"\n"')
@example("a.csv", b"\x1c\n\x1c\n")
@example("a.csv", b"from,to,volume\n\x0b\x1d\n,,")
def test_any_bytes_as_requests_are_refused(name, content):
    assert read_or_refused(content, name) != "good"
