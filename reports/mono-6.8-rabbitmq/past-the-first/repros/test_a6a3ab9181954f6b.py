"""MQDMPR-3.1.7.1.10.no-wait-code is broken.

A receive without cursor, time-out zero and nothing available, fails with MQ_ERROR_IO_TIMEOUT.

1. create transactional queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. create queue adm -> ok
5. open adm for receive as ra -> ok
6. begin transaction t1 -> ok
7. send 'a' to q1 (transaction t1, acknowledgments positive arrival, positive receive, negative arrival, negative receive to adm) -> ok
8. receive from adm -> fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_a6a3ab9181954f6b.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "journals",
 "test": "journals/test_mqdmpr_3_1_7_2_1_acknowledgments.py::test_a_transaction_reports_when_it_commits",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.10.no-wait-code",
  "outcome": "fail",
  "subject": "messages.receive",
  "expected": {
   "fails with": [
    "0xC00E001B",
    "0xC00E0088"
   ]
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create transactional queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "create queue adm -> ok",
  "open adm for receive as ra -> ok",
  "begin transaction t1 -> ok",
  "send 'a' to q1 (transaction t1, acknowledgments positive arrival, positive receive, negative arrival, negative receive to adm) -> ok",
  "receive from adm -> fails with MQ_ERROR"
 ],
 "repro": {
  "kind": "calls",
  "format": 1,
  "calls": [
   {
    "method": "queues.create",
    "queue": "q1",
    "transactional": true
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
    "method": "transactions.begin",
    "name": "t1"
   },
   {
    "method": "messages.send",
    "handle": "s",
    "transaction": "t1",
    "message": "a",
    "acks": "positive_arrival+positive_receive+negative_arrival+negative_receive",
    "admin": "adm"
   },
   {
    "method": "messages.receive",
    "handle": "ra"
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_no_wait_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
