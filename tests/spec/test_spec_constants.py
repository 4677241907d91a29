"""The generated constants are what the documents say."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from conformance.spec.constants import (
    enumerations,
    hresults,
    interfaces,
    properties,
    property_ids,
)
from tools import constants, constants_tables
from tools.audit import AuditError


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
