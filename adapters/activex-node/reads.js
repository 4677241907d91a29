"use strict";
// The reads of a queue manager: what an open queue answers now, or later through a waiting read. Each calls
// done(status, message) once. `how`: {takes, cursor, next, timeoutMs, transaction, lookup, seek, allowPeek}.

const { E } = require("./errors.js");
const { Reader, AFTER_ALL } = require("./queue_store.js");

function take(position, transaction) {
  const { queue } = position;
  if (!transaction) return queue.remove(position, "received");
  position.state = "locked";
  return transaction.operations.push({ kind: "dequeue", position });
}

// Where a read stands before it waits: {status} that ends it, {position} that it has, or {} if it has to wait.
function found(queue, { takes, cursor, next }) {
  if (!cursor) return { position: queue.seek(null, !takes) };
  if (next && (cursor.state === "unread" || cursor.position === AFTER_ALL)) return { status: E.ILLEGAL_CURSOR_ACTION };
  if (cursor.state === "unread" || next) return { position: queue.seek(cursor.position, !takes) };
  const { state, message } = cursor.position;
  if (state === "available" || (!takes && state === "locked" && message.allowPeekWhenLocked)) return { position: cursor.position };
  return { status: E.MESSAGE_ALREADY_RECEIVED };
}

function read(descriptor, how, done) {
  const { queue } = descriptor;
  if (queue.deleted) return done(E.QUEUE_NOT_AVAILABLE);
  const finish = (position) => {
    if (how.cursor && how.takes) how.cursor.took(position);
    else if (how.cursor) how.cursor.show(position);
    if (how.takes) take(position, how.transaction);
    done(0, position.message);
  };
  const { status, position } = found(queue, how);
  if (status) return done(status);
  if (position) return finish(position);
  if (how.timeoutMs === 0) return done(E.MESSAGE_NOT_FOUND);
  return new Reader(descriptor, how.takes, how.timeoutMs, (ended, arrived) => {
    if (!ended) return finish(arrived);
    if (how.cursor && how.takes && ended === E.IO_TIMEOUT) how.cursor.took(AFTER_ALL);
    return done(ended);
  });
}

function sought(queue, { lookup, seek, takes }) {
  if (seek === "first") return queue.seek(null, !takes);
  if (seek === "last") return queue.seek(null, !takes, true);
  const from = queue.byLookup(lookup);
  if (!from) return undefined;
  if (seek === "next") return queue.seek(from, !takes);
  if (seek === "previous") return queue.seek(from, !takes, true);
  return from.state === "available" || (!takes && from.state === "locked" && from.message.allowPeekWhenLocked) ? from : undefined;
}

function readByLookup(descriptor, how, done) {
  if (descriptor.queue.deleted) return done(E.QUEUE_NOT_AVAILABLE);
  const position = sought(descriptor.queue, how);
  if (!position) return done(E.MESSAGE_NOT_FOUND);
  if (how.allowPeek && how.transaction) position.message.allowPeekWhenLocked = true;
  if (how.takes) take(position, how.transaction);
  return done(0, position.message);
}

module.exports = { read, readByLookup };
