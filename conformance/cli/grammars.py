"""The commands of `mqconform grammar` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.shared_options import Count, Json, Profile, Reading, Readings, Seed, group

grammar_app = group("Work with queue names and the other ABNF of the documents.")
Form = Annotated[str, typer.Option(help="path_name, format_name or multiple_element.")]
Start = Annotated[str | None, typer.Option(help="The rule to start from (default: the first).")]


@grammar_app.command("extract", epilog="Example: mqconform grammar extract MS-MQMQ.md --out grammars")
def grammar_extract(
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC...", help="The documents, as text.")],
    out: Annotated[Path | None, typer.Option(help="Write one .abnf file per rule set into this folder.")] = None,
    json: Json = False,
) -> None:
    """Extract the ABNF of documents."""
    from conformance.cli.grammar import extract_command

    extract_command(specs, out=out, json=json)


@grammar_app.command("build", epilog="Example: mqconform grammar build my.abnf --start message")
def grammar_build(
    abnf: Annotated[Path | None, typer.Argument(help="An ABNF file (default: the project's own).")] = None,
    start: Start = None,
    out: Annotated[Path | None, typer.Option(help="The .lark file to write, or the checkout to build in.")] = None,
    json: Json = False,
) -> None:
    """Make a Lark grammar from an ABNF file, or all generated files of a checkout."""
    from conformance.cli.grammar import build_command

    build_command(abnf, start=start, out=out, json=json)


@grammar_app.command("check", epilog="Example: mqconform grammar check my.abnf")
def grammar_check(
    abnf: Annotated[list[Path] | None, typer.Argument(help="ABNF files (default: the project's own).")] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(help="A rule that is used from outside (default: the first); may be given several times."),
    ] = None,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Compute everything again, which takes minutes.")
    ] = False,
    json: Json = False,
) -> None:
    """Find mistakes and ambiguous rules in ABNF files, or stale generated files."""
    from conformance.cli.grammar import check_command

    check_command(abnf or [], starts=start or [], thorough=thorough, json=json)


@grammar_app.command("parse", epilog="Example: mqconform grammar parse --tree 'DIRECT=OS:host\\private$\\orders'")
def grammar_parse(
    text: Annotated[str | None, typer.Argument(help="The name (default: read from stdin).")] = None,
    form: Form = "format_name",
    profile: Profile = None,
    readings: Readings = "windows",
    reading: Reading = None,
    tree: Annotated[bool, typer.Option("--tree", help="Show the rules that the name matches.")] = False,
    json: Json = False,
) -> None:
    """Check whether a text is a queue name, and if not, show where it goes wrong."""
    from conformance.cli.grammar import parse_command
    from conformance.spec.versions import DEFAULT_PROFILE

    parse_command(
        text,
        form=form,
        profile=profile or DEFAULT_PROFILE,
        readings=readings,
        chosen=reading or [],
        tree=tree,
        json=json,
    )


@grammar_app.command("generate", epilog="Example: mqconform grammar generate --form path_name --count 5")
def grammar_generate(
    form: Form = "format_name",
    profile: Profile = None,
    readings: Readings = "windows",
    reading: Reading = None,
    count: Count = 10,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Print random queue names."""
    from conformance.cli.grammar import generate_command
    from conformance.spec.versions import DEFAULT_PROFILE

    generate_command(
        form=form,
        profile=profile or DEFAULT_PROFILE,
        readings=readings,
        chosen=reading or [],
        count=count,
        seed=seed,
        json=json,
    )
