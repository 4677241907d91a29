// A row: id, text, outcome, level, role, checked, [condition met, not met, left open], reason, product, suites, readings, flags, finding number.
const conditions = ([met, not, open]) =>
  `met ${met.toLocaleString("en")} times, not met ${not.toLocaleString("en")}${open ? `, left open ${open}` : ""}`;
const outcomesIn = (row) => [outcomeOf(row[2])];
const textOf = (row) => `${row[0]} ${row[1]} ${row[7]} ${row[9]}`;
const drawn = (row) =>
  opening(
    row,
    make("summary", "", badge(row[2]), make("span", "", row[1]), make("i", "", levelOf(row))),
    (each) => {
      const finding = make("a", "", "the finding");
      finding.href = `#f${each[12]}`;
      const self = make("a", "", make("code", "", each[0]));
      self.href = `#${encodeURIComponent(each[0])}`;
      const covered = [each[11] & 1 ? "a check claims it" : "no check claims it"];
      covered.push(each[11] & 2 ? "and a deviation from it was caught" : "and no deviation from it has been caught yet");
      return facts([
        ["Requirement", self],
        ["Finding", each[12] ? finding : null],
        ["Known", each[11] & 4 ? "the deviation is excused" : null],
        ["Condition", each[6].some((one) => one) ? conditions(each[6]) : null],
        ["Reason", each[7]],
        ["Binds", each[4]],
        ["Checked by", each[5] && `${each[5]}; ${covered.join(", ")}`],
        ["Suites", each[9]],
        ["Windows", each[8]],
        ["Readings", readingsOf(each)],
      ]);
    },
  );
