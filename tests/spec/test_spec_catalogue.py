"""The catalogue, its data, codes, steps and constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import pytest

from conformance.spec.catalogue import (
    NEEDS,
    Catalogue,
    CatalogueError,
    Requirement,
    assignment,
    catalogue,
    reading_id,
    requirement_id,
)
from conformance.spec.constants import enumerations, hresults, interfaces, properties, property_ids
from conformance.spec.constants.codes import named, status_text
from conformance.spec.entries import requirement_of
from conformance.spec.versions import PROFILES, READING_SETS, applies
from tools import constants, constants_tables
from tools.audit import AuditError, Item, extract, read_document
from tools.audit.steps import disagreements, events, read_events

GOOD = {"id": "MQMQ-2.1.1.word", "level": "must", "role": "any", "checked": "grammar", "says": "A thing."}


def test_it_loads_and_is_not_empty() -> None:
    assert len(catalogue().requirements) >= 200
    assert len(catalogue().readings) >= 10


def test_every_entry_says_something_of_its_own() -> None:
    for entry in catalogue():
        assert len(entry.says) >= 12, entry.id
        assert "\n" not in entry.says, entry.id


def test_an_unknown_id_names_the_nearest() -> None:
    known = next(iter(catalogue().requirements))
    with pytest.raises(CatalogueError, match=known):
        requirement_id(known + "x")
    reading = next(iter(catalogue().readings))
    with pytest.raises(CatalogueError, match=reading):
        reading_id(reading + "x")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "MQMQ-2.1.1.1"},
        {"id": "MQXX-2.1.1.word"},
        {"id": "MQMQ-word"},
        {"level": "shall"},
        {"checked": "guess"},
        {"checked": "none"},
        {"checked": "none", "reason": "lazy"},
        {"since": "msmq-9.0"},
        {"checked": "environment"},
        {"checked": "environment", "needs": "luck"},
        {"checked": "environment", "needs": ""},
        {"needs": "peer"},
        {"checked": "none", "reason": "definition", "needs": "peer"},
    ],
)
def test_a_wrong_entry_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(CatalogueError):
        requirement_of({**GOOD, **change}, "test.toml")


def test_what_an_environment_entry_needs_is_of_a_closed_list() -> None:
    for name in NEEDS:
        entry = requirement_of({**GOOD, "checked": "environment", "needs": name}, "test.toml")
        assert entry.needs == name and entry.checkable
    with pytest.raises(CatalogueError, match="did you mean nobody"):
        requirement_of({**GOOD, "checked": "environment", "needs": "nobdy"}, "test.toml")
    told = {entry.needs for entry in catalogue() if entry.checked == "environment"}
    assert told == set(NEEDS) and {entry.needs for entry in catalogue() if entry.checked != "environment"} == {None}


@pytest.mark.parametrize("missing", ["id", "level", "role", "checked", "says"])
def test_a_missing_member_is_refused(missing: str) -> None:
    with pytest.raises(CatalogueError):
        requirement_of({key: value for key, value in GOOD.items() if key != missing}, "test.toml")


def test_a_good_entry_is_taken() -> None:
    assert requirement_of(GOOD, "test.toml").section == "2.1.1"


@pytest.mark.parametrize("name", READING_SETS)
def test_every_reading_set_decides_every_reading(name: str) -> None:
    chosen = assignment(name)
    assert set(chosen) == set(catalogue().readings)
    assert all(chosen.values())


def test_an_unknown_reading_set_names_the_nearest() -> None:
    with pytest.raises(CatalogueError, match="windows"):
        assignment("window")


def test_versions_bound_both_ways() -> None:
    assert [profile for profile in PROFILES if applies(profile, "msmq-2.0", "msmq-3.0")] == ["msmq-2.0", "msmq-3.0"]


# A code of a timer that only shows in the calls that wait, where "must fail" stands.
CODES_ALONE = {"MQDMPR-3.1.6.3.io-timeout-code"}
REQUIREMENTS = list(catalogue())


def test_a_demand_for_a_code_stands_beside_the_demand_to_fail() -> None:
    known = catalogue().requirements
    alone = {name for name in known if name.endswith("-code") and name.removesuffix("-code") not in known}
    assert alone <= CODES_ALONE


def test_says_is_one_plain_sentence() -> None:
    # The documents' keywords would mean that a sentence was copied rather than said.
    keywords = re.compile(r"\b(MUST|SHOULD|MAY)\b")
    wrong = [
        entry.id
        for entry in REQUIREMENTS
        if not entry.says.endswith(".") or "\n" in entry.says or keywords.search(entry.says)
    ]
    assert wrong == []


def test_no_two_demands_of_a_section_say_the_same() -> None:
    said = [(requirement.document, requirement.section, requirement.says) for requirement in REQUIREMENTS]
    assert len(set(said)) == len(said)


def test_every_reading_is_decided_by_every_set() -> None:
    for reading in catalogue().readings.values():
        assert set(reading.defaults) == set(READING_SETS)
        assert set(reading.defaults["windows"]) <= set(reading.defaults["permissive"])


def test_a_settled_reading_has_one_alternative_under_windows() -> None:
    accepting_more = {
        name
        for name, reading in catalogue().readings.items()
        if reading.sure == "settled" and len(reading.defaults["windows"]) > 1
    }
    assert accepting_more == set()


TIMEOUT = "MQ_ERROR_IO_TIMEOUT (0xC00E001B)"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fails with 0xC00E001B", f"fails with {TIMEOUT}"),
        ("fails with MQ_ERROR_IO_TIMEOUT.", f"fails with {TIMEOUT}."),
        ('{"status": "0xc00e001b"}', f'{{"status": "{TIMEOUT}"}}'),
        ("status 3222142979 or 42", f"status {status_text(3222142979)} or 42"),
        (TIMEOUT, TIMEOUT),
        ("the number 0xC00E0FFF is no code", "the number 0xC00E0FFF is no code"),
        ("0x00000000, MQ_OK and 3000000000", "0x00000000, MQ_OK and 3000000000"),
        ("id 0xC00E001B00", "id 0xC00E001B00"),
    ],
)
def test_codes_in_a_text(text: str, told: str) -> None:
    assert named(text) == told
    assert named(told) == told


def test_a_code_that_is_listed_nowhere_stays_a_number() -> None:
    assert status_text(0xC00E001B) == TIMEOUT
    assert status_text(0x8BADF00D) == "0x8BADF00D"


def test_every_place_a_person_reads_one_has_the_same_words() -> None:
    from types import SimpleNamespace

    from conformance.adapter.check_calls import result_text
    from conformance.harness.pytest_hooks import _value
    from conformance.histories.history import _answer
    from conformance.report.text import inline_text, value_text

    answer = SimpleNamespace(failed=True, status=0xC00E001B, text="")
    for text in (
        result_text(SimpleNamespace(failure=None, status=0xC00E001B)),  # type: ignore[arg-type]
        inline_text({"status": 0xC00E001B}),
        inline_text("0xC00E001B"),
        value_text({"status": 0xC00E001B}),
        value_text("fails with MQ_ERROR_IO_TIMEOUT"),
        _value({"status": 0xC00E001B}),
        _answer(answer),  # type: ignore[arg-type]
    ):
        assert TIMEOUT in text


SOURCES = [f"{number:016x}" for number in range(4)]
WORDS = ("fails", "ends", "sets", "answers")


def entry(word: str, source: str) -> Requirement:
    return Requirement(
        f"MQDMPR-3.1.7.1.10.{word}", "MS-MQDMPR", "3.1.7.1.10", "must", "queue-manager", "call", "A.", source=(source,)
    )


KNOWN = Catalogue({one.id: one for one in map(entry, WORDS, SOURCES)}, {}, {})
ITEMS = [
    Item("MQDMPR", "3.1.7.1.10", "step", at, "text", source, "must", None, word)
    for at, (word, source) in enumerate(zip(WORDS, SOURCES, strict=True))
]


def written(folder: Path, depths: Sequence[object], order: Sequence[int] = (0, 1, 2, 3), **more: str) -> Path:
    lines = [f'event = "{more.get("event", "Dequeue Message")}"', f'provenance = "{more.get("by", "by-meaning")}"']
    for at, depth in zip(order, depths, strict=False):
        word = more.get("word", WORDS[at])
        lines += ["[[step]]", f'id = "MQDMPR-3.1.7.1.10.{word}"', f'source = "{SOURCES[at]}"', f"depth = {depth}"]
    (folder / f"{more.get('name', '3.1.7.1.10')}.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_depth_makes_a_tree(tmp_path: Path) -> None:
    event = read_events(written(tmp_path, (0, 1, 2, 1)), KNOWN)["3.1.7.1.10"]
    assert list(event.parents().values()) == [None, SOURCES[0], SOURCES[1], SOURCES[0]]
    assert event.name == "Dequeue Message"


@pytest.mark.parametrize("depths", [(1,), (0, 2), (0, 1, 3), (0, -1), (0, '"1"'), (0, "true")])
def test_a_depth_that_jumps_is_refused(depths: tuple[object, ...], tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="depth"):
        read_events(written(tmp_path, depths), KNOWN)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"word": "end"}, r"did you mean MQDMPR-3\.1\.7\.1\.10\.ends"),
        ({"word": "ends"}, "is not bound to"),
        ({"by": "guess"}, "provenance 'guess'"),
        ({"name": "3.1.7.1.11"}, "another section"),
        ({"name": "dequeue"}, "not named after a section"),
    ],
)
def test_what_is_wrong_is_told(more: dict[str, str], told: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=told):
        read_events(written(tmp_path, (0,), **more), KNOWN)


def test_a_step_listed_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="listed twice"):
        read_events(written(tmp_path, (0, 1, 1), (0, 1, 1)), KNOWN)


@pytest.mark.parametrize(
    ("order", "items", "told"),
    [
        ((0, 1, 2, 3), ITEMS, None),
        ((0, 1, 2), ITEMS, "1 steps are not listed"),
        ((0, 1, 2, 3), ITEMS[:3], "1 steps are not in the document, the first MQDMPR-3.1.7.1.10.answers"),
        ((0, 2, 1, 3), ITEMS, "another order than in the document, from MQDMPR-3.1.7.1.10.sets on"),
        ((0, 1, 2, 3), [], "4 steps are not in the document"),
    ],
)
def test_the_document_is_followed(order: tuple[int, ...], items: list[Item], told: str | None, tmp_path: Path) -> None:
    found = list(disagreements(read_events(written(tmp_path, (0, 0, 0, 0), order), KNOWN), items))
    assert found == [] if told is None else (len(found) == 1 and told in found[0])


def test_an_event_without_a_file_is_noticed() -> None:
    assert list(disagreements({}, ITEMS)) == ["MQDMPR 3.1.7.1.10: the 4 steps of this event have no file"]


def test_the_shipped_steps_load() -> None:
    for section, event in events().items():
        assert event.section == section
        assert event.steps[0].depth == 0


def test_the_shipped_steps_are_those_of_the_document(documents: Path) -> None:
    assert list(disagreements(events(), extract(read_document(documents / "MS-MQDMPR.md")))) == []


def test_modules_are_up_to_date(documents: Path) -> None:
    assert constants.stale(documents) == []


def test_a_changed_document_makes_the_modules_stale(documents: Path, tmp_path: Path) -> None:
    changes = {
        "MS-MQMQ.md": [("0xC00E001B", "0xC00E0FFF"), ("VT_EMPTY = 0", "VT_EMPTY = 5")],
        "MS-MQDMPR.md": [],
        "MC-MQAC.md": [("(Opnum 97)", "(Opnum 98)")],
        "MS-MQMP-2.2.3.2.txt": [],
    }
    for name, pairs in changes.items():
        text = (documents / name).read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert constants.stale(tmp_path) == ["hresults.py", "enumerations.py", "interfaces.py"]
    assert constants.main(["--spec", str(tmp_path), "--check"]) == 1


def test_a_row_that_is_not_understood_is_no_silent_gap(tmp_path: Path) -> None:
    (tmp_path / "MS-MQMQ.md").write_text(
        "## 2.4 Error Codes\n| code | text |\n| --- | --- |\n| 0xC00E0001 MQ_ERROR | a |\n| 0xC00E002 MQ_SHORT | b |\n",
        encoding="utf-8",
    )
    with pytest.raises(constants.DocumentError, match="1 of its table's rows"):
        constants.read_codes(tmp_path)


def test_missing_documents_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert constants.main(["--spec", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert message.startswith("MS-MQMQ.md is not in")
    assert message.count("\n") == 1


def test_codes_and_names_are_one_to_one() -> None:
    assert len(set(hresults.HRESULTS.values())) == len(hresults.HRESULTS)
    assert all(hresults.name_of(value) == name for name, value in hresults.HRESULTS.items())
    assert all(getattr(hresults, name) == value for name, value in hresults.HRESULTS.items())
    assert hresults.name_of(0xDEADBEEF) is None


def test_success_and_failure() -> None:
    assert hresults.MQ_OK == 0
    failures = [name for name, value in hresults.HRESULTS.items() if value >= 0x80000000]
    assert "MQ_ERROR_IO_TIMEOUT" in failures
    assert not any(name.startswith("MQ_INFORMATION") for name in failures)


def test_every_code_has_a_source() -> None:
    assert hresults.source_of("MQ_ERROR_IO_TIMEOUT") == "MS-MQMQ 2.4"
    assert hresults.source_of("STATUS_NOT_FOUND") == "MS-MQDMPR 3.1.7.1.17"
    with pytest.raises(KeyError):
        hresults.source_of("MQ_ERROR_NO_SUCH_NAME")


def test_all_properties_are_there() -> None:
    assert len(properties.PROPERTIES) == 186
    for name, entry in property_ids.QUEUE_PROPERTIES.items():
        assert tuple(properties.PROPERTIES[name]) == tuple(entry)


def test_enumerations_and_masks() -> None:
    known = enumerations.ENUMERATIONS
    assert known["VARENUM"].members["VT_LPWSTR"] == 31
    assert known["MESSAGE_CLASS_VALUES"].source == "MS-MQMQ 2.2.18.1.6"
    assert len(known["MESSAGE_CLASS_VALUES"].members) == 20
    assert sum(entry.source.startswith("MC-MQAC") for entry in known.values()) == 21
    mask = known["MQQUEUEACCESSMASK"].members
    both = mask["MQSEC_DELETE_MESSAGE"] + mask["MQSEC_PEEK_MESSAGE"]
    assert mask["MQSEC_RECEIVE_MESSAGE"] == both


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(AuditError, match="no number"):
        constants_tables._number("(A + __import__)", {"A": "1"}, "MASK")
    with pytest.raises(AuditError, match="no number"):
        constants_tables._number("(A + B)", {"A": "B", "B": "A"}, "MASK")


def test_interfaces_and_their_methods() -> None:
    uuids = [entry.uuid for entry in interfaces.INTERFACES.values()] + list(interfaces.COCLASSES.values())
    assert len(set(uuids)) == len(uuids)
    assert all(str(UUID(uuid)) == uuid for uuid in uuids)
    assert sum(map(len, interfaces.METHODS.values())) == 250
    assert set(interfaces.METHODS) <= set(interfaces.INTERFACES)
    assert set(interfaces.DISPIDS.values()) == {0, 1}
    for name, methods in interfaces.METHODS.items():
        numbers = [method.opnum for method in methods]
        assert len(set(numbers)) == len(numbers), name


def test_properties_are_distinct() -> None:
    table = property_ids.QUEUE_PROPERTIES
    assert len({entry.value for entry in table.values()}) == len(table)
    assert table["PROPID_Q_LABEL"] == (property_ids.PROPID_Q_LABEL, "VT_LPWSTR", "2.3.1.8")
