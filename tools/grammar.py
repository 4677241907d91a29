"""Grammars: extract the ABNF of documents, check it, build the generated files, and print random names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.documents import Form, input_errors, name_grammar, rule_of_form
from conformance.cli.output import at_work, console, emit_json, fail
from conformance.cli.shared_options import Json, Profile, Reading, Seed, alternatives, group, reading_set
from conformance.files import make_folder, write_text
from conformance.grammar.abnf import AbnfError, Grammar, read, read_parts
from conformance.grammar.abnf import check as check_grammar
from conformance.grammar.automaton import NotRegularError, TooLargeError, ambiguity, dfa
from conformance.grammar.names import to_lark
from conformance.spec.catalogue import did_you_mean
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode
from tools.audit import AuditError
from tools.grammar_extract import extract as abnf_of
from tools.grammar_files import build as build_files
from tools.grammar_files import stale
from tools.grammar_walks import generate as random_texts

MAX_FILE = 1 << 20
app = group("Extract, check and build the grammars of the documents.")
Start = Annotated[str | None, typer.Option(help="The rule to start from (default: the first).")]


@app.command("extract", epilog="Example: python -m tools.grammar extract MS-MQMQ.md --out grammars")
def extract(
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC...", help="The documents, as text.")],
    out: Annotated[Path | None, typer.Option(help="Write one .abnf file per rule set into this folder.")] = None,
    json: Json = False,
) -> None:
    """Extract the ABNF of documents."""
    with input_errors(AuditError):
        found = {name: text for spec in specs for name, text in abnf_of(spec).items()}
        if out is not None:
            make_folder(out, above=False)
            for name, text in found.items():
                write_text(out / name, text)
    if not found:
        fail("There is no ABNF in this document.", ExitCode.NOTHING_JUDGED)
    if json:
        emit_json(found)
        return
    for name, text in found.items():
        print(name if out is not None else f"; {name}\n{text}")


@app.command("build", epilog="Example: python -m tools.grammar build my.abnf --start message")
def build(
    abnf: Annotated[Path | None, typer.Argument(help="An ABNF file (default: the project's own).")] = None,
    start: Start = None,
    out: Annotated[Path | None, typer.Option(help="The .lark file to write, or the checkout to build in.")] = None,
    json: Json = False,
) -> None:
    """Make a Lark grammar from an ABNF file, or all generated files of a checkout."""
    if abnf is None:
        root = out or Path()
        if not (root / "grammars").is_dir():
            fail(f"{root} is not a checkout of mqconform: it has no folder grammars.", ExitCode.BAD_INPUT)
        with input_errors(AuditError), at_work("grammar build", "reading the rules", quiet=json) as show:
            changed = build_files(root, on_progress=show)
        if json:
            emit_json({"changed": changed})
        else:
            print("\n".join(changed) if changed else "Nothing has changed.")
        return
    with input_errors(AuditError), at_work("grammar build", str(abnf), quiet=True):
        starts = [start] if start is not None else []
        _known_starts([abnf], starts)
        grammar = _from_file(abnf, starts)
        lark = to_lark(grammar, start or next(iter(grammar.rules.values())).name)
        if out is not None:
            write_text(out, lark.text)
    if json:
        emit_json({"start": lark.start, "parser": lark.parser, "why": lark.why, "text": lark.text})
    elif out is None:
        sys.stdout.write(lark.text)
    else:
        print(f"{out}: start {lark.start}, parser {lark.parser} ({lark.why})")


@app.command("check", epilog="Example: python -m tools.grammar check my.abnf")
def check(
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
    if not abnf:
        with input_errors(AuditError), at_work("grammar check", "reading the rules", quiet=json) as show:
            found = stale(thorough=thorough, on_progress=show)
        if json:
            emit_json({"stale": found})
        else:
            for name in found:
                print(f"stale: {name}")
            print("Run python -m tools.grammar build." if found else "All generated files are up to date.")
        sys.exit(int(ExitCode.DEVIATES if found else ExitCode.CONFORMS))
    rows: list[dict[str, Any]] = []
    with input_errors(AuditError), at_work("grammar check", str(abnf[0]), quiet=True) as show:
        _known_starts(abnf, start or [])
        for path in abnf:
            grammar = _from_file(path, start or [])
            for number, rule in enumerate(grammar.rules.values()):
                show(number, len(grammar.rules), str(path))
                row: dict[str, Any] = {"file": str(path), "rule": rule.name, "line": rule.line}
                try:
                    row |= {"regular": True, "ambiguous": ambiguity(grammar, rule.name)}
                except NotRegularError:
                    row["regular"] = False
                except TooLargeError:
                    row["too_large"] = True
                rows.append(row)
    if json:
        emit_json(rows)
        return
    out = console()
    for row in rows:
        text = "not regular" if row.get("regular") is False else "too large to tell" if "too_large" in row else "good"
        if row.get("ambiguous") is not None:
            text = f"ambiguous: {row['ambiguous']!r}"
        out.print(f"{row['file']}:{row['line']}: {row['rule']}: {text}", markup=False, soft_wrap=True)


@app.command("generate", epilog="Example: python -m tools.grammar generate --form path_name --count 5")
def generate(
    form: Form = "format_name",
    profile: Profile = None,
    reading: Reading = None,
    count: int = 10,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Print random queue names."""
    with input_errors(AuditError):
        grammar, _ = name_grammar(profile or DEFAULT_PROFILE, reading_set(reading) or "windows", alternatives(reading))
        found = list(random_texts(dfa(grammar, rule_of_form(form)), count=count, seed=seed))
    if json:
        emit_json(found)
    else:
        for name in found:
            print(name)


def _from_file(path: Path, starts: list[str]) -> Grammar:
    """Read a grammar file. starts: rules used from outside (default: the first); each other rule must be used."""
    grammar = read(_text(path), where=str(path), starts=starts or None)
    check_grammar(grammar, starts=starts or [next(iter(grammar.rules.values())).name])
    return grammar


def _known_starts(paths: list[Path], starts: list[str]) -> None:
    """End the command, suggesting the nearest rule, if none of the files has a start rule."""
    if not starts:
        return
    names = [rule.name for path in paths for rule in read_parts(_text(path), where=str(path))]
    known = {name.casefold() for name in names}
    for start in starts:
        if start.casefold() not in known:
            where = paths[0] if len(paths) == 1 else "these files"
            fail(f"There is no rule {start!r} in {where}{did_you_mean(start, names) or '.'}", ExitCode.BAD_INPUT)


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_FILE:
        raise AbnfError(0, f"is larger than {MAX_FILE} bytes", str(path))
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AbnfError(content.count(b"\n", 0, error.start) + 1, "no UTF-8 text from here", str(path)) from None


if __name__ == "__main__":
    app()
