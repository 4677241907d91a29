from mut import *
B, U, P = 'MQMQ-2.2.19.1.', 'MQMQ-2.2.19.2.', 'MQMQ-2.2.19.3.'; Q = 'MQQB-'
def f(h, off, fm, v): return lambda cap, rec, r: patch(rec, h, off, fm, v)
def o(h, off, fm, v): return lambda cap, rec, r: orp(rec, h, off, fm, v)
def cl(h, off, fm, v): return lambda cap, rec, r: clr(rec, h, off, fm, v)
KINDS = {'um': (S(), None), 'ecq': (AN, K('ECQ')), 'ecr': (AN, K('ECR')), 'cpq': (AN, K('CPQ')), 'cpr': (AN, K('CPR')), 'sa': (AN, K('SA')), 'oa': (AN, K('OA')), 'fa': (AN, K('FA')), 'aa': (ADM(), K('AA')), 'tx': (S(tx=True), None)}
INT = ['ecq', 'ecr', 'cpq', 'cpr', 'sa']; NAMES = dict(um='a user message', ecq='an EstablishConnection request', ecr='an EstablishConnection response', cpq='a ConnectionParameters request', cpr='a ConnectionParameters response', sa='a SessionAck', oa='an OrderAck', fa='a FinalAck', aa='an administration acknowledgment', tx='a transactional message')
# --- BaseHeader
for (k, v) in zip(KINDS, [0x11, 0x0F, 0x20, 0x00, 0x12, 0x90, 0x18, 0xFF, 0x01, 0x14]):
    M(f'version-{k}', 'MS-MQMQ 2.2.19.1', f'VersionNumber of {NAMES[k]} is 0x{v:02X}, not 0x10', B + 'version-number', KINDS[k][0], f('base', 0, 'B', v), pick=KINDS[k][1])
for (k, v) in zip(KINDS, [0x4C494F52, 0x524F494D, 0, 0x524F4943, 0xFFFFFFFF, 0x524F004C, 0x514F494C, 0x4C494F51, 0x524F496C, 0x4F52494C]):
    M(f'signature-{k}', 'MS-MQMQ 2.2.19.1', f'Signature of {NAMES[k]} is not 0x524F494C', B + 'signature', KINDS[k][0], f('base', 4, 'I', v), pick=KINDS[k][1])
for bit, x in [(6, 'x9'), (7, 'x8'), (9, 'x6'), (10, 'x5'), (11, 'x4'), (12, 'x3'), (13, 'x2'), (14, 'x1'), (15, 'x0')]:
    M(f'base-{x}-um', 'MS-MQMQ 2.2.19.1', f'reserved bit {x.upper()} of BaseHeader.Flags is set in a user message', B + 'flags-' + x, S(), o('base', 2, 'H', 1 << bit), close=KEEP)
    k = {6: 'sa', 7: 'ecq', 9: 'ecr', 10: 'cpq', 11: 'cpr', 12: 'sa', 13: 'ecq', 14: 'aa', 15: 'tx'}[bit]
    M(f'base-{x}-{k}', 'MS-MQMQ 2.2.19.1', f'reserved bit {x.upper()} of BaseHeader.Flags is set in {NAMES[k]}', B + 'flags-' + x, KINDS[k][0], o('base', 2, 'H', 1 << bit), close=KEEP, pick=KINDS[k][1])
for v in (3, 7, 1):
    M(f'tx-priority-{v}', 'MS-MQMQ 2.2.19.1', f'a transactional message has priority {v}', [B + 'transactional-priority-zero'], S(tx=True, n=2, k=v % 2), lambda cap, rec, r, v=v: orp(rec, 'base', 2, 'H', v))
for k in INT:
    i = Q + {'e': '2.2.3.internal-flag', 'c': '2.2.2.internal-flag', 's': '2.2.6.internal-flag'}[k[0]]
    M(f'in-clear-{k}', 'MS-MQMQ 2.2.19.1 / MS-MQQB 2.2', f'BaseHeader.Flags.IN of {NAMES[k]} is clear', [i, B + 'internal-set'], KINDS[k][0], cl('base', 2, 'H', 8), pick=KINDS[k][1])
for k in ('um', 'oa', 'fa', 'aa', 'tx'):
    M(f'in-set-{k}', 'MS-MQMQ 2.2.19.1 / 2.2.20', f'BaseHeader.Flags.IN is set in {NAMES[k]}', ['MQMQ-2.2.20.not-internal'] if k in ('um', 'aa', 'tx') else [B + 'internal-clear', Q + ('2.2.4' if k == 'oa' else '2.2.5') + '.base-flags'], KINDS[k][0], o('base', 2, 'H', 8), pick=KINDS[k][1])
for k, v in zip(INT + ['oa', 'fa'], [0, 345600, 0xFFFFFFFE, 60, 1, 0x7FFFFFFF, 3600]):
    M(f'ttrq-{k}', 'MS-MQMQ 2.2.19.1', f'TimeToReachQueue of {NAMES[k]} is {v}, not 0xFFFFFFFF', B + 'time-to-reach-queue-internal', KINDS[k][0], f('base', 12, 'I', v), pick=KINDS[k][1])
def ps(d):
    def g(cap, rec, r): patch(rec, 'base', 8, 'I', get(rec, 'base', 8, 'I') + d)
    return g
def ps_next(d):  # too large: keep the sender's next packet so that the bytes are there
    def g(cap, rec, r):
        patch(rec, 'base', 8, 'I', get(rec, 'base', 8, 'I') + d)
        nx = [x for x in sorted(cap.recs, key=lambda x: x['t']) if x['side'] == rec['side'] and x['t'] > rec['t'] and len(x['data']) >= d]
        return nx[0]
    return g
for k, d in [('um', -4), ('ecq', -4), ('cpr', -8), ('sa', -4), ('oa', -8), ('fa', -36), ('aa', -4), ('tx', -12)]:
    M(f'packetsize-less-{k}', 'MS-MQMQ 2.2.19.1', f'PacketSize of {NAMES[k]} is {-d} less than its bytes', [B + 'packet-size', B + 'packet-size-headers'], KINDS[k][0], ps(d), pick=KINDS[k][1])
for k, d in [('um', 4), ('ecq', 16), ('cpq', 4), ('tx', 32), ('sa', 16), ('um', 1)]:
    M(f'packetsize-more-{k}-{d}', 'MS-MQMQ 2.2.19.1', f'PacketSize of {NAMES[k]} is {d} more than its bytes', [B + 'packet-size', B + 'packet-size-headers'], KINDS[k][0], ps_next(d), pick=KINDS[k][1])
