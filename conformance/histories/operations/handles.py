"""Map the harness's names to the implementation's handles, and its queues to format names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.histories.operations.operation import Kind
from conformance.model.journals import ELSEWHERE, is_kept, is_remote

if TYPE_CHECKING:
    from conformance.harness.port import Port

_ADDRESS = "TCP:192.0.2.7"  # RFC 5737: an address reserved for documentation
_ALIAS = "OS:mqconform-elsewhere"
_REMOTE = ("remote1", "remote2", "remote3")


class Handles:
    """The handles, format names and lookup identifiers behind the names of one history.

    own: the end of its queues' names, for a driver that cannot be reset. lookups: message to the lookup identifier it
    was seen with.
    """

    def __init__(self, client: Port, own: str) -> None:
        self.computer = client.hello.computer
        self.need = client.need
        self.own = own
        self.known: dict[str, Any] = {}  # handles, cursors, transactions and begun receives
        self.formats: dict[str, str] = {}
        self.requests: dict[str, int] = {}
        self.lookups: Mapping[str, int] = {}

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
        return f"{self.computer}\\private$\\mqconform-{queue}{self.own}"

    def format(self, queue: str) -> str:
        """Return the format name that the creation gave, or a direct one (MS-MQMQ 2.1.2, 2.1.7) for any other queue."""
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
