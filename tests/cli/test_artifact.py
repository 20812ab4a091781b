"""`longhaul artifact` and `longhaul reproduce`: what reviewers unpack, repeat and evaluate."""

import json
import tarfile
from pathlib import Path

import pytest

from .conftest import Command
from .unpacked import run_script, unpack, write_checksums

SCENARIO = """\
version: 1
name: traced
duration: 4s
params: {cc: cubic}
nodes:
  near: {kind: host}
  far: {kind: host}
links:
  wan:
    endpoints: [near, far]
    delay: 10ms
    queue: 192kB
    loss: 0.1%
    rate: {trace: ../down.csv, column: rate_mbit, at_end: loop}
traffic:
  bulk: {kind: tcp, from: near, to: far, cc: $cc}
expect:
  - {metric: flows.bulk.goodput, min: 1Mbit}
"""


@pytest.fixture
def simulated(work: Path, longhaul: Command) -> Path:
    """Three runs that differ in the seed, of a scenario with a parameter and a file in another directory."""
    (work / "down.csv").write_text("t_s,rate_mbit\n0,50\n1,100\n2,80\n", encoding="utf-8")
    (work / "sub").mkdir()
    (work / "sub/traced.yaml").write_text(SCENARIO, encoding="utf-8")
    for seed in "123":
        options = ("--set", "cc=reno", "--seed", seed, *(() if seed == "1" else ("--no-report",)))
        assert longhaul("sim", "sub/traced.yaml", *options).returncode == 0
    # What is repeated is in the directories alone.
    (work / "down.csv").unlink()
    (work / "sub/traced.yaml").unlink()
    return work / "runs/traced"