M('packetsize-with-session-header', 'MS-MQMQ 2.2.19.1', 'PacketSize of a user message counts its SessionHeader', B + 'packet-size-session-header', S(want=True, side=1, after=4, before=0), lambda cap, rec, r: (False if not rec['um']['sess'] else ps(16)(cap, rec, r)))
M('packetsize-with-session-header-2', 'MS-MQMQ 2.2.19.1', 'PacketSize of the initiator\'s user message counts its SessionHeader, another message follows', B + 'packet-size-session-header', S(want=2, side=0, after=6, before=0), lambda cap, rec, r: (False if not rec['um']['sess'] else ps_next(16)(cap, rec, r)))
def big(cap, rec, r): redo(rec, body=bytes(0x400000 - 40), btype=0)
M('packetsize-maximum', 'MS-MQMQ 2.2.19.1', 'PacketSize is over 0x00400000', B + 'packet-size-maximum', S(), big)
# session header flag
M('sh-set-no-header', 'MS-MQMQ 2.2.19.1', 'Flags.SH of a user message is set, no SessionHeader follows; the connection ends there', [B + 'session-header-present'], S(after=0), o('base', 2, 'H', 16))
M('sh-set-no-header-size', 'MS-MQMQ 2.2.19.1', 'Flags.SH of a user message is set, no SessionHeader follows but the next packet', [B + 'session-header-present'], S(after=4, side=0), lambda cap, rec, r: (orp(rec, 'base', 2, 'H', 16), [x for x in cap.recs if x['side'] == 0 and x['t'] > rec['t']][0])[1])
M('sh-clear-with-header', 'MS-MQMQ 2.2.20', 'a user message with Flags.SH clear is followed by a SessionHeader', ['MQMQ-2.2.20.session-header-absent'], S(want=True, before=0, side=0), lambda cap, rec, r: (False if not rec['um']['sess'] else clr(rec, 'base', 2, 'H', 16)))
M('sh-clear-sessionack', 'MS-MQQB 2.2.6', 'BaseHeader.Flags.SH of a SessionAck is clear', [Q + '2.2.6.session-header-flag'], AN, cl('base', 2, 'H', 16), pick=K('SA'))
for k in ('ecq', 'cpr'): M(f'sh-set-{k}', 'MS-MQMQ 2.2.19.1', f'Flags.SH is set in {NAMES[k]}, which has no SessionHeader', [B + 'session-header-present'], KINDS[k][0], o('base', 2, 'H', 16), pick=KINDS[k][1])
for k in ('sa', 'ecr', 'cpq'): M(f'dh-set-{k}', 'MS-MQMQ 2.2.19.1', f'Flags.DH is set in {NAMES[k]}', [B + 'debug-header-user-message-only'], KINDS[k][0], o('base', 2, 'H', 32), pick=KINDS[k][1])
M('dh-set-no-header', 'MS-MQMQ 2.2.19.1', 'Flags.DH is set, there is no DebugHeader', [B + 'debug-header-present', 'MQMQ-2.2.20.debug-header-by-flag'], S(['sid']), o('base', 2, 'H', 32))
M('dh-set-no-header-soap', 'MS-MQMQ 2.2.20', 'Flags.DH is set, behind MessagePropertiesHeader stands the SoapHeader', [B + 'debug-header-present', 'MQMQ-2.2.20.debug-header-by-flag'], S(['soap']), o('base', 2, 'H', 32))
M('dh-clear-with-header', 'MS-MQMQ 2.2.19.1', 'Flags.DH (and TR) are clear, a DebugHeader is there', [B + 'debug-header-absent', 'MQMQ-2.2.20.debug-header-by-flag', B + 'packet-size-headers'], S(['debug']), cl('base', 2, 'H', 32 | 256))
M('dh-clear-with-empty-header', 'MS-MQMQ 2.2.20', 'Flags.DH (and TR) are clear, a DebugHeader without queue is there before a MultiQueueFormatHeader', [B + 'debug-header-absent', 'MQMQ-2.2.20.debug-header-by-flag'], S(['trace0', 'mqf']), cl('base', 2, 'H', 32 | 256))
M('tr-without-dh', 'MS-MQMQ 2.2.19.1', 'Flags.TR is set, Flags.DH is not', [B + 'trace-debug-header'], S(['resp']), o('base', 2, 'H', 256))
M('tr-without-dh-tx', 'MS-MQMQ 2.2.19.1', 'Flags.TR is set in a transactional message without Flags.DH', [B + 'trace-debug-header'], S(tx=True), o('base', 2, 'H', 256))
# --- UserHeader
for v in (0x1E, 0x1F): M(f'hop-count-{v:x}', 'MS-MQMQ 2.2.19.2', f'Flags.RC is 0x{v:X}', U + 'hop-count', S(direct=False, tx=(v == 0x1F)), lambda cap, rec, r, v=v: orp(rec, 'user', 44, 'I', v))
for v, t in ((2, 0), (3, 1)): M(f'delivery-mode-{v}', 'MS-MQMQ 2.2.19.2', f'Flags.DM is {v}', U + 'delivery-mode', S(dm=t), lambda cap, rec, r, v=v: (clr(rec, 'user', 44, 'I', 0x60), orp(rec, 'user', 44, 'I', v << 5))[0])
M('tx-express', 'MS-MQMQ 2.2.19.2', 'Flags.TH is set and Flags.DM is 0', ['MQMQ-2.2.19.2.transactional-recoverable', 'MQMQ-2.2.19.2.recoverable'], S(tx=True), cl('user', 44, 'I', 0x20))
M('tx-express-second', 'MS-MQMQ 2.2.19.2', 'Flags.TH is set and Flags.DM is 0 in the last of three messages of a transaction', ['MQMQ-2.2.19.2.transactional-recoverable', 'MQMQ-2.2.19.2.recoverable'], S(tx=True, n=3, k=2, feats=['sid']), cl('user', 44, 'I', 0x20))
for b, x in [(7, 'x1'), (24, 'x2'), (26, 'x3'), (27, 'x3'), (29, 'x4'), (30, 'x4'), (31, 'x4')]:
    M(f'user-{x}-{b}', 'MS-MQMQ 2.2.19.2', f'reserved bit {b} ({x.upper()}) of UserHeader.Flags is set', U + 'flags-' + x, S(tx=b in (26, 30)), o('user', 44, 'I', 1 << b), close=KEEP)
M('ah-set', 'MS-MQMQ 2.2.19.2', 'Flags.AH is set in a message that is sent', [U + 'http-flag'], S(), o('user', 44, 'I', 1 << 25))
M('ah-set-soap', 'MS-MQMQ 2.2.19.2', 'Flags.AH is set in a recoverable message with a SoapHeader', [U + 'http-flag'], S(['soap'], dm=1), o('user', 44, 'I', 1 << 25))
M('mp-clear', 'MS-MQMQ 2.2.19.2', 'Flags.MP is clear, the MessagePropertiesHeader is there', [U + 'message-properties-flag'], S(), cl('user', 44, 'I', 1 << 21))
def nomp(cap, rec, r): setpiece(rec, 'mp', b'')
M('mp-missing', 'MS-MQMQ 2.2.20', 'Flags.MP is set, there is no MessagePropertiesHeader', ['MQMQ-2.2.20.required-headers', U + 'message-properties-present', 'MQMQ-2.2.20.message-properties-header-always'], S(['sid']), nomp)
M('mp-cut-short', 'MS-MQMQ 2.2.20', 'the packet ends 20 bytes into the MessagePropertiesHeader', [U + 'message-properties-present', 'MQMQ-2.2.20.required-headers'], S(), lambda cap, rec, r: setpiece(rec, 'mp', piece(rec, 'mp')[:20]))
for v in (1, 2, 4, 6):
    def dq(cap, rec, r, v=v):
        redo(rec, dqraw={1: guid(r), 2: struct.pack('<I', 9), 4: guid(r), 6: guid(r) + struct.pack('<I', 9)}[v], sec=None, mqf=None); clr(rec, 'user', 44, 'I', 7 << 10); orp(rec, 'user', 44, 'I', v << 10)
    M(f'dq-{v}', 'MS-MQMQ 2.2.19.2', f'Flags.DQ is {v}', U + 'destination-type', S(direct=False), dq)
