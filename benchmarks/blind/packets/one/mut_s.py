from mutlib import *
m=M; q=Q
def R(name,sec,sent,brk,reqs,f,prov=True,why='',direct=False,**k):
    w=world(); s=session(w,direct,**k); f(w,s); 
    if not s.closed: s.close(w.cap.fr[-1][0]+.05,0)
    save(w,name,('MS-MQQB ' if not sec.startswith('2.2.20') else '')+sec,sent,brk,reqs,prov,why)
ini=q('2.1.1.initialization')
def tcp(s,w): s.c.open(w.t0); return w.t0+.002
def steps(*what,close=1,gap=.012):
    def f(w,s):
        t=tcp(s,w)
        for x in what:
            if x=='M0': s.msg(t,0,s.plain(t,0))
            elif x=='M1': s.msg(t,1,s.plain(t,1))
            elif x=='A0': s.ack(t,0)
            elif x=='A1': s.ack(t,1)
            elif x=='R1': s.msg(t,1,s.plain(t,1,dm=1))
            elif callable(x): x(w,s,t)
            else: getattr(s,x)(t)
            t+=gap
        s.close(t,close)
    return f
R('message-first','2.1.1','A session begins with EstablishConnection','a user message is the first packet',[ini,q('3.1.5.8.state-closes')],steps('M0'))
R('parameters-first','2.1.1','EstablishConnection precedes ConnectionParameters','the initiator begins with ConnectionParameters',[ini],steps('cpreq'))
R('message-before-parameters','2.1.1','User messages follow the ConnectionParameters exchange','a message straight after the EstablishConnection response',[ini],steps('ecreq','ecresp','M0'))
R('message-before-parameters-response','2.1.1','User messages follow the ConnectionParameters exchange','a message after the ConnectionParameters request, before the response',[ini],steps('ecreq','ecresp','cpreq','M0'))
R('acceptor-message-early','2.1.1','User messages follow the ConnectionParameters exchange','the acceptor sends a message instead of the ConnectionParameters response',[ini],steps('ecreq','ecresp','cpreq','M1',close=0))
R('message-after-request-only','2.1.1','The exchange is answered before anything else','the initiator sends EstablishConnection and a message in one go',[ini],steps('ecreq','M0'))
R('session-ack-early','3.1.5.5','SessionAcks belong to an open session','a SessionAck before ConnectionParameters',[ini],steps('ecreq','ecresp','A0'))
R('session-ack-first','3.1.5.5','SessionAcks belong to an open session','a SessionAck is the first packet',[ini],steps('A0'))
def early_oack(w,s,t): s.intx[0]=((1,w.A.stamp),3); s.oack(t,0)
R('order-ack-early','3.1.5.6','OrderAcks belong to an open session','an OrderAck straight after the EstablishConnection response',[ini],steps('ecreq','ecresp',early_oack))
R('second-establish','3.1.5.3','EstablishConnection comes once','the initiator sends a second request in the open session',[ini],steps('ecreq','ecresp','cpreq','cpresp','M0','ecreq'))
R('second-establish-response','3.1.5.3','EstablishConnection is answered once','the acceptor sends the response twice',[ini],steps('ecreq','ecresp','ecresp',close=0))
R('second-establish-acceptor','3.1.5.3','EstablishConnection comes once','the acceptor asks anew in the open session',[ini],steps('ecreq','ecresp','cpreq','cpresp','M0','ecresp',close=0))
R('second-parameters','3.1.5.4','ConnectionParameters comes once','a second request in the open session (a changed window)',[ini],steps('ecreq','ecresp','cpreq','cpresp','M0','cpreq'))
R('second-parameters-response','3.1.5.4','ConnectionParameters is answered once','the response comes twice',[ini],steps('ecreq','ecresp','cpreq','cpresp','cpresp',close=0))
R('parameters-by-acceptor','3.1.5.4','ConnectionParameters is asked by the initiator','the acceptor sends ConnectionParameters unasked, behind its EstablishConnection response',[ini],steps('ecreq','ecresp','cpresp',close=0))
R('acceptor-begins','3.1.5.2.3','The initiator begins','the acceptor sends EstablishConnection first',[ini],steps('ecresp',close=0))
R('parameters-without-answer','3.1.5.3.2','ConnectionParameters follows the EstablishConnection response','the initiator sends both requests without waiting',[ini],steps('ecreq','cpreq',gap=.0005))
R('establish-request-twice','3.1.5.3','EstablishConnection comes once','the request is repeated before the response',[ini],steps('ecreq','ecreq',gap=.5))
# reactions
def refuse(w,s,t):
    s.hooks.append(lambda S_,T_,d,k,p:p.patch('IH.flags',0x12)); s.ecresp(t); s.hooks.pop()
R('goes-on-after-refusal','3.1.5.3.2','An initiator closes the session on a refusal','the acceptor refuses a ServerGuid that is not its own; the initiator goes on with ConnectionParameters',[q('3.1.5.3.2.invalid-closes'),ini],lambda w,s:(s.hooks.append(lambda S_,T_,d,k,p:p.patch('EC.server',bytes(range(16))) if k=='ecreq' else None),steps('ecreq',refuse,'cpreq')(w,s)))
def named(w,s,t):
    s.hooks.append(lambda S_,T_,d,k,p:p.patch('EC.client',bytes(range(16)))); s.ecresp(t); s.hooks.pop()
