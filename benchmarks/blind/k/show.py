"""`PYTHONPATH=. python benchmarks/blind/k/show.py [FAULT...]`: each fault on the wire, and the same without it.

It prints the name, what a peer observes without the fault, and with it. Exit code 1 if a fault is not to be seen, or
the manager without it does not do what the text says.
"""

from __future__ import annotations

import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

import show_messages
import show_sequences
import show_sessions
from peer import Manager

SCENARIOS = {**show_sessions.SCENARIOS, **show_messages.SCENARIOS, **show_sequences.SCENARIOS}


def observe(fault, faults):
    scenario, _, arguments = SCENARIOS[fault]
    manager = Manager(faults, arguments)
    manager.faults = faults
    try:
        return scenario(manager)
    except Exception as wrong:
        return f"{type(wrong).__name__}: {wrong} {traceback.extract_tb(wrong.__traceback__)[-1].lineno}"
    finally:
        manager.close()


def main(names):
    names = names or list(SCENARIOS)
    missed = 0
    with ThreadPoolExecutor(3) as pool:
        pairs = pool.map(lambda name: (observe(name, ()), observe(name, (name,))), names)
        for name, (without, fault) in zip(names, pairs, strict=True):
            right = without == SCENARIOS[name][1] and fault != without
            missed += not right
            print(f"{'shown' if right else 'NOT SHOWN'}  {name}: without {without}, with {fault}", flush=True)
    print(f"{len(names) - missed} of {len(names)} shown")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
