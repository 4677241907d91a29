"""Tables of members: opnum, kind and arguments are those of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from conformance.activex.members import Member, Slot
from conformance.activex.tables import CLASSES, MEMBERS
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.interfaces import METHODS

MISPRINTED = {
    ("IMSMQMessage4", 22): "putref",  # 3.17.4.1.16: propget, of an argument that goes in
    ("IMSMQMessage4", 29): "get",  # 3.17.4.1.23: no attribute
    ("IMSMQMessage4", 78): "putref",  # 3.17.4.1.72: no attribute
    ("IMSMQMessage4", 80): "putref",  # 3.17.4.1.74: propput, of an object
}
"""Kinds that the document misprints; the direction of the argument and the sibling members tell what they are."""

SLOTS = [(member, slot) for member in MEMBERS for slot in member.slots]
KINDS = {"method": "method", "getter": "get", "putter": "put", "putter by reference": "putref"}
_SAYS = re.compile(
    r"has a (?P<kind>putter by reference|putter|getter|method) (?P<name>\w+), opnum (?P<opnum>\d+)"
    r"(?:,? that takes (?P<takes>[\w, ]+?))?(?: (?:and|that) gives back (?P<gives>\w+))?\."
)


def by_opnum(interface: str) -> dict[int, tuple[Member, Slot]]:
    return {slot.opnum: (member, slot) for member, slot in SLOTS if member.interface == interface}


@pytest.mark.parametrize("interface", sorted({member.interface for member in MEMBERS}))
def test_slots_are_those_of_the_document(interface: str) -> None:
    table = by_opnum(interface)
    listed = {
        (method.opnum, method.name, MISPRINTED.get((interface, method.opnum), method.invocation), method.section)
        for method in METHODS[interface]
    }
    assert {(opnum, member.name, slot.kind, slot.section) for opnum, (member, slot) in table.items()} == listed


def described() -> Iterator[tuple[str, re.Match[str]]]:
    for entry in catalogue():
        if entry.id.startswith("MQAC-") and entry.kind == "method" and (said := _SAYS.search(entry.says)):
            yield entry.section, said


def test_arguments_are_those_of_the_catalogue() -> None:
    by_section = {slot.section: (member, slot) for member, slot in SLOTS}
    compared = 0
    for section, said in described():
        if section not in by_section:
            continue
        member, slot = by_section[section]
        taken = [argument.name for argument in slot.arguments if not argument.result]
        given = [argument.name for argument in slot.arguments if argument.result]
        assert (member.name, slot.opnum, slot.kind) == (said["name"], int(said["opnum"]), KINDS[said["kind"]])
        assert ", ".join(taken) == (said["takes"] or ""), section
        if said["gives"] is not None:
            assert given == [said["gives"]], section
        compared += 1
    assert compared == len(SLOTS)


def test_a_member_stands_once_in_its_class() -> None:
    assert sum(len(members) for members in CLASSES.values()) == len(MEMBERS)


def test_values_at_the_limits_are_told_apart() -> None:
    for member in MEMBERS:
        if member.takes is None:
            continue
        assert member.takes.inside()
        assert all(member.takes.admits(value) for value in member.takes.inside()), member.name
        assert not any(member.takes.admits(value) for value in member.takes.outside()), member.name
        if member.refusal is not None:
            assert member.takes.outside(), member.name
