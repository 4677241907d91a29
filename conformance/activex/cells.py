"""Cells: each column of a member's row with the requirements it stands for, from `spec/data/cells/mqac.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache

from conformance.activex.members import Kind, Member
from conformance.spec.catalogue import requirement_id
from conformance.spec.compiled import data_folder

Cells = Mapping[str, tuple[str, ...]]


@cache
def all_cells() -> Mapping[str, Cells]:
    """Return `Class.Member.form` to columns to requirement ids. Raises CatalogueError for an unknown id."""
    data = tomllib.loads((data_folder() / "cells" / "mqac.toml").read_text(encoding="utf-8"))
    return {
        key: {column: tuple(requirement_id(name) for name in names) for column, names in columns.items()}
        for key, columns in data.items()
    }


def requirements(member: Member, kind: Kind, *columns: str) -> tuple[str, ...]:
    """Return the requirements of some columns of a form of a member, without those of columns that it lacks."""
    return _requirements(member.coclass, member.name, kind, columns)


@cache
def flags(member: Member, kind: Kind, column: str = "gives") -> Mapping[int, tuple[str, ...]]:
    """Return the flags of which a value is made, with the requirements of each, where the text tells of them apart."""
    cells = all_cells().get(f"{member.coclass}.{member.name}.{kind}", {})
    of = f"{column}:flag:"
    return {int(name.removeprefix(of)): names for name, names in cells.items() if name.startswith(of)}


@cache
def _requirements(coclass: str, name: str, kind: Kind, columns: tuple[str, ...]) -> tuple[str, ...]:
    cells = all_cells().get(f"{coclass}.{name}.{kind}", {})
    return tuple(name for column in columns for name in cells.get(column, ()))