for v in (1, 4):
    def aqf(cap, rec, r, v=v):
        redo(rec, aqraw=b'' if v == 1 else struct.pack('<I', 77), flags=1); clr(rec, 'user', 44, 'I', 7 << 13); orp(rec, 'user', 44, 'I', v << 13)
    M(f'aq-{v}', 'MS-MQMQ 2.2.19.2', f'Flags.AQ is {v}', U + 'admin-type', S(), aqf)
HB = [('sec', 19, 'security-header', ['sid']), ('tx', 20, 'transaction-header', None), ('cq', 22, 'connector-type', ['cq']), ('mqf', 23, 'multi-queue-header', ['mqf']), ('soap', 28, 'soap-header', ['soap'])]
for h, b, nm, ft in HB:
    M(f'{h}-flag-no-header', 'MS-MQMQ 2.2.19.2', f'the flag for the {nm} is set, it is not there', [U + nm + '-present'] + ([f'MQMQ-2.2.20.{nm}-by-flag'] if f'MQMQ-2.2.20.{nm}-by-flag' in IDS else []), S(dm=1 if h == 'tx' else None, tweak=(lambda u, r, c, i: u.update(pr=0)) if h == 'tx' else None, sz=3), o('user', 44, 'I', 1 << b))
    M(f'{h}-header-no-flag', 'MS-MQMQ 2.2.19.2', f'the flag for the {nm} is clear, it is there', [U + nm + '-absent'] + ([f'MQMQ-2.2.20.{nm}-by-flag'] if f'MQMQ-2.2.20.{nm}-by-flag' in IDS else []), S(ft) if ft else S(tx=True), cl('user', 44, 'I', 1 << b))
M('tx-removed', 'MS-MQMQ 2.2.20', 'Flags.TH is set, the SecurityHeader follows UserHeader at once', [U + 'transaction-header-present'], S(tx=True, feats=['signed']), lambda cap, rec, r: setpiece(rec, 'tx', b''))
M('sec-removed', 'MS-MQMQ 2.2.20', 'Flags.SH is set, MessagePropertiesHeader follows TransactionHeader at once', [U + 'security-header-present'], S(tx=True, feats=['signed']), lambda cap, rec, r: setpiece(rec, 'sec', b''))
M('soap-removed', 'MS-MQMQ 2.2.20', 'Flags.HH is set, MultiQueueFormatHeader stands where SoapHeader must', [U + 'soap-header-present'], S(['soap', 'mqf']), lambda cap, rec, r: setpiece(rec, 'soap', b''))
M('mqf-cut', 'MS-MQMQ 2.2.20', 'MultiQueueFormatHeader has no Response and Signature part', [U + 'multi-queue-header-present'], S(['mqf']), lambda cap, rec, r: setpiece(rec, 'mqf', piece(rec, 'mqf')[:struct.unpack('<I', piece(rec, 'mqf')[:4])[0] + 12]))
M('qma-direct-server', 'MS-MQMQ 2.2.19.2', 'QueueManagerAddress is the acceptor\'s GUID although the destination has a direct name', U + 'address-direct', S(direct=True, side=0), lambda cap, rec, r: redo(rec, qma=cap.c.h[1].qm))
M('qma-direct-random', 'MS-MQMQ 2.2.19.2', 'QueueManagerAddress is some GUID although the destination has a direct name', U + 'address-direct', S(direct=True, tx=True), lambda cap, rec, r: redo(rec, qma=guid(r)))
M('qma-direct-onebyte', 'MS-MQMQ 2.2.19.2', 'one byte of QueueManagerAddress is not zero, the destination has a direct name', U + 'address-direct', S(direct=True, dm=0), f('user', 31, 'B', 1))
def isdq(n): return lambda cap, rec, r: False if rec['um']['dq'][0] != n else redo(rec, qma=NULLG)
M('qma-null-private', 'MS-MQMQ 2.2.19.2', 'QueueManagerAddress is null, the destination is a private queue', [U + 'address-host'], S(direct=False), isdq(3))
M('qma-null-public', 'MS-MQMQ 2.2.19.2', 'QueueManagerAddress is null, the destination is a public queue', [U + 'address-host'], S(direct=False), isdq(5))
for k in ('oa', 'fa', 'aa'):
    M(f'qma-null-{k}', 'MS-MQMQ 2.2.19.2', f'QueueManagerAddress of {NAMES[k]} to a private queue is null', [U + 'address-host'], {'oa': TX(False), 'fa': TX(False, jn=1), 'aa': ADM(False)}[k], lambda cap, rec, r: False if rec['um']['dq'][0] != 3 else redo(rec, qma=NULLG), pick=K(k.upper()))
M('qma-set-oa-direct', 'MS-MQMQ 2.2.19.2', 'QueueManagerAddress of an OrderAck to a direct name is set', [U + 'address-direct'], TX(True), lambda cap, rec, r: redo(rec, qma=cap.c.h[0].qm), pick=K('OA'))
for v in (1, 2, 4, 8): M(f'admin-missing-{v}', 'MS-MQMQ 2.2.19.2', f'MessagePropertiesHeader.Flags is {v}, there is no administration queue', U + 'admin-queue-required', S(['resp'], tweak=lambda u, r, c, i: u.update(aq=(0, 0), rq=(0, 0) if u['rq'][0] in (1, 4) else u['rq'])), lambda cap, rec, r, v=v: redo(rec, flags=v))
for v in (2, 3, 5, 6, 7): M(f'admin-unwanted-{v}', 'MS-MQMQ 2.2.19.2', f'no acknowledgment is asked for, there is an administration queue of type {v}', U + 'admin-queue-absent', S(tx=v == 6), lambda cap, rec, r, v=v: redo(rec, flags=0, aq=(v, {2: 9, 3: 9, 5: guid(r), 6: (guid(r), 5), 7: 'OS:adm\\PRIVATE$\\x'}[v])))
# direct names
def dn(field, mk_, sign=False):
    def g(cap, rec, r):
        name = rec['um'][field][1]
        redo(rec, **{field + 'raw': mk_(name)})
    return g
def rawname(s, cnt=None, term=True, pad=None):
    b = s.encode('utf-16-le') + (b'\0\0' if term else b''); c = len(b) if cnt is None else cnt(len(b)); x = struct.pack('<H', c) + b
    return x + b'\x11' * ((-len(x) % 4) if pad is None else pad)
