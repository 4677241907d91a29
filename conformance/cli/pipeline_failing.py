"""How each command of `mqconform pipeline` ends where it cannot go on: one sentence, and its exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conformance.cli.output import fail
from conformance.verdict import ExitCode


@contextmanager
def failing(left: str | None = None) -> Iterator[None]:
    """Report an error as one message and end the command with its exit code.

    left: how an interrupted command leaves the lake, a clause; None: nothing needs to be said of it.
    """
    from conformance.command_options import BadInput
    from conformance.pipeline.untrusted_files import PipelineError

    try:
        yield
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except PipelineError as error:
        fail(error.sentence, error.code)
    except KeyboardInterrupt:
        if left is None:
            raise
        fail(f"Interrupted; {left}.", ExitCode.INTERRUPTED)
