"""Losses and flows from capture files, and files of losses."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.analysis.captures import Capture, Flow, Losses
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.storage import writing

_STEP = 1 << 16
"""Packets between two reports of progress."""
_MAGIC = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x34\xcd\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
    b"\x28\xb5\x2f\xfd",
)
_GZIP = b"\x1f\x8b"
_COLUMNS = (
    "at_ns",
    "flow_packets",
    "all_packets",
    "position_bytes",
    "data_bytes",
    "transmission",
    "repaired_ns",
)


def is_capture(path: Path) -> bool:
    """Whether ``path`` begins like pcap or pcapng, or is packed, as only captures may be."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            first = file.read(4)
    except OSError:
        return False
    return first in _MAGIC or first.startswith(_GZIP)


def read_capture(path: Path | int, *, progress: Callable[[int], None] | None = None) -> Capture:
    """The flows in the pcap or pcapng file ``path``, or open descriptor; gzip and zstd are unpacked.

    ``progress`` is told from time to time how many bytes have been read.

    Raises :class:`LonghaulError` with the place in the (unpacked) file and a remedy.
    """
    from longhaul._longhaul import CaptureReader, InvalidValueError

    name = str(path) if isinstance(path, Path) else f"/dev/fd/{path}"
    try:
        reader = CaptureReader(name)
        while reader.advance(_STEP):
            if progress is not None:
                progress(reader.bytes())
    except OSError as error:
        message = f"{name}: {(error.strerror or str(error)).lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a capture that can be read", exit_code=2
        ) from None
    except InvalidValueError as error:
        raise LonghaulError(
            Code.CAPTURE_UNUSABLE, f"{name}: {error.message}", remedy=error.remedy, exit_code=2
        ) from None
    found = json.loads(reader.finish())
    if progress is not None:
        progress(reader.bytes())
    flows = tuple(
        _flow(number, each, reader.losses(number - 1)) for number, each in enumerate(found["flows"], 1)
    )
    tally = found["tally"]
    return Capture(Path(name).name, tally["first_ns"], tally["packets"], flows, _notes(found))


def _flow(number: int, found: dict[str, Any], losses: tuple[list[Any], ...]) -> Flow:
    rtts = found["rtts"]
    kept = np.array([rtt for _at, rtt in rtts["kept"]], dtype=np.float64)
    columns = [np.array(column, dtype=np.int64) for column in losses[:-1]]
    beyond = np.array(losses[-1], dtype=np.bool_)
    same = (
        "interface",
        "sender",
        "receiver",
        "first_ns",
        "last_ns",
        "packets",
        "retransmissions",
        "spurious",
        "reordered",
        "reordering_extent",
        "copies",
        "unseen",
        "joined",
        "astray",
        "forgotten",
        "acknowledgements",
        "view",
    )
    return Flow(
        number=number,
        **{field: found[field] for field in same},
        data_bytes=found["bytes"],
        rtts=rtts["count"],
        rtt_min_s=rtts["min_ns"] / 1e9 if rtts["count"] else None,
        rtt_median_s=float(np.median(kept)) / 1e9 if rtts["count"] else None,
        rtt_max_s=rtts["max_ns"] / 1e9 if rtts["count"] else None,
        sender_s=_seconds(found["sender_ns"]),
        receiver_s=_seconds(found["receiver_ns"]),
        losses=Losses(
            **dict(zip(_COLUMNS, columns, strict=True)),
            beyond=beyond,
            flow=np.full(len(beyond), number),
        ),
    )


def _seconds(ns: int | None) -> float | None:
    return None if ns is None else ns / 1e9


def _notes(found: dict[str, Any]) -> tuple[str, ...]:
    tally = found["tally"]
    notes = []
    if found["broken_off"] is not None:
        notes.append(f"the file breaks off within a packet, at byte {found['broken_off']}; the rest is used")
    for field, text in (
        ("cut", "are cut before the end of their headers, or wrong; capture 100 bytes of each or more"),
        ("fragments", "are fragments, and left out"),
        ("unreadable", "are of interfaces whose link type cannot be read"),
    ):
        if tally[field]:
            notes.append(f"{tally[field]:,} of {tally['packets']:,} packets {text}")
    return tuple(notes)


def write_losses(path: Path, capture: Capture, flow: Flow) -> None:
    """Write the losses of ``flow`` to ``path``, as Parquet if it is called so, otherwise as CSV.

    ``t_s`` counts from the capture's first packet. Raises :class:`LonghaulError` if it cannot be written.
    """
    losses = flow.losses
    names = {each.number: each.name for each in capture.flows}
    columns: dict[str, list[Any]] = {
        "t_s": ((losses.at_ns - capture.begin_ns) / 1e9).tolist(),
        "flow_packets": losses.flow_packets.tolist(),
        "all_packets": losses.all_packets.tolist(),
        "position_bytes": losses.position_bytes.tolist(),
        "data_bytes": losses.data_bytes.tolist(),
        "transmission": losses.transmission.tolist(),
        "repaired_t_s": ((losses.repaired_ns - capture.begin_ns) / 1e9).tolist(),
        "place": ["beyond" if beyond else "before" for beyond in losses.beyond.tolist()],
        "flow": [names[number] for number in losses.flow.tolist()],
    }
    with writing(path):
        if path.suffix == ".parquet":
            _write_parquet(path, columns)
            return
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


def _write_parquet(path: Path, columns: dict[str, list[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path, compression="zstd")
