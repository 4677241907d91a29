"""QUEUE_FORMAT structures as texts, and their table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from queue_formats import to_queue_format

from conformance.grammar import values
from conformance.grammar.queue_format import (
    CONSTRAINTS,
    DlId,
    MulticastId,
    ObjectId,
    Qft,
    QueueFormat,
    QueueFormatError,
    Suffix,
    broken,
    from_queue_format,
)
from conformance.spec.catalogue import assignment

G = "0123ABCD-4567-89ab-CDEF-0123456789ab"
UNIONS = {
    Qft.UNKNOWN: None,
    Qft.PUBLIC: G,
    Qft.PRIVATE: ObjectId(G, 1),
    Qft.DIRECT: "OS:h\\q",
    Qft.MACHINE: G,
    Qft.CONNECTOR: G,
    Qft.DL: DlId(G, None),
    Qft.MULTICAST: MulticastId("234.1.1.1", 80),
    Qft.SUBQUEUE: "OS:h\\q;s",
}

# The table of 2.2.7 read out once more, by hand and the other way round: what each m_qft can have as
# m_SuffixAndFlags under the reading set `windows`, where a journal stands with m_qft 0 and 8 too.
LAWFUL = {
    Qft.UNKNOWN: {0x00, 0x81, 0x82},
    Qft.PUBLIC: {0x00, 0x81},
    Qft.PRIVATE: {0x00, 0x81},
    Qft.DIRECT: {0x00, 0x81, 0x82, 0x83},
    Qft.MACHINE: {0x81, 0x82, 0x83},
    Qft.CONNECTOR: {0x00, 0x04, 0x84},
    Qft.DL: {0x00},
    Qft.MULTICAST: {0x00},
    Qft.SUBQUEUE: {0x00, 0x05, 0x81, 0x82},
}


@pytest.mark.parametrize("qft", list(Qft), ids=lambda qft: qft.name)
def test_every_suffix_and_flags_byte(qft: Qft) -> None:
    lawful = {byte for byte in range(256) if not broken(QueueFormat(qft, byte, UNIONS[qft]))}
    assert lawful == LAWFUL[qft]


def test_each_row_is_named_by_what_it_breaks() -> None:
    def first(qft: int, suffix_and_flags: int, **reserved: int) -> str:
        return broken(QueueFormat(qft, suffix_and_flags, UNIONS.get(Qft(qft)), **reserved))[0]

    assert first(4, 0x00) == "MQMQ-2.2.7.suffix-none-type"
    assert first(3, 0x80) == "MQMQ-2.2.7.suffix-none-flags"
    assert first(3, 0x01) == "MQMQ-2.2.7.suffix-journal-flags"
    assert first(7, 0x81) == "MQMQ-2.2.7.suffix-journal-type"
    assert first(1, 0x82) == "MQMQ-2.2.7.suffix-deadletter-type"
    assert first(3, 0x02) == "MQMQ-2.2.7.suffix-deadletter-flags"
    assert first(0, 0x83) == "MQMQ-2.2.7.suffix-deadxact-type"
    assert first(4, 0x03) == "MQMQ-2.2.7.suffix-deadxact-flags"
    assert first(4, 0x04) == "MQMQ-2.2.7.suffix-xactonly-type"
    assert first(3, 0x05) == "MQMQ-2.2.7.suffix-subqueue-type"
    assert first(8, 0x85) == "MQMQ-2.2.7.suffix-subqueue-flags"
    assert first(3, 0x06) == "MQMQ-2.2.7.m-suffix-and-flags"
    assert first(1, 0x00, m_reserved=1) == "MQMQ-2.2.7.m-reserved-sender"


def test_readings_of_the_table() -> None:
    strict = {**assignment("windows"), "R-MQMQ-journal-suffix-types": ("with-a-journal",)}
    assert broken(QueueFormat(8, 0x81, "OS:h\\q;s"), strict) == ("MQMQ-2.2.7.suffix-journal-type",)
    plain = {**assignment("windows"), "R-MQMQ-xactonly-flags": ("not-system",)}
    assert broken(QueueFormat(5, 0x84, G), plain) == ("MQMQ-2.2.7.suffix-xactonly",)
    assert broken(QueueFormat(5, 0x04, G), plain) == ()


def test_a_type_nobody_lists_and_the_wrong_member() -> None:
    assert broken(QueueFormat(9, 0, None)) == ("MQMQ-2.2.7.m-qft",)
    assert broken(QueueFormat(1, 0, ObjectId(G, 1))) == ("MQMQ-2.2.7.union",)
    with pytest.raises(ValueError, match="m_suffix_and_flags is 256"):
        QueueFormat(1, 256, G)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (values.PublicName(f"PUBLIC={G}", G), QueueFormat(1, 0, G)),
        (values.PublicName(f"PUBLIC={G};JOURNAL", G, "journal"), QueueFormat(1, 0x81, G)),
        (values.PrivateName(f"PRIVATE={G}\\1f", G, 0x1F), QueueFormat(2, 0, ObjectId(G, 0x1F))),
        (values.PrivateName(f"PRIVATE={G}\\1f;JOURNAL", G, 0x1F, "journal"), QueueFormat(2, 0x81, ObjectId(G, 0x1F))),
        (values.DirectName("DIRECT=OS:h\\q", "OS", "h", "public", "q"), QueueFormat(3, 0, "OS:h\\q")),
        (
            values.DirectName("DIRECT=OS:h\\SYSTEM$;DEADXACT", "OS", "h", "system", None, None, "deadxact"),
            QueueFormat(3, 0x83, "OS:h\\SYSTEM$;DEADXACT"),
        ),
        (values.DirectName("DIRECT=OS:h\\q;s", "OS", "h", "public", "q", "s"), QueueFormat(8, 5, "OS:h\\q;s")),
        (values.MachineName(f"MACHINE={G};DEADLETTER", G, "deadletter"), QueueFormat(4, 0x82, G)),
        (values.ConnectorName(f"CONNECTOR={G}", G), QueueFormat(5, 0, G)),
        (values.ConnectorName(f"CONNECTOR={G};XACTONLY", G, "xactonly"), QueueFormat(5, 4, G)),
        (values.DistributionListName(f"DL={G}@d", G, "d"), QueueFormat(6, 0, DlId(G, "d"))),
        (values.DistributionListName(f"DL={G}", G), QueueFormat(6, 0, DlId(G, None))),
        (values.MulticastName("MULTICAST=234.1.1.1:80", "234.1.1.1", 80), QueueFormat(7, 0, UNIONS[Qft.MULTICAST])),
    ],
    ids=lambda part: part.text if isinstance(part, values.QueueName) else None,
)
def test_to_queue_format(name: values.QueueName, form: QueueFormat) -> None:
    assert to_queue_format(name) == form
    assert broken(form) == ()
    assert from_queue_format(form, lambda text: {name.spelled(): name}[text]) == name


def test_names_that_no_queue_format_holds() -> None:
    for name in (
        values.PathName("h\\q", "h", "public", "q"),
        values.MultipleElementName("", ()),
        values.MachineName(f"MACHINE={G}", G),
        values.DirectName("DIRECT=OS:h\\q;s;JOURNAL", "OS", "h", "public", "q", "s", "journal"),
    ):
        with pytest.raises(QueueFormatError, match="No QUEUE_FORMAT holds"):
            to_queue_format(name)


def test_from_queue_format_refuses_what_does_not_agree() -> None:
    journal = values.DirectName("DIRECT=OS:h\\q;JOURNAL", "OS", "h", "public", "q", None, "journal")
    plain = values.DirectName("DIRECT=OS:h\\q", "OS", "h", "public", "q")
    for form, parsed, demand in (
        (QueueFormat(3, 0, "OS:h\\q;JOURNAL"), journal, "MQMQ-2.2.7.suffix-none"),
        (QueueFormat(3, 0x82, "OS:h\\q;JOURNAL"), journal, "MQMQ-2.2.7.suffix-deadletter"),
        (QueueFormat(8, 5, "OS:h\\q"), plain, "MQMQ-2.2.7.m-p-direct-subqueue-id-subqueue"),
        (QueueFormat(3, 5, "OS:h\\q"), plain, "MQMQ-2.2.7.suffix-subqueue-type"),
    ):
        with pytest.raises(QueueFormatError) as caught:
            from_queue_format(form, lambda _, parsed=parsed: parsed)
        assert demand in caught.value.requirements


def test_a_subqueue_with_and_without_its_prefix() -> None:
    name = values.DirectName("DIRECT=OS:h\\q;s", "OS", "h", "public", "q", "s")
    letter = {**assignment("windows"), "R-MQMQ-subqueue-prefix": ("with",)}
    assert to_queue_format(name, letter) == QueueFormat(8, Suffix.SUBQUEUE, "DIRECT=OS:h\\q;s")
    parse = {name.text: name}.__getitem__
    assert from_queue_format(QueueFormat(8, 5, "DIRECT=OS:h\\q;s"), parse) == name
    assert from_queue_format(QueueFormat(8, 5, "OS:h\\q;s"), parse) == name
    with pytest.raises(QueueFormatError, match="does not begin with DIRECT="):
        from_queue_format(QueueFormat(8, 5, "OS:h\\q;s"), parse, letter)


def test_m_reserved_is_not_used() -> None:
    name = values.PublicName(f"PUBLIC={G}", G)
    assert from_queue_format(QueueFormat(1, 0, G, m_reserved=0xBEEF), lambda _: name) == name


def test_unknown_types_and_unreadable_text_have_no_name() -> None:
    def refuse(text: str) -> values.QueueName:
        raise ValueError(text)

    with pytest.raises(QueueFormatError, match="unknown type"):
        from_queue_format(QueueFormat(0, 0, None), refuse)
    with pytest.raises(QueueFormatError, match="not a format name") as caught:
        from_queue_format(QueueFormat(3, 0, "\x00" * 100), refuse)
    assert caught.value.requirements == ("MQMQ-2.2.7.m-p-direct-id",)


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
