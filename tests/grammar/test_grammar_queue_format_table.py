"""The demands of MS-MQMQ 2.2.7 one by one: one change to a lawful value breaks each, and each is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.grammar import values
from conformance.grammar.queue_format import (
    CONSTRAINTS,
    DlId,
    MulticastId,
    ObjectId,
    Qft,
    QueueFormat,
    QueueFormatError,
    broken,
    from_queue_format,
    to_queue_format,
)
from conformance.spec.catalogue import assignment

G = "0123ABCD-4567-89ab-CDEF-0123456789ab"
PUBLIC, PRIVATE = QueueFormat(1, 0x00, G), QueueFormat(2, 0x81, ObjectId(G, 1))
DIRECT, MACHINE = QueueFormat(3, 0x00, "OS:h\\q"), QueueFormat(4, 0x82, G)
CONNECTOR, LIST = QueueFormat(5, 0x04, G), QueueFormat(6, 0x00, DlId(G, "d"))
MULTICAST, SUBQUEUE = QueueFormat(7, 0x00, MulticastId("234.1.1.1", 80)), QueueFormat(8, 0x05, "OS:h\\q;s")
SYSTEM = QueueFormat(3, 0x83, "OS:h\\SYSTEM$;DEADXACT")

# requirement, a lawful value, the one change
MUTATIONS = [
    ("MQMQ-2.2.7.m-qft", DIRECT, {"m_qft": 9}),
    ("MQMQ-2.2.7.union", PUBLIC, {"union": ObjectId(G, 1)}),
    ("MQMQ-2.2.7.union", QueueFormat(0, 0, None), {"union": G}),
    ("MQMQ-2.2.7.m-suffix-and-flags", DIRECT, {"m_suffix_and_flags": 0x06}),
    ("MQMQ-2.2.7.suffix-none-flags", DIRECT, {"m_suffix_and_flags": 0x80}),
    ("MQMQ-2.2.7.suffix-none-type", PUBLIC, {"m_qft": Qft.MACHINE}),
    ("MQMQ-2.2.7.suffix-journal-flags", PRIVATE, {"m_suffix_and_flags": 0x01}),
    ("MQMQ-2.2.7.suffix-journal-type", QueueFormat(1, 0x81, G), {"m_qft": Qft.CONNECTOR}),
    ("MQMQ-2.2.7.suffix-journal-type", LIST, {"m_suffix_and_flags": 0x81}),
    ("MQMQ-2.2.7.suffix-journal-type", MULTICAST, {"m_suffix_and_flags": 0x81}),
    ("MQMQ-2.2.7.suffix-deadletter-flags", MACHINE, {"m_suffix_and_flags": 0x02}),
    ("MQMQ-2.2.7.suffix-deadletter-type", MACHINE, {"m_qft": Qft.PUBLIC}),
    ("MQMQ-2.2.7.suffix-deadletter-type", PRIVATE, {"m_suffix_and_flags": 0x82}),
    ("MQMQ-2.2.7.suffix-deadletter-type", MACHINE, {"m_qft": Qft.CONNECTOR}),
    ("MQMQ-2.2.7.suffix-deadletter-type", LIST, {"m_suffix_and_flags": 0x82}),
    ("MQMQ-2.2.7.suffix-deadletter-type", MULTICAST, {"m_suffix_and_flags": 0x82}),
    ("MQMQ-2.2.7.suffix-deadxact-flags", SYSTEM, {"m_suffix_and_flags": 0x03}),
    ("MQMQ-2.2.7.suffix-deadxact-type", PRIVATE, {"m_suffix_and_flags": 0x83}),
    ("MQMQ-2.2.7.suffix-deadxact-type", SUBQUEUE, {"m_suffix_and_flags": 0x83}),
    ("MQMQ-2.2.7.suffix-xactonly-type", CONNECTOR, {"m_qft": Qft.MACHINE}),
    ("MQMQ-2.2.7.suffix-subqueue-flags", SUBQUEUE, {"m_suffix_and_flags": 0x85}),
    ("MQMQ-2.2.7.suffix-subqueue-type", SUBQUEUE, {"m_qft": Qft.DIRECT}),
    ("MQMQ-2.2.7.m-reserved-sender", PUBLIC, {"m_reserved": 1}),
]


@pytest.mark.parametrize(
    ("demand", "lawful", "change"), MUTATIONS, ids=lambda part: part if isinstance(part, str) else None
)
def test_one_change_breaks_one_demand(demand: str, lawful: QueueFormat, change: dict[str, int]) -> None:
    assert broken(lawful) == ()
    mutated = replace(lawful, **change)
    assert broken(mutated) == (demand,)
    without = [each for each in CONSTRAINTS if each.requirement != demand]
    assert broken(mutated, constraints=without) == ()


def test_the_flags_of_xactonly_are_a_reading() -> None:
    for alternative, wrong in (("not-system", 0x84), ("system", 0x04)):
        accepted = assignment("windows", {"R-MQMQ-xactonly-flags": alternative})
        assert broken(QueueFormat(5, wrong, G), accepted) == ("MQMQ-2.2.7.suffix-xactonly",)
        assert broken(QueueFormat(5, wrong ^ 0x80, G), accepted) == ()


def test_every_demand_on_numbers_has_its_mutation() -> None:
    tried = {demand for demand, _, _ in MUTATIONS} | {"MQMQ-2.2.7.suffix-xactonly"}
    assert {each.requirement for each in CONSTRAINTS} == tried


@pytest.mark.parametrize(
    ("reading", "strictly", "byte", "demand"),
    [
        ("R-MQMQ-journal-suffix-types", "with-a-journal", 0x81, "MQMQ-2.2.7.suffix-journal-type"),
        ("R-MQMQ-deadletter-suffix-types", "with-a-computer", 0x82, "MQMQ-2.2.7.suffix-deadletter-type"),
    ],
)
def test_types_the_table_forgets(reading: str, strictly: str, byte: int, demand: str) -> None:
    for qft, union in ((0, None), (8, "OS:h\\q;s")):
        form = QueueFormat(qft, byte, union)
        assert broken(form, assignment("windows", {reading: "not-forbidden"})) == ()
        assert broken(form, assignment("windows", {reading: strictly})) == (demand,)
        assert broken(form, assignment("strict")) == ()


def test_a_subqueue_without_its_suffix_type() -> None:
    form = replace(SUBQUEUE, m_suffix_and_flags=0x00)
    assert broken(form) == ()
    tied = assignment("windows", {"R-MQMQ-subqueue-suffix-none": "with-its-suffix"})
    assert broken(form, tied) == ("MQMQ-2.2.7.suffix-none-type",)


def test_a_subqueue_has_neither_journal_nor_dead_letters() -> None:
    name = values.DirectName("DIRECT=OS:h\\q;s", "OS", "h", "public", "q", "s")
    for byte, demand in ((0x81, "MQMQ-2.2.7.suffix-journal"), (0x82, "MQMQ-2.2.7.suffix-deadletter")):
        with pytest.raises(QueueFormatError, match="is a subqueue") as caught:
            from_queue_format(replace(SUBQUEUE, m_suffix_and_flags=byte), lambda _: name)
        assert caught.value.requirements == (demand,)


def test_the_journal_of_a_direct_name_with_and_without_its_text() -> None:
    name = values.DirectName("DIRECT=OS:h\\q;JOURNAL", "OS", "h", "public", "q", None, "journal")
    parse = {name.text: name}.__getitem__
    kept, dropped = QueueFormat(3, 0x81, "OS:h\\q;JOURNAL"), QueueFormat(3, 0x81, "OS:h\\q")
    for alternative, form, other in (("kept", kept, dropped), ("dropped", dropped, kept)):
        accepted = assignment("windows", {"R-MQMQ-direct-id-journal": alternative})
        assert to_queue_format(name, accepted) == form
        assert from_queue_format(form, parse, accepted) == name
        with pytest.raises(QueueFormatError, match=";JOURNAL") as caught:
            from_queue_format(other, parse, accepted)
        assert caught.value.requirements == ("MQMQ-2.2.7.m-p-direct-id",)
        assert from_queue_format(form, parse) == from_queue_format(other, parse) == name


def test_the_journal_of_a_computer_keeps_its_text() -> None:
    name = values.DirectName("DIRECT=OS:h\\SYSTEM$;JOURNAL", "OS", "h", "system", None, None, "journal")
    dropped = assignment("windows", {"R-MQMQ-direct-id-journal": "dropped"})
    form = QueueFormat(3, 0x81, "OS:h\\SYSTEM$;JOURNAL")
    assert to_queue_format(name, dropped) == form
    assert from_queue_format(form, {name.text: name}.__getitem__, dropped) == name
