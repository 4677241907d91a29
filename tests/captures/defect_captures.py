"""Captures with a message that a rule with a defect raises at (`fakes/rule_that_raises`)."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import build_captures
import build_packets
import build_tcp
import pytest

from conformance.captures import packet_rules as engine

FAKE = Path(__file__).parent / "fakes" / "rule_that_raises"
BAD_PACKET = 7
"""The packet of `asking` that asks for trouble: four open the session, two messages stand before it."""


def plant(patch: pytest.MonkeyPatch) -> None:
    """Put the defect into this process."""
    patch.setattr(engine, "judge_dissected", engine.judge_dissected)
    spec = importlib.util.spec_from_file_location("rule_that_raises", FAKE / "sitecustomize.py")
    assert spec is not None and spec.loader is not None
    fake = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fake)
    fake.plant(engine)


def asking(path: Path, mark: str = "does nothing", *, later: int = 0, port: int = 50_001, fails: bool = False) -> Path:
    """A capture with four messages, the third of them odd enough to be looked at whoever judges. later: seconds.

    fails: the second one breaks a rule.
    """
    capture = build_tcp.Capture((build_captures.START + later) * build_tcp.NS)
    connection = build_tcp.Connection.open(capture, (build_captures.ALPHA, port), (build_captures.BETA, 1801))
    stamp, null = 86_400_000, build_packets.NULL_GUID
    managers = build_captures.ALPHA_QM, build_captures.BETA_QM
    connection.send(0, build_packets.establish(managers[0], null, stamp, session=1, server_class=1))
    connection.send(1, build_packets.establish(*managers, stamp, session=1, server_class=1, fill=0x5A))
    connection.send(0, build_packets.parameters(500, 20000))
    connection.send(1, build_packets.parameters(500, 20000))
    for number in range(4):
        text = mark if number == 2 else f"message {number}"
        message = build_captures.message(7001 + number, "orders", f"order {number}", text)
        if number == 2:
            message = replace(message, acks=0xF0)
        if number == 1 and fails:
            message = replace(message, message_class=0x1234)
        connection.send(0, message.bytes())
    connection.close(0)
    path.write_bytes(capture.pcap())
    return path
