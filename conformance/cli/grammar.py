"""`mqconform grammar`: from documents to ABNF files, from these to Lark, and what a name is by them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.cli.output import console, emit_json, fail
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.grammar.tree import Grammar

MAX_FILE = 1 << 20


@contextmanager
def _blame() -> Iterator[None]:
    """A mistake in what was given, as one sentence."""
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
    """The rule sets of documents; with `out`, as files there."""
    from conformance.grammar.extract import extract

    with _blame():
        found = {name: text for spec in specs for name, text in extract(spec).items()}
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            for name, text in found.items():
                (out / name).write_text(text, encoding="utf-8")
    if not found:
        fail("There is no ABNF in this document.", ExitCode.NOTHING_JUDGED)
    if json:
        emit_json(found)
        return
    for name, text in found.items():
        print(name if out is not None else f"; {name}\n{text}")


def build_command(abnf: Path | None, *, start: str | None, out: Path | None, json: bool) -> None:
    """Without a file, the generated files of the project below `out`; with one, its Lark grammar on stdout."""
    from conformance.grammar.build import build
    from conformance.grammar.lark_text import to_lark

    if abnf is None:
        root = out or Path()
        if not (root / "grammars").is_dir():
            fail(f"{root} is no checkout of mqconform: it has no folder grammars.", ExitCode.BAD_INPUT)
        with _blame():
            changed = build(root)
        if json:
            emit_json({"changed": changed})
        else:
            print("\n".join(changed) if changed else "Nothing has changed.")
        return
    with _blame():
        grammar = _from_file(abnf, [start] if start else [])
        lark = to_lark(grammar, start or next(iter(grammar.rules.values())).name)
        if out is not None:
            out.write_text(lark.text, encoding="utf-8")
    if json:
        emit_json({"start": lark.start, "parser": lark.parser, "why": lark.why, "text": lark.text})
    elif out is None:
        sys.stdout.write(lark.text)
    else:
        print(f"{out}: start {lark.start}, parser {lark.parser} ({lark.why})")


def check_command(abnf: list[Path], *, starts: list[str], thorough: bool, json: bool) -> None:
    """Files: whether they are usable grammars. None: whether what was generated is up to date."""
    from conformance.grammar.automaton import ambiguity
    from conformance.grammar.build import stale
    from conformance.grammar.positions import NotRegularError, TooLargeError

    if not abnf:
        with _blame():
            found = stale(thorough=thorough)
        if json:
            emit_json({"stale": found})
        else:
            for name in found:
                print(f"stale: {name}")
            print("Run mqconform grammar build." if found else "All generated files are up to date.")
        sys.exit(int(ExitCode.DEVIATES if found else ExitCode.CONFORMS))
    rows: list[dict[str, Any]] = []
    with _blame():
        for path in abnf:
            grammar = _from_file(path, starts)
            for rule in grammar.rules.values():
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
    """Whether a name belongs: 0 when it does, 1 when it does not. The name is on stdin when it is not given."""
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
        print(f"This is no {form} of MSMQ {version}: {where}.")
    sys.exit(int(ExitCode.CONFORMS if stuck is None else ExitCode.DEVIATES))


def generate_command(
    *, form: str, profile: str, readings: str, chosen: list[str], count: int, seed: int, json: bool
) -> None:
    """Names of a form, one a line; the same for the same seed."""
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
    """The grammar of a file. starts: what is used from outside, by default the first rule; all else must be needed."""
    from conformance.grammar.abnf import read
    from conformance.grammar.checks import check
    from conformance.grammar.tree import AbnfError

    if path.stat().st_size > MAX_FILE:
        raise AbnfError(0, f"is larger than {MAX_FILE} bytes", str(path))
    content = path.read_bytes()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AbnfError(content.count(b"\n", 0, error.start) + 1, "no UTF-8 text from here", str(path)) from None
    grammar = read(text, where=str(path), starts=starts or None)
    check(grammar, starts=starts or [next(iter(grammar.rules.values())).name])
    return grammar


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
