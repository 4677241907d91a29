"""Drivers that lie, break or wear out, each named after its defect: every one must get a verdict, none break a run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import memory_manager
import property_manager
from honest_properties import OK, Refused

INVALID_HANDLE = 0xC00E0007


class Sound(property_manager.Honest):
    """Nothing is wrong with it: the base of those below."""


class HandlesNobodyKnows(Sound):
    """Opens queues and then knows none of them."""

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        raise Refused(INVALID_HANDLE)

    def do_messages_peek(self, queue: str, timeout_ms: int) -> dict[str, Any]:
        raise Refused(INVALID_HANDLE)


class HandsOutOneHandleTwice(Sound):
    def do_queues_open(self, format_name: str, access: str, share: str = "") -> dict[str, Any]:
        self.queue(format_name)
        self.handles = {"h": format_name}
        return OK | {"queue": "h"}


class KnowsNamesAsTheyAreSpelled(memory_manager.RealClock):
    """Another spelling of a format name opens nothing, each time."""


class HandleIsAnObject(Sound):
    def do_queues_open(self, format_name: str, access: str, share: str = "") -> dict[str, Any]:
        return OK | {"queue": {"handle": 1}}


class HandleIsAMebibyte(Sound):
    def do_queues_open(self, format_name: str, access: str, share: str = "") -> dict[str, Any]:
        done = super().do_queues_open(format_name, access)
        self.handles[done["queue"] + "x" * (1 << 20)] = format_name
        return OK | {"queue": done["queue"] + "x" * (1 << 20)}


class MessageIsAList(Sound):
    def do_messages_peek(self, queue: str, timeout_ms: int) -> dict[str, Any]:
        super().do_messages_peek(queue, timeout_ms)
        return OK | {"message": ["body"]}


class BodyIsNoBase64(Sound):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        return super().made(message) | {"body": "not * base64"}


class PropertiesAreNested(Sound):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return [{"value": values[name]}]


class PropertiesAreFractions(Sound):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return values[name] + 0.5 if isinstance(values[name], int) else values[name]


class PropertiesAreHuge(Sound):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return 1 << 300 if isinstance(values[name], int) else values[name]


class TimesOfAnotherAge(Sound):
    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        return super().made(message) | {"sent_time": 1 << 200}

    def do_messages_peek(self, queue: str, timeout_ms: int) -> dict[str, Any]:
        message = super().do_messages_peek(queue, timeout_ms)["message"]
        return OK | {"message": message | {"arrival_time": 1 << 200}}


class NamesWithHalfACharacter(Sound):
    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return values[name] + "\ud800\0" if isinstance(values[name], str) else values[name]


class StatusIsText(Sound):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        return {"status": "MQ_OK"}


class StatusHas40Bits(Sound):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        return {"status": 1 << 40}


class StatusIsNegative(Sound):
    """As a signed number, which the protocol does not write."""

    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        try:
            return super().do_queues_get(format_name, properties)
        except Refused as refused:
            return {"status": refused.status - (1 << 32)}


class FailsWithWhatNobodyListed(Sound):
    """A status that is no code of MSMQ's."""

    def check(self, name: str, value: Any) -> None:
        try:
            super().check(name, value)
        except Refused:
            raise Refused(0xDEADBEEF) from None


class AnswersTooLate(Sound):
    """Past the deadline; what it says then must not be read as the answer to the next call."""

    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1.5)
        return super().do_queues_set(format_name, properties)


class ClockRunsBackwards(Sound):
    def do_clock_now(self) -> dict[str, Any]:
        self.time -= 60_000
        return super().do_clock_now()

    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        self.time -= by_ms
        return OK | {"time_ms": self.time}


class ClockIsNegative(Sound):
    def do_clock_now(self) -> dict[str, Any]:
        return OK | {"time_ms": -5}


class ClockOfReadsRunsBackwards(memory_manager.HonestManager):
    """Reads that wait never end by time passing: it goes the other way."""

    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        return super().do_clock_advance(-by_ms)


class GrowsUntilMemoryEnds(Sound):
    """Keeps something of every call, in a process that may not grow much."""

    def __init__(self, state_dir: Path) -> None:
        import resource

        super().__init__(state_dir)
        self.hoard: list[bytearray] = []
        limit = 400 << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        self.hoard.append(bytearray(32 << 20))
        return super().do_queues_get(format_name, properties)


class EachAnswerIsLonger(Sound):
    """Until one line is more than a line may be."""

    def shown(self, name: str, values: dict[str, Any]) -> Any:
        self.number += 1
        return "x" * (self.number << 14) if name == "LABEL" else values[name]


class ForgetsAtRandom(Sound):
    """Every third creation has not happened, whichever it is."""

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        done = super().do_queues_create(path_name, properties)
        self.number += 1
        if self.number % 3 == 0:
            del self.queues[done["format_name"]]
        return done


class RaisesInTheMiddle(Sound):
    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError("quota per queue")


class OffersWhatItLacks(Sound):
    def do_hello(self, **_: Any) -> dict[str, Any]:
        hello = super().do_hello()
        facets = {**hello["facets"], "queues": [*hello["facets"]["queues"], "purge"], "cursors": ["open", "close"]}
        return hello | {"facets": facets}
