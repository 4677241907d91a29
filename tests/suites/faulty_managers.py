"""Managers with more than one defect, or with one that does not always show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from honest_memory import Refused
from memory_manager import AbortLosesMessage, ForgetsLabel, HonestManager, RealClock, WrongTimeoutStatus


class ThreeDefects(AbortLosesMessage, WrongTimeoutStatus):
    """Loses what an aborted transaction received, and has another status for no message, and one for no cursor."""

    def do_cursors_close(self, cursor: str) -> dict[str, Any]:
        super().do_cursors_close(cursor)
        return {"status": 0xC00E0007}


class ForgetsLabelNowAndThen(ForgetsLabel):
    """Forgets every seventh label it shows, whatever was asked."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        self.shows = 0

    def shown(self, m: dict[str, Any]) -> dict[str, Any]:
        self.shows += 1
        return super().shown(m) if self.shows % 7 == 0 else HonestManager.shown(self, m)


class CrashesAtThirdMessage(HonestManager):
    """Raises, as a driver written in a hurry does."""

    def do_messages_send(self, **params: Any) -> dict[str, Any]:
        if sum(len(queue["list"]) for queue in self.queues.values()) >= 2:
            raise IndexError("no room for a third")
        return super().do_messages_send(**params)


class AnswersNothing(HonestManager):
    """Never answers a peek."""

    def do_messages_peek(self, **params: Any) -> None:
        return None


class RefusalLosesMessage(HonestManager):
    """Refuses a peek-next with another code, and loses the first message with it."""

    def do_messages_peek_next(self, **params: Any) -> dict[str, Any] | None:
        try:
            return super().do_messages_peek_next(**params)
        except Refused:
            for message in self.of(params["queue"], "receive", "peek")["queue"]["list"]:
                if message["state"] == "ready":
                    message["state"] = "gone"
                    break
            raise Refused(0xC00E0001) from None


class WrongRefusalAtFirst(RealClock):
    """Refuses its first two creations of a queue that is there already with another code, and later ones rightly."""

    wrong = 2

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return super().do_queues_create(path_name, properties)
        except Refused:
            self.wrong -= 1
            if self.wrong >= 0:
                raise Refused(0xC00E0001) from None
            raise


class WrongRefusal(WrongRefusalAtFirst):
    """Refuses them all so."""

    wrong = 1 << 30
