"""Spark's own parser as the judge of the check of queries: its result is walked by names that are not public.

Each operator, expression, table and function must be known here. The check in `pipeline/queries.py` reads the text
alone; whatever it lets through, this walk must let through, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.pipeline.query_functions import GENERATING
from conformance.pipeline.schemas import TABLES


class Refused(Exception):
    """A query that does more than ask for rows of the lake's tables."""


def _words(text: str, before: str = "") -> frozenset[str]:
    return frozenset(before + name for name in text.split())


_CATALYST = "org.apache.spark.sql.catalyst."
_PLANS: Final = _words(
    """
    plans.logical.Aggregate plans.logical.Distinct plans.logical.Except plans.logical.Filter plans.logical.Generate
    plans.logical.GlobalLimit plans.logical.Intersect plans.logical.Join plans.logical.LateralJoin
    plans.logical.LocalLimit plans.logical.LocalRelation plans.logical.Offset plans.logical.OneRowRelation
    plans.logical.Pivot plans.logical.Project plans.logical.RepartitionByExpression expressions.PipeOperator
    plans.logical.Sample plans.logical.Sort plans.logical.SubqueryAlias plans.logical.Union plans.logical.Unpivot
    plans.logical.UnresolvedHint plans.logical.UnresolvedWith plans.logical.WithWindowDefinition
    analysis.UnresolvedHaving analysis.UnresolvedInlineTable analysis.UnresolvedRelation
    analysis.UnresolvedSubqueryColumnAliases analysis.UnresolvedTVFAliases analysis.UnresolvedTableValuedFunction
    """,
    _CATALYST,
)
"""Operators of a query. None of them creates, changes, removes, sets, loads or starts anything."""
_NAMES: Final = _words(
    """
    MultiAlias NamedParameter UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue UnresolvedFunction
    UnresolvedGenerator UnresolvedOrdinal UnresolvedPipeAggregateOrdinal UnresolvedRegex UnresolvedStar
    UnresolvedStarExcept UnresolvedStarExceptOrReplace UnresolvedStarWithColumns UnresolvedSubqueryColumnAliases
    """,
    f"{_CATALYST}analysis.",
)
"""Expressions that name a column or a function; the walk checks the name. No value is given for a parameter."""
_EXPRESSIONS: Final = f"{_CATALYST}expressions."
"""Package of the expressions that the grammar itself makes: arithmetic, comparisons, casts, subqueries, windows."""
_GROUPS: Final = _words(
    """
    agg_funcs array_funcs bitwise_funcs collection_funcs conditional_funcs conversion_funcs csv_funcs datetime_funcs
    generator_funcs hash_funcs json_funcs lambda_funcs map_funcs math_funcs predicate_funcs sketch_funcs st_funcs
    string_funcs struct_funcs url_funcs variant_funcs vector_funcs window_funcs
    """
)
"""Groups of Spark's functions that compute from their arguments. Those about XML, Avro and Protobuf are not among them,
because they take names of files."""
_MORE: Final = _words(
    """
    aes_decrypt aes_encrypt assert_true bitmap_bit_position bitmap_bucket_number bitmap_count hmac
    monotonically_increasing_id raise_error try_aes_decrypt typeof uuid version
    """
)
"""Further such functions, from a group of Spark that also has `reflect`, `java_method` and names of files."""
_ROOTS: Final = {
    "explain": "org.apache.spark.sql.execution.command.ExplainCommand",
    "describe": f"{_CATALYST}plans.logical.DescribeRelation",
}
_PLAN, _EXPRESSION = f"{_CATALYST}plans.logical.LogicalPlan", f"{_EXPRESSIONS}Expression"
_ITERABLE, _PRODUCT = "scala.collection.Iterable", "scala.Product"
_KINDS: Final = (_PLAN, _EXPRESSION, _ITERABLE, _PRODUCT)


def walked(spark: Any, text: str) -> None:
    """Raise Refused for what is no query over the tables, and Spark's own error for what is no SQL."""
    _Walk(spark).root(spark._jsparkSession.sessionState().sqlParser().parsePlan(text))


