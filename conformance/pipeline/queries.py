"""Check SQL: only one query over the tables of a lake is answered, which computes and does nothing else.

The text is cut into tokens and walked before Spark sees it. Every table must be one of the lake or of a `with`, and
every function that is called must be known, so that those of a later Spark are refused. Where Spark could take a text
in two ways, of which one names a table, that way counts; some queries are refused for it, and can be written otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.query_functions import FUNCTIONS, GENERATING
from conformance.pipeline.query_tokens import NONE, Token, pairs_of, tokens_of
from conformance.pipeline.schemas import TABLES
from conformance.report.text import label

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MAX_NODES: Final = 20_000
"""Parts of a query."""
MAX_TEXT: Final = 1 << 20
"""Characters of a query."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BEGINS: Final = ("select", "with", "values", "table", "from")
"""Words with which a query begins."""
_BEFORE_BRACKET: Final = _words(
    """
    all and any as between by case cube distinct div else escape except exists filter for from group having ilike in
    intersect is join lateral like limit materialized minus not offset on or over partition pivot regexp rlike rollup
    select setminus sets some tablesample then union unpivot using values when where within
    """
)
"""Words that may stand before a bracket without being a function."""
_GRAMMAR: Final = _words("char character dec decimal numeric timestampadd timestampdiff try_cast varchar")
"""Words of the grammar that take arguments: types, and functions that are not in Spark's list of them."""
_FROM_INSIDE: Final = _words("extract overlay substr substring trim")
"""Functions with a FROM between their arguments."""
_HINTS: Final = _words(
    """
    broadcast broadcastjoin coalesce mapjoin merge mergejoin rebalance repartition repartition_by_range shuffle_hash
    shuffle_merge shuffle_replicate_nl
    """
)
_LITERALS: Final = _words(
    """
    and array between binary case cast date day days else end false hour hours in interval is map minute minutes month
    months not null or second seconds struct then timestamp timestamp_ltz timestamp_ntz true when x year years
    """
)
"""Words, other than functions, in a row of VALUES that follows FROM."""
_CHANGING: Final = _words("delete insert merge update")
_TELLING: Final = _words("current_catalog current_database current_path current_schema current_user session_user user")
"""Names that Spark takes for functions without brackets, which tell who asks."""
_QUERY_ONLY: Final = (
    "Only one query over the tables of the lake is answered (select, with, values or table; describe TABLE; explain "
    "QUERY); this {what}."
)
_SETTINGS: Final = {
    "spark.sql.variable.substitute": "false",  # ${env:NAME} within the text
    "spark.sql.runSQLOnFiles": "false",  # csv.`/a/file` for a table
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",  # "a text" for a name
}


def answered(spark: SparkSession, text: str) -> DataFrame:
    """Return the answer to a query over the views. Raises PipelineError if it is not one, and Spark's own errors."""
    check(text)
    with _settings(spark):
        frame = spark.sql(text)
        _ = frame.schema  # Spark Connect looks at a query only when it is asked for something.
        return frame


def check(text: str) -> None:
    """Raise PipelineError if the text is no query that is answered."""
    if len(text) > MAX_TEXT:
        raise PipelineError(f"The query has {len(text):,} characters; at most {MAX_TEXT:,} are read.")
    tokens = tokens_of(text, MAX_NODES)
    while tokens and tokens[-1].sign(";"):
        tokens.pop()
    _Walk(tokens, pairs_of(tokens)).statement()


@contextmanager
def _settings(spark: SparkSession) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in _SETTINGS}
    for name, value in _SETTINGS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)


@dataclass(slots=True)
class _Level:
    """The inside of a pair of brackets, or the whole query.

    call: the function whose arguments it holds. listed: a comma begins another table of FROM. wanted: a table comes
    next. rows: rows of a VALUES that follows FROM come. begun: a query may begin here, too. fresh: index of the token
    that could be an alias of the last table.
    """

    kind: Literal["plain", "names", "row", "hint"] = "plain"
    call: str = ""
    listed: bool = False
    wanted: bool = False
    rows: bool = False
    begun: bool = False
    fresh: int = -1


