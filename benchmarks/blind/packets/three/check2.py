"""Session rules over the valid captures, from the decoded bytes alone."""
from check import *
def run(d):
    n = collections.Counter()
    for p in sorted(glob.glob(d + '/*.pcap')):
        conns, pings = streams(p); mids = {}; trs = {}; fails = []
        def ok(c, m):
            n[m] += 1
            if not c: fails.append(m)
        reqs = {}
        for t, s, dd, (sp, dp), data in pings:
            fl, sg, ck = struct.unpack('<HHI', data[:8]); g = data[8:]
            if dp == 3527:
                ok(not fl & 2, 'rf'); reqs[(s, sp)] = (t, ck, fl & 1, g)
            else:
                q = reqs[(dd, dp)]; ok(q[1] == ck and q[2] == fl & 1 and t - q[0] < 1000000, 'pong')
        boots = {}
        order = sorted(conns.items(), key=lambda kv: kv[1]['pk'][0][0]); seqs = {}
        for c, x in order:
            pk = x['pk']; (t0, _, q), (t1, _, a), (t2, _, cq), (t3, _, ca) = pk[:4]
            ok(q[20:36] == a[20:36] and q[52:56] == a[52:56] and a[60:] == b'Z' * 512 and q[56:58] == a[56:58], 'ec')
            ok(q[36:52] in (bytes(16), a[36:52]), 'sg'); direct = q[36:52] == bytes(16)
            ts = struct.unpack('<I', q[52:56])[0]; b = (t0 // 1000 - ts) & 0xFFFFFFFF; ok(boots.setdefault(q[20:36], b) == b, 'boot')
            rat, at, _, w = struct.unpack('<IIHH', cq[20:]); ok(rat == min(max(8 * ((t1 - t0) // 1000), 500), 120000) and cq[20:] == ca[20:] and w == 64 and 20000 <= at <= 120000, 'rat')
            se = q[57] & 1; pg = any(s == c[0] and dp == 3527 and t < t0 and t0 - t < 1500000 and data[8:] == q[20:36] for t, s, dd, (sp, dp), data in pings); ok(pg == (not se), 'se')
            qm = [q[20:36], a[36:52]]; first = [None, None]; rfirst = [None, None]; rep = {}; fin = {}; um = {}
            seq = [dict(id=None, num=0, acked=0, last=None, t={}) for _ in (0, 1)]
            for t, side, b in pk[4:]:
                bf = struct.unpack_from('<H', b, 2)[0]; o = 1 - side
                if bf & 8: u = None; hs = True
                else: u = user(b); hs = bool(u['sess'])
                
                if rfirst[o] is not None: ok(t <= rfirst[o] + rat * 1000 + 3000, 'rack-in-time') if hs and side == o or True else 0
                for s_ in (0, 1):   # anything outstanding for s_ must be acked in time
                    if first[s_] is not None and rfirst[s_] is None: ok(t <= first[s_] + at * 500 + 3000, 'late-x')
                    if rfirst[s_] is not None: ok(t <= rfirst[s_] + rat * 1000 + 3000, 'late-r')
                if hs: first[side] = rfirst[side] = None   # side acknowledged what it received
                if not u: continue
                if first[o] is None: first[o] = t
                if u['dm'] and rfirst[o] is None: rfirst[o] = t
                if u['sess'] is None and u['cls'] != 0xFF and 'Ordering' not in u['label']: pass
                ok(u['src'] == qm[side] or u['rc'] > 0, 'src')
                ok((u['t'][0] == 7) == direct or (u['cls'] and not direct), 'direct')
                key = (u['src'], u['mid'])
                if key not in mids and u['src'] == qm[side]:
                    k2 = (u['src'], u['dq'], u['qma']); ok(mids.get(k2, -1) < u['mid'], 'rising'); mids[k2] = u['mid']
                new = key not in mids; mids[key] = 1
                if u['tx']:
                    f, od, tss, num, prev = u['tx']; S = seq[side]; T = seqs.setdefault(qm[side], dict(id=None, num=0, acked=0, ts=None, open=None))
                    if new:
                        if T['id'] != od:
                            ok(T['id'] is None or (od == T['id'] + 1 and T['acked'] == T['num']), 'newseq'); T.update(id=od, num=0, acked=0)
                        ok(num == T['num'] + 1 and prev == num - 1 and (T['ts'] in (None, tss)), 'num'); T['num'] = num; T['ts'] = tss
                        i = f >> 4 & 0xFFFFF
                        if f & 4: ok(T['open'] is None and (qm[side], i) not in trs, 'fm'); T['open'] = i; trs[(qm[side], i)] = 1
                        else: ok(T['open'] == i, 'id')
                        if f & 8: T['open'] = None
                    T['tl'] = t; T.setdefault('tf', t)
                    if T.get('ackt', 0) > T['tf']: T['tf'] = t
                    um[(od, tss, num)] = (u, prev)
                elif u['cls'] == 0xFF:
                    od, tss, num, prev = struct.unpack('<IIII', u['body'][:16]); T = seqs[qm[o]]
                    ok(od == T['id'] and num == T['num'] and prev == num - 1 and u['body'][16:] == bytes(20), 'oa'); ok(t >= T['tf'] + 500000, 'oa500'); T['acked'] = num; T['ackt'] = t
                    ok(u['dq'] == 4 and u['qma'] == qm[o] or u['dq'] == 'TCP:%s\\PRIVATE$\\order_queue$' % '.'.join(map(str, c[0] if o == 0 else c[2])), 'oq'); ok(u['dm'] == 0 and u['f'] & ~(7 << 10) == 1 << 21, 'oaf')
                elif 'QM Ordering' in u['label']:
                    od, tss, num, prev = struct.unpack('<IIII', u['body'][:16]); m, pv = um[(od, tss, num)]; ok(pv == prev and u['body'][16:32] == m['src'] and struct.unpack('<I', u['body'][32:])[0] == m['mid'], 'fa'); ok(u['f'] & ~(7 << 10) == 1 << 21 | 0x20, 'faf')
                    ok(m['jn'] or m['jp'] or m['tx'][0] & 2 or u['cls'] & 0xC000 == 0x8000, 'fawant')
                elif u['cls'] > 1:
                    m = rep[u['corr']]; fl = {2: 1, 0x4000: 2}.get(u['cls']) or (8 if u['cls'] & 0xC000 == 0xC000 else 4); ok(m['fl'] & fl, 'asked'); ok(u['dm'] == m['dm'] and u['ttrq'] == u['ttbr'] == 0xFFFFFFFF and not u['fl'] and not u['jn'] and not u['jp'], 'aa')
                    ok(u['dq'] == m['aq'] and u['rq'] == m['dq'], 'aaq'); ok(u['body'] == (m['body'] if u['cls'] >= 0x8000 and not m['eb'] else b''), 'aab'); m['got'] = m.get('got', 0) | fl
                if new and not u['cls']: rep[u['src'] + struct.pack('<I', u['mid'])] = u
            for m in rep.values():
                if m['fl'] & 1 and m['t'][1] in (2, 5) and not direct: ok(m.get('got', 0) & 1, 'pa')
        if fails: print(p, collections.Counter(fails))
    print(dict(n))
run(sys.argv[1])
