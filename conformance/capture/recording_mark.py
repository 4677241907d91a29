"""The mark of a recording at which the program itself was one end: what it sent is no implementation's.

The mark is the comment of the section header of a pcapng file. Tools that copy captures keep it.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final, Literal

from conformance.capture.events import Frame

Role = Literal["server", "client"]
PING_PORT: Final = 3527
_FORM = re.compile(r"mqconform was the (server|client): server=([0-9A-Fa-f.:]{2,45})")


@dataclass(frozen=True, slots=True)
class OwnEnd:
    """Which end was the program. server: the address of the server, which also connects to its clients."""

    role: Role
    server: str

    @property
    def comment(self) -> str:
        """The mark."""
        return f"mqconform was the {self.role}: server={self.server}"

    @property
    def sentence(self) -> str:
        """A clause for the user."""
        clients = f"the clients of {self.server}"
        ours, judged = (self.server, clients) if self.role == "server" else (clients, self.server)
        return f"mqconform itself was {ours} when this was recorded: only what {judged} sent is judged"

    @classmethod
    def of(cls, comment: str | None) -> OwnEnd | None:
        """Return what the comment of a section tells; None when it is another comment."""
        found = None if comment is None else _FORM.fullmatch(comment)
        if found is None:
            return None
        try:
            server = str(ipaddress.ip_address(found[2]))
        except ValueError:
            return None
        return cls("server" if found[1] == "server" else "client", server)

    def sent(self, frame: Frame) -> bool:
        """Tell whether the program sent a packet. What passes between other hosts was not sent by it."""
        by_client = from_client(frame, self.server)
        return by_client is not None and by_client == (self.role == "client")


def from_client(frame: Frame, server: str) -> bool | None:
    """Tell whether a client of a server sent a packet; None when the server is neither end.

    server: its address, where it accepts; at other addresses it may be the initiator. A ping is of who is not pinged.
    """
    ends = (frame.source, frame.destination)
    if server not in (ends[0].address, ends[1].address):
        return None
    sender_asks = frame.destination.port == PING_PORT if frame.side is None else frame.side == "initiator"
    acceptor = frame.destination if sender_asks else frame.source
    return sender_asks == (acceptor.address == server)
