"""MQDMPR-3.1.7.1.10.io-timeout-code is broken.

A receive whose time is over fails with MQ_ERROR_IO_TIMEOUT.

1. create queue q1 -> ok
2. open q1 for send as s -> ok
3. open q1 for receive as r -> ok
4. w1: receive from q1 (waiting up to 60 ms) -> waits
5. 60 ms pass; the waiting w1 ends: fails with MQ_ERROR

A repro of mqconform: `MQCONFORM_ADAPTER='stdio:./my-driver' pytest test_6bf614396a04bc51.py` fails while the deviation is there.
Without the variable the embedded implementation is judged.
"""

import json
import os

from conformance.repro import FIXED, again

REPRO = json.loads(r'''{
 "format": 1,
 "suite": "cursors",
 "test": "cursors/test_mqdmpr_3_1_7_3_1_waiting_reads.py::test_a_receive_whose_time_is_over_takes_nothing_later",
 "profile": "msmq-4.0",
 "level": "must",
 "reading_set": "windows",
 "chosen": {},
 "seed": 0,
 "verdict": {
  "requirement": "MQDMPR-3.1.7.1.10.io-timeout-code",
  "outcome": "fail",
  "subject": "clock.advance",
  "expected": {
   "fails with": [
    "0xC00E001B"
   ]
  },
  "actual": {
   "status": "0xC00E0001"
  }
 },
 "story": [
  "create queue q1 -> ok",
  "open q1 for send as s -> ok",
  "open q1 for receive as r -> ok",
  "w1: receive from q1 (waiting up to 60 ms) -> waits",
  "60 ms pass; the waiting w1 ends: fails with MQ_ERROR"
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
    "method": "messages.receive",
    "name": "w1",
    "handle": "r",
    "timeout_ms": 60,
    "expires": true
   }
  ]
 }
}''')


def test_mqdmpr_3_1_7_1_10_io_timeout_code():
    answer = again(REPRO, adapter=os.environ.get("MQCONFORM_ADAPTER", "embedded"))
    assert answer.answer == FIXED, answer.text
