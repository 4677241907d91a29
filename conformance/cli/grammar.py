"""`mqconform grammar parse`: is a text a queue name?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.output import emit_json, fail, json_wanted
from conformance.cli.shared_options import Profile, Reading, alternatives, group, reading_set
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.grammar.tree import Grammar

grammar_app = group("Work with queue names.")
Form = Annotated[str, typer.Option(help="path_name, format_name or multiple_element.")]


@contextmanager
def input_errors(*others: type[Exception]) -> Iterator[None]:
    """Report an error in the input as one message and end the command. others: errors to report likewise."""
    from conformance.grammar.tree import AbnfError
    from conformance.spec.catalogue import CatalogueError

    kinds: tuple[type[Exception], ...] = (AbnfError, CatalogueError, *others)
    try:
        yield
    except kinds as error:
        fail(f"{error}.", ExitCode.BAD_INPUT)
    except OSError as error:
        fail(f"{error.filename} cannot be used: {error.strerror}.", ExitCode.BAD_INPUT)


@grammar_app.command("parse", epilog="Example: mqconform grammar parse 'DIRECT=OS:host\\private$\\orders'")
def grammar_parse(
    text: Annotated[str | None, typer.Argument(help="The name (default: read from stdin).")] = None,
    form: Form = "format_name",
    profile: Profile = None,
    reading: Reading = None,
) -> None:
    """Check whether a text is a queue name, and if not, show where it goes wrong."""
    from conformance.grammar.automaton import dfa

    if text is None:
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").removesuffix("\n")
    chosen_set = reading_set(reading) or "windows"
    with input_errors():
        grammar, version = name_grammar(profile or DEFAULT_PROFILE, chosen_set, alternatives(reading))
        rule = rule_of_form(form)
        stuck = dfa(grammar, rule).stuck(text)
    if json_wanted():
        emit_json({"accepted": stuck is None, "form": form, "version": version, "stuck_at": stuck})
    elif stuck is None:
        print(f"This is a {form} of MSMQ {version}.")
    else:
        where = (
            "it ends too early" if stuck >= len(text) else f"{text[stuck]!a} (character {stuck + 1}) does not belong"
        )
        print(f"This is not a {form} of MSMQ {version}: {where}.")
    sys.exit(int(ExitCode.CONFORMS if stuck is None else ExitCode.DEVIATES))


def name_grammar(profile: str, readings: str, chosen: list[str]) -> tuple[Grammar, str]:
    """Return the grammar of names under these readings, and the version of MSMQ. Ends the command for unknown ones."""
    from conformance.grammar.sources import load, reading_set, version_of
    from conformance.spec.catalogue import chosen_readings
    from conformance.spec.versions import PROFILES

    if profile not in PROFILES:
        fail(f"There is no profile {profile}; there are {', '.join(PROFILES)}.", ExitCode.BAD_INPUT)
    version = version_of(profile)
    return load(version, reading_set(readings) | chosen_readings(chosen)), version


def rule_of_form(form: str) -> str:
    """Return the rule of a form of names. Ends the command for an unknown one."""
    from conformance.grammar.sources import RULES

    if form not in RULES:
        fail(f"There is no form {form}; there are {', '.join(RULES)}.", ExitCode.BAD_INPUT)
    return RULES[form]
