"""`adapter check` walks the facet `sessions`, and tells a driver what it does wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from suites.session_peer import Peer

from conformance.adapter.check import CheckStep, check_adapter


class Nameless(Peer):
    """Gives no session a name of its own."""

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super().sessions_open(params), "session": "S1"}


class Denying(Peer):
    """Answers another failure where nobody connects."""

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        made = super().sessions_open(params)
        return made if "session" in made else {"status": 0xC00E0006}


class Telling(Peer):
    """Tells of packets that never came."""

    def sessions_received(self, params: dict[str, Any]) -> dict[str, Any]:
        return {**super().sessions_received(params), "packets": [{"bytes": "AAAA", "at_ms": 1}]}


def steps(driver: type[Peer], tmp_path: Path) -> list[CheckStep]:
    found = check_adapter(
        f"python:{driver.__module__}:{driver.__name__}", state_dir=tmp_path, in_process=True, patience_ms=50
    )
    return [one for one in found if one.what.startswith("sessions.")]


def test_each_method_is_tried(tmp_path: Path) -> None:
    found = steps(Peer, tmp_path)
    names = ("about", "open", "send", "received", "close", "ping")
    assert {one.what: one.state for one in found} == {f"sessions.{name}": "ok" for name in names}


@pytest.mark.parametrize(
    ("driver", "method", "told"),
    [
        (Nameless, "sessions.open", "a name of its own"),
        (Denying, "sessions.open", "MQ_ERROR_IO_TIMEOUT"),
        (Telling, "sessions.received", "on which nothing was sent"),
    ],
)
def test_what_is_wrong_is_told(driver: type[Peer], method: str, told: str, tmp_path: Path) -> None:
    wrong = [one for one in steps(driver, tmp_path) if one.state == "wrong"]
    assert [one.what for one in wrong] == [method] and told in wrong[0].text
