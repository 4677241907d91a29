"""Judges packets one by one (MS-MQMQ 2.2.18 to 2.2.20). `judge_packet` is loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.judge.packets.judge import judge_packet as judge_packet

__all__ = ["judge_packet"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from conformance.judge.packets import judge

        return getattr(judge, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
