"""Bytes that no SOCKS client sends cost their own connection, and no result of the relay."""

import socket
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import longhaul
from faults.scenarios import NEAR_AND_FAR

REQUESTS = {
    b"\x04": "the client speaks SOCKS 4, not 5",
    b"GET / HTTP/1.1\r\n\r\n": "the client does not speak SOCKS",
    b"\x05\x01\x02": "the client offers no authentication method that is allowed here",
    b"\x05\x01\x00\x05\x02\x00\x01\x7f\x02\x00\x0b\x00\x50": "the request is not CONNECT",
    b'\x05\x01\x00\x05\x01\x00\x03\x03a,"\x00\x50': "the target's host name is unknown",
    b"\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50": "the target belongs to no cluster",
    b"\x05\x01\x00\x05\x01\x00\x09": "the request has an unknown address type",
}


def test_each_wrong_request_is_a_row_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "t.yaml").write_text(NEAR_AND_FAR)
    with longhaul.relay.running(tmp_path / "t.yaml", runs=tmp_path / "runs") as relay:
        place = next(each.place for each in relay.listening if each.kind == "socks")
        for request in REQUESTS:
            with socket.create_connection(place, timeout=10) as client:
                client.sendall(request)
                while client.recv(100):
                    pass
    assert relay.result is not None
    rows = pq.read_table(relay.result.directory / "connections.parquet").to_pylist()
    assert [row["end"] for row in rows] == list(REQUESTS.values())
    summary = relay.result.summary
    assert summary["connections"]["accepted"] == len(REQUESTS)
    assert [each["what"] for each in summary["fidelity"]["reasons"]] == ["2 connections were refused"]