R('goes-on-after-wrong-client','3.1.5.3.2','An initiator closes the session on a response for another initiator','ClientGuid of the response differs, the initiator goes on',[q('3.1.5.3.2.invalid-closes'),q('3.1.5.3.1.client-guid')],steps('ecreq',named,'cpreq','cpresp','M0'))
def acceptwrong(w,s):
    s.hooks.append(lambda S_,T_,d,k,p:p.patch('EC.server',bytes(range(16))) if k in('ecreq','ecresp') else None); steps('ecreq','ecresp',close=0)(w,s)
R('accepts-for-another','3.1.5.3.1','A request for another queue manager is refused','the request names a foreign ServerGuid, the acceptor answers with its own and CS clear',[q('3.1.5.3.1.cs'),q('3.1.5.3.1.server-guid')],lambda w,s:(s.hooks.append(lambda S_,T_,d,k,p:p.patch('EC.server',bytes(range(16))) if k=='ecreq' else None),steps('ecreq','ecresp',close=0)(w,s)))
def badthen(patch,kind='msg'):
    def f(w,s,t):
        s.hooks.append(lambda S_,T_,d,k,p:apply(p,patch)); s.msg(t,0,s.plain(t,0,label='bad')); s.hooks.pop()
    return f
def goon(w,s,t): s.ack(t+s.ato/2000,1)
H=('ecreq','ecresp','cpreq','cpresp')
R('goes-on-after-bad-signature','3.1.5.1.2','A session with a packet of wrong signature is closed','the acceptor acknowledges half a timeout later and the session goes on',[q('3.1.5.1.2.signature-closes'),m('2.2.19.1.signature')],steps(*H,badthen({'BH.sig':0x41414141}),goon))
R('goes-on-after-bad-version','3.1.5.1.2','A session with a packet of wrong version is closed','the acceptor acknowledges it',[q('3.1.5.1.2.signature-closes'),m('2.2.19.1.version-number')],steps(*H,badthen({'BH.ver':0x20}),goon))
R('goes-on-after-malformed','3.1.5.1.3','A session with a malformed packet is closed','a label longer than the packet; the acceptor acknowledges it',[q('3.1.5.1.3.malformed-closes'),m('2.2.19.3.label-length')],steps(*H,badthen({'MP.lablen':240}),goon))
def pt9(w,s,t):
    s.hooks.append(lambda S_,T_,d,k,p:p.patch('IH.flags',9)); s.ack(t,0); s.hooks.pop()
R('goes-on-after-unknown-type','2.2.1','A session with an internal packet of unknown type is closed','PT 9, and the acceptor sends a message afterwards',[q('2.2.1.packet-type-closes'),q('2.2.1.packet-type')],steps(*H,'M1',pt9,'M1',gap=.05))
R('goes-on-after-second-establish','3.1.5.3','An EstablishConnection out of turn ends the session','the acceptor answers the second request and the session goes on',[q('3.1.5.3.state-closes'),ini],steps(*H,'M0','ecreq','ecresp','M1',gap=.05))
R('goes-on-after-second-parameters','3.1.5.4','A ConnectionParameters out of turn ends the session','the acceptor answers a second request',[q('3.1.5.4.state-closes'),ini],steps(*H,'M0','cpreq','cpresp','M1',gap=.05))
R('goes-on-after-early-ack','3.1.5.5','A SessionAck before the session is open ends it','the acceptor answers the ConnectionParameters that follow it',[q('3.1.5.5.state-closes'),ini],steps('ecreq','ecresp','A0','cpreq','cpresp','M0',gap=.05))
R('goes-on-after-early-message','3.1.5.8','A message before the session is open ends it','the acceptor goes on with the handshake',[q('3.1.5.8.state-closes'),ini],steps('ecreq','ecresp','M0','cpreq','cpresp','M1',gap=.05))
def badq(w,s,t): s.msg(t,0,s.plain(t,0,dq=(2,3)))
R('goes-on-after-bad-queue-type','2.2.20 / 2.2.19.2','A packet with another DQ ends the session','DQ 2, the acceptor acknowledges it',[m('2.2.19.2.destination-type-refused'),m('2.2.19.2.destination-type')],steps(*H,badq,goon))
def bada(w,s,t): s.msg(t,0,s.plain(t,0,aq=(4,3),mflags=1))
R('goes-on-after-bad-admin-type','2.2.20 / 2.2.19.2','A packet with another AQ ends the session','AQ 4, the acceptor acknowledges it',[m('2.2.19.2.admin-type-refused'),m('2.2.19.2.admin-type')],steps(*H,bada,goon))
# acknowledgments of the session
def sess(n0=3,dm=0,patch=None,n1=0,wait=None,after=None):
    """n0 messages of the initiator, acknowledged in time, the SessionAck patched"""
    def f(w,s):
        t=s.hand(w.t0)
        for i in range(n0): s.msg(t,0,s.plain(t,0,dm=dm if isinstance(dm,int) else dm[i],label='n %d'%i)); t+=.004
        for i in range(n1): s.msg(t,1,s.plain(t,1)); t+=.004
        t+=wait if wait is not None else ((s.rto/1000-.004*n0+.001) if dm else s.ato/2000-.02)
        s.hooks.append(lambda S_,T_,d,k,p:apply(p,patch)); s.ack(t,1); s.hooks.pop()
        if after: after(w,s,t+.02)
        s.close(t+3,0)
    return f