def publish(artifact: Path, *, goodput: float) -> None:
    """Let another version have made the runs: other digests, and `goodput` times the goodput."""
    for path in artifact.glob("runs/1/*/summary.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["simulation"]["digest"] = "of another version"
        content["flows"][0]["goodput_bits_per_s"] *= goodput
        path.write_text(json.dumps(content), encoding="utf-8")
        (path.parent / "manifest.json").unlink(missing_ok=True)
    write_checksums(artifact)


def test_an_artifact_repeats_and_evaluates_itself(work: Path, longhaul: Command, simulated: Path) -> None:
    options = ("--title", "Two rates", "--author", "A. Author", "--license", "CC-BY-4.0")
    made = longhaul("artifact", "runs/traced", *options)
    assert made.returncode == 0, made.stderr
    assert "runs: 3" in made.stdout
    artifact = unpack(work / "traced-artifact.tar.gz", work / "elsewhere")
    readme = (artifact / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# Two rates\n\nA. Author, ")
    for part in (
        "| flows.bulk.goodput is at least 1 Mbit/s |",
        "| traced, cc=reno | simulated | 1, 2, 3 | `longhaul sim scenario.yaml --set cc=reno --seed 1` |",
        "| traced, cc=reno | flows.bulk.goodput | ",
    ):
        assert part in readme
    assert "license: CC-BY-4.0" in (artifact / "CITATION.cff").read_text(encoding="utf-8")
    assert "numpy==" in (artifact / "requirements.txt").read_text(encoding="utf-8")
    assert {each.name for each in artifact.glob("LICENSE*")} == {"LICENSE-APACHE", "LICENSE-MIT"}

    again = run_script(artifact)
    assert again.returncode == 0, again.stderr
    assert "traced, cc=reno (sim): identical" in again.stdout
    results = json.loads((artifact / "reproduction/results.json").read_text(encoding="utf-8"))
    assert results["reproduced"]
    assert [group["verdict"] for group in results["groups"]] == ["identical"]
    assert "Reproduced." in (artifact / "reproduction/README.md").read_text(encoding="utf-8")


def test_equal_runs_give_equal_archives(work: Path, longhaul: Command, simulated: Path) -> None:
    for name in ("one", "other"):
        (work / name).mkdir()
        assert longhaul("artifact", "runs/traced", "--output", f"{name}/a.tar.gz").returncode == 0
    assert (work / "one/a.tar.gz").read_bytes() == (work / "other/a.tar.gz").read_bytes()


def test_what_is_beyond_its_tolerance_is_not_reproduced(
    work: Path, longhaul: Command, simulated: Path
) -> None:
    assert longhaul("artifact", "runs/traced").returncode == 0
    artifact = unpack(work / "traced-artifact.tar.gz", work)
    publish(artifact, goodput=1)
    found = run_script(artifact)
    assert found.returncode == 0, "the means are equal"
    assert "within the tolerance" in found.stdout
    publish(artifact, goodput=2)
    found = run_script(artifact)
    assert found.returncode == 1
    assert "different" in found.stdout
    assert "beyond" in found.stdout
    assert "| **beyond** |" in (artifact / "reproduction/README.md").read_text(encoding="utf-8")
    wide = run_script(artifact, "--tolerance", "flows.*.goodput=60%")
    assert wide.returncode == 0, wide.stdout


def test_a_damaged_artifact_repeats_nothing(work: Path, longhaul: Command, simulated: Path) -> None:
    assert longhaul("artifact", "runs/traced").returncode == 0
    artifact = unpack(work / "traced-artifact.tar.gz", work)
    scenario = next(artifact.glob("runs/1/*/scenario.yaml"))
    scenario.write_text(scenario.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    found = run_script(artifact)
    assert found.returncode == 2
    assert f"{scenario.name} is damaged; unpack the archive again [E2206]" in found.stderr
    scenario.unlink()
    found = run_script(artifact)
    assert found.returncode == 2
    assert "scenario.yaml: No such file or directory; unpack the archive again [E2206]" in found.stderr
    assert not (artifact / "reproduction").exists()


def test_the_artifact_of_another_version_says_so(work: Path, longhaul: Command, simulated: Path) -> None:
    assert longhaul("artifact", "runs/traced").returncode == 0
    artifact = unpack(work / "traced-artifact.tar.gz", work)
    (artifact / "artifact.json").write_text('{"version": 2}', encoding="utf-8")
    write_checksums(artifact)
    found = longhaul("reproduce", "traced-artifact")
    assert found.returncode == 2
    assert "artifact.json: version: input should be 1; use the version of Longhaul" in found.stderr


@pytest.mark.parametrize("place", ["../runs/traced", "/etc", "runs/../../runs/traced"])
def test_a_run_outside_of_the_artifact_is_refused(
    work: Path, longhaul: Command, simulated: Path, place: str
) -> None:
    assert longhaul("artifact", "runs/traced/latest-sim").returncode == 0
    artifact = unpack(work / "traced-artifact.tar.gz", work)
    about = json.loads((artifact / "artifact.json").read_text(encoding="utf-8"))
    about["groups"][0]["runs"] = [place]
    (artifact / "artifact.json").write_text(json.dumps(about), encoding="utf-8")
    write_checksums(artifact)
    found = longhaul("reproduce", "traced-artifact")
    assert found.returncode == 2
    assert "artifact.json: groups: is not the name of a file or directory in the artifact" in found.stderr


def test_a_run_that_is_named_twice_is_bundled_once(work: Path, longhaul: Command, simulated: Path) -> None:
    found = longhaul("artifact", "runs/traced/latest-sim", "runs/traced", "--output", "a.tar.gz")
    assert "runs: 3" in found.stdout, found.stderr
    with tarfile.open(work / "a.tar.gz") as packed:
        runs = [name for name in packed.getnames() if name.endswith("/plan.json")]
    assert len(runs) == 3


def test_a_run_is_repeated_from_its_directory(work: Path, longhaul: Command, simulated: Path) -> None:
    found = longhaul("reproduce", "runs/traced/latest-sim", "--json")
    assert found.returncode == 0, found.stderr
    (group,) = json.loads(found.stdout)["groups"]
    assert (group["name"], group["verdict"]) == ("traced, cc=reno", "identical")
    record = json.loads((simulated / "latest-sim/run.json").read_text(encoding="utf-8"))
    assert (record["seed"], record["settings"], record["files"]) == (
        3,
        {"cc": "reno"},
        {"../down.csv": "inputs/down.csv"},
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["artifact", "."], "has none in it"),
        (["artifact", "runs/traced/latest", "--tolerance", "5"], '"5" has no unit; write "5%"'),
        (["artifact", "runs/traced/latest", "--tolerance", "goodputt=5%"], 'there is no metric "goodputt"'),
        (["artifact", "runs/traced/latest", "--metric", "latency"], 'there is no metric "latency"'),
        (["artifact"], "Missing argument 'STUDY|RUN...'"),
        (["reproduce", "."], "has none in it"),
        (["reproduce", "nothing"], "does not exist"),
    ],
)
def test_wrong_arguments_are_one_error(
    work: Path, longhaul: Command, simulated: Path, arguments: list[str], words: str
) -> None:
    before = sorted(work.rglob("*"))
    found = longhaul(*arguments)
    assert found.returncode == 2
    assert words in found.stderr
    assert "Traceback" not in found.stderr
    assert sorted(work.rglob("*")) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "interrupted", "reason": "its user interrupted it"}, "it did not end by itself"),
        ({"status": "stopped", "reason": None}, "it did not end by itself: its user stopped it"),
        ({"settings": None}, "did not record its parameters"),
        ({"mode": "relay"}, "it is a relay"),
    ],
)
def test_what_cannot_be_repeated_says_why(
    work: Path, longhaul: Command, simulated: Path, changes: dict[str, str | None], words: str
) -> None:
    path = (simulated / "latest-sim").resolve() / "run.json"
    record = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    if record["settings"] is None:
        del record["settings"]
    path.write_text(json.dumps(record), encoding="utf-8")
    for command in ("artifact", "reproduce"):
        found = longhaul(command, "runs/traced/latest-sim")
        assert found.returncode == 2
        assert words in found.stderr
        assert "[E2205]" in found.stderr


def test_a_damaged_run_is_not_bundled(work: Path, longhaul: Command, simulated: Path) -> None:
    (simulated / "latest-sim/links.parquet").write_bytes(b"nothing")
    found = longhaul("artifact", "runs/traced/latest-sim")
    assert found.returncode == 2
    assert "links.parquet is damaged" in found.stderr
    assert not list(work.glob("*.tar.gz"))
