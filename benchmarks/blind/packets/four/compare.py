"""Compare each mutation with its valid base: the base must pass the check, and little may differ.
Usage: compare.py [-v] [part of a name]"""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_mutations as mm
import check


def runs(x, y):
    """Where two packets differ: a list of (offset, bytes, bytes)."""
    if len(x) != len(y):
        i = 0
        while i < min(len(x), len(y)) and x[i] == y[i]:
            i += 1
        return [(i, "len %d" % len(x), "len %d" % len(y))]
    r, i = [], 0
    while i < len(x):
        if x[i] != y[i]:
            j = i
            while j < len(x) and x[j] != y[j]:
                j += 1
            r.append((i, x[i:j].hex()[:40], y[i:j].hex()[:40]))
            i = j
        i += 1
    return r


def main():
    verbose = "-v" in sys.argv
    want = [a for a in sys.argv[1:] if a != "-v"]
    n_same = n_base = n_quiet = n_other = 0
    for n, m in mm.plan():
        if want and not any(x in m.name for x in want):
            continue
        a, b = mm.make(n, m, False), mm.make(n, m, True)
        pa, pb = a.pcap(), b.pcap()
        if pa == pb:
            print("SAME", m.name)
            n_same += 1
            continue
        fa, fb = check.check(pa), check.check(pb)
        if fa:
            n_base += 1
            print("BASE", m.name, sorted(set(fa)))
        if not fb and m.prov:
            n_quiet += 1
            print("QUIET", m.name, "|", m.sentence)
        la = [(x[1], x[2], x[3], x[4]) for x in a.log]
        lb = [(x[1], x[2], x[3], x[4]) for x in b.log]
        d = [i for i in range(min(len(la), len(lb))) if la[i] != lb[i]]
        if verbose:
            print(m.name, "| packets %d/%d, differing %d |" % (len(la), len(lb), len(d)), "; ".join(sorted(set(fb)))[:160])
            for i in d[:3]:
                print("     ", i, la[i][2], lb[i][2], runs(la[i][3], lb[i][3])[:5])
        elif not m.conv and (len(la) != len(lb) or len(d) > 1):
            n_other += 1
            print("MANY", m.name, len(la), len(lb), len(d), [(lb[i][2], runs(la[i][3], lb[i][3])[:2]) for i in d[:3]])
    print("same %d, base with findings %d, provable and not seen by the check %d, more than one packet %d" % (n_same, n_base, n_quiet, n_other))


if __name__ == "__main__":
    main()
