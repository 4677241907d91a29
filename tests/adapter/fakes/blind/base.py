"""A small correct driver, which the hostile ones beside it are made from; by the name `base` it is the control, with no defect.

Every process of it ends by itself: after 170 s, after 60 s of CPU time, or 10 s after its parent has gone.
"""

import json
import os
import re
import resource
import select
import signal
import sys
import threading
import time
from pathlib import Path

NOT_FOUND, EXISTS, PARAMETER, HANDLE, CANCELLED = 0xC00E0003, 0xC00E0005, 0xC00E0006, 0xC00E0007, 0xC00E0008
PATH_NAME, TIMEOUT, FORMAT_NAME, DENIED, DELETED = 0xC00E0014, 0xC00E001B, 0xC00E001E, 0xC00E0025, 0xC00E005A
ENDLESS, MB = 0xFFFFFFFF, 1 << 20
NAME = r"(?:\.|HOST)\\((?:private\$\\)?[^\\;+,\"\x00-\x1f]{1,124})"


def guard(seconds=170, watch=True):
    """Let this process end by itself, whatever it does: by time, by CPU time, and soon after its parent."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    parent = os.getppid()

    def look():
        while os.getppid() == parent:
            time.sleep(2)
        time.sleep(8)
        os._exit(0)

    if watch:
        threading.Thread(target=look, daemon=True).start()


def alive():
    """How many processes there are of this very driver, its children and other instances included."""
    found, mine = 0, Path("/proc/self/cmdline").read_bytes()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found += (folder / "cmdline").read_bytes() == mine
        except OSError:
            pass
    return found


def child(does, seconds=60, daemon=False):
    """Fork a child that ends by itself after some seconds at most; a daemon is a grandchild in a session of its own. At most 30 live."""
    if alive() >= 30:
        return 0
    number = os.fork()
    if number:
        if daemon:
            os.waitpid(number, 0)
        return number
    if daemon:
        os.setsid()
        if os.fork():
            os._exit(0)
    guard(min(seconds, 115), watch=False)
    try:
        does()
    finally:
        os._exit(0)


def push(data, fd=1):
    """Write all of it; whoever reads no more ends this process."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view):]
        except BlockingIOError:
            select.select([], [fd], [], 1)
        except OSError:
            os._exit(0)


