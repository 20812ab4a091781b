"""What an isolated interpreter runs first: ``python -I launch.py IMPORT_PATH (MODULE | -c CODE) ARGUMENTS``.

Isolated, it knows the modules of its own installation only. ``IMPORT_PATH`` has the directories where the
parent found others, which are searched last; Longhaul itself is the parent's, wherever else there may be one.
"""

import atexit
import gc
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location


def collect_rarely() -> None:
    """Search for garbage rarely, and not when the process ends.

    Imports make many objects and little garbage. Searching them would be a tenth of a short process while it
    runs, and a fifth when it ends.
    """
    gc.set_threshold(250_000, 20, 20)
    atexit.register(gc.freeze)


def configure_libraries() -> None:
    """Choose what numpy and pyarrow do when they are imported later.

    numpy starts no threads for linear algebra, which is a tenth of its import. pyarrow takes memory as
    all others do: its own allocator keeps what is free, a tenth of the peak of a long run. Programs that are
    started from here inherit both, so this is for commands that start no users' programs.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def _load_longhaul() -> None:
    package = os.path.dirname(os.path.abspath(__file__))
    spec = spec_from_file_location(
        "longhaul", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["longhaul"] = module
    spec.loader.exec_module(module)


def main() -> None:
    """Become what the command line names."""
    collect_rarely()
    _launcher, paths, what, *arguments = sys.argv
    sys.path += [each for each in paths.split(os.pathsep) if each and each not in sys.path]
    _load_longhaul()
    if what == "-c":
        code, *arguments = arguments
        sys.argv = ["-c", *arguments]
        exec(compile(code, "<longhaul>", "exec"), {"__name__": "__main__"})
        return
    import runpy

    sys.argv = [what, *arguments]
    runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
