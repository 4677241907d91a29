"""Checks that a driver exists and can be started, made before any slow work begins."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
from importlib.machinery import PathFinder
from pathlib import Path

from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.templates import start_of


def look(connector: str, *, in_process: bool = False) -> None:
    """Raise for a `stdio:` command or a `python:` module that does not exist. Starts nothing.

    connector: a text that `connectors.launcher` accepts. Raises DriverUnusable or ConnectorError, as starting it would.
    """
    name, _, rest = connector.partition(":")
    if name == "stdio":
        why = not_startable(start_of(shlex.split(rest))[0])
        if why is not None:
            raise DriverUnusable(why)
    elif name == "python" and not in_process:
        top = rest.partition(":")[0].partition(".")[0]
        if not _importable(top):
            raise ConnectorError(f"there is no module {top}, which {rest} needs: check the name or PYTHONPATH")


def _importable(top: str) -> bool:
    try:
        here = PathFinder.find_spec(top, [str(Path.cwd())])  # the child looks here first
        return here is not None or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):  # Only the import itself can tell.
        return True


def not_startable(program: str) -> str | None:
    """Return one sentence why a program cannot be started; None if no reason is visible."""
    if os.sep not in program:
        if shutil.which(program) is None:
            return f"the driver {program} does not exist: no folder of PATH has it; for a file here write ./{program}"
        return None
    path = Path(program)
    if not path.exists():
        return f"the driver {program} does not exist: check the path in the connector"
    if path.is_dir():
        return f"the driver {program} is a folder: name the program in it"
    if not os.access(path, os.X_OK):
        return f"the driver {program} may not be executed: make it executable (chmod +x) or name its interpreter"
    return None