def functions(spark: Any) -> set[str]:
    """The names of Spark's functions that compute from their arguments."""
    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    found = {}
    for each in _each(registry.listFunction().iterator()):
        found[str(each.funcName())] = str(registry.lookupFunction(each).get().getGroup())
    return {name for name, group in found.items() if group in _GROUPS or name in _MORE}


@dataclass(slots=True)
class _Walk:
    """A walk over the parser's result. tables: names of tables, those defined by `with` included."""

    spark: Any
    tables: set[str] = field(default_factory=lambda: set(TABLES))
    relations: list[tuple[str, ...]] = field(default_factory=list)
    count: int = 0
    kinds: dict[str, frozenset[str]] = field(default_factory=dict)
    """By class met so far: which of `_KINDS` it is."""

    def root(self, plan: Any) -> None:
        """Check a statement. Raises PipelineError."""
        name = _class(plan)
        if name == _ROOTS["explain"]:
            plan = plan.logicalPlan()
        elif name == _ROOTS["describe"]:
            table = plan.relation()
            if _class(table) != f"{_CATALYST}analysis.UnresolvedTableOrView":
                raise Refused("describes something else")
            self.relations.append(_texts(table.multipartIdentifier()))
            self._known()
            return
        self._walk(plan)
        self._known()

    def _known(self) -> None:
        for parts in self.relations:
            if len(parts) != 1 or parts[0].lower() not in self.tables:
                raise Refused(".".join(parts))

    def _walk(self, root: Any) -> None:
        from py4j.java_gateway import JavaObject

        waiting = [root]
        while waiting:
            one = waiting.pop()
            if not isinstance(one, JavaObject):  # a text, a number or nothing
                continue
            self.count += 1
            name = _class(one)
            if name not in self.kinds:
                self.kinds[name] = frozenset(kind for kind in _KINDS if self._is(one, kind))
            kinds = self.kinds[name]
            if _PLAN in kinds:
                self._plan(one, name.removesuffix("$"))
            elif _EXPRESSION in kinds:
                self._expression(one, name.removesuffix("$"))
            if _ITERABLE in kinds:
                waiting += _each(one.iterator())
            elif _PRODUCT in kinds:
                waiting += _each(one.productIterator())

    def _plan(self, one: Any, name: str) -> None:
        if name not in _PLANS:
            raise Refused(f"has {_short(name)}")
        if name.endswith(".UnresolvedRelation"):
            self.relations.append(_texts(one.multipartIdentifier()))
        elif name.endswith(".UnresolvedWith"):
            self.tables |= {str(each._1()).lower() for each in _each(one.cteRelations().iterator())}
        elif name.endswith(".UnresolvedTableValuedFunction"):
            parts = _texts(one.name())
            if len(parts) != 1 or parts[0].lower() not in GENERATING:
                raise _no_function(parts)

    def _expression(self, one: Any, name: str) -> None:
        if name.startswith(_EXPRESSIONS):
            return
        if name not in _NAMES:
            raise Refused(f"has {_short(name)}")
        if name.endswith(".UnresolvedFunction"):
            self._function(_texts(one.nameParts()))
        elif name.endswith(".UnresolvedGenerator"):
            self._function(tuple(one.name().unquotedString().split(".")))

    def _function(self, parts: tuple[str, ...]) -> None:
        if len(parts) != 1:
            raise _no_function(parts)
        jvm = self.spark._jvm.org.apache.spark.sql.catalyst
        known = jvm.analysis.FunctionRegistry.builtin()
        found = known.lookupFunction(jvm.FunctionIdentifier(parts[0].lower()))
        if found.isEmpty():
            return  # Spark knows none either, so there is nothing to call.
        about = found.get()
        if parts[0].lower() not in _MORE and str(about.getGroup()) not in _GROUPS:
            raise _no_function(parts)

    def _is(self, one: Any, name: str) -> bool:
        from py4j.java_gateway import is_instance_of

        return bool(is_instance_of(self.spark.sparkContext._gateway, one, name))


def _no_function(parts: tuple[str, ...]) -> Refused:
    return Refused(".".join(parts))


def _class(one: Any) -> str:
    return str(one.getClass().getName())


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _texts(names: Any) -> tuple[str, ...]:
    return tuple(map(str, _each(names.iterator())))


def _each(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()
