"""A replay from beginning to end as one function: check the arguments, judge the captures, and record the results."""

from __future__ import annotations

import gc
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.capture import CaptureError
from conformance.capture.addresses import STDIN
from conformance.capture.addresses import location as path_of
from conformance.capture.files import Stop, is_there
from conformance.capture.inputs import LeftOut, expand, refused
from conformance.captures.analyst_views import Looked, Looks, looking
from conformance.captures.defects import Outside
from conformance.captures.engine import JudgedPacket, Replay
from conformance.captures.onlookers import NotWrittenError
from conformance.captures.packet_judge import replay
from conformance.captures.selection import NotJudged
from conformance.captures.summary import CaptureSummary, Fingerprints
from conformance.command_options import BadInput, RunResult, check_chosen, check_folder, check_words, prepare_folder
from conformance.runlog import Header, RunWriter, read_run
from conformance.spec.catalogue import assignment
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.suggest import near_file
from conformance.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from conformance.captures.compare_implementation import Against
    from conformance.captures.selection import Selection

CONVERSATIONS = "conversations"
"""The kind of evidence that is the table of conversations."""
CAPTURE = "capture"
"""The kind of evidence that tells which file was judged, and how: `path`, `bytes`, `sha256`, `filter`, `against`."""


@dataclass(frozen=True, slots=True, repr=False)
class Replayed(RunResult):
    """The result of a replay. replay: by capture, in memory. given: the implementation and what it got, or None.

    looked: what was asked for beside verdicts. left_out: what of the input was not judged.
    """

    replay: Replay = field(default_factory=Replay)
    given: Against | None = None
    seconds: float = 0.0
    looked: Looked = field(default_factory=Looked)
    left_out: NotJudged = field(default_factory=NotJudged)


