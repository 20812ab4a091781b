"""Requests about exports to real machines: their files, and the mapping of nodes to machines."""

import io
import shlex
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from longhaul import storage
from longhaul.export.files import Exported, export
from longhaul.export.machines import parse_machines
from longhaul.export.mapping import FILE, MachineEdit, edit_machines, map_machines
from longhaul.export.qdiscs import Kernel
from longhaul.page.bodies import ExportWish, MachinesText
from longhaul.page.json_requests import Asked
from longhaul.page.quantities import parse_quantity
from longhaul.page.refusals import as_problem
from longhaul.page.responses.export import ExportedFiles, MachinesMapped
from longhaul.page.responses.runs import Ticket
from longhaul.page.run_requests import Experiments
from longhaul.page.text_requests import Texts
from longhaul.units.quantities import Rate


@dataclass(frozen=True)
class Exports:
    """Answers about exports."""

    texts: Texts
    experiments: Experiments

    def export(self, _asked: Asked, body: ExportWish) -> ExportedFiles:
        """The files that set a scenario up on real machines."""
        made = self._export(body)
        words = ["longhaul", "export", body.kind, "SCENARIO"]
        words += ["--machines", FILE] if _takes_machines(body) else []
        words += ["--style", body.style] if body.style != "longhaul" else []
        return {
            "files": [{"path": path, "text": text} for path, text in made.files.items()],
            "warnings": [as_problem(each) for each in made.warnings],
            "command": shlex.join([*words, "--out", "scripts"]),
        }

    def archive(self, _asked: Asked, body: ExportWish) -> Ticket:
        """An address at which the same files can be downloaded as one, once."""
        made = self._export(body)
        name = f"{self.texts.resolved(body).plan['name']}-{body.kind}"
        place = Path(tempfile.mkdtemp(prefix="longhaul-export-")) / f"{name}.tar.gz"
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz") as archive:
            for path, text in made.files.items():
                entry = tarfile.TarInfo(f"{name}/{path}")
                entry.size, entry.mode = len(text.encode()), 0o755 if path.endswith(".sh") else 0o644
                archive.addfile(entry, io.BytesIO(text.encode()))
        storage.replace_bytes(place, content.getvalue())
        return self.experiments.admit(place, is_ours=True)

    def machines(self, _asked: Asked, body: MachinesText) -> MachinesMapped:
        """The mapping to machines as a table, after edits, and everything that is wrong with it."""
        resolved, kernel = self.texts.resolved(body), Kernel()
        text = body.machines
        for each in body.edits:
            edited = MachineEdit(each.op, each.machine, each.column, each.link, each.text)
            text = edit_machines(text, [edited], map_machines(text, resolved, kernel=kernel))
        found = map_machines(text, resolved, kernel=kernel)
        return {
            "text": text,
            "rows": [
                {
                    "name": row.name,
                    "is_link": row.is_link,
                    "address": row.address,
                    "user": row.user,
                    "devices": [{"link": link, "device": device} for link, device in row.devices.items()],
                    "is_written": row.is_written,
                }
                for row in found.rows
            ],
            "links": list(found.links),
            "problems": [as_problem(each) for each in found.problems],
        }

    def _export(self, body: ExportWish) -> Exported:
        return export(
            self.texts.resolved(body),
            body.kind,
            machines=parse_machines(body.machines.encode(), name=FILE) if _takes_machines(body) else None,
            kernel=Kernel(body.hz, parse_quantity(Rate, body.line_rate).bits_per_s),
            style=body.style,
            image=body.image if body.kind == "containerlab" else None,
        )


def _takes_machines(body: ExportWish) -> bool:
    return bool(body.machines.strip()) and body.kind not in ("containerlab", "compose")