D5 = 'MQMQ-2.2.18.1.5.2.'
def adq(u, r, c, i): u.update(flags=4, aq=(7, 'OS:%s\\PRIVATE$\\adm%d' % (c.h[i].name, r.randint(1, 99))))
def rdq(u, r, c, i): u.update(rq=(7, 'OS:%s\\reply%d' % (c.h[i].name, r.randint(1, 99))))
FLD = {'dq': ('destination', S(direct=True)), 'aq': ('administration', S(tweak=adq)), 'rq': ('response', S(tweak=rdq))}
NF = [('no-nul', 'has no terminating NUL', lambda n: rawname(n, term=False), D5 + 'null-terminated'), ('nul-inside', 'has a NUL inside', lambda n: rawname(n[:3] + '\0' + n[3:]), D5 + 'null-terminated'),
      ('prefix', 'begins with DIRECT=', lambda n: rawname('DIRECT=' + n), D5 + 'direct-format-name'), ('protocol', 'has an unknown protocol', lambda n: rawname('UDP' + n[n.index(':'):]), D5 + 'direct-format-name'),
      ('no-queue', 'names no queue', lambda n: rawname(n[:n.index('\\')]), D5 + 'direct-format-name'), ('count-odd', 'has an odd Count', lambda n: rawname(n, cnt=lambda x: x - 1), D5 + 'count'),
      ('count-no-nul', 'has a Count that leaves out the NUL', lambda n: rawname(n, cnt=lambda x: x - 2), D5 + 'count'), ('count-beyond', 'has a Count beyond the packet', lambda n: rawname(n, cnt=lambda x: 0xFFFE), D5 + 'count'),
      ('empty', 'is a lone NUL', lambda n: rawname(''), D5 + 'direct-format-name'), ('count-zero', 'has Count 0', lambda n: struct.pack('<HH', 0, 0), D5 + 'count')]
for fld, (w, b) in FLD.items():
    for s, t, fn, rq in NF: M(f'name-{fld}-{s}', 'MS-MQMQ 2.2.18.1.5.2', f'the direct name of the {w} queue {t}', [rq], b, dn(fld, fn))
NF2 = [('long', 'dq', 'has a queue name of 125 characters', lambda n: rawname(n[:n.index('\\') + 1] + 'q' * 125)), ('comma', 'rq', 'has a comma in the queue name', lambda n: rawname('OS:h\\a,b')), ('plus', 'aq', 'has a plus in the queue name', lambda n: rawname('OS:h\\PRIVATE$\\a+b')),
       ('quote', 'dq', 'has a double quote in the queue name', lambda n: rawname(n + '"')), ('space', 'rq', 'has a space in the queue name', lambda n: rawname('OS:h\\my queue')), ('ip', 'dq', 'has TCP: and an address that is no IP address', lambda n: rawname('TCP:300.1.2.3\\q')),
       ('noaddr', 'aq', 'has no address', lambda n: rawname('TCP:\\q')), ('colon', 'rq', 'has no colon behind the protocol', lambda n: rawname('OS/h\\q')), ('http', 'rq', 'is an HTTP name without /MSMQ', lambda n: rawname('HTTP://h\\q')),
       ('suffix', 'rq', 'has an unknown suffix behind SYSTEM$;', lambda n: rawname('OS:h\\SYSTEM$;TRASH')), ('backslash', 'dq', 'has two backslashes in a row', lambda n: rawname(n.replace('\\', '\\\\', 1)))]
for s, fld, t, fn in NF2: M(f'abnf-{fld}-{s}', 'MS-MQMQ 2.1.2 / 2.2.18.1.5.2', f'the direct name of the {FLD[fld][0]} queue {t}', [D5 + 'direct-format-name'], FLD[fld][1], dn(fld, fn))
def longer(cap, rec, r):
    u = rec['um']
    if (2 + len(u16z(u['dq'][1]))) % 4 == 0: return False
    redo(rec, dqraw=rawname(u['dq'][1], pad=0))
M('name-unpadded', 'MS-MQMQ 2.2.18.1.5.2', 'a direct name is not padded to a multiple of 4', [D5 + 'layout'], S(direct=True), longer)
M('name-overpadded', 'MS-MQMQ 2.2.18.1.5.2', 'a direct name has 4 bytes of padding too many', [D5 + 'layout'], S(direct=True, dm=1), lambda cap, rec, r: redo(rec, dqraw=enc_name(*rec['um']['dq']) + b'\1\2\3\4'))
# --- MessagePropertiesHeader
M('label-251', 'MS-MQMQ 2.2.19.3', 'LabelLength is 0xFB', P + 'label-length-maximum', S(), lambda cap, rec, r: redo(rec, label='L' * 250))
M('label-255', 'MS-MQMQ 2.2.19.3', 'LabelLength is 0xFF', P + 'label-length-maximum', S(tx=True), lambda cap, rec, r: redo(rec, label='é' * 254))
def labraw(s, n=None):
    def g(cap, rec, r):
        u = rec['um']; mp = bytearray(piece(rec, 'mp')); ll = mp[1]; s2 = s.encode('utf-16-le'); b = bytes(mp[:56]) + s2 + u['extd'] + u['body']; b = bytearray(b + bytes(-len(b) % 4)); b[1] = len(s2) // 2 if n is None else n; setpiece(rec, 'mp', bytes(b))
    return g
M('label-no-nul', 'MS-MQMQ 2.2.19.3', 'Label has no terminating NUL', [P + 'label-length', P + 'label-format'], S(), labraw('no end'))
M('label-no-nul-one', 'MS-MQMQ 2.2.19.3', 'Label is one character that is no NUL', [P + 'label-length', P + 'label-format'], S(tx=True), labraw('x'))
M('label-nul-inside', 'MS-MQMQ 2.2.19.3', 'Label has a NUL inside', [P + 'label-format'], S(), labraw('two\0parts\0'))
M('label-nul-first', 'MS-MQMQ 2.2.19.3', 'Label begins with a NUL', [P + 'label-format'], S(['soap']), labraw('\0abc\0'))
M('label-two-nuls', 'MS-MQMQ 2.2.19.3', 'Label ends with two NULs', [P + 'label-format'], S(['cq']), labraw('order\0\0'))
def lablen(d): return lambda cap, rec, r: False if len(rec['um']['label']) < 3 else patch(rec, 'mp', 1, 'B', len(rec['um']['label']) + 1 + d)
M('labellength-short', 'MS-MQMQ 2.2.19.3', 'LabelLength leaves the NUL out, so that it and the body are shifted', [P + 'label-length', P + 'label-format'], S(sz=40, before=2), lablen(-1))
M('labellength-zero', 'MS-MQMQ 2.2.19.3', 'LabelLength is 0, a Label is there', [P + 'label-length', P + 'label-absent', B + 'packet-size-headers'], S(sz=8), lambda cap, rec, r: False if len(rec['um']['label']) < 8 else patch(rec, 'mp', 1, 'B', 0))
for v in (0x0003, 0x0100, 0x4001, 0x8008, 0x800C, 0xC003, 0x1E00, 0xFFFF): M(f'class-{v:04x}', 'MS-MQMQ 2.2.19.3', f'MessageClass is 0x{v:04X}', [P + 'message-class'] + (['MQMQ-2.2.18.1.6.custom-class'] if v & 0x1E00 else []), S(tx=v == 0x100), f('mp', 2, 'H', v), provable=bool(v & 0x1E00))
for v in (4, 5, 8, 30, 64, 0x2011, 0xFFFFFFFF): M(f'bodytype-{v:x}', 'MS-MQMQ 2.2.19.3', f'BodyType is {v:#x}, no PROPVARIANT type constant', P + 'body-type', S(), f('mp', 24, 'I', v))
M('messagesize-beyond', 'MS-MQMQ 2.2.19.3', 'MessageSize is larger than the packet', [P + 'message-size'], S(sz=20), f('mp', 32, 'I', 100000))
M('messagesize-huge', 'MS-MQMQ 2.2.19.3', 'MessageSize is 0xFFFFFFF0', [P + 'message-size'], S(['mqf'], sz=20), lambda cap, rec, r: (patch(rec, 'mp', 32, 'I', 0xFFFFFFF0), patch(rec, 'mp', 36, 'I', 0xFFFFFFF0))[0])
M('messagesize-less', 'MS-MQMQ 2.2.19.3', 'MessageSize is 8 less than the body', [P + 'message-size', B + 'packet-size-headers'], S(sz=60), f('mp', 32, 'I', 52))
M('messagesize-more', 'MS-MQMQ 2.2.19.3', 'MessageSize is 4 more than the body', [P + 'message-size', B + 'packet-size-headers'], S(sz=40), lambda cap, rec, r: (patch(rec, 'mp', 32, 'I', 44), patch(rec, 'mp', 36, 'I', 44))[0])
M('alloc-zero', 'MS-MQMQ 2.2.19.3', 'AllocationBodySize is 0, the body is not empty', P + 'allocation-body-size', S(sz=33), f('mp', 36, 'I', 0))
M('alloc-less', 'MS-MQMQ 2.2.19.3', 'AllocationBodySize is one less than MessageSize', P + 'allocation-body-size', S(tx=True, sz=700), f('mp', 36, 'I', 699))
for v in (2, 4, 6, 0x10001): M(f'privacy-{v:x}', 'MS-MQMQ 2.2.19.3', f'PrivacyLevel is {v:#x}', P + 'privacy-level', S(['enc'] if v != 6 else [], direct=False), f('mp', 40, 'I', v))
for v in (0, 0x8000, 0x8005, 0x800D, 0x8010): M(f'hash-{v:x}', 'MS-MQMQ 2.2.19.3', f'HashAlgorithm is {v:#x}', P + 'hash-algorithm', S(['sid'] if v == 0 else ['signed'] if v == 0x800D else []), f('mp', 44, 'I', v))
for v in (0, 0x6601, 0x6603, 0x6611): M(f'encalg-{v:x}', 'MS-MQMQ 2.2.19.3', f'EncryptionAlgorithm is {v:#x}', P + 'encryption-algorithm', S(), f('mp', 48, 'I', v))
for lv, v in ((1, 0x6610), (1, 0x660E), (3, 0x660F), (5, 0x6801), (5, 0x6602)):
    M(f'encalg-{lv}-{v:x}', 'MS-MQMQ 2.2.19.3', f'PrivacyLevel {lv} with EncryptionAlgorithm {v:#x}', P + 'encryption-by-privacy', S(['enc'], direct=False), lambda cap, rec, r, lv=lv, v=v: False if rec['um']['priv'] != lv else patch(rec, 'mp', 48, 'I', v))
