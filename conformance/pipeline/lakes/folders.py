"""The folder of a lake on this machine: nothing in it is a link, and one command at a time writes to it."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, folder, own
from conformance.pipeline.lakes.port import LOCK, STAGING, WATCH
from conformance.pipeline.log import STATE
from conformance.pipeline.schemas import TABLES


def own_folders(root: Path, more: Sequence[str] = ()) -> None:
    """Check that no folder of a lake, nor of a watch, is a link. Raises UnfitError."""
    own(root, (STATE, STAGING, LOCK, WATCH, *more, *TABLES))
    if folder(root / WATCH):
        watched = [one.name for one in (root / WATCH).iterdir()]
        own(root / WATCH, (f"{one}{below}" for one in watched for below in ("", "/seen", "/checkpoint", "/told")))


@contextmanager
def flocked(root: Path) -> Iterator[None]:
    """Hold the lock of a lake in a folder, which ends with the process. Raises PipelineError if another has it."""
    own_folders(root)
    number = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise UnfitError(f"has a {LOCK} that is not a file")
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PipelineError(f"Another command is writing to the lake {root}; wait for its end.") from None
        yield
    finally:
        os.close(number)
