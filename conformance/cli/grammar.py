"""`mqconform grammar`: extract ABNF from documents, build Lark grammars from it, and parse and generate names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.aside import make_folder, write_text
from conformance.cli.output import console, emit_json, fail
from conformance.cli.waiting import at_work
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.grammar.tree import Grammar

MAX_FILE = 1 << 20


@contextmanager
def _blame() -> Iterator[None]:
    """Report an error in the input as one message and end the command."""
    from conformance.grammar.tree import AbnfError
    from conformance.spec.audit import AuditError
    from conformance.spec.catalogue import CatalogueError

    try:
        yield
    except (AbnfError, AuditError, CatalogueError) as error:
        fail(f"{error}.", ExitCode.BAD_INPUT)
    except OSError as error:
        fail(f"{error.filename} cannot be used: {error.strerror}.", ExitCode.BAD_INPUT)


def extract_command(specs: list[Path], *, out: Path | None, json: bool) -> None:
    """Print the ABNF rule sets of documents, or write them to the folder `out`."""
    from conformance.grammar.extract import extract

    with _blame():
        found = {name: text for spec in specs for name, text in extract(spec).items()}
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


def build_command(abnf: Path | None, *, start: str | None, out: Path | None, json: bool) -> None:
    """Print the Lark grammar of an ABNF file; without a file, build the project's generated files below `out`."""
    from conformance.grammar.build import build
    from conformance.grammar.lark_text import to_lark

    if abnf is None:
        root = out or Path()
        if not (root / "grammars").is_dir():
            fail(f"{root} is not a checkout of mqconform: it has no folder grammars.", ExitCode.BAD_INPUT)
        with _blame(), at_work("grammar build", "reading the rules", quiet=json) as show:
            changed = build(root, on_progress=show)
        if json:
            emit_json({"changed": changed})
        else:
            print("\n".join(changed) if changed else "Nothing has changed.")
        return
    with _blame(), at_work("grammar build", str(abnf), quiet=True):
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


def check_command(abnf: list[Path], *, starts: list[str], thorough: bool, json: bool) -> None:
    """Check that files are usable grammars; without files, that the project's generated files are up to date."""
    from conformance.grammar.automaton import ambiguity
    from conformance.grammar.build import stale
    from conformance.grammar.positions import NotRegularError, TooLargeError

    if not abnf:
        with _blame(), at_work("grammar check", "reading the rules", quiet=json) as show:
            found = stale(thorough=thorough, on_progress=show)
        if json:
            emit_json({"stale": found})
        else:
            for name in found:
                print(f"stale: {name}")
            print("Run mqconform grammar build." if found else "All generated files are up to date.")
        sys.exit(int(ExitCode.DEVIATES if found else ExitCode.CONFORMS))
    rows: list[dict[str, Any]] = []
    with _blame(), at_work("grammar check", str(abnf[0]), quiet=True) as show:
        _known_starts(abnf, starts)
        for path in abnf:
            grammar = _from_file(path, starts)
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


def parse_command(
    text: str | None, *, form: str, profile: str, readings: str, chosen: list[str], tree: bool, json: bool
) -> None:
    """Check a name against the grammar. Exit code 0: it matches; 1: it does not. text: None means stdin."""
    from conformance.grammar.automaton import dfa
    from conformance.grammar.build import shipped
    from conformance.grammar.lark_text import parser_of, to_lark, tree_of
    from conformance.grammar.sources import RULES

    if text is None:
        text = sys.stdin.buffer.read().decode("utf-8", "surrogateescape").removesuffix("\n")
    with _blame():
        grammar, version = _names(profile, readings, chosen)
        rule = _rule(form)
        stuck = dfa(grammar, rule).stuck(text)
        shown = None
        if tree and stuck is None:
            known = None if chosen or readings == "permissive" else shipped(form, version, readings)
            parsed = tree_of(parser_of(known or to_lark(grammar, RULES[form])), text)
            shown = parsed.pretty() if parsed is not None else None
    if json:
        emit_json({"accepted": stuck is None, "form": form, "version": version, "stuck_at": stuck, "tree": shown})
    elif stuck is None:
        print(shown if shown is not None else f"This is a {form} of MSMQ {version}.")
    else:
        where = (
            "it ends too early" if stuck >= len(text) else f"{text[stuck]!a} (character {stuck + 1}) does not belong"
        )
        print(f"This is not a {form} of MSMQ {version}: {where}.")
    sys.exit(int(ExitCode.CONFORMS if stuck is None else ExitCode.DEVIATES))


def generate_command(
    *, form: str, profile: str, readings: str, chosen: list[str], count: int, seed: int, json: bool
) -> None:
    """Print random names of a form, one per line; the same for the same seed."""
    from conformance.grammar.automaton import dfa
    from conformance.grammar.walks import generate

    with _blame():
        grammar, _ = _names(profile, readings, chosen)
        found = list(generate(dfa(grammar, _rule(form)), count=count, seed=seed))
    if json:
        emit_json(found)
    else:
        for name in found:
            print(name)


def _from_file(path: Path, starts: list[str]) -> Grammar:
    """Read a grammar file. starts: rules used from outside (default: the first); each other rule must be used."""
    from conformance.grammar.abnf import read
    from conformance.grammar.checks import check

    grammar = read(_text(path), where=str(path), starts=starts or None)
    check(grammar, starts=starts or [next(iter(grammar.rules.values())).name])
    return grammar


def _known_starts(paths: list[Path], starts: list[str]) -> None:
    """End the command, suggesting the nearest rule, if none of the files has a start rule."""
    from conformance.grammar.abnf import read_parts
    from conformance.spec.catalogue import did_you_mean

    if not starts:
        return
    names = [rule.name for path in paths for rule in read_parts(_text(path), where=str(path))]
    known = {name.casefold() for name in names}
    for start in starts:
        if start.casefold() not in known:
            where = paths[0] if len(paths) == 1 else "these files"
            fail(f"There is no rule {start!r} in {where}{did_you_mean(start, names) or '.'}", ExitCode.BAD_INPUT)


def _text(path: Path) -> str:
    from conformance.grammar.tree import AbnfError

    if path.stat().st_size > MAX_FILE:
        raise AbnfError(0, f"is larger than {MAX_FILE} bytes", str(path))
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AbnfError(content.count(b"\n", 0, error.start) + 1, "no UTF-8 text from here", str(path)) from None


def _names(profile: str, readings: str, chosen: list[str]) -> tuple[Grammar, str]:
    from conformance.grammar.sources import load, reading_set, version_of
    from conformance.spec.catalogue import chosen_readings
    from conformance.spec.versions import PROFILES

    if profile not in PROFILES:
        fail(f"There is no profile {profile}; there are {', '.join(PROFILES)}.", ExitCode.BAD_INPUT)
    version = version_of(profile)
    return load(version, reading_set(readings) | chosen_readings(chosen)), version


def _rule(form: str) -> str:
    from conformance.grammar.sources import RULES

    if form not in RULES:
        fail(f"There is no form {form}; there are {', '.join(RULES)}.", ExitCode.BAD_INPUT)
    return RULES[form]