K='2.2.20.4'; ws=q('3.1.1.6.1.acknowledged-were-sent')
R('ack-ahead','3.1.1.6.1','AckSequenceNumber counts messages received','4 where 3 were sent',[ws,m(K+'.ack-sequence-number')],sess(patch={'SE.ack':4}))
R('ack-ffff','3.1.1.6.1','AckSequenceNumber counts messages received','0xFFFF',[ws,m(K+'.ack-sequence-number')],sess(patch={'SE.ack':0xFFFF}))
R('ack-counts-handshake','3.1.1.6.1','AckSequenceNumber counts user messages only','the two handshake packets are counted too: 5 for 3',[ws,m(K+'.ack-sequence-number')],sess(patch={'SE.ack':lambda v:v+2}))
R('ack-behind','2.2.20.4','AckSequenceNumber is the count of messages received','2 where 3 came in ten seconds before, and no further SessionAck',[m(K+'.ack-sequence-number')],sess(patch={'SE.ack':2}))
R('ack-zero-based','2.2.20.4','Sequence numbers begin with 1','the first message is acknowledged as number 0',[m(K+'.sequence-number-from-one'),m(K+'.ack-sequence-number')],sess(n0=1,patch={'SE.ack':0}))
def back(w,s,t):
    s.msg(t,0,s.plain(t,0)); s.hooks.append(lambda S_,T_,d,k,p:p.patch('SE.ack',2)); s.ack(t+s.ato/2000,1); s.hooks.pop()
R('ack-goes-back','3.1.1.6.1','AckSequenceNumber never goes back','3, then 2',[q('3.1.1.6.1.never-decreases'),m(K+'.ack-sequence-number')],sess(after=back))
def delta(w,s,t):
    s.msg(t,0,s.plain(t,0)); s.hooks.append(lambda S_,T_,d,k,p:p.patch('SE.ack',1)); s.ack(t+s.ato/2000,1); s.hooks.pop()
R('ack-counts-since-last','3.1.1.6.1','AckSequenceNumber counts the whole session','the second SessionAck counts only what came since the first: 3, then 1',[q('3.1.1.6.1.never-decreases'),m(K+'.ack-sequence-number')],sess(after=delta))
us=q('3.1.7.1.3.user-messages-sent'); rs=q('3.1.7.1.3.recoverable-messages-sent')
R('sent-count-wrong','3.1.7.1.3','UserMsgSequenceNumber is the count of messages sent','2 where the acceptor sent none',[us,m(K+'.user-msg-sequence-number')],sess(patch={'SE.sent':2}))
R('sent-count-low','3.1.7.1.3','UserMsgSequenceNumber is the count of messages sent','0 where the acceptor sent 2',[us,m(K+'.user-msg-sequence-number')],sess(n1=2,patch={'SE.sent':0}))
R('sent-count-next','3.1.7.1.3','UserMsgSequenceNumber is the count of messages sent','the number of the next message: 3 after 2',[us,m(K+'.user-msg-sequence-number')],sess(n1=2,patch={'SE.sent':lambda v:v+1}))
R('recoverable-count-none','2.2.20.4','RecoverableMsgSeqNumber is 0 if no recoverable message was sent','1',[m(K+'.recoverable-sequence-number-zero'),rs],sess(patch={'SE.rsent':1}))
R('recoverable-count-all','2.2.20.4','RecoverableMsgSeqNumber counts recoverable messages alone','it counts the 2 express messages too',[m(K+'.recoverable-sequence-number-zero'),m(K+'.recoverable-sequence-number'),rs],sess(n1=2,patch={'SE.rsent':2}))
R('fields-swapped','2.2.20.4','UserMsgSequenceNumber is bytes 8-9, AckSequenceNumber bytes 0-1','the two are swapped: acknowledges 2, sent 3',[us,m(K+'.ack-sequence-number')],sess(n1=2,patch={'SE.ack':2,'SE.sent':3}))
rn=q('3.1.6.4.recoverable-none')
R('recoverable-number-without-flags','3.1.6.4','Both recoverable fields are zero or neither','number 1 with flags 0 for express messages',[rn,m(K+'.recoverable-ack-none')],sess(patch={'SE.rack':1}))
R('recoverable-flags-without-number','3.1.6.4','Both recoverable fields are zero or neither','flags 7, number 0',[rn],sess(dm=1,patch={'SE.rack':0}))
R('recoverable-number-cumulative','3.1.6.4','RecoverableMsgAckSeqNumber is the lowest acknowledged','the highest, 3, with flags 1',[m(K+'.recoverable-ack-lowest'),m(K+'.recoverable-ack-flags')],sess(dm=1,patch={'SE.rack':3,'SE.rflags':1}),prov=False,why='messages 1 and 2 may not be on disk yet')
R('recoverable-number-highest-flags-kept','3.1.6.4','bit k stands for number + k','number 3 (the highest) with flags 7: messages 4 and 5 were never sent',[q('3.1.1.6.1.recoverable-were-sent')],sess(dm=1,patch={'SE.rack':3}))
R('recoverable-first-bit','3.1.6.4','Bit 0 of the flags is set','flags 6',[q('3.1.6.4.recoverable-lowest'),m(K+'.recoverable-ack-first-bit')],sess(dm=1,patch={'SE.rflags':6}))
R('recoverable-bits-one-based','3.1.6.4','Bit 0 stands for the number itself','flags shifted by one: 0xE for three messages',[q('3.1.6.4.recoverable-lowest'),q('3.1.1.6.1.recoverable-were-sent'),m(K+'.recoverable-ack-first-bit')],sess(dm=1,patch={'SE.rflags':0xE}))
R('recoverable-msb-first','3.1.6.4','Bit 0 is the least significant','flags 0xE0000000 for three messages',[q('3.1.6.4.recoverable-lowest'),q('3.1.1.6.1.recoverable-were-sent')],sess(dm=1,patch={'SE.rflags':0xE0000000}))
R('recoverable-all-ones','3.1.1.6.1','Only messages sent are acknowledged','flags 0xFFFFFFFF for three messages',[q('3.1.1.6.1.recoverable-were-sent')],sess(dm=1,patch={'SE.rflags':0xFFFFFFFF}))
R('recoverable-ahead','3.1.1.6.1','Only messages sent are acknowledged','number 9, flags 1, with 3 sent',[q('3.1.1.6.1.recoverable-were-sent')],sess(dm=1,patch={'SE.rack':9,'SE.rflags':1}))
R('recoverable-numbers-express','3.1.1.4','Express messages have no recoverable number','express, recoverable, express: acknowledged as number 2 (place among all)',[q('3.1.1.6.1.recoverable-were-sent'),m(K+'.recoverable-count')],sess(dm=[0,1,0],patch={'SE.rack':2,'SE.rflags':1}))
def again(w,s,t):
    s.msg(t,0,s.plain(t,0,dm=1)); s.hooks.append(lambda S_,T_,d,k,p:apply(p,{'SE.rack':1,'SE.rflags':15})); s.ack(t+s.rto/1000+.001,1); s.hooks.pop()
