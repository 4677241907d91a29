"use strict";
// A virtual clock: time passes in `advance` alone, and what becomes due happens in the order of its time.

const START_MS = 1767225600000;

class Clock {
  constructor() {
    Object.assign(this, { now: START_MS, timers: [], order: 0 });
  }

  seconds() {
    return Math.floor(this.now / 1000);
  }

  // Call `does` in `afterMs`; the function that it answers takes that back.
  after(afterMs, does) {
    const timer = { due: this.now + afterMs, order: this.order++, does };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((each) => each !== timer);
    };
  }

  advance(byMs) {
    const until = this.now + byMs;
    for (;;) {
      const due = this.timers.filter((each) => each.due <= until).sort((a, b) => a.due - b.due || a.order - b.order)[0];
      if (!due) break;
      this.timers = this.timers.filter((each) => each !== due);
      this.now = Math.max(this.now, due.due);
      due.does();
    }
    this.now = until;
  }
}

module.exports = { Clock };
