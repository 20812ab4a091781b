"""Studies import the modules that all of them share."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "studies"))
