"""What has a grammar and no check says why, and what has a check does not."""

from __future__ import annotations

from conformance.cli.requirements import list_command
from conformance.spec.catalogue import catalogue
from conformance.suites.claims_index import claims, unclaimed


def test_every_unchecked_grammar_has_a_reason(capsys) -> None:
    without = set(unclaimed(claims()))
    grammars = [entry for entry in catalogue() if entry.checked == "grammar"]
    assert [entry.id for entry in grammars if (entry.id in without) != bool(entry.reason)] == []
    left = [entry.id for entry in grammars if entry.id in without]
    section = left[0].rpartition(".")[0]
    list_command(section=section, level=None, checked=["grammar"], unclaimed=True)
    out = capsys.readouterr().out
    of_section = [name for name in left if name.rpartition(".")[0] == section]
    assert out.count("not checked: ") == out.count(", grammar]") == len(of_section) > 0
