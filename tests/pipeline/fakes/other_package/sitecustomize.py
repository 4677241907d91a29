"""A Python that has no mqconform."""

import sys


class Without:
    """Says that there is none."""

    def find_spec(self, name, path, target=None):
        """Of any other package, what others find."""
        if name == "conformance":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Without())
