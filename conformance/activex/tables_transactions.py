"""MSMQTransactionDispenser, MSMQTransaction and the transaction behind it: MC-MQAC 3.6.4, 3.8.4 and 3.9.4."""

from __future__ import annotations

from typing import Final

from conformance.activex.members import Argument, Check, Event, Member, Slot, left_out
from conformance.activex.values import E_INVALIDARG, TRANSACTION_USAGE, Variant, truth

XACTTC_SYNC: Final = Variant("I4", 2)

EMPTY: Final = Check("empty", E_INVALIDARG)
ATTACHED: Final = Check("attached", TRANSACTION_USAGE)
VARIANT_TYPE: Final = Check("type", E_INVALIDARG)


def _method(
    interface: str,
    name: str,
    opnum: int,
    section: str,
    *arguments: Argument,
    checks: tuple[Check, ...] = (),
    event: Event | None = None,
) -> Member:
    coclass = "MSMQTransaction" if interface.startswith("IMSMQTransaction") else "TransactionImpl"
    coclass = "MSMQTransactionDispenser" if "Dispenser" in interface else coclass
    return Member(coclass, interface, name, (Slot("method", opnum, section, arguments),), checks=checks, event=event)


def _get(interface: str, name: str, opnum: int, section: str, argument: Argument, *, unimplemented: bool) -> Member:
    coclass = "MSMQTransactionDispenser" if "Dispenser" in interface else "MSMQTransaction"
    slots = (Slot("get", opnum, section, (argument,)),)
    return Member(coclass, interface, name, slots, argument.vt, unimplemented=unimplemented)


def _result(name: str, vt: str = "DISPATCH") -> Argument:
    return Argument(name, vt, result=True)


DISPENSER: Final[tuple[Member, ...]] = (
    _method(
        "IMSMQTransactionDispenser3",
        "BeginTransaction",
        7,
        "3.6.4.1.1",
        _result("ptransaction"),
        event=Event("transactions.begin"),
    ),
    _get("IMSMQTransactionDispenser3", "Properties", 8, "3.6.4.1.2", _result("ppcolProperties"), unimplemented=True),
)

IMPLEMENTATION: Final[tuple[Member, ...]] = (
    _method(
        "ITransaction",
        "Commit",
        3,
        "3.8.4.1.1",
        Argument("fRetaining", "I2"),
        Argument("grfTC", "UI4"),
        Argument("grfRM", "UI4"),
        event=Event("transactions.commit"),
    ),
    _method(
        "ITransaction",
        "Abort",
        4,
        "3.8.4.1.2",
        Argument("pboidReason", "UNKNOWN"),
        Argument("fRetaining", "I2"),
        Argument("fAsync", "I2"),
        event=Event("transactions.abort"),
    ),
    _method("ITransaction", "GetTransactionInfo", 5, "3.8.4.1.3", Argument("pinfo", "UNKNOWN", result=True)),
)
"""Members that no client calls by name: `MSMQTransaction` forwards to them."""

TRANSACTION: Final[tuple[Member, ...]] = (
    _get("IMSMQTransaction", "Transaction", 7, "3.9.4.1.1", _result("plTransaction", "I4"), unimplemented=True),
    _method(
        "IMSMQTransaction",
        "Commit",
        8,
        "3.9.4.1.2",
        left_out("fRetaining", truth(False)),
        left_out("grfTC", XACTTC_SYNC),
        left_out("grfRM", Variant("I4", 0)),
        checks=(EMPTY,),
        event=Event("transactions.commit"),
    ),
    _method(
        "IMSMQTransaction",
        "Abort",
        9,
        "3.9.4.1.3",
        left_out("fRetaining", truth(False)),
        left_out("fAsync", truth(False)),
        checks=(EMPTY,),
        event=Event("transactions.abort"),
    ),
    _method(
        "IMSMQTransaction2",
        "InitNew",
        10,
        "3.9.4.2.1",
        Argument("varTransaction", "VARIANT"),
        checks=(ATTACHED, VARIANT_TYPE),
    ),
    _get("IMSMQTransaction2", "Properties", 11, "3.9.4.2.2", _result("ppcolProperties"), unimplemented=True),
    _get(
        "IMSMQTransaction3",
        "ITransaction",
        12,
        "3.9.4.3.1",
        _result("pvarITransaction", "VARIANT"),
        unimplemented=False,
    ),
)

MEMBERS: Final[tuple[Member, ...]] = (*DISPENSER, *IMPLEMENTATION, *TRANSACTION)
