"""The wire protocol between client and server before a measurement: lines of text, and authentication.

    server   longhaul-trace 1 NONCE open|token
    client   PROOF {"do": ..., ...}
    server   {"ok": true, ...}  or  {"error": ...}

The proof is the HMAC-SHA256 (RFC 2104) of nonce and request under the token, which so never travels; without
a token it is ``-``. What follows depends on the request.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

LONGEST_LINE = 4096
_WORD = "longhaul-trace"
_VERSION = 1
_GREETING = re.compile(rf"{_WORD} (\d{{1,4}}) ([0-9a-f]{{32}}) (open|token)")
_MOST_TOKEN = 4096

Json = dict[str, Any]


class WrongLineError(ValueError):
    """A line that is not of this protocol."""


@dataclass(frozen=True)
class Greeting:
    """The first line of a server."""

    nonce: str
    wants_token: bool


def write_greeting(nonce: bytes, *, wants_token: bool) -> bytes:
    """The line; ``nonce`` has 16 bytes."""
    return f"{_WORD} {_VERSION} {nonce.hex()} {'token' if wants_token else 'open'}\n".encode()


def read_greeting(line: bytes) -> Greeting:
    """Raises :class:`WrongLineError`."""
    found = _GREETING.fullmatch(line.decode("ascii", "replace"))
    if found is None:
        raise WrongLineError("it answers, but it is not a trace server")
    if int(found[1]) != _VERSION:
        raise WrongLineError(f"its protocol is version {found[1]}, ours is {_VERSION}")
    return Greeting(found[2], found[3] == "token")


def write_request(request: Mapping[str, Any], greeting: Greeting, secret: bytes | None) -> bytes:
    """The line that asks for something."""
    text = json.dumps(request, separators=(",", ":"))
    proof = _proof(secret, greeting.nonce, text) if secret and greeting.wants_token else "-"
    return f"{proof} {text}\n".encode()


def read_request(line: bytes, nonce: str, secret: bytes | None) -> Json | None:
    """The request; ``None`` if its proof is wrong. Raises :class:`WrongLineError`."""
    proof, _, text = line.decode("ascii", "replace").partition(" ")
    if not re.fullmatch(r"-|[0-9a-f]{64}", proof):
        raise WrongLineError("no request")
    if secret is not None and not hmac.compare_digest(proof, _proof(secret, nonce, text)):
        return None
    return read_object(text.encode())


def write_object(content: Mapping[str, Any]) -> bytes:
    """A line of JSON."""
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def read_object(line: bytes) -> Json:
    """An object of JSON; raises :class:`WrongLineError`."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise WrongLineError("not JSON") from None
    if not isinstance(content, dict):
        raise WrongLineError("not a JSON object")
    return content


def whole(content: Mapping[str, Any], key: str, least: int, most: int) -> int:
    """A number of a request that came from outside; raises :class:`WrongLineError`."""
    value = content.get(key)
    if type(value) is not int or not least <= value <= most:
        raise WrongLineError(f"{key} is not a number from {least} to {most}")
    return value


def read_token(path: Path | None) -> bytes | None:
    """The shared secret in a file, without white space around it; raises :class:`LonghaulError`."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            secret = file.read(_MOST_TOKEN + 1).strip()
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file with the shared token", exit_code=2
        ) from None
    if not secret or len(secret) > _MOST_TOKEN:
        remedy = f"write a token of 1 to {_MOST_TOKEN} bytes into it, for example of openssl rand -hex 32"
        raise LonghaulError(
            Code.PASSWORD_INVALID, f"{path}: there is no token in it", remedy=remedy, exit_code=2
        )
    return secret


def _proof(secret: bytes, nonce: str, text: str) -> str:
    return hmac.new(secret, f"{nonce} {text}".encode(), hashlib.sha256).hexdigest()
