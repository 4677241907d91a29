# ---- InternalHeader
S = 'MS-MQQB 2.2.1'
def H(k, **o): return lambda s: (s.hello(**{k: o}), )
def H1(k, n, **o): return lambda s: (s.hello(upto=n, **{k: o}), s.close(1 if n % 2 else 0))
def SA(over={}, **o): return lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, over, **o), s.close(0))
for k, n in (('ecq', 1), ('ecr', 2), ('cpq', 3), ('cpr', 4)):
    M('internal-reserved-' + k, S, 'InternalHeader.Reserved MUST be zero', 'Reserved not zero in ' + k, 'q:2.2.1.reserved', lambda s, k=k, n=n: s.hello(**{k: dict(ires=0x100 * n + 1)}), hello=False)
M('internal-reserved-sessionack', S, 'InternalHeader.Reserved MUST be zero', 'Reserved 0xCDCD in a SessionAck', 'q:2.2.1.reserved', SA(dict(ires=0xcdcd)))
for v in (0, 4, 8, 15): M('pt-%d' % v, S, 'PT MUST be 1, 2 or 3', 'first packet has PT %d' % v, 'q:2.2.1.packet-type', H1('ecq', 1, pt=v), hello=False)
M('pt-5-cp', S, 'PT MUST be 1, 2 or 3', 'ConnectionParameters with PT 5', 'q:2.2.1.packet-type', H1('cpq', 3, pt=5), hello=False)
M('pt-7-sessionack', S, 'PT MUST be 1, 2 or 3', 'SessionAck with PT 7', 'q:2.2.1.packet-type', SA(dict(pt=7)))
M('pt-ack-of-ec', 'MS-MQQB 2.2.3', 'PT of an EstablishConnection MUST be 2', 'EstablishConnection request of 572 bytes with PT 3', 'q:2.1.1.initialization b:packet-size-headers', H1('ecq', 1, pt=3), hello=False)
M('pt-cp-as-2', 'MS-MQQB 2.2.2', 'PT of a ConnectionParameters MUST be 3', 'ConnectionParameters of 32 bytes with PT 2', 'q:2.1.1.initialization b:packet-size-headers', H1('cpq', 3, pt=2), hello=False)
M('cs-sessionack', S, 'CS MUST NOT be set in a SessionAck', 'CS set in a SessionAck', 'q:2.2.1.refused-elsewhere', SA(dict(cs=1)))
M('cs-sessionack-direct', S, 'CS MUST NOT be set in a SessionAck', 'CS set in the second SessionAck of a session', 'q:2.2.1.refused-elsewhere', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1), s.um(dm=1), s.wait(.499), s.ack(1, dict(cs=1))), direct=True)
for b in (5, 8, 12, 15): M('internal-unused-%d' % b, S, 'unused bits SHOULD NOT be set', 'bit %d of InternalHeader.Flags set' % b, 'q:2.2.1.unused-bits', (H('ecq', ix=1 << b) if b < 10 else SA(dict(ix=1 << b))), hello=b >= 10)
# ---- EstablishConnection
S = 'MS-MQQB 2.2.3.1'
for v in (0, 0x01, 0x20): M('ec-re-%02x' % v, S, 'OperatingSystem.RE MUST be 0x10', 'RE 0x%02X in the request' % v, 'q:2.2.3.1.re', H('ecq', re=v), hello=False)
M('ec-re-response', S, 'OperatingSystem.RE MUST be 0x10', 'RE 0x11 in the response', 'q:2.2.3.1.re', H('ecr', re=0x11), hello=False)
M('ec-reserved', S, 'Reserved MUST be zero', 'EstablishConnectionHeader.Reserved 0x5A5A in the request', 'q:2.2.3.1.reserved', H('ecq', res=0x5a5a), hello=False)
M('ec-reserved-response', S, 'Reserved MUST be zero', 'EstablishConnectionHeader.Reserved 1 in the response', 'q:2.2.3.1.reserved', H('ecr', res=1), hello=False)
for b in (11, 15): M('ec-unused-%d' % b, S, 'unused bits SHOULD NOT be set', 'bit %d of OperatingSystem set' % b, 'q:2.2.3.1.unused-bits', H('ecq', ox=1 << b), hello=False)
pd = 'each byte of Padding of a response MUST be 0x5A'
M('ec-padding-zero', S, pd, 'padding of zeros', 'q:2.2.3.1.padding', H('ecr', pad=b'\0' * 512), hello=False)
M('ec-padding-last', S, pd, 'last byte 0', 'q:2.2.3.1.padding', H('ecr', pad=b'\x5a' * 511 + b'\0'), hello=False)
M('ec-padding-first', S, pd, 'first byte 0xA5', 'q:2.2.3.1.padding', H('ecr', pad=b'\xa5' + b'\x5a' * 511), hello=False)
M('ec-padding-echo', S, pd, 'the padding of the request sent back', 'q:2.2.3.1.padding', lambda s: s.hello(ecq=dict(pad=bytes(range(256)) * 2), ecr=dict(pad=bytes(range(256)) * 2)), hello=False)
M('ec-short', 'MS-MQQB 2.2.3', 'EstablishConnectionHeader has 552 bytes', 'request of 60 bytes without Padding', 'b:packet-size-headers', H1('ecq', 1, pad=b''), hello=False)
M('ec-short-256', 'MS-MQQB 2.2.3', 'Padding is 512 bytes', 'response with a Padding of 256 bytes', 'b:packet-size-headers', H1('ecr', 2, pad=b'\x5a' * 256), hello=False)
M('ec-long', 'MS-MQQB 2.2.3', 'Padding is 512 bytes', 'request with a Padding of 520 bytes', 'b:packet-size-headers', H1('ecq', 1, pad=b'\x5a' * 520), hello=False)
S = 'MS-MQQB 3.1.5.3.1'
M('ec-se-response', S, 'the response MUST repeat SE', 'SE 1 in the request, 0 in the response', 'q:3.1.5.3.1.se', H('ecr', se=0), hello=False)
M('ec-se-response-pinged', S, 'the response MUST repeat SE', 'SE 0 (pinged) in the request, 1 in the response', 'q:3.1.5.3.1.se', lambda s: (s.ping(), s.hello(ecr=dict(se=1))), hello=False)
M('ec-client-guid', S, 'the response MUST repeat ClientGuid', "ClientGuid of the response is the acceptor's own", 'q:3.1.5.3.1.client-guid', lambda s: (s.hello(ecr=dict(client=s.q[1].guid), upto=2), s.close(0)), hello=False)
M('ec-client-guid-null', S, 'the response MUST repeat ClientGuid', 'ClientGuid null in the response', 'q:3.1.5.3.1.client-guid', H1('ecr', 2, client=NULLG), hello=False)
M('ec-guids-swapped', S, 'the response MUST repeat ClientGuid and name the acceptor in ServerGuid', 'ClientGuid and ServerGuid swapped in the response', 'q:3.1.5.3.1.client-guid q:3.1.5.3.1.server-guid', lambda s: (s.hello(ecr=dict(client=s.q[1].guid, server=s.q[0].guid), upto=2), s.close(0)), hello=False)
M('ec-server-guid', S, 'ServerGuid of the response is the acceptor, the one asked for', 'another ServerGuid than the one asked for, CS clear', 'q:3.1.5.3.1.server-guid', H1('ecr', 2, server=G3), hello=False)
M('ec-server-null', S, 'ServerGuid of the response MUST be the identifier of the acceptor', 'null GUID sent back in a direct session', 'q:3.1.5.3.1.server-guid', H1('ecr', 2, server=NULLG), hello=False, direct=True)
M('ec-timestamp', S, 'the response MUST repeat TimeStamp', "the acceptor's own time since boot", 'q:3.1.5.3.1.time-stamp', H('ecr', ts=123456), hello=False)
M('ec-timestamp-zero', S, 'the response MUST repeat TimeStamp', 'TimeStamp 0', 'q:3.1.5.3.1.time-stamp', H('ecr', ts=0), hello=False, direct=True)
M('ec-timestamp-bigendian', S, 'the response MUST repeat TimeStamp', 'TimeStamp with its bytes reversed', 'q:3.1.5.3.1.time-stamp', lambda s: (s.connect(), s.raw(0, s.ecreq(ts=0x12345678)), s.raw(1, s.ecres(ts=0x78563412)), s.raw(0, s.cpreq()), s.raw(1, s.cpres())), hello=False)
M('ec-refuses-valid-null', S, 'CS MUST be 0 when ServerGuid is null', 'CS set in the answer to a request with null ServerGuid', 'q:3.1.5.3.1.cs', H1('ecr', 2, cs=1), hello=False, provable=False, why='MS-MQQB 2.2.1 lets CS be set over server policies such as quotas', direct=True)
M('ec-refuses-valid', S, 'CS MUST be 0 when ServerGuid is the own identifier', 'CS set although ServerGuid of request and response agree', 'q:3.1.5.3.1.cs', H1('ecr', 2, cs=1), hello=False, provable=False, why='MS-MQQB 2.2.1 lets CS be set over server policies such as quotas')
M('ec-accepts-other', S, 'CS MUST be 1 when the request is for another queue manager', "the request asks for another GUID; the response has the acceptor's own and CS clear", 'q:3.1.5.3.1.cs q:3.1.5.3.1.server-guid', lambda s: (s.hello(ecq=dict(server=G3), ecr=dict(server=s.q[1].guid), upto=2), s.close(0)), hello=False)
M('ec-request-cs', 'MS-MQQB 3.1.5.2.3', 'CS of a request MUST be 0', 'CS set in the EstablishConnection request', 'q:3.1.5.2.3.cs', H('ecq', cs=1) if 0 else (lambda s: (s.connect(), s.raw(0, s.ecreq(cs=1)), s.raw(1, s.ecres(cs=0)), s.raw(0, s.cpreq()), s.raw(1, s.cpres()))), hello=False)
M('ec-se-after-ping', 'MS-MQQB 2.2.3.1', 'SE MUST be 0 when a Ping Request was sent', 'SE 1 after a ping', 'q:2.2.3.1.se', lambda s: (s.ping(), s.hello(ecq=dict(se=1))), hello=False)
M('ec-se-no-ping', 'MS-MQQB 2.2.3.1', 'SE MUST be 1 when no Ping Request was sent', 'SE 0 without any ping', 'q:2.2.3.1.se', H('ecq', se=0), hello=False, provable=False, why='the ping may not have been captured')
M('ec-os-ping', 'MS-MQQB 2.2.7', 'RC of the ping and OS of the request tell the same kind of system', 'RC clear (server) in the ping, OS 0 (no server) in the request', 'q:2.2.3.1.os', lambda s: (s.ping(), s.hello(ecq=dict(os=0))), hello=False)
def srv(s, g, dest):
    s.hello(ecq=dict(server=g), ecr=dict(server=s.q[1].guid)); s.um(**dest)
