"""MQDMPR-3.1.7.2.7.nack-receive-timeout is broken.

An expired message is reported as NackReceiveTimeout where negative receive acknowledgement was asked for.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue adm -> ok
5. open adm for receive as ra -> ok
6. send 'a' to q1 (time to be received 1 s, acknowledgments negative receive to adm) -> ok
7. send 'b' to q1 (time to be received 1 s, acknowledgments positive receive to adm) -> ok
8. 2500 ms pass
9. receive from adm -> fails with MQ_ERROR
10. a look into adm, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_401569f84e969abe.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "journals",
 "test": "journals/test_mqdmpr_3_1_7_2_1_acknowledgments.py::test_an_expired_message_is_reported",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.2.7.nack-receive-timeout",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "ackC002-a@adm"
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "create queue adm -> ok",
  "open adm for receive as ra -> ok",
  "send 'a' to q1 (time to be received 1 s, acknowledgments negative receive to adm) -> ok",
  "send 'b' to q1 (time to be received 1 s, acknowledgments positive receive to adm) -> ok",
  "2500 ms pass",
  "receive from adm -> fails with MQ_ERROR",
  "a look into adm, by receiving all there is -> it is empty"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1"
   },
   {
    "method": "queues.open",
    "name": "s",
    "queue": "q1",
    "access": "send"
   },
   {
    "method": "queues.open",
    "name": "r",
    "queue": "q1",
    "access": "receive"
   },
   {
    "method": "queues.create",
    "queue": "adm"
   },
   {
    "method": "queues.open",
    "name": "ra",
    "queue": "adm",
    "access": "receive"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "a",
    "acks": "negative_receive",
    "admin": "adm",
    "live_s": 1
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "acks": "positive_receive",
    "admin": "adm",
    "live_s": 1
   },
   {
    "method": "clock.advance",
    "by_ms": 2500
   },
   {
    "method": "messages.receive",
    "handle": "ra"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_2_7_nack_receive_timeout():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
