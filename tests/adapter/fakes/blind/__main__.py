"""Runs one driver: `python tests/adapter/fakes/blind NAME`."""

import sys

sys.dont_write_bytecode = True  # nothing is written beside the drivers
import answers  # noqa: E402
import base  # noqa: E402
import lines  # noqa: E402
import processes  # noqa: E402

{**vars(lines), **vars(processes), **vars(answers), "base": base.Driver}[sys.argv[1]]().run()
