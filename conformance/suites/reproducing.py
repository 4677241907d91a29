"""What lies beside a repro file: the same deviation as a pytest file that stands alone, and as a sequence diagram."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.spec.catalogue import catalogue
from conformance.suites.sequence import sequence_diagram
from conformance.verdict import Json

MAX_LINE = 110
_TEST = '''"""{title}

{says}

{story}

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest {name}` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

{repro}


def test_{function}():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
'''


def write_beside(path: Path, content: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write `test_NAME.py` and `NAME.mmd` beside the repro file NAME.json; their paths. Raises OSError."""
    test = path.with_name(f"test_{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}.py")
    diagram = path.with_suffix(".mmd")
    test.write_text(pytest_file(content, test.name), encoding="utf-8", errors="backslashreplace")
    diagram.write_text(diagram_of(content), encoding="utf-8", errors="backslashreplace")
    return test, diagram


def diagram_of(content: Mapping[str, Any]) -> str:
    """The sequence diagram of a repro file's content."""
    verdict = content["verdict"]
    wrong = broken(verdict["requirement"], verdict.get("expected"), verdict.get("actual"))
    return sequence_diagram(content["story"], wrong)


def broken(requirement: str, expected: Json, actual: Json) -> str:
    """One line that says what is wrong; expected: None where nothing in particular was, as of a driver that crashes."""
    wanted = "" if expected is None else f"expected {_plain(expected)}, "
    return f"{requirement}: {wanted}got {_plain(actual)}"


def pytest_file(content: Mapping[str, Any], name: str) -> str:
    """A test module, to be run by pytest where mqconform is installed, that needs no other file."""
    requirement = str(content["verdict"]["requirement"])
    known = catalogue().requirements.get(requirement)
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
    """Text as it may stand in a docstring: one line, without what would end it or be read as an escape."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return flat.replace("\\", "\\\\").replace('"""', "'''")


def _literal(content: Mapping[str, Any]) -> str:
    """The content as a JSON text in Python; JSON has no surrogates or quotes that Python reads otherwise."""
    text = json.dumps(dict(content), indent=1, default=str)
    if "'''" in text or text.endswith("'"):
        return f"REPRO = json.loads({text!r})"
    return f"REPRO = json.loads(r'''{text}''')"
