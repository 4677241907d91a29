"""Repro files: where they come from, the pytest file and the diagram beside them, and how one is run again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.adapter.protocol import SchemaInvalid
from conformance.files import new_scratch, remove_tree, write_text
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.harness.suite_registry import suites
from conformance.harness.tape import KINDS, ON_THE_NETWORK
from conformance.runlog.events import StoryStep, parts_of_old_line
from conformance.spec.catalogue import catalogue, current
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.adapter.protocol import Hello
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions
    from conformance.verdict import Verdict

MOST = 12  # examples in a file
_MAX_SIZE = 256 << 10  # characters of them
_SECRET = re.compile(r"(?i)((?:token|passw|pwd|secret|credential|api[-_]?key)[\w-]*[=:\s]+)\S+")


class Asked(NamedTuple):
    """An implementation. connector: without its secrets. label: the run's. None: not known."""

    connector: str | None = None
    name: str | None = None
    version: str | None = None
    label: str | None = None

    def is_of(self, other: Asked) -> bool:
        """Tell whether both are one implementation, in whatever version, by one kind of connector."""
        kinds = {re.split("[:+]", one.connector or "")[0] for one in (self, other)}
        return bool(self.name) and self.name == other.name and len(kinds) == 1

    def __str__(self) -> str:
        who = " ".join(word for word in (self.name, self.version) if word)
        label = f", label {self.label}" if self.label else ""
        return f"{self.connector or 'nobody known'}{f' ({who})' if who else ''}{label}"


def asked_of(raw: Mapping[str, Any]) -> Asked:
    """Read the members that a repro file has; one that is no short text is not known."""
    said = [raw.get(name) for name in Asked._fields]
    return Asked(*(text if isinstance(text, str) and len(text) < 2_000 else None for text in said))


def without_secrets(connector: str) -> str:
    """Return a connector, or an argument with one, without its token, or the name of the file that holds one."""
    token = os.environ.get("MQCONFORM_TOKEN", "").strip()
    text = connector.replace(token, "***") if token else connector
    return re.sub(r"(\btcp:[^?\s]*\?).*", r"\1***", _SECRET.sub(r"\1***", text), flags=re.DOTALL)


class Antecedents(NamedTuple):
    """The history before an example: a process, or its folder, may remember what a reset should have removed.

    starts: processes that ended on the folder. examples: the last ones, each with its suite and what repeats it.
    """

    starts: int = 0
    examples: tuple[dict[str, Any], ...] = ()


NOBODY, NOTHING = Asked(), Antecedents()


def antecedents(last: Sequence[tuple[int, str, str, Mapping[str, Any]]]) -> Antecedents:
    """Return what went before the newest example. last: the starts, suite, kind and data of the last ones."""
    kept: list[dict[str, Any]] = []
    size = 0
    for _, suite, kind, data in last[-2::-1]:
        text = json.dumps({"suite": suite, "repro": {"kind": kind, **data}}, default=str)
        size += len(text)
        if size > _MAX_SIZE:
            break
        kept.insert(0, json.loads(text))
    return Antecedents(last[-1][0] if last else 0, tuple(kept))


def antecedents_of(raw: Mapping[str, Any]) -> Antecedents:
    """Read what a repro file has. Raises KeyError, TypeError or ValueError for what no run has written."""
    examples = ({"suite": str(one["suite"]), "repro": dict(one["repro"])} for one in raw.get("examples", [])[:MOST])
    return Antecedents(int(raw.get("starts", 0)), tuple(examples))


_BY_CALLS = KINDS - ON_THE_NETWORK
_WAITS = ('"expires": true', '"timeout_ms": ', '"passes_ms": ', '"after_ms": ', '"method": "clock.advance"')


class NotRepeatable(ValueError):
    """The example cannot be run again: its suite is unknown or stores nothing to run."""


class EndedEarly(NotRepeatable):
    """The example began but could not be run to its end, so it is unknown whether the deviation is still there.

    verdicts: the verdicts reached until then.
    """

    def __init__(self, text: str, verdicts: Sequence[Verdict] = ()) -> None:
        super().__init__(text)
        self.verdicts = tuple(verdicts)


