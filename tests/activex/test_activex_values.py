"""Typed values and domains."""

from __future__ import annotations

import pytest

from conformance.activex.members import Guids, Longs, Named, Texts
from conformance.activex.values import Variant, hollow, long, octets, same, short, text, truth


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (long(0xFFFFFFFF), {"vt": "I4", "value": -1}),
        (short(0xFFFF), {"vt": "I2", "value": -1}),
        (octets(b"a"), {"vt": "ARRAY", "of": "UI1", "value": "YQ=="}),
        (Variant("UI8", 2**64 - 1), {"vt": "UI8", "value": "18446744073709551615"}),
        (Variant("EMPTY"), {"vt": "EMPTY"}),
        (
            Variant("ARRAY", (Variant("I2", 1), text("a")), "VARIANT"),
            {"vt": "ARRAY", "of": "VARIANT", "value": [{"vt": "I2", "value": 1}, {"vt": "BSTR", "value": "a"}]},
        ),
    ],
)
def test_values_and_the_protocols_objects(value: Variant, json: dict[str, object]) -> None:
    assert value.to_json() == json
    assert Variant.from_json(json) == value


def test_a_client_sees_type_and_value() -> None:
    assert same(text(""), Variant("BSTR", None))
    assert same(truth(True), Variant("BOOL", -1))
    assert same(Variant("CY", "1.50"), Variant("CY", "1.5"))
    assert not same(long(1), Variant("I2", 1))
    assert not same(text("a"), text("A"))
    assert not same(octets(b"a"), Variant("ARRAY", b"a", "I1"))


def test_null_has_several_forms() -> None:
    assert all(map(hollow, (Variant("EMPTY"), Variant("NULL"), text(""), octets(b""), Variant("DISPATCH"))))
    assert not any(map(hollow, (long(0), text("a"), octets(b"\0"))))


def test_limits() -> None:
    assert [value.value for value in Longs(0, 7).outside()] == [-(2**31), -1, 8, 2**31 - 1]
    assert [value.value for value in Longs(0, 7).inside()] == [0, 4, 7]
    assert Longs().outside() == ()
    assert [value.value for value in Named("MQMSGPRIVLEVEL").outside()] == [-1, 2, 4, 2**31 - 1]
    assert Texts(250).admits(text("x" * 249)) and not Texts(250).admits(text("x" * 250))
    assert not Guids().admits(text("01234567-89ab-cdef-0123-456789abcdef"))
