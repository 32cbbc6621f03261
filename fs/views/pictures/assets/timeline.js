"use strict";
/* Finding functions in a timeline: by name, or by a click on one of their runs. */
const svg = document.currentScript.ownerSVGElement;
const part = id => svg.getElementById(id);
const runs = [...svg.querySelectorAll("g.run")].map(g => ({
  g, name: g.querySelector("title").textContent.split("\n").slice(0, -1).join("\n"),
  facts: g.querySelector("title").textContent.split("\n").pop(),
  width: Number(g.querySelector("rect").getAttribute("width")),
}));
const method = part("details").textContent;
let marked = false;

function mark(wanted) {
  let found = 0, all = 0;
  for (const run of runs) {
    const match = wanted !== null && wanted(run.name);
    run.g.classList.toggle("dimmed", wanted !== null && !match);
    all += run.width;
    if (match) found += run.width;
  }
  marked = wanted !== null;
  part("matched").textContent = marked ? `Matched: ${(100 * found / all).toFixed(1)}%` : "";
  part("search").textContent = marked ? "Clear search" : "Search";
}

/* Dims the functions whose name does not match; without a term, none. */
function search(term) {
  if (!term) return mark(null);
  let pattern;
  try {
    pattern = new RegExp(term, "i");
  } catch {
    pattern = new RegExp(term.replace(/[^\w\s]/g, "\\$&"), "i");
  }
  return mark(name => pattern.test(name));
}

function ask() {
  const term = prompt("Search for a name (a regular expression)");
  if (term) search(term);
}

const runOf = event => runs.find(run => run.g.contains(event.target));
svg.addEventListener("click", event => {
  const run = runOf(event);
  if (event.target === part("search")) marked ? search() : ask();
  else if (run && !(marked && !run.g.classList.contains("dimmed"))) mark(name => name === run.name);
  else search();
});
svg.addEventListener("mouseover", event => {
  const run = runOf(event);
  part("details").textContent = run ? `${run.name.slice(0, 110)} · ${run.facts}` : method;
});
addEventListener("keydown", event => {
  if (event.key === "/" || event.key === "F3" || (event.key === "f" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    ask();
  } else if (event.key === "Escape") {
    search();
  }
});
part("search").style.visibility = "visible";
const height = svg.getAttribute("height") / svg.getAttribute("width");
function resize() {
  svg.setAttribute("width", "100%");
  svg.setAttribute("height", height * svg.getBoundingClientRect().width);
}
addEventListener("resize", resize);
resize();