M('ec-server-direct-named', 'MS-MQQB 3.1.5.2.3', 'ServerGuid MUST be null if a direct format name is used', 'session with ServerGuid for a message with DQ 7', 'q:3.1.5.2.3.server-guid', lambda s: srv(s, s.q[1].guid, dict(qma=NULLG, dest=('direct', NM))), hello=False)
M('ec-server-null-private', 'MS-MQQB 3.1.5.2.3', 'ServerGuid MUST be the GUID of the remote queue manager if no direct format name is used', 'session without ServerGuid for messages with DQ 3', 'q:3.1.5.2.3.server-guid', lambda s: srv(s, NULLG, dict(body=A)), hello=False)
# ---- ConnectionParameters
S = 'MS-MQQB 2.2.2.1'
for v in (0, 499, 120001, INF): M('cp-rat-%d' % v, S, 'RecoverableAckTimeout lies between 500 and 120000', 'RecoverableAckTimeout %d in request and response' % v, 'q:2.2.2.1.recoverable-ack-timeout', H('cpq', rat=v), hello=False)
for v in (0, 20, 19999, 120001): M('cp-at-%d' % v, S, 'AckTimeout lies between 20000 and 120000', 'AckTimeout %d in request and response' % v, 'q:2.2.2.1.ack-timeout', H('cpq', at=v), hello=False)
M('cp-reserved', S, 'Reserved MUST be 0', 'Reserved 0x0040 in the request', 'q:2.2.2.1.reserved', lambda s: s.hello(cpq=dict(res=0x40), cpr=dict(res=0)), hello=False)
M('cp-reserved-response', S, 'Reserved MUST be 0', 'Reserved 0xFFFF in the response', 'q:2.2.2.1.reserved', H('cpr', res=0xffff), hello=False)
M('cp-short', 'MS-MQQB 2.2.2', 'ConnectionParametersHeader has 12 bytes', 'request of 28 bytes', 'b:packet-size-headers', lambda s: (s.hello(upto=2), s.raw(0, base(0x0b, 28) + internal(3) + P('<II', 500, 20000))), hello=False)
M('cp-long', 'MS-MQQB 2.2.2', 'ConnectionParametersHeader has 12 bytes', 'request of 40 bytes', 'b:packet-size-headers', H1('cpq', 3, tail=b'\0' * 8), hello=False)
M('cp-cs-request', 'MS-MQQB 3.1.5.3.2', 'CS of a ConnectionParameters request MUST be 0', 'CS set in the request', 'q:3.1.5.3.2.cs', lambda s: s.hello(cpq=dict(cs=1), cpr=dict(cs=0)), hello=False)
M('cp-cs-response', 'MS-MQQB 3.1.5.4.1', 'CS of a ConnectionParameters response MUST be 0', 'CS set in the response', 'q:3.1.5.4.1.cs', H1('cpr', 4, cs=1), hello=False)
M('cp-rat-response', 'MS-MQQB 3.1.5.4.1', 'the response MUST repeat RecoverableAckTimeout', 'RecoverableAckTimeout 1000 instead of 500', 'q:3.1.5.4.1.recoverable-ack-timeout', H('cpr', rat=1000), hello=False)
M('cp-at-response', 'MS-MQQB 3.1.5.4.1', 'the response MUST repeat AckTimeout', 'AckTimeout 120000 instead of 20000', 'q:3.1.5.4.1.ack-timeout', H('cpr', at=120000), hello=False)
M('cp-swapped-response', 'MS-MQQB 3.1.5.4.1', 'the response MUST repeat both timeouts', 'both timeouts swapped in the response (20000 and 21000 asked)', 'q:3.1.5.4.1.recoverable-ack-timeout q:3.1.5.4.1.ack-timeout', lambda s: s.hello(cpq=dict(rat=21000, at=22000), cpr=dict(rat=22000, at=21000)), hello=False, rtt=2625000)
M('cp-rat-not-8-round-trips', 'MS-MQQB 3.1.5.3.2', 'RecoverableAckTimeout is 8 times the round trip of EstablishConnection', 'round trip of a few ms, RecoverableAckTimeout 30000', 'q:3.1.5.3.2.round-trip', H('cpq', rat=30000), hello=False)
# ---- session initialization order
S = 'MS-MQQB 2.1.1'; I_ = 'a session begins with the EstablishConnection and ConnectionParameters exchange, once, before all else'; R_ = 'q:2.1.1.initialization'
M('init-cp-first', S, I_, 'ConnectionParameters request as the first packet', R_, lambda s: (s.connect(), s.raw(0, s.cpreq())), hello=False)
M('init-message-first', S, I_, 'a user message as the first packet', R_, lambda s: (s.connect(), s.um(body=A)), hello=False)
M('init-message-before-cp', S, I_, 'a user message between the EstablishConnection response and the ConnectionParameters request', R_, lambda s: (s.hello(upto=2), s.um(body=A)), hello=False)
M('init-message-before-cp-response', S, I_, 'the initiator sends a message before the ConnectionParameters response', R_, lambda s: (s.hello(upto=3), s.um(body=A)), hello=False)
M('init-acceptor-message', S, I_, 'the acceptor sends a message before its ConnectionParameters response', R_, lambda s: (s.hello(upto=3), s.um(1, body=A), s.close(0)), hello=False)
M('init-sessionack-first', S, I_, 'a SessionAck as the first packet', R_, lambda s: (s.connect(), s.raw(0, sack({}, s.sh(0)))), hello=False)
M('init-sessionack-before-cp', S, I_, 'a SessionAck instead of the ConnectionParameters request', R_, lambda s: (s.hello(upto=2), s.raw(0, sack({}, s.sh(0)))), hello=False)
M('init-cp-before-response', S, I_, 'the ConnectionParameters request goes out before the EstablishConnection response', R_, lambda s: (s.hello(upto=1), s.raw(0, s.cpreq())), hello=False)
M('init-acceptor-begins', S, 'the initiator sends the first packet', 'the acceptor sends an EstablishConnection request', R_, lambda s: (s.connect(), s.raw(1, s.ecreq(client=s.q[1].guid, server=s.q[0].guid)), s.close(0)), hello=False)
M('init-ec-twice', S, I_, 'the EstablishConnection request twice before a response', R_, lambda s: (s.hello(upto=1), s.raw(0, s.ecreq())), hello=False)
M('init-ec-response-twice', S, I_, 'the EstablishConnection response twice', R_, lambda s: (s.hello(upto=2), s.raw(1, s.ecres()), s.close(0)), hello=False)
M('init-ec-again', S, I_, 'a second EstablishConnection request in an open session', R_, lambda s: (s.um(body=A), s.raw(0, s.ecreq())))
M('init-ec-again-acceptor', S, I_, 'the acceptor sends an EstablishConnection request in an open session', R_, lambda s: (s.um(body=A), s.raw(1, s.ecreq(client=s.q[1].guid, server=s.q[0].guid)), s.close(0)))
M('init-cp-again', S, I_, 'a second ConnectionParameters request in an open session', R_, lambda s: (s.um(body=A), s.raw(0, s.cpreq())))
M('init-cp-response-twice', S, I_, 'the ConnectionParameters response twice', R_, lambda s: (s.raw(1, s.cpres()), s.close(0)))
M('init-orderack-first', S, I_, 'an OrderAck before the session is open', R_, lambda s: (s.hello(upto=2), setattr(s.q[0], 'txts', s.t // 1000000 - 9999), s.oack(1, 1), s.close(0)), hello=False)
M('init-ec-for-cp-response', S, I_, 'an EstablishConnection response where the ConnectionParameters response belongs', R_, lambda s: (s.hello(upto=3), s.raw(1, s.ecres()), s.close(0)), hello=False)
M('close-after-refusal', 'MS-MQQB 3.1.5.3.2', 'the initiator MUST close the session on a refusing response', 'CS set in the response to a request for another queue manager; the initiator sends ConnectionParameters', 'q:3.1.5.3.2.invalid-closes', lambda s: (s.hello(ecq=dict(server=G3), ecr=dict(server=s.q[1].guid, cs=1), upto=3)), hello=False)
# ---- receivers that carry on
def carry(bad):
    def f(s):
        s.um(body=b'first'); bad(s); s.um(dm=1, body=b'goes on'); s.wait(.499); s.ack(1)
    return f
M('carry-on-signature', 'MS-MQQB 3.1.5.1.2', 'a receiver MUST close the session on a wrong Signature', 'a message with Signature 0; the receiver goes on and acknowledges the next ones', 'q:3.1.5.1.2.signature-closes b:signature', carry(lambda s: s.um(bsig=0)))
M('carry-on-version', 'MS-MQQB 3.1.5.1.2', 'a receiver MUST close the session on a wrong VersionNumber', 'a message with VersionNumber 0x11; the receiver goes on', 'q:3.1.5.1.2.signature-closes b:version-number', carry(lambda s: s.um(ver=0x11)))
M('carry-on-type', 'MS-MQQB 2.2.1', 'an unknown PT MUST be treated as an error by closing the session', 'a SessionAck with PT 9; its receiver goes on sending', 'q:2.2.1.packet-type-closes q:2.2.1.packet-type', lambda s: (s.um(dm=1), s.wait(.499), s.ack(1, dict(pt=9)), s.um(body=A), s.um(body=A)))
M('carry-on-destination-type', '2.2.19.2', 'another DQ MUST be treated as an error by closing the session', 'DQ 6; the receiver goes on and acknowledges', 'u:destination-type-refused u:destination-type', carry(lambda s: s.um(dq=6, dest=('full', G1, 9))))
M('carry-on-admin-type', '2.2.19.2', 'another AQ MUST be treated as an error by closing the session', 'AQ 4; the receiver goes on and acknowledges', 'u:admin-type-refused u:admin-type', carry(lambda s: s.um(aq=4, admin=('id', 4), pflags=1)))
M('carry-on-malformed', 'MS-MQQB 3.1.5.1.3', 'a receiver MUST close the session on a malformed packet', 'a message whose MessageSize exceeds the packet; the receiver goes on', 'q:3.1.5.1.3.malformed-closes m:message-size', carry(lambda s: s.um(body=A, msize=9999)))
M('carry-on-ec', 'MS-MQQB 3.1.5.3', 'a receiver MUST close the session on an EstablishConnection out of turn', 'a second EstablishConnection request is answered in an open session', 'q:3.1.5.3.state-closes q:2.1.1.initialization', lambda s: (s.raw(0, s.ecreq()), s.raw(1, s.ecres()), s.um(body=A)))
M('carry-on-cp', 'MS-MQQB 3.1.5.4', 'a receiver MUST close the session on a ConnectionParameters out of turn', 'a second ConnectionParameters request is answered in an open session', 'q:3.1.5.4.state-closes q:2.1.1.initialization', lambda s: (s.raw(0, s.cpreq()), s.raw(1, s.cpres()), s.um(body=A)))
# ---- SessionHeader values
S = '2.2.20.4'
def rec(n, f, wait=.499, **k):
    def g(s):
        for i in range(n): s.um(dm=1, body=b'r%d' % i, dt=1500)
        s.wait(wait); f(s); s.close(0)
    return g
ac = 'q:3.1.1.6.1.acknowledged-were-sent h:4.ack-sequence-number'
M('ack-ahead', S, 'AckSequenceNumber MUST be the count of messages received', '3 acknowledged, 2 sent', ac, rec(2, lambda s: s.ack(1, ack=3)))
M('ack-ahead-far', S, 'AckSequenceNumber MUST be the count of messages received', '0xFFFF acknowledged, 1 sent', ac, rec(1, lambda s: s.ack(1, ack=0xffff)))
M('ack-ahead-none', S, 'AckSequenceNumber MUST be the count of messages received', 'the initiator acknowledges 1 although it got no message', ac, lambda s: (s.um(dm=1), s.wait(.499), s.ack(1), s.um(body=A), s.ack(0, ack=1)))
M('ack-ahead-piggyback', S, 'AckSequenceNumber MUST be the count of messages received', 'a SessionHeader in a message acknowledges one too many', ac, rec(2, lambda s: s.um(1, sess=dict(ack=3)), wait=.43))
M('ack-decreases', 'MS-MQQB 3.1.1.6.1', 'the count of messages received never falls', '3 acknowledged, then 2', 'q:3.1.1.6.1.never-decreases h:4.ack-sequence-number', rec(3, lambda s: (s.ack(1), s.um(dm=1), s.wait(.499), s.ack(1, ack=2))))
M('ack-zero-later', 'MS-MQQB 3.1.1.6.1', 'the count of messages received never falls', '2 acknowledged, then 0', 'q:3.1.1.6.1.never-decreases h:4.ack-sequence-number', rec(2, lambda s: (s.ack(1), s.um(dm=1), s.wait(.499), s.ack(1, ack=0))), direct=True)
M('ack-recoverables-only', S, 'AckSequenceNumber counts all messages', '2 express and 1 recoverable received, 1 acknowledged', 'h:4.ack-sequence-number', lambda s: (s.um(), s.um(), s.um(dm=1), s.wait(.499), s.ack(1, ack=1)), provable=False, why='two messages might have reached the other end later than the acknowledgment was written')
bo = 'q:3.1.6.4.recoverable-none h:4.recoverable-ack-none'
M('rack-flags-alone', S, 'RecoverableMsgAckSeqNumber is 0 only when nothing recoverable is acknowledged', 'number 0 with flags 3', bo, rec(2, lambda s: s.ack(1, rack=0)))
M('rack-number-alone', S, 'the bit of each persisted message is set', 'number 1 with flags 0', bo + ' q:3.1.6.4.recoverable-lowest h:4.recoverable-ack-first-bit', rec(2, lambda s: s.ack(1, rflags=0)))
M('rack-first-bit', S, 'bit 0 stands for RecoverableMsgAckSeqNumber and MUST be set', 'number 1 with flags 2 (bit 1 for message 1)', 'q:3.1.6.4.recoverable-lowest h:4.recoverable-ack-first-bit', rec(2, lambda s: s.ack(1, rflags=2)))
M('rack-highest', S, 'RecoverableMsgAckSeqNumber is the lowest number, flags go upwards', 'number 3 (the last one) with flags 7 going downwards', 'q:3.1.1.6.1.recoverable-were-sent', rec(3, lambda s: s.ack(1, rack=3, rflags=7)))
M('rack-beyond', 'MS-MQQB 3.1.1.6.1', 'only received recoverable messages are acknowledged', 'number 5, 2 sent', 'q:3.1.1.6.1.recoverable-were-sent', rec(2, lambda s: s.ack(1, rack=5, rflags=1)))
M('rack-flags-beyond', 'MS-MQQB 3.1.1.6.1', 'only received recoverable messages are acknowledged', 'number 1 with all 32 flags, 2 sent', 'q:3.1.1.6.1.recoverable-were-sent', rec(2, lambda s: s.ack(1, rflags=INF)))
M('rack-express', 'MS-MQQB 3.1.1.6.1', 'express messages have no recoverable number', '2 express messages acknowledged as recoverable 1 and 2', 'q:3.1.1.6.1.recoverable-were-sent', lambda s: (s.um(), s.um(), s.wait(9.98), s.ack(1, rack=1, rflags=3), s.close(0)))
M('rack-session-number', 'MS-MQQB 3.1.1.6.1', 'recoverable numbers count recoverable messages alone', '2 express then 1 recoverable; acknowledged as number 3', 'q:3.1.1.6.1.recoverable-were-sent', lambda s: (s.um(), s.um(), s.um(dm=1), s.wait(.499), s.ack(1, rack=3), s.close(0)))
on = 'q:3.1.6.4.recoverable-once h:4.recoverable-ack-lowest'
M('rack-again', 'MS-MQQB 3.1.6.4', 'each recoverable message is acknowledged once: the lowest unacknowledged number', 'second acknowledgment repeats number 1, flags 7', on, rec(2, lambda s: (s.ack(1), s.um(dm=1), s.wait(.499), s.ack(1, rack=1, rflags=7))))
M('rack-again-same', 'MS-MQQB 3.1.6.4', 'each recoverable message is acknowledged once', 'second acknowledgment (for an express message) repeats the first one', on, rec(2, lambda s: (s.ack(1), s.um(), s.wait(9.9), s.ack(1, rack=1, rflags=3))), direct=True)
us = 'q:3.1.7.1.3.user-messages-sent h:4.user-msg-sequence-number'
M('useq-ahead', S, 'UserMsgSequenceNumber SHOULD be the count of messages sent', '1 in the SessionAck of a side that sent none', us, rec(1, lambda s: s.ack(1, useq=1)))
M('useq-received', S, 'UserMsgSequenceNumber SHOULD be the count of messages sent', 'it repeats the count received (3)', us, rec(3, lambda s: s.ack(1, useq=3)))
M('useq-before', S, 'UserMsgSequenceNumber SHOULD be the count of messages sent, this one included', 'a message with SessionHeader counts only those before it', us, rec(1, lambda s: s.um(1, sess=dict(useq=0)), wait=.43))
M('useq-two', S, 'UserMsgSequenceNumber SHOULD be the count of messages sent', '7 in the second message sent', us, lambda s: (s.um(1, body=A), s.um(dm=1), s.wait(.43), s.um(1, sess=dict(useq=7)), s.close(0)))
rs = 'q:3.1.7.1.3.recoverable-messages-sent h:4.recoverable-sequence-number'
M('rseq-none', S, 'RecoverableMsgSeqNumber MUST be 0 if none were sent', '1 although the side sent none', rs + ' h:4.recoverable-sequence-number-zero', rec(1, lambda s: s.ack(1, rseq=1)))
M('rseq-express', S, 'RecoverableMsgSeqNumber MUST be the count of recoverable messages sent', 'counts the express message it is in', rs + ' h:4.recoverable-sequence-number-zero', rec(1, lambda s: s.um(1, sess=dict(rseq=1)), wait=.43))
M('rseq-behind', S, 'RecoverableMsgSeqNumber MUST be the count of recoverable messages sent', '1, the second recoverable message', rs, rec(1, lambda s: (s.um(1, dm=1), s.um(1, dm=1, sess=dict(rseq=1))), wait=.43))
M('rseq-zero', S, 'RecoverableMsgSeqNumber MUST be the count of recoverable messages sent', '0 after 2 recoverable messages', rs, lambda s: (s.um(1, dm=1), s.um(1, dm=1), s.um(dm=1), s.wait(.499), s.ack(1, rseq=0), s.close(0)))
M('window-zero', S, 'WindowSize has a range from 1', 'WindowSize 0 in a SessionAck', 'h:4.window-size-range', rec(1, lambda s: s.ack(1, win=0)))
M('window-zero-message', S, 'WindowSize has a range from 1', 'WindowSize 0 in a message', 'h:4.window-size-range', rec(1, lambda s: s.um(1, sess=dict(win=0)), wait=.43))
M('window-16', S, 'WindowSize SHOULD be 0x0040', 'WindowSize 16', 'h:4.window-size-default', rec(1, lambda s: s.ack(1, win=16)), provable=False, why='configurable')
M('sessionack-short', 'MS-MQQB 2.2.6', 'SessionHeader has 16 bytes', 'SessionAck of 32 bytes', 'b:session-header-present p:session-header-layout', rec(1, lambda s: s.ack(1, dict(raw=sesshdr(1, 1, 1)[:12]))))
M('sessionack-cut', 'MS-MQQB 2.2.6', 'a SessionAck has a SessionHeader', 'SessionAck of 20 bytes in all, no SessionHeader', 'b:session-header-present', rec(1, lambda s: s.ack(1, dict(raw=b''))))
def reconnect(s, **k):
    n = Sess(s.cap, s.q[0], s.q[1], s.rng, s.t + 5200000, s.direct); n.hello(); return n
def over(f):
    def g(s):
        s.um(dm=1, body=b'a'); s.um(dm=1, body=b'b'); s.wait(.499); s.ack(1); s.close(1); n = reconnect(s); f(n); n.close(1)
    return g
M('counts-kept-ack', 'MS-MQQB 3.1.3.2', 'MessageReceivedCount starts at 0 in each session', 'after a reconnect the receiver goes on counting (3 acknowledged, 1 sent)', ac, over(lambda n: (n.um(dm=1), n.wait(.49), n.ack(1, ack=3))))
M('counts-kept-recoverable', 'MS-MQQB 3.1.3.2', 'recoverable numbers start at 1 in each session', 'after a reconnect recoverable number 3 is acknowledged, 1 sent', 'q:3.1.1.6.1.recoverable-were-sent', over(lambda n: (n.um(dm=1), n.wait(.49), n.ack(1, rack=3))))
M('counts-kept-sent', 'MS-MQQB 3.1.3.2', 'MessageSentCount starts at 0 in each session', 'after a reconnect the initiator goes on counting its messages in UserMsgSequenceNumber', us, over(lambda n: (n.um(1, dm=1), n.wait(.43), n.um(0, sess=dict(useq=3)))))
# ---- window and timing
M('window-65', 'MS-MQQB 3.1.7.1', 'no message is sent while UnAckedMessageCount is the window or more', '70 messages unacknowledged with windows of 64', 'q:3.1.7.1.window', lambda s: [s.um(body=b'%d' % i, dt=900) for i in range(70)])
def win8(s):
    s.win = [8, 8]; s.hello(); [s.um(body=b'%d' % i, dt=900) for i in range(12)]
M('window-8', 'MS-MQQB 3.1.7.1', 'no message is sent while UnAckedMessageCount is the window or more', '12 messages unacknowledged with windows of 8 on both sides', 'q:3.1.7.1.window', win8, hello=False)
M('ack-late-recoverable', 'MS-MQQB 3.1.5.8.7', 'a recoverable message is acknowledged when RecoverableAckTimeout is over', 'acknowledged after 6 s, RecoverableAckTimeout 500 ms', 'q:3.1.5.8.2.acknowledged-in-time', rec(1, lambda s: s.ack(1), wait=6))
M('ack-late-express', 'MS-MQQB 3.1.5.8.2', 'a message is acknowledged within half of AckTimeout', 'acknowledged after 18 s, AckTimeout 20000 ms', 'q:3.1.5.8.2.acknowledged-in-time', lambda s: (s.um(body=A), s.wait(18), s.ack(1)))
M('ack-never', 'MS-MQQB 3.1.5.8.2', 'a message is acknowledged within half of AckTimeout', 'never acknowledged; the receiver sends messages of its own for 40 s', 'q:3.1.5.8.2.acknowledged-in-time', lambda s: (s.um(body=A), s.wait(13), s.um(1, body=A), s.wait(9.99), s.ack(0), s.wait(15), s.um(1, body=A)))
def r33(s):
    for i in range(36): s.um(dm=1, body=b'%d' % i, dt=900)
    s.wait(.45); s.ack(1)
M('ack-32-recoverables', 'MS-MQQB 3.1.5.8.7', 'a SessionAck is sent at once when 32 recoverable messages wait', '36 recoverable messages before the first acknowledgment, 450 ms after', 'q:3.1.5.8.7.recoverable-at-once', r33)
M('session-header-nothing', 'MS-MQQB 3.1.7.11', 'a message has a SessionHeader only when there is something to acknowledge', 'SessionHeader in the first message of a session', 'q:3.1.7.11.something-to-acknowledge', lambda s: s.um(body=A, sess={}))
M('session-header-nothing-new', 'MS-MQQB 3.1.7.11', 'a message has a SessionHeader only when there is something to acknowledge', 'SessionHeader right behind a SessionAck', 'q:3.1.7.11.something-to-acknowledge', rec(1, lambda s: (s.ack(1), s.um(1, sess={}))))
M('session-header-early', 'MS-MQQB 3.1.7.11', 'a message has a SessionHeader only when 75 percent of the timer are over', 'SessionHeader 20 ms after the recoverable message', 'q:3.1.7.11.late-enough', rec(1, lambda s: s.um(1, sess={}), wait=.02))
M('session-header-early-express', 'MS-MQQB 3.1.7.11', 'a message has a SessionHeader only when 75 percent of the timer are over', 'SessionHeader 1 s after an express message (timer of 10 s)', 'q:3.1.7.11.late-enough', lambda s: (s.um(body=A), s.wait(1), s.um(1, sess={}), s.close(0)))
# ---- transactional sequences
S = 'MS-MQQB 3.1.1.5'
def seq(*nums):
    "(num, prev) each a transaction of its own"
    def f(s):
        for n, p in nums: s.q[0].txid += 1; s.um(body=b't%d' % n, tx=s.tx(num=n, prev=p))
    return f
M('tx-gap', 'MS-MQQB 3.1.7.1.3', 'a new message has the number after the last one', '1, 2, 4 (previous 3)', 'q:3.1.7.1.3.next-number', seq((1, 0), (2, 1), (4, 3)))
M('tx-gap-bridged', 'MS-MQQB 3.1.7.1.3', 'a new message has the number after the last one and names it less one', '1, 2, 5 (previous 2)', 'q:3.1.7.1.3.next-number q:3.1.7.1.3.previous-number', seq((1, 0), (2, 1), (5, 2)))
M('tx-same-number', 'MS-MQQB 3.1.7.1.3', 'a new message has the number after the last one', 'two different messages with number 2', 'q:3.1.7.1.3.next-number', seq((1, 0), (2, 1), (2, 1)))
M('tx-number-falls', 'MS-MQQB 3.1.7.1.3', 'a new message has the number after the last one', '1, 2, 3, then a new message with number 2', 'q:3.1.7.1.3.next-number', seq((1, 0), (2, 1), (3, 2), (2, 1)), direct=True)
M('tx-previous-old', 'MS-MQQB 3.1.7.1.3', 'PreviousTxSequenceNumber of a new message is its number less one', '1, 2, 3 with previous 1', 'q:3.1.7.1.3.previous-number h:5.previous', seq((1, 0), (2, 1), (3, 1)))
M('tx-previous-zero', 'MS-MQQB 3.1.7.1.3', 'PreviousTxSequenceNumber of a new message is its number less one', '1, 2 with previous 0', 'q:3.1.7.1.3.previous-number h:5.previous', seq((1, 0), (2, 0)), direct=True)
def txn(s, n=2):
    r = []
    for i in range(n): s.q[0].txid += 1; r.append(s.um(body=b't%d' % i, tx=s.tx(num=i + 1), dt=1500))
    return r
def acked(s, n=2, d=1):
    "n messages, session ack, order ack for all, session ack for that"
    r = txn(s, n); s.wait(.499); s.ack(1); s.wait(.1); s.oack(1, n); s.wait(9.95); s.ack(0); return r
def nxt(dord=1, dts=0, num=1, prev=None, before=acked):
    def f(s):
        before(s); a = s.q[0]; a.txord += dord; a.txts += dts; a.txid += 1; s.um(body=b'new', tx=s.tx(num=num, prev=prev))
    return f
M('tx-new-sequence-number-2', S, 'the first message of a sequence has number 1', 'the next sequence begins with number 2, previous 1', 'q:3.1.1.5.first-number h:5.sequence-number-from-one', nxt(num=2))
M('tx-new-sequence-goes-on', S, 'a new sequence resets the number to 1', 'the next sequence goes on with number 3, previous 2', 'q:3.1.1.5.first-number h:5.sequence-number-from-one', nxt(num=3), direct=True)
M('tx-ordinal-jumps', S, 'a new sequence has the next Ordinal', 'Ordinal rises by 2', 'q:3.1.1.5.next-sequence', nxt(dord=2))
M('tx-ordinal-timestamp', S, 'a new sequence has the same TimeStamp', 'Ordinal and TimeStamp both rise', 'q:3.1.1.5.next-sequence', nxt(dts=60))
M('tx-ordinal-falls', S, 'messages MUST NOT be sent on prior sequences', 'TimeStamp lower than before', 'q:3.1.1.5.older-sequence', nxt(dord=0, dts=-500))
M('tx-sequence-unacknowledged', S, 'a new sequence begins when all messages of the old one are acknowledged', 'new sequence with 2 messages unacknowledged', 'q:3.1.1.5.all-acknowledged', nxt(before=lambda s: txn(s)))
M('tx-sequence-half-acknowledged', S, 'a new sequence begins when all messages of the old one are acknowledged', 'new sequence after an OrderAck for 1 of 3', 'q:3.1.1.5.all-acknowledged', nxt(before=lambda s: (txn(s, 3), s.wait(.497), s.ack(1), s.wait(.1), s.oack(1, 1))))
def old(s):
    acked(s); a = s.q[0]; a.txord += 1; a.txid += 1; s.um(body=b'new', tx=s.tx(num=1)); a.txord -= 1; a.txid += 1; s.um(body=b'old', tx=s.tx(num=3))
M('tx-older-sequence', S, 'Messages MUST NOT be sent on prior sequences', 'a new message on the sequence before', 'q:3.1.1.5.older-sequence', old)
def resend(s, ms, wait=30.5, order=None, **t):
    s.wait(wait)
    for i in (order or range(len(ms))):
        m = ms[i]; n = s.msg(0); s.q[0].mid -= 1
        k = {x: getattr(m, x) for x in ('src', 'qma', 'sent', 'mid', 'dest', 'body', 'label', 'dm', 'pr')}
        s.send(new(prng=s.rng, tx=dict(m.tx, **(t if i == 0 else {})), **k), 0)
def rs_(n=1, **k):
    def f(s): ms = txn(s, n); s.wait(.499); s.ack(1); resend(s, ms, **k)
    return f
M('tx-resent-number', 'MS-MQQB 3.1.7.1.3', 'a message sent again keeps its number', 'sent again with number 2 instead of 1', 'q:3.1.7.1.3.resent-number', rs_(1, num=2, prev=1))
M('tx-resent-sequence', 'MS-MQQB 3.1.7.1.3', 'a message sent again keeps its sequence', 'sent again (same MessageID) on the next sequence', 'q:3.1.7.1.3.resent-number', lambda s: (lambda ms: (s.wait(.499), s.ack(1), resend(s, ms, ord=ms[0].tx['ord'] + 1)))(txn(s, 1)))
M('tx-resent-early', 'MS-MQQB 3.1.6.5', 'unacknowledged messages are sent again when the timer of 30 s is over', 'sent again after 3 s', 'q:3.1.6.5.resend-interval', rs_(2, wait=3))
M('tx-resent-order', 'MS-MQQB 3.1.6.5', 'unacknowledged messages are sent again in their order', '3, 2, 1', 'q:3.1.6.5.resend-order', rs_(3, order=[2, 1, 0]))
M('tx-resent-previous', 'MS-MQQB 3.1.7.1.3', 'a message sent again names the message before it', 'numbers 2 and 3 of 3 are sent again, number 2 with previous 7', 'q:3.1.7.1.3.resent-previous h:5.previous-before', lambda s: (lambda ms: (s.wait(.499), s.ack(1), resend(s, [ms[1], ms[2]], prev=7)))(txn(s, 3)))
# ---- OrderAck
def oa(num=2, n=2, d=None, wait=.62, **k):
    def f(s):
        txn(s, n); s.wait(.499); s.ack(1); s.wait(wait - .5); s.oack(1, num, **val(s, k)); s.close(0)
    return f
S = 'MS-MQQB 2.2.4'
bf = 'BaseHeader.Flags of an OrderAck MUST be 0'
M('oack-priority', S, bf, 'priority 3', 'q:2.2.4.base-flags', oa(pr=3))
M('oack-internal', S, 'IN MUST NOT be set in an OrderAck', 'IN set', 'b:internal-clear q:2.2.4.base-flags', oa(in_=1))
M('oack-reserved-bit', S, bf, 'reserved bit X3 set', 'q:2.2.4.base-flags', oa(bx=1 << 12))
uf = 'UserHeader.Flags of an OrderAck has MP set and DQ, nothing else'
for n, k in (('jn', dict(jn=1)), ('jp', dict(jp=1)), ('rc', dict(rc=1)), ('rq', dict(rq=2, resp=('id', 4))), ('cq', dict(connector=G1)), ('aq', dict(aq=2, admin=('id', 4)))):
    M('oack-' + n, S, uf, '%s set' % n.upper(), 'q:2.2.4.user-flags' + (' u:admin-queue-absent' if n == 'aq' else ''), oa(**k))
M('oack-recoverable', S, 'DM of an OrderAck is 0', 'DM 1', 'q:2.2.4.delivery', oa(dm=1), provable=False, why='MS-MQQB 3.1.7.17 makes it recoverable')
dq = 'an OrderAck goes to private queue 4 or to TCP:address\\PRIVATE$\\order_queue$'
M('oack-queue-5', S, dq, 'private queue 5', 'q:2.2.4.destination', oa(dest=('id', 5)))
M('oack-public', S, dq, 'DQ 5, a public queue', 'q:2.2.4.destination', oa(dest=('pub', G1)))
M('oack-direct-os', S, dq, 'OS:alpha\\PRIVATE$\\order_queue$', 'q:2.2.4.destination', oa(dest=('direct', 'OS:alpha\\PRIVATE$\\order_queue$')), direct=True)
M('oack-direct-queue', S, dq, 'TCP:address\\PRIVATE$\\orders_queue$', 'q:2.2.4.destination', oa(dest=lambda s: ('direct', 'TCP:%s\\PRIVATE$\\orders_queue$' % s.q[0].ip)), direct=True)
M('oack-direct-public', S, dq, 'TCP:address\\order_queue$ (PRIVATE$ missing)', 'q:2.2.4.destination', oa(dest=lambda s: ('direct', 'TCP:%s\\order_queue$' % s.q[0].ip)), direct=True)
M('oack-direct-address', S, 'the address MUST be that of the queue manager to receive the message', "the address is the acknowledger's own", 'q:2.2.4.destination', oa(dest=lambda s: ('direct', 'TCP:%s\\PRIVATE$\\order_queue$' % s.q[1].ip)), direct=True)
M('oack-pflags', S, 'MessagePropertiesHeader.Flags of an OrderAck MUST be 0', 'PA set', 'q:2.2.4.properties-flags u:admin-queue-required', oa(pflags=1))
M('oack-label', S, 'the label of an OrderAck MUST be QM Ordering Ack', "label 'QM Order Ack'", '', oa(label='QM Order Ack'))
M('oack-no-label', S, 'the label of an OrderAck MUST be QM Ordering Ack', 'no label', '', oa(label=''))
def obody(s, n): return P('<IIII', s.q[0].txord, s.q[0].txts, 2, 1) + b'\0' * n
M('oack-body-32', S, 'MessageSize of an OrderAck MUST be 36', 'body of 32 bytes', 'q:2.2.4.message-size', oa(body=lambda s: obody(s, 16)))
M('oack-body-40', S, 'MessageSize of an OrderAck MUST be 36', 'body of 40 bytes', 'q:2.2.4.message-size', oa(body=lambda s: obody(s, 24)))
M('oack-body-16', S, 'MessageSize of an OrderAck MUST be 36', 'body of 16 bytes, Reserved left out', 'q:2.2.4.message-size', oa(body=lambda s: obody(s, 0)), direct=True)
M('oack-body-type', S, 'BodyType of an OrderAck MUST be VT_EMPTY', 'BodyType 17', 'q:2.2.4.body-type', oa(btype=17))
S = 'MS-MQQB 2.2.4.1'
M('oack-previous', S, 'TxPreviousSequenceNumber MUST be TxSequenceNumber - 1', 'number 2, previous 0', 'q:2.2.4.1.previous', oa(prev=0))
M('oack-previous-equal', S, 'TxPreviousSequenceNumber MUST be TxSequenceNumber - 1', 'number 2, previous 2', 'q:2.2.4.1.previous', oa(prev=2), direct=True)
M('oack-number-zero', S, 'TxSequenceNumber has a range from 1', 'number 0, previous 0xFFFFFFFF', 'q:2.2.4.1.number', oa(num=0))
M('oack-sequence', S, 'TxSequenceID MUST be that of the message acknowledged', 'Ordinal 9, a sequence never used', 'q:2.2.4.1.sequence', oa(ord=9))
M('oack-sequence-swapped', S, 'TxSequenceID MUST be that of the message acknowledged', 'Ordinal and TimeStamp swapped', 'q:2.2.4.1.sequence', oa(ord=lambda s: s.q[0].txts, ts=1), direct=True)
M('oack-sequence-zero', S, 'TxSequenceID MUST be that of the message acknowledged', 'TxSequenceID 0', 'q:2.2.4.1.sequence', oa(ord=0, ts=0))
S = 'MS-MQQB 3.1.1.6.2'
M('oack-ahead', S, 'only received messages are acknowledged, in order', 'number 3 acknowledged, 2 sent', 'q:3.1.1.6.2.in-order', oa(num=3))
M('oack-ahead-far', S, 'only received messages are acknowledged, in order', 'number 0x10001 acknowledged, 2 sent', 'q:3.1.1.6.2.in-order', oa(num=0x10001), direct=True)
M('oack-decreases', S, 'the acknowledged number never falls', 'number 3 acknowledged, then 2', 'q:3.1.1.6.2.never-decreases', lambda s: (txn(s, 3), s.wait(.499), s.ack(1), s.wait(.1), s.oack(1, 3), s.wait(1), s.oack(1, 2), s.close(0)))
M('oack-early', 'MS-MQQB 3.1.2.7', 'an OrderAck is sent when the timer of 500 ms is over', 'sent 5 ms after the message', 'q:3.1.2.7.order-ack-delay', lambda s: (txn(s, 1), s.t, s.oack(1, 1), s.close(0)))
M('oack-of-express', S, 'an OrderAck names a transactional sequence that was sent', 'an OrderAck although only express messages were sent', 'q:2.2.4.1.sequence', lambda s: (s.um(body=A), s.wait(.7), setattr(s.q[0], 'txts', s.t // 1000000 - 500), s.oack(1, 1), s.close(0)))
def gap(s):
    # first transmission of 3 was lost with the old session: only 1, 2 and then 4 (previous 3) arrive here
    txn(s, 2); s.q[0].txid += 1; s.um(body=b't4', tx=s.tx(num=4, prev=3)); s.wait(.497); s.ack(1); s.wait(.1); s.oack(1, 4); s.close(0)
M('oack-not-accepted', S, 'messages are acknowledged in order: 4 only when 3 was received', '1, 2 and 4 (previous 3) received, 4 acknowledged', 'q:3.1.5.8.6.accepted q:3.1.1.6.2.in-order q:3.1.7.1.3.next-number', gap)
M('oack-from-initiator', '2.2.18.1.6', 'an OrderAck is sent by the destination to the original sender', 'the sender of the messages acknowledges them itself', 't:6.order-ack-sender q:2.2.4.1.sequence', lambda s: (txn(s, 2), s.wait(.499), s.ack(1), s.wait(.2), s.oack(0, 2, ord=s.q[0].txord, ts=s.q[0].txts)))
# ---- FinalAck
S = 'MS-MQQB 2.2.5'
def fa(cls=0x4000, t=None, **k):
    def f(s):
        s.q[0].txid += 1; m = s.um(body=A, jn=1, jp=1, tx=s.tx(num=1)); s.wait(.499); s.ack(1); s.wait(.15); s.oack(1, 1); s.wait(.5)
        b = k.get('b'); b = b(s, m) if callable(b) else (b or {})
        s.fack(1, m, cls, b=b, **{x: (v(s) if callable(v) else v) for x, v in k.items() if x != 'b'}); s.close(0)
    return f
M('fack-priority', S, 'BaseHeader.Flags of a FinalAck MUST be 0', 'priority 3', 'q:2.2.5.base-flags', fa(pr=3))
M('fack-internal', S, 'IN MUST NOT be set in a FinalAck', 'IN set', 'b:internal-clear q:2.2.5.base-flags', fa(in_=1))
M('fack-express', S, 'DM of a FinalAck MUST be 1', 'DM 0', 'q:2.2.5.user-flags', fa(dm=0))
for n, k in (('jp', dict(jp=1)), ('jn', dict(jn=1)), ('rq', dict(rq=2, resp=('id', 4))), ('cq', dict(connector=G2))): M('fack-' + n, S, 'UserHeader.Flags of a FinalAck has MP, DM and DQ, nothing else', '%s set' % n.upper(), 'q:2.2.5.user-flags', fa(**k))
dq = 'a FinalAck goes to private queue 4 or to TCP:address\\PRIVATE$\\order_queue$'
M('fack-queue-3', S, dq, 'private queue 3', 'q:2.2.5.destination', fa(dest=('id', 3)))
M('fack-public', S, dq, 'a public queue', 'q:2.2.5.destination', fa(dest=('pub', G2)))
M('fack-direct-name', S, dq, 'TCP:address\\PRIVATE$\\admin_queue$', 'q:2.2.5.destination', fa(dest=lambda s: ('direct', 'TCP:%s\\PRIVATE$\\admin_queue$' % s.q[0].ip)), direct=True)
M('fack-pflags', S, 'MessagePropertiesHeader.Flags of a FinalAck MUST be 0', 'NA set', 'q:2.2.5.properties-flags u:admin-queue-required', fa(pflags=4))
M('fack-body-20', S, 'MessageSize of a FinalAck MUST be 36', 'body of 20 bytes', 'q:2.2.5.message-size', fa(body=lambda s: P('<IIIII', s.q[0].txord, s.q[0].txts, 1, 0, 7)))
M('fack-body-40', S, 'MessageSize of a FinalAck MUST be 36', 'body of 40 bytes', 'q:2.2.5.message-size', fa(body=lambda s: P('<IIII', s.q[0].txord, s.q[0].txts, 1, 0) + s.q[0].guid + P('<II', s.q[0].mid, 0)))
M('fack-body-type', S, 'BodyType of a FinalAck MUST be VT_EMPTY', 'BodyType 19', 'q:2.2.5.body-type', fa(btype=19))
for c in (0x8001, 0x8002, 0x8005, 0x800A, 0xC004, 0x4001):
    pr = c in (0x8001, 0x800A, 0x4001)
    M('fack-class-%04x' % c, S, 'MessageClass of a FinalAck MUST be ACK_RECEIVE or one of the ten listed', 'class 0x%04X' % c, 'q:2.2.5.message-class', fa(cls=c), provable=pr, why=None if pr else 'MS-MQQB 3.1.5.8.2, 3.1.7.2.2 and 3.1.7.17 send it')
S = 'MS-MQQB 2.2.5.1'
M('fack-ordinal', S, 'TxSequenceID MUST be that of the message', 'Ordinal one more', 'q:2.2.5.1.sequence', fa(b=lambda s, m: dict(ord=m.tx['ord'] + 1)))
M('fack-number', S, 'TxSequenceNumber MUST be that of the message', 'number 2 for message 1', 'q:2.2.5.1.sequence', fa(b=dict(num=2)))
M('fack-number-zero', S, 'TxSequenceNumber has a range from 1', 'number 0', 'q:2.2.5.1.sequence', fa(b=dict(num=0)), direct=True)
M('fack-previous', S, 'TxPreviousSequenceNumber MUST be that of the message', 'previous 1 for message 1', 'q:2.2.5.1.previous', fa(b=dict(prev=1)))
M('fack-previous-max', S, 'TxPreviousSequenceNumber is at most 0xFFFFFFFE', 'previous 0xFFFFFFFF', 'q:2.2.5.1.previous', fa(b=dict(prev=INF)))
M('fack-source', S, "SourceGUID is the source queue manager's", "the acknowledger's own GUID", 'q:2.2.5.1.sequence', fa(b=lambda s, m: dict(src=s.q[1].guid)))
M('fack-message-id', S, 'MessageID identifies the message', 'a MessageID that the sequence number does not have', 'q:2.2.5.1.sequence', lambda s: (lambda ms: (s.wait(.499), s.ack(1), s.wait(.15), s.oack(1, 2), s.wait(.4), s.fack(1, ms[0], b=dict(mid=ms[1].mid)), s.close(0)))([s.um(body=A, jp=1, tx=s.tx(num=1, id=5)), s.um(body=A, jp=1, tx=s.tx(num=2, id=6))]))
M('fack-unwanted', 'MS-MQQB 3.1.7.2.2', 'a FinalAck for a removal is sent only with JP, JN or FA', 'positive FinalAck for a message with none of them', 'q:3.1.7.2.2.wanted', lambda s: (lambda m: (s.wait(.499), s.ack(1), s.wait(.15), s.oack(1, 1), s.wait(.5), s.fack(1, m), s.close(0)))(s.um(body=A, tx=s.tx())))
# ---- administration acknowledgments
S = 'MS-MQQB 3.1.7.15'
def aa(cls=2, pf=1, dm=0, body=A, aq=('id', 6), **k):
    def f(s):
        m = s.um(body=body, label='asks', dm=dm, pflags=pf, aq=2 if aq[0] == 'id' else 5, admin=aq); s.wait(.03); kk = {x: (v(s, m) if callable(v) else v) for x, v in k.items()}; s.aack(1, m, cls, **kk); s.close(0)
    return f
co = 'CorrelationID of an acknowledgment MUST be SourceQueueManager and MessageID of the message'
M('aack-correlation-id', S, co, 'MessageID one more', 'q:3.1.7.15.correlation m:correlation-id-acknowledged', aa(corr=lambda s, m: m.src + P('<I', m.mid + 1)))
M('aack-correlation-guid', S, co, "the acknowledger's own GUID", 'q:3.1.7.15.correlation m:correlation-id-acknowledged', aa(corr=lambda s, m: s.q[1].guid + P('<I', m.mid)))
M('aack-correlation-zero', S, co, 'CorrelationID of zeros', 'q:3.1.7.15.correlation m:correlation-id-acknowledged', aa(corr=b'\0' * 20))
M('aack-correlation-order', S, co, 'MessageID before the GUID', 'q:3.1.7.15.correlation m:correlation-id-acknowledged', aa(corr=lambda s, m: P('<I', m.mid) + m.src))
M('aack-delivery-express', S, 'an acknowledgment is recoverable exactly when the message is', 'express acknowledgment of a recoverable message', 'q:3.1.7.15.delivery', aa(dm=1) if 0 else (lambda s: (lambda m: (s.aack(1, m, 2, dm=0), s.close(0)))(s.um(body=A, dm=1, pflags=1, aq=2, admin=('id', 6)))))
M('aack-delivery-recoverable', S, 'an acknowledgment is recoverable exactly when the message is', 'recoverable acknowledgment of an express message', 'q:3.1.7.15.delivery', lambda s: (lambda m: (s.aack(1, m, 2, dm=1), s.close(0)))(s.um(body=A, dm=0, pflags=1, aq=2, admin=('id', 6))))
M('aack-ttrq', S, 'TimeToReachQueue of an acknowledgment is 0xFFFFFFFF', 'TimeToReachQueue 345600', 'q:3.1.7.15.times', aa(ttrq=345600))
M('aack-ttbr', S, 'TimeToBeReceived of an acknowledgment is 0xFFFFFFFF', 'TimeToBeReceived 3600', 'q:3.1.7.15.times', aa(ttbr=3600))
M('aack-asks', S, 'an acknowledgment asks for no acknowledgment', 'PA set with an administration queue', 'q:3.1.7.15.plain', aa(pflags=1, aq=None) if 0 else (lambda s: (lambda m: (s.send(asks(s, m), 1), s.close(0)))(s.um(body=A, pflags=1, aq=2, admin=('id', 6)))))
def asks(s, m): return s.msg(1, cls=2, corr=m.src + P('<I', m.mid), qma=s.q[0].guid, dest=('id', 6), rq=2, resp=m.dest, pflags=1, aq=2, admin=('id', 8))
M('aack-jn', S, 'an acknowledgment asks for no journaling', 'JN set', 'q:3.1.7.15.plain', aa(jn=1))
M('aack-jp', S, 'an acknowledgment asks for no journaling', 'JP set', 'q:3.1.7.15.plain', aa(jp=1))
M('aack-encrypted', S, 'an acknowledgment is not encrypted', 'PrivacyLevel 3, body encrypted', 'q:3.1.7.15.plain', aa(cls=0x8000, pf=4, privacy=3, enc=0x6602, body=A, sec=lambda s, m: secv(s, eb=1, de=0, key=simpleblob(0x6602, s.rng), prov=provinfo(1, CSP[3]))) if 0 else (lambda s: (lambda m: (s.aack(1, m, 0x8000, body=b'z' * 32, privacy=3, enc=0x6602, sec=secv(s, eb=1, de=0, key=simpleblob(0x6602, s.rng), prov=provinfo(1, CSP[3]))), s.close(0)))(s.um(body=b'y' * 32, pflags=4, aq=2, admin=('id', 6)))))
M('aack-signed', S, 'an acknowledgment is not signed', 'signature and certificate', 'q:3.1.7.15.unsigned', aa(hash=0x800e, sec=lambda s, m: dict(st=2, sid=s.q[1].guid, cert=CERT, sig=rsasign(0x800e, m.src + P('<I', m.mid) + P('<I', 0)))))
rq = 'an acknowledgment is sent only where the message asks for its kind'
M('aack-unrequested', S, rq, 'PA acknowledgment of a message that asks for NA alone', 'q:3.1.7.15.requested', aa(cls=2, pf=4))
M('aack-receive-unrequested', S, rq, 'receive acknowledgment of a message that asks for PA alone', 'q:3.1.7.15.requested', aa(cls=0x4000, pf=1))
M('aack-nack-unrequested', S, rq, 'NACK_RECEIVE_TIMEOUT of a message that asks for PA and PR alone', 'q:3.1.7.15.requested', aa(cls=0xC002, pf=3))
M('aack-destination', S, 'an acknowledgment goes to the administration queue of the message', 'to private queue 7 instead of 6', 'q:3.1.7.15.destination', aa(dest=('id', 7)))
M('aack-destination-public', S, 'an acknowledgment goes to the administration queue of the message', 'to another public queue', 'q:3.1.7.15.destination', aa(aq=('pub', G1), dest=('pub', G2)))
M('aack-response-none', S, 'the response queue of an acknowledgment is the destination of the message', 'no response queue', 'q:3.1.7.15.response-queue', aa(rq=0, resp=None))
M('aack-response-other', S, 'the response queue of an acknowledgment is the destination of the message', 'private queue 12 instead of 11', 'q:3.1.7.15.response-queue', aa(resp=('id', 12)))
def nack(b, bt=17): return lambda s: (lambda m: (s.aack(1, m, 0x8003, body=b, btype=bt), s.close(0)))(s.um(body=A, btype=17, pflags=4, aq=2, admin=('id', 6)))
M('nack-body-none', S, 'a negative acknowledgment returns the body of the message', 'no body', 'q:3.1.7.15.body', nack(b''))
M('nack-body-changed', S, 'a negative acknowledgment returns the body of the message', 'another body', 'q:3.1.7.15.body', nack(A[:-1] + b'!'))
M('nack-body-cut', S, 'a negative acknowledgment returns the body of the message', 'the first 8 bytes alone', 'q:3.1.7.15.body', nack(A[:8]))
# ---- Ping
S = 'MS-MQQB 2.2.7'
def pg(req={}, resp={}, then=True, **k):
    def f(s):
        s.ping(val(s, req), val(s, resp), **k)
        if then: s.hello(); s.um(body=A)
    return f
M('ping-signature', S, 'Signature MUST be 0x5548', 'request with Signature 0x4855', 'q:2.2.7.signature', pg(dict(sig=0x4855), noresp=True, then=False), hello=False)
M('ping-signature-response', S, 'Signature MUST be 0x5548', 'response with Signature 0', 'q:2.2.7.signature', pg(resp=dict(sig=0), then=False), hello=False)
M('ping-rf-request', S, 'RF MUST be clear in a request', 'RF set', 'q:2.2.7.request-rf', pg(dict(rf=1)), hello=False)
M('ping-cookie', S, 'a response MUST repeat the Cookie', 'Cookie one more', 'q:2.2.7.response-cookie', pg(resp=dict(cookie=lambda s: s.q[0].cookie + 2), then=False), hello=False)
M('ping-cookie-zero', S, 'a response MUST repeat the Cookie', 'Cookie 0', 'q:2.2.7.response-cookie', pg(resp=dict(cookie=0), then=False), hello=False)
M('ping-rc', S, 'a response MUST repeat RC', 'RC set in the answer to a request with RC clear', 'q:2.2.7.response-rc', pg(resp=dict(rc=1)), hello=False)
M('ping-port', 'MS-MQQB 2.1.2', 'a response MUST be sent to the port the request came from', 'sent to port 3527', 'q:2.1.2.response-address', pg(resp=dict(port=3527), then=False), hello=False)
M('ping-address', 'MS-MQQB 2.1.2', 'a response MUST be sent to the address the request came from', 'sent to another host', 'q:2.1.2.response-address', pg(resp=dict(to=lambda s: NS(ip='10.0.30.30', mac=b'\0\x15\x5d\1\2\3')), then=False), hello=False)
M('ping-cookie-again', 'MS-MQQB 3.1.7.6', 'each request has the next Cookie', 'two requests with one Cookie', 'q:3.1.7.6.cookie', lambda s: (s.ping(), s.wait(3), setattr(s.q[0], 'cookie', s.q[0].cookie - 1), s.ping()), hello=False)
M('ping-cookie-falls', 'MS-MQQB 3.1.7.6', 'each request has the next Cookie', 'Cookie of the second request 7 lower', 'q:3.1.7.6.cookie', lambda s: (setattr(s.q[0], 'cookie', 40), s.ping(), s.wait(3), setattr(s.q[0], 'cookie', s.q[0].cookie - 8), s.ping()), hello=False)
M('ping-qm-guid', S, 'QMGuid is the queue manager that sends the ping', 'another GUID in the request than in EstablishConnection', 'q:2.2.7.qm-guid', pg(dict(qm=G1)), hello=False)
M('ping-qm-guid-response', S, 'QMGuid is the queue manager that sends the ping', "the response repeats the initiator's GUID", '', pg(resp=dict(qm=lambda s: s.q[0].guid)), hello=False)
M('ping-late', 'MS-MQQB 3.1.2.9', 'a response that comes after a second counts as none: no connection', 'response after 2.5 s, then the connection', 'q:3.1.2.9.one-second', pg(dt=2500000), hello=False)
M('ping-refused', 'MS-MQQB 3.1.7.6', 'no connection is made when RF is set in the response', 'RF set in the response, then the connection', 'q:3.1.7.6.refused', pg(resp=dict(rf=1)), hello=False)
M('ping-short', S, 'a ping has 24 bytes', 'request of 20 bytes', '', pg(dict(data=ping(0, 5, G1)[:20]), noresp=True, then=False), hello=False)
M('ping-short-8', S, 'a ping has 24 bytes', 'response of 8 bytes, without QMGuid', '', pg(resp=dict(data=lambda s: ping(0, s.q[0].cookie + 1, G1)[:8]), then=False), hello=False)
