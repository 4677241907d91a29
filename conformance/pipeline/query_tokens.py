"""Cut the text of a query into tokens as Spark's lexer does, and refuse what could be cut in more than one way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from conformance.pipeline.errors import PipelineError
from conformance.report.text import label

Kind = Literal["word", "name", "number", "string", "sign"]

_TOKEN: Final = re.compile(
    r"""
    (?P<nothing>[ \t\r\n]+ | --(?:\\\n|[^\r\n])*\r?\n? | /\*(?!\+)(?:(?!/\*|\*/).)*\*/)
    | (?P<string>[rR](?:'[^']*'|"[^"]*") | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
    | (?P<name>`(?:[^`]|``)*`)
    | (?P<url>[A-Za-z]+://)
    | (?P<number>[0-9][A-Za-z0-9_]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<sign>/\*\+ | \*/ | \|> | /(?!\*) | [-+*%<>=!~^&|.,;()\[\]{}:])
    """,
    re.VERBOSE | re.DOTALL,
)
_PAIRS: Final = {"(": ")", "[": "]", "{": "}", "/*+": "*/"}


@dataclass(frozen=True, slots=True)
class Token:
    """A token. word: a keyword or an unquoted name, in lower case; name: one in backticks, as it is meant."""

    kind: Kind
    text: str

    def sign(self, text: str) -> bool:
        """Tell whether it is this sign."""
        return self.kind == "sign" and self.text == text

    def word(self, *texts: str) -> bool:
        """Tell whether it is one of these words."""
        return self.kind == "word" and self.text in texts


NONE: Final = Token("sign", "")
"""The token before the first and after the last."""


def tokens_of(text: str, most: int) -> list[Token]:
    """Return the tokens without blanks and comments. Raises PipelineError for more than `most`, and for other signs."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = match.lastgroup if match is not None else None
        if match is None or kind == "url":
            shown = label(text[at : at + 20], 20)
            raise PipelineError(f"The query cannot be read at {shown!r}: put names with such signs into backticks.")
        at = match.end()
        if kind == "nothing":
            continue
        if len(found) == most:
            raise PipelineError(f"The query has more than {most:,} parts; ask for less at once.")
        said = match[0]
        if kind == "word":
            found.append(Token("word", said.lower()))
        elif kind == "name":
            found.append(Token("name", said[1:-1].replace("``", "`")))
        elif kind == "number":
            found.append(Token("number", said))
        elif kind == "string":
            found.append(Token("string", said))
        else:
            found.append(Token("sign", said))
    return found


def pairs_of(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the index of the closing token by that of each opening one. Raises PipelineError if one has no partner."""
    pairs: dict[int, int] = {}
    open_: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in _PAIRS:
            open_.append(at)
        elif token.text in _PAIRS.values():
            if not open_ or _PAIRS[tokens[open_[-1]].text] != token.text:
                raise PipelineError(f"The query cannot be answered (syntax): {token.text} closes nothing.")
            pairs[open_.pop()] = at
    if open_:
        raise PipelineError(f"The query cannot be answered (syntax): {tokens[open_[-1]].text} is not closed.")
    return pairs
