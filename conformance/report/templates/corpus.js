(() => {
  const find = (id) => document.getElementById(id);
  const filters = find("filters"), search = find("search"), shown = find("shown"), keys = find("keys"), keysOn = find("keys-on");
  const boxes = [...filters.querySelectorAll("input[type=checkbox][value]")];
  const items = [...document.querySelectorAll(".item")].map((node) => (
    { node, kinds: node.dataset.kinds.split(" "), text: node.textContent.toLowerCase() }
  ));
  const parts = [...document.querySelectorAll("section:has(.item)")];

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const on = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    // What differs in kind is asked apart: how it changed, what was judged.
    const known = [["new", "again", "gone"], ["wire", "run"], ["pass"]]
      .map((group) => group.filter((kind) => boxes.some((box) => box.value === kind)));
    let fitting = 0;
    for (const item of items) {
      const fits = known.every((group) => {
        const mine = group.filter((kind) => item.kinds.includes(kind));
        return mine.length === 0 || mine.some((kind) => on.has(kind));
      })
        && words.every((word) => item.text.includes(word));
      item.node.hidden = !fits;
      fitting += fits;
    }
    for (const part of parts) part.hidden = !part.querySelector(".item:not([hidden])");
    const busy = words.length > 0 || on.size < boxes.length;
    shown.textContent = busy ? `${fitting.toLocaleString("en")} of ${items.length.toLocaleString("en")} rows` : "";
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || keys.open) return;
    if (event.key === "Escape" && event.target === search) { search.value = ""; apply(); search.blur(); return; }
    if (event.target.closest("input[type=search], select, textarea") || !keysOn.checked) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
    if (event.key === "?") { event.preventDefault(); keys.showModal(); }
  });
  filters.hidden = false;
  let waiting = 0;
  search.addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(apply); });
  for (const box of boxes) box.addEventListener("change", apply);
  find("keys-open").addEventListener("click", () => keys.showModal());
  find("keys-close").addEventListener("click", () => keys.close());
})();