M('extsize-beyond', 'MS-MQMQ 2.2.19.3', 'ExtensionSize is larger than the packet', P + 'extension-size', S(['extd']), f('mp', 52, 'I', 0x10000))
M('extsize-more', 'MS-MQMQ 2.2.19.3', 'ExtensionSize is 12 more than ExtensionData', [P + 'extension-size', B + 'packet-size-headers'], S(['extd'], sz=5), lambda cap, rec, r: patch(rec, 'mp', 52, 'I', len(rec['um']['extd']) + 12))
for n in (1, 2, 3):
    M(f'mp-unpadded-{n}', 'MS-MQMQ 2.2.19.3', f'MessagePropertiesHeader lacks its {n} bytes of padding', [P + 'padding'], S([['soap'], [], ['mqf']][n - 1], sz=None), lambda cap, rec, r, n=n: (lambda u: False if (56 + len(u16z(u['label']) if u['label'] else b'') + len(u['extd']) + len(u['body'])) % 4 != (4 - n) % 4 else setpiece(rec, 'mp', piece(rec, 'mp')[:-n]))(rec['um']))
M('mp-overpadded', 'MS-MQMQ 2.2.19.3', 'four bytes of padding too many behind MessagePropertiesHeader', [P + 'padding', B + 'packet-size-headers'], S(), lambda cap, rec, r: setpiece(rec, 'mp', piece(rec, 'mp') + b'\1\2\3\4'))
for b in (4, 5, 6, 7): M(f'mpflags-{b}', 'MS-MQMQ 2.2.19.3', f'unused bit {b} of MessagePropertiesHeader.Flags is set', P + 'flags-unused', S(['admin']), o('mp', 0, 'B', 1 << b), close=KEEP)
# --- order
def swap(a, b):
    def g(cap, rec, r):
        od = list(ORDER); x, y = od.index(a), od.index(b); od[x], od[y] = od[y], od[x]; redo(rec, order=od)
    return g
for a, b, base, rq in [('tx', 'sec', S(tx=True, feats=['sid']), 'transaction-header-layout'), ('debug', 'soap', S(['trace0', 'soap']), 'debug-header-layout'), ('soap', 'mqf', S(['soap', 'mqf']), 'soap-header-layout'), ('sec', 'mp', S(['signed']), 'security-header-layout'), ('mp', 'soap', S(['soap']), 'message-properties-header-layout'), ('mp', 'mqf', S(['mqf']), 'multi-queue-header-layout'), ('tx', 'mp', S(tx=True), 'transaction-header-layout'), ('debug', 'mqf', S(['debug', 'mqf']), 'debug-header-layout'), ('user', 'mp', S(), 'user-header-layout')]:
    M(f'order-{a}-{b}', 'MS-MQMQ 2.2.20', f'the headers {a} and {b} stand in each other\'s place', ['MQMQ-2.2.20.' + rq], base, swap(a, b))
M('order-sess-soap', 'MS-MQMQ 2.2.20', 'SessionHeader stands before SoapHeader', ['MQMQ-2.2.20.session-header-layout'], S(['soap'], want=True, side=0, before=0), lambda cap, rec, r: False if not rec['um']['sess'] else redo(rec, order=['base', 'user', 'tx', 'sec', 'mp', 'debug', 'sess', 'soap', 'mqf', 'ext']))
M('trailing-4', 'MS-MQMQ 2.2.19.1', 'four bytes of nothing at the end of the packet', [B + 'packet-size-headers'], S(['soap']), lambda cap, rec, r: redo(rec, tail=b'\0\0\0\0'))
M('trailing-32', 'MS-MQMQ 2.2.20', '32 bytes that belong to no header behind MultiQueueFormatHeader', [B + 'packet-size-headers'], S(['mqf']), lambda cap, rec, r: redo(rec, tail=bytes(32)))
# --- MultiQueueFormatHeader
F2 = 'MQMQ-2.2.20.2.'; F3 = 'MQMQ-2.2.20.3.'; F4 = 'MQMQ-2.2.18.1.4.'
def mpos(rec, n): # offset of the n-th part
    b = piece(rec, 'mqf'); p = 0
    for _ in range(n): p += struct.unpack_from('<I', b, p)[0]
    return p
