"""Faults of the parser of queue names: names that have a GUID (MS-MQMQ 2.1.3 to 2.1.6)."""

from __future__ import annotations

import re

from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name, NameParser

_GUID_CHARACTERS = 36


class _BracesParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        return super()._public(text, re.sub(r"\A\{([^{}]*)\}", r"\1", rest))


class AcceptsBracesAroundGuid(Fault):
    """The GUID of a public name may stand in braces, as the registry writes it."""

    name = "accepts-braces-around-guid"
    breaks = ("MQMQ-2.1.3.guid-reject",)
    replaces = ("names", _BracesParser)


class _TrailingTextParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        return super()._public(text, rest) or super()._public(text, rest[:_GUID_CHARACTERS])


class IgnoresTextBehindPublicGuid(Fault):
    """What stands behind the GUID of a public name is not looked at."""

    name = "ignores-text-behind-public-guid"
    breaks = (
        "MQMQ-2.1.3.trailing-reject",
        "MQMQ-2.1.3.guid-reject",
    )
    replaces = ("names", _TrailingTextParser)


class _SwappedGuidParser(NameParser):
    def _public(self, text: str, rest: str) -> Name | None:
        found = super()._public(text, rest)
        if found is None:
            return None
        first, dash, others = str(found.parts["guid"]).partition("-")
        swapped = "".join(first[at : at + 2] for at in (6, 4, 2, 0))
        return Name(text, found.kind, found.parts | {"guid": swapped + dash + others})


class SwapsBytesOfPublicGuid(Fault):
    """The first group of a public name's GUID comes out with its bytes in the other order."""

    name = "swaps-bytes-of-public-guid"
    breaks = ("MQMQ-2.1.3.parts",)
    replaces = ("names", _SwappedGuidParser)


class _LongNumberParser(NameParser):
    def private_digits(self, digits: str) -> bool:
        return bool(re.fullmatch("[0-9A-Fa-f]{1,20}", digits))

    def private_number(self, digits: str) -> int:
        return super().private_number(digits) & 0xFFFFFFFF


class AcceptsLongPrivateNumber(Fault):
    """The number of a private name may have more than 8 digits; what does not fit is lost."""

    name = "accepts-long-private-number"
    breaks = ("MQMQ-2.1.4.number-too-long",)
    replaces = ("names", _LongNumberParser)


class _AnyDigitParser(NameParser):
    def private_digits(self, digits: str) -> bool:
        return bool(re.fullmatch(r"[\dA-Fa-f]{1,8}", digits))


class AcceptsAnyDigitInPrivateNumber(Fault):
    """The number of a private name may be written with the digits of any script."""

    name = "accepts-any-digit-in-private-number"
    breaks = ("MQMQ-2.1.4.number-reject",)
    replaces = ("names", _AnyDigitParser)


class _LostJournalParser(NameParser):
    def _private(self, text: str, rest: str) -> Name | None:
        found = super()._private(text, rest)
        if found is None:
            return None
        return Name(text, found.kind, {name: part for name, part in found.parts.items() if name != "suffix"})


class ForgetsJournalOfPrivateName(Fault):
    """`;JOURNAL` behind a private name is read and forgotten: the name is that of the queue itself."""

    name = "forgets-journal-of-private-name"
    breaks = ("MQMQ-2.1.4.journal",)
    replaces = ("names", _LostJournalParser)


class _EmptyDomainParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        return super()._distribution_list(text, rest.removesuffix("@"))


class AcceptsEmptyDomain(Fault):
    """A distribution list may have an @ and no domain behind it."""

    name = "accepts-empty-domain"
    breaks = ("MQMQ-2.1.5.domain-missing",)
    replaces = ("names", _EmptyDomainParser)


class _LowerCaseDomainParser(NameParser):
    def _distribution_list(self, text: str, rest: str) -> Name | None:
        found = super()._distribution_list(text, rest)
        if found is None or "domain" not in found.parts:
            return found
        return Name(text, found.kind, found.parts | {"domain": str(found.parts["domain"]).lower()})


class FoldsCaseOfDomain(Fault):
    """The domain of a distribution list comes out in lower case."""

    name = "folds-case-of-domain"
    breaks = ("MQMQ-2.1.5.parts",)
    replaces = ("names", _LowerCaseDomainParser)


class _BareMachineParser(NameParser):
    def _machine(self, text: str, rest: str) -> Name | None:
        bare = super()._machine(text, f"{rest};JOURNAL")
        return Name(text, bare.kind, {"guid": bare.parts["guid"]}) if bare else super()._machine(text, rest)


class AcceptsBareMachineName(Fault):
    """A machine name need not say which queue of the computer it means."""

    name = "accepts-bare-machine-name"
    breaks = (
        "MQMQ-2.1.6.machine",
        "MQMQ-2.2.7.suffix-none-type",
    )
    replaces = ("names", _BareMachineParser)


class _NoTransactionsParser(NameParser):
    def _machine(self, text: str, rest: str) -> Name | None:
        found = super()._machine(text, rest)
        return None if found and found.suffix == "deadxact" else found


class RefusesTransactionalDeadLetterQueue(Fault):
    """Of the queues of a computer the transactional dead-letter queue is not known by a machine name."""

    name = "refuses-transactional-dead-letter-queue"
    breaks = ("MQMQ-2.1.6.machine-suffix",)
    replaces = ("names", _NoTransactionsParser)


class _ConnectorJournalParser(NameParser):
    def _connector(self, text: str, rest: str) -> Name | None:
        return super()._connector(text, re.sub(r";JOURNAL\Z", "", rest))


class AcceptsJournalOfConnector(Fault):
    """A connector queue has a journal."""

    name = "accepts-journal-of-connector"
    breaks = (
        "MQMQ-2.2.7.suffix-journal-type",
        "MQMQ-2.1.6.connector-suffix",
        "MQMP-3.1.4.17.malformed-format-name",
    )
    replaces = ("names", _ConnectorJournalParser)
