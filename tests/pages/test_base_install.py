"""The base install: small, and able to say of itself what it claims."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from base_install import ROOT, Base, extras

from conformance.suites.claims_index import claims, unclaimed

NAMES = {"ruamel-yaml": "ruamel.yaml", "import-linter": "importlinter", "backports-zstd": "backports.zstd"}
"""Packages that are imported under another name."""
STUBS = {"types-jsonschema"}


def asked(base: Base, folder: Path, *arguments: str) -> str:
    command = [str(base.folder / "bin" / "mqconform"), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=base.variables(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_of_an_extra_is_there(base: Base, tmp_path: Path) -> None:
    names = sorted(NAMES.get(name, name).replace("-", "_") for name in extras() - STUBS)
    assert {"numpy", "numba", "pyarrow", "pyspark", "pandas", "abnf", "lxml"} <= set(names)
    code = (
        "import importlib, json, sys, conformance\n"
        "found = []\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n        importlib.import_module(name)\n        found.append(name)\n"
        "    except ImportError:\n        pass\n"
        "print(json.dumps([conformance.__file__, found]))\n"
    )
    done = subprocess.run(
        [str(base.python), "-c", code, *names],
        cwd=tmp_path, env=base.variables(), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    where, found = json.loads(done.stdout)
    assert Path(where).is_relative_to(base.site) and not Path(where).is_relative_to(ROOT)
    assert found == []


def test_the_same_requirements_are_unclaimed_with_and_without_extras(base: Base, tmp_path: Path) -> None:
    told = json.loads(asked(base, tmp_path, "requirements", "list", "--unclaimed", "--json"))
    assert [entry["id"] for entry in told] == list(unclaimed(claims()))
