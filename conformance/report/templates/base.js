const data = JSON.parse(document.getElementById("data").textContent);

// All content drawn by script is text or an element made here: nothing is parsed as HTML.
const make = (tag, name, ...parts) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  node.append(...parts.filter((part) => part !== null && part !== ""));
  return node;
};
const outcomeOf = (rank) => (rank < 0 ? "none" : data.outcomes[rank]);
const badge = (rank) => make("span", `badge ${outcomeOf(rank)}`, rank < 0 ? "not judged" : outcomeOf(rank));
const levelOf = (row) => (row[3] < 0 ? "" : data.levels[row[3]]);
const facts = (pairs) => {
  const list = make("dl", "about");
  for (const [name, ...value] of pairs) if (value[0]) list.append(make("dt", "", name), make("dd", "", ...value));
  return list;
};
// A row with details that are made when it is first opened.
const opening = (row, head, body) => {
  const node = make("details", "row", head);
  node.addEventListener("toggle", () => { if (node.open && node.childElementCount === 1) node.append(body(row)); });
  const item = make("li", "", node);
  item.dataset.id = row[0];
  return item;
};
const readingsOf = (row) => {
  if (!row[10].length) return null;
  const list = make("ul", "readings");
  for (const at of row[10]) {
    const [id, title, sure, alternatives, accepted, followed] = data.readings[at];
    const item = make("li", "", make("code", "", id), ` ${title} (${sure})`);
    if (followed) item.append(make("strong", "", ` this run: ${followed}`));
    const meanings = make("ul");
    for (const [name, meaning] of alternatives) {
      const mark = accepted.includes(name) ? " (accepted)" : "";
      meanings.append(make("li", "", make("code", "", name), `${mark}: ${meaning}`));
    }
    item.append(meanings);
    list.append(item);
  }
  return list;
};
