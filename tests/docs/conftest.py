"""Documents are checked by the modules that write them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "studies"), str(ROOT / "bench")]
