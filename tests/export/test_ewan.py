"""The generator of Fig. 3 in the eWAN paper: same machines, same lines."""

from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.export.files import export
from longhaul.export.machines import read_machines
from longhaul.export.qdiscs import Kernel
from longhaul.scenario import load_scenario, resolve

HERE = Path(__file__).parent / "ewan"

# As printed, but for two faults of the print: backslashes before the backquotes, and a letter in IP0.
FIGURE_3 = {
    "c0": """\
Machine 0 IP : 140.77.12.61 emulate : Client c0
IP0: 192.168.4.2
""",
    "la1": """\
Machine 1 IP : 140.77.12.62 emulate : la1
IP0: 192.168.3.2
IP1: 192.168.5.2
ip address flush label eth*;
ifconfig eth0 140.77.12.62 netmask 255.255.255.0;
route add default netmask 0.0.0.0 gw 140.77.12.1 dev eth0;
ifconfig eth0:0 mtu 1500 192.168.3.2;
ifconfig eth1 mtu 1500 192.168.5.2;
if [ -z "`cnistnet -Fd 2>/dev/stdout| grep command`" ];
then modprobe -r nistnet;
modprobe nistnet;
cnistnet -u;
cnistnet -a 0.0.0.0 0.0.0.0 --delay 5 --drop 5 > /dev/null;
else echo NIST Net not available;
fi;
route add -net 192.168.0.0 netmask 255.255.0.0 gw 192.168.3.1 dev eth0;
route add -net 192.168.6.0 gw 192.168.5.1 netmask 255.255.255.0 dev eth1;
""",
    "rc0": """\
Machine 4 IP : 140.77.12.65 emulate : Router rc0
IP0: 192.168.1.1
IP1: 192.168.2.1
IP2: 192.168.3.1
""",
    "p0": """\
Machine 5 IP : 140.77.12.66 emulate : Access Point p0
IP0: 192.168.1.2
IP1: 192.168.4.1
ip address flush label eth*;
ifconfig eth0 140.77.12.66 netmask 255.255.255.0;
route add default netmask 0.0.0.0 gw 140.77.12.1 dev eth0;
ifconfig eth0:0 mtu 1500 192.168.1.2;
ifconfig eth1 mtu 1500 192.168.4.1;
tc qdisc replace dev eth1 root tbf rate 100mbit latency 1ms burst 15400000;
route add -net 192.168.0.0 netmask 255.255.0.0 gw 192.168.1.1 dev eth0;
""",
    "p1": """\
Machine 6 IP : 140.77.12.67 emulate : Access Point p1
IP0: 192.168.5.1
""",
}
# The print gives p1 192.168.0.1, too, but routes 192.168.6.0 to it: here it has 192.168.6.1.
WHOLE = ("la1", "p0")
"""Machines whose scripts are printed; of the others only the heads are."""


def scripts(**settings: str) -> dict[str, str]:
    resolved = resolve(load_scenario(HERE / "scenario.yaml", settings=settings))
    machines = read_machines(HERE / "machines.yaml")
    return export(resolved, "shell", machines=machines, kernel=Kernel(), style="ewan").files


@pytest.mark.parametrize("machine", FIGURE_3)
def test_the_lines_of_figure_3_come_out(machine: str) -> None:
    text = scripts()[f"{machine}.sh"].replace("# ", "")
    if machine in WHOLE:
        assert text == FIGURE_3[machine]
    else:
        assert text.startswith(FIGURE_3[machine])


def test_the_burst_of_one_tick_can_be_had_instead() -> None:
    (line,) = [line for line in scripts(burst="15400B")["p0.sh"].splitlines() if line.startswith("tc ")]
    assert line == "tc qdisc replace dev eth1 root tbf rate 100mbit latency 1ms burst 15400;"


def test_without_machines_there_is_nothing_to_manage() -> None:
    resolved = resolve(load_scenario(HERE / "scenario.yaml"))
    with pytest.raises(LonghaulError, match="--machines"):
        export(resolved, "shell", machines=None, kernel=Kernel(), style="ewan")


def test_the_style_is_for_shell_scripts() -> None:
    resolved = resolve(load_scenario(HERE / "scenario.yaml"))
    with pytest.raises(LonghaulError, match="eWAN's style does not include tc; export shell --style ewan"):
        export(resolved, "tc", machines=None, kernel=Kernel(), style="ewan")
