"""Judges an implementation, prints what deviates and ends with the exit code of `mqconform run`.

python examples/gate_in_python.py 'stdio:./my-driver' names cursors
"""

import sys

import conformance


def main(adapter, suites):
    def tell(progress):
        if progress.suite_done == progress.suite_total:
            print(progress.text, file=sys.stderr)

    try:
        run = conformance.run(adapter=adapter, suites=suites or None, max_examples=5, on_progress=tell)
    except conformance.BadInput as error:
        sys.exit(f"gate: {error}")
    for verdict in run.deviations:
        print(f"{verdict.requirement}: expected {verdict.expected}, got {verdict.actual}")
    if run.sentence:
        print(run.sentence, file=sys.stderr)
    print(f"{len(run.verdicts)} verdicts, recorded in {run.folder}")
    return int(run.exit_code)


if __name__ == "__main__":
    adapter, *suites = sys.argv[1:] or ["embedded"]
    sys.exit(main(adapter, suites))
