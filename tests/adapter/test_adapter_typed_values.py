"""The compiled check of a typed value asks for frequent types first: it takes and refuses what the schema does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import fastjsonschema

from conformance.adapter import protocol
from conformance.verdict import Json

VALUES: tuple[Json, ...] = (None, 0, -1, 300, 2**31, 2**32, "", "a", "-5", "1.5", "YQ==", True, [], [1])
LISTS: tuple[Json, ...] = ([{"vt": "I4", "value": 1}], [{"vt": "I4", "value": "a"}], [{"vt": "BSTR", "value": None}])


def values() -> Iterator[dict[str, Json]]:
    """Yield typed values, right and wrong ones, of every type."""
    words = [*protocol.document("common")["$defs"]["typed_value"]["properties"]["vt"]["enum"], "X", 3]
    for vt, of in product(words, (None, "UI1", "I4", "VARIANT", "X")):
        given: dict[str, Json] = {"vt": vt} if of is None else {"vt": vt, "of": of}
        yield given
        yield from ({**given, "value": value} for value in (*VALUES, *LISTS))


def test_a_typed_value_is_taken_or_refused_as_its_schema_says() -> None:
    schema = protocol.inlined(protocol.document("common")["$defs"]["typed_value"])
    plain, check = fastjsonschema.compile(schema), protocol.value_validator("typed_value")
    taken = 0
    for value in values():
        try:
            plain(value)
        except fastjsonschema.JsonSchemaValueException:
            wanted = False
        else:
            wanted = True
        try:
            check(value)
        except protocol.SchemaInvalid:
            assert not wanted, value
        else:
            assert wanted, value
            taken += 1
    assert taken > 100
