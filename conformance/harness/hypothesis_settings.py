"""Hypothesis settings shared by every suite, derived from the run's options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from conformance.harness.recorder import RunOptions


def suite_settings(**overrides: Any) -> settings:
    """Return the settings of a conformance test: no stored examples, no deadline, one failure at a time.

    A run is reproduced from its seed (the plugin sets it), never from a database on this machine. Health checks are
    off: they criticise the test, not the implementation, and a slow implementation is no defect of the test.
    """
    wanted: dict[str, Any] = {
        "database": None,
        "deadline": None,
        "report_multiple_bugs": False,
        "print_blob": False,
        "suppress_health_check": list(HealthCheck),
        "phases": (Phase.explicit, Phase.generate, Phase.shrink),
    }
    return settings(**{**wanted, **overrides})


def from_options(options: RunOptions, *, share: float = 1.0, **overrides: Any) -> settings:
    """Return settings with the run's count of examples; `share` (0 to 1) is this test's part of them."""
    return suite_settings(max_examples=max(1, round(options.max_examples * share)), **overrides)


def draw_from_the_seed_alone() -> None:
    """Keep hypothesis from drawing literals it finds in loaded local modules.

    Which modules are loaded differs between the process of a plain run, an xdist worker and an installed package, and
    the same seed must explore the same examples in all of them. Hypothesis has no setting for this. If a version of it
    renames the function, seeds stay reproducible within one kind of process.
    """
    from hypothesis.internal.conjecture import providers

    if hasattr(providers, "is_local_module_file"):
        providers.is_local_module_file = lambda path: False
