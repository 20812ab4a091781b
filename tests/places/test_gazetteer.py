"""The gazetteer finds cities as people write them."""

import pytest

from longhaul.places import cities, search


@pytest.mark.parametrize(
    ("text", "city", "country"),
    [
        ("paris", "Paris", "France"),
        ("Zurich", "Zürich", "Switzerland"),
        ("ZÜR", "Zürich", "Switzerland"),
        ("cologne", "Köln", "Germany"),
        ("nyc", "New York City", "United States"),
        ("new yo", "New York City", "United States"),
        ("paulo", "São Paulo", "Brazil"),
        ("london, ca", "London", "Canada"),
        ("reykj", "Reykjavík", "Iceland"),
    ],
)
def test_the_first_city_is_the_one_that_is_meant(text: str, city: str, country: str) -> None:
    first = search(text, most=3)[0]
    assert (first.name, first.country) == (city, country)


def test_there_are_no_more_than_asked_and_none_for_nothing() -> None:
    assert len(search("san", most=5)) == 5
    assert search("", most=5) == []
    assert search(" , france", most=5) == []
    assert search("no such city", most=5) == []


def test_every_city_is_on_the_globe_and_the_largest_come_first() -> None:
    found = cities()
    assert len(found) > 5_000
    assert all(-90 <= each.latitude <= 90 and -180 <= each.longitude <= 180 for each in found)
    assert [each.inhabitants for each in found] == sorted((each.inhabitants for each in found), reverse=True)
