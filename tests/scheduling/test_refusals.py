"""What cannot be planned is said in one line, with what helps."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.transfers.plan import Network, Point, Request, access_points, instance
from longhaul.transfers.plan.policies import Settings, plan

from .cases import GB, line, some, two_sources


@pytest.mark.parametrize(
    "policy", ["greedy-min", "window-min", "slots-minbw", "minused", "linear", "exact", "milp"]
)
def test_rates_from_deadlines_need_deadlines(policy):
    with pytest.raises(LonghaulError, match="needs deadlines, and request r1 has none; give it one"):
        plan(two_sources(GB, deadline_s=float("inf")), policy=policy)


@pytest.mark.parametrize(
    ("policy", "settings", "message"),
    [
        ("greedy-f", Settings(f=0), "f is 0; write a number above 0 and up to 1"),
        ("window-f", Settings(f=1.5), "f is 1.5; write a number above 0 and up to 1"),
        ("window-min", Settings(window_s=0), "a window has to last; give it more than zero seconds"),
    ],
)
def test_settings_out_of_range_are_refused(policy, settings, message):
    with pytest.raises(LonghaulError, match=message):
        plan(two_sources(GB), policy=policy, settings=settings)


def test_the_exact_search_takes_twelve_requests():
    with pytest.raises(LonghaulError, match="at most 12 requests, not of 13; use milp"):
        plan(some(1, requests=13), policy="exact")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"volume_bytes": 0}, "request r moves nothing; give it a volume of a byte or more"),
        ({"deadline_s": 0.0}, "request r ends at 0 s, but begins at 0 s; write a later deadline"),
        ({"max_bits_per_s": 0.0}, "request r has no rate; give it a greatest rate above zero"),
        ({"release_s": -1.0}, "request r is released at -1.0 s; release it at zero or later"),
    ],
)
def test_what_can_be_no_request_is_refused(wrong, message):
    with pytest.raises(LonghaulError, match=message):
        Request(**{"name": "r", "source": "a", "destination": "b", "volume_bytes": 1, **wrong})


@pytest.mark.parametrize(
    ("ends", "network", "message"),
    [
        (("0", "9"), line([1e9]), 'request r: to: there is no place "9"; there are: 0, 1'),
        (("1", "0"), line([1e9]), "request r: to: there is no path from 1; add a link"),
        (("1", "1"), line([1e9]), "request r: to: is also its source; name another place"),
        (
            ("a", "b"),
            Network(("a", "b"), (), lambda _a, _b: ()),
            "request r has no greatest rate, and no link limits it; give it a max_rate",
        ),
    ],
)
def test_requests_without_a_way_are_refused(ends, network, message):
    request = Request(name="r", source=ends[0], destination=ends[1], volume_bytes=1)
    with pytest.raises(LonghaulError, match=message):
        instance([request], network=network)


def test_no_request_is_no_trouble():
    empty = instance([], network=access_points({"a": Point(1e9, 1e9)}))
    for policy in ("fair", "serial-fcfs", "greedy-min", "slots-minvol", "minused", "linear", "exact", "milp"):
        assert plan(empty, policy=policy).outcomes == ()
