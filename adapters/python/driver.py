"""A driver for mqconform over the queue manager in memory_queue.py: one JSON object a line on stdin and stdout."""

import json
import queue
import sys
import threading
import time
from pathlib import Path

from memory_queue import CANCELLED, INVALID_HANDLE, IO_TIMEOUT, NOT_FOUND, Manager, QueueError

about = {"name": "memory", "version": "1", "profile": "msmq-4.0", "computer": "HOST"}  # for hello
facets = {}  # declared by hello: facet -> its methods
methods = {}  # "queues.create" -> its function
waiting = {}  # request -> the waiting read, and the end of its time-out
ACCEPTS = {  # the values that methods accept; a missing list means all values
    "message": ["body", "label", "priority", "delivery"],
    "properties": [],
    "access": ["send", "receive", "peek"],
    "share": ["deny_none"],
    "format_names": [],
}


def method(name):
    """Register the function below under this name, so that hello declares only methods that exist."""

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
    newest = "1.3" if "directory" in facets else "1.1"
    if newest in params["versions"]:
        answer(number, protocol=newest, facets=facets, accepts=ACCEPTS, clock="real", slack_ms=500, **about)
    else:
        answer(number, protocol="1.0", facets=facets, clock="real", slack_ms=500, **about)


@method("stop")
def stop(number, params):
    answer(number)
    sys.exit()


def listen(lines):
    """Read stdin in a separate thread, so that the loop can also wake at the end of a time-out."""
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)


def serve():
    """Answer requests, and end reads whose time-out has passed, until the input ends."""
    lines = queue.Queue()
    threading.Thread(target=listen, args=(lines,), daemon=True).start()
    while True:
        due = min((due for _, due in waiting.values()), default=float("inf"))
        try:
            line = lines.get(timeout=None if due == float("inf") else max(0, due - time.monotonic()))
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


handles = {}


def opened(number):
    if number not in handles:
        raise QueueError(INVALID_HANDLE)
    return handles[number]


@method("reset")
def reset(number, params):
    manager.reset()
    handles.clear()
    answer(number)


@method("queues.create")
def create_queue(number, params):
    answer(number, format_name=manager.create(params["path_name"]))


@method("queues.delete")
def delete_queue(number, params):
    manager.delete(params["format_name"])
    answer(number)


@method("queues.open")
def open_queue(number, params):
    handles[number] = manager.open(params["format_name"], params["access"])
    answer(number, queue=number)


@method("queues.close")
def close_queue(number, params):
    opened(params["queue"]).close()
    del handles[params["queue"]]
    answer(number)


@method("messages.send")
def send(number, params):
    message = params["message"]
    given = {name: message[name] for name in ("body", "label", "priority") if name in message}
    opened(params["queue"]).send(**given, recoverable=message.get("delivery") == "recoverable")
    answer(number)


def read(number, params, takes):
    def done(code, message):
        waiting.pop(number, None)
        if code:
            answer(number, code)
        else:
            answer(number, message=shown(message))

    read = opened(params["queue"]).read(takes, done)
    if read is not None:
        wait(number, read, params["timeout_ms"])


def shown(message):
    delivery = "recoverable" if message["recoverable"] else "express"
    return {**{name: message[name] for name in ("body", "label", "priority")}, "delivery": delivery}


def wait(number, read, timeout_ms):
    if timeout_ms == 0:
        read.end(IO_TIMEOUT)
        return
    endless = timeout_ms == 0xFFFFFFFF
    waiting[number] = read, float("inf") if endless else time.monotonic() + timeout_ms / 1000
    write(method="pending", params={"id": number})


def end_reads():
    for read, due in list(waiting.values()):
        if due <= time.monotonic():
            read.end(IO_TIMEOUT)


@method("messages.receive")
def receive(number, params):
    read(number, params, True)


@method("messages.peek")
def peek(number, params):
    read(number, params, False)


@method("messages.cancel")
def cancel(number, params):
    if params["request"] not in waiting:
        raise QueueError(NOT_FOUND)
    read, _ = waiting[params["request"]]
    read.end(CANCELLED)
    answer(number)


for facet in {"directory"}.intersection(sys.argv):  # others of this folder
    __import__(facet)


serve()
