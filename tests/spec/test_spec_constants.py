"""The generated constants are what the documents say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.spec.constants import generate, hresults, property_ids


@pytest.fixture
def documents() -> Path:
    """The folder of the documents. Without one the test is skipped; in continuous integration it fails."""
    folder = os.environ.get("MQ_SPEC_DIR")
    if not folder:
        reason = "MQ_SPEC_DIR does not name the folder of the documents"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Path(folder)


def test_modules_are_up_to_date(documents: Path) -> None:
    assert generate.stale(documents) == []


def test_a_changed_document_makes_the_modules_stale(documents: Path, tmp_path: Path) -> None:
    for name in ("MS-MQMQ", "MS-MQDMPR"):
        text = generate.read_document(documents, name)
        (tmp_path / f"{name}.md").write_text(text.replace("0xC00E001B", "0xC00E0FFF"), encoding="utf-8")
    assert generate.stale(tmp_path) == ["hresults.py"]
    assert generate.main(["--spec", str(tmp_path), "--check"]) == 1


def test_a_row_that_is_not_understood_is_no_silent_gap(tmp_path: Path) -> None:
    (tmp_path / "MS-MQMQ.md").write_text(
        "## 2.4 Error Codes\n| code | text |\n| --- | --- |\n| 0xC00E0001 MQ_ERROR | a |\n| 0xC00E002 MQ_SHORT | b |\n",
        encoding="utf-8",
    )
    with pytest.raises(generate.DocumentError, match="1 of its table's rows"):
        generate.read_codes(tmp_path)


def test_missing_documents_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--spec", str(tmp_path)]) == 2
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


def test_properties_are_distinct() -> None:
    table = property_ids.QUEUE_PROPERTIES
    assert len({entry.value for entry in table.values()}) == len(table)
    assert table["PROPID_Q_LABEL"] == (property_ids.PROPID_Q_LABEL, "VT_LPWSTR", "2.3.1.8")
