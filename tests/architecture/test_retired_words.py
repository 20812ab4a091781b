"""tools/retired-words, which tools/check runs on the repository, finds a retired word where there is one."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools/retired-words"


def retired_words(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)


def repository(path: Path, files: dict[str, str]) -> Path:
    """A Git repository that tracks these files."""
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=path, check=True)
    subprocess.run(["git", "add", "--all"], cwd=path, check=True)
    return path


def test_a_retired_word_is_reported_with_its_line_and_replacement(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        {"a.py": "x = 1\n# The gap to the\n# packet before.\n", "b.md": "It waited for a processor.\n"},
    )
    result = retired_words("--root", str(root))
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "b.md:1: 'waited for a processor' is retired; write CPU wait",
        "a.py:2: 'gap to the # packet before' is retired; write inter-packet gap error",
    ]


def test_generated_text_lock_files_and_results_are_not_read(tmp_path: Path) -> None:
    word = "waited for a processor\n"
    skipped = {
        "Cargo.lock": word,
        "fuzz/corpus/plan/one": word,
        "studies/pacing/results/claims.json": word,
        "bench/live.json": word,
        "python/longhaul/page/static/index.js": word,
        "page.md": f"<!-- data: x -->{word}<!-- /data -->\n",
    }
    assert retired_words("--root", str(repository(tmp_path, skipped))).returncode == 0


def test_count_lists_every_word_and_does_not_fail(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.md": "It waited for a processor and was held against another.\n"})
    result = retired_words("--count", "--root", str(root))
    assert result.returncode == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert sum(int(line[0]) for line in lines) == 2
