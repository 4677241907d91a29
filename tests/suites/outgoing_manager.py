"""An honest queue manager with queues on other computers, and variants that are not, each named after its defect."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from honest_memory import METHODS, OK, HonestManager, Refused

from conformance.suites.packets.messages import packet_of

NOT_ACTIVE = 0xC00E0004
FACETS = {**METHODS, "outgoing": ["pause", "resume", "take"]}
SOURCE = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"


class Outgoing(HonestManager):
    """Does what the documents say; what is on hold is forgotten in a restart."""

    keeps_hold = False

    def __init__(self, state_dir: Path) -> None:
        self.on_hold: set[str] = set()
        super().__init__(state_dir, FACETS)
        self.holds = Path(state_dir) / "holds.json"
        if self.keeps_hold and self.holds.exists():
            self.on_hold = set(json.loads(self.holds.read_text()))

    def clear(self) -> None:
        super().clear()
        self.on_hold = set()

    def keep(self) -> None:
        super().keep()
        if self.keeps_hold:
            self.holds.write_text(json.dumps(sorted(self.on_hold)))

    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        if "HOST\\" not in format_name and access == "send":
            self.queues.setdefault(format_name, {"tx": False, "list": []})
        return super().do_queues_open(format_name, access, share)

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        target = self.of(queue, "send")["queue"]
        if self.name(target) is not None and "HOST\\" not in str(self.name(target)):
            target["tx"] = transaction is not None
        return super().do_messages_send(queue, message, transaction)

    def name(self, queue: dict[str, Any]) -> str | None:
        return next((name for name, each in self.queues.items() if each is queue), None)

    def outgoing(self, format_name: str) -> dict[str, Any]:
        if format_name not in self.queues or "HOST\\" in format_name:
            raise Refused(NOT_ACTIVE)
        return self.queues[format_name]

    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        self.outgoing(format_name)
        self.on_hold.add(format_name)
        return OK

    def do_outgoing_resume(self, format_name: str) -> dict[str, Any]:
        self.outgoing(format_name)
        self.on_hold.discard(format_name)
        return OK

    def order(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return messages

    def do_outgoing_take(self, format_name: str) -> dict[str, Any]:
        queue = self.outgoing(format_name)
        if format_name in self.on_hold:
            return OK | {"packets": []}
        going = self.order([m for m in queue["list"] if m["state"] == "ready"])
        self.take_away(going)
        return OK | {"packets": [self.packet(format_name, m) for m in going]}

    def take_away(self, going: list[dict[str, Any]]) -> None:
        for m in going:
            m["state"] = "gone"

    def packet(self, format_name: str, m: dict[str, Any]) -> str:
        message = {name: m[name] for name in ("body", "label", "priority", "delivery")}
        message |= {"destination": format_name, "identifier": {"source": SOURCE, "ordinal": m["id"]}}
        message |= {"time_to_reach_queue": 345600}
        return base64.b64encode(packet_of(message)).decode()


class KeepsHold(Outgoing):
    """No defect: the other reading of a restart."""

    keeps_hold = True


class PauseIgnored(Outgoing):
    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        self.outgoing(format_name)
        return OK


class PauseDropsMessages(Outgoing):
    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        for m in self.outgoing(format_name)["list"]:
            m["state"] = "gone"
        return super().do_outgoing_pause(format_name)


class HoldsOnlyWhatWasThere(Outgoing):
    def do_outgoing_take(self, format_name: str) -> dict[str, Any]:
        if format_name not in self.on_hold:
            return super().do_outgoing_take(format_name)
        before = [m for m in self.queues[format_name]["list"] if m.get("held")]
        going = [m for m in self.queues[format_name]["list"] if m["state"] == "ready" and m not in before]
        self.take_away(going)
        return OK | {"packets": [self.packet(format_name, m) for m in going]}

    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        for m in self.outgoing(format_name)["list"]:
            m["held"] = True
        return super().do_outgoing_pause(format_name)


class SecondPauseResumes(Outgoing):
    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        again = format_name in self.on_hold
        super().do_outgoing_pause(format_name)
        return self.do_outgoing_resume(format_name) if again else OK


class ResumeIgnored(Outgoing):
    def do_outgoing_resume(self, format_name: str) -> dict[str, Any]:
        return OK


class ResumeOfUnpausedHolds(Outgoing):
    def do_outgoing_resume(self, format_name: str) -> dict[str, Any]:
        self.on_hold ^= {format_name}
        return OK


class ResumeResumesAll(Outgoing):
    def do_outgoing_resume(self, format_name: str) -> dict[str, Any]:
        self.on_hold.clear()
        return OK


class PauseStopsOtherQueues(Outgoing):
    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        self.on_hold |= {name for name in self.queues if "HOST\\" not in name}
        return OK


class PauseStopsLocalReads(Outgoing):
    def first(self, queue: dict[str, Any], after: Any = None) -> dict[str, Any] | None:
        return None if self.on_hold else super().first(queue, after)


class HeldMessagesGoTwice(Outgoing):
    def order(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return messages + [m for m in messages if m.get("held")]

    def do_outgoing_pause(self, format_name: str) -> dict[str, Any]:
        for m in self.outgoing(format_name)["list"]:
            m["held"] = True
        return super().do_outgoing_pause(format_name)


class TakenStays(Outgoing):
    def take_away(self, going: list[dict[str, Any]]) -> None:
        pass


class NewestFirst(Outgoing):
    def order(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(messages, key=lambda m: (-m["priority"], -m["seq"]))


class PriorityIgnored(Outgoing):
    def order(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(messages, key=lambda m: m["seq"])


class TransfersUncommitted(Outgoing):
    def do_outgoing_take(self, format_name: str) -> dict[str, Any]:
        for m in self.outgoing(format_name)["list"]:
            m["state"] = "ready" if m["state"] == "sending" else m["state"]
        return super().do_outgoing_take(format_name)


class OneQueueForAll(Outgoing):
    """One outgoing queue, whatever the name."""

    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        made = super().do_queues_open(format_name, access, share)
        if "HOST\\" not in format_name:
            first = next(queue for name, queue in self.queues.items() if "HOST\\" not in name)
            self.queues[format_name] = self.handles[made["queue"]]["queue"] = first
        return made


class WrongDestination(Outgoing):
    def packet(self, format_name: str, m: dict[str, Any]) -> str:
        return super().packet("DIRECT=OS:HOST\\private$\\other", m)


class WrongDestinationAfterRestart(Outgoing):
    def packet(self, format_name: str, m: dict[str, Any]) -> str:
        old = m["id"] <= self.began
        return super().packet("DIRECT=OS:ELSE\\private$\\other" if old else format_name, m)

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        self.began = self.number


class TransfersNothing(Outgoing):
    def do_outgoing_take(self, format_name: str) -> dict[str, Any]:
        self.outgoing(format_name)
        return OK | {"packets": []}


class TransfersRubbish(Outgoing):
    def packet(self, format_name: str, m: dict[str, Any]) -> str:
        return base64.b64encode(b"rubbish").decode()


class ForgetsDestinations(Outgoing):
    def do_hello(self, **asked: Any) -> dict[str, Any]:
        for name in [name for name in self.queues if "HOST\\" not in name]:
            del self.queues[name]
        return super().do_hello(**asked)
