"""Finds the requirement that a near miss breaks: the one claimed by the rule whose piece was edited (MS-MQMQ 2.1).

Each section has a function that takes a `Miss` and returns the last words of a requirement id, such as `guid-reject`,
a whole id of another section, or None if the edit breaks the claims of several rules or of none.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from types import MappingProxyType

from conformance.grammar.pieces import Miss

Blame = Callable[[Miss, int], "str | None"]
PREFIX = "MQMQ-2.1.2.prefix-reject"
_HEX, _DIGITS = frozenset(string.hexdigits), frozenset(string.digits)
_GUID_LENGTH, _QUEUE_LENGTH = 36, 124


def _control(text: str) -> bool:
    return any(char < " " for char in text)


def _printable(text: str) -> bool:
    return all("!" <= char <= "~" for char in text)


def lowered(text: str) -> str:
    """Return the text with ASCII letters lowered. U+017F and U+212A stay: they are not letters of a keyword."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def _keyword(miss: Miss) -> str | None:
    """Return the word for an edit of the keyword, up to the equals sign; the next rule begins after it."""
    return None if lowered(miss.piece).startswith(miss.rule.strip('"')) else PREFIX


def path_name(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.1."""
    text = miss.piece
    match miss.rule:
        case "computer":
            if not text:
                return "computer-missing"
            if not _printable(text):
                return "computer-alphabet-reject"
            return "computer-too-long" if len(text) > 256 else None
        case "queuename":
            return _path_queue(text, version)
        case "subqueue":
            if not text:
                return "subqueue-missing"
            if len(text) > 32:
                return "subqueue-too-long"
            return "subqueue-alphabet-reject" if _control(text) or set(text) & set(';+,"\\') else None
        case '"\\private$\\"' if miss.text.count("\\") > 1:
            return "queue-name-backslash-reject"
    return None if "\\" in miss.text else "separator"


def _path_queue(text: str, version: int) -> str | None:
    if not text:
        return "queue-name-missing"
    if len(text) > _QUEUE_LENGTH:
        return "queue-name-too-long"
    if _control(text):
        return "queue-name-control-reject"
    if ";" in text:
        return "queue-name-semicolon-reject" if version < 4 else None
    for char, word in (("+", "plus"), (",", "comma"), ('"', "quote")):
        if char in text:
            return f"queue-name-{word}-reject"
    return None


def direct(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.2."""
    text = miss.piece
    match miss.rule:
        case '"direct="':
            return _keyword(miss)
        case '"tcp:"' | '"os:"' | '"http"' | '"https"':
            if lowered(text).startswith(miss.rule.strip('"')):
                return None
            if "\\" in text:  # One parser finds a wrong protocol before the colon, another none before the backslash.
                return None
            return "protocol-reject" if ":" in miss.text.partition("\\")[0] else "protocol-missing"
        case "tcpaddress":
            return "tcp-address-reject" if text else "address-missing"
        case "oscomputer":
            return None if text else "address-missing"
        case '"//"' | '"/msmq"' | "webseparator":
            return "http-msmq-reject"
        case "webport":
            return "http-port-reject" if set(text) - _DIGITS else None
        case "directqueuename" | "webqueuename":
            return "queue-name-reject" if text else "queue-name-missing"
        case '"\\"':
            return "queue-name-reject" if "\\" in text else "queue-name-missing"
        case "subqueue" | "journal":
            if not text:
                return "suffix-empty-reject"
            return "suffix-reject" if version < 4 else "queue-name-reject"
        case "machinequeue":
            return "system-queue-reject" if text else None
        case '"\\private$\\"' | '"\\system$;"' | '"private$"' | '"system$;"':
            return "queue-name-reject"
    return None


def public(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.3."""
    if miss.rule != "guid":
        return _keyword(miss) if miss.rule == '"public="' else None
    if not miss.piece:
        return "guid-missing"
    return "trailing-reject" if _behind_guid(miss.piece) else "guid-reject"


def _behind_guid(text: str) -> str:
    """Return the text after a whole GUID; further digits belong to its last group, which is too long."""
    groups = text[:_GUID_LENGTH].split("-")
    whole = [len(group) for group in groups] == [8, 4, 4, 4, 12] and set("".join(groups)) <= _HEX
    rest = text[_GUID_LENGTH:]
    return rest if whole and rest[:1] not in _HEX else ""


def private(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.4."""
    text = miss.piece
    match miss.rule:
        case '"private="':
            return _keyword(miss)
        case "guid":
            return "guid-reject"
        case "privateidentifier":
            if not text:
                return "number-missing"
            if set(text) - _HEX:
                return "suffix-reject" if ";" in text else "number-reject"
            return "number-too-long" if len(text) > 8 else None
        case "journal":
            return "suffix-reject"
    return None


def distribution_list(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.5."""
    text = miss.piece
    match miss.rule:
        case '"dl="':
            return _keyword(miss)
        case "guid":
            return "guid-reject"
        case "domainname":
            if not text:
                return "domain-missing"
            if not _printable(text):
                return "domain-alphabet-reject"
            return "domain-too-long" if len(text) > 255 else None
    return None


def machine(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.6, MACHINE=."""
    if miss.rule == '"machine="':
        return _keyword(miss)
    return "machine-guid-reject" if miss.rule == "guid" else "machine-suffix"


def connector(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.6, CONNECTOR=."""
    if miss.rule == '"connector="':
        return _keyword(miss)
    return "connector-suffix" if _behind_guid(miss.piece).startswith(";") else "connector-guid-reject"


def multicast(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.6, MULTICAST=."""
    text = miss.piece
    match miss.rule:
        case '"multicast="':
            return _keyword(miss)
        case "multicasthost":
            return _octets(text.split("."))
        case "port":
            if not text:
                return "port-missing"
            small = set(text) <= _DIGITS and int(text[:400]) <= 65535
            return "port-zero-reject" if small else "port-range-reject"
    return None if ":" in miss.text else "port-missing"


def _octets(octets: list[str]) -> str:
    if len(octets) != 4 or not all(octet and set(octet) <= _DIGITS for octet in octets):
        return "address-reject"
    if any(len(octet) > 1 and octet[0] == "0" for octet in octets):
        return "octet-zero-reject"
    return "octet-range-reject" if any(int(octet[:400]) > 255 for octet in octets) else "first-octet-reject"


def multiple(miss: Miss, version: int) -> str | None:
    """MS-MQMQ 2.1.7. An element as long as this may break only a length, which the section of its own form claims."""
    if not all(miss.text.split(",")):
        return "empty-element-reject"
    if miss.rule == "element":
        return "element-reject" if len(miss.piece) <= _QUEUE_LENGTH else None
    return "separator-reject"


BLAME: Mapping[str, tuple[Blame, str]] = MappingProxyType(
    {
        "QueuePathName": (path_name, "2.1.1"),
        "DirectName": (direct, "2.1.2"),
        "PublicName": (public, "2.1.3"),
        "PrivateName": (private, "2.1.4"),
        "DistributionListName": (distribution_list, "2.1.5"),
        "Machine": (machine, "2.1.6"),
        "Connector": (connector, "2.1.6"),
        "Multicast": (multicast, "2.1.6"),
        "MultipleElementName": (multiple, "2.1.7"),
    }
)
"""Rule that near misses are made from, to the function that blames them and the section of MS-MQMQ."""


def blamed(rule: str, miss: Miss, version: int) -> str | None:
    """Return the id of the requirement that a near miss of a rule of BLAME breaks, or None. version: 1 to 6."""
    judge, section = BLAME[rule]
    word = judge(miss, version)
    return word if word is None or word.startswith("MQMQ-") else f"MQMQ-{section}.{word}"
