import json, sys, zlib
from wire import *
IDS = {x['id'] for x in json.load(open(HERE + '/../requirements.json'))}
PRE = {'b': 'MQMQ-2.2.19.1.', 'u': 'MQMQ-2.2.19.2.', 'm': 'MQMQ-2.2.19.3.', 'p': 'MQMQ-2.2.20.', 'q': 'MQQB-', 't': 'MQMQ-2.2.18.1.', 'd': 'MQDMPR-3.1.1.12.', 'e': 'MQDMPR-3.1.7.1.32.', 'r': 'MQRR-2.2.5.', 'v': 'MQMQ-2.2.12.'}
LIST = []
PRE['h'] = 'MQMQ-2.2.20.'
SYN = [('u:destination-type', 'd:destination-queue-type-values'), ('u:admin-type', 'd:administration-queue-type-values'), ('m:privacy-level', 'd:privacy-level-values'), ('h:6.sender-id-type', 'd:sender-identifier-type-values'),
       ('m:label-length', 'e:message-properties-header-label-length'), ('h:5.transaction-identifier', 'd:transaction-identifier'), ('q:3.1.7.1.3.next-number', 'h:5.sequence-number'), ('q:3.1.7.1.3.previous-number', 'h:5.previous'), ('q:3.1.7.1.3.previous-number', 'd:transaction-previous-sequence-number'),
       ('h:6.sender-id-sid', 'd:sender-identifier-sid'), ('h:6.sender-id-guid', 'd:sender-identifier-queue-manager'), ('h:6.sender-id-none', 'd:sender-identifier-none'), ('q:3.1.1.5.first-number', 'h:5.sequence-number-from-one'), ('q:2.2.2.1.reserved', 'q:2.2.2.1.reserved')]
def M(name, section, sentence, brk, reqs, fn, provable=True, why=None, hello=True, **sess):
    ids = []
    for r in reqs.split():
        k, x = r.split(':', 1); i = PRE[k] + x
        assert i in IDS, i
        ids.append(i)
    assert len(ids) <= 5
    for x, y in SYN:
        i, j = [PRE[z.split(':', 1)[0]] + z.split(':', 1)[1] for z in (x, y)]
        assert j in IDS, j
        if i in ids and j not in ids and len(ids) < 5: ids.append(j)
    LIST.append((name, section, sentence, brk, ids, fn, provable, why, hello, sess))
def val(s, k): return {a: (v(s) if callable(v) and a not in ('post',) else v) for a, v in k.items()}
def u(**k):
    def f(s):
        s.um(body=b'first', label='a'); s.um(**val(s, k))
    return f
def u0(**k): return lambda s: s.um(**val(s, k))
def ud(**k):  # direct session
    return u(**k)
