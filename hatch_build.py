"""Compiles the catalogue of requirements into a wheel, so that no user needs to."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `conformance/spec/catalogue.json` to a wheel. A checkout compiles it on first use."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the file into a temporary folder, and name it to hatchling."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from msgspec.json import encode

        from conformance.spec.compiled import SHIPPED, build, data_folder

        self.folder = TemporaryDirectory()
        draft = Path(self.folder.name) / SHIPPED.name
        draft.write_bytes(encode(build(sorted(data_folder().glob("*.toml")))))
        build_data["force_include"][str(draft)] = str(SHIPPED.relative_to(Path(self.root).resolve()))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if version != "editable":
            self.folder.cleanup()
