"""Idioms of MC-MQAC's objects (fixtures/objects/idioms.toml): read, played to a driver, and told to `mqconform repro`.

Only what an answer must be by the document is compared: see the head of the file of idioms.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.client import Client
from conformance.adapter.session import Result
from conformance.verdict import Json

FILE = Path(__file__).parents[2] / "fixtures" / "objects" / "idioms.toml"
NODE = f"stdio:node '{FILE.parents[2] / 'adapters' / 'activex-node' / 'driver.js'}'"
EVENTS = "d7d6e078-dccd-11d0-aa4b-0060970debae"
LEFT_OUT: Json = {"vt": "ERROR", "value": 0x80020004}
NO_CLASS = 0x80040154
NO_MESSAGE = {0xC00E0088, 0xC00E0008, 0xC00E001B}  # the text prints 0xC00E0008 beside MQ_ERROR_MESSAGE_NOT_FOUND
KINDS = {"put": "put", "putref": "putref", "get": "get", "call": "method"}


@dataclass(frozen=True, slots=True)
class Idiom:
    """A sequence of calls. source: where programs are seen to make it. steps: as the file has them."""

    name: str
    source: str
    says: str
    steps: tuple[Mapping[str, Any], ...]


class NoClass(Exception):
    """The driver has no such class."""


def idioms() -> list[Idiom]:
    """All idioms of the file."""
    return [Idiom(**{**each, "steps": tuple(each["steps"])}) for each in tomllib.loads(FILE.read_text())["idiom"]]


def variant(value: Any) -> Json:
    """The VARIANT of a value of the file that is no object."""
    if isinstance(value, dict):
        return value
    vt = "BOOL" if isinstance(value, bool) else "I4" if isinstance(value, int) else "BSTR"
    return {"vt": vt, "value": value}


def plain(value: Any) -> Any:
    """What two VARIANTs are compared by: their type does not matter where the file gives a bare number or text."""
    return value if value.get("vt") == "ARRAY" else value.get("value")


@dataclass(slots=True)
class Player:
    """Plays one idiom. wrong: what the driver answered that the document does not allow."""

    client: Client
    queue: str
    kept: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    fired: list[tuple[Any, str]] = field(default_factory=list)

    def play(self, idiom: Idiom) -> list[str]:
        """Play it, up to the first answer that is wrong; returns that. Raises NoClass."""
        for step in idiom.steps:
            self._step(step)
            if self.wrong:
                break
        return self.wrong

    def _step(self, step: Mapping[str, Any]) -> None:
        if "new" in step:
            self._make(step)
        elif "advise" in step:
            values = {"object": self.kept[step["advise"]]["value"], "sink": "events", "iid": EVENTS}
            self._check(step, self.client.call("objects.advise", **values))
        elif "advance_ms" in step and "call" not in step:
            self.client.call("clock.advance", by_ms=step["advance_ms"])
        elif "fires" in step:
            self._fires(step)
        else:
            self._invoke(step)

    def _make(self, step: Mapping[str, Any]) -> None:
        result = self.client.call("objects.create", **{"class": step["new"]})
        if result.status == NO_CLASS:
            raise NoClass(step["new"])
        self._check(step, result)
        self.kept[step["as"]] = {"vt": "DISPATCH", "value": result.values["object"]}

    def _invoke(self, step: Mapping[str, Any]) -> None:
        kind = next(each for each in KINDS if each in step)
        name, member = step[kind].split(".")
        given = step.get("with", [step["value"]] if kind in ("put", "putref") else [])
        call = self.client.start(
            "objects.invoke",
            object=self.kept[name]["value"],
            member=member,
            kind=KINDS[kind],
            arguments=[self._argument(each) for each in given],
        )
        self.client.wait_blocked_or_done(call, 5_000)
        if not call.done and "advance_ms" in step:
            self.client.call("clock.advance", by_ms=step["advance_ms"])
        result = call.result(5_000)
        self._check(step, result)
        if result.ok and "as" in step:
            self.kept[step["as"]] = result.values.get("value")
            if plain(self.kept[step["as"]] or {}) is None:
                self.wrong.append(f"{dict(step)}: it gives nothing")
        if kind == "get" and "value" in step and result.ok:
            expected = self._argument(step["value"])
            if plain(result.values["value"]) != plain(expected):
                self.wrong.append(f"{dict(step)}: it is {result.values['value']}")

    def _argument(self, value: Any) -> Json:
        if value == "-":
            return LEFT_OUT
        if value == "@nothing":
            return {"vt": "DISPATCH", "value": None}
        if isinstance(value, str) and value.startswith("@"):
            return self.kept[value[1:]]
        if isinstance(value, str):
            return variant(self.named(value))
        return variant(value)

    def named(self, text: str) -> str:
        """The text with the driver's computer and the queue of this idiom."""
        return text.replace("{computer}", self.client.hello.computer).replace("{queue}", self.queue)

    def _check(self, step: Mapping[str, Any], result: Result) -> None:
        answers, status = step.get("answers", "success"), result.status
        empty = result.ok and (result.values.get("value") or {}).get("value") is None
        right = {
            "success": result.ok,
            "refused": not result.ok,
            "open": True,
            "no message": status in NO_MESSAGE or empty,
        }
        if not (right[answers] if answers in right else status == int(answers, 16)):
            self.wrong.append(f"{dict(step)}: it answers {status and hex(status)}")

    def _fires(self, step: Mapping[str, Any]) -> None:
        self.client.poll(200)
        self.fired += [(event.object, event.name) for event in self.client.events()]
        expected = (self.kept[step["of"]]["value"], step["fires"])
        if expected not in self.fired:
            self.wrong.append(f"{dict(step)}: these were fired: {self.fired}")
        else:
            self.fired.remove(expected)


