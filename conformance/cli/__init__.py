"""The command line: arguments in, calls out. Every command does its own imports, so that `--help` starts at once."""

from __future__ import annotations

import atexit
import gc
import os

from conformance.verdict import ExitCode

_YOUNG = 50_000  # objects after which the collector looks for garbage


def main() -> None:
    """Entry point of `mqconform`. Ends the process with one of the exit codes of the README."""
    _hurry()
    from conformance.cli.app import app
    from conformance.cli.output import fail, outlive_readers

    outlive_readers()
    try:
        app(prog_name="mqconform")
    except KeyboardInterrupt:
        fail("Interrupted.", ExitCode.INTERRUPTED)
    except Exception as error:
        # The outermost frame: what arrives here is our own defect, and the trace is for whoever mends it.
        import traceback

        traceback.print_exc()
        fail(f"This is a defect of mqconform, please report it: {type(error).__name__}", ExitCode.HARNESS_ERROR)


def _hurry() -> None:
    """Spend no time on what a process that does one thing and ends does not need.

    What is imported is no garbage, and goes with the process; and no command has the large matrices for which numpy's
    library starts a thread on each core.
    """
    gc.set_threshold(_YOUNG, 20, 50)
    atexit.register(gc.freeze)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