R('recoverable-twice','3.1.6.4','Each recoverable message is acknowledged once','number 1, flags 7, then number 1, flags 15',[q('3.1.6.4.recoverable-once'),m(K+'.recoverable-ack-lowest')],sess(dm=1,after=again))
def notcleared(w,s,t):
    s.msg(t,0,s.plain(t,0)); s.hooks.append(lambda S_,T_,d,k,p:apply(p,{'SE.rack':1,'SE.rflags':7})); s.ack(t+s.ato/2000,1); s.hooks.pop()
R('recoverable-flags-kept','3.1.6.4','RecoverableMsgAckFlags is cleared after a SessionAck','the next SessionAck, for an express message, repeats them',[q('3.1.6.4.recoverable-once'),m(K+'.recoverable-ack-none')],sess(dm=1,after=notcleared))
R('window-zero','2.2.20.4','WindowSize is at least 1','0',[m(K+'.window-size-range')],sess(patch={'SE.window':0}))
R('window-32','2.2.20.4','WindowSize should be 0x40','32',[m(K+'.window-size-default')],sess(patch={'SE.window':32}))
R('window-swapped','2.2.20.4','WindowSize is little-endian','0x4000',[m(K+'.window-size-default')],sess(patch={'SE.window':0x4000}))
def piggy(n,at,dm=0,patch=None,first=True):
    def f(w,s):
        t=s.hand(w.t0)
        for i in range(n): s.msg(t,0,s.plain(t,0,dm=dm)); t+=.003
        t+=at*((s.rto/1000) if dm else s.ato/2000)
        s.hooks.append(lambda S_,T_,d,k,p:apply(p,patch)); s.msg(t,1,s.plain(t,1,piggy=1)); s.hooks.pop(); s.close(t+.1,1)
    return f
R('piggyback-nothing','3.1.7.11','A SessionHeader comes only with something to acknowledge','a message of the acceptor carries one though nothing came in',[q('3.1.7.11.something-to-acknowledge')],piggy(0,.9))
R('piggyback-early','3.1.7.11','A SessionHeader comes after three quarters of the time','after a tenth of the ten seconds',[q('3.1.7.11.late-enough')],piggy(2,.1))
R('piggyback-half','3.1.7.11','A SessionHeader comes after three quarters of the time','after half of the ten seconds',[q('3.1.7.11.late-enough')],piggy(2,.5))
R('piggyback-count-before','3.1.7.1.3','UserMsgSequenceNumber counts the message itself','it is 0 in the first message that carries it',[us,m(K+'.user-msg-sequence-number')],piggy(2,.9,patch={'SE.sent':0}))
R('piggyback-ahead','3.1.1.6.1','AckSequenceNumber counts messages received','12 for 2, in a SessionHeader of a message',[ws,m(K+'.ack-sequence-number')],piggy(2,.9,patch={'SE.ack':12}))
R('piggyback-recoverable','3.1.7.1.3','RecoverableMsgSeqNumber counts recoverable messages','1 in an express message, none was recoverable',[m(K+'.recoverable-sequence-number-zero'),rs],piggy(2,.9,patch={'SE.rsent':1}))
it=q('3.1.5.8.2.acknowledged-in-time')
R('ack-late-express','3.1.5.8.2','A message is acknowledged within half of AckTimeout','after 17 of 20 seconds',[it],sess(wait=17.))
R('ack-late-recoverable','3.1.5.8.7','A recoverable message is acknowledged within RecoverableAckTimeout','after 9 seconds with 500 ms',[it],sess(dm=1,wait=9.))
R('ack-never','3.1.6.4','A message is acknowledged','a message every 5 s for 40 s, never a SessionAck',[it],lambda w,s:[s.msg(t,0,s.plain(t,0)) for h in [s.hand(w.t0)] for t in [h+5*i for i in range(9)]])
def many(n,dm,ackat,gap=.001):
    def f(w,s):
        t=s.hand(w.t0)
        for i in range(n): s.msg(t,0,s.plain(t,0,dm=dm,label='b%d'%i)); t+=gap
        s.ack(t+ackat,1); s.close(t+ackat+.1,0)
    return f
def many40(w,s):
    t=s.hand(w.t0)
    for i in range(45): s.msg(t,0,s.plain(t,0,dm=1,label='b%d'%i)); t+=.002
    t+=s.rto/1000-.08
    s.hooks.append(lambda S_,T_,d,k,p:apply(p,{'SE.rflags':0xFFFFFFFF})); s.ack(t,1); s.hooks.pop(); s.close(t+.2,0)
