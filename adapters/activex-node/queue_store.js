"use strict";
// One queue: its messages in their order, who waits for one, and the positions of cursors (MS-MQDMPR 3.1.1.2, 3.1.7, 3.2).

const { E } = require("./errors.js");

const INFINITE = 0xffffffff;
const AFTER_ALL = { key: [Infinity, Infinity] }; // where a cursor is that has waited in vain to take

// A place for a message. state: available, locked, deleted or purge (locked, and to be deleted when unlocked).
class Position {
  constructor(queue, message, number) {
    Object.assign(this, { queue, message, state: "available", key: [-message.priority, number] });
  }

  before(other) {
    return this.key[0] < other.key[0] || (this.key[0] === other.key[0] && this.key[1] < other.key[1]);
  }
}

class Queue {
  constructor(manager, properties) {
    Object.assign(this, { manager, ...properties, positions: [], descriptors: [], incoming: [] });
  }

  get active() {
    return this.descriptors.length > 0 || (this.outgoing && this.positions.length > 0);
  }

  get totalBytes() {
    return this.positions.reduce((sum, each) => sum + each.message.size, 0);
  }

  put(message, transaction) {
    const position = new Position(this, message, this.manager.nextNumber());
    const place = this.positions.findIndex((each) => position.before(each));
    this.positions.splice(place < 0 ? this.positions.length : place, 0, position);
    message.arrived = this.manager.clock.seconds();
    message.lookup = this.manager.lookupOf(message, position.key[1]);
    if (message.timeToBeReceived !== INFINITE) {
      position.stop = this.manager.clock.after(message.timeToBeReceived * 1000, () => this.expire(position));
    }
    if (transaction) {
      position.state = "locked";
      transaction.operations.push({ kind: "enqueue", position });
    } else {
      this.makeAvailable(position);
    }
  }

  makeAvailable(position) {
    position.state = "available";
    for (const descriptor of [...this.descriptors]) {
      for (const reader of [...descriptor.readers]) {
        if (position.state !== "available") return;
        reader.satisfy(position);
      }
    }
  }

  remove(position, reason) {
    position.state = "deleted";
    if (position.stop) position.stop();
    this.positions = this.positions.filter((each) => each !== position);
    if (reason) this.manager.left(this, position.message, reason);
  }

  expire(position) {
    if (position.state === "available") this.remove(position, "expired");
    else if (position.state === "locked") position.expired = true;
  }

  unlock(position) {
    if (position.state === "purge") this.remove(position, "purged");
    else if (position.expired) this.remove(position, "expired");
    else this.makeAvailable(position);
  }

  purge() {
    for (const position of [...this.positions]) {
      if (position.state === "available") this.remove(position, "purged");
      else position.state = "purge";
    }
  }

  // The nearest message behind `from` (or before it) that can be read; undefined where none is.
  seek(from, peek, backward = false) {
    const fits = (each) => each.state === "available" || (peek && each.state === "locked" && each.message.allowPeekWhenLocked);
    const list = backward ? [...this.positions].reverse() : this.positions;
    return list.find((each) => fits(each) && (!from || (backward ? each.before(from) : from.key && isBehind(from, each))));
  }

  byLookup(lookup) {
    return this.positions.find((each) => each.message.lookup === lookup);
  }
}

const isBehind = (from, each) => from.key[0] < each.key[0] || (from.key[0] === each.key[0] && from.key[1] < each.key[1]);

// A cursor: unread (at the start, or behind a message that it took), or read: it shows a message.
class Cursor {
  constructor() {
    this.reset();
  }

  reset() {
    Object.assign(this, { state: "unread", position: null });
  }

  show(position) {
    Object.assign(this, { state: "read", position });
  }

  took(position) {
    Object.assign(this, { state: "unread", position });
  }
}

// A read that waits for a message on an open queue. done(status, position) is called once.
class Reader {
  constructor(descriptor, takes, timeoutMs, done) {
    Object.assign(this, { descriptor, takes, done });
    descriptor.readers.push(this);
    const { clock } = descriptor.queue.manager;
    this.stop = timeoutMs === INFINITE ? () => {} : clock.after(timeoutMs, () => this.end(E.IO_TIMEOUT));
  }

  satisfy(position) {
    this.end(0, position);
  }

  end(status, position) {
    if (!this.descriptor.readers.includes(this)) return;
    this.descriptor.readers = this.descriptor.readers.filter((each) => each !== this);
    this.stop();
    this.done(status, position);
  }
}

module.exports = { Queue, Cursor, Reader, AFTER_ALL, INFINITE };
