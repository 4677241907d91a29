"""Fuzzes a reader with atheris: python tests/wire/fuzz_wire.py TARGET NEW fixtures/fuzz/TARGET.

TARGET is one of `fuzzing.TARGETS`; libFuzzer writes what it finds into the folder NEW, and `-merge=1` keeps the
smallest set that does the same. Not collected by pytest: atheris has no wheel for every platform.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["conformance.wire", "conformance.capture", "conformance.judge"]):
    from fuzzing import TARGETS


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: fuzz_wire.py TARGET [LIBFUZZER ARGUMENT]...; TARGET is one of {', '.join(TARGETS)}")
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[sys.argv[1]])
    atheris.Fuzz()
