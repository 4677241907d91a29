"use strict";
(() => {
  const filters = document.getElementById("filters");
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const items = [...document.querySelectorAll(".item")].map((node) => {
    const section = node.closest("details.section");
    const around = section ? section.querySelector("summary").textContent : "";
    return { node, section, outcome: node.dataset.outcome, text: (around + " " + node.textContent).toLowerCase() };
  });
  const sections = [...document.querySelectorAll("details.section")].map((node) => ({ node, open: node.open }));
  const boxes = [...filters.querySelectorAll("input[type=checkbox]")];

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const busy = words.length > 0 || wanted.size < boxes.length;
    const alive = new Map();
    let count = 0;
    for (const item of items) {
      // What no check box stands for (packets without a verdict) is left to the words.
      const known = boxes.some((box) => box.value === (item.outcome === "none" ? "not judged" : item.outcome));
      const name = item.outcome === "none" ? "not judged" : item.outcome;
      const visible = (!known || wanted.has(name)) && words.every((word) => item.text.includes(word));
      item.node.hidden = !visible;
      if (visible) {
        count += 1;
        if (item.section) alive.set(item.section, true);
      }
    }
    for (const section of sections) {
      section.node.hidden = !alive.has(section.node);
      section.node.open = busy && words.length > 0 ? alive.has(section.node) : section.open;
    }
    shown.textContent = busy ? `${count} of ${items.length} shown` : "";
  };

  filters.hidden = false;
  search.addEventListener("input", apply);
  for (const box of boxes) box.addEventListener("change", apply);
})();