CLASSES = {
    "MSMQQueueInfo",
    "MSMQQueue",
    "MSMQMessage",
    "MSMQTransactionDispenser",
    "MSMQTransaction",
    "MSMQDestination",
}


def repro(idiom: Idiom) -> dict[str, Json] | None:
    """The idiom as a file of `mqconform repro`, whose scene `client` judges every call.

    None where it has steps that such a file or the scene lacks: events, time, values kept for later.
    """
    acts: list[Json] = []
    for step in idiom.steps:
        if "new" in step:
            if step["new"] not in CLASSES:
                return None
            acts.append({"object": step["as"], "class": step["new"]})
            continue
        kind = next((each for each in KINDS if each in step), None)
        if kind is None or "advance_ms" in step or (kind == "get" and "as" in step and step["as"] in _values(idiom)):
            return None
        name, member = step[kind].split(".")
        given = step.get("with", [step["value"]] if kind in ("put", "putref") else [])
        act: dict[str, Json] = {"object": name, "member": member, "kind": KINDS[kind]}
        act["arguments"] = [_told(each) for each in given]
        if "as" in step:
            act["gives"] = step["as"]
        acts.append(act)
    return {
        "format": 1,
        "fingerprint": idiom.name,
        "suite": "objects",
        "test": f"objects/idioms::{idiom.name}",
        "profile": "msmq-4.0",
        "level": "must",
        "reading_set": "windows",
        "chosen": {},
        "seed": 0,
        "verdict": {
            "requirement": "MQAC-3.10.4.1.28.return-s-ok",
            "outcome": "fail",
            "subject": "",
            "expected": None,
            "actual": None,
        },
        "story": [],
        "parts": [],
        "repro": {"kind": "objects", "acts": acts, "scene": "client"},
    }


def _values(idiom: Idiom) -> set[str]:
    """Names of what is kept and is no object: it is an argument or is compared later, which a repro file cannot say."""
    objects = {step[kind].split(".")[0] for step in idiom.steps for kind in KINDS if kind in step}
    return {step["as"] for step in idiom.steps if "get" in step and "as" in step} - objects


def _told(value: Any) -> Json:
    if value == "-":
        return LEFT_OUT
    if value == "@nothing":
        return {"vt": "DISPATCH", "value": None}
    if isinstance(value, str) and value.startswith("@"):
        return {"vt": "DISPATCH", "value": value[1:]}
    if isinstance(value, str):
        return variant(value.replace("{computer}", "$computer").replace("{queue}", "$queue"))
    return variant(value)


def need_node() -> None:
    """Skip where Node.js is not installed; in CI it has to be."""
    if shutil.which("node") is None:
        if os.environ.get("CI"):
            pytest.fail("node is not installed", pytrace=False)
        pytest.skip("node is not installed")