R('recoverable-45','3.1.5.8.7','The acknowledgment goes at once when 32 recoverable messages wait','45 in a row, acknowledged only by the timer and only 32 of them',[q('3.1.5.8.7.recoverable-at-once')],many40)
R('window-overrun','3.1.7.1','No more than WindowSize messages go unacknowledged','80 messages without an acknowledgment',[q('3.1.7.1.window')],many(80,0,1.))
R('window-overrun-65','3.1.7.1','No more than WindowSize messages go unacknowledged','70 messages, acknowledged after half of AckTimeout',[q('3.1.7.1.window')],many(70,0,9.9))
def second(w,s):
    t=s.hand(w.t0)
    for i in range(4): s.msg(t,0,s.plain(t,0)); t+=.003
    s.ack(t+9.98,1); s.close(t+20,0); t+=30; s2=session(w); t=s2.hand(t); s2.msg(t,0,s2.plain(t,0)); return s2,t
def carry(w,s):
    s2,t=second(w,s); s2.hooks.append(lambda S_,T_,d,k,p:p.patch('SE.ack',5)); s2.ack(t+9.99,1); s2.close(t+11,0)
R('counts-carried-over','3.1.3.2','The counts begin anew in each session','the SessionAck of the second session counts those of the first: 5 for 1',[ws,m(K+'.ack-sequence-number')],carry)
def carry2(w,s):
    s2,t=second(w,s); s2.msg(t+.01,1,s2.plain(t,1)); s2.hooks.append(lambda S_,T_,d,k,p:p.patch('SE.sent',5)); s2.ack(t+9.99,0); s2.close(t+11,0)
R('sent-count-carried-over','3.1.3.2','The counts begin anew in each session','UserMsgSequenceNumber of the second session goes on from the first: 5',[us,m(K+'.user-msg-sequence-number')],carry2)
# transactional sequences
def tx(*ops,direct=False):
    """ops: ('m', th-override) | ('ack',) | ('o',kw) | ('w',seconds) | function(w,s,t)"""
    def f(w,s):
        t=s.hand(w.t0); s.ms=[]
        for o in ops:
            if callable(o): t=o(w,s,t) or t
            elif o[0]=='m':
                x=s.txm(t,0,th=dict(o[1]) if len(o)>1 else {}); 
                if len(o)>2: x.update(o[2])
                s.ms.append(x); s.msg(t,0,x); t+=.004
            elif o[0]=='ack': t+=s.rto/1000+.002; s.ack(t,1); t+=.01
            elif o[0]=='o': s.oack(t,1,**(o[1](w,s) if len(o)>1 else {})); t+=.01
            elif o[0]=='w': t+=o[1]
        s.close(t+.1,0)
    return f
nn=q('3.1.7.1.3.next-number'); pn=q('3.1.7.1.3.previous-number')
R('tx-gap','3.1.7.1.3','A message sent first has the next number','1, then 3 (previous 1)',[nn],tx(('m',),('m',dict(num=3,prev=1))))
R('tx-gap-previous-2','3.1.7.1.3','A message sent first has the next number','1, then 4 with previous 3, which were never sent',[nn,pn],tx(('m',),('m',dict(num=4,prev=3))))
R('tx-previous-zero','3.1.7.1.3','The previous number is the one before','1, 2, 3 all with previous 0',[pn,m('2.2.20.5.previous')],tx(('m',),('m',dict(prev=0)),('m',dict(prev=0))))
R('tx-previous-first','3.1.7.1.3','The previous number is the one before','number 3 names 1 as the previous',[pn,m('2.2.20.5.previous')],tx(('m',),('m',),('m',dict(prev=1))))
R('tx-number-twice','3.1.7.1.3','Each new message has the next number','two messages (other MessageID and body) with number 2',[nn,m('2.2.20.5.sequence-number')],tx(('m',),('m',),('m',dict(num=2,prev=1),dict(body=b'different body...',label='other'))))
R('tx-number-back','3.1.7.1.3','Each new message has the next number','1, 2, 3, then a new message with number 1',[nn,m('2.2.20.5.sequence-number')],tx(('m',),('m',),('m',),('m',dict(num=1,prev=0))))
R('tx-numbers-by-session','3.1.1.5','Sequence numbers count transactional messages of the sequence','an express message between counts too: 1, then 3',[nn],tx(('m',),lambda w,s,t:s.msg(t,0,s.plain(t,0)),('m',dict(num=3,prev=2))))
def ov(**k): return lambda w,s,t:s.__dict__.update(k)
def newseq(o,dt=0,num=1,prev=0):
    def f(w,s,t): x=s.txm(t,0,th=dict(seq=(o,w.I.stamp+dt),num=num,prev=prev)); s.msg(t,0,x); return t+.01
    return f
