"""Status codes as a person reads them: one way for all, whatever they stood as before."""

import pytest

from conformance.spec.constants.codes import named, status_text

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

    from conformance.adapter.check import told
    from conformance.harness.terminal import _value
    from conformance.histories.history import _answer
    from conformance.report.text import spoken, value_text

    answer = SimpleNamespace(failed=True, status=0xC00E001B, text="")
    for text in (
        told(SimpleNamespace(failure=None, status=0xC00E001B)),  # type: ignore[arg-type]
        spoken({"status": 0xC00E001B}),
        spoken("0xC00E001B"),
        value_text({"status": 0xC00E001B}),
        value_text("fails with MQ_ERROR_IO_TIMEOUT"),
        _value({"status": 0xC00E001B}),
        _answer(answer),  # type: ignore[arg-type]
    ):
        assert TIMEOUT in text
