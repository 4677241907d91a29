"""The end of a command: every exception becomes an exit code and one message."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence

from conformance import interrupts
from conformance.cli.output import said, tell
from conformance.cli.streams import CannotWrite
from conformance.process_tuning import hurry
from conformance.scratch import GONE, NoScratch, working_folder_gone
from conformance.verdict import ExitCode

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors of the machine when a file cannot be written; neither the command nor the driver is at fault."""
NO_NAME = frozenset({errno.ENAMETOOLONG, errno.ELOOP})
"""Errors for a name that no file can have; even asking whether it exists raises them."""
_SHOWN = 60  # characters of such a name in a message
_HELPING = frozenset({"--help", "--version"})
"""Options that work without a working folder."""


def run_to_the_end() -> int:
    """Run the command of the process's arguments. Returns its exit code; raises nothing."""
    hurry()
    try:
        code = _ended(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _told("Interrupted.", ExitCode.INTERRUPTED)
    except CannotWrite as error:
        code = _told(f"The output cannot be written ({error}).", ExitCode.BAD_INPUT)
    interrupts.work_is_over()
    return code


def _ended(arguments: Sequence[str]) -> int:
    if working_folder_gone() and not _HELPING.intersection(arguments):
        return _told(GONE, ExitCode.BAD_INPUT)
    try:
        from conformance.cli.app import app
        from conformance.cli.helping import command_of
        from conformance.cli.places import guard
        from conformance.cli.removed import successor

        gone = successor(arguments)
        if gone is not None:
            return _told(gone, ExitCode.BAD_INPUT)
        command = command_of(app)
        guard(command)
        command(prog_name="mqconform")
    except SystemExit as ended:
        if interrupts.behind(ended) and not said():
            raise KeyboardInterrupt from None
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception as error:
        return _failed(error)
    return int(ExitCode.CONFORMS)


def _failed(error: Exception) -> int:
    """Report an exception that no command handles, such as a full disk or our own defect. Returns the exit code."""
    from conformance.runlog.events import RunRecordError

    if interrupts.behind(error):
        raise KeyboardInterrupt from None
    if isinstance(error, RunRecordError):
        return _told(error.sentence, ExitCode.BAD_INPUT)
    if isinstance(error, NoScratch):
        return _told(str(error.strerror), ExitCode.BAD_INPUT)
    if isinstance(error, FileNotFoundError) and working_folder_gone():
        return _told(GONE, ExitCode.BAD_INPUT)
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        what = str(error.filename) if error.filename is not None else "A file"
        return _told(f"{what} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
    if isinstance(error, OSError) and error.errno in NO_NAME:
        name = str(error.filename) if error.filename is not None else "A name"
        short = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
        return _told(f"{short} cannot name a file or folder ({error.strerror}): give another one.", ExitCode.BAD_INPUT)
    # This is the outermost frame: anything else is our own defect, and the traceback helps to fix it.
    import traceback

    traceback.print_exc()
    sentence = f"This is a defect of mqconform, please report it: {type(error).__name__}"
    return _told(sentence, ExitCode.HARNESS_ERROR)


def _told(sentence: str, code: ExitCode) -> int:
    tell(sentence)
    return int(code)
