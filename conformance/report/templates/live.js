const of = (id) => document.getElementById(id);
const PAUSE_MS = 1000;
let shown = "";

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function pairs(target, found) {
  target.replaceChildren(...found.map(([name, value, kind]) => {
    const pair = element("div", undefined, kind);
    pair.append(element("dt", name), element("dd", value));
    return pair;
  }));
}

function value(name, text, kind) {
  const part = element("div", undefined, kind);
  part.append(element("h3", name), element("pre", text));
  return part;
}

function card(one) {
  const made = element("section", undefined, "group");
  const head = element("h3");
  head.append(element("span", one.outcome, `badge ${one.outcome}`), ` ${one.requirement}`);
  made.append(head, element("p", one.says, "where"));
  made.append(element("p", one.provisional ? `${one.test}: a shorter story is being sought` : one.test, "where"));
  if (one.steps.length) {
    const story = element("ol", undefined, "story");
    story.append(...one.steps.map((step) => element("li", step)));
    made.append(story);
  }
  const versus = element("div", undefined, "versus");
  if (one.expected !== null) versus.append(value("expected", one.expected));
  if (one.actual !== null) versus.append(value("actual", one.actual, "actual"));
  if (versus.children.length) made.append(versus);
  if (one.reason) made.append(element("p", one.reason, "where"));
  return made;
}

function row(section) {
  const made = element("tr");
  made.append(
    element("td", `${section.document} ${section.section} ${section.title}`),
    element("td", `${section.judged} of ${section.demanded}`, "right"),
    element("td", String(section.broken), section.broken ? "right bad" : "right"),
  );
  return made;
}

function clock(seconds) {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function draw(state) {
  const { progress, end, broken } = state;
  const begun = progress.total !== undefined;
  const headline = end ? end.headline : broken.length ? "Does not conform so far" : begun ? "No deviation so far" : "Reading the tests";
  if (of("headline").textContent !== headline) of("headline").textContent = headline;
  of("headline").className = `headline ${end ? end.tone : broken.length ? "bad" : ""}`;
  document.title = of("title").textContent = end ? "Run finished" : "Run in progress";
  pairs(of("facts"), [
    ["Implementation", state.implementation || "not known yet"],
    ["Connector", state.connector],
    ["Started", state.started],
    ["Profile", state.profile],
    ...(end ? [["Report", end.report]] : []),
  ].filter(([, text]) => text));
  if (begun) {
    of("bar").max = progress.total;
    of("bar").value = progress.done;
    const left = progress.left_s === null || end ? "" : `, ${clock(progress.left_s)} left`;
    of("progress").textContent = `${progress.done} of ${progress.total} tests done${left}${end ? "" : `; now ${progress.suite}`}`;
  }
  pairs(of("numbers"), Object.entries(state.requirements).map(([outcome, number]) => [outcome, String(number), outcome]));
  of("none").hidden = broken.length > 0;
  of("more").textContent = state.more ? `${state.more} more requirements are broken; the report will have them.` : "";
  const now = JSON.stringify([broken, state.sections]);
  if (now === shown) return;
  shown = now;
  of("broken").replaceChildren(...broken.map(card));
  of("sections").replaceChildren(...state.sections.map(row));
}

async function ask() {
  try {
    const answer = await fetch("/state.json", { cache: "no-store" });
    const state = await answer.json();
    draw(state);
    if (state.end) return;
  } catch {
    of("headline").textContent = "The run is over, or was stopped; this is its last state";
    document.title = of("title").textContent = "Run finished";
    return;
  }
  setTimeout(ask, PAUSE_MS);
}

ask();
