"""Sends this process a signal at a moment that is named, not timed: when it does something for the first time.

MQ_MOMENT is an audit event and a part of what it is about (`import typer`, `open run-main.ndjson`), or `#1234` for the
1234th event of all; with `2:` before it the second such event counts. MQ_SIGNAL is the signal, which for SIGINT goes to
the whole process group, as a terminal sends it. `#0` sends nothing, and writes how many events there were to the file
MQ_COUNTED.
"""

import os
import pathlib
import signal
import sys

_moment = os.environ.pop("MQ_MOMENT", "")
_times = 1
if _moment[1:2] == ":":
    _times, _moment = int(_moment[0]), _moment[2:]
_number = int(getattr(signal, os.environ.pop("MQ_SIGNAL", "SIGINT")))
_kind, _, _about = _moment.partition(" ")
_wanted = int(_kind[1:]) if _kind.startswith("#") else None
_counted = os.environ.pop("MQ_COUNTED", "")
_seen = 0
_sent = False


def _strike():
    global _sent
    _sent = True
    if _number == signal.SIGINT:
        os.killpg(0, _number)
    else:
        os.kill(os.getpid(), _number)


def _look(event, arguments):
    global _seen, _times
    if _sent or os.getpid() != _own or "conformance.cli" not in sys.modules:
        return
    _seen += 1
    if _wanted is not None:
        if _seen == _wanted:
            _strike()
    elif event == _kind and any(_about in str(each) for each in arguments[:2]):
        _times -= 1
        if not _times:
            _strike()


def _tell():
    pathlib.Path(_counted).write_text(str(_seen))


if _moment:
    _own = os.getpid()
    if _counted:
        import atexit

        atexit.register(_tell)
    sys.addaudithook(_look)
