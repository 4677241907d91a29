"""Driver classes for the python: connector, good and bad."""

import sys

HELLO = {
    "status": 0, "protocol": "1.0", "name": "hosted", "version": "1", "profile": "msmq-4.0", "computer": "HOST",
    "facets": {"manager": ["hello", "reset", "stop"], "clock": ["now", "advance"]}, "clock": "virtual",
}  # fmt: skip


class Hosted:
    def __init__(self, state_dir):
        self.state_dir = state_dir
        self.waiting = None
        print("this goes to the log, not to the protocol")

    def handle(self, method, params, reply, pending):
        if method == "hello":
            reply(HELLO)
        elif method == "clock.now":
            pending()
            self.waiting = reply
        elif method == "clock.advance":
            if self.waiting:
                self.waiting({"status": 0, "time_ms": 1})
            reply({"status": 0, "time_ms": 2})
        else:
            reply({"status": 0})


class Raises(Hosted):
    def handle(self, method, params, reply, pending):
        if method == "reset":
            raise KeyError("no such queue")
        super().handle(method, params, reply, pending)


class RaisesWhenMade(Hosted):
    def __init__(self, state_dir):
        raise OSError("disk full")


class Chatty(Hosted):
    def handle(self, method, params, reply, pending):
        print("handling", method)
        sys.stdout.flush()
        super().handle(method, params, reply, pending)


class NoHandle:
    pass
