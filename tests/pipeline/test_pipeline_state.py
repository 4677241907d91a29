"""A stream that goes on from file to file, in a lake in a folder."""

from state_tests import *  # noqa: F403
