"""Runs commands in processes of their own, forked from one that has loaded what commands load.

A command starts as `python -m conformance` does, with its own arguments, folder, environment and streams, and ends as
that does; only what it would import is there already, which is most of the time of a short command. Which modules a
command needs is shown by the tests that start it for itself: tests/pages runs every command in the base install.

`commands.py` is the other end. One request at a time: its file descriptors with the parameters, then the answers
`{"pid": ...}` and `{"status": ...}`. Ends when the connection does.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import random
import runpy
import socket
import sys
from importlib import import_module
from typing import Any

# Conformance tests are imported by pytest; extras start threads, which a fork leaves behind.
_NOT_LOADED = ("test_", "columns", "pipeline", "spark", "jit", "__main__", "embedded", "parquet")
_LOADED = ("pytest", "hypothesis.strategies", "hypothesis.stateful", "jinja2", "rich.console", "rich.table")


def load() -> None:
    """Import what commands import."""
    import conformance

    for name in _LOADED:
        import_module(name)
    for module in pkgutil.walk_packages(conformance.__path__, "conformance.", onerror=lambda name: None):
        if not any(part.startswith(word) for part in module.name.split(".") for word in _NOT_LOADED):
            import_module(module.name)


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Fork a process for each request. Returns in each with what it is to do, and in the server at the end."""
    while True:
        head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        if not head:
            return None
        size = int.from_bytes(head, "little")
        request: dict[str, Any] = json.loads(connection.recv(size, socket.MSG_WAITALL))
        pid = os.fork()
        if pid == 0:
            for at, descriptor in enumerate(descriptors):
                os.dup2(descriptor, at)
                os.close(descriptor)
            connection.close()
            return request
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(b'{"pid": %d}\n' % pid)
        _, status = os.waitpid(pid, 0)
        connection.sendall(b'{"status": %d}\n' % os.waitstatus_to_exitcode(status))


def run(request: dict[str, Any]) -> None:
    """Be the process that `python -m MODULE ARGUMENTS` would be."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv[1:] = request["arguments"]
    sys.path[0] = request["cwd"]
    random.seed()
    try:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        _end_at_once[:] = [ended.code or 0] if isinstance(ended.code, int | None) else []
        raise


_end_at_once: list[int] = []
"""The exit code of a command that has nothing more to say: to take all apart that was loaded would take long."""


@atexit.register  # the first, so it runs last
def _ended() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    for code in _end_at_once:
        os._exit(code)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as here:
        load()
        gc.collect()
        gc.freeze()
        wanted = serve(here)
    if wanted is None:
        _end_at_once.append(0)
    else:
        run(wanted)
