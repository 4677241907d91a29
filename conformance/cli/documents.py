"""Commands about the documents: `requirements`, `readings`, `grammar` and `situations`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.gate import read
from conformance.cli.output import console, emit_json, fail, json_wanted
from conformance.cli.shared_options import (
    Adapter,
    DeadlineMs,
    Profile,
    Reading,
    Section,
    Seed,
    alternatives,
    group,
    joined,
    reading_set,
    several,
    time,
)
from conformance.report.text import label
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.grammar.abnf import Grammar
    from conformance.report.situations import Covered

requirements_app = group("Show the catalogue of requirements.")
readings_app = group("Show the defects of the documents and their interpretations.")


@requirements_app.command("list", epilog="Example: mqconform requirements list --section 'MQDMPR-3.2*' --level must")
def requirements_list(
    section: Section = None,
    level: Annotated[str | None, typer.Option(help="Only this level: must, should or may.")] = None,
    checked: Annotated[
        list[str] | None, typer.Option(help="Only these ways of checking, comma-separated or given several times.")
    ] = None,
    unclaimed: Annotated[bool, typer.Option("--unclaimed", help="Only checkable ones that no check claims.")] = False,
    codes: Annotated[bool, typer.Option("--codes", help="The HRESULTs by name instead.")] = False,
) -> None:
    """List requirements."""
    from conformance.cli.requirements import list_codes, list_command

    if codes:
        list_codes()
        return
    list_command(section=section, level=level, checked=several(checked), unclaimed=unclaimed)


@requirements_app.command("show", epilog="Example: mqconform requirements show MQMQ-2.2.19.1.signature")
def requirements_show(
    name: Annotated[str, typer.Argument(metavar="ID", help="The requirement's id.")],
) -> None:
    """Show one requirement and the readings that touch it."""
    from conformance.cli.requirements import show_command

    show_command(name)


@requirements_app.command("coverage", epilog="Example: mqconform requirements coverage out --selftest selftest.json")
def requirements_coverage(
    record: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="A run folder: count the requirements it reached.")
    ] = None,
    selftest: Annotated[
        list[Path] | None,
        typer.Option(help="A file of selftest --out: count the requirements it caught; may be repeated."),
    ] = None,
    section: Section = None,
    profile: Profile = None,
    rest: Annotated[bool, typer.Option("--rest", help="Also list what is not discriminated, with the reason.")] = False,
) -> None:
    """Count the requirements that a check claims, that a run reached, and whose check was seen to fail."""
    from conformance.cli.requirements import command

    command(record, selftest=tuple(selftest or ()), section=section, profile=profile, rest=rest)


@readings_app.command("list", epilog="Example: mqconform readings list --json")
def readings_list() -> None:
    """List readings and the alternatives that the default set accepts."""
    from conformance.cli.requirements import list_readings

    list_readings()


@readings_app.command("show", epilog="Example: mqconform readings show R-MQDMPR-seek-from-head")
def readings_show(
    name: Annotated[str, typer.Argument(metavar="ID", help="The reading's id.")],
) -> None:
    """Show one reading: its alternatives, what each set accepts, and the evidence."""
    from conformance.cli.requirements import show_reading

    show_reading(name)


@readings_app.command("infer", epilog="Example: mqconform readings infer --adapter 'stdio:./mydriver' --budget 2m")
def readings_infer(
    adapter: Adapter = "embedded",
    profile: Profile = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite", help="Suites to learn from, comma-separated or given several times (default: all), or none."
        ),
    ] = None,
    seed: Seed = 0,
    budget: Annotated[float | None, time("--budget", "Continue until this time is over: 30s, 5m or 2h.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the record of the suites.")] = None,
    deadline_ms: DeadlineMs = 10_000,
) -> None:
    """Find out which readings an implementation follows, and which of its answers fit no reading."""
    from conformance.cli.requirements import infer_command

    infer_command(
        adapter=adapter,
        profile=profile,
        suites=joined(suite),
        seed=seed,
        budget_s=budget,
        out=out,
        deadline_ms=deadline_ms,
    )


grammar_app = group("Work with queue names.")
Form = Annotated[str, typer.Option(help="path_name, format_name or multiple_element.")]


@contextmanager
def input_errors(*others: type[Exception]) -> Iterator[None]:
    """Report an error in the input as one message and end the command. others: errors to report likewise."""
    from conformance.grammar.abnf import AbnfError
    from conformance.spec.catalogue import CatalogueError

    kinds: tuple[type[Exception], ...] = (AbnfError, CatalogueError, *others)
    try:
        yield
    except kinds as error:
        fail(f"{error}{'.'[str(error).endswith('?') :]}", ExitCode.BAD_INPUT)
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
    from conformance.grammar.spellings import spelling

    if text is None:
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").removesuffix("\n")
    chosen_set = reading_set(reading) or "windows"
    with input_errors():
        grammar, version = name_grammar(profile or DEFAULT_PROFILE, chosen_set, alternatives(reading))
        rule = rule_of_form(form)
        names = dfa(grammar, rule)
        stuck = names.stuck(text)
    asked = (profile or DEFAULT_PROFILE).removeprefix("msmq-")
    like = spelling(text, form, lambda other: names.stuck(other) is None)
    if json_wanted():
        told = {"accepted": stuck is None, "form": form, "version": asked, "grammar": version, "stuck_at": stuck}
        emit_json({**told, "hint": like and like.says, "write": like and like.write})
    elif stuck is None:
        print(f"This is a {form} of MSMQ {asked}.")
    else:
        where = (
            "it ends too early" if stuck >= len(text) else f"{text[stuck]!a} (character {stuck + 1}) does not belong"
        )
        print(f"This is not a {form} of MSMQ {asked}: {where}.")
    if like is not None and not json_wanted():
        print(label(like.sentence))
    sys.exit(int(ExitCode.CONFORMS if stuck is None else ExitCode.DEVIATES))


def name_grammar(profile: str, readings: str, chosen: list[str]) -> tuple[Grammar, str]:
    """Return the grammar of names under these readings, and the version of MSMQ. Ends the command for unknown ones."""
    from conformance.cli.requirements import check_known
    from conformance.grammar.sources import load, reading_set, version_of
    from conformance.spec.catalogue import chosen_readings
    from conformance.spec.versions import PROFILES

    if profile not in PROFILES:
        check_known("profile", profile, PROFILES)
    version = version_of(profile)
    return load(version, reading_set(readings) | chosen_readings(chosen)), version


def rule_of_form(form: str) -> str:
    """Return the rule of a form of names. Ends the command for an unknown one."""
    from conformance.cli.requirements import check_known
    from conformance.grammar.sources import RULES

    check_known("form", form, RULES)
    return RULES[form]


app = group("Show the situations that a run met.")


@app.command("cover", epilog="Example: mqconform situations cover out --operation messages.receive")
def situations_cover(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    operation: Annotated[
        str | None, typer.Option(help="Only this operation or member of an object, with every pair not met.")
    ] = None,
) -> None:
    """Tell which situations a run met, of those that can be reached, and what fell out and why."""
    from conformance.cli.output import reading
    from conformance.cli.requirements import check_known
    from conformance.report.situations import missing, situations, situations_of_objects

    with reading([record], "situations cover"):
        run = read(record)
        of_calls, of_objects = situations(run), situations_of_objects(run)
    every = [one for one in (of_calls, of_objects) if one is not None]
    if not every:
        fail("This run played no planned history: run the suite situations or objects.", ExitCode.BAD_INPUT)
    names = [line.name for covered in every for line in covered.operations]
    if operation is not None and names:
        check_known("operation", operation, names)
    mine = next((one for one in every if operation in [line.name for line in one.operations]), every[0])
    never = list(missing(mine, operation)) if operation is not None and mine.known else []
    if json_wanted():
        told = {} if operation is None else {"operation": operation, "never": never}
        objects = {} if of_objects is None or of_calls is None else {"objects": of_objects.to_json()}
        emit_json({**(mine if operation is not None else every[0]).to_json(), **objects, **told})
        return
    for covered in [mine] if operation is not None else every:
        _print(covered, operation, never)


def _print(covered: Covered, operation: str | None, never: list[str]) -> None:
    from conformance.report.situations import WHY

    out = console()
    lines = [line for line in covered.operations if operation in (None, line.name)]
    for line in lines:
        told = f"{line.pairs.met:>6,} of {line.pairs.of:,} pairs"
        triples = f", {line.triples.met:,} of {line.triples.of:,} triples" if line.triples.of else ""
        out.print(f"{line.name:<43}{line.all.percent:>4} %  {told}{triples}", markup=False, soft_wrap=True)
    for pair in never:
        out.print(f"  never: {pair}", markup=False, soft_wrap=True)
    if operation is None:
        for line in covered.sections:
            met = f"{line.all.met:>6,} of {line.all.of:,}"
            out.print(f"{line.name:<43}{line.all.percent:>4} %  {met}", markup=False, soft_wrap=True, style="dim")
        for reason, number in covered.fell.items():
            out.print(f"{number:,} {reason}: {WHY[reason]}", markup=False, soft_wrap=True)
        if covered.valuable:
            out.print("The pairs not met that would bring most:", markup=False)
        for name, why in covered.valuable:
            out.print(f"  {name} ({why})", markup=False, soft_wrap=True)
        out.print(f"{covered.sentence}.", markup=False, soft_wrap=True)