aa=q('3.1.1.5.all-acknowledged'); ns=q('3.1.1.5.next-sequence'); ol=q('3.1.1.5.older-sequence'); fn=q('3.1.1.5.first-number')
R('sequence-each-message','3.1.1.5','A new sequence begins only when all of the old are acknowledged','each message opens a sequence of its own, unacknowledged',[aa],tx(('m',),newseq(2),newseq(3)))
R('sequence-after-partial','3.1.1.5','A new sequence begins only when all of the old are acknowledged','3 sent, 2 acknowledged, the next opens Ordinal 2',[aa],tx(('m',),('m',),('m',),('ack',),('o',lambda w,s:dict(num=2)),newseq(2)))
R('sequence-continued','3.1.1.5','When all are acknowledged the Ordinal grows by 1','after the OrderAck of all, number 3 of the old sequence follows',[ns],tx(('m',),('m',),('ack',),('o',),newseq(1,num=3,prev=2)))
R('sequence-jump','3.1.1.5','The next sequence has the next Ordinal','Ordinal 5 after 1',[ns],tx(('m',),('m',),('ack',),('o',),newseq(5)))
R('sequence-new-stamp','3.1.1.5','The next sequence keeps the TimeStamp','Ordinal 2 with TimeStamp 100 higher',[ns],tx(('m',),('m',),('ack',),('o',),newseq(2,100)))
R('sequence-numbers-go-on','3.1.1.5','A new sequence begins with number 1','Ordinal 2, number 3, previous 2',[fn,m('2.2.20.5.sequence-number-from-one')],tx(('m',),('m',),('ack',),('o',),newseq(2,num=3,prev=2)))
R('sequence-first-previous-2','3.1.1.5','The first message of a sequence has no previous one','Ordinal 2, number 1, previous 2 (the last of the old sequence)',[m('2.2.20.5.first-has-no-previous'),pn],tx(('m',),('m',),('ack',),('o',),newseq(2,num=1,prev=2)))
R('sequence-old','3.1.1.5','No message is sent on a prior sequence','after Ordinal 2 a new message on Ordinal 1',[ol],tx(('m',),('m',),('ack',),('o',),newseq(2),newseq(1,num=3,prev=2)))
R('sequence-stamp-lower','3.1.1.5','No message is sent on a prior sequence','after the first sequence one with a lower TimeStamp, Ordinal 2',[ol,ns],tx(('m',),('m',),('ack',),('o',),newseq(2,-5000)))
def resend(i,dt,**th):
    def f(w,s,t):
        t=max(t,s.t1)+dt if hasattr(s,'t1') else t+dt
        x=dict(s.ms[i]); x['th']=dict(x['th'],**th); s.msg(t,0,x); return t+.004
    return f
R('resend-soon','3.1.6.5','Unacknowledged messages are sent again after 30 s','after 2 s',[q('3.1.6.5.resend-interval')],tx(('m',),('m',),('ack',),('w',1.4),resend(0,.1),resend(1,0)))
R('resend-renumbered','3.1.7.1.3','A message sent again keeps its number','the same MessageID after 31 s with number 3',[q('3.1.7.1.3.resent-number')],tx(('m',),('m',),('ack',),('w',31),resend(0,.1,num=3,prev=2)))
R('resend-new-sequence','3.1.7.1.3','A message sent again keeps its sequence','the same MessageID after 31 s on Ordinal 2, number 1',[q('3.1.7.1.3.resent-number'),aa],tx(('m',),('m',),('ack',),('w',31),lambda w,s,t:resend(0,.1,seq=(2,w.I.stamp))(w,s,t)))
R('resend-order','3.1.6.5','Messages are sent again in order','3, 2, 1 after 31 s',[q('3.1.6.5.resend-order')],tx(('m',),('m',),('m',),('ack',),('w',31),resend(2,.1),resend(1,0),resend(0,0)))
R('resend-previous-higher','3.1.7.1.3','A message sent again names the same previous number or a lower one','number 2 again, previous 4',[q('3.1.7.1.3.resent-previous'),m('2.2.20.5.previous-before')],tx(('m',),('m',),('ack',),('w',31),resend(0,.1),resend(1,0,prev=4)))
R('resend-previous-same','3.1.7.1.3','A message sent again names the same previous number or a lower one','number 3, first with previous 2, again with previous 3',[q('3.1.7.1.3.resent-previous'),m('2.2.20.5.previous-before')],tx(('m',),('m',),('m',),('ack',),('w',31),resend(0,.1),resend(1,0),resend(2,0,prev=3)))
# order acks
io=q('3.1.1.6.2.in-order'); ac=q('3.1.5.8.6.accepted')
R('order-ack-ahead','3.1.1.6.2','An OrderAck acknowledges what was received','3 where 2 came',[io,ac],tx(('m',),('m',),('ack',),('o',lambda w,s:dict(num=3))))
R('order-ack-far-ahead','3.1.1.6.2','An OrderAck acknowledges what was received','0xFFFFFFFF',[io,ac],tx(('m',),('ack',),('o',lambda w,s:dict(num=0xFFFFFFFF))))
R('order-ack-over-gap','3.1.1.6.2','No message behind a gap is acknowledged','1, 2 and 4 (previous 3) came; 4 is acknowledged',[io,ac,nn],tx(('m',),('m',),('m',dict(num=4,prev=3)),('ack',),('o',lambda w,s:dict(num=4))))
R('order-ack-back','3.1.1.6.2','The number acknowledged never goes back','2, then 1',[q('3.1.1.6.2.never-decreases')],tx(('m',),('m',),('m',),('ack',),('o',lambda w,s:dict(num=2)),('w',.6),('o',lambda w,s:dict(num=1))))
R('order-ack-soon','3.1.2.7','An OrderAck waits 500 ms','20 ms after the message',[q('3.1.2.7.order-ack-delay')],tx(('m',),('m',),('w',.02),('o',)))
R('order-ack-no-transaction','2.2.4.1','An OrderAck names a sequence that was sent','only express messages came',[q('2.2.4.1.sequence')],tx(lambda w,s,t:(s.msg(t,0,s.plain(t,0)),s.intx.__setitem__(1,((1,w.I.stamp),1)))and None,('w',.6),('o',)))
R('order-ack-own','2.2.4.1','An OrderAck goes to the sender of the sequence','the initiator acknowledges its own sequence',[q('2.2.4.1.sequence'),m('2.2.18.1.6.order-ack-sender')],tx(('m',),('m',),('ack',),('w',.2),lambda w,s,t:(s.intx.__setitem__(0,s.intx[1]),s.oack(t,0))and None))
R('order-ack-next-sequence','2.2.4.1','An OrderAck names the sequence of the message','the Ordinal that comes next',[q('2.2.4.1.sequence')],tx(('m',),('m',),('ack',),('o',lambda w,s:dict(seq=(2,w.I.stamp)))))
R('order-ack-outgoing-id','2.2.4.1','An OrderAck names the sequence of the message','the OutgoingTxSequenceID of the acceptor, as the table of 3.1.7.17 says',[q('2.2.4.1.sequence')],tx(('m',),('m',),('ack',),('o',lambda w,s:dict(seq=(1,w.A.stamp)))),False,'the table of 3.1.7.17 says just this, against 2.2.4.1')
# final acks
R('final-ack-unwanted','3.1.7.2.2','A positive FinalAck is sent where journaling or FA ask for it','none of JN, JP, FA is set',[q('3.1.7.2.2.wanted')],tx(('m',),('ack',),('o',),('w',.3),lambda w,s,t:s.fack(t,1,s.ms[0])))
R('final-ack-express-message','2.2.5.1','A FinalAck names a transactional message','it names an express message, sequence zeros',[q('2.2.5.1.sequence'),q('3.1.7.2.2.wanted')],tx(lambda w,s,t:(s.ms.append(s.plain(t,0,jp=1)),s.msg(t,0,s.ms[-1]),s.fack(t+3,1,dict(s.ms[0],th=dict(seq=(0,0),num=1,prev=0))))and t+3))
R('final-ack-future','2.2.5.1','A FinalAck names a message that was sent','number 3 of the sequence, MessageID of the next one',[q('2.2.5.1.sequence')],tx(('m',{},dict(jp=1)),('m',{},dict(jp=1)),('ack',),('o',),('w',.3),lambda w,s,t:s.fack(t,1,dict(s.ms[1],mid=s.ms[1]['mid']+1,th=dict(s.ms[1]['th'],num=3,prev=2)))))
R('final-ack-nack-other-number','2.2.5.1','A FinalAck carries the numbers of its message','NACK_NOT_TRANSACTIONAL_Q with TxSequenceNumber 0',[q('2.2.5.1.sequence')],tx(('m',),('ack',),lambda w,s,t:s.fack(t,1,dict(s.ms[0],th=dict(s.ms[0]['th'],num=0)),0x8009)))
# administration acknowledgments
def adm(cls=2,mflags=5,dm=0,delay=.02,patch=None,**ch):
    def f(w,s):
        t=s.hand(w.t0); x=s.plain(t,0,aq=(2,11),mflags=mflags,dm=dm,body=b'the body that may come back',**ch.pop('orig',{})); s.msg(t,0,x); t+=delay
        y=s.plain(t,1,dq=(3,11),rq=(2,17),cls=cls,corr=x['src']+struct.pack('<I',x['mid']),dm=dm,ttrq=0xFFFFFFFF,ttbr=0xFFFFFFFF,label='',body=b'' if cls in(2,0x4000) else x['body'],bodytype=0x11)
        y.update({k:(v(w,s,x) if callable(v) else v) for k,v in ch.items()}); s.hooks.append(lambda S_,T_,d,k,p:apply(p,patch)); s.msg(t,1,y); s.hooks.pop(); s.close(t+.05,0)
    return f