A = b'hello world, this is a body.'
SH, D_ = 'should', dict(direct=True)
G1 = bytes(range(1, 17)); G2 = bytes(range(33, 49)); G3 = bytes(range(65, 81))
# ------------------------------------------------------------------ BaseHeader
S = '2.2.19.1'
V = 'VersionNumber MUST be 0x10'
M('version-11', S, V, 'user message with VersionNumber 0x11', 'b:version-number', u(ver=0x11))
M('version-00', S, V, 'user message with VersionNumber 0', 'b:version-number', u(ver=0))
M('version-ec-20', S, V, 'EstablishConnection request with VersionNumber 0x20', 'b:version-number', lambda s: s.hello(ecq=dict(ver=0x20), upto=1), hello=False)
M('version-sessionack-ff', S, V, 'SessionAck with VersionNumber 0xFF', 'b:version-number', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, dict(ver=0xff))), )
V = 'Signature MUST be 0x524F494C'
M('signature-zero', S, V, 'Signature 0', 'b:signature', u(bsig=0))
M('signature-swapped', S, V, 'Signature written big-endian (ROIL)', 'b:signature', u(bsig=0x4C494F52))
M('signature-lior-lower', S, V, 'Signature in lower case letters', 'b:signature', u(bsig=0x726f696c))
M('signature-ec-response', S, V, 'EstablishConnection response with the Ping signature in the low half', 'b:signature', lambda s: (s.hello(ecr=dict(bsig=0x524F5548), upto=2), s.close(0)), hello=False)
M('signature-cp', S, V, 'ConnectionParameters request with Signature 0xFFFFFFFF', 'b:signature', lambda s: s.hello(cpq=dict(bsig=INF), upto=3), hello=False)
V = 'PacketSize MUST be the size of the whole packet with all padding'
M('size-plus4', S, V, 'PacketSize 4 more than the packet has; nothing follows', 'b:packet-size e:packet-size', u(body=A, dsize=4))
M('size-minus4', S, V, 'PacketSize 4 less than the headers need', 'b:packet-size b:packet-size-headers e:packet-size', u(body=A, dsize=-4))
M('size-without-padding', S, V, 'PacketSize leaves out the 3 padding bytes of MessagePropertiesHeader', 'b:packet-size e:packet-size m:padding', u(body=b'x' * 29, dsize=-3))
M('size-without-base', S, V, 'PacketSize leaves the BaseHeader out', 'b:packet-size e:packet-size', u(body=A, dsize=-16))
M('size-zero', S, V, 'PacketSize 0', 'b:packet-size e:packet-size', u(body=A, size=0))
M('size-15', S, V, 'PacketSize 15, less than the BaseHeader itself', 'b:packet-size', u(body=A, size=15))
M('size-big-endian', S, V, 'PacketSize in big-endian byte order', 'b:packet-size e:packet-size', u(body=A, size=lambda s: 0xb0000000))
M('size-ec-568', S, V, 'EstablishConnection response says 568 but has 572 bytes', 'b:packet-size', lambda s: (s.hello(ecr=dict(size=568), upto=2), s.close(0)), hello=False)
M('size-cp-28', S, V, 'ConnectionParameters response says 28 but has 32 bytes', 'b:packet-size', lambda s: (s.hello(cpr=dict(size=28)), s.close(0)), hello=False)
M('size-with-session-header', S, 'PacketSize MUST NOT include the SessionHeader', 'a message with SessionHeader whose PacketSize counts the 16 bytes of it', 'b:packet-size-session-header', lambda s: (s.um(dm=1), s.wait(.44), s.um(1, sess={}, size_with_sess=True), s.close(0)))
M('size-above-maximum', S, 'PacketSize has a maximum of 0x00400000', 'a message of 4 MB and 4 bytes, sizes all right', 'b:packet-size-maximum', u(body=lambda s: b'm' * (0x400004 - 124)))
M('size-claimed-4g', S, 'PacketSize has a maximum of 0x00400000', 'PacketSize 0x7FFFFFFF', 'b:packet-size-maximum b:packet-size', u(body=A, size=0x7fffffff))
M('in-user-message', '2.2.20', 'BaseHeader.Flags.IN MUST NOT be set in a UserMessage', 'IN set in a user message', 'p:not-internal', u(body=A, in_=1))
M('in-clear-ec', S, 'IN MUST be set in an EstablishConnection Packet', 'IN clear in the EstablishConnection request', 'b:internal-set', lambda s: s.hello(ecq=dict(bflags=3), upto=1), hello=False)
M('in-clear-cp', S, 'IN MUST be set in a ConnectionParameters Packet', 'IN clear in the ConnectionParameters response', 'b:internal-set', lambda s: (s.hello(cpr=dict(bflags=3)), s.close(0)), hello=False)
M('in-clear-sessionack', S, 'IN MUST be set in a SessionAck Packet', 'IN clear in a SessionAck', 'b:internal-set', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, dict(bflags=0x13)), s.close(0)))
M('sh-clear-sessionack', 'MS-MQQB 2.2.6', 'SH MUST be set in a SessionAck Packet', 'SH clear in a SessionAck that has its SessionHeader', '', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, dict(bflags=0x0b)), s.close(0)))
M('sh-without-header', S, 'If SH is set the packet MUST contain a SessionHeader', 'SH set in a user message, no SessionHeader follows', 'b:session-header-present p:session-header-by-flag', u(body=A, f_bsh=1))
M('session-header-without-sh', '2.2.20', 'SessionHeader is present if and only if SH is set', '16 bytes of SessionHeader behind a message with SH clear', 'p:session-header-absent', lambda s: (s.um(dm=1), s.wait(.44), s.um(1, sess={}, f_bsh=0), s.close(0)))
M('session-header-short', '2.2.20', 'SessionHeader has 16 bytes', 'a SessionHeader of 12 bytes (without WindowSize and Reserved)', 'b:session-header-present p:session-header-layout p:session-header-by-flag', lambda s: (s.um(dm=1), s.wait(.44), s.send(s.msg(1, sess=sesshdr(1, 1, 1, 1, 0)[:12]), 1), s.close(0)))
M('dh-without-header', S, 'If and only if DH is set the packet has a DebugHeader', 'DH set, no DebugHeader', 'b:debug-header-present p:debug-header-by-flag', u(body=A, f_dh=1))
M('debug-header-without-dh', S, 'If and only if DH is set the packet has a DebugHeader', 'a DebugHeader although DH is clear', 'b:debug-header-absent p:debug-header-by-flag b:packet-size-headers', u(body=A, f_dh=0, debug=dict(q=G1)))
for n, o in (('ec', 'ecq'), ('cp', 'cpq')):
    M('dh-in-' + n, S, 'DH MUST NOT be set in packets other than user messages', 'DH set in a session initialization request', 'b:debug-header-user-message-only', lambda s, o=o: s.hello(upto=1 if o == 'ecq' else 3, **{o: dict(bflags=0x2b)}), hello=False)
    M('ttrq-in-' + n, S, 'TimeToReachQueue MUST be 0xFFFFFFFF outside user messages', 'TimeToReachQueue of a request is 345600', 'b:time-to-reach-queue-internal', lambda s, o=o: (s.hello(**{o: dict(ttrq=345600)})), hello=False)
M('ttrq-ec-response-zero', S, 'TimeToReachQueue MUST be 0xFFFFFFFF outside user messages', 'TimeToReachQueue 0 in the EstablishConnection response', 'b:time-to-reach-queue-internal', lambda s: s.hello(ecr=dict(ttrq=0)), hello=False)
M('dh-in-sessionack', S, 'DH MUST NOT be set in packets other than user messages', 'DH set in a SessionAck', 'b:debug-header-user-message-only', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, dict(bflags=0x3b)), s.close(0)))
M('ttrq-sessionack', S, 'TimeToReachQueue MUST be 0xFFFFFFFF outside user messages', 'TimeToReachQueue 0x7FFFFFFF in a SessionAck', 'b:time-to-reach-queue-internal', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, dict(ttrq=0x7fffffff))))
M('tr-without-dh', S, 'If TR is set DH MUST be set', 'TR set, DH clear and no DebugHeader', 'b:trace-debug-header', u(body=A, tr=1))
M('priority-transactional', S, 'PR MUST be 0 in a transactional message', 'a transactional message of priority 5', 'b:transactional-priority-zero e:base-header-flags-pr-transactional', lambda s: s.um(tx=s.tx(), pr=5))
M('priority-transactional-default', S, 'PR MUST be 0 in a transactional message', 'a transactional message left at the default priority 3', 'b:transactional-priority-zero e:base-header-flags-pr-transactional', lambda s: s.um(tx=s.tx(), pr=3), direct=True)
for bit, nm in ((6, 'x9'), (7, 'x8'), (9, 'x6'), (10, 'x5'), (11, 'x4'), (12, 'x3'), (13, 'x2'), (14, 'x1'), (15, 'x0')):
    M('base-flags-' + nm, S, 'Flags.%s SHOULD NOT be set' % nm.upper(), 'bit %d of BaseHeader.Flags set in a user message' % bit, 'b:flags-' + nm, u(body=A, bx=1 << bit))
