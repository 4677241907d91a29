"""A driver for mqconform over the queue manager in memory_queue.py: one JSON object a line on stdin and stdout."""

import json
import queue
import sys
import threading
import time
from pathlib import Path

from memory_queue import CANCELLED, Manager, QueueError

facets = {}  # what hello declares: facet -> its methods
methods = {}  # "queues.create" -> the function that does it


def method(name):
    """Offer the function below under this name: nothing can be declared that is not there."""

    def offer(function):
        facet, _, short = name.rpartition(".")
        facets.setdefault(facet or "manager", []).append(short)
        methods[name] = function
        return function

    return offer


def write(**line):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
    sys.stdout.flush()


def answer(number, status=0, **members):
    write(id=number, result={"status": status, **members})


@method("hello")
def hello(number, params):
    global manager
    manager = Manager(Path(params["state_dir"]) / "queues.json")
    newest = "1.1" in params["versions"]
    answer(
        number,
        protocol="1.1" if newest else "1.0",
        name="memory",
        version="1",
        profile="msmq-4.0",
        computer="HOST",
        facets=facets,
        clock="real",
        slack_ms=500,
        **({"accepts": ACCEPTS} if newest else {}),
    )


@method("stop")
def stop(number, params):
    answer(number)
    sys.exit()


waiting = {}  # request -> the read that waits, and when its time is over


def serve():
    """Answer requests, and end reads whose time is over, until the input ends."""
    lines = queue.Queue()
    threading.Thread(target=listen, args=(lines,), daemon=True).start()
    while True:
        due = min((due for _, due in waiting.values()), default=None)
        try:
            line = lines.get(timeout=None if due is None else max(0, due - time.monotonic()))
        except queue.Empty:
            end_reads()
            continue
        if line is None:
            return
        request = json.loads(line)
        number, name = request["id"], request["method"]
        if name not in methods:
            write(id=number, error={"code": -32601, "message": f"no method {name}"})
            continue
        try:
            methods[name](number, request["params"])
        except QueueError as error:
            answer(number, error.code)


def listen(lines):
    """Reads stdin in a thread of its own, so that the loop can also wake for the clock."""
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)
