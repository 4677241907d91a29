// A row: id, text, worst outcome, level, outcome of each run, each run's note unless pass, product, known in each run.
const told = (row, at) => (row[7][at] ? "known" : outcomeOf(row[4][at]));
const cell = (row) => (rank, at) => make("em", `cell ${told(row, at)}`, rank < 0 ? "–" : told(row, at));
const outcomesIn = (row) => row[4].map(outcomeOf);
const textOf = (row) => `${row[0]} ${row[1]} ${row[5].join(" ")}`;
const drawn = (row) =>
  opening(
    row,
    make("summary", "", make("span", "", row[1]), make("i", "", levelOf(row)), make("span", "cells", ...row[4].map(cell(row)))),
    (each) => {
      const self = make("a", "", make("code", "", each[0]));
      self.href = `#${encodeURIComponent(each[0])}`;
      const runs = data.names.map((name, at) => [name, badge(each[4][at]), `${each[7][at] ? " known;" : ""} ${each[5][at]}`]);
      return facts([["Requirement", self], ...runs, ["Windows", each[6]]]);
    },
  );