co=q('3.1.7.15.correlation'); V='3.1.7.15'
R('admin-correlation-zero',V,'CorrelationID is the identifier of the message','zeros',[co,m('2.2.19.3.correlation-id-acknowledged')],adm(corr=bytes(20)))
R('admin-correlation-id',V,'CorrelationID is the identifier of the message','the MessageID is one too high',[co,m('2.2.19.3.correlation-id-acknowledged')],adm(corr=lambda w,s,x:x['src']+struct.pack('<I',x['mid']+1)))
R('admin-correlation-order',V,'CorrelationID is GUID, then number','the number stands before the GUID',[co,m('2.2.19.3.correlation-id-acknowledged')],adm(corr=lambda w,s,x:struct.pack('<I',x['mid'])+x['src']))
R('admin-correlation-own',V,'CorrelationID is the identifier of the message','the GUID of the acknowledging manager',[co,m('2.2.19.3.correlation-id-acknowledged')],adm(corr=lambda w,s,x:w.A.guid+struct.pack('<I',x['mid'])))
def mix(a,b):
    def f(w,s):
        t=s.hand(w.t0); x=s.plain(t,0,aq=(2,11),mflags=1,dm=a); s.msg(t,0,x); t+=.02
        s.msg(t,1,s.plain(t,1,dq=(3,11),rq=(2,17),cls=2,corr=x['src']+struct.pack('<I',x['mid']),dm=b,ttrq=0xFFFFFFFF,label='',body=b'')); s.close(t+.05,0)
    return f
R('admin-express-for-recoverable',V,'A recoverable message is acknowledged by a recoverable one','DM 0 for DM 1',[q(V+'.delivery')],mix(1,0))
R('admin-recoverable-for-express',V,'An express message is acknowledged by an express one','DM 1 for DM 0',[q(V+'.delivery')],mix(0,1))
R('admin-reach-time',V,'TimeToReachQueue is 0xFFFFFFFF','that of the message, 345600',[q(V+'.times')],adm(ttrq=345600))
R('admin-receive-time',V,'TimeToBeReceived is 0xFFFFFFFF','3600',[q(V+'.times')],adm(ttbr=3600))
def asks(**ch):
    def f(w,s):
        t=s.hand(w.t0); x=s.plain(t,0,aq=(2,11),mflags=1); s.msg(t,0,x); t+=.02
        y=s.plain(t,1,dq=(3,11),rq=(2,17),cls=2,corr=x['src']+struct.pack('<I',x['mid']),ttrq=0xFFFFFFFF,label='',body=b''); y.update({k:(v(w) if callable(v) else v) for k,v in ch.items()}); s.msg(t,1,y); s.close(t+.05,0)
    return f
