"""Generated public, private and distribution list format names (MS-MQMQ 2.1.3, 2.1.4, 2.1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from conformance.judge.names import FORMAT_NAME
from conformance.suites.names import spelling as sp
from conformance.suites.names.families import Chapter, Family, Parts
from conformance.suites.names.path_families import joined

publics = Chapter("2.1.3", FORMAT_NAME, "public")
privates = Chapter("2.1.4", FORMAT_NAME, "private")
lists = Chapter("2.1.5", FORMAT_NAME, "distribution_list")

Under = Mapping[str, Any]
_V3 = "msmq-3.0"
_DOMAIN = "".join(char for char in sp.PRINTABLE if char != ",")


def _public(prefixes: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
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


def _private(prefixes: SearchStrategy[str], suffixes: SearchStrategy[str]) -> SearchStrategy[tuple[str, Parts]]:
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
    publics.accept("public", "PublicName", lambda _: _public(st.just("PUBLIC")))
    publics.accept("hex-case", "HexDig", lambda _: _public(sp.cased("PUBLIC")))
    publics.reject("guid-reject", "Guid", lambda _: joined("PUBLIC=", sp.spoiled_guids()))
    publics.reject("trailing-reject", "PublicName", lambda _: joined("PUBLIC=", sp.guids(), _behind_public()))
    publics.disputed("journal", "PublicName", "R-MQMQ-public-journal", lambda _: _public_journals())


def _declare_private() -> None:
    prefix, nothing = st.just("PRIVATE"), st.just("")
    privates.accept("private", "PrivateName", lambda _: _private(prefix, nothing))
    privates.accept("journal", "PrivateName", lambda _: _private(prefix, st.just(";JOURNAL")))
    suffixes = st.one_of(nothing, sp.cased(";JOURNAL"))
    privates.accept("case", "PrivateName", lambda _: _private(sp.cased("PRIVATE"), suffixes))
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
