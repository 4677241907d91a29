"""MQDMPR-3.1.1.12.ack-pos-arrival is broken.

When asked for, an acknowledgement tells that the message was put in its queue.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue adm -> ok
5. open adm for receive as ra -> ok
6. send 'a' to q1 (acknowledgments positive arrival to adm) -> ok
7. send 'b' to q1 (recoverable, acknowledgments positive receive to adm) -> ok
8. send 'c' to q1 -> ok
9. send 'd' to q1 (acknowledgments positive arrival, positive receive, negative arrival, negative receive to adm) -> ok
10. receive from q1 -> message 'a'
11. receive from q1 -> message 'b'
12. receive from q1 -> message 'c'
13. receive from q1 -> message 'd'
14. receive from adm -> fails with MQ_ERROR
15. a look into adm, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_be8e17ee8ead0cca.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "journals",
 "test": "journals/test_mqdmpr_3_1_7_2_1_acknowledgments.py::test_arrivals_and_receives_are_reported_as_asked",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.1.12.ack-pos-arrival",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "ack0002-a@adm"
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
  "send 'a' to q1 (acknowledgments positive arrival to adm) -> ok",
  "send 'b' to q1 (recoverable, acknowledgments positive receive to adm) -> ok",
  "send 'c' to q1 -> ok",
  "send 'd' to q1 (acknowledgments positive arrival, positive receive, negative arrival, negative receive to adm) -> ok",
  "receive from q1 -> message 'a'",
  "receive from q1 -> message 'b'",
  "receive from q1 -> message 'c'",
  "receive from q1 -> message 'd'",
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
    "acks": "positive_arrival",
    "admin": "adm"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "delivery": "recoverable",
    "acks": "positive_receive",
    "admin": "adm"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c",
    "admin": "adm"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "d",
    "acks": "positive_arrival+positive_receive+negative_arrival+negative_receive",
    "admin": "adm"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "ra"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_1_12_ack_pos_arrival():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
