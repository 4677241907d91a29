"""Families of names: paths, names with GUIDs, and the variations that each family has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import (
    FORMAT_NAME,
    ILLEGAL_FORMAT_NAME,
    ILLEGAL_PATH_NAME,
    ONLY,
    PATH_NAME,
    Expectation,
    NameCase,
)
from conformance.spec.catalogue import catalogue, reading_id, requirement_id
from conformance.spec.versions import applies, rank
from conformance.suites.names import checks as sp
from conformance.suites.names.checks import Need, alive, inconclusive, observe, presupposition, section, send

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

Parts = Mapping[str, Any]
REFUSED = Expectation(False)
SHARE = 0.25  # of the run's examples for each of the many families


@dataclass(frozen=True, slots=True)
class Family:
    """Generated names of one requirement. cases: by MSMQ version (1 to 6), the strategy that makes them.

    accepting, refusing: some reading may accept, or refuse, one of them. since, until: the profiles it is for.
    """

    number: str
    rule: str
    requirement: str
    cases: Callable[[int], SearchStrategy[NameCase]]
    accepting: bool
    refusing: bool
    reading: str | None = None
    since: str | None = None
    until: str | None = None

    def binds(self, profile: str) -> bool:
        """Return True if its names are for this MSMQ version."""
        return applies(profile, self.since, self.until)

    def claims(self) -> tuple[str, ...]:
        """Return the requirements its names may judge."""
        form = section(self.number).form
        code = ILLEGAL_PATH_NAME if form == PATH_NAME else ILLEGAL_FORMAT_NAME
        told = (requirement_id(f"MQMQ-{self.number}.kind"), requirement_id(f"MQMQ-{self.number}.parts"))
        return (self.requirement, *(told if self.accepting else ()), *((code,) if self.refusing else ()))


@dataclass(slots=True)
class Chapter:
    """The families of one section of MS-MQMQ 2.1, collected by its methods. kind: of its names, if they share one.

    Each method takes the last word of the requirement, the rule of the grammar, and `make`, which returns the strategy
    for an MSMQ version.
    """

    number: str
    form: str
    kind: str | None = None
    families: list[Family] = field(default_factory=list)

    def accept(
        self,
        word: str,
        rule: str,
        make: Callable[[int], SearchStrategy[tuple[str, Parts]]],
        *,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> None:
        """Add names (text, parts) that every reading accepts."""
        taken = kind or self.kind

        def expected(parts: Parts) -> Mapping[str, tuple[Expectation, ...]]:
            return {ONLY: (Expectation(True, taken, parts),)}

        self._add(word, rule, make, expected, (True, False), None, since, until)

    def reject(
        self,
        word: str,
        rule: str,
        make: Callable[[int], SearchStrategy[str]],
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> None:
        """Add texts that no reading accepts."""

        def pairs(version: int) -> SearchStrategy[tuple[str, None]]:
            return make(version).map(lambda text: (text, None))

        self._add(word, rule, pairs, lambda _: {ONLY: (REFUSED,)}, (False, True), None, since, until)

    def disputed(
        self,
        word: str,
        rule: str,
        reading: str,
        make: Callable[[int], SearchStrategy[tuple[str, Mapping[str, Parts | Sequence[Parts] | None]]]],
        *,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
        given: tuple[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Add texts, each with the result under each alternative of a reading: parts, or a list of permitted parts.

        None means refused; an empty table means accepted with any parts. A member `kind` among the parts
        overrides the kind of the section. given: see `NameCase`.
        """
        known = catalogue().readings[reading_id(reading)]
        taken = kind or self.kind

        def one(parts: Parts | None) -> Expectation:
            if parts is None:
                return REFUSED
            members = dict(parts)
            told = members.pop("kind", taken)
            return Expectation(True, told, members or None)

        def expected(under: Mapping[str, Any]) -> Mapping[str, tuple[Expectation, ...]]:
            if set(under) != set(known.alternatives):
                raise ValueError(f"{word}: {reading} has the alternatives {', '.join(known.alternatives)}")
            return {
                name: tuple(map(one, wanted)) if isinstance(wanted, list) else (one(wanted),)
                for name, wanted in under.items()
            }

        self._add(word, rule, make, expected, (True, True), reading, since, until, given)

    def _add(
        self,
        word: str,
        rule: str,
        make: Callable[[int], SearchStrategy[tuple[str, Any]]],
        expected: Callable[[Any], Mapping[str, tuple[Expectation, ...]]],
        may: tuple[bool, bool],
        reading: str | None,
        since: str | None,
        until: str | None,
        given: tuple[str, tuple[str, ...]] | None = None,
    ) -> None:
        demand = requirement_id(f"MQMQ-{self.number}.{word}")
        kind, parts = requirement_id(f"MQMQ-{self.number}.kind"), requirement_id(f"MQMQ-{self.number}.parts")

        supposed = presupposition(*given) if given else None

        def case(example: tuple[str, Any]) -> NameCase:
            text, wanted = example
            return NameCase(
                text, self.form, rule, demand, kind, parts, expected(wanted), reading, since, until, supposed
            )

        def cases(version: int) -> SearchStrategy[NameCase]:
            return make(version).map(case)

        self.families.append(Family(self.number, rule, demand, cases, *may, reading, since, until))