def mp_(n, off, fm, v): return lambda cap, rec, r: patch(rec, 'mqf', mpos(rec, n) + off, fm, v(get(rec, 'mqf', mpos(rec, n) + off, fm)) if callable(v) else v)
MQ = S(['mqf']); MQA = S(['admin', 'resp', 'mqf'])
for n, w in enumerate(['Destination', 'Administration', 'Response']):
    M(f'mqf-id-{n}', 'MS-MQMQ 2.2.20.2', f'HeaderID of {w} is wrong', F2 + 'header-id', MQ, mp_(n, 4, 'H', [0x65, 0x12C, 0x15E][n]))
    M(f'mqf-res-{n}', 'MS-MQMQ 2.2.20.2', f'Reserved of {w} is not zero', F2 + 'reserved', MQ, mp_(n, 6, 'H', [1, 0x8000, 0xFFFF][n]), close=KEEP)
    M(f'mqf-size-small-{n}', 'MS-MQMQ 2.2.20.2', f'HeaderSize of {w} is {[11, 8, 0][n]}', F2 + 'header-size', MQ, mp_(n, 0, 'I', [11, 8, 0][n]))
    M(f'mqf-size-beyond-{n}', 'MS-MQMQ 2.2.20.2', f'HeaderSize of {w} is beyond the packet', F2 + 'header-size', MQ, mp_(n, 0, 'I', [0x100000, 50000, 0xFFFFFFFC][n]))
    M(f'mqf-count-{n}', 'MS-MQMQ 2.2.20.2', f'ElementCount of {w} is one too many', F2 + 'element-count', MQ, mp_(n, 8, 'I', lambda v: v + 1))
M('mqf-count-less', 'MS-MQMQ 2.2.20.2', 'ElementCount of Destination is one too few', F2 + 'element-count', MQ, mp_(0, 8, 'I', lambda v: v - 1))
M('mqf-count-zero', 'MS-MQMQ 2.2.20.2', 'ElementCount of Destination is 0, names are there', F2 + 'element-count', MQ, mp_(0, 8, 'I', 0))
M('mqf-size-more', 'MS-MQMQ 2.2.20.2', 'HeaderSize of Destination is 4 too many', F2 + 'header-size', MQ, mp_(0, 0, 'I', lambda v: v + 4))
M('mqf-size-less', 'MS-MQMQ 2.2.20.2', 'HeaderSize of Destination leaves out the last 8 bytes of its names', F2 + 'header-size', MQ, mp_(0, 0, 'I', lambda v: v - 8))
M('mqf-swapped', 'MS-MQMQ 2.2.20.1', 'Response stands before Administration', ['MQMQ-2.2.20.1.administration-layout', F2 + 'header-id'], MQA, lambda cap, rec, r: (lambda b, x, y, z: setpiece(rec, 'mqf', b[:x] + b[y:z] + b[x:y] + b[z:]))(piece(rec, 'mqf'), mpos(rec, 1), mpos(rec, 2), mpos(rec, 3)))
for v in (0, 4, 5, 7, 8, 0x0103): M(f'mqf-type-{v:x}', 'MS-MQMQ 2.2.18.1.4', f'FormatType of a name is {v:#x}', F4 + 'format-type-values', MQ, mp_(0, 12, 'H', v))
def mqelem(ft, raw, fix=True):
    def g(cap, rec, r):
        u = copy.deepcopy(rec['um']); b = struct.pack('<H', ft) + raw(r); u['mqf']['d'] = [('raw', b)] + [(3, 'OS:z\\q')] if False else u['mqf']['d']; redo(rec)
        old = piece(rec, 'mqf'); n = struct.unpack('<I', old[:4])[0]; d = old[:n]; els = u['mqf']['d']
        own = struct.pack('<H', 3) + u16z('OS:n\\q'); own += b'' # a plain name first
        lst = list(els) + [('raw', b)]
        u['mqf']['d'] = lst; redo(rec, mqf=u['mqf'])
    return g
M('mqf-direct-no-nul', 'MS-MQMQ 2.2.18.1.4.1', 'the last direct name of Destination has no NUL', F4 + '1.null-terminated', MQ, lambda cap, rec, r: (lambda u: (u['mqf'].update(d=[(ft, v) for ft, v in u['mqf']['d']] + [('raw', struct.pack('<H', 3) + 'OS:last\\qu'.encode('utf-16-le'))]), redo(rec, mqf=u['mqf'], pseed=3), False if sum(1 for ft, v in u['mqf']['d']) < 1 else None)[2])(copy.deepcopy(rec['um'])))
for s, nme in (('prefix', 'DIRECT=OS:h\\q'), ('proto', 'FTP:h\\q'), ('public', 'PUBLIC=00000000-0000-0000-0000-000000000001'), ('empty', ''), ('noq', 'OS:host')):
    M(f'mqf-direct-{s}', 'MS-MQMQ 2.2.18.1.4.1', f'a direct name in Destination reads {nme!r}', [F4 + '1.direct-format-name'], MQ, lambda cap, rec, r, nme=nme: (lambda u: (u['mqf']['d'].append((3, nme)), redo(rec, mqf=u['mqf'])))(copy.deepcopy(rec['um'])) and None)
