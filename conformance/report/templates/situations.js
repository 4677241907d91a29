// The grid of an operation is drawn when it is first opened: each square is a pair of features.
(() => {
  const drawGrid = (grid) => {
    const [operation, features, shares, missing] = grid;
    const head = make("tr", "", make("td", ""));
    features.slice(0, -1).forEach((name, at) => {
      const cell = make("th", "", String(at + 1));
      cell.scope = "col";
      cell.title = name;
      cell.setAttribute("aria-label", name);
      head.append(cell);
    });
    const body = make("tbody");
    features.forEach((name, place) => {
      const label = make("th", "", make("i", "", `${place + 1} `), name);
      label.scope = "row";
      const line = make("tr", "", label);
      shares[place].forEach(([met, of], at) => {
        const left = of - met;
        const kind = of === 0 ? "never" : met === 0 ? "g0" : left === 0 ? "g3" : met * 2 < of ? "g1" : "g2";
        const cell = make("td", kind, left && of ? String(left) : "");
        const told = of === 0 ? "cannot meet" : `${met} of ${of} met`;
        cell.title = `${features[at]} with ${name}: ${told}`;
        cell.setAttribute("aria-label", told);
        line.append(cell);
      });
      body.append(line);
    });
    const table = make("table", "grid", make("caption", "", `Features of ${operation}, each with each`),
      make("thead", "", head), body);
    const scroll = make("div", "scroll", table);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", `Grid of ${operation}`);
    const parts = [scroll];
    if (missing.length) {
      const list = make("ul", "", ...missing.map((name) => make("li", "", make("code", "", name))));
      parts.push(make("p", "aside", "Pairs that were never met, the first of them:"), list);
    }
    return make("div", "", ...parts);
  };
  for (const node of document.querySelectorAll("details[data-grid]")) {
    node.addEventListener("toggle", () => {
      if (node.open && node.childElementCount === 1) node.append(drawGrid(data.grids[Number(node.dataset.grid)]));
    });
  }
})();
