"""The facet `rpc`: associations whose calls are told as octets, and what a refusal is in an answer."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from conformance.net.rpc.binding import Association, FaultError, RefusedError, RpcError, endpoint
from conformance.net.rpc.names import UnnamedError
from conformance.net.rpc.remote_read import within_s
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_HANDLE, MQ_ERROR_OPERATION_CANCELLED
from conformance.spec.rpc_interfaces import INTERFACES

Params = Mapping[str, Any]
Result = dict[str, Any]
Call = Callable[[Params], Result]


class Inexpressible(Exception):
    """These interfaces have no such call; the message is a sentence."""


@dataclass(slots=True)
class Associations:
    """Associations like another one. port: of all interfaces, None where the mapper knows."""

    like: Association
    port: int | None
    _made: dict[str, Association] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def calls(self) -> dict[str, Call]:
        """Return what answers each method, by its name."""
        return {"rpc.open": self._open, "rpc.call": self._call, "rpc.close": self._close}

    def close(self) -> None:
        """Close all."""
        over = list(self._made.values())
        self._made.clear()
        for made in over:
            made.close()

    def _open(self, params: Params) -> Result:
        interface = INTERFACES[params["interface"]]
        own = self.like
        try:
            port = own.port if self.port is not None else endpoint(own.host, interface)
            made = Association(own.host, port, interface, own.user, own.source)
            made.connect()
        except RefusedError as error:
            raise Inexpressible(str(error)) from None
        key = f"a{next(self._numbers)}"
        self._made[key] = made
        return {"status": 0, "association": key}

    def _call(self, params: Params) -> Result:
        made = self._made.get(params["association"])
        if made is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        try:
            answer = made.call(params["opnum"], b64decode(params["bytes"]), within_s(params["timeout_ms"]))
        except FaultError as fault:
            return {"status": 0, "fault": fault.status}
        except RpcError:
            if params["association"] in self._made:
                raise
            return {"status": MQ_ERROR_OPERATION_CANCELLED}  # It was closed while its call waited.
        return {"status": 0, "bytes": b64encode(answer).decode("ascii")}

    def _close(self, params: Params) -> Result:
        made = self._made.pop(params["association"], None)
        if made is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        made.close()
        return {"status": 0}


def refusing(call: Call) -> Call:
    """Return a call whose refusals are answers. What no answer comes to, or a damaged one, is a crash of the host."""

    def answered(params: Params) -> Result:
        try:
            return call(params)
        except FaultError as fault:
            if fault.status >> 16 == 0xC00E:
                return {"status": fault.status}
            return _failure("RpcFault", str(fault))
        except (Inexpressible, UnnamedError) as error:
            return _failure("NotExpressible", str(error))

    return answered


def _failure(kind: str, text: str) -> Result:
    return {"status": None, "failure": {"kind": kind, "text": text}}
