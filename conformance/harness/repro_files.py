"""Write a standalone pytest file and a sequence diagram of a deviation beside its repro file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.aside import write_text
from conformance.harness.sequence_diagram import sequence_diagram
from conformance.runlog.events import StoryStep, parts_of_old_line
from conformance.spec.catalogue import catalogue
from conformance.spec.renaming import current
from conformance.verdict import Json

MAX_LINE = 110
_TEST = '''"""{title}

{says}

{story}

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest {name}` fails while the deviation is there.
Without the variable only the embedded implementation is asked, for what was found in it.
"""

import json
import os

from conformance.repro import FIXED, again

{repro}


def test_{function}():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER"))
    assert answer.answer == FIXED, answer.text
'''


def write_beside(path: Path, content: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write `test_NAME.py` and `NAME.mmd` beside the repro file NAME.json; return their paths. Raises OSError."""
    test = path.with_name(f"test_{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}.py")
    diagram = path.with_suffix(".mmd")
    write_text(test, pytest_file(content, test.name), errors="backslashreplace")
    write_text(diagram, diagram_of(content), errors="backslashreplace")
    _write_programs(path, content)
    return test, diagram


def _write_programs(path: Path, content: Mapping[str, Any]) -> None:
    """Write a plan of calls of objects as programs to run on Windows: `NAME.vbs` and `NAME-pywin32.py`."""
    repro = content.get("repro")
    if not isinstance(repro, Mapping) or "acts" not in repro:
        return
    from conformance.activex import words
    from conformance.activex.plans import Act

    try:
        plan = [Act.from_json(act) for act in repro["acts"]]
    except (AttributeError, KeyError, TypeError, ValueError):
        return  # a file of somebody else's: what is wrong with it is told when it is played
    if not words.sound(plan):
        return
    write_text(path.with_suffix(".vbs"), words.vbscript(plan), errors="backslashreplace")
    write_text(path.with_name(f"{path.stem}-pywin32.py"), words.python(plan), errors="backslashreplace")


def diagram_of(content: Mapping[str, Any]) -> str:
    """Return the sequence diagram of a repro file's content."""
    verdict = content["verdict"]
    wrong = broken(verdict["requirement"], verdict.get("expected"), verdict.get("actual"))
    lines = content["story"]
    parts = content.get("parts") or [None] * len(lines)
    steps = [
        StoryStep(line, parts=parts_of_old_line(line) if known is None else tuple(known))
        for line, known in zip(lines, parts, strict=True)
    ]
    return sequence_diagram(steps, wrong)


def broken(requirement: str, expected: Json, actual: Json) -> str:
    """Return one line about the deviation. expected: None for no particular value, for example after a crash."""
    wanted = "" if expected is None else f"expected {_plain(expected)}, "
    return f"{requirement}: {wanted}got {_plain(actual)}"


def pytest_file(content: Mapping[str, Any], name: str) -> str:
    """Return the source of a test module that needs no other file, for pytest where mqconform is installed."""
    requirement = str(content["verdict"]["requirement"])
    known = catalogue().requirements.get(current(requirement))
    steps = [f"{number}. {line}" for number, line in enumerate(content["story"], start=1)]
    return _TEST.format(
        title=_docstring(f"{requirement} is broken."),
        says=_docstring(known.says if known is not None else "A requirement of another version of mqconform."),
        story="\n".join(_docstring(line) for line in steps) or "No story is stored.",
        name=name,
        repro=_literal(content),
        function=re.sub(r"[^0-9a-z]+", "_", requirement.lower()).strip("_"),
    )


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _docstring(text: str) -> str:
    """Return the text as one line that is safe in a docstring: no closing quotes and no escapes."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return flat.replace("\\", "\\\\").replace('"""', "'''")


def _literal(content: Mapping[str, Any]) -> str:
    """Return a Python statement that loads the content from JSON text, which ASCII-escapes surrogates."""
    text = json.dumps(dict(content), indent=1, default=str)
    if "'''" in text or text.endswith("'"):
        return f"REPRO = json.loads({text!r})"
    return f"REPRO = json.loads(r'''{text}''')"
