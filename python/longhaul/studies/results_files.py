"""The files of results: ``claims.json`` with what each part found, and a CSV file for each table."""

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.storage import replace_text
from longhaul.studies.provenance import sentence

if TYPE_CHECKING:
    from longhaul.report.mpl import Figure

RESULTS = "claims.json"
Json = dict[str, Any]


def read_results(folder: Path) -> dict[str, Json]:
    """The results of each part by its name; none without a file. Raises LonghaulError for a damaged one."""
    path = folder / RESULTS
    if not path.is_file():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))["parts"])
    except (ValueError, KeyError, TypeError) as error:
        raise LonghaulError(
            Code.RESULTS_DAMAGED,
            f"{path} is not a file of results ({error})",
            remedy="remove it, and run the study again",
        ) from error


def write_part(
    folder: Path,
    figures: Path,
    study: str,
    name: str,
    how: str,
    part: Mapping[str, Any],
    *,
    paper: Path | None = None,
) -> None:
    """Replace the results of a part among those of the others.

    ``figures``: where the pictures go; ``paper``: the file with the paper's values, which they show.
    """
    folder.mkdir(parents=True, exist_ok=True)
    head = f"# longhaul study {study}, part {name}, {how}: {sentence(part['provenance'])}"
    for table, rows in part["tables"].items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as out:
            out.write(f"{head}\n")
            writer = csv.DictWriter(out, fieldnames=columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    before = read_results(folder)
    known = before.get(name, {}).get("figures", {})
    data = {**part, "tables": list(part["tables"]), "figures": known}
    _write(folder, study, {**before, name: data})
    replace_figures(folder, figures, study, name, part["figures"], paper=paper)


def replace_figures(
    folder: Path,
    figures: Path,
    study: str,
    name: str,
    drawn: Mapping[str, tuple["Figure", Sequence[str]]],
    *,
    paper: Path | None = None,
) -> None:
    """Replace the pictures of a part; each says of which tables and of which paper file it was drawn."""
    figures.mkdir(parents=True, exist_ok=True)
    parts = read_results(folder)
    for gone in set(parts[name]["figures"]) - set(drawn):
        figure_path(figures, study, gone).unlink(missing_ok=True)
    for figure, (made, data) in drawn.items():
        sources = [folder / f"{each}.csv" for each in data]
        sources += [paper] if paper and paper.is_file() else []
        source = ", ".join(f"{each.name} {digest(each)}" for each in sources)
        about = {"Title": f"study {study}, part {name}", "Source": source, "Software": "longhaul"}
        made.savefig(figure_path(figures, study, figure), dpi=140, metadata=about)
    parts[name]["figures"] = {figure: list(data) for figure, (_made, data) in drawn.items()}
    _write(folder, study, parts)


def _write(folder: Path, study: str, parts: Mapping[str, Json]) -> None:
    text = json.dumps({"study": study, "parts": parts}, indent=1, ensure_ascii=False)
    replace_text(folder / RESULTS, f"{text}\n")


def figure_path(figures: Path, study: str, name: str) -> Path:
    """The picture of a study in the directory of pictures."""
    return figures / f"study-{study}-{name}.png"


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file of results."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def digest(path: Path) -> str:
    """The beginning of a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
