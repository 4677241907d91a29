"""The RPC interfaces of MSMQ with their methods: MS-MQRR, MS-MQMR, MS-MQQP and MS-MQMP, 1.9 and 3.1.4 of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID


@dataclass(frozen=True, eq=False)
class Interface:
    """An interface of a document. methods: by opnum, as far as others than the product's own ends call them."""

    name: str
    document: str
    identifier: UUID
    methods: Mapping[int, str]
    version: int = 1

    def opnum(self, method: str) -> int:
        """Return the operation number of a method."""
        return next(number for number, name in self.methods.items() if name == method)

    def section(self, method: str) -> str:
        """Return where the document has a method of an interface all of whose methods are here."""
        return f"3.1.4.{list(self.methods.values()).index(method) + 1}"


def _at(first: int, names: str) -> dict[int, str]:
    return dict(enumerate(names.split(), first))


REMOTE_READ: Final = Interface(
    "RemoteRead", "MS-MQRR", UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28"),
    {0: "R_GetServerPort"} | _at(2, "R_OpenQueue R_CloseQueue R_CreateCursor R_CloseCursor R_PurgeQueue R_StartReceive"
    " R_CancelReceive R_EndReceive R_MoveMessage R_OpenQueueForMove R_QMEnlistRemoteTransaction"
    " R_StartTransactionalReceive R_SetUserAcknowledgementClass R_EndTransactionalReceive"),
)  # fmt: skip
MANAGEMENT: Final = Interface(
    "qmmgmt", "MS-MQMR", UUID("41208ee0-e970-11d1-9b9e-00e02c064c39"), _at(0, "R_QMMgmtGetInfo R_QMMgmtAction")
)
QUEUE_ACCESS: Final = Interface(
    "qm2qm", "MS-MQQP", UUID("1088a980-eae5-11d0-8d9b-00a02453c337"),
    _at(0, "RemoteQMStartReceive RemoteQMEndReceive RemoteQMOpenQueue RemoteQMCloseQueue RemoteQMCloseCursor"
    " RemoteQMCancelReceive RemoteQMPurgeQueue RemoteQMGetQMQMServerPort RemoteQmGetVersion RemoteQMStartReceive2"
    " RemoteQMStartReceiveByLookupId"),
)  # fmt: skip
COMMON: Final = Interface(
    "qmcomm", "MS-MQMP", UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525"),
    _at(2, "R_QMOpenRemoteQueue R_QMCloseRemoteQueueContext R_QMCreateRemoteCursor"),
)  # fmt: skip
COMMON_2: Final = Interface("qmcomm2", "MS-MQMP", UUID("76d12b80-3467-11d3-91ff-0090272f9ea3"), {})
INTERFACES: Final = {each.name: each for each in (REMOTE_READ, MANAGEMENT, QUEUE_ACCESS, COMMON, COMMON_2)}
WITHOUT_STATUS: Final = frozenset(
    ["R_GetServerPort", "R_OpenQueue", "R_OpenQueueForMove", "RemoteQMGetQMQMServerPort", "RemoteQmGetVersion"]
)
"""Methods whose last parameter is no HRESULT."""