M('mqf-not-listed', 'MS-MQMQ 2.2.20.1', 'Destination does not list the queue the copy itself goes to', ['MQMQ-2.2.20.1.destination-complete'], S(direct=True, tweak=lambda u, r, c, i: u.update(mqf=dict(d=[(3, 'OS:other\\q1'), (3, 'OS:another\\q2')], a=[], r=[], sig=b''))), lambda cap, rec, r: setattr(cap, 'built', True))
M('mqf-sig-id', 'MS-MQMQ 2.2.20.3', 'ID of the signature header is 0x015F', F3 + 'id', MQ, mp_(3, 0, 'H', 0x15F))
M('mqf-sig-id-2', 'MS-MQMQ 2.2.20.3', 'ID of the signature header is that of Response', F3 + 'id', S(['mqfsig']), mp_(3, 0, 'H', 0x12C))
M('mqf-sig-res', 'MS-MQMQ 2.2.20.3', 'Reserved of the signature header is not zero', F3 + 'reserved', MQ, mp_(3, 2, 'H', 0x15E), close=KEEP)
M('mqf-sig-size', 'MS-MQMQ 2.2.20.3', 'Size of the signature header is beyond the packet', F3 + 'size', S(['mqfsig']), mp_(3, 4, 'I', 4096))
M('mqf-sig-less', 'MS-MQMQ 2.2.20.3', 'Size of the signature header is 64, 128 bytes of signature are there', [F3 + 'size', B + 'packet-size-headers'], S(['mqfsig']), mp_(3, 4, 'I', 64))
M('mqf-sig-bad', 'MS-MQMQ 2.2.20.3', 'the signature in MultiQueueFormatHeader does not match', ['MQDMPR-3.1.1.12.multiple-destination-signature-input', F3 + 'signature'], S(['mqfsig']), mp_(3, 20, 'I', lambda v: v ^ 0x01010101))
# --- SoapHeader, DebugHeader
M('soap-id-header', 'MS-MQMQ 2.2.20.7', 'HeaderSectionID is 0x0384', 'MQMQ-2.2.20.7.header-section-id', S(['soap']), f('soap', 0, 'H', 0x384))
M('soap-id-header-2', 'MS-MQMQ 2.2.20.7', 'HeaderSectionID is 0', 'MQMQ-2.2.20.7.header-section-id', S(tx=True, feats=['soap']), f('soap', 0, 'H', 0))
def sb(off, fm, v): return lambda cap, rec, r: patch(rec, 'soap', 8 + 2 * get(rec, 'soap', 4, 'I') + off, fm, v(get(rec, 'soap', 8 + 2 * get(rec, 'soap', 4, 'I') + off, fm)) if callable(v) else v)
M('soap-id-body', 'MS-MQMQ 2.2.20.7', 'BodySectionID is 0x0320', 'MQMQ-2.2.20.7.body-section-id', S(['soap']), sb(0, 'H', 0x320))
M('soap-id-body-2', 'MS-MQMQ 2.2.20.7', 'BodySectionID is 0x8403', 'MQMQ-2.2.20.7.body-section-id', S(['soap', 'mqf']), sb(0, 'H', 0x8403))
M('soap-res', 'MS-MQMQ 2.2.20.7', 'Reserved of SoapHeader is not zero', 'MQMQ-2.2.20.7.reserved', S(['soap']), f('soap', 2, 'H', 0x20), close=KEEP)
M('soap-res1', 'MS-MQMQ 2.2.20.7', 'Reserved1 of SoapHeader is not zero', 'MQMQ-2.2.20.7.reserved1', S(['soap']), sb(2, 'H', 0x100), close=KEEP)
M('soap-len-beyond', 'MS-MQMQ 2.2.20.7', 'HeaderDataLength is beyond the packet', 'MQMQ-2.2.20.7.header-terminated', S(['soap']), f('soap', 4, 'I', 0x8000))
M('soap-body-beyond', 'MS-MQMQ 2.2.20.7', 'BodyDataLength is beyond the packet', 'MQMQ-2.2.20.7.body-terminated', S(['soap']), sb(4, 'I', 0x8000))
def soapraw(hs, bs): return lambda cap, rec, r: setpiece(rec, 'soap', struct.pack('<HHI', 0x320, 0, len(hs)) + hs.encode('utf-16-le') + struct.pack('<HHI', 0x384, 0, len(bs)) + bs.encode('utf-16-le'))
M('soap-head-no-nul', 'MS-MQMQ 2.2.20.7', 'Header of SoapHeader has no NUL', 'MQMQ-2.2.20.7.header-terminated', S(['soap']), soapraw('<h/>', '<b/>\0' + '\0' * 0 + '') if False else soapraw('<hh/>!', '<bbb/>\0\0'[:7] + '\0' if False else '<bb/>!\0'[:5] + '!!\0'))
M('soap-body-no-nul', 'MS-MQMQ 2.2.20.7', 'Body of SoapHeader has no NUL', 'MQMQ-2.2.20.7.body-terminated', S(['soap']), soapraw('<h/>.\0', '<bb/>!'))
M('debug-qt-2', 'MS-MQMQ 2.2.20.8', 'QT of DebugHeader is 2', 'MQMQ-2.2.20.8.queue-type', S(['trace0']), f('debug', 0, 'H', 2))
M('debug-qt-3', 'MS-MQMQ 2.2.20.8', 'QT of DebugHeader is 3, a QueueIdentifier is there', 'MQMQ-2.2.20.8.queue-type', S(['debug', 'soap']), f('debug', 0, 'H', 3))
M('debug-no-guid', 'MS-MQMQ 2.2.20.8', 'QT is 1, there is no QueueIdentifier', ['MQMQ-2.2.20.8.queue-identifier-present'], S(['trace0']), f('debug', 0, 'H', 1))
M('debug-no-guid-soap', 'MS-MQMQ 2.2.20.8', 'QT is 1, the SoapHeader stands where QueueIdentifier must', ['MQMQ-2.2.20.8.queue-identifier-present'], S(['trace0', 'soap'], sz=4), f('debug', 0, 'H', 1))
M('debug-guid-qt0', 'MS-MQMQ 2.2.20.8', 'QT is 0, a QueueIdentifier is there', ['MQMQ-2.2.20.8.queue-identifier-absent', B + 'packet-size-headers'], S(['debug']), f('debug', 0, 'H', 0))
M('debug-reserved', 'MS-MQMQ 2.2.20.8', 'Reserved of DebugHeader is not zero', 'MQMQ-2.2.20.8.reserved', S(['debug']), f('debug', 2, 'H', 0x0102), close=KEEP)
for b in range(2, 16): M(f'debug-x{b}', 'MS-MQMQ 2.2.20.8', f'unused bit X{b} of DebugHeader.Flags is set', f'MQMQ-2.2.20.8.flags-x{b}', S([r'debug' if b % 2 else 'trace0'], tx=b % 5 == 0), o('debug', 0, 'H', 1 << b), close=KEEP)
# --- SecurityHeader
X6 = 'MQMQ-2.2.20.6.'
for v in (3, 4, 8, 15): M(f'sec-st-{v}', 'MS-MQMQ 2.2.20.6', f'ST is {v}', X6 + 'sender-id-type', S(['sid']), lambda cap, rec, r, v=v: (clr(rec, 'sec', 0, 'H', 15), orp(rec, 'sec', 0, 'H', v))[0])
M('sec-st-0-sid', 'MS-MQMQ 2.2.20.6', 'ST is 0, SenderIdSize is not', X6 + 'sender-id-none', S(['sid']), cl('sec', 0, 'H', 15))
M('sec-sid-revision', 'MS-MQMQ 2.2.20.6', 'SecurityID of type 1 is no SID: revision 2', X6 + 'sender-id-sid', S(['sid']), f('sec', 16, 'B', 2))
M('sec-sid-count', 'MS-MQMQ 2.2.20.6', 'SecurityID of type 1 counts more sub-authorities than it has', X6 + 'sender-id-sid', S(['signed']), lambda cap, rec, r: False if rec['um']['sec']['st'] != 1 else patch(rec, 'sec', 17, 'B', 9))
M('sec-sid-guid', 'MS-MQMQ 2.2.20.6', 'SecurityID of type 1 is a GUID', X6 + 'sender-id-sid', S(['sid']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'sid': b'\x55' + guid(r)[1:]}))
M('sec-sid-empty', 'MS-MQMQ 2.2.20.6', 'ST is 1, SenderIdSize is 0', [X6 + 'sender-id-sid'], S(['signed']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'st': 1, 'sid': b''}))
M('sec-guid-short', 'MS-MQMQ 2.2.20.6', 'ST is 2, SecurityID has 12 bytes', X6 + 'sender-id-guid', S(['qmsig']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'sid': rec['um']['sec']['sid'][:12]}))
M('sec-guid-long', 'MS-MQMQ 2.2.20.6', 'ST is 2, SecurityID is a SID of 28 bytes', X6 + 'sender-id-guid', S(['qmsig'], side=0), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'sid': sid(r)}))
M('sec-guid-other', 'MS-MQMQ 2.2.20.6', 'a packet signed by a queue manager has another GUID than its own as SecurityID', [X6 + 'security-id-queue-manager', X6 + 'sender-id-guid', 'MQDMPR-3.1.1.12.sender-identifier-queue-manager'], S(['qmsig']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'sid': guid(r)}))
for nm_, b in (('sid', ['sid']), ('signed', ['signed'])): M(f'sec-au-{nm_}', 'MS-MQMQ 2.2.20.6', f'AU is set ({nm_})', X6 + 'authenticated', S(b), o('sec', 0, 'H', 16))
for v in (1, 3, 5, 8): M(f'sec-as-{v}', 'MS-MQMQ 2.2.20.6', f'AS is {v}', X6 + 'signature-type', S(['sid'] if v == 8 else ['signed']), o('sec', 0, 'H', v << 8))
for b in (12, 13, 14, 15): M(f'sec-x{b}', 'MS-MQMQ 2.2.20.6', f'unused bit X{b} of SecurityHeader.Flags is set', X6 + f'flags-x{b}', S([['sid'], ['signed'], ['signedprov'], ['qmsig']][b - 12]), o('sec', 0, 'H', 1 << b), close=KEEP)
M('sec-ai-clear', 'MS-MQMQ 2.2.20.6', 'AI is clear, SecurityData with a signature is there', X6 + 'security-data', S(['signed']), cl('sec', 0, 'H', 128), provable=False)
M('sec-empty', 'MS-MQMQ 2.2.20.6', 'all five sizes of SecurityHeader are 0', X6 + 'some-size', S(['sid']), lambda cap, rec, r: setpiece(rec, 'sec', struct.pack('<HHHHII', 0, 0, 0, 0, 0, 0)))
M('sec-empty-de', 'MS-MQMQ 2.2.20.6', 'all five sizes are 0 in a SecurityHeader with DE set', X6 + 'some-size', S(['sid', 'soap']), lambda cap, rec, r: setpiece(rec, 'sec', struct.pack('<HHHHII', 0x40, 0, 0, 0, 0, 0)))
M('sec-ai-no-data', 'MS-MQMQ 2.2.20.6', 'AI is set, the packet has no SecurityData behind the sizes', [X6 + 'security-data', X6 + 'security-data-fits'], S(['sid'], sz=0), lambda cap, rec, r: setpiece(rec, 'sec', piece(rec, 'sec')[:16]))
M('sec-cert-size', 'MS-MQMQ 2.2.20.6', 'SenderCertSize is 0x00010000, with so many bytes', X6 + 'sender-cert-size', S(['signed']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'cert': rec['um']['sec']['cert'] + bytes(0x10000 - len(rec['um']['sec']['cert']))}))
for i_, (off, fm, t) in enumerate([(2, 'H', 'SenderIdSize'), (4, 'H', 'EncryptionKeySize'), (6, 'H', 'SignatureSize'), (8, 'I', 'SenderCertSize'), (12, 'I', 'ProviderInfoSize')]):
    M(f'sec-{t.lower()}-beyond', 'MS-MQMQ 2.2.20.6', f'{t} is beyond the packet', [X6 + 'security-data-fits', X6 + {0: 'sender-id-size', 1: 'encryption-key-size', 2: 'signature-size', 3: 'sender-cert-size-exact', 4: 'provider-info-size'}[i_]], S(['signedprov'] if i_ != 1 else ['enc'], direct=False, sz=4), f('sec', off, fm, 0xFF00))
