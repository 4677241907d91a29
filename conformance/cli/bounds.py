"""Typer options for numbers with bounds and for days, so that a senseless value is refused at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import typer

DAY_MS = 86_400_000


def number(flag: str, low: int, high: int, text: str, *, metavar: str = "N") -> Any:
    """Return a typer option for a whole number from low to high. text: its help, to which the bounds are added."""
    return typer.Option(flag, parser=_whole(low, high), metavar=metavar, help=f"{text}  [{low:,} to {high:,}]")


def seconds(flag: str, low: float, high: float, text: str) -> Any:
    """Return a typer option for seconds from low to high; fractions are allowed."""
    return typer.Option(flag, parser=_amount(low, high), metavar="SECONDS", help=f"{text}  [{low:,} to {high:,}]")


def day(flag: str, text: str) -> Any:
    """Return a typer option for a day, as `date`."""
    return typer.Option(flag, parser=_day, metavar="YYYY-MM-DD", help=text)


def _day(text: str | date) -> date:
    if isinstance(text, date):
        return text
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise typer.BadParameter(f"Invalid date {_short(text)!r}: write YYYY-MM-DD.") from None


def _amount(low: float, high: float) -> Callable[[str], float]:
    def parsed(text: str | float) -> float:
        try:
            found = float(text)
        except ValueError:
            raise typer.BadParameter(f"{_short(str(text))!r} is not a number ({low:,} to {high:,}).") from None
        if not low <= found <= high:  # also refuses nan
            raise typer.BadParameter(f"{_short(str(text))} is out of range ({low:,} to {high:,}).")
        return found

    return parsed


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parsed(text: str | int) -> int:
        word = str(text).strip()
        sign = word[1:] if word[:1] in ("-", "+") else word
        if not (sign.isascii() and sign.isdigit()):
            raise typer.BadParameter(f"{_short(word)!r} is not a whole number ({low:,} to {high:,}).")
        # Python refuses to convert a number of thousands of digits, so its length is checked first.
        if len(sign) > len(str(high)) + 20 or not low <= int(word) <= high:
            raise typer.BadParameter(f"{_short(word)} is out of range ({low:,} to {high:,}).")
        return int(word)

    return parsed


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}..."
