"""Write captures that each break one sentence to ./mutations, and ./mutations.jsonl (the current directory)."""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutbase, mut_fields, mut_conv, mut_more
from mqlib import World

MODES = [("whole", 0.0), ("coalesce", 0.0), ("whole", 0.0), ("random", 0.0), ("whole", 0.1), ("whole", 0.0)]


def key(m):
    doc, number = m.section.split()
    return (doc, [int(x) for x in number.split(".")])


def plan():
    """(number, mutation) in the order of the documents"""
    return list(enumerate(sorted(mutbase.LIST, key=key)))


def make(n, m, bad=True):
    mode, re = MODES[n % len(MODES)]
    if m.name == "base-size-maximum":
        mode, re = "whole", 0.0
    wd = World("mutation " + m.name, mode, re)
    m.fn(wd, bad)
    wd.flush()
    return wd


def main():
    os.makedirs("mutations", exist_ok=True)
    lines = []
    for n, m in plan():
        name = "%03d-%s.pcap" % (n, m.name)
        with open(os.path.join("mutations", name), "wb") as f:
            f.write(make(n, m).pcap())
        lines.append(json.dumps({"file": name, "name": m.name, "section": m.section, "sentence": m.sentence, "provable": bool(m.prov),
                                 "requirements": m.reqs}, ensure_ascii=False))
    with open("mutations.jsonl", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    print(len(lines), "mutations,", sum(m.prov for m in mutbase.LIST), "provable,", sum(m.conv for m in mutbase.LIST), "conversations")


if __name__ == "__main__":
    main()
