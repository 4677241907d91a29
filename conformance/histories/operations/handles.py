"""Map the harness's names to the implementation's handles, and its queues to format names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.histories.operations.operation import Kind
from conformance.model.journals import ELSEWHERE, MULTICAST, is_kept, is_multicast, is_public, is_remote, journal_of

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.verdict import Json

_ADDRESS = "TCP:192.0.2.7"  # RFC 5737: an address reserved for documentation
_ALIAS = "OS:mqconform-elsewhere"
_REMOTE = ("remote1", "remote2", "remote3", MULTICAST)
_GROUP = "MULTICAST=233.252.0.7:8001"  # RFC 5771: an address reserved for documentation


class Handles:
    """The handles, format names and lookup identifiers behind the names of one history.

    own: the end of its queues' names, for a driver that cannot be reset. lookups: message to the lookup identifier it
    was seen with. identifiers: the same for message identifiers, of what was transferred. played: the harness plays the
    connections of outgoing queues.
    """

    def __init__(self, client: Port, own: str) -> None:
        self.computer = client.hello.computer
        self.need = client.need
        self.own = own
        self.known: dict[str, Any] = {}  # handles, cursors, transactions and begun receives
        self.formats: dict[str, str] = {}
        self.requests: dict[str, int] = {}
        self.lookups: Mapping[str, int] = {}
        self.identifiers: dict[str, dict[str, Json]] = {}
        self.played = client.offers("management.connection")

    def of(self, kind: Kind, name: str) -> Any:
        """Return the value to send for a name in a request. Raises KeyError for a name that no call has given."""
        if kind is Kind.QUEUE:
            return self.format(name)
        if kind is Kind.MESSAGE:
            return str(self.lookups.get(name, 0))
        return self.requests[name] if kind is Kind.WAIT else self.known[name]

    def keep(self, kind: Kind, name: str, given: Any) -> None:
        """Keep the handle or format name that an answer gave for a name."""
        if kind is Kind.QUEUE:
            self.formats[name] = given
        else:
            self.known[name] = given

    def path(self, queue: str) -> str:
        """Return the path name of a queue."""
        scope = "" if is_public(queue) else "private$\\"
        return f"{self.computer}\\{scope}mqconform-{queue}{self.own}"

    def format(self, queue: str) -> str:
        """Return the format name that the creation gave, or a direct one (MS-MQMQ 2.1.2, 2.1.7) for any other queue."""
        if is_multicast(queue):
            return _GROUP
        if is_remote(queue):
            return f"DIRECT={_ALIAS if queue == 'remote3' else _ADDRESS}\\private$\\mqconform-{queue}{self.own}"
        known = self.formats.get(queue)
        parent, _, suffix = queue.partition(";")
        if known is None:
            if queue == ELSEWHERE:
                return f"DIRECT={_ALIAS}\\private$\\nobody"
            if "," in queue:
                return ",".join(map(self.format, queue.split(",")))
            if is_kept(queue):
                own = f"DIRECT=OS:{self.computer}\\SYSTEM$" if parent == "SYSTEM" else self.format(parent)
                return f"{own};{suffix}"
        if suffix:  # only direct names have subqueues
            return f"DIRECT=OS:{self.path(parent)};{suffix}"
        return known if known is not None else f"DIRECT=OS:{self.path(queue)}"

    def designated(self) -> dict[str, str]:
        """Return the names by which each queue may be told, in small letters, with the harness's own name of it."""
        found: dict[str, str] = {}
        for queue, name in self.formats.items():
            for text in (name, f"DIRECT=OS:{self.path(queue)}", self.path(queue)):
                found[text.casefold()] = queue
                found[journal_of(text).casefold()] = journal_of(queue)
        return found | {self.format(queue).casefold(): queue for queue in _REMOTE}

    def remote_named(self, format_name: str) -> str:
        """Return the harness's name of a queue on another computer; any other format name unchanged."""
        known = {self.format(queue).casefold(): queue for queue in _REMOTE}
        return known.get(format_name.casefold(), format_name)


def kind_of_name(queue: str) -> str | None:
    """Return the kind of format name that opens a queue; None for the plain one of a local queue."""
    if queue == ELSEWHERE or is_remote(queue):
        return "remote"
    if "," in queue:
        return "multiple_element"
    if is_kept(queue):
        return "dead_letter" if queue.startswith("SYSTEM;") else "journal"
    return "subqueue" if ";" in queue else None