def parameters(families: Sequence[Family]) -> list[Any]:
    """Return pytest parameters: each family, marked with the requirements it may judge."""
    params = []
    for family in families:
        versions = "-".join(each.removeprefix("msmq-") for each in (family.since, family.until) if each)
        name = "-".join(
            part
            for part in (
                family.requirement.split(".")[-1],
                family.reading and family.reading.removeprefix("R-MQMQ-"),
                versions,
            )
            if part
        )
        params.append(pytest.param(family, id=name, marks=pytest.mark.requirement(*family.claims())))
    return params


def version_of(profile: str) -> int:
    """Return the MSMQ version of a profile: 1 to 6."""
    return rank(profile) + 1


def explore(family: Family, mq: Port, judge: Recorder, mq_need: Need, options: RunOptions) -> None:
    """Judge generated names of a family, and the valid name of its section before and after."""
    mq_need("names.parse")
    if not family.binds(judge.profile):
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    chosen = section(family.number)
    valid = {"text": chosen.control, "form": chosen.form}
    control = observe(mq.call("names.parse", **valid))
    if not control.accepted and family.refusing and not family.accepting:
        judge.record(inconclusive(family.requirement, f"the valid name {chosen.control} is refused too"))
        return
    if control.accepted:
        judge.looked("control")

    @from_options(options, share=SHARE)
    @given(family.cases(version_of(judge.profile)))
    def run(case: NameCase) -> None:
        judge.begin_example("name", {"case": case.to_json()})
        send(case, mq, judge)

    run()
    # If the valid name is refused by now, the story and the repro file hold the last name before it.
    alive(judge, family.requirement, valid, control, observe(mq.call("names.parse", **valid)))


paths = Chapter("2.1.1", PATH_NAME, "path")
BACKSLASHES = "R-MQMQ-computer-alphabet"
UNICODE = "R-MQMQ-queue-name-alphabet"
SUFFIX = "R-MQMQ-suffix-or-subqueue"

Under = Mapping[str, Any]


def _public(computers: SearchStrategy[str], queues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda computer, queue: (
            f"{computer}\\{queue}",
            {"computer": computer, "scope": "public", "queue": queue},
        ),
        computers,
        queues,
    )


def _private(keywords: SearchStrategy[str], queues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Under]]:
    """Generate private path names that are also public ones of an odd computer, if its name may hold separators."""

    def name(computer: str, keyword: str, queue: str) -> tuple[str, Under]:
        private = {"computer": computer, "scope": "private", "queue": queue}
        strange = {"computer": f"{computer}\\{keyword}", "scope": "public", "queue": queue}
        under = {"separators-excluded": private, "any-printable": [private, strange]}
        return f"{computer}\\{keyword}\\{queue}", under

    return st.builds(name, sp.words(), keywords, queues)


