"""The content of repro files: calls of the suite of cursors, with what the run knew of them."""

from __future__ import annotations

from typing import Any

SETUP = [
    {"method": "queues.create", "queue": "q1"},
    {"method": "queues.open", "name": "s", "queue": "q1", "access": "send"},
    {"method": "queues.open", "name": "r", "queue": "q1", "access": "receive"},
    {"method": "messages.send", "message": "a", "handle": "s"},
]
RECEIVE = {"method": "messages.receive", "handle": "r"}
TWO = ({"method": "messages.send", "message": "b", "handle": "s"}, RECEIVE, RECEIVE)
PEEK = {"method": "messages.peek_by_lookup_id", "handle": "r", "message": "a", "action": "current"}


def content(*calls: dict[str, Any], story: tuple[str, ...] = ("send 'a' to q1 -> ok",)) -> dict[str, Any]:
    return {
        "format": 1,
        "suite": "cursors",
        "test": "t",
        "profile": "msmq-4.0",
        "level": "must",
        "reading_set": "windows",
        "chosen": {},
        "seed": 0,
        "asked": {"connector": "embedded+receive-returns-second-message", "name": "embedded"},
        "before": {"starts": 0, "examples": []},
        "alone": True,
        "verdict": {
            "requirement": "MQDMPR-3.1.7.1.10.removes",
            "outcome": "fail",
            "subject": "messages.receive",
            "expected": {"message": "a"},
            "actual": {"message": "b"},
        },
        "story": list(story),
        "repro": {"kind": "calls", "format": 1, "calls": [*SETUP, *calls]},
    }
