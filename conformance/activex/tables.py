"""All members of the classes that have tables, by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.activex import tables_message, tables_queue, tables_queue_info, tables_transactions
from conformance.activex.members import Member

MEMBERS: Final[tuple[Member, ...]] = (
    *tables_queue_info.MEMBERS,
    *tables_queue.MEMBERS,
    *tables_message.MEMBERS,
    *tables_transactions.MEMBERS,
)

CLASSES: Final[Mapping[str, Mapping[str, Member]]] = {
    coclass: {member.name: member for member in MEMBERS if member.coclass == coclass}
    for coclass in dict.fromkeys(member.coclass for member in MEMBERS)
}
"""Class to its members by name."""
