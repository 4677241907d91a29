"""Names, the calls that they go into, and the judging of what the implementation answers."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.files import resource
from conformance.judge.names import (
    FORMS,
    ILLEGAL_FORMAT_NAME,
    ILLEGAL_PATH_NAME,
    ONLY,
    PATH_NAME,
    PERSISTENT,
    Expectation,
    NameCase,
    NameObservation,
    judge_accepted,
    judge_left_behind,
    judge_name,
    judge_refused_creation,
    judge_refused_open,
    suffix_requirements,
)
from conformance.spec.catalogue import catalogue, reading_id, requirement_id
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

GUIDS = {"G": "0123ABCD-4567-89ab-CDEF-0123456789ab", "H": "fedcba98-7654-3210-fedc-ba9876543210"}
MAX_REPEAT = 4096  # the grammar's longest length is 256; a typing error must not fill the memory

_TOKEN = re.compile(r"\{(?:(?P<guid>[GH])|(?P<char>.)x(?P<times>\d+)|u\+(?P<code>[0-9A-F]{2,6}))\}")


class CaseError(ValueError):
    """A fixture breaks the format of this module; the message names file, group and text."""


@dataclass(frozen=True, slots=True)
class Section:
    """The cases of one file. control: text of a name that every profile accepts."""

    number: str
    form: str
    control: str
    cases: tuple[NameCase, ...]

    def by_requirement(self) -> dict[str, tuple[NameCase, ...]]:
        """Group the cases by the requirement they judge, in the order of the file."""
        names = dict.fromkeys(case.requirement for case in self.cases)
        return {name: tuple(case for case in self.cases if case.requirement == name) for name in names}


@cache
def section(number: str) -> Section:
    """Load the cases of a section such as `2.1.1`. Raises CaseError, or FileNotFoundError without fixtures."""
    return load(resource(f"fixtures/names/mqmq-{number}.toml"))


def load(path: Path) -> Section:
    """Load the cases of a fixture. Raises CaseError for a file that breaks the format above."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        number, form = content["section"], content["form"]
        if form not in FORMS:
            raise CaseError(f"{path.name}: form {form} is none of {', '.join(FORMS)}")
        cases = tuple(case for group in content["group"] for case in _cases(group, number, form, path.name))
        control = expand(content["control"])
    except KeyError as missing:
        raise CaseError(f"{path.name}: a group or the file lacks {missing}") from None
    twice = [case.text for at, case in enumerate(cases) if _key(case) in map(_key, cases[:at])]
    if twice:
        raise CaseError(f"{path.name}: {twice[0]!r} stands twice in a group")
    return Section(number, form, control, cases)


def expand(value: Any) -> Any:
    """Replace the tokens of a text, or of each text in a list or table; return other values unchanged."""
    if isinstance(value, str):
        return _TOKEN.sub(_replacement, value)
    if isinstance(value, list):
        return [expand(each) for each in value]
    if isinstance(value, Mapping):
        return {name: expand(each) for name, each in value.items()}
    return value


def _replacement(token: re.Match[str]) -> str:
    if token["guid"]:
        return GUIDS[token["guid"]]
    if token["code"]:
        return chr(int(token["code"], 16))
    if int(token["times"]) > MAX_REPEAT:
        raise CaseError(f"{token[0]} repeats more than {MAX_REPEAT} times")
    return token["char"] * int(token["times"])


def _key(case: NameCase) -> tuple[str | None, ...]:
    return (case.text, case.requirement, case.since, case.until)


def _cases(group: Mapping[str, Any], number: str, form: str, where: str) -> Iterator[NameCase]:
    demand = requirement_id(group["requirement"])
    common = expand({"kind": group.get("kind"), **group.get("parts", {})})
    reading: str | None = group.get("reading")
    if bool(reading) != bool(group.get("disputed")) or (reading and (group.get("accept") or group.get("reject"))):
        raise CaseError(f"{where}: {demand}: a group has either a reading and disputed texts or neither")

    given = _given(group)

    def case(text: str, expected: Mapping[str, tuple[Expectation, ...]]) -> NameCase:
        return NameCase(
            expand(text),
            form,
            group["rule"],
            demand,
            requirement_id(f"MQMQ-{number}.kind"),
            requirement_id(f"MQMQ-{number}.parts"),
            expected,
            reading,
            group.get("since"),
            group.get("until"),
            given,
        )

    for entry in group.get("accept", ()):
        parts = {name: value for name, value in entry.items() if name != "text"}
        yield case(entry["text"], {ONLY: (_expectation(expand(parts), common),)})
    for text in group.get("reject", ()):
        yield case(text, {ONLY: (Expectation(False),)})
    for entry in group.get("disputed", ()):
        alternatives = catalogue().readings[reading_id(str(reading))]
        if set(entry["under"]) != set(alternatives.alternatives) or demand not in alternatives.requirements:
            raise CaseError(f"{where}: {entry['text']}: {reading} has other alternatives, or does not touch {demand}")
        yield case(entry["text"], {name: _choices(value, common) for name, value in entry["under"].items()})