def expired(s, ttrq, age, **k):
    s.um(body=b'clock'); s.wait(1); s.um(ttrq=ttrq, sent=s.t // 1000000 - age, **k)
E_ = 'An expired message (now - SentTime > TimeToReachQueue) MUST NOT be sent'
M('expired-5', S, E_, 'a message sent an hour after SentTime with TimeToReachQueue 5', 'q:3.1.7.1.2.expired b:time-to-reach-queue-expired-sender', lambda s: expired(s, 5, 3600))
M('expired-zero', S, E_, 'TimeToReachQueue 0 and a SentTime of 60 s ago', 'q:3.1.7.1.2.expired b:time-to-reach-queue-expired-sender', lambda s: expired(s, 0, 60, dm=1), direct=True)
# ------------------------------------------------------------------ UserHeader
S = '2.2.19.2'
M('source-null', S, 'SourceQueueManager MUST identify the original sender', 'SourceQueueManager is the null GUID', 'u:source-queue-manager', u(src=NULLG))
M('address-null-private', S, 'QueueManagerAddress MUST be the GUID of the destination queue manager for a private queue', 'null GUID with DQ 3', 'u:address-host u:queue-manager-address', u(qma=NULLG))
M('address-null-public', S, 'QueueManagerAddress MUST be the GUID of the destination queue manager for a public queue', 'null GUID with DQ 5', 'u:address-host u:queue-manager-address', u(qma=NULLG, dest=('pub', G1)))
M('address-direct', S, 'QueueManagerAddress MUST be the null GUID with a direct format name', "the receiver's GUID with DQ 7", 'u:address-direct', u(qma=lambda s: s.q[1].guid), direct=True)
M('address-direct-own', S, 'QueueManagerAddress MUST be the null GUID with a direct format name', "the sender's own GUID with DQ 7 in a recoverable message", 'u:address-direct', u(qma=lambda s: s.q[0].guid, dm=1), direct=True)
M('sent-time-future', S, 'SentTime MUST be the time the packet was sent', 'SentTime a year ahead', 'u:sent-time', u(sent=lambda s: s.t // 1000000 + 31536000))
M('sent-time-zero', S, 'SentTime MUST be the time the packet was sent', 'SentTime 0 (1970)', 'u:sent-time', u(sent=0))
M('sent-time-milliseconds', S, 'SentTime counts seconds since 1970', 'SentTime is the low half of a count of milliseconds, far from now', 'u:sent-time', u(sent=lambda s: 0xF0000000 | (s.t // 1000 & 0xffffff)))
M('message-id-twice', S, 'A queue manager MUST give each message another identifier', 'two different messages with one MessageID', 'u:message-id-unique q:3.1.7.1.1.identifier t:3.ordinal-unique', lambda s: (s.um(body=b'one', label='one'), s.um(body=b'two, other', label='two', mid=s.q[0].mid)))
M('message-id-zero-twice', S, 'A queue manager MUST give each message another identifier', 'all messages have MessageID 0', 'u:message-id-unique q:3.1.7.1.1.identifier t:3.ordinal-unique', lambda s: (s.um(body=b'one', label='one', mid=0), s.um(body=b'two, other', label='two', mid=0, pr=1)), direct=True)
M('message-id-falls', 'MS-MQQB 3.1.7.1.1', 'MessageIdOrdinal rises by 1 with each message', 'the second message to the queue has a lower MessageID than the first', 'q:3.1.7.1.1.ordinal', lambda s: (s.um(body=b'one'), s.um(body=b'two', mid=s.q[0].mid - 40)))
for v in (0x1e, 0x1f): M('hop-count-%x' % v, S, 'RC MUST be within 0 and 0x1D', 'RC %d' % v, 'u:hop-count', u(rc=v))
for v in (2, 3): M('delivery-mode-%d' % v, S, 'DM MUST be 0 or 1', 'DM %d' % v, 'u:delivery-mode', u(dm=v))
for bit, nm in ((7, 'x1'), (24, 'x2'), (26, 'x3'), (27, 'x3'), (29, 'x4'), (31, 'x4')):
    M('user-flags-%s-%d' % (nm, bit), S, 'reserved bit %s of Flags SHOULD NOT be set' % nm.upper(), 'bit %d of UserHeader.Flags set' % bit, 'u:flags-' + nm, u(ux=1 << bit))
for v, q in ((1, ('pub', G1)), (2, ('id', 9)), (4, ('id', 9)), (6, ('full', G1, 9))):
    M('destination-type-%d' % v, S, 'DQ MUST be 0, 3, 5 or 7', 'DQ %d with a queue name of the layout AQ/RQ use for it' % v, 'u:destination-type', u(dq=v, dest=q))
for v, q in ((1, ('id', 9)), (4, ('id', 9))):
    M('admin-type-%d' % v, S, 'AQ MUST be 0, 2, 3, 5, 6 or 7', 'AQ %d' % v, 'u:admin-type', u(aq=v, admin=q if v == 4 else None, pflags=1))
M('admin-missing', S, 'An administration queue MUST be specified if any bit of MessagePropertiesHeader.Flags is set', 'PA and PR set, AQ 0', 'u:admin-queue-required', u(pflags=3))
M('admin-missing-na', S, 'An administration queue MUST be specified if any bit of MessagePropertiesHeader.Flags is set', 'NA set in a recoverable direct message, AQ 0', 'u:admin-queue-required', u(pflags=4, dm=1), direct=True)
M('admin-unwanted', S, 'The administration queue MUST NOT be specified if no bit of MessagePropertiesHeader.Flags is set', 'AQ 2 with a queue, MessagePropertiesHeader.Flags 0', 'u:admin-queue-absent', u(aq=2, admin=('id', 7)))
M('admin-unwanted-direct', S, 'The administration queue MUST NOT be specified if no bit of MessagePropertiesHeader.Flags is set', 'AQ 7 with a direct name, MessagePropertiesHeader.Flags 0', 'u:admin-queue-absent', u(aq=7, admin=('direct', 'OS:alpha\\private$\\adm')), direct=True)
M('admin-bytes-missing', S, 'AdminQueue MUST be present when AQ is 2, 3, 5, 6 or 7', 'AQ 6 but no AdminQueue in the header', 'u:admin-queue-present u:admin-private-other', u(aq=6, pflags=1))
M('response-bytes-missing', S, 'ResponseQueue MUST be present when RQ is 2, 3, 5, 6 or 7', 'RQ 5 but no ResponseQueue in the header', 'u:response-queue-present u:response-public', u(rq=5))
M('admin-bytes-none', S, 'AdminQueue MUST NOT be present when AQ is 0', 'AQ 0 with 16 bytes of a public queue', 'u:admin-queue-none u:admin-type-none', u(admin=('pub', G1)))
M('response-bytes-none', S, 'ResponseQueue MUST NOT be present when RQ is 0', 'RQ 0 with a private name of 20 bytes', 'u:response-queue-none u:response-type-none', u(resp=('full', G1, 3)))
M('response-same-with-name', S, 'ResponseQueue MUST NOT be present when RQ is 1', 'RQ 1 and the administration queue written a second time', 'u:response-queue-none u:response-type-same', u(pflags=1, aq=6, admin=('full', G1, 3), rq=1, resp=('full', G1, 3)))
M('response-6-short', '2.2.18.1.7.2', 'PrivateQueueFormatName is a GUID and 4 bytes', 'RQ 6 with the GUID alone', 't:7.2.layout u:response-private-other', u(rq=6, resp=('raw', G1)))
M('admin-5-long', '2.2.18.1.7.1', 'PublicQueueFormatName is one GUID', 'AQ 5 with a GUID and 4 more bytes', 't:7.1.layout u:admin-public', u(pflags=1, aq=5, admin=('raw', G1 + b'\x07\0\0\0')))
M('destination-5-short', '2.2.18.1.7.1', 'PublicQueueFormatName is one GUID', 'DQ 5 with the first 8 bytes of a GUID', 't:7.1.layout u:destination-public', u(dq=5, dest=('raw', G1[:8])))
M('destination-3-as-full', '2.2.18.1.5.1', 'PrivateQueueFormatNameId is 4 bytes', 'DQ 3 with GUID and number', 't:5.1.layout u:destination-private', u(dq=3, dest=('full', G1, 9)))
M('destination-3-two-bytes', '2.2.18.1.5.1', 'PrivateQueueFormatNameId is 4 bytes', 'DQ 3 with a number of 2 bytes', 't:5.1.layout u:destination-private', u(dq=3, dest=('raw', b'\x09\0')))
M('destination-7-as-guid', S, 'with DQ 7 the destination is a DirectQueueFormatName', 'DQ 7 with a GUID', 'u:destination-direct t:5.2.layout', u(dq=7, dest=('raw', b'\xfe\xff' + G1[2:])), direct=True)
M('queues-swapped', S, 'AdminQueue stands before ResponseQueue', 'AQ 7 and RQ 2, but the number stands before the direct name', 'u:admin-queue-layout u:response-queue-layout', u(pflags=1, aq=7, rq=2, admin=('id', 3), resp=('direct', 'OS:alpha\\private$\\adm')))
FL = [('sh', 'f_sh', 'security', 'sec', 'SecurityHeader'), ('th', 'f_th', 'transaction', 'tx', 'TransactionHeader'), ('cq', 'f_cq', 'connector', 'connector', 'ConnectorType'), ('mq', 'f_mq', 'multi-queue', 'mq', 'MultiQueueFormatHeader'), ('hh', 'f_hh', 'soap', 'soap', 'SoapHeader')]
def mqv(s, **k):
    d = dict(d=[('direct', 'OS:hostb\\private$\\orders', ), ('full', s.q[1].guid, 11)], a=[], r=[('full', G1, 7)]); d.update(k); return d
def secv(s, **k): d = dict(st=1, sid=sid(s.rng)); d.update(k); return d
VALS = dict(sec=lambda s: secv(s), tx=lambda s: s.tx(), connector=lambda s: G2, mq=lambda s: mqv(s), soap=lambda s: dict(h='<h/>a', b='<b/>a'))
for f, att, rq, fld, nm in FL:
    a1 = {'th': dict(dm=1, pr=0)}.get(f, {})
    r1 = 'u:%s-present' % (rq + ('-header' if f != 'cq' else '-type')); r2 = r1.replace('-present', '-absent')
    by = '' if f == 'cq' else ' p:%s-header-by-flag' % rq
    M('flag-%s-alone' % f, S, 'If Flags.%s is set the packet MUST contain %s' % (f.upper(), nm), 'flag set, %s missing' % nm, r1 + by, u(body=b'', **{att: 1}, **a1))
    M('header-%s-alone' % f, S, 'If Flags.%s is clear the packet MUST NOT contain %s' % (f.upper(), nm), '%s there, flag clear' % nm, r2 + by, u(body=A, **{att: 0, fld: VALS[fld]}))
M('mp-clear', S, 'Flags.MP MUST always be set', 'MP clear, MessagePropertiesHeader there', 'u:message-properties-flag', u(body=A, f_mp=0))
M('mp-clear-no-header', '2.2.20', 'MessagePropertiesHeader MUST be present', 'MP clear and no MessagePropertiesHeader', 'u:message-properties-flag p:message-properties-header-always p:required-headers', u(f_mp=0, nomph=True))
M('mp-no-header', S, 'a packet with MP set has a MessagePropertiesHeader', 'MP set, the packet ends behind UserHeader', 'u:message-properties-present p:message-properties-header-always p:required-headers', u(nomph=True))
M('mph-cut', '2.2.20', 'MessagePropertiesHeader MUST be present', 'the packet ends in the middle of the fixed part of MessagePropertiesHeader', 'p:message-properties-header-always u:message-properties-present', u(part={'mph': lambda b: b[:32]}))
M('user-header-missing', '2.2.20', 'UserHeader MUST be present', 'MessagePropertiesHeader follows BaseHeader directly', 'p:required-headers p:user-header-layout', u(part={'user': lambda b: b''}, body=A))
M('user-header-cut', '2.2.20', 'UserHeader MUST be present', 'PacketSize 40: the packet ends within UserHeader', 'p:required-headers p:user-header-layout', u(part={'user': lambda b: b[:24]}, nomph=True))
M('base-only', '2.2.20', 'required headers MUST appear in all user messages', 'a packet of BaseHeader alone, IN clear', 'p:required-headers p:message-properties-header-always', u(part={'user': lambda b: b''}, nomph=True))
M('http-flag', S, 'AH MUST NOT be set when sent', 'AH set in an ordinary message', 'u:http-flag r:1.2.srmp-headers-present', u(ah=1, body=A))
M('transactional-express', S, 'If TH is set DM MUST NOT be 0', 'a TransactionHeader in an express message', 'u:transactional-recoverable', lambda s: s.um(tx=s.tx(), dm=0))
M('connector-half', S, 'ConnectorType is 16 bytes', 'CQ set and 8 bytes', 'u:connector-type-present u:connector-type-layout', u(connector=G1[:8]))
# direct names
S5 = '2.2.18.1.5.2'
NM = 'OS:hostb\\private$\\orders'
def dn(text=NM, **o): return dict(dest=('direct', text, o))
cnt = 'Count is the length in bytes of the name up to and including the NUL'
DIR = [
 ('count-odd', cnt, 'Count one byte short', 't:5.2.count', dn(dcount=-1)),
 ('count-without-nul', cnt, 'Count leaves the NUL out', 't:5.2.count t:5.2.null-terminated', dn('OS:hostb\\private$\\order', dcount=-2)),
 ('count-with-padding', cnt, 'Count includes the 2 padding bytes', 't:5.2.count', dn('OS:hostb\\private$\\orders1', dcount=2)),
 ('count-characters', cnt, 'Count counts characters', 't:5.2.count', dn(count=25)),
 ('count-zero', cnt, 'Count 0 although a name follows', 't:5.2.count', dn(count=0)),
 ('count-beyond', cnt, 'Count 0xFFFE, beyond the packet', 't:5.2.count', dn(count=0xfffe)),
 ('count-big-endian', cnt, 'Count in big-endian order', 't:5.2.count', dn(count=0x3200)),
 ('no-nul', 'the name is null-terminated', 'name without NUL', 't:5.2.null-terminated', dn('OS:hostb\\private$\\orders1', nonul=1)),
 ('nul-inside', 'the name is null-terminated at its Count', 'a NUL in the middle of the name', 't:5.2.null-terminated t:5.2.count', dn('OS:hostb\\priv\0te$\\orders')),
 ('no-padding', 'the end is padded to a 4-byte boundary', 'name ending at 2 modulo 4, no padding', 't:5.2.layout', dn('OS:hostb\\private$\\orders1', nopad=1)),
 ('padding-6', 'the end is padded up to the next 4-byte boundary', 'padding of 6 bytes', 't:5.2.layout', dn('OS:hostb\\private$\\orders1', extrapad=4)),
 ('utf8', 'the name is a WCHAR buffer', 'name in UTF-8', 't:5.2.direct-format-name t:5.2.null-terminated', dict(dq=7, dest=('raw', P('<H', 26) + b'OS:hostb\\private$\\orders\0\0'))),
 ('utf16be', 'the name is a WCHAR buffer (little-endian)', 'name in UTF-16 big-endian', 't:5.2.direct-format-name', dict(dq=7, dest=('raw', P('<H', 50) + (NM + '\0').encode('utf-16-be')))),
]
GR = 'a direct format name follows DIRECT= Protocol : Address \\ QueueName (the wire leaves out DIRECT=)'
for n, t in (('prefix', 'DIRECT=' + NM), ('protocol-udp', 'UDP:10.0.0.2\\private$\\q'), ('no-protocol', 'hostb\\private$\\orders'), ('no-queue', 'OS:hostb'), ('empty-queue', 'OS:hostb\\private$\\'), ('slashes', 'OS:hostb/private$/orders'),
             ('no-colon', 'OS hostb\\private$\\orders'), ('queue-125', 'OS:hostb\\private$\\' + 'q' * 125), ('no-host', 'OS:\\private$\\orders'), ('private-no-dollar', 'OS:hostb\\private\\orders'),
             ('tcp-300', 'TCP:10.0.0.300\\private$\\orders'), ('tcp-three', 'TCP:10.0.0\\private$\\orders'), ('public', 'PUBLIC=01020304-0506-0708-090A-0B0C0D0E0F10'), ('empty', ''), ('system', 'OS:hostb\\SYSTEM$;OTHER'), ('comma', 'OS:hostb\\private$\\a,b'), ('plus', 'OS:hostb\\private$\\a+b'), ('quote', 'OS:hostb\\private$\\a"b')):
    pv = n not in ('comma', 'plus', 'quote')
    DIR.append(('grammar-' + n, GR, 'name is %r' % t[:60], 't:5.2.direct-format-name', dn(t)))
for n, s1, brk, rq, k in DIR:
    pr = not n.startswith('grammar') or n[8:] not in ('comma', 'plus', 'quote', 'prefix', 'system', 'tcp-three')
    M('direct-' + n, S5 if 'grammar' not in n else '2.1.2', s1, brk, rq, u(**k), provable=pr, why=None if pr else {'prefix': 'MS-MQMQ 2.1.2 itself has DIRECT= in the name; only the example shows it left out', 'system': 'may be read as a queue SYSTEM$ with a subqueue', 'tcp-three': 'three-part notation of an address'}.get(n[8:], 'MSMQ 1.0 queue names permit the character'), direct=True)
M('direct-admin-prefix', S5, GR, 'AdminQueue begins with DIRECT=', 't:5.2.direct-format-name u:admin-direct', u(pflags=2, aq=7, admin=('direct', 'DIRECT=OS:alpha\\private$\\adm')), provable=False, why='MS-MQMQ 2.1.2 itself has DIRECT= in the name')
M('direct-admin-count', S5, cnt, 'Count of AdminQueue too small by 4', 't:5.2.count t:5.2.null-terminated', u(pflags=2, aq=7, admin=('direct', 'OS:alpha\\private$\\adm', dict(dcount=-4))))
M('direct-response-no-nul', S5, 'the name is null-terminated', 'ResponseQueue without NUL', 't:5.2.null-terminated', u(rq=7, resp=('direct', 'OS:alpha\\private$\\re', dict(nonul=1))))
M('direct-response-grammar', '2.1.2', GR, 'ResponseQueue is a path name (alpha\\private$\\reply)', 't:5.2.direct-format-name u:response-direct', u(rq=7, resp=('direct', 'alpha\\private$\\reply')))
M('direct-response-no-padding', S5, 'the end is padded to a 4-byte boundary', 'ResponseQueue unpadded', 't:5.2.layout', u(rq=7, resp=('direct', 'OS:alpha\\private$\\reply', dict(nopad=1))))
# ------------------------------------------------------------------ MessagePropertiesHeader
S = '2.2.19.3'
M('label-251', S, 'LabelLength is at most 0xFA', 'label of 250 characters and NUL, LabelLength 0xFB', 'm:label-length-maximum m:label-rule', u(label='L' * 250, body=A))
M('label-255', S, 'LabelLength is at most 0xFA', 'label of 254 characters and NUL, LabelLength 0xFF', 'm:label-length-maximum m:label-rule', u(label='M' * 254))
ll = 'LabelLength MUST be the number of WCHARs, the NUL included'
M('label-length-without-nul', S, ll, 'LabelLength leaves out the NUL; all else as if', 'm:label-length m:label-format', u(label='order 17', label_len=8, body=A, msize=len(A)))
M('label-no-nul', S, 'the label ends with a NUL', 'label without NUL', 'm:label-format m:label-rule m:label-length', u(label_raw=w('order 17'), body=A))
M('label-nul-inside', S, 'only the last WCHAR of the label is NUL', 'NUL inside the label', 'm:label-format m:label-rule', u(label_raw=w('ord\0r 17\0'), body=A))
M('label-two-nuls', S, 'only the last WCHAR of the label is NUL', 'two NULs at the end, both counted', 'm:label-format m:label-rule', u(label_raw=w('order 17\0\0'), body=A), direct=True)
M('label-length-bytes', S, ll, 'LabelLength counts bytes', 'm:label-length m:label-layout', u(label='order number 17', label_len=32, body=b''))
M('label-length-zero', S, 'with LabelLength 0 the label MUST NOT be present', 'LabelLength 0 but label there', 'm:label-absent m:label-length', u(label='order 17', label_len=0, body=A))
M('label-ascii', S, 'the label is a Unicode string', 'label in ASCII with one NUL byte, padded to WCHARs', 'm:label-format m:label-rule', u(label_raw=b'order 18\0.', body=A))
for v in (0x0200, 0x1000, 0x1e02): M('class-%04x' % v, S, 'MessageClass is a predefined class or a custom one within the mask 0xE1FF', 'MessageClass 0x%04X' % v, 'm:message-class t:6.custom-class', u(cls=v))
for v in (4, 7, 13, 30, 64, 0xff, 0x2003, 0x10003):
    M('body-type-%x' % v, S, 'BodyType MUST be a PROPVARIANT type constant of 2.2.12', 'BodyType 0x%X' % v, 'm:body-type', u(btype=v, body=A))
M('body-type-variant', '2.2.12', 'VT_VARIANT MUST appear with VT_VECTOR', 'BodyType 12', 'v:vt-variant-vector', u(btype=12, body=A))
M('body-type-vector', '2.2.12', 'VT_VECTOR is a bit combined with a type', 'BodyType 0x1000 alone with a body', 'v:vt-vector-combined', u(btype=0x1000, body=A), provable=False, why='0x1000 alone is VT_VECTOR combined with VT_EMPTY (0)')
ms = 'MessageSize MUST be the size of the body in bytes'
M('message-size-larger', S, ms, 'MessageSize 64 more than there is', 'm:message-size e:message-size', u(body=A, msize=92))
M('message-size-smaller', S, ms, 'MessageSize 8 less than there is', 'm:message-size e:message-size b:packet-size-headers', u(body=A, msize=20, alloc=20))
M('message-size-zero', S, 'with MessageSize 0 the body MUST NOT be present', 'MessageSize 0 with a body of 28 bytes', 'm:message-body-absent m:message-size e:message-size', u(body=A, msize=0, alloc=0))
M('message-size-max', S, 'MessageSize lies within the packet', 'MessageSize 0xFFFFFFFF', 'm:message-size e:message-size', u(body=A, msize=INF, alloc=INF))
M('message-size-chars', S, ms, 'MessageSize counts WCHARs of a VT_LPWSTR body', 'm:message-size e:message-size b:packet-size-headers', u(body=wz('a body in Unicode'), msize=18, alloc=18, btype=31))
M('alloc-smaller', S, 'AllocationBodySize is the size allocated for the body', 'AllocationBodySize half of MessageSize', 'm:allocation-body-size', u(body=A, alloc=14))
M('alloc-zero', S, 'AllocationBodySize is the size allocated for the body', 'AllocationBodySize 0 with a body', 'm:allocation-body-size', u(body=A, alloc=0, dm=1), direct=True)
for v in (2, 4, 6, 0x100): M('privacy-%x' % v, S, 'PrivacyLevel MUST be 0, 1, 3 or 5', 'PrivacyLevel %d in an encrypted message' % v, 'm:privacy-level', lambda s, v=v: s.um(privacy=v, enc=0x6602, body=b'z' * 32, sec=secv(s, eb=1, de=0, key=simpleblob(0x6602, s.rng), prov=provinfo(1, CSP[1]))))
for v in (0, 0x8005, 0x8006, 0x800D, 0x800F, 0x0004): M('hash-%04x' % v, S, 'HashAlgorithm is one of the six listed', 'HashAlgorithm 0x%04X' % v, 'm:hash-algorithm', u(hash=v, body=A))
for v in (0, 0x6601, 0x6603, 0x6611, 0x2400): M('encryption-%04x' % v, S, 'EncryptionAlgorithm MUST be one of the five listed', 'EncryptionAlgorithm 0x%04X' % v, 'm:encryption-algorithm', u(enc=v, body=A))
def encm(s, pl, alg, body=b'z' * 32, **k):
    return s.um(privacy=pl, enc=alg, body=body, sec=secv(s, eb=1, de=0, key=simpleblob(alg, s.rng), prov=provinfo(CSPT[pl], CSP[pl])), **k)
for pl, al in ((1, 0x660E), (3, 0x6610), (3, 0x660F), (5, 0x6602), (5, 0x6801)):
    M('privacy-%d-with-%04x' % (pl, al), S, 'EncryptionAlgorithm MUST be set according to PrivacyLevel', 'PrivacyLevel %d with algorithm 0x%04X' % (pl, al), 'm:encryption-by-privacy', lambda s, pl=pl, al=al: encm(s, pl, al))
pk = 'AES and RC2 bodies are padded as PKCS5 does'
M('aes-not-block', S, pk, 'AES body of 30 bytes', 'm:initialization-vector', lambda s: encm(s, 5, 0x6610, b'q' * 30))
M('rc2-not-block', S, pk, 'RC2 body of 13 bytes', 'm:initialization-vector', lambda s: encm(s, 1, 0x6602, b'q' * 13))
M('aes-empty', S, pk, 'AES body of 0 bytes (PKCS5 always adds)', 'm:initialization-vector', lambda s: encm(s, 5, 0x660E, b''))
M('ext-size-larger', S, 'ExtensionSize MUST be the length of ExtensionData', 'ExtensionSize beyond the packet', 'm:extension-size e:extension-size', u(ext=b'e' * 12, xsize=400, body=A))
M('ext-size-smaller', S, 'ExtensionSize MUST be the length of ExtensionData', 'ExtensionSize 8 less, MessageSize as it is', 'm:extension-size e:extension-size b:packet-size-headers', u(ext=b'e' * 12, xsize=4, body=A))
M('ext-size-zero', S, 'with ExtensionSize 0 ExtensionData MUST NOT be present', 'ExtensionSize 0 with 12 bytes', 'm:extension-data-absent m:extension-size b:packet-size-headers e:extension-size', u(ext=b'e' * 12, xsize=0, body=A))
M('mph-unpadded', S, 'the header MUST be a multiple of 4 bytes', 'body of 29 bytes, no padding, PacketSize odd', 'm:padding', u(body=b'p' * 29, mph_nopad=True))
M('mph-unpadded-before-debug', S, 'the header MUST be a multiple of 4 bytes', 'body of 30 bytes unpadded, a DebugHeader right behind it', 'm:padding', u(body=b'p' * 30, mph_nopad=True, debug=dict(q=G1)))
M('mph-padding-8', S, 'the header is padded to the next multiple of 4', 'padded to a multiple of 8 (4 bytes too many)', 'b:packet-size-headers m:padding', u(body=b'p' * 28, part={'mph': lambda b: b + b'\0' * 4}))
M('pflags-10', S, 'unused bits of Flags SHOULD NOT be set', 'bit 4 of MessagePropertiesHeader.Flags set (with PA and an administration queue)', 'm:flags-unused', u(pflags=0x11, aq=2, admin=('id', 5)))
M('pflags-80', S, 'unused bits of Flags SHOULD NOT be set', 'bit 7 of MessagePropertiesHeader.Flags set (with NR and an administration queue)', 'm:flags-unused', u(pflags=0x88, aq=2, admin=('id', 5)))
M('privacy-without-eb', '2.2.20.6', 'EB is set exactly when PrivacyLevel is not None', 'PrivacyLevel 3 with a SecurityHeader whose EB is clear', 'e:encrypted-flag m:privacy-enhanced', lambda s: s.um(privacy=3, enc=0x6801, body=A, sec=secv(s)))
M('eb-without-privacy', '2.2.20.6', 'EB is set exactly when PrivacyLevel is not None', 'PrivacyLevel 0 with EB set and a key', 'e:encrypted-flag m:privacy-none', lambda s: s.um(privacy=0, enc=0x6801, body=A, sec=secv(s, eb=1, de=0, key=simpleblob(0x6801, s.rng), prov=provinfo(1, CSP[1]))))
M('privacy-no-security', '2.2.20.6', 'an encrypted message carries its key in a SecurityHeader with EB', 'PrivacyLevel 1, no SecurityHeader at all', 'm:privacy-base e:encrypted-flag', u(privacy=1, enc=0x6602, body=b'z' * 16))
# ------------------------------------------------------------------ order of headers
S = '2.2.20'
O = ORDER
def od(*x): return list(x)
M('order-sec-tx', S, 'TransactionHeader stands before SecurityHeader', 'SecurityHeader before TransactionHeader', 'p:transaction-header-layout p:security-header-layout', lambda s: s.um(tx=s.tx(), sec=secv(s), body=A, order=od('user', 'sec', 'tx', 'mph')))
M('order-mph-sec', S, 'SecurityHeader stands before MessagePropertiesHeader', 'MessagePropertiesHeader before SecurityHeader', 'p:security-header-layout p:message-properties-header-layout', u(sec=lambda s: secv(s), body=A, order=od('user', 'mph', 'sec')))
M('order-mph-tx', S, 'TransactionHeader follows UserHeader', 'TransactionHeader behind MessagePropertiesHeader', 'p:transaction-header-layout p:message-properties-header-layout', lambda s: s.um(tx=s.tx(), body=A, order=od('user', 'mph', 'tx')))
M('order-debug-first', S, 'DebugHeader follows MessagePropertiesHeader', 'DebugHeader before MessagePropertiesHeader', 'p:debug-header-layout p:message-properties-header-layout', u(debug=dict(q=G1), tr=1, body=A, order=od('user', 'dbg', 'mph')))
M('order-soap-debug', S, 'DebugHeader stands before SoapHeader', 'SoapHeader before DebugHeader', 'p:debug-header-layout p:soap-header-layout', u(debug=dict(q=G1), soap=dict(h='<h/>a', b='<b/>a'), body=A, order=od('user', 'mph', 'soap', 'dbg')))
M('order-mqf-soap', S, 'SoapHeader stands before MultiQueueFormatHeader', 'MultiQueueFormatHeader before SoapHeader', 'p:soap-header-layout p:multi-queue-header-layout', u(mq=lambda s: mqv(s), soap=dict(h='<h/>a', b='<b/>a'), body=A, order=od('user', 'mph', 'mqf', 'soap')))
M('order-mqf-mph', S, 'MultiQueueFormatHeader stands behind MessagePropertiesHeader', 'MultiQueueFormatHeader before MessagePropertiesHeader', 'p:multi-queue-header-layout p:message-properties-header-layout', u(mq=lambda s: mqv(s), body=A, order=od('user', 'mqf', 'mph')))
M('order-tx-user', S, 'UserHeader follows BaseHeader', 'TransactionHeader before UserHeader', 'p:user-header-layout p:transaction-header-layout', lambda s: s.um(tx=s.tx(), body=A, order=od('tx', 'user', 'mph')))
M('session-header-first', S, 'SessionHeader is last', 'SessionHeader between UserHeader and MessagePropertiesHeader', 'p:session-header-layout p:message-properties-header-layout', lambda s: (s.um(dm=1), s.wait(.44), s.um(1, f_bsh=1, dsize=-16, part={'user': lambda b: b + sesshdr(**s.sh(1, useq=1))}), s.close(0)))
M('mph-twice', S, 'a user message has one MessagePropertiesHeader', 'MessagePropertiesHeader twice', 'b:packet-size-headers', u(body=A, part={'mph': lambda b: b + b}))
M('user-twice', S, 'MessagePropertiesHeader follows UserHeader', 'UserHeader twice', 'p:message-properties-header-layout b:packet-size-headers', u(body=A, part={'user': lambda b: b + b}))
M('trailing-4', '2.2.19.1', 'the packet is its headers and their padding', '4 zero bytes behind the last header, counted in PacketSize', 'b:packet-size-headers', u(body=A, tail=b'\0' * 4))
M('trailing-64', '2.2.19.1', 'the packet is its headers and their padding', '64 bytes of something behind the last header', 'b:packet-size-headers', u(body=A, tail=b'garbage!' * 8, dm=1), direct=True)
exec(open(HERE + '/mut2.py').read())
exec(open(HERE + '/mut3.py').read())
# ------------------------------------------------------------------ run
def run():
    import os
    for f in os.listdir(HERE + '/mutations'): os.remove(HERE + '/mutations/' + f)
    names = set(); out = []
    for i, (name, sec, sent, brk, ids, fn, prov, why, hello, so) in enumerate(LIST):
        assert name not in names, name
        names.add(name)
        rng = Rng(zlib.crc32(name.encode()))
        a = QM(rng, '10.0.%d.%d' % (rng.randint(0, 9), rng.randint(2, 120)), 'alpha'); b = QM(rng, '10.0.%d.%d' % (rng.randint(10, 19), rng.randint(2, 120)), 'hostb')
        cap = Cap(); t = (1700000000 + rng.randint(0, 50000000)) * 1000000 + rng.randint(0, 999999)
        s = Sess(cap, a, b, rng, t, rtt=rng.randint(2000, 50000), **{k: v for k, v in so.items() if k == 'direct'})
        for k, v in so.items(): setattr(s, k, v)
        s.closed = False; oc = s.close
        def close(d=1, dt=15000): 
            if not s.closed and s.tcp: s.closed = True; oc(d, dt)
        s.close = close
        try:
            if hello: s.hello()
            fn(s); s.close()
        except Exception as e:
            print('FAIL', name); raise
        f = 'mutations/%03d-%s.pcap' % (i + 1, name); cap.write(HERE + '/' + f)
        d = dict(file=f, name=name, section=sec, sentence=sent, **{'break': brk}, requirements=ids, provable=prov)
        if not prov: d['why'] = why
        out.append(d)
    with open(HERE + '/mutations.jsonl', 'w') as fo:
        for d in out: fo.write(json.dumps(d) + '\n')
    print(len(out), 'mutations,', sum(d['provable'] for d in out), 'provable')
if __name__ == '__main__': run()
