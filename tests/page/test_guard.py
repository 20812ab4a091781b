"""Nobody but the page gets in."""

from pathlib import Path

import pytest

from longhaul.page.application import application
from longhaul.page.guard import MOST_BYTES, Guard
from longhaul.page.library import SCENARIOS

from .asgi import OURS, PORT, TOKEN, Answer, ask

HOST = OURS[0]
BEARER = OURS[1]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Guard:
    return application(tmp_path_factory.mktemp("page"), token=TOKEN, port=PORT)


def refused(answer: Answer, status: int) -> bool:
    told = answer.json["error"]
    return answer.status == status and bool(told["message"]) and bool(told["remedy"])


@pytest.mark.parametrize(
    "headers",
    [
        (HOST,),
        (HOST, ("authorization", "Bearer wrong")),
        (HOST, ("authorization", "Bearer")),
        (HOST, ("authorization", f"Basic {TOKEN}")),
        (HOST, ("authorization", f"Bearer {TOKEN}x")),
        (HOST, ("authorization", f"Bearer {TOKEN[:-1]}")),
        (HOST, ("cookie", f"token={TOKEN}")),
        (HOST, ("authorization", "Bearer wrong"), BEARER),
    ],
)
def test_without_the_token_nothing_is_told(app: Guard, headers: tuple[tuple[str, str], ...]) -> None:
    for path, method in (("/api/state", "GET"), ("/api/runs", "POST"), ("/api/events?run=a~b", "GET")):
        assert refused(ask(app, path, method=method, headers=headers), 401)
    assert refused(ask(app, f"/api/state?token={TOKEN}", headers=headers), 401)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1:{PORT}.evil",
        "",
        f"[::1]:{PORT}",
    ],
)
def test_another_host_is_not_this_server(app: Guard, host: str) -> None:
    assert refused(ask(app, "/api/state", headers=(("host", host), BEARER)), 421)
    assert refused(ask(app, "/", headers=(("host", host),)), 421)


def test_the_host_must_be_said_once(app: Guard) -> None:
    assert refused(ask(app, "/api/state", headers=(BEARER,)), 421)
    assert refused(ask(app, "/api/state", headers=(HOST, ("host", "evil.example"), BEARER)), 421)


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:1", "file://"]
)
def test_another_origin_is_refused_even_with_the_token(app: Guard, origin: str) -> None:
    assert refused(ask(app, "/api/state", headers=(*OURS, ("origin", origin))), 403)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_the_page_itself_gets_in(app: Guard, name: str) -> None:
    own = (("host", f"{name}:{PORT}"), BEARER, ("origin", f"http://{name}:{PORT}"))
    answer = ask(app, "/api/quantity", method="POST", headers=own, body={"kind": "delay", "text": "1ms"})
    assert answer.status == 200
    assert answer.json["value"] == 1_000_000


def test_a_body_that_is_too_large_is_refused_before_and_while_it_comes(app: Guard) -> None:
    said = (*OURS, ("content-length", str(MOST_BYTES + 1)))
    assert refused(ask(app, "/api/check", method="POST", headers=said, chunks=[b"{}"]), 413)
    chunks = [b" " * 65_536] * (MOST_BYTES // 65_536 + 1)
    assert refused(ask(app, "/api/check", method="POST", chunks=chunks), 413)
    lying = (*OURS, ("content-length", "minus"))
    assert refused(ask(app, "/api/check", method="POST", headers=lying, chunks=[b"{}"]), 413)


def test_a_body_of_the_largest_size_gets_in(app: Guard) -> None:
    answer = ask(app, "/api/check", method="POST", chunks=[b'{"text": ""}' + b" " * (MOST_BYTES - 12)])
    assert answer.status == 200


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b"\xff", b"[" * 100_000, b'{"text": 1}', b"{}"])
def test_a_body_that_is_no_request_is_refused(app: Guard, body: bytes) -> None:
    assert refused_or_not_said(ask(app, "/api/check", method="POST", chunks=[body]))


def refused_or_not_said(answer: Answer) -> bool:
    return answer.status == 400 and bool(answer.json["error"]["message"])


def test_every_answer_says_what_a_page_may_do(app: Guard) -> None:
    for path in ("/api/state", "/", "/nothing"):
        headers = ask(app, path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/..%2fguard.py", "/%2e%2e/guard.py", "/assets/../../guard.py"]
)
def test_no_path_leads_out_of_the_page(app: Guard, path: str) -> None:
    assert ask(app, path).status == 404


@pytest.mark.parametrize("name", ["..%2fx.yaml", "x.txt", ".x.yaml", "x", "%00.yaml", "a" * 100 + ".yaml"])
def test_files_of_other_names_are_not_written(app: Guard, name: str) -> None:
    answer = ask(app, f"/api/files/{name}", method="PUT", body={"text": "a", "etag": None})
    assert answer.status == 400
    assert "cannot name a file" in answer.json["error"]["message"]


def test_what_is_not_there_is_said(app: Guard) -> None:
    assert refused(ask(app, "/api/runs/a~20260101T000000Z-live-x"), 404)
    assert refused(ask(app, "/api/runs/..~20260101T000000Z-live-x"), 404)
    assert refused(ask(app, "/api/nothing"), 404)
    assert refused(ask(app, "/reports/guess"), 404)
    assert ask(app, "/api/state", method="DELETE").status == 404


def test_state_names_what_there_is_to_begin_with(app: Guard) -> None:
    state = ask(app, "/api/state").json
    assert {"empty", "pair", "clusters", "dumbbell"} <= {each["name"] for each in state["templates"]}
    assert "three-clusters" in {each["name"] for each in state["scenarios"]}
    assert Path(state["directory"]).is_dir()
    assert state["can"]["live"] is (state["can"]["why"] is None)


def test_every_template_is_right(app: Guard) -> None:
    for each in ask(app, "/api/state").json["templates"]:
        options = "&".join(f"{option['name']}={option['default']}" for option in each["options"])
        text = ask(app, f"/api/templates/{each['name']}?name=tried&{options}").json["text"]
        problems = ask(app, "/api/check", method="POST", body={"text": text}).json["problems"]
        told = [each["severity"] for each in problems]
        assert told == (["hint"] if each["name"] == "empty" else []), each["name"]


def test_the_scenarios_of_the_project_come_along_with_their_files() -> None:
    theirs = Path(__file__).parents[2] / "scenarios"
    for path in theirs.rglob("*"):
        # A wheel has the file that a link leads to, but follows no link to a directory.
        own = SCENARIOS / path.relative_to(theirs)
        assert own.is_dir() == path.is_dir(), f"ln -s it into {SCENARIOS}"
        assert own.is_dir() or own.resolve() == path