@dataclass(slots=True)
class _Walk:
    """A walk over the tokens. tables: names of tables, those defined by `with` included."""

    tokens: list[Token]
    pairs: dict[int, int]
    tables: set[str] = field(default_factory=lambda: set(TABLES))
    relations: list[tuple[str, ...]] = field(default_factory=list)
    names: set[int] = field(default_factory=set)
    """Opening brackets of lists of names: of columns, or of a type."""
    passed: set[int] = field(default_factory=set)
    """Tokens that name what a `with` defines."""
    levels: list[_Level] = field(default_factory=lambda: [_Level()])

    def statement(self) -> None:
        """Check a statement. Raises PipelineError."""
        at = 0
        if self._at(0).word("explain"):
            at = 2 if self._at(1).word("extended", "codegen", "cost", "formatted") else 1
        elif self._at(0).word("describe", "desc"):
            self._described()
            return
        first = self._at(at)
        if not (first.word(*_BEGINS) or first.sign("(")):
            self._no_query(f"begins with {label(first.text, 80)}" if first.text else "says nothing")
        while at < len(self.tokens):
            at = self._step(at)
        if self.levels[0].wanted:
            self._no_query("ends where a table is expected")
        for parts in self.relations:
            if len(parts) != 1 or parts[0].lower() not in self.tables:
                shown = label(".".join(parts), 80)
                raise PipelineError(f"No table of a lake is called {shown}; there are {', '.join(TABLES)}.")

    def _described(self) -> None:
        at = 2 if self._at(1).word("table") else 1
        at += self._at(at).word("extended", "formatted")
        parts, end = self._chain(at)
        if not parts or end != len(self.tokens):
            self._no_query("describes something else")
        if len(parts) != 1 or parts[0].lower() not in self.tables:
            shown = label(".".join(parts), 80)
            raise PipelineError(f"No table of a lake is called {shown}; there are {', '.join(TABLES)}.")

    def _at(self, at: int) -> Token:
        return self.tokens[at] if 0 <= at < len(self.tokens) else NONE

    def _no_query(self, what: str) -> NoReturn:
        raise PipelineError(_QUERY_ONLY.format(what=what))

    def _chain(self, at: int) -> tuple[tuple[str, ...], int]:
        """Return the parts of a name, a.b.c, and the index after it; no parts if there is no name."""
        if self._at(at).kind not in ("word", "name"):
            return (), at
        parts = [self._at(at).text]
        at += 1
        while self._at(at).sign(".") and self._at(at + 1).kind in ("word", "name"):
            parts.append(self._at(at + 1).text)
            at += 2
        return tuple(parts), at

    def _step(self, at: int) -> int:
        """Check the token at an index, and return the index of the next."""
        token, level = self.tokens[at], self.levels[-1]
        if at in self.passed:
            return at + 1
        if token.kind == "sign" and token.text in (")", "]", "}", "*/"):
            if level.wanted:
                self._no_query("has a place without the table that belongs there")
            self.levels.pop()
            self.levels[-1].fresh = at + 1 if self.levels[-1].fresh == at else -1
            return at + 1
        if level.kind == "names":
            return self._name(at)
        if level.wanted:
            return self._table(at)
        if token.kind == "sign":
            return self._sign(at)
        if token.kind == "word" and (done := self._keyword(at)) is not None:
            return done
        if token.kind in ("word", "name"):
            return self._named(at)
        if token.kind in ("number", "string") and self._at(at + 1).sign("("):
            self._no_query(f"has a {token.kind} before a bracket")
        return at + 1

    def _push(self, at: int, level: _Level, *, table: bool = False) -> int:
        """Go into the brackets that open at an index. table: what they hold is a table, which may have an alias."""
        if table:
            self.levels[-1].fresh = self.pairs[at]
        self.levels.append(level)
        return at + 1

    def _name(self, at: int) -> int:
        """Check a token in a list of names, or in a type."""
        token = self.tokens[at]
        if token.sign("(") or token.sign("["):
            return self._push(at, _Level("names"))
        if (
            token.kind == "string"
            or token.word(*_BEGINS, "join")
            or (token.kind == "sign" and token.text not in ".,:<>")
        ):
            self._no_query(f"has {label(token.text, 40)} in a list of names")
        return at + 1

    def _table(self, at: int) -> int:
        """Check a token where a table is expected."""
        token, level, after = self.tokens[at], self.levels[-1], self._at(at + 1)
        if token.sign("("):
            level.wanted = False
            return self._push(at, _Level(wanted=True, begun=True, listed=True), table=True)
        if level.begun and token.word(*_BEGINS) and not after.sign(")"):
            level.wanted = level.begun = level.listed = False
            if token.word("values"):
                return at + 1
            done = self._keyword(at)
            return at + 1 if done is None else done
        if token.word("lateral") and not after.word("view") and after is not NONE:
            return at + 1
        if token.word("values") and after.sign("("):
            level.wanted, level.rows = False, True
            return at + 1
        parts, end = self._chain(at)
        if not parts:
            self._no_query(f"has {label(token.text, 40)} where a table is expected")
        level.wanted = level.begun = False
        if not self._at(end).sign("("):
            self.relations.append(parts)
            level.fresh = end
            return end
        if len(parts) != 1 or parts[0].lower() not in GENERATING:
            raise _no_function(parts)
        return self._push(end, _Level(call=parts[0].lower()), table=True)

    def _sign(self, at: int) -> int:
        token, level, after = self.tokens[at], self.levels[-1], self._at(at + 1)
        if token.sign(";"):
            self._no_query("has several statements")
        if token.sign("("):
            kind: Literal["plain", "names", "row"] = "names" if at in self.names else "plain"
            if level.kind == "row" or (level.rows and kind == "plain"):
                kind = "row"
            return self._push(at, _Level(kind))
        if token.text in ("[", "{"):
            return self._push(at, _Level("row" if level.kind == "row" else "plain"))
        if token.sign("/*+"):
            return self._push(at, _Level("hint"))
        if token.sign("|>"):
            level.listed = level.rows = False
        if token.sign(",") and not (level.rows and after.sign("(")):
            level.rows = False
            level.wanted = level.listed
        return at + 1

    def _keyword(self, at: int) -> int | None:
        """Check a word that may be one of the grammar; None if it is a name here."""
        token, level, after = self.tokens[at], self.levels[-1], self._at(at + 1)
        word = token.text
        if level.kind == "row" and word not in _LITERALS and not after.sign("("):
            self._no_query(f"has {label(word, 40)} in a row of values")
        if word in _CHANGING and level.kind != "hint":
            self._no_query(f"has {word.upper()}")
        if word == "using" and not after.sign("("):
            self._no_query("has USING with something else than columns")
        if word == "from":
            self._from(at)
        elif word in ("join", "table"):
            level.wanted = True
        elif word == "with":
            return self._with(at)
        elif word == "lateral":
            return self._view(at)
        elif word == "select" and level.listed:
            self._no_query("has SELECT after FROM; put it first")
        elif word in ("union", "intersect", "except", "minus", "setminus"):
            return self._together(at)
        elif self._ordering(at):
            level.listed = False
            return at + 2
        elif word == "as":
            if after.word("of"):
                self._no_query("asks for another version of a table")
            if after.kind in ("word", "name") and self._at(at + 2).sign("("):
                self.names.add(at + 2)
                level.rows = False
                return at + 2
        else:
            return None
        return at + 1

    def _ordering(self, at: int) -> bool:
        """Tell whether a clause begins here whose commas stand between other things than tables."""
        if self.tokens[at].word("window"):
            return self._at(at + 2).word("as") and self._at(at + 3).sign("(")
        return self.tokens[at].word("group", "order", "sort", "cluster", "distribute") and self._at(at + 1).word("by")

    def _from(self, at: int) -> None:
        level, after = self.levels[-1], self._at(at + 1)
        if level.call in _FROM_INSIDE:
            return
        if self._at(at - 1).word("distinct") and self._at(at - 2).word("is", "not"):
            if after.kind == "string" and after.text.startswith("'"):
                return
            if after.kind != "number" or self._at(at + 2).sign("."):
                self._no_query("has IS DISTINCT FROM a name; write not (a <=> b)")
            return
        level.listed = level.wanted = True
        level.rows = level.begun = False

    def _with(self, at: int) -> int:
        """Take the names that a `with` defines; the queries between their brackets are walked as any other."""
        if self._at(at + 1).word("rollup", "cube"):
            return at + 2
        if self.levels[-1].listed:
            self._no_query("has WITH after FROM")
        at += 1
        if (
            self._at(at).word("recursive")
            and self._at(at + 1).kind in ("word", "name")
            and not self._at(at + 1).word("as")
        ):
            at += 1
        start = at
        while True:
            if self._at(at).kind not in ("word", "name"):
                self._no_query("has WITH without the name of a table")
            self.tables.add(self._at(at).text.lower())
            self.passed.add(at)
            at += 1
            if self._at(at).sign("("):
                self.names.add(at)
                at = self.pairs[at] + 1
            if self._at(at).word("max") and self._at(at + 1).word("recursion") and self._at(at + 2).word("level"):
                self.passed |= {at, at + 1, at + 2}
                at += 4
            if not (self._at(at).word("as") and self._at(at + 1).sign("(") and self._begins(at + 2)):
                self._no_query("has WITH, and no query in brackets after AS")
            at = self.pairs[at + 1] + 1
            if not self._at(at).sign(","):
                break
            at += 1
        if not self._begins(at):
            self._no_query("has WITH, and no query after it")
        return start

    def _begins(self, at: int) -> bool:
        return self._at(at).word(*_BEGINS) or self._at(at).sign("(")

    def _view(self, at: int) -> int:
        """Check LATERAL VIEW; LATERAL elsewhere stands before a table."""
        if not self._at(at + 1).word("view"):
            self._no_query("has LATERAL where no table follows")
        end = at + 2 + self._at(at + 2).word("outer")
        if self._at(end).kind not in ("word", "name") or not self._at(end + 1).sign("("):
            self._no_query("has LATERAL VIEW without a function")
        self.levels[-1].listed = False
        return end

    def _together(self, at: int) -> int:
        """Check UNION and the like, after which a query begins, and `* except (columns)`."""
        if self._at(at).word("except") and self._at(at - 1).sign("*") and self._at(at + 1).sign("("):
            self.names.add(at + 1)
            return at + 1
        end = at + 1
        end += self._at(end).word("all", "distinct")
        if self._at(end).word("by") and self._at(end + 1).word("name"):
            end += 2
        if not self._begins(end):
            self._no_query(f"has {self._at(at).text.upper()} without a query after it")
        level = self.levels[-1]
        level.listed = level.rows = False
        level.wanted = level.begun = True
        return end

    def _named(self, at: int) -> int:
        """Check a name, which may call a function."""
        token, level = self.tokens[at], self.levels[-1]
        parts, end = self._chain(at)
        level.rows = level.rows and token.kind == "word" and token.text == "values"
        if self._at(end).sign(".") and self._at(end + 1).kind == "number":
            self._no_query("has a number after the dot of a name")
        if not self._at(end).sign("("):
            if level.kind == "row" and (len(parts) > 1 or token.kind == "name"):
                self._no_query(f"has {label(parts[0], 40)} in a row of values")
            if len(parts) == 1 and parts[0].lower() in _TELLING and not self._at(at - 1).sign("."):
                raise _no_function(parts)
            return end
        if len(parts) != 1:
            raise _no_function(parts)
        name = parts[0].lower()
        if token.kind == "word" and name in _BEFORE_BRACKET:
            return end
        if level.fresh == at and name not in FUNCTIONS:
            self.names.add(end)
            return end
        if level.kind == "hint" and name in _HINTS:
            return self._push(end, _Level())
        if name not in FUNCTIONS and name not in _GRAMMAR:
            raise _no_function(parts)
        if name in _FROM_INSIDE and self._begins(end + 1):
            self._no_query(f"has a query in {name.upper()}")
        return self._push(end, _Level(call=name))


def _no_function(parts: tuple[str, ...]) -> PipelineError:
    name = label(".".join(parts), 80)
    return PipelineError(f"The function {name} is not known, or does more than compute; a query cannot call it here.")