def rejudge(suite: str, repro: Mapping[str, Any], client: Port, options: RunOptions) -> list[Verdict]:
    """Run one example on `client` and return its verdicts in the order they were reached.

    Raises NotRepeatable when the suite no longer exists, and the adapter's errors when the driver fails.
    """
    if suite not in suites():
        raise NotRepeatable(f"The suite {suite!r} of this repro file is not part of this version of mqconform.")
    try:
        return list(examples_of(suite)(repro, client, options))
    except SchemaInvalid as wrong:
        raise NotRepeatable(f"The repro file has a call that the adapter protocol does not allow: {wrong}.") from None


Rejudge = Callable[[Mapping[str, Any], "Port", "RunOptions"], "Iterable[Verdict]"]


def examples_of(suite: str) -> Rejudge:
    """Return what runs an example of a suite again and gives its verdicts, one by one where the suite can.

    A suite with examples of its own has a module `rejudge`; those of all others are histories of calls.
    """
    own = f"conformance.suites.{suite}.rejudge"
    module = import_module(own if find_spec(own) else "conformance.histories.history")
    found: Rejudge = module.rejudge
    return found


def verdicts_of(options: RunOptions, play: Callable[[Recorder], object]) -> list[Verdict]:
    """Return the verdicts of what `play` hands to a judge, ending with the failing one if there is one."""
    verdicts: list[Verdict] = []
    judge = Recorder(options, lambda verdict, count: verdicts.append(verdict))
    try:
        play(judge)
    except ConformanceFailure as failure:
        judge.flush()
        return [*verdicts, failure.verdict]
    judge.flush()
    return verdicts


def no_story(*_: Any) -> None:
    """Drop a step of the story: nobody reads it when an example runs again."""


def alone(
    suite: str,
    repro: Mapping[str, Any],
    open_client: Callable[[Path], Client],
    options: RunOptions,
    before: Antecedents = NOTHING,
) -> list[Verdict]:
    """Return what `rejudge` does for a new process on an empty state folder. before: brought about there first."""
    state = new_scratch("mqconform-repro-")
    try:
        with open_client(state) as client:
            if client.offers("reset"):
                client.call("reset")
            guarded = GuardedClient(client)
            for one in before.examples:
                with suppress(NotRepeatable):
                    rejudge(one["suite"], one["repro"], guarded, options)
            while client.ended < min(before.starts, 3):
                guarded.restart(kill=client.ended > 0)
            return rejudge(suite, repro, guarded, options)
    finally:
        remove_tree(state)


def by_calls_alone(repro: Mapping[str, Any], hello: Hello) -> bool:
    """Tell whether the calls of an example decide its answers: no clients at once, no waiting by a real clock."""
    waits = hello.clock != "virtual" and any(word in json.dumps(repro, default=str) for word in _WAITS)
    return repro.get("kind") in _BY_CALLS and not waits


MAX_MESSAGES = 200  # a longer diagram is cut in the middle: the end shows the deviation, the beginning its causes
MAX_LABEL = 160
_ENTITIES = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "%": "#37;"})


def sequence_diagram(story: Sequence[StoryStep], broken: str = "") -> str:
    """Return the diagram of a story. broken: text of a note at its end."""
    drawn = [arrow for step in story for arrow in _arrows(step)]
    if len(drawn) > MAX_MESSAGES:
        half = MAX_MESSAGES // 2
        gap = f"Note over T,Q: {len(drawn) - MAX_MESSAGES} arrows left out"
        drawn = [*drawn[:half], gap, *drawn[-half:]]
    if broken:
        drawn.append(f"Note over T,Q: {_label(broken)}")
    head = ("sequenceDiagram", "    participant T as mqconform", "    participant Q as implementation")
    return "\n".join((*head, *(f"    {arrow}" for arrow in drawn))) + "\n"


def _arrows(step: StoryStep) -> Iterator[str]:
    """Yield the arrows of one line of a story: a call and its answers, or a note for a line without parts."""
    if not step.parts:
        yield f"Note over T,Q: {_label(step.text)}"
        return
    asked, *came = step.parts
    yield f"T->>Q: {_label(asked)}"
    yield from (f"Q-->>T: {_label(one)}" for one in came)


def _label(text: str) -> str:
    """Return one line of bounded length, with the characters special to Mermaid escaped."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= MAX_LABEL else f"{flat[: MAX_LABEL - 1]}…"
    return short.translate(_ENTITIES) or "(nothing)"


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