R('admin-asks',V,'An acknowledgment asks for none','PA set with AQ 2',[q(V+'.plain')],asks(mflags=1,aq=(2,12)))
R('admin-journal',V,'An acknowledgment is not journaled','JP set',[q(V+'.plain')],asks(jp=1))
R('admin-journal-negative',V,'An acknowledgment is not journaled','JN set',[q(V+'.plain')],asks(jn=1))
R('admin-encrypted',V,'An acknowledgment is not encrypted','PrivacyLevel 3, RC4, EB and a key',[q(V+'.plain')],asks(priv=3,enc=0x6801,body=b'\x91\x02\xfe\x71',sec=lambda w:dict(st=2,sid=w.A.guid,eb=1,key=simpleblob(0x6801,w.rnd))))
R('admin-signed',V,'An acknowledgment is not signed','ST 2 with a signature',[q(V+'.unsigned')],asks(hash=0x800E,sec=lambda w:dict(st=2,sid=w.A.guid,sign=w.rnd.randbytes(128))))
R('admin-wrong-kind',V,'An acknowledgment is sent where its kind was asked for','ACK_REACH_QUEUE where only NA was asked',[q(V+'.requested')],adm(mflags=4))
R('admin-receive-not-asked',V,'An acknowledgment is sent where its kind was asked for','ACK_RECEIVE where only PA was asked',[q(V+'.requested')],adm(cls=0x4000,mflags=1))
R('admin-nack-not-asked',V,'An acknowledgment is sent where its kind was asked for','NACK_Q_EXCEED_QUOTA where only PA was asked',[q(V+'.requested')],adm(cls=0x8003,mflags=1))
R('admin-queue-other',V,'It goes to the administration queue of the message','to private queue 12, AdminQueue is 11',[q(V+'.destination')],adm(dq=(3,12)))
R('admin-queue-response',V,'It goes to the administration queue of the message','to the response queue of the message (21)',[q(V+'.destination')],adm(dq=(3,21),orig=dict(rq=(2,21))))
R('admin-response-missing',V,'Its response queue is the destination of the message','RQ 0',[q(V+'.response-queue')],adm(rq=(0,None)))
R('admin-response-other',V,'Its response queue is the destination of the message','private queue 18 for 17',[q(V+'.response-queue')],adm(rq=(2,18)))
R('admin-nack-no-body',V,'A negative one returns the body','no body in NACK_Q_EXCEED_QUOTA',[q(V+'.body')],adm(cls=0x8003,body=b''))
R('admin-nack-body-cut',V,'A negative one returns the body','the first 8 bytes alone',[q(V+'.body')],adm(cls=0x8003,body=b'the body'))
# identifiers and resends over sessions
def recon(change):
    def f(w,s):
        t=s.hand(w.t0); xs=[s.plain(t,0,dm=1,label='r%d'%i) for i in range(3)]
        for x in xs: s.msg(t,0,x); t+=.002
        s.closed=True; s.c.close(t+.05,1); t+=6; s2=session(w); t=s2.hand(t)
        change(w,s2,xs,t); s2.close(t+.6,0)
    return f
def rc1(w,s,xs,t):
    for i,x in enumerate(xs): s.msg(t+i*.002,0,dict(x,body=b'another text here',label='changed %d'%i))
R('resent-other-content','3.1.7.1.1','No two different messages share a MessageID','after a reconnect the same identifiers carry other bodies and labels',[q('3.1.7.1.1.identifier'),m('2.2.19.2.message-id-unique')],recon(rc1))
def rc2(w,s,xs,t):
    for i,x in enumerate(xs): s.msg(t+i*.002,0,s.plain(t,0,mid=xs[0]['mid']+i,body=b'new %d'%i,dq=(3,40)))
R('identifiers-per-session','3.1.7.1.1','Identifiers go on over sessions','the second session counts MessageID from the first one of the session before, for messages to another queue',[q('3.1.7.1.1.identifier'),m('2.2.19.2.message-id-unique')],recon(rc2))
def desc(w,s):
    t=s.hand(w.t0); b=w.I.mid+10
    for i in range(4): s.msg(t,0,s.plain(t,0,mid=b-i)); t+=.003
    s.close(t+.1,0)
R('identifiers-descending','3.1.7.1.1','Identifiers rise','four new messages to one queue with falling identifiers',[q('3.1.7.1.1.ordinal')],desc)
R('direct-server-guid','3.1.5.2.3','ServerGuid is null for direct format names','ServerGuid set, the messages are to direct names',[q('3.1.5.2.3.server-guid')],lambda w,s:[s.msg(t,0,s.plain(t,0,direct=True)) for t in [s.hand(w.t0)]])
R('null-server-guid-private','3.1.5.2.3','ServerGuid is set where no direct name is used','ServerGuid null, the messages are to private queues',[q('3.1.5.2.3.server-guid')],lambda w,s:[s.msg(t,0,s.plain(t,0,direct=False)) for t in [s.hand(w.t0)]],direct=True)
def guidchange(w,s):
    t=s.hand(w.t0); s.msg(t,0,s.plain(t,0)); s.msg(t+.01,0,s.plain(t,0,src=bytes(range(100,116)))); s.close(t+.05,1)
R('source-changes','2.2.20 / 2.2.18.1.3','A queue manager has one identifier','the second message has another SourceQueueManager with RC 0',[m('2.2.18.1.3.queue-manager-guid-constant'),m('2.2.19.2.source-queue-manager')],guidchange,False,'the initiator may be a router that does not count itself')
