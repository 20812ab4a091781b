"""What a fragment asks for is compared with what the source made of it."""

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels import recipe
from longhaul.kernels.configuration import REQUIRED, parse, unmet, values

FRAGMENT = """\
# [required]
CONFIG_NET=y
# [other] A remark.
CONFIG_TUN=y
CONFIG_MODULES=n
CONFIG_NAME="-x"
"""
KNOWN = frozenset({"CONFIG_NET", "CONFIG_TUN", "CONFIG_MODULES", "CONFIG_NAME"})
MET = 'CONFIG_NET=y\nCONFIG_TUN=y\n# CONFIG_MODULES is not set\nCONFIG_NAME="-x"\nCONFIG_MORE=y\n'


def test_options_that_are_as_asked_for_leave_nothing() -> None:
    assert unmet(parse(FRAGMENT), MET, KNOWN, "6.12") == []


def test_an_option_that_the_version_does_not_have_is_listed() -> None:
    config = MET.replace("CONFIG_TUN=y\n", "")
    assert unmet(parse(FRAGMENT), config, KNOWN - {"CONFIG_TUN"}, "6.12") == ["CONFIG_TUN"]


@pytest.mark.parametrize(
    ("is_set", "instead", "named"),
    [
        ("CONFIG_TUN=y", "# CONFIG_TUN is not set", "CONFIG_TUN=y"),
        ("# CONFIG_MODULES is not set", "CONFIG_MODULES=y", "CONFIG_MODULES=n"),
        ('CONFIG_NAME="-x"', 'CONFIG_NAME="-y"', 'CONFIG_NAME="-x"'),
    ],
)
def test_an_option_with_another_value_is_an_error(is_set: str, instead: str, named: str) -> None:
    with pytest.raises(LonghaulError, match=f"Linux 6.12 cannot be configured with {named};"):
        unmet(parse(FRAGMENT), MET.replace(is_set, instead), KNOWN, "6.12")


def test_a_required_option_that_the_version_does_not_have_is_an_error() -> None:
    with pytest.raises(LonghaulError, match="CONFIG_NET=y"):
        unmet(parse(FRAGMENT), MET.replace("CONFIG_NET=y", ""), KNOWN - {"CONFIG_NET"}, "6.12")


def test_the_fragment_names_each_option_once_and_has_a_required_section() -> None:
    wanted = parse(recipe.load().configuration)
    assert len({each.name for each in wanted}) == len(wanted) > 300
    assert {"CONFIG_UML_TIME_TRAVEL_SUPPORT", "CONFIG_VIRTIO_NET"} <= {
        each.name for each in wanted if each.is_required
    }
    assert REQUIRED == "required"


def test_values_are_those_that_are_set() -> None:
    assert values(MET) == {"CONFIG_NET": "y", "CONFIG_TUN": "y", "CONFIG_NAME": '"-x"', "CONFIG_MORE": "y"}
