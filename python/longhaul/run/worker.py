"""The process that becomes a live run: started by :class:`longhaul.run.session.Session`.

It imports nothing but the compiled module, because it forks and moves into namespaces, which
wants one thread and little memory.
"""

import base64
import json
import os
import sys
from pathlib import Path


def main() -> int:
    """Read the orders from the first argument and run the plan."""
    from longhaul import _longhaul

    orders = json.loads(sys.argv[1])
    machines = orders["machines"]
    if machines is not None:
        machines["machines"] = [(each["name"], each["address"]) for each in machines["machines"]]
        with open(machines["key"], "rb") as key:
            machines["key"] = key.read().decode()
    if orders["keys"] is not None:
        with open(orders["keys"], "rb") as keys:
            for machine, key in zip(orders["kernel"]["machines"], json.loads(keys.read()), strict=True):
                machine["key"] = None if key is None else base64.b64decode(key)
    os.chdir(orders["cwd"])
    plan = Path(orders["plan"]).read_text(encoding="utf-8")
    return _longhaul.run_live(
        plan,
        directory=orders["directory"],
        run=orders["run"],
        line=orders["line"],
        client=orders["client"],
        socket=orders["socket"],
        keep=orders["keep"],
        scratch=orders["scratch"],
        memory_bytes=orders["memory_bytes"],
        kernel=orders["kernel"],
        foreign=orders["foreign"],
        machines=machines,
        shards=orders["shards"],
    )


if __name__ == "__main__":
    sys.exit(main())
