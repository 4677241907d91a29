"""The command line: arguments in, calls out. Every command does its own imports, so that `--help` starts at once."""

from __future__ import annotations

from conformance.hurry import hurry
from conformance.verdict import ExitCode


def main() -> None:
    """Entry point of `mqconform`. Ends the process with one of the exit codes of the README."""
    hurry()
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