def _system(keywords: SearchStrategy[str], queues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda computer, keyword, queue: (
            f"{computer}\\{keyword};{queue}",
            {"computer": computer, "scope": "system", "queue": queue},
        ),
        sp.words(),
        keywords,
        queues,
    )


def _system_or_subqueue(keywords: SearchStrategy[str]) -> SearchStrategy[tuple[str, Under]]:
    """Generate the same from MSMQ 4.0 on, where the grammar as written derives them in two ways."""

    def name(made: tuple[str, Parts]) -> tuple[str, Under]:
        text, parts = made
        keyword = text.partition("\\")[2].partition(";")[0]
        other = {**parts, "scope": "public", "queue": keyword, "subqueue": parts["queue"]}
        return text, {"keyword": parts, "subqueue": [parts, other]}

    return _system(keywords, _system_queues()).map(name)


def _system_queues() -> SearchStrategy[str]:
    return st.sampled_from(sp.SYSTEM_QUEUES).map(str.lower)


def _subqueue(subqueues: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(
        lambda computer, queue, subqueue: (
            f"{computer}\\{queue};{subqueue}",
            {"computer": computer, "scope": "public", "queue": queue, "subqueue": subqueue},
        ),
        sp.words(),
        sp.words(),
        subqueues,
    )


def joined(*pieces: SearchStrategy[str] | str) -> SearchStrategy[str]:
    """Join fixed and generated pieces."""
    return st.tuples(*(st.just(piece) if isinstance(piece, str) else piece for piece in pieces)).map("".join)


def scopes() -> SearchStrategy[str]:
    """Generate the text before the queue name of a refused path name, of a public or a private queue."""
    return st.sampled_from(("", "private$\\"))


def bad_queue(chars: str, version: int) -> SearchStrategy[str]:
    """Generate path names whose queue name has one of these characters."""
    return joined(sp.words(), "\\", scopes(), sp.with_one(chars))


def too_long_queue() -> SearchStrategy[str]:
    """Generate path names whose queue name is longer than 124 characters."""
    return joined(sp.words(), "\\", scopes(), sp.sized(sp.PLAIN, (125, 126, 127, 128, 200, 255, 256, 257)))


def _computer_with_separator() -> SearchStrategy[tuple[str, Under]]:
    def name(computer: str, queue: str) -> tuple[str, Under]:
        parts = {"computer": computer, "scope": "public", "queue": queue}
        return f"{computer}\\{queue}", {"separators-excluded": None, "any-printable": parts}

    return st.builds(name, sp.within(st.sampled_from(",;")), sp.words())


def _queue_with_backslash() -> SearchStrategy[tuple[str, Under]]:
    def name(words: list[str]) -> tuple[str, Under]:
        text = "\\".join(words)
        computer, _, queue = text.rpartition("\\")
        parts = {"computer": computer, "scope": "public", "queue": queue}
        return text, {"separators-excluded": None, "any-printable": parts}

    return st.lists(sp.words(), min_size=3, max_size=5).map(name)


def _beyond_letter() -> SearchStrategy[tuple[str, Under]]:
    between = st.one_of(st.just(" "), sp.letters_beyond_ascii())
    return _public(sp.words(), sp.within(between)).map(lambda made: (made[0], {"unicode": made[1], "letter": None}))


def _delete_character() -> SearchStrategy[tuple[str, Under]]:
    return _public(sp.words(), sp.within(st.just("\x7f"))).map(
        lambda made: (made[0], {"unicode": [None, made[1]], "letter": made[1]})
    )


def _longest_subqueue() -> SearchStrategy[tuple[str, Under]]:
    return _subqueue(sp.sized(sp.PLAIN, (32,))).map(lambda made: (made[0], {"up-to-32": made[1], "up-to-31": None}))


def _unknown_system_queue() -> SearchStrategy[tuple[str, Under]]:
    # Includes names longer than any known one, because a manager may go by the number of characters.
    queues = st.one_of(sp.words(), st.builds("q".__add__, sp.sized(sp.PLAIN, (11, 20, 60))))
    return _system(st.just("system$"), queues).map(lambda made: (made[0], {"three": None, "any": made[1]}))


def _declare_paths() -> None:
    v4, v3 = "msmq-4.0", "msmq-3.0"
    paths.accept("public-path", "QueuePathName", lambda _: _public(sp.words(), sp.words()))
    paths.disputed("private-path", "QueuePathName", BACKSLASHES, lambda _: _private(st.just("private$"), sp.words()))
    paths.accept("system-path", "QueuePathName", lambda _: _system(st.just("system$"), _system_queues()), until=v3)
    paths.disputed("system-path", "QueuePathName", SUFFIX, lambda _: _system_or_subqueue(st.just("system$")), since=v4)
    paths.disputed("keyword-case", "QueuePathName", BACKSLASHES, lambda _: _private(sp.cased("private$"), sp.words()))
    paths.accept("keyword-case", "QueuePathName", lambda _: _system(sp.cased("system$"), _system_queues()), until=v3)
    paths.disputed(
        "keyword-case", "QueuePathName", SUFFIX, lambda _: _system_or_subqueue(sp.cased("system$")), since=v4
    )
    paths.reject("separator", "QueuePathName", lambda _: sp.spelled(sp.PRINTABLE.replace("\\", ""), 24))


def _declare_computers() -> None:
    paths.accept(
        "computer-length", "Computer", lambda _: _public(sp.sized(sp.PLAIN, (1, 2, 15, 16, 63, 255, 256)), sp.words())
    )
    too_long = (257, 258, 300, 1000)
    paths.reject("computer-too-long", "Computer", lambda _: joined(sp.sized(sp.PLAIN, too_long), "\\", sp.words()))
    paths.reject("computer-missing", "Computer", lambda _: joined("\\", sp.words()))
    paths.accept("computer-alphabet", "Computer", lambda _: _public(sp.texts(sp.COMPUTER), sp.words()))
    paths.disputed("computer-alphabet", "Computer", BACKSLASHES, lambda _: _computer_with_separator())
    strange = sp.CONTROLS + " \x7f\u00a0ÖхЖ主🖥"
    paths.reject("computer-alphabet-reject", "Computer", lambda _: joined(sp.with_one(strange), "\\", sp.words()))


def _declare_queue_names() -> None:
    boundary = (1, 2, 32, 33, 100, 123, 124)
    paths.accept("queue-name-length", "QueueName", lambda _: _public(sp.words(), sp.sized(sp.PLAIN, boundary)))
    paths.reject("queue-name-too-long", "QueueName", lambda _: too_long_queue())
    paths.reject(
        "queue-name-missing",
        "QueueName",
        lambda _: joined(sp.words(), st.sampled_from(("\\", "\\private$\\", "\\PRIVATE$\\", "\\system$;"))),
    )
    paths.accept(
        "queue-name-alphabet", "QueueName", lambda version: _public(sp.words(), sp.texts(sp.queue_alphabet(version)))
    )
    paths.disputed("queue-name-alphabet", "QueueName", UNICODE, lambda _: _delete_character())
    paths.reject("queue-name-control-reject", "QueueName", lambda version: bad_queue(sp.CONTROLS, version))
    paths.disputed("queue-name-space-reject", "QueueName", UNICODE, lambda _: _beyond_letter())
    paths.disputed("queue-name-backslash-reject", "QueueName", BACKSLASHES, lambda _: _queue_with_backslash())
    paths.reject(
        "queue-name-semicolon-reject",
        "QueueName",
        lambda _: joined(sp.words(), "\\", sp.with_one(";")),
        until="msmq-3.0",
    )
    paths.accept(
        "queue-name-plus-comma-quote",
        "QueueName",
        lambda _: _public(sp.words(), sp.with_one('+,"')),
        until="msmq-1.0",
    )
    for word, char in (("plus", "+"), ("comma", ","), ("quote", '"')):
        paths.reject(
            f"queue-name-{word}-reject",
            "QueueName",
            partial(bad_queue, char),
            since="msmq-2.0",
        )


def _declare_subqueues() -> None:
    v4, v3 = "msmq-4.0", "msmq-3.0"
    paths.accept("subqueue", "Subqueue", lambda _: _subqueue(sp.texts(sp.SUBQUEUE)), since=v4)
    lengths = (1, 2, 30, 31)
    paths.accept("subqueue-length", "Subqueue", lambda _: _subqueue(sp.sized(sp.PLAIN, lengths)), since=v4)
    paths.disputed("subqueue-length", "Subqueue", "R-MQMQ-subqueue-length", lambda _: _longest_subqueue(), since=v4)
    paths.reject(
        "subqueue-too-long",
        "Subqueue",
        lambda _: joined(sp.words(), "\\", scopes(), sp.words(), ";", sp.sized(sp.PLAIN, (33, 34, 63, 64, 124, 255))),
        since=v4,
    )
    paths.reject(
        "subqueue-missing", "Subqueue", lambda _: joined(sp.words(), "\\", scopes(), sp.words(), ";"), since=v4
    )
    paths.reject(
        "subqueue-alphabet-reject",
        "Subqueue",
        lambda _: joined(sp.words(), "\\", scopes(), sp.words(), ";", sp.with_one(sp.CONTROLS + ';+,"')),
        since=v4,
    )
    paths.disputed(
        "system-queue-unknown", "QueuePathName", "R-MQMQ-system-path", lambda _: _unknown_system_queue(), until=v3
    )


_declare_paths()
_declare_computers()
_declare_queue_names()
_declare_subqueues()
PATH_FAMILIES: tuple[Family, ...] = tuple(paths.families)

publics = Chapter("2.1.3", FORMAT_NAME, "public")
privates = Chapter("2.1.4", FORMAT_NAME, "private")
lists = Chapter("2.1.5", FORMAT_NAME, "distribution_list")

_V3 = "msmq-3.0"
_DOMAIN = "".join(char for char in sp.PRINTABLE if char != ",")


def _public_guid(prefixes: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    return st.builds(lambda prefix, guid: (f"{prefix}={guid}", {"guid": guid}), prefixes, sp.guids())


def _public_journals() -> SearchStrategy[tuple[str, Under]]:
    return st.builds(
        lambda guid, suffix: (
            f"PUBLIC={guid};{suffix}",
            {"accepted": {"guid": guid, "suffix": "journal"}, "refused": None},
        ),
        sp.guids(),
        sp.cased("JOURNAL"),
    )


def _behind_public() -> SearchStrategy[str]:
    """Generate suffixes that no reading allows after the GUID: of dead-letter queues, and numbers of private names."""
    fixed = st.sampled_from((";", ";DEADLETTER", ";DEADXACT", ";XACTONLY", ";JOURNALS", ";JOURNAL;JOURNAL", "\\1", " "))
    marked = st.builds(str.__add__, st.sampled_from((";late", "@", "\\", " ", "-", "\0", "\n", ".", "0")), sp.words())
    return st.one_of(fixed, marked)


def _numbers() -> SearchStrategy[str]:
    """Generate 1 to 8 hexadecimal digits of any case, with or without leading zeros."""
    return sp.spelled(sp.HEX_DIGITS, 8)


def _private_guid(prefixes: SearchStrategy[str], suffixes: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    def name(prefix: str, guid: str, number: str, suffix: str) -> tuple[str, Parts]:
        journal = {"suffix": "journal"} if suffix else {}
        return f"{prefix}={guid}\\{number}{suffix}", {"guid": guid, "identifier": int(number, 16), **journal}

    return st.builds(name, prefixes, sp.guids(), _numbers(), suffixes)


def _list(prefixes: SearchStrategy[str], domains: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
    def name(prefix: str, guid: str, domain: str) -> tuple[str, Parts]:
        at = f"@{domain}" if domain else ""
        return f"{prefix}={guid}{at}", {"guid": guid, **({"domain": domain} if domain else {})}

    return st.builds(name, prefixes, sp.guids(), domains)


def _domains_with_comma() -> SearchStrategy[tuple[str, Under]]:
    return _list(st.just("DL"), sp.with_one(",")).map(lambda made: (made[0], {"separates": None, "belongs": made[1]}))


def _declare_public() -> None:
    publics.accept("public", "PublicName", lambda _: _public_guid(st.just("PUBLIC")))
    publics.accept("hex-case", "HexDig", lambda _: _public_guid(sp.cased("PUBLIC")))
    publics.reject("guid-reject", "Guid", lambda _: joined("PUBLIC=", sp.spoiled_guids()))
    publics.reject("trailing-reject", "PublicName", lambda _: joined("PUBLIC=", sp.guids(), _behind_public()))
    publics.disputed("journal", "PublicName", "R-MQMQ-public-journal", lambda _: _public_journals())


def _declare_private() -> None:
    prefix, nothing = st.just("PRIVATE"), st.just("")
    privates.accept("private", "PrivateName", lambda _: _private_guid(prefix, nothing))
    privates.accept("journal", "PrivateName", lambda _: _private_guid(prefix, st.just(";JOURNAL")))
    suffixes = st.one_of(nothing, sp.cased(";JOURNAL"))
    privates.accept("case", "PrivateName", lambda _: _private_guid(sp.cased("PRIVATE"), suffixes))
    guid = sp.guids
    privates.reject("guid-reject", "Guid", lambda _: joined("PRIVATE=", sp.spoiled_guids(), "\\", _numbers()))
    ends = st.sampled_from(("", "\\", "\\;JOURNAL", ";JOURNAL"))
    privates.reject("number-missing", "PrivateName", lambda _: joined("PRIVATE=", guid(), ends))
    long = st.text(sp.HEX_DIGITS, min_size=9, max_size=20)
    privates.reject("number-too-long", "PrivateName", lambda _: joined("PRIVATE=", guid(), "\\", long))
    never = "GgxZz-+ _.:/\\\0\n１٣²"
    short = sp.spelled(sp.HEX_DIGITS, 7)
    privates.reject(
        "number-reject", "PrivateName", lambda _: joined("PRIVATE=", guid(), "\\", sp.with_one(never, short))
    )
    others = st.sampled_from(("", "DEADLETTER", "DEADXACT", "XACTONLY", "JOURNALS", "JOURNA", "JOURNAL;", " JOURNAL"))
    privates.reject(
        "suffix-reject",
        "PrivateName",
        lambda _: joined("PRIVATE=", guid(), "\\", _numbers(), ";", st.one_of(others, sp.words())),
    )


def _declare_lists() -> None:
    prefix, at = st.just("DL"), joined("DL=", sp.guids(), "@")
    lists.accept("list", "DistributionListName", lambda _: _list(sp.cased("DL"), st.just("")), since=_V3)
    domains = st.one_of(sp.texts(_DOMAIN), sp.sized(sp.PLAIN, (1, 63, 254, 255)))
    lists.accept("domain", "DomainName", lambda _: _list(prefix, domains), since=_V3)
    domain = st.one_of(st.just(""), joined("@", sp.words()))
    lists.reject("guid-reject", "Guid", lambda _: joined("DL=", sp.spoiled_guids(), domain), since=_V3)
    lists.reject("domain-missing", "DomainName", lambda _: at, since=_V3)
    too_long = sp.sized(sp.PLAIN, (256, 257, 300, 1000))
    lists.reject("domain-too-long", "DomainName", lambda _: joined(at, too_long), since=_V3)
    strange = sp.with_one(sp.CONTROLS + " \x7f\u00a0äх例")
    lists.reject("domain-alphabet-reject", "DomainName", lambda _: joined(at, strange), since=_V3)
    lists.disputed("domain-comma", "DomainName", "R-MQMQ-comma", lambda _: _domains_with_comma(), since=_V3)


_declare_public()
_declare_private()
_declare_lists()
PUBLIC_FAMILIES: tuple[Family, ...] = tuple(publics.families)
PRIVATE_FAMILIES: tuple[Family, ...] = tuple(privates.families)
LIST_FAMILIES: tuple[Family, ...] = tuple(lists.families)
