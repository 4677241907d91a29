"""Hypothesis settings every suite uses, taken from the run's options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from conformance.suites.judging import RunOptions


def suite_settings(**overrides: Any) -> settings:
    """Settings of a conformance test: no stored examples, no timing, one failure at a time.

    A run is reproduced from its seed (the plugin sets it), never from a database on this machine. Health checks speak
    about the writer of a test, not about the implementation, and slow implementations are not a defect of the test.
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
    """Settings with the run's example and step counts; `share` is this test's part of them (0 to 1)."""
    return suite_settings(
        max_examples=max(1, round(options.max_examples * share)),
        stateful_step_count=options.stateful_steps,
        **overrides,
    )


def draw_from_the_seed_alone() -> None:
    """Keep hypothesis from drawing literals it finds in loaded local modules.

    Which modules are loaded differs between the process of a plain run, an xdist worker and an installed package, and
    the same seed must explore the same examples in all of them. Hypothesis has no setting for this; should the name
    move, runs are as seeded as before within one kind of process.
    """
    from hypothesis.internal.conjecture import providers

    if hasattr(providers, "is_local_module_file"):
        providers.is_local_module_file = lambda path: False