def _given(group: Mapping[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    for reading, alternatives in group.get("given", {}).items():
        return presupposition(reading, tuple(alternatives))
    return None


def presupposition(reading: str, alternatives: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Check a case's presupposed alternatives against the register. Raises CaseError."""
    if not set(alternatives) <= set(catalogue().readings[reading_id(reading)].alternatives):
        raise CaseError(f"{reading} has not all of the alternatives {', '.join(alternatives)}")
    return reading, alternatives


def _choices(value: Any, common: Mapping[str, Any]) -> tuple[Expectation, ...]:
    return tuple(_expectation(expand(each), common) for each in (value if isinstance(value, list) else [value]))


def _expectation(value: Any, common: Mapping[str, Any]) -> Expectation:
    if value == "reject":
        return Expectation(False)
    if value == "accept":
        return Expectation(True, common["kind"])
    members = {**common, **value}
    kind = members.pop("kind")
    return Expectation(True, kind, members)


Need = Callable[..., None]


def requirements_of(number: str) -> list[Any]:
    """Return pytest parameters: each requirement of a section's fixture, marked with all requirements it may judge."""
    params = []
    for name, cases in section(number).by_requirement().items():
        code = ILLEGAL_PATH_NAME if cases[0].form == PATH_NAME else ILLEGAL_FORMAT_NAME
        accepting = any(each.accepted for case in cases for choices in case.expected.values() for each in choices)
        refusing = any(not each.accepted for case in cases for choices in case.expected.values() for each in choices)
        claims = [name]
        if accepting:
            claims += [cases[0].kind_requirement, cases[0].parts_requirement, *suffix_requirements(cases)]
        if refusing:
            claims.append(code)
        claims = list(dict.fromkeys(claims))
        params.append(pytest.param(name, id=name.split(".")[-1], marks=pytest.mark.requirement(*claims)))
    return params


def check(number: str, requirement: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Send every case of `requirement` that binds the run's profile, and the section's valid name before and after."""
    mq_need("names.parse")
    chosen = section(number)
    cases = [case for case in chosen.by_requirement()[requirement] if case.binds(judge.profile)]
    if not cases:
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    valid = {"text": chosen.control, "form": chosen.form}
    control = observe(mq.call("names.parse", **valid))
    # An implementation that refuses every name would pass every case that must be refused.
    if not control.accepted and any(case.refused_by_all for case in cases):
        judge.record(inconclusive(requirement, f"the valid name {chosen.control} is refused too"))
        return
    if control.accepted:
        judge.looked("control")
    for case in cases:
        judge.begin_example("name", {"case": case.to_json()})
        send(case, mq, judge)
    judge.begin_example("name", {"case": cases[-1].to_json()})
    alive(judge, requirement, valid, control, observe(mq.call("names.parse", **valid)))


def send(case: NameCase, mq: Port, judge: Recorder) -> None:
    """Call names.parse with one case and record the verdicts."""
    params = {"text": case.text, "form": case.form}
    result = mq.call("names.parse", **params)
    seen = observe(result)
    judge.step(f"parse {case.text!r} as {case.form}", {"method": "names.parse", "params": params}, seen.to_json())
    phase = "names to be refused" if case.refused_by_all else "names to be accepted"
    judge.record(*judge_name(case, seen, judge.readings), phase=phase)


def alive(
    judge: Recorder, requirement: str, valid: Mapping[str, str], before: NameObservation, after: NameObservation
) -> None:
    """Judge that, after hostile names, the valid one is parsed as before."""
    judge.looked("liveness")
    if before == after:
        return
    judge.step(f"parse {valid['text']!r} again", {"method": "names.parse", "params": dict(valid)}, after.to_json())
    judge.record(Verdict(requirement, Outcome.FAIL, f"{valid['text']}, again", before.to_json(), after.to_json()))


def observe(result: Result) -> NameObservation:
    """Reduce an answer to what judging needs."""
    failure = {"kind": result.failure.kind, "text": result.failure.text} if result.failure is not None else None
    return NameObservation.of(result.status, result.values, failure)


def inconclusive(requirement: str, reason: str) -> Verdict:
    """Return an inconclusive verdict."""
    return Verdict(requirement, Outcome.INCONCLUSIVE, "valid name first", reason=reason)


def refused_by_all(number: str, profile: str) -> Sequence[NameCase]:
    """Return the cases of a section that no reading accepts and that bind this profile."""
    return [case for case in section(number).cases if case.refused_by_all and case.binds(profile)]


PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
LETTERS, HEX_DIGITS = string.ascii_letters, string.hexdigits
ALPHANUMERIC = LETTERS + string.digits
PLAIN = ALPHANUMERIC + "-_."
CONTROLS = "".join(map(chr, range(0x20)))
COMPUTER = "".join(char for char in PRINTABLE if char not in "\\;,")  # the characters that no reading disputes
SYSTEM_QUEUES = ("JOURNAL", "DEADLETTER", "DEADXACT")
KEYWORDS = frozenset({"journal", "deadletter", "deadxact", "xactonly", "private$", "system$"})
LONGEST_QUEUE = 124
MULTICAST_OCTETS = (224, 239)
PORTS = 65535

_NO_HEX = "GZgz_.:xX١Ａ "  # never in a GUID, and never the start of what may follow one


def queue_alphabet(version: int) -> str:
    """Return the characters of a queue name that no reading disputes; MSMQ 2.0 forbids three more than 1.0."""
    without = "\\;" if version == 1 else '\\;+,"'
    return "".join(char for char in PRINTABLE if char not in without)


SUBQUEUE = queue_alphabet(4)


def _no_keyword(text: str) -> bool:
    return text.casefold() not in KEYWORDS


def spelled(alphabet: str, longest: int) -> SearchStrategy[str]:
    """Generate 1 to `longest` characters of an alphabet from one number; a draw per character would be slow."""
    base = len(alphabet)
    return st.integers(0, sum(base**length for length in range(1, longest + 1)) - 1).map(
        lambda number: _spelling(alphabet, base, number)
    )


def _spelling(alphabet: str, base: int, number: int) -> str:
    chars = []
    number += 1
    while number:
        number, at = divmod(number - 1, base)
        chars.append(alphabet[at])
    return "".join(chars)


def words() -> SearchStrategy[str]:
    """Generate 1 to 11 plain characters, a letter first: an undisputed name of a computer, queue or subqueue."""
    return spelled(PLAIN, 10).map(lambda text: text if text[0] in LETTERS else f"q{text}").filter(_no_keyword)


def texts(alphabet: str, longest: int = 16) -> SearchStrategy[str]:
    """Generate up to `longest` characters of an alphabet that are no keyword."""
    return spelled(alphabet, longest).filter(_no_keyword)


def sized(alphabet: str, lengths: Sequence[int]) -> SearchStrategy[str]:
    """Generate texts of exactly these lengths."""
    start = spelled(alphabet, 8)
    return st.builds(lambda start, length: (start * length)[:length], start, st.sampled_from(lengths))


def bad_queues(version: int) -> SearchStrategy[str]:
    """Generate texts that are no queue name, with or without a subqueue: an invalid character, or too long."""
    return st.one_of(
        with_one(CONTROLS + ("" if version == 1 else '+,"')),
        sized(PLAIN, (LONGEST_QUEUE + 1, 126, 127, 200, 256, 257, 1000)),
    )


def with_one(chars: str, inside: SearchStrategy[str] | None = None) -> SearchStrategy[str]:
    """Generate words with one of these characters anywhere, also first or last."""
    return st.builds(_inserted, words() if inside is None else inside, st.sampled_from(chars), st.integers(0, 16))


def within(chars: SearchStrategy[str]) -> SearchStrategy[str]:
    """Generate two words with one of these texts between them."""
    return st.builds(lambda one, between, other: one + between + other, words(), chars, words())


def _inserted(text: str, what: str, at: int) -> str:
    place = at % (len(text) + 1)
    return text[:place] + what + text[place:]


def letters_beyond_ascii() -> SearchStrategy[str]:
    """Generate 1 to 4 letters, digits or symbols outside ASCII."""
    return st.text(st.characters(min_codepoint=0xA1, categories=("L", "Nd", "Sm")), min_size=1, max_size=4)


def cased(keyword: str) -> SearchStrategy[str]:
    """Generate a keyword in any mix of case, often all in one case."""
    every = (1 << len(keyword)) - 1
    return st.one_of(st.sampled_from((0, every)), st.integers(0, every)).map(
        lambda bits: "".join(char.upper() if bits >> place & 1 else char.lower() for place, char in enumerate(keyword))
    )


def guids() -> SearchStrategy[str]:
    """Generate GUIDs with digits of both cases."""
    return st.integers(0, (1 << 160) - 1).map(_guid)


def _guid(drawn: int) -> str:
    upper, number = drawn >> 128, drawn & ((1 << 128) - 1)
    digits = "".join(char.upper() if upper >> place & 1 else char for place, char in enumerate(f"{number:032x}"))
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def spoiled_guids() -> SearchStrategy[str]:
    """Generate GUIDs with an extra, missing or wrong character, a misplaced dash, or something around them."""
    at = st.integers(0, 35)
    return st.one_of(
        st.builds(lambda guid, place: guid[:place] + guid[place + 1 :], guids(), at),
        st.builds(_inserted, guids(), st.sampled_from(HEX_DIGITS), at),
        st.builds(
            lambda guid, place, char: guid[:place] + char + guid[place + 1 :], guids(), at, st.sampled_from(_NO_HEX)
        ),
        st.builds(_moved_dash, guids(), st.sampled_from((8, 13, 18, 23))),
        st.builds(
            lambda guid, around: around[0] + guid + around[1], guids(), st.sampled_from(("{}", "()", "  ", '""'))
        ),
    )


def _moved_dash(guid: str, at: int) -> str:
    return guid[:at] + guid[at + 1] + "-" + guid[at + 2 :]


def addresses() -> SearchStrategy[str]:
    """Generate IPv4 addresses."""
    return _dotted(0, 255)


def spoiled_addresses() -> SearchStrategy[str]:
    """Generate texts that are surely no IP address: a number above 255, five numbers, an empty one, a letter."""
    octets = st.integers(0, 255).map(str)
    large = st.tuples(octets, octets, octets, st.integers(256, 99999).map(str), st.integers(0, 3))
    return st.one_of(
        large.map(lambda five: ".".join(_rotated(five[:4], five[4]))),
        st.tuples(octets, octets, octets, octets, octets).map(".".join),
        st.tuples(octets, st.just(""), octets, octets).map(".".join),
        st.tuples(octets, octets, octets, st.sampled_from("gxz")).map(".".join),
    )


def _rotated(items: Sequence[str], by: int) -> list[str]:
    return [*items[by:], *items[:by]]


def _dotted(least: int, most: int) -> SearchStrategy[str]:
    """Generate IPv4 addresses with a first octet in this range."""
    return st.integers(least << 24, (most << 24) + 0xFFFFFF).map(
        lambda number: ".".join(map(str, number.to_bytes(4, "big")))
    )


def multicast_addresses() -> SearchStrategy[str]:
    """Generate addresses from 224.0.0.0 to 239.255.255.255."""
    return _dotted(*MULTICAST_OCTETS)


def other_addresses() -> SearchStrategy[str]:
    """Generate IPv4 addresses outside the multicast range."""
    return st.one_of(_dotted(0, 223), _dotted(240, 255))


def port_of_the_letter(port: int) -> bool:
    """Return True if the rule Port of MS-MQMQ 2.1.6 derives it as written, which misses some ports below 10000."""
    return port >= 10000 or port < 20 or 100 <= port < 200 or 1000 <= port < 2000


Step = Callable[..., None]
PROBE = "mqconform-names"
OPENED = requirement_id("MQDMPR-3.1.7.1.5.success")
_FIXTURE_COMPUTER = "HOST\\"
_PRIVATE = "private$\\"


def local_path(text: str, computer: str) -> str:
    """Make a fixture's path name one of a private queue of `computer`; leave a text without the fixtures' computer.

    Public queues need a directory, and queues of other computers are refused as such, so neither would judge the name.
    """
    if not text.startswith(_FIXTURE_COMPUTER):
        return text
    queue = text.removeprefix(_FIXTURE_COMPUTER).removeprefix(_PRIVATE)
    return f"{computer}\\{_PRIVATE}{queue}"


def probe_queue(mq: Port, *, create: bool) -> bool:
    """Return True if a queue under a valid name can be opened. create: create it first."""
    path_name = f"{mq.hello.computer}\\{_PRIVATE}{PROBE}"
    if create and not mq.call("queues.create", path_name=path_name).ok:
        return False
    opened = mq.call("queues.open", format_name=f"DIRECT=OS:{path_name}", access="receive")
    if not opened.ok:
        return False
    mq.call("queues.close", queue=opened.values["queue"])
    return True


def calls_alive(mq: Port) -> Verdict:
    """Judge that, after hostile names, the valid one still opens its queue."""
    opens = probe_queue(mq, create=False)
    subject = "open a valid name after malformed ones"
    return Verdict(OPENED, Outcome.PASS if opens else Outcome.FAIL, subject, {"accepted": True}, {"accepted": opens})


def create_and_judge(path_name: str, mq: Port, step: Step) -> list[Verdict]:
    """Create a queue under a malformed path name, then try to open queues that the attempt may have left."""
    created = _call(mq, step, f"create {path_name!r}", "queues.create", path_name=path_name)
    name = f"DIRECT=OS:{path_name}"
    opened = _call(mq, step, f"open {name!r}", "queues.open", format_name=name, access="receive")
    verdicts = judge_refused_creation(path_name, created, opened)
    for remnant in remnants(path_name, mq.hello.computer):
        name = f"DIRECT=OS:{remnant}"
        opened = _call(mq, step, f"open {name!r}", "queues.open", format_name=name, access="receive")
        verdicts.append(judge_left_behind(path_name, remnant, opened))
    return verdicts


def create_and_open(path_name: str, demand: str, mq: Port, step: Step) -> list[Verdict]:
    """Create a queue under a path name that `demand` accepts, open it by its direct name, and delete it."""
    length = len(path_name.rpartition("\\")[2])
    told = f"create {path_name!r}, a name of {length} characters"
    created = _call(mq, step, told, "queues.create", path_name=path_name)
    verdicts = [judge_accepted(f"create {path_name}", demand, created)]
    if created.accepted:
        opened = _open_and_delete(path_name, mq, step)
        verdicts.append(judge_accepted(f"open {path_name} after its creation", demand, opened))
    return verdicts


def _open_and_delete(path_name: str, mq: Port, step: Step) -> NameObservation:
    name = f"DIRECT=OS:{path_name}"
    opened = _call(mq, step, f"open {name!r}", "queues.open", format_name=name, access="receive")
    if mq.offers("queues.delete"):
        _call(mq, step, f"delete {name!r}", "queues.delete", format_name=name)
    return opened


def create_restart_open(path_names: Sequence[str], mq: Port, step: Step) -> list[Verdict]:
    """Create queues, kill the queue manager, and open by their direct names those that were created."""
    made = [one for one in path_names if _call(mq, step, f"create {one!r}", "queues.create", path_name=one).accepted]
    mq.restart(kill=True)
    step("kill the queue manager and start it again", None, None)
    return [judge_accepted(f"open {one} after a kill", PERSISTENT, _open_and_delete(one, mq, step)) for one in made]


def remnants(path_name: str, computer: str) -> list[str]:
    """Return the valid path names that a careless implementation may make of a malformed one of a private queue.

    The queue's name is cut at its limit, cut at the first invalid character, or stripped of invalid characters.
    """
    before = f"{computer}\\{_PRIVATE}"
    queue = path_name.removeprefix(before)
    if queue == path_name:
        return []
    plain = "".join(char for char in queue if char in PLAIN)
    first_bad = next((at for at, char in enumerate(queue) if char not in PLAIN), len(queue))
    made = dict.fromkeys((queue[:first_bad][:LONGEST_QUEUE], plain[:LONGEST_QUEUE]))
    return [f"{before}{name}" for name in made if name and name != queue]


def open_and_judge(format_name: str, access: str, demand: str, mq: Port, step: Step) -> list[Verdict]:
    """Open a name that must be refused by the requirement `demand`."""
    told = f"open {format_name!r} for {access}"
    opened = _call(mq, step, told, "queues.open", format_name=format_name, access=access)
    return judge_refused_open(format_name, access, opened, demand)


def _call(mq: Port, step: Step, told: str, method: str, **params: Any) -> NameObservation:
    result = mq.call(method, **params)
    seen = observe(result)
    step(told, {"method": method, "params": params}, seen.to_json())
    if result.ok and "queue" in result.values:
        mq.call("queues.close", queue=result.values["queue"])
    return seen
