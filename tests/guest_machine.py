"""Virtual machines for tests: Debian's kernel in QEMU (TCG), with BusyBox and one network interface."""

import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

KERNEL = Path(__file__).parents[1] / ".tools/guest-kernel"
"""What ``tools/setup --tests`` has unpacked of Debian's package of a kernel for virtual machines."""
BUSYBOX = Path("/bin/busybox")
DRIVERS = ("virtio_pci", "virtio_net")
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
for each in MODULES; do insmod /lib/$each.ko; done
echo ready
while read -r line; do
  sh -c "$line"
  echo "status=$?"
done
"""
"""Runs each line of the serial console as a command, and prints its exit status."""


def require_guest_machines() -> None:
    """Skip the test where a program or the kernel of virtual machines is not installed."""
    if shutil.which("qemu-system-x86_64") is None or not BUSYBOX.exists():
        pytest.skip("qemu-system-x86_64 or busybox is not installed; tools/setup --tests installs them")
    if not list(KERNEL.glob("boot/vmlinuz-*")):
        pytest.skip("there is no kernel for a virtual machine; tools/setup --tests unpacks one")


def _modules() -> dict[str, bytes]:
    """The drivers and those that each needs before it."""
    files = {path.stem.replace("-", "_"): path for path in KERNEL.rglob("*.ko")}
    found: dict[str, bytes] = {}

    def add(name: str) -> None:
        # What has no file is built in.
        if name in found or name not in files:
            return
        image = files[name].read_bytes()
        needed = re.search(rb"\0depends=([^\0]*)\0", image)
        for each in needed.group(1).decode().split(",") if needed else ():
            add(each.replace("-", "_"))
        found[name] = image

    for driver in DRIVERS:
        add(driver)
    return found


def _initial_file_system(folder: Path) -> Path:
    root = folder / "initial-file-system"
    for name in ("bin", "dev", "lib", "proc", "sys"):
        (root / name).mkdir(parents=True)
    shutil.copy(BUSYBOX, root / "bin")
    modules = _modules()
    for name, image in modules.items():
        (root / f"lib/{name}.ko").write_bytes(image)
    (root / "init").write_text(INIT.replace("MODULES", " ".join(modules)))
    (root / "init").chmod(0o755)
    names = "\n".join(["."] + [str(path.relative_to(root)) for path in sorted(root.rglob("*"))])
    archive = folder / "initial-file-system.cpio"
    with archive.open("wb") as out:
        subprocess.run(
            [BUSYBOX, "cpio", "-o", "-H", "newc"],
            cwd=root,
            input=names.encode(),
            stdout=out,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    return archive


class GuestMachine:
    """A virtual machine that runs, whose ``eth0`` is at a TAP device of this machine."""

    def __init__(self, folder: Path, tap: str, *, queues: int = 1) -> None:
        """Boot it; ``folder`` is for its files."""
        kernel = next(KERNEL.glob("boot/vmlinuz-*"))
        network = f"tap,id=wan,ifname={tap},script=no,downscript=no"
        device = "virtio-net-pci,netdev=wan,romfile="
        if queues > 1:
            network += f",queues={queues}"
            device += f",mq=on,vectors={2 * queues + 2}"
        words = ["qemu-system-x86_64", "-accel", "tcg", "-M", "q35", "-cpu", "max", "-m", "192"]
        words += ["-smp", str(queues), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
        words += ["-kernel", str(kernel), "-initrd", str(_initial_file_system(folder))]
        words += ["-append", "console=ttyS0 quiet panic=-1 mitigations=off", "-serial", "stdio"]
        words += ["-netdev", network, "-device", device]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._until(r"^ready\r?$", within_s=90)

    def run(self, command: str, *, within_s: float = 60) -> str:
        """What a command of the guest's shell prints; it must succeed."""
        assert self._process.stdin is not None
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()
        printed, status = self._until(r"^status=(\d+)\r?$", within_s=within_s)
        assert status == "0", printed
        return printed

    def stop(self) -> None:
        """End the machine."""
        self._process.kill()
        self._process.communicate()

    def _until(self, pattern: str, *, within_s: float) -> tuple[str, str]:
        """The output before a line that fits, and what the group of the pattern is there."""
        assert self._process.stdout is not None
        until = time.monotonic() + within_s
        read = ""
        while (found := re.search(pattern, read, re.MULTILINE)) is None:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"the guest does not answer: {read}"
            part = self._process.stdout.read1()  # type: ignore[attr-defined]
            assert part, f"the guest has ended: {read}"
            read += part.decode(errors="replace")
        return read[: found.start()].replace("\r", ""), found.group(found.lastindex or 0)