M('sec-signature-size-4', 'MS-MQMQ 2.2.20.6', 'SignatureSize is 4 less than the signature', [X6 + 'signature-size', X6 + 'security-data-fits'], S(['signed']), f('sec', 6, 'H', 124))
M('sec-cert-size-8', 'MS-MQMQ 2.2.20.6', 'SenderCertSize is 8 more than the certificate', [X6 + 'sender-cert-size-exact'], S(['qmsig']), lambda cap, rec, r: patch(rec, 'sec', 8, 'I', get(rec, 'sec', 8, 'I') + 8))
M('sec-no-provider', 'MS-MQMQ 2.2.20.6', 'DE is clear, there is a signature and no provider', X6 + 'provider-named', S(['signed']), cl('sec', 0, 'H', 64))
M('sec-no-provider-qm', 'MS-MQMQ 2.2.20.6', 'DE is clear, the queue manager\'s signature comes without a provider', X6 + 'provider-named', S(['qmsig']), cl('sec', 0, 'H', 64))
M('sec-provider-default', 'MS-MQMQ 2.2.20.6', 'DE is set, there is a ProviderInfo', X6 + 'provider-absent', S(['signedprov']), o('sec', 0, 'H', 64))
M('sec-provider-no-nul', 'MS-MQMQ 2.2.20.6', 'ProviderName has no NUL', X6 + 'provider-name', S(['signedprov']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'prov': rec['um']['sec']['prov'][:-2]}))
M('sec-provider-only-type', 'MS-MQMQ 2.2.20.6', 'ProviderInfo is a ProviderType alone', [X6 + 'provider-name', X6 + 'provider-named'], S(['signedprov']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'prov': rec['um']['sec']['prov'][:4]}))
M('sec-provider-2', 'MS-MQMQ 2.2.20.6', 'ProviderInfo has 2 bytes', [X6 + 'provider-type-layout', X6 + 'provider-name'], S(['signedprov']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'prov': b'\1\0'}))
M('sec-cert-broken', 'MS-MQMQ 2.2.20.6', 'SenderCert is no X.509 certificate', [X6 + 'sender-cert-layout', 'MQDMPR-3.1.1.12.sender-certificate'], S(['signed']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'cert': rbytes(r, 300)}))
M('sec-unaligned', 'MS-MQMQ 2.2.20.6', 'SenderCert does not begin at a multiple of 4', [X6 + 'security-data-aligned'], S(['signed']), lambda cap, rec, r: (lambda s: setpiece(rec, 'sec', s[:16] + s[16:18] + s[16:]))(piece(rec, 'sec')))
M('sec-signature-bad', 'MS-MQMQ 2.2.20.6', 'the signature is not that of the message', ['MQDMPR-3.1.1.12.signature', X6 + 'signature-layout'], S(['signed']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'sig': bytes(x ^ 0x5A for x in rec['um']['sec']['sig'])}))
M('sec-body-changed', 'MS-MQMQ 2.2.20.6', 'the body was changed after the signature was made', ['MQDMPR-3.1.1.12.signature', X6 + 'signature-layout'], S(['signed'], sz=50), lambda cap, rec, r: redo(rec, body=bytes(50)), provable=False)
M('sec-key-of-other', 'MS-MQMQ 2.2.20.6', 'SenderCert is the certificate of another key than the signature\'s', ['MQDMPR-3.1.1.12.signature', X6 + 'signature-layout'], S(['signed']), lambda cap, rec, r: redo(rec, sec={**rec['um']['sec'], 'cert': [k for k in KEYS if k[3] != rec['um']['sec']['cert']][0][3]}))
M('sec-eb-no-privacy', 'MS-MQMQ 2.2.20.6 / MS-MQDMPR 3.1.7.1.32', 'EB is set, PrivacyLevel is 0', ['MQDMPR-3.1.1.12.privacy-level-none', P + 'privacy-none'], S(['enc'], direct=False), lambda cap, rec, r: patch(rec, 'mp', 40, 'I', 0))
M('privacy-no-sec', 'MS-MQDMPR 3.1.7.1.32', 'PrivacyLevel is 1, no SecurityHeader tells that the body is encrypted', [], S(direct=False), lambda cap, rec, r: (patch(rec, 'mp', 40, 'I', 1), patch(rec, 'mp', 48, 'I', 0x6801))[0])
M('privacy-eb-clear', 'MS-MQDMPR 3.1.7.1.32', 'PrivacyLevel is not 0, EB is clear', [], S(['enc'], direct=False), cl('sec', 0, 'H', 32))
M('enc-block', 'MS-MQMQ 2.2.19.3', 'an AES body is no multiple of 16 bytes', [P + 'initialization-vector'], S(['enc'], direct=False), lambda cap, rec, r: False if rec['um']['priv'] != 5 else redo(rec, body=rec['um']['body'] + b'\1\2\3'))
M('enc-block-rc2', 'MS-MQMQ 2.2.19.3', 'an RC2 body is no multiple of 8 bytes', [P + 'initialization-vector'], S(['enc'], direct=False), lambda cap, rec, r: False if rec['um']['enc'] != 0x6602 else redo(rec, body=rec['um']['body'] + b'\1\2\3'))
