"""The files of results: ``claims.json`` with what each part found, and a CSV file for each table."""

import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.storage import replace_text
from longhaul.studies.provenance import sentence

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


def write_part(folder: Path, figures: Path, study: str, name: str, how: str, part: Mapping[str, Any]) -> None:
    """Replace the results of a part among those of the others; ``figures``: where the pictures go."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f"# longhaul study {study}, part {name}, {how}: {sentence(part['provenance'])}"
    for table, rows in part["tables"].items():
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as out:
            out.write(f"{head}\n")
            writer = csv.DictWriter(out, fieldnames=columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    for figure, (made, data) in part["figures"].items():
        sources = ", ".join(f"{each}.csv {digest(folder / f'{each}.csv')}" for each in data)
        about = {"Title": f"study {study}, part {name}", "Source": sources, "Software": "longhaul"}
        figures.mkdir(parents=True, exist_ok=True)
        made.savefig(figure_path(figures, study, figure), dpi=140, metadata=about)
    data = {
        **part,
        "tables": list(part["tables"]),
        "figures": {key: found[1] for key, found in part["figures"].items()},
    }
    parts = {**read_results(folder), name: data}
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
