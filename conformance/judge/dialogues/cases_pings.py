"""Dialogues of pings (MS-MQQB 2.2.7, 3.1.7.7)."""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.packets import Values
from conformance.judge.dialogues.steps import (
    Case,
    Ping,
    handshake,
)

_OF_A_CLIENT: Final[Values] = {f"EstablishConnectionHeader.OperatingSystem.{bit}": 0 for bit in ("SE", "OS")}
"""A session behind a ping of a client."""
PINGS: Final[tuple[Case, ...]] = (
    Case(
        "answered",
        (
            *handshake(),
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping(wanted={"Ping.Flags.RC": (0, "MQQB-2.2.7.response-rc")}),
            Ping({"Ping.Flags.RC": 1}, {"Ping.Flags.RC": (1, "MQQB-2.2.7.response-rc")}),
            *handshake("after", request=_OF_A_CLIENT),
        ),
        (
            *(f"MQQB-2.2.7.{word}" for word in ("response-cookie", "response-qm-guid", "signature", "size")),
            "MQQB-2.1.2.response-address",
        ),
    ),
    Case(
        "unused-bits",
        (
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping({"Ping.Flags.X": 0x3FFF}, {"Ping.Flags.RF": (0, "MQQB-2.2.7.flags-ignored")}),
        ),
        packets="odd",
    ),
    Case(
        "another-signature",
        (
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping({"Ping.Signature": 0x4855}, ignored="MQQB-2.2.7.signature-ignored"),
            Ping(wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
        ),
        packets="malformed",
    ),
)
