"""Conditions on columns of `msmq_pcap` that the source checks itself, with the meaning that Spark gives them.

A condition is true, false or, where the column is null, neither; `Not` leaves that as it is, and only rows for which it
is true are kept. Texts compare byte by byte, as they do in Spark without a collation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.schemas import SOURCE, Type

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.datasource import Filter  # Since 4.1.

_LITERALS: Final[Mapping[Type, type]] = {"string": str, "int32": int, "int64": int, "bool": bool, "time": datetime}
"""By type of a column, that of a literal. Columns of other types are left to Spark."""


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on a column. name: of Spark's filter. value: the literal, or those of a list. negated: within `Not`.

    name is a key of `_TRUTH`.
    """

    column: str
    name: str
    value: Any = None
    negated: bool = False

    def keeps(self, found: pyarrow.Array) -> Any:
        """Return which values fit, as bool[n]."""
        import pyarrow.compute as pc

        truth = _TRUTH[self.name](found, self.value)
        if self.negated:
            truth = pc.invert(truth)
        return pc.fill_null(truth, False).to_numpy(zero_copy_only=False)


def test_of(asked: Filter) -> Test | None:
    """Return the condition that one of Spark's filters means; None for one that is left to Spark."""
    negated = type(asked).__name__ == "Not"
    inner: Any = asked.child if negated else asked
    name = type(inner).__name__
    path = getattr(inner, "attribute", ())
    column = next((one for one in SOURCE.columns if path == (one.name,)), None)
    if column is None or column.type not in _LITERALS or name not in _TRUTH:
        return None
    value: Any = getattr(inner, "value", None)
    if name == "In":
        value = tuple(value)
    literals = [one for one in (value if name == "In" else [value]) if one is not None]
    if (value is None and name not in _WITHOUT) or not all(_fits(one, column.type) for one in literals):
        return None
    if name in _TEXT and column.type != "string":
        return None
    return Test(column.name, name, value, negated)


def _fits(value: Any, type_: Type) -> bool:
    """Tell whether a literal has the type of a column and its range."""
    import pyarrow as pa

    if type(value) is not _LITERALS[type_] or (isinstance(value, datetime) and value.tzinfo is None):
        return False
    kind = {"string": pa.string(), "int32": pa.int32(), "int64": pa.int64(), "bool": pa.bool_()}
    try:
        pa.scalar(value, kind.get(type_, pa.timestamp("us", tz="UTC")))
    except (pa.ArrowException, OverflowError, ValueError):
        return False
    return True


def _compared(name: str) -> Callable[[Any, Any], Any]:
    def compare(found: Any, value: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        return getattr(pc, name)(found, pa.scalar(value, found.type))

    return compare


def _same(found: Any, value: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if value is None:
        return pc.is_null(found)
    return pc.fill_null(pc.equal(found, pa.scalar(value, found.type)), False)


def _among(found: Any, values: Sequence[Any]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    truth = pc.is_in(found, value_set=pa.array([one for one in values if one is not None], found.type))
    nothing = pa.scalar(None, pa.bool_())
    if None in values:
        truth = pc.if_else(truth, truth, nothing)
    return pc.if_else(pc.is_valid(found), truth, nothing)


def _null(found: Any, value: Any) -> Any:
    import pyarrow.compute as pc

    return pc.is_null(found)


def _there(found: Any, value: Any) -> Any:
    import pyarrow.compute as pc

    return pc.is_valid(found)


def _matched(name: str) -> Callable[[Any, Any], Any]:
    def match(found: Any, value: Any) -> Any:
        import pyarrow.compute as pc

        return getattr(pc, name)(found, pattern=value)

    return match


_WITHOUT: Final = ("IsNull", "IsNotNull", "EqualNullSafe")
_TEXT: Final = ("StringStartsWith", "StringEndsWith", "StringContains")
_TRUTH: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "EqualTo": _compared("equal"),
    "GreaterThan": _compared("greater"),
    "GreaterThanOrEqual": _compared("greater_equal"),
    "LessThan": _compared("less"),
    "LessThanOrEqual": _compared("less_equal"),
    "EqualNullSafe": _same,
    "In": _among,
    "IsNull": _null,
    "IsNotNull": _there,
    "StringStartsWith": _matched("starts_with"),
    "StringEndsWith": _matched("ends_with"),
    "StringContains": _matched("match_substring"),
}
"""By name of Spark's filter, the truth of each value of a column, null where Spark has null."""
