"""MQDMPR-3.1.7.1.7.nack-queue-purged is broken.

Each purged message is reported as NackQueuePurged where negative receive acknowledgement was asked for.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue adm -> ok
5. open adm for receive as ra -> ok
6. send 'a' to q1 (acknowledgments negative receive to adm) -> ok
7. send 'b' to q1 (acknowledgments negative receive to adm) -> ok
8. send 'c' to q1 -> ok
9. purge q1 -> ok
10. receive from adm -> fails with MQ_ERROR
11. a look into adm, by receiving all there is -> it is empty

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_3bc22e71c5f9f0ac.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "journals",
 "test": "journals/test_mqdmpr_3_1_7_2_1_acknowledgments.py::test_each_purged_message_is_reported",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.7.nack-queue-purged",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "message": "ackC001-a@adm"
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
  "send 'a' to q1 (acknowledgments negative receive to adm) -> ok",
  "send 'b' to q1 (acknowledgments negative receive to adm) -> ok",
  "send 'c' to q1 -> ok",
  "purge q1 -> ok",
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
    "admin": "adm"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "b",
    "acks": "negative_receive",
    "admin": "adm"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "message": "c"
   },
   {
    "method": "queues.purge",
    "handle": "r"
   },
   {
    "method": "messages.receive",
    "handle": "ra"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_7_nack_queue_purged():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
