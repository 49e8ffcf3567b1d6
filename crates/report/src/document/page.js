// Hover values, legend toggles, and links into what is folded away. Everything else on the page, log and linear axes included,
// works without it.
"use strict";
(() => {
  const REACH_PX = 36;

  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);

  // The browser's own tooltips would stand beside ours.
  for (const title of document.querySelectorAll("svg.plot title")) {
    title.parentNode.dataset.title = title.textContent;
    title.remove();
  }

  // The narrow drawing of a chart has the points of the wide one before it, whose values it is not to repeat in the file.
  for (const svg of document.querySelectorAll("svg.wide + svg.narrow")) {
    const titled = svg.previousElementSibling.querySelectorAll(".pt");
    svg.querySelectorAll(".pt").forEach((point, index) => {
      point.dataset.title ??= titled[index].dataset.title;
    });
  }

  let near = null;

  function leave() {
    if (near) near.classList.remove("near");
    near = null;
    tip.hidden = true;
  }

  function centre(point) {
    const box = point.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }

  function nearest(svg, x, y) {
    let best = null;
    let least = REACH_PX;
    for (const point of svg.querySelectorAll(".pt")) {
      if (point.closest(".series").classList.contains("off")) continue;
      const [px, py] = centre(point);
      const distance = Math.hypot(px - x, py - y);
      if (distance < least) {
        least = distance;
        best = point;
      }
    }
    return best;
  }

  function fill(point) {
    const series = point.closest(".series").dataset.name;
    const parts = point.dataset.title.split(" \u00b7 ");
    const several = point.closest("svg").querySelectorAll(".series").length > 1;
    const lines = several && series !== parts[0] ? [series, ...parts] : parts;
    tip.replaceChildren(
      ...lines.map((text, index) => {
        const line = document.createElement(index === 0 ? "b" : "span");
        line.textContent = text;
        return line;
      }),
    );
  }

  function place(point) {
    const [x, y] = centre(point);
    const width = tip.offsetWidth;
    const height = tip.offsetHeight;
    const left = Math.min(Math.max(x - width / 2, 8), document.documentElement.clientWidth - width - 8);
    const above = y - height - 12;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${(above > 8 ? above : y + 14) + window.scrollY}px`;
  }

  function move(event) {
    const point = nearest(event.currentTarget, event.clientX, event.clientY);
    if (point === near) return;
    leave();
    if (!point) return;
    near = point;
    near.classList.add("near");
    fill(point);
    tip.hidden = false;
    place(point);
  }

  for (const svg of document.querySelectorAll("svg.plot")) {
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerdown", move);
    svg.addEventListener("pointerleave", leave);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });

  function toggle(key, figure) {
    const off = key.getAttribute("aria-pressed") === "true";
    key.setAttribute("aria-pressed", String(!off));
    for (const part of figure.querySelectorAll(".series, .marker")) {
      const named = part.dataset.name === key.dataset.name;
      const border = part.classList.contains("marker") && part.classList.contains(key.dataset.class);
      if (named || border) part.classList.toggle("off", off);
    }
  }

  // A link leads to what is folded away as well.
  function unfold() {
    const target = document.getElementById(location.hash.slice(1));
    let folded = target?.closest("details:not([open])");
    if (!folded) return;
    for (; folded; folded = folded.parentElement.closest("details:not([open])")) folded.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();

  for (const key of document.querySelectorAll(".legend li[data-name]")) {
    const figure = key.closest(".view") ?? key.closest("figure");
    key.setAttribute("role", "button");
    key.setAttribute("aria-pressed", "true");
    key.tabIndex = 0;
    key.title = "show or hide";
    key.addEventListener("click", () => toggle(key, figure));
    key.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(key, figure);
    });
  }
})();