def replay_captures(
    captures: str | Path | Iterable[str | Path],
    *,
    filter: str | None = None,
    follow: bool = False,
    budget_s: float | None = None,
    stop: Stop | None = None,
    against: str | None = None,
    in_process: bool = False,
    deadline_ms: int = 10_000,
    profile: str | None = None,
    level: str = "must",
    readings: str = "windows",
    chosen: Sequence[str] = (),
    out: Path | str | None = None,
    command: Sequence[str] = (),
    columns: bool = False,
    packets_only: bool = False,
    allow_incomplete: bool = False,
    conversations: bool = False,
    extract: Path | str | None = None,
    eve: Path | str | None = None,
    clients_of: str | None = None,
    on_packet: Callable[[JudgedPacket], None] | None = None,
    on_capture: Callable[[CaptureSummary], object] | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Replayed:
    """Judge the packets and sessions of captures, and record the verdicts.

    captures: files, folders of them, patterns; `-` is standard input. filter: the packets to judge, in the syntax of
    `conformance.captures.selection`. follow: wait for more at the end of the one file, until `stop` says so or
    `budget_s` seconds are over. against: connector of an implementation that is given each message; in_process and
    deadline_ms apply to it. command: the command line to record. columns: judge with compiled rules, which needs the
    extra `columns`; then only packets that deviate are recorded one by one. packets_only: with columns, leave out the
    rules of connections, which are judged one by one. allow_incomplete: if captures lack something they announce, end
    with the code of what was judged, not with 2. conversations: make a table of them. extract: write the messages to
    this new folder. eve: write deviations, hints and conversations to this file as EVE JSON lines. clients_of: judge
    only what the clients of the server with this address sent (without columns). on_packet: called
    with each packet; on_capture with the result of each capture; on_progress with (path, bytes read, bytes in all).
    The other arguments are those of
    `conformance.run`.

    Raises BadInput for an invalid value, for captures that do not exist and a folder that cannot be written; with
    `against`, AdapterError and `NotDeliverable` of `captures.compare_implementation` for one that takes no message.
    """
    check_words(profile=profile, level=level, readings=readings)
    accepted = assignment(readings, check_chosen(chosen))
    source = _source(captures, filter, follow, budget_s)
    if packets_only and not columns:
        raise BadInput("--packets-only needs --columns.")
    looks = Looks(conversations, _path(extract), _path(eve), filter is None and clients_of is None)
    _check_looks(looks, source, against, columns)
    check_folder(out)  # before an implementation is started
    bound = profile or DEFAULT_PROFILE
    header = Header(
        run_id=uuid.uuid4().hex, command=tuple(command), profile=bound, level=level, reading_set=readings,
        readings=accepted, captures=tuple(source.files),
    )  # fmt: skip
    with (
        _implementation(against, accepted, profile, in_process, deadline_ms) as given,
        _looking(looks, follow) as looked,
    ):
        folder = prepare_folder(out, kind="replay")
        by_packet = partial(replay, onlookers=looked.onlookers, clients_of=clients_of)
        judge = partial(
            partial(_by_columns, sessions=not packets_only) if columns else by_packet,
            source.files, profile=bound, readings=accepted, level=level, on_progress=on_progress,
            selection=source.selection, follow=(stop or Stop(budget_s)) if source.following else None, against=given,
        )  # fmt: skip
        with RunWriter(folder) as writer:
            writer.header(header)
            result, seconds = _record(writer, source, judge, looked, against, on_packet, on_capture)
            left_out = source.left_out(result, "--packets-only" if packets_only else None)
            for line in left_out.lines():
                writer.note(line)
            writer.footer("interrupted" if result.interrupted else "error" if result.defects else "completed")
    code, sentence = _conclusion(result, source, readings == "strict", allow_incomplete, against, given)
    return Replayed(code, folder, read_run(folder), sentence, result, given, seconds, looked, left_out)


@dataclass(frozen=True, slots=True)
class _Source:
    """The packets to judge. files: those that can be read. unfit: why others cannot. others: what is no capture.

    following: packets are waited for at the end of the one file.
    """

    files: list[str]
    unfit: Mapping[str, str]
    others: LeftOut
    filter: str | None
    selection: Selection | None
    following: bool

    def left_out(self, result: Replay, option: str | None) -> NotJudged:
        return NotJudged(self.others, None if self.selection is None else result.unselected, option)


def _source(
    captures: str | Path | Iterable[str | Path], filter: str | None, follow: bool, budget_s: float | None
) -> _Source:
    """Return the packets to judge. Raises BadInput for files that do not exist and options that they do not go with."""
    names = [str(captures)] if isinstance(captures, (str, Path)) else [str(each) for each in captures]
    try:
        meant = expand(names, others := LeftOut())
        unfit = refused(meant, names)
        files = [path for path in meant if path not in unfit]
        selection = None if filter is None else _selection(filter)
    except CaptureError as error:
        raise BadInput(str(error)) from None
    typed = {path_of(name) for name in names if name != STDIN}
    if absent := [one for one in meant if one in typed and not is_there(one)]:
        raise BadInput(" ".join(f"There is no file {name}{near_file(name)}" for name in absent))
    if follow and (len(files) > 1 or files == [STDIN]):
        raise BadInput("--follow takes one file; stdin is always followed.")
    if budget_s is not None and not follow and STDIN not in files:
        raise BadInput("--budget is only for --follow and stdin; a file is read to its end.")
    return _Source(files, unfit, others, filter, selection, follow or STDIN in files)


def _record(
    writer: RunWriter,
    source: _Source,
    judge: Callable[..., Replay],
    looked: Looked,
    against: str | None,
    on_packet: Callable[[JudgedPacket], None] | None,
    on_capture: Callable[[CaptureSummary], object] | None,
) -> tuple[Replay, float]:
    """Judge and write what comes of it. Return the result, and the seconds of the judging."""

    def settled(summary: CaptureSummary) -> None:
        Replay.record_capture(writer, summary)
        if on_capture is not None:
            on_capture(summary)

    def record(packet: JudgedPacket) -> None:
        writer.packet(packet.line())
        if on_packet is not None:
            on_packet(packet)

    began = time.monotonic()
    prints = Fingerprints([] if source.following else source.files)
    try:
        result = judge(
            on_packet=record,
            on_verdict=lambda capture, verdict: writer.verdict(verdict, suite="replay", test=capture),
            on_capture=settled,
        )
        seconds = time.monotonic() - began
        for path, why in source.unfit.items():
            result.captures.append(CaptureSummary(path, error=why))
            result.settle()
        writer.check()
        result.record_rest(writer)
        if looked.conversations is not None:
            writer.evidence(CONVERSATIONS, looked.conversations.to_json())
        if not result.interrupted:
            for path, found in prints.found().items():
                if found is not None:
                    writer.evidence(CAPTURE, {"path": path, **found, "filter": source.filter, "against": against})
    finally:
        prints.give_up()
    return result, seconds


def _conclusion(
    result: Replay, source: _Source, strict: bool, allow_incomplete: bool, against: str | None, given: Against | None
) -> tuple[ExitCode, str | None]:
    """Return the exit code, and why it is not 0 unless the verdicts tell."""
    judged = result.exit_code(strict=strict, allow_incomplete=True)
    code = result.exit_code(strict=strict, allow_incomplete=allow_incomplete)
    if given is not None and not given.read + given.delivered and judged in (ExitCode.CONFORMS, ExitCode.DEVIATES):
        code = ExitCode.NOTHING_JUDGED if code is ExitCode.CONFORMS else code
        return code, f"No message of the captures was given to {against}{_because(given)}."
    said = _sentence(result, judged, code)
    return code, " ".join(one for one in (said, source.others.sentence) if one) or None


@contextmanager
def _looking(looks: Looks, live: bool) -> Iterator[Looked]:
    """Yield what looks at the captures. Raises BadInput when something cannot be written."""
    try:
        with looking(looks, live=live) as looked:
            yield looked
    except NotWrittenError as error:
        raise BadInput(str(error)) from None


def _path(name: Path | str | None) -> Path | None:
    return None if name is None else Path(name)


def _selection(filter: str) -> Selection:
    from conformance.captures.selection import SelectionError, parse

    try:
        return parse(filter)
    except SelectionError as error:
        raise BadInput(str(error)) from None


def _check_looks(looks: Looks, source: _Source, against: str | None, columns: bool) -> None:
    if columns:
        _check_columns(source.following, source.filter, against, looks)
    try:
        looks.check()
    except NotWrittenError as error:
        raise BadInput(str(error)) from None


def _check_columns(following: bool, filter: str | None, against: str | None, looks: Looks) -> None:
    from conformance.wire.columns.extra import MissingExtraError, need_columns

    more = [(True, option) for option in looks.options]
    for given, option in ((following, "--follow or stdin"), (filter, "--filter"), (against, "--against"), *more):
        if given:
            raise BadInput(f"--columns judges whole files; leave it out with {option}.")
    try:
        need_columns()
    except MissingExtraError as error:
        raise BadInput(f"{str(error)[0].upper()}{str(error)[1:]}.") from None


def _by_columns(
    paths: Sequence[str],
    *,
    sessions: bool,
    profile: str,
    readings: Any,
    level: str,
    on_packet: Callable[[JudgedPacket], None] | None,
    on_progress: Callable[[str, int, int], None] | None,
    on_verdict: Callable[[str, Verdict], object],
    on_capture: Callable[[CaptureSummary], object],
    selection: Selection | None,
    follow: Stop | None,
    against: Against | None,
) -> Replay:
    """Judge like `replay`, by columns; the last three arguments are not supported (see `_check_columns`)."""
    from conformance.captures.columns import judge_range
    from conformance.captures.judge import is_ours
    from conformance.captures.packet_judge import judge_file
    from conformance.captures.packet_rules import PacketRules

    def deviating(packet: JudgedPacket) -> None:
        if on_packet is not None and packet.deviating:
            on_packet(packet)

    outside = Outside()
    rules = PacketRules(profile, readings, level)
    result = Replay(on_verdict=outside.calls(on_verdict), on_capture=on_capture)
    gc.freeze()  # Nothing from before is looked at when the large tables of a capture are given back.
    try:
        for path in paths:
            if is_ours(path):  # One end is left out, for which packets are judged one by one.
                judge_file(
                    result, path, rules, outside.calls(deviating), on_progress and outside.calls(on_progress),
                    None, None, None, outside, whole_sessions=sessions,
                )  # fmt: skip
            else:
                judge_range(
                    path,
                    profile=profile,
                    readings=readings,
                    level=level,
                    sessions=sessions,
                    into=result,
                    on_packet=on_packet,
                    on_progress=on_progress,
                    outside=outside,
                )
            result.settle()
            gc.collect()
    except KeyboardInterrupt:
        result.interrupted = True
        result.settle()
    finally:
        gc.unfreeze()
    return result


@contextmanager
def _implementation(
    connector: str | None, accepted: Any, profile: str | None, in_process: bool, deadline_ms: int
) -> Iterator[Against | None]:
    if connector is None:
        yield None
        return
    from conformance.captures.compare_implementation import implementation
    from conformance.harness.connecting import check_connector

    check_connector(connector, in_process=in_process)
    with implementation(
        connector, readings=accepted, profile=profile, deadline_ms=deadline_ms, in_process=in_process
    ) as given:
        yield given


def _because(given: Against) -> str:
    reasons = ", ".join(f"{count} {why}" for why, count in sorted(given.left_out.items()))
    return f" ({reasons})" if reasons else ""


_MOST_TRIED = 5
"""Clauses in the sentence about a capture without packets; the notes and `--json` have all."""


def _sentence(result: Replay, judged: ExitCode, code: ExitCode) -> str | None:
    """Return why the exit code is not 0, unless the verdicts tell. judged: the code of what was judged."""
    said = _unjudged(result, judged)
    if code is judged:
        return said
    lacking = f"The captures are incomplete: {result.incomplete.words}; --allow-incomplete accepts that."
    return f"{said} {lacking}" if said else lacking


def _unjudged(result: Replay, code: ExitCode) -> str | None:
    if code is ExitCode.INTERRUPTED:
        return "The replay was interrupted; what was judged is kept."
    if result.defects or result.errors:
        return " ".join([*(defect.sentence for defect in result.defects), *result.errors])
    if code is ExitCode.NOTHING_JUDGED:
        cuts = "".join(f" {capture.path}: {capture.cut}." for capture in result.captures if capture.cut)
        own = "".join(f" {one.path}: {one.own_sentence}." for one in result.captures if one.own_sentence)
        if own:
            return f"Nothing was judged.{own}{cuts}"
        if result.packets:
            return f"Nothing was judged: the filter selects none of the {result.packets} packets.{cuts}"
        tried = [text for one in result.captures for text in (*one.unheard_sentences, *one.unread_sentences)]
        only = f"; {'; '.join(tried[:_MOST_TRIED])}" if tried else ""
        return f"Nothing was judged: no MSMQ packet was found in what was read{only}.{cuts}"
    return None
