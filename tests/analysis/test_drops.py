"""Drops by cause and link."""

from typing import Any

import numpy as np

from longhaul.analysis.drops import ON_LINKS, summarise_drops, unaccounted, undelivered
from longhaul.analysis.fidelity import judge

from .test_fidelity import counted


def link(name: str, **packets: int) -> dict[str, Any]:
    return {"name": name, "way": "forward", "packets": {**dict.fromkeys(ON_LINKS, 0), **packets}}


def test_an_overflow_is_never_called_loss() -> None:
    found = summarise_drops({"lost": 0, "overflowed": 162}, [link("wan", overflowed=162)])
    assert (found["packets"], found["text"]) == (162, "162 by a full queue")
    assert found["causes"] == [
        {
            "cause": "overflowed",
            "text": "by a full queue",
            "packets": 162,
            "links": [{"link": "wan", "way": "forward", "packets": 162}],
        }
    ]


def test_causes_are_told_with_the_most_frequent_first() -> None:
    packets = {"lost": 3, "down": 1200, "no_route": 7}
    found = summarise_drops(packets, [link("wan", lost=1, down=1200), link("far", lost=2)])
    assert found["text"] == "1,200 by a link that was down, 7 without a route, 3 by the loss model"
    assert found["packets"] == 1210


def test_a_network_without_drops_says_none() -> None:
    assert summarise_drops({"lost": 0}, [link("wan")]) == {"packets": 0, "text": "none", "causes": []}


def test_without_totals_drops_are_those_that_links_counted() -> None:
    found = summarise_drops({}, [link("wan", overflowed=162), link("far", overflowed=1, lost=2)])
    assert (found["packets"], found["text"]) == (165, "163 by a full queue, 2 by the loss model")


def test_what_a_link_did_not_deliver_is_the_sum_over_its_causes() -> None:
    counts = {f"{cause}_packets": np.array([place, 10]) for place, cause in enumerate(ON_LINKS)}
    assert undelivered(counts, "_packets").tolist() == [10, 50]
    assert undelivered({**dict.fromkeys(ON_LINKS, 2), "marked": 9}) == 10


def test_drops_that_no_link_accounts_for_make_a_run_invalid() -> None:
    assert unaccounted({"lost": 3}, [link("wan", lost=2)]) == {"lost": 1}
    assert unaccounted({"lost": 2}, [link("wan", lost=2)]) == {}
    way = {f"{cause}_packets": 0 for cause in ON_LINKS}
    engine = counted()
    engine["packets"] |= {"injected": 1, "lost": 1}
    engine["links"] = [{"name": "wan", "forward": way, "reverse": way}]
    found = judge(engine, {})
    assert found.verdict == "invalid"
    assert found.reasons[0].what == "1 packets counted as lost are not accounted for by any link"
