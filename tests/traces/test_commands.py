"""The commands of traces, as a user meets them."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from longhaul.cli.main import longhaul
from longhaul.errors import LonghaulError

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def call(*arguments: str) -> Result:
    result = CliRunner().invoke(longhaul, ["trace", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def draw(name: str, *more: str) -> None:
    call("synthesise", "--rtt", "20ms", "--rtt-sd", "2ms", "--rate", "8Mbit", "--out", name, *more)


def test_list_names_each_set_and_where_it_is_from() -> None:
    text = call("list").stdout
    assert "longcut:eventspace" in text
    assert max(map(len, text.splitlines())) <= 80
    assert len(json.loads(call("list", "--json").stdout)[0]["kinds"][0]["links"]) == 20
    assert "Table VI" in call("list", "--provenance").stdout


def test_show_says_what_a_trace_comes_to() -> None:
    text = call("show", "longcut:constant/benedict-vvgw").stdout
    assert "benedict > vvgw, tool table, one row: constant" in text
    assert "36.98" in text
    (told,) = json.loads(call("show", "longcut:constant", "--link", "benedict:vvgw", "--json").stdout)
    assert (told["from"], told["rows"], told["columns"][0]["mean"]) == ("benedict", 1, 36.98)
    assert max(map(len, call("show", "longcut:eventspace").stdout.splitlines())) <= 80


def test_synthesise_writes_a_trace_and_says_how() -> None:
    draw("wan.csv", "--duration", "1min", "--seed", "7")
    text = call("show", "wan.csv", "--json").stdout
    (told,) = json.loads(text)
    assert (told["rows"], told["span_s"], told["columns"][1]["mean"]) == (60, 60.0, 8.0)
    beside = json.loads(Path("wan.json").read_text(encoding="utf-8"))
    assert (beside["tool"], beside["options"]["seed"], beside["rows"]) == ("synthetic", 7, 60)
    result = call("validate", "wan.csv")
    assert (result.exit_code, result.stdout) == (0, "wan.csv: good (60 rows)\n")


def test_a_table_of_ones_own_makes_a_trace_of_each_link() -> None:
    Path("t.csv").write_text(
        "# mine\nsrc,dst,rtt_ms,rtt_sd_ms,rate_mbit\npar,nyc,76,2,50\nnyc,par,77,,\n", encoding="utf-8"
    )
    call("synthesise", "--table", "t.csv", "--duration", "5s", "--out", "w.csv")
    there, back = json.loads(call("show", "w.csv", "--json").stdout)
    assert (there["from"], there["rows"], there["columns"][1]["mean"]) == ("par", 5, 50.0)
    assert (back["from"], back["columns"][0]["mean"], len(back["columns"])) == ("nyc", 77.0, 1)


def test_a_table_of_the_set_gives_other_draws_of_the_same_means() -> None:
    call(
        "synthesise",
        "--table",
        "longcut:eventspace",
        "--link",
        "benedict:vvgw",
        "--balanced",
        "--out",
        "w.csv",
    )
    (told,) = json.loads(call("show", "w.csv", "--json").stdout)
    assert told["columns"][1]["mean"] == pytest.approx(3.19, rel=0.002)


def test_convert_goes_all_ways_round() -> None:
    draw("wan.csv", "--duration", "10s")
    for first, second in (("wan.csv", "a.parquet"), ("a.parquet", "b.csv")):
        call("convert", first, "--out", second)
    assert Path("b.csv").read_bytes() == Path("wan.csv").read_bytes()
    call("convert", "wan.csv", "--out", "wan.up")
    # 8 Mbit/s for 10 s are 6666 packets of 12,000 bits.
    assert len(Path("wan.up").read_text(encoding="utf-8").split()) == 6666
    # Half of them in each half: 3333 x 12,000 bit in 5 s.
    assert call("convert", "wan.up", "--bin", "5s").stdout.splitlines()[-2:] == ["0,7.9992", "5,7.9992"]
    assert call("convert", "wan.csv", "--one-way").stdout.splitlines()[1] == "t_s,delay_ms,rate_mbit"


def test_stitch_resample_and_plot() -> None:
    draw("there.csv", "--duration", "10s")
    draw("back.csv", "--duration", "10s", "--seed", "2")
    call("stitch", "par:nyc=there.csv", "nyc:par=back.csv", "--out", "both.csv")
    assert [each["to"] for each in json.loads(call("show", "both.csv", "--json").stdout)] == ["nyc", "par"]
    rows = call("resample", "both.csv", "--link", "nyc:par", "--period", "5s", "--by", "median").stdout
    assert [line.partition(",")[0] for line in rows.splitlines()[2:]] == ["t_s", "0", "5"]
    for name, begins in (("w.png", b"\x89PNG"), ("w.svg", b"<?xml")):
        call("plot", "both.csv", "--out", name)
        assert Path(name).read_bytes().startswith(begins)


def test_validate_says_every_file_that_is_wrong() -> None:
    draw("good.csv", "--duration", "2s")
    Path("bad.csv").write_text("t_s,rtt_ms\n0,5\n0,6\n", encoding="utf-8")
    result = call("validate", "good.csv", "bad.csv", "gone.csv")
    assert result.exit_code == 2
    assert "good.csv: good (2 rows)" in result.stdout
    assert "bad.csv:3:1: the time is not later" in result.stdout
    assert "gone.csv: no such file" in result.stdout
    told = json.loads(call("validate", "bad.csv", "--json").stdout)
    assert told[0]["good"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "longcut:nsw"], 'longcut has no kind "nsw"; did you mean "nws"?'),
        (["show", "longcut:nws", "--link", "vvgw:ams"], "there is no link vvgw > ams; did you mean"),
        (["show", "longcut:nws", "--link", "vvgw"], '"vvgw" is not a link; write SOURCE:DESTINATION'),
        (
            ["plot", "longcut:nws/psgw-vvgw", "--out", "w.gif"],
            '"w.gif" ends in none of .svg, .pdf, .png, .csv',
        ),
        (["plot", "longcut:nws", "--out", "w.png"], "20 links are too many for a figure; choose one"),
        (["convert", "longcut:nws", "--out", "w.up"], "w.up has one link, not 20; name one with --link"),
        (["synthesise", "--rtt-sd", "2ms"], "--rtt-sd belongs to --rtt; add --rtt"),
        (["synthesise", "--table", "longcut:nws", "--rtt", "2ms"], "the table says --rtt; leave out one"),
        (["synthesise", "--table", "gone.csv"], "gone.csv: no such file or directory; name a CSV file"),
        (["synthesise", "--table", "bad.csv"], 'bad.csv:2: "x" is no rtt_ms; write a number'),
        (["synthesise", "--table", "odd.csv"], 'odd.csv:1: there is no column "rtt"; did you mean "rtt_ms"?'),
        (
            ["synthesise", "--rtt", "2ms", "--balanced", "--correlation", "2s"],
            "cannot be balanced; leave out one",
        ),
        (["stitch", "a=longcut:nws/psgw-vvgw"], '"a" is not a link; write SOURCE:DESTINATION'),
        (["stitch", "a:b=longcut:nws"], "longcut:nws has 20 links of its own; leave out a:b="),
        (["shwo"], 'there is no command "shwo"; did you mean "show"?'),
    ],
)
def test_what_cannot_be_is_one_line_with_a_remedy(arguments: list[str], said: str) -> None:
    Path("bad.csv").write_text("src,dst,rtt_ms\na,b,x\n", encoding="utf-8")
    Path("odd.csv").write_text("src,dst,rtt\na,b,5\n", encoding="utf-8")
    with pytest.raises(LonghaulError) as caught:
        call(*arguments)
    assert said in str(caught.value)
    assert caught.value.exit_code == 2


def test_an_error_in_a_trace_keeps_its_place_and_shows_its_code_once() -> None:
    Path("negative.csv").write_text("t_s,rtt_ms\n0,-5\n", encoding="utf-8")
    with pytest.raises(LonghaulError) as caught:
        call("show", "negative.csv")
    (problem,) = caught.value.diagnostics
    assert problem.span is not None
    assert (problem.file, problem.span.line, problem.span.column) == ("negative.csv", 2, 3)
    assert caught.value.headline.count(f"[{problem.code}]") == 1


def test_the_commands_of_the_guide_work() -> None:
    Path("wan.csv").write_text("", encoding="utf-8")
    text = (ROOT / "docs/how-to/traces.md").read_text(encoding="utf-8")
    commands = re.findall(r"^longhaul trace (.*)$", text, re.MULTILINE)
    assert len(commands) > 12
    rows = "".join(f"{at},par,nyc,80,9\n{at},nyc,par,80,9\n" for at in range(20))
    files = dict.fromkeys(("monday", "tuesday", "there", "back"), "t_s,rtt_ms,rate_mbit\n0,80,9\n1,81,9\n")
    for name, content in {**files, "wan": "t_s,src,dst,rtt_ms,rate_mbit\n" + rows}.items():
        Path(f"{name}.csv").write_text(content, encoding="utf-8")
    Path("verizon.down").write_text("1\n5\n1000\n", encoding="utf-8")
    for command in commands:
        more = ["--force"] if "--out" in command and not command.startswith("plot") else []
        arguments = command.split()
        assert call(*arguments, *more).exit_code == 0, command


def test_the_python_of_the_guide_works(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs/how-to/traces.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(code, "traces.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[1] == "rate_mbit 3.19 0.08"