def flood(chunk, total=1 << 30, fd=1):
    """Write a chunk again and again, total bytes of it at most."""
    for _ in range(total // len(chunk)):
        push(chunk, fd)


class Refused(Exception):
    """What the queue manager refuses, with its HRESULT."""


class Driver:
    facets = {"manager": ["hello", "attach", "reset", "stop"], "queues": ["create", "delete", "open", "close", "purge", "counts"],
              "messages": ["send", "receive", "peek", "cancel"]}
    accepts = {"message": ["body", "label", "priority", "delivery"], "properties": [], "access": ["send", "receive", "peek"],
               "share": ["deny_none"], "format_names": []}
    clock, time_ms, slack_ms, settle_ms = "real", 1767225600000, 500, 0

    def __init__(self):
        self.asked, self.count, self.names, self.given, self.last = 0, {}, {}, {}, 0
        self.queues, self.handles, self.waiting, self.state, self.space = {}, {}, {}, None, ""

    # What the hostile drivers change:
    def started(self):
        """Before anything is read."""

    def before(self, number, name, params):
        """A request has come; true if nothing more is to be done about it."""

    def after(self, number, name, result):
        """What is answered instead of this result; None: nothing."""
        return result

    def ended(self):
        """The input has ended."""

    def run(self):
        guard()
        self.started()
        rest = b""
        while True:
            due = min((due for *_, due in self.waiting.values()), default=float("inf"))
            wait = None if self.clock == "virtual" or due == float("inf") else max(0, due - self.now()) / 1000
            ready = select.select([0], [], [], wait)[0]
            self.end_reads()
            if not ready:
                continue
            data = os.read(0, MB)
            if not data:
                return self.ended()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.request(json.loads(line))

    def request(self, request):
        number, name, params = request["id"], request["method"], request["params"]
        self.asked += 1
        self.count[name] = self.count.get(name, 0) + 1
        self.names[number] = name
        if self.before(number, name, params):
            return
        does = getattr(self, "do_" + name.replace(".", "_"), None)
        if does is None:
            return self.line(id=number, error={"code": -32601, "message": "no method " + name})
        try:
            result = does(number, params)
        except Refused as refused:
            result = {"status": refused.args[0]}
        if result is not None:
            self.answer(number, result)

    def answer(self, number, result):
        result = self.after(number, self.names.pop(number, ""), result)
        if result is not None:
            self.line(id=number, result=result)

    def line(self, **members):
        push(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")

    def event(self, name="Arrived", *arguments):
        self.line(method="event", params={"object": "o1", "name": name, "arguments": list(arguments)})

    def now(self):
        return self.time_ms if self.clock == "virtual" else time.monotonic() * 1000

    # The queue manager:
    def file(self):
        return Path(self.state, f"state-{self.space.encode('utf-8', 'replace').hex()[:80]}.json")

    def save(self):
        kept = {name: [m for m in messages if m["delivery"] == "recoverable"] for name, messages in self.queues.items()}
        try:
            self.file().with_suffix(".new").write_text(json.dumps([self.last, kept]))
            self.file().with_suffix(".new").replace(self.file())
        except OSError:
            pass

    def load(self):
        try:
            self.last, self.queues = json.loads(self.file().read_text())
        except (OSError, ValueError):
            self.queues = {}

    def hello(self, params):
        new = "1.1" in params["versions"]
        more = {"protocol": "1.1", "accepts": self.accepts} if new else {"protocol": "1.0"}
        return {"status": 0, **more, "name": "hostile", "version": "1", "profile": "msmq-4.0", "computer": "HOST", "facets": self.facets,
                "clock": self.clock, "slack_ms": self.slack_ms, "settle_ms": self.settle_ms}

    def do_hello(self, number, params):
        self.state = os.path.abspath(params["state_dir"])
        self.load()
        self.restarted = not self.first("started")
        return self.hello(params)

    def first(self, name):
        """Is this the first time that this is asked in this state folder, restarts included?"""
        try:
            os.close(os.open(Path(self.state, "first-" + name), os.O_CREAT | os.O_EXCL))
        except OSError:
            return False
        return True

    def do_attach(self, number, params):
        self.space = params["namespace"]
        self.load()
        return {"status": 0}

    def do_reset(self, number, params):
        for other in list(self.waiting):
            self.end_read(other, CANCELLED)
        self.queues, self.handles = {}, {}
        self.save()
        return {"status": 0}

    def do_stop(self, number, params):
        self.answer(number, {"status": 0})
        sys.exit()

    def queue(self, text, pattern, wrong):
        match = re.fullmatch(pattern + NAME, text, re.IGNORECASE)
        if not match:
            raise Refused(wrong)
        return match[1].lower()

    def do_queues_create(self, number, params):
        name = self.queue(params["path_name"], "", PATH_NAME)
        if name in self.queues:
            raise Refused(EXISTS)
        self.queues[name] = []
        self.save()
        return {"status": 0, "format_name": "DIRECT=OS:" + re.sub(r"^\.", "HOST", params["path_name"])}

    def known(self, params):
        name = self.queue(params["format_name"], "DIRECT=OS:", FORMAT_NAME)
        if name not in self.queues:
            raise Refused(NOT_FOUND)
        return name

    def do_queues_delete(self, number, params):
        messages = self.queues.pop(self.known(params))
        for other, (waits, *_) in list(self.waiting.items()):
            if waits is messages:
                self.end_read(other, DELETED)
        self.save()
        return {"status": 0}

    def do_queues_open(self, number, params):
        self.handles[number] = self.queues[self.known(params)], params["access"]
        return {"status": 0, "queue": number}

    def opened(self, params, *allowed):
        if params["queue"] not in self.handles:
            raise Refused(HANDLE)
        messages, access = self.handles[params["queue"]]
        if not any(messages is there for there in self.queues.values()):
            raise Refused(DELETED)
        if access not in allowed:
            raise Refused(DENIED)
        return messages

    def do_queues_close(self, number, params):
        if params["queue"] not in self.handles:
            raise Refused(HANDLE)
        del self.handles[params["queue"]]
        for other, (_, handle, *_) in list(self.waiting.items()):
            if handle == params["queue"]:
                self.end_read(other, CANCELLED)
        return {"status": 0}

    def do_queues_purge(self, number, params):
        self.opened(params, "receive").clear()
        self.save()
        return {"status": 0}

    def do_queues_counts(self, number, params):
        return {"status": 0, "messages": len(self.queues[self.known(params)])}

    def do_messages_send(self, number, params):
        messages, message = self.opened(params, "send"), {"body": "", "label": "", "priority": 3, "delivery": "express", **params["message"]}
        if not 0 <= message["priority"] <= 7:
            raise Refused(PARAMETER)
        self.last += 1
        message["lookup_identifier"] = str((7 - message["priority"] << 56) + self.last)
        messages.append(message)
        messages.sort(key=lambda m: int(m["lookup_identifier"]))
        for other, (waits, handle, takes, due) in list(self.waiting.items()):
            if waits is messages and messages:
                del self.waiting[other]
                self.answer(other, {"status": 0, "message": messages.pop(0) if takes else messages[0]})
        self.save()
        return {"status": 0}

    def read(self, number, params, takes):
        messages = self.opened(params, "receive", *([] if takes else ["peek"]))
        if messages:
            result = {"status": 0, "message": messages.pop(0) if takes else messages[0]}
            self.save()
            return result
        if params["timeout_ms"] == 0:
            raise Refused(TIMEOUT)
        due = float("inf") if params["timeout_ms"] == ENDLESS else self.now() + params["timeout_ms"]
        self.waiting[number] = messages, params["queue"], takes, due
        self.line(method="pending", params={"id": number})

    def do_messages_receive(self, number, params):
        return self.read(number, params, True)

    def do_messages_peek(self, number, params):
        return self.read(number, params, False)

    def do_messages_cancel(self, number, params):
        if params["request"] not in self.waiting:
            raise Refused(NOT_FOUND)
        self.end_read(params["request"], CANCELLED)
        return {"status": 0}

    def end_read(self, number, status):
        del self.waiting[number]
        self.answer(number, {"status": status})

    def end_reads(self):
        for number, (*_, due) in list(self.waiting.items()):
            if due <= self.now():
                self.end_read(number, TIMEOUT)

    def do_clock_now(self, number, params):
        return {"status": 0, "time_ms": int(self.now())}

    def do_clock_advance(self, number, params):
        self.time_ms += params["by_ms"]
        self.end_reads()
        return {"status": 0, "time_ms": self.time_ms}


class VirtualDriver(Driver):
    """The same on a virtual clock."""

    clock = "virtual"
    facets = {**Driver.facets, "clock": ["now", "advance"]}
