// A row: id, says, worst outcome, level, outcome of each run, what each did where it is not pass, product.
const cell = (rank) => make("em", `cell ${outcomeOf(rank)}`, rank < 0 ? "–" : outcomeOf(rank));
const outcomesIn = (row) => row[4].map(outcomeOf);
const textOf = (row) => `${row[0]} ${row[1]} ${row[5].join(" ")}`;
const drawn = (row) =>
  opening(
    row,
    make("summary", "", make("span", "", row[1]), make("i", "", levelOf(row)), make("span", "cells", ...row[4].map(cell))),
    (each) => {
      const self = make("a", "", make("code", "", each[0]));
      self.href = `#${encodeURIComponent(each[0])}`;
      const runs = data.names.map((name, at) => [name, badge(each[4][at]), ` ${each[5][at]}`]);
      return facts([["Requirement", self], ...runs, ["Windows", each[6]]]);
    },
  );
