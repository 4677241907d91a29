(() => {
  const find = (id) => document.getElementById(id);
  const filters = find("filters"), search = find("search"), level = find("level"), shown = find("shown");
  const keys = find("keys"), keysOn = find("keys-on"), differing = find("differing");
  const boxes = [...filters.querySelectorAll("input[type=checkbox][value]")].filter((box) => box !== differing);
  const items = [...document.querySelectorAll(".item")].map((node) => (
    { node, outcome: node.dataset.outcome, level: node.dataset.level, text: node.textContent.toLowerCase(),
      counts: node.tagName !== "TR" }
  ));
  const parts = [...document.querySelectorAll(".document, main > section:has(> .item, .packets)")];
  const MANY = 300; // a search opens the sections of its hits up to this number of rows

  // Sections, in the order of the page: a parent comes before its children.
  const sections = [...document.querySelectorAll("details.s")].map((node, place) => {
    const [begin, count] = node.dataset.r.split(",").map(Number);
    node.dataset.place = place;
    const head = node.firstElementChild.querySelectorAll("b, span");
    const around = `${node.dataset.in ?? ""} ${head[0].textContent} ${head[1].textContent}`.toLowerCase();
    const up = node.parentElement.closest("details.s");
    const list = node.children[1]?.tagName === "UL" ? node.children[1] : null;
    return { node, begin, count, around, list, up: up ? Number(up.dataset.place) : -1, open: node.open, hits: null };
  });
  for (const one of sections) {
    const name = one.node.closest(".document").querySelector("h3").firstChild.textContent.toLowerCase();
    one.around = `${name} ${one.around}`;
  }
  const texts = data.rows.map((row) => textOf(row).toLowerCase());

  const fill = (one) => {
    if (!one.list || !one.stale || !one.node.open) return;
    const rows = one.hits ?? Array.from({ length: one.count }, (_, at) => one.begin + at);
    one.list.replaceChildren(...rows.map((at) => drawn(data.rows[at])));
    one.stale = false;
  };
  for (const one of sections) {
    one.stale = true;
    one.node.addEventListener("toggle", () => fill(one));
    fill(one);
  }

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const off = boxes.filter((box) => !box.checked).map((box) => (box.value === "not judged" ? "none" : box.value));
    const hidden = new Set(off);
    const only = level.value, differ = differing?.checked;
    const busy = words.length > 0 || hidden.size > 0 || only !== "" || Boolean(differ);
    let findings = 0, told = 0;
    for (const item of items) {
      const fits = !hidden.has(item.outcome) && (!only || !item.level || item.level === only)
        && words.every((word) => item.text.includes(word));
      item.node.hidden = !fits;
      if (!item.counts) continue;
      told += 1;
      findings += fits;
    }
    let total = 0;
    const inside = new Array(sections.length).fill(0);
    for (const one of sections) {
      one.hits = busy ? [] : null;
      one.stale = true;
      for (let at = one.begin; busy && at < one.begin + one.count; at += 1) {
        const row = data.rows[at];
        if (outcomesIn(row).every((outcome) => hidden.has(outcome)) || (only && levelOf(row) !== only)) continue;
        // A requirement that one run did not judge is no difference: the implementation may not offer it.
        if (differ && new Set(outcomesIn(row).filter((outcome) => outcome !== "none")).size < 2) continue;
        if (words.every((word) => texts[at].includes(word) || one.around.includes(word))) one.hits.push(at);
      }
      total += busy ? one.hits.length : one.count;
    }
    for (let at = sections.length - 1; at >= 0; at -= 1) {
      const one = sections[at];
      inside[at] += busy ? one.hits.length : 1;
      if (one.up >= 0) inside[one.up] += inside[at];
      one.node.hidden = inside[at] === 0;
      one.node.open = busy ? total <= MANY && inside[at] > 0 : one.open;
      fill(one);
    }
    for (const part of parts) part.hidden = !part.querySelector(":is(.item, .s):not([hidden])");
    const found = told ? `${findings.toLocaleString("en")} of ${told.toLocaleString("en")} findings, ` : "";
    const rows = `${total.toLocaleString("en")} requirement${total === 1 ? "" : "s"}`;
    shown.textContent = busy ? found + rows : "";
  };

  // A requirement can be linked to by its id.
  const reveal = () => {
    let id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const at = data.rows.findIndex((row) => row[0] === id);
    const one = sections.find((each) => at >= each.begin && at < each.begin + each.count);
    if (at < 0 || !one) return;
    if (one.hits) { search.value = ""; level.value = ""; for (const box of boxes) box.checked = true; apply(); }
    for (let each = one; each; each = sections[each.up]) each.node.open = true;
    fill(one);
    const row = [...one.list.children].find((node) => node.dataset.id === id)?.firstElementChild;
    if (row) { row.open = true; row.firstElementChild.focus(); row.scrollIntoView({ block: "center" }); }
  };

  const onward = (step) => {
    const groups = items.map((item) => item.node).filter((node) => !node.hidden && node.classList.contains("group"));
    const now = groups.indexOf(document.activeElement?.closest(".group"));
    const next = groups[now < 0 ? (step > 0 ? 0 : groups.length - 1) : now + step];
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "start" }); }
  };
  const heads = () => [...document.querySelectorAll(".document summary")].filter((head) => head.checkVisibility());
  const walk = (event) => {
    const head = event.target.closest(".document summary");
    if (!head) return false;
    const node = head.parentElement;
    if (event.key === "ArrowRight" && !node.open) node.open = true;
    else if (event.key === "ArrowLeft" && node.open) node.open = false;
    else if (event.key === "ArrowLeft") node.parentElement.closest("details")?.firstElementChild.focus();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const all = heads();
      all[all.indexOf(head) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
    } else return false;
    return true;
  };
  const single = { "/": () => { search.focus(); search.select(); }, "?": () => keys.showModal(), n: () => onward(1),
    p: () => onward(-1), t: () => heads()[0]?.focus() };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || keys.open) return;
    if (event.key === "Escape" && event.target === search) { search.value = ""; apply(); search.blur(); return; }
    if (event.target.closest("input[type=search], select, textarea")) return;
    if (walk(event)) event.preventDefault();
    else if (keysOn.checked && Object.hasOwn(single, event.key)) { event.preventDefault(); single[event.key](); }
  });

  find("unscripted").hidden = true;
  filters.hidden = false;
  let waiting = 0;
  search.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(apply); });
  for (const box of [...boxes, level, ...(differing ? [differing] : [])]) box.addEventListener("change", apply);
  find("keys-open").addEventListener("click", () => keys.showModal());
  find("keys-close").addEventListener("click", () => keys.close());
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
