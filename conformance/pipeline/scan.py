"""What is asked for, and what is said, before a table of a lake is read."""

from __future__ import annotations

from importlib.util import find_spec

from conformance.pipeline.errors import PipelineError


def require_arrow() -> None:
    """Raise PipelineError if the package that reads and writes the tables is not installed."""
    if find_spec("pyarrow") is None:
        raise PipelineError("A lake needs pyarrow: install the extra with pip install 'mqconform[lake]'.")


def unreadable(root: str, table: str, problem: Exception) -> PipelineError:
    """Return the error for a file of a table that Arrow cannot read."""
    if isinstance(problem, FileNotFoundError):
        return PipelineError("The lake was changed while it was read; run the command again.")
    first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
    return PipelineError(f"The table {table} of the lake {root} cannot be read: {first.rstrip('.')}.")
