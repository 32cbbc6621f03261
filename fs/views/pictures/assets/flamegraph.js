"use strict";
/* Zoom, search and resizing of a flame graph. Boxes stand in the document in pre-order. */
const svg = document.currentScript.ownerSVGElement;
const MARGIN = 10, ROW = 18;
const part = id => svg.getElementById(id);
const boxes = [...svg.querySelectorAll("g.box:not(.faded)")].map(g => {
  const rect = g.querySelector("rect"), number = name => Number(rect.getAttribute(name));
  const title = g.querySelector("title").textContent, cut = title.lastIndexOf("\n");
  return { g, rect, text: g.querySelector("text"), name: title.slice(0, cut), facts: title.slice(cut + 1),
    level: number("y") / ROW, x: number("x") - MARGIN, width: number("width") };
});
const above = [...svg.querySelectorAll("g.faded")];
const legend = part("details").textContent;
let width = 1180, zoomed = 0, found = null, column = 6.65;

/* The place beyond the last box below box i. */
function endOf(i) {
  let end = i + 1;
  while (end < boxes.length && boxes[end].level > boxes[i].level) end++;
  return end;
}

function label(box, x, room) {
  const shown = room < 12 ? "" : fit(box.name, room - 5);
  if (!box.text && shown) {
    box.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    box.text.setAttribute("y", Number(box.rect.getAttribute("y")) + 12.5);
    box.g.append(box.text);
  }
  if (!box.text) return;
  box.text.setAttribute("x", x + 3);
  box.text.textContent = shown;
}

function place(box, x, room, visible, faded) {
  box.g.style.display = visible ? "" : "none";
  if (!visible) return;
  box.g.classList.toggle("faded", faded);
  box.rect.setAttribute("x", MARGIN + x);
  box.rect.setAttribute("width", Math.max(room, 0));
  label(box, MARGIN + x, room);
}

function show() {
  if (boxes.length === 0) return;
  const to = boxes[zoomed], end = endOf(zoomed), scale = width / to.width;
  let level = to.level;
  for (let i = boxes.length - 1; i >= 0; i--) {
    const box = boxes[i], inside = i >= zoomed && i < end;
    const isCaller = i < zoomed && box.level < level;
    if (isCaller) level = box.level;
    if (inside) place(box, (box.x - to.x) * scale, box.width * scale, true, false);
    else place(box, 0, width, isCaller, isCaller);
  }
  part("reset").style.visibility = zoomed ? "visible" : "";
}

/* Shows box `to` (an element, or a number) in full width; without one, everything. */
function zoom(to) {
  zoomed = Math.max(0, typeof to === "number" ? to : boxes.findIndex(box => box.g === to));
  show();
}

function pattern(term) {
  try {
    return new RegExp(term, "i");
  } catch {
    return new RegExp(term.replace(/[^\w\s]/g, "\\$&"), "i");
  }
}

/* Marks the boxes whose name matches; without a term, none. A match below a match counts once. */
function search(term) {
  found = term ? pattern(term) : null;
  let share = 0, end = 0;
  boxes.forEach((box, i) => {
    const match = found !== null && found.test(box.name);
    box.g.classList.toggle("found", match);
    if (!match || i < end) return;
    share += box.width;
    end = endOf(i);
  });
  part("matched").textContent = found ? `Matched: ${(100 * share / 1180).toFixed(1)}%` : "";
  part("search").textContent = found ? "Clear search" : "Search";
}

function ask() {
  const term = prompt("Search for a name (a regular expression)");
  if (term) search(term);
}

function resize() {
  const all = Math.max(400, svg.getBoundingClientRect().width);
  width = all - 2 * MARGIN;
  for (const id of ["search", "matched"]) part(id).setAttribute("x", all - MARGIN);
  part("reset").setAttribute("x", all - 110);
  for (const g of above) g.querySelector("rect").setAttribute("width", width);
  show();
}

function details(event) {
  const box = boxes.find(b => b.g.contains(event.target));
  part("details").textContent = box ? fit(box.name, width * 0.6) + " · " + box.facts : legend;
}

svg.addEventListener("click", event => {
  const g = event.target.closest("g.box");
  if (g && boxes.some(box => box.g === g)) zoom(g);
  else if (g || event.target === part("reset")) zoom(0);
  else if (event.target === part("search")) found ? search() : ask();
});
svg.addEventListener("mouseover", details);
addEventListener("keydown", event => {
  if (event.key === "/" || event.key === "F3" || (event.key === "f" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    ask();
  } else if (event.key === "Escape") {
    found ? search() : zoom(0);
  } else if (event.key === "0") {
    zoom(0);
  }
});
addEventListener("resize", resize);
svg.setAttribute("width", "100%");
svg.removeAttribute("viewBox");
part("search").style.visibility = "visible";
if (boxes.some(box => box.text)) {
  const { text } = boxes.find(box => box.text);
  column = text.getComputedTextLength() / [...text.textContent].length || column;
}
resize();
