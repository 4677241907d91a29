"""Dialogues of pings in which all bits, cookies and kinds of session meet (MS-MQQB 2.2.7, 3.1.7.7)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Final

from conformance.judge.dialogues.packets import STRANGER, Values
from conformance.judge.dialogues.steps import Answered, Case, Close, Connect, Establish, Ping, Step, handshake

_UNUSED: Final = (0, 0x0001, 0x2000, 0x1555, 0x2AAA, 0x3FFF)
"""Unused bits: none, the lowest, the highest, every other one, all."""
_COOKIES: Final = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
_MANAGERS: Final[tuple[Values, ...]] = ({}, {"Ping.QMGuid": STRANGER})


def _pinged(at: int, type_: int, refuses: int, unused: int) -> Ping:
    """Return a ping with these bits. at: its place, by which values of the other fields go round."""
    bits: Values = {"Ping.Flags.RC": type_, "Ping.Flags.RF": refuses, "Ping.Flags.X": unused}
    cookie = _COOKIES[at % len(_COOKIES)]
    accepts = "MQQB-2.2.7.flags-ignored" if unused else "MQQB-2.2.7.response-rf"
    wanted = {
        "Ping.Flags.RF": (0, accepts),
        "Ping.Flags.RC": (type_, "MQQB-2.2.7.response-rc"),
        "Ping.Cookie": (cookie, "MQQB-2.2.7.response-cookie"),
    }
    return Ping({**bits, "Ping.Cookie": cookie, **_MANAGERS[at // 2 % len(_MANAGERS)]}, wanted)


_BITS: Final = tuple(_pinged(at, *bits) for at, bits in enumerate(product((0, 1), (0, 1), _UNUSED)))
_KINDS: Final[Mapping[str, tuple[Step, ...]]] = {
    "first": (),
    "beside-a-session": handshake("b"),
    "after-a-cut": (*handshake("b"), Close("b", "reset")),
    "after-a-refusal": (Connect("b"), Establish("b", "stranger"), Answered("EstablishConnection", link="b")),
}
_CONTROL: Final = Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")})
_BEHIND: Final[Values] = {"EstablishConnectionHeader.OperatingSystem.SE": 0}
PING_BITS: Final[tuple[Case, ...]] = tuple(
    Case(
        f"pings/{kind}",
        (*before, _CONTROL, *_BITS[turn :: len(_KINDS)], *handshake("after", request=_BEHIND)),
        ("MQQB-2.1.2.response-address", "MQQB-2.2.7.response-qm-guid", "MQQB-2.2.7.signature"),
        packets="odd",
    )
    for turn, (kind, before) in enumerate(_KINDS.items())
)
"""Every combination of the bits of a ping, spread over the kinds of session that it comes before."""
