"use strict";
const part = id => document.getElementById(id);
const data = JSON.parse(part("data").textContent);
const view = part("view"), canvas = part("canvas"), ctx = canvas.getContext("2d"), tip = part("tip");
const ROW = 19, FONT = '11.5px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* ---- the tree: boxes in pre-order, box 0 is the whole; siblings by name ---- */

const n = data.tree.length / 2 + 1;
const nameOf = new Int32Array(n), parent = new Int32Array(n), depth = new Int32Array(n), end = new Int32Array(n);
const rows = [];
{
  const path = [0], counts = [1];
  for (let i = 1; i < n; i++) {
    nameOf[i] = data.tree[2 * i - 2];
    path.length -= data.tree[2 * i - 1];
    parent[i] = path[path.length - 1];
    depth[i] = path.push(i) - 1;
    counts[depth[i]] = (counts[depth[i]] || 0) + 1;
  }
  end.fill(0);
  for (let i = n - 1; i >= 0; i--) {
    if (end[i] === 0) end[i] = i + 1;
    if (i > 0 && end[parent[i]] === 0) end[parent[i]] = end[i];
  }
  for (const count of counts) rows.push(new Int32Array(count));
  counts.fill(0);
  for (let i = 0; i < n; i++) rows[depth[i]][counts[depth[i]]++] = i;
}
const nameAt = i => i === 0 ? data.whole : data.names[nameOf[i]];
/*
 * In a comparison a box has the shade of its difference; with a metric that does not add up, that of its
 * distance from the whole; else a name has one colour.
 */
const colourAt = i => {
  const { shades } = data.metrics[state.metric] || {};
  if (i === 0) return "#e9e4dc";
  return shades ? data.shades[LETTERS.indexOf(shades[i])] : data.palette[LETTERS.indexOf(data.colours[nameOf[i]])];
};

/* ---- costs of the chosen metric ---- */

for (const metric of data.metrics)
  if (metric.shown) metric.shown = metric.shown.flatMap(value => Array.isArray(value) ? Array(value[0]).fill(null) : [value]);

/* What does not add up is shown by colours, with the widths of another metric. */
const sized = () => {
  const metric = data.metrics[state.metric] || { values: [] };
  return metric.shown ? data.metrics[metric.widths] : metric;
};
const own = new Float64Array(n), total = new Float64Array(n), start = new Float64Array(n);
function measure() {
  const { values } = sized();
  own.fill(0);
  let at = 0;
  for (const value of values) {
    if (value < 0) at -= value;
    else own[at++] = value;
  }
  total.set(own);
  for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
  const next = new Float64Array(n);
  for (let i = 1; i < n; i++) {
    start[i] = next[i] = next[parent[i]];
    next[parent[i]] += total[i];
  }
}

/* ---- state: all of it stands in the address ---- */

const state = { metric: 0, zoom: 0, term: "", flame: false };
let matching = null, hover = -1, chosen = -1;

const firstMetric = Math.max(0, data.metrics.findIndex(metric => metric.first));

function readAddress() {
  const now = new URLSearchParams(location.hash.slice(1));
  const metric = data.metrics.findIndex(m => m.column === now.get("metric"));
  const box = Number(now.get("zoom"));
  state.metric = metric < 0 ? firstMetric : metric;
  state.zoom = Number.isInteger(box) && box > 0 && box < n ? box : 0;
  state.term = now.get("search") || "";
  state.flame = now.get("view") === "flame";
}

function writeAddress() {
  const now = new URLSearchParams();
  if (state.metric !== firstMetric) now.set("metric", data.metrics[state.metric].column);
  if (state.zoom) now.set("zoom", state.zoom);
  if (state.term) now.set("search", state.term);
  if (state.flame) now.set("view", "flame");
  const hash = String(now);
  try {
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  } catch {
    /* a page without an address of its own */
  }
}

/* ---- numbers for people ---- */

const NS = { sec: 1e9, s: 1e9, seconds: 1e9, msec: 1e6, ms: 1e6, usec: 1e3, us: 1e3, nsec: 1, ns: 1 };
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]];
const LARGE = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const digits = value => value >= 1000 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : value.toPrecision(4);

function amount(value) {
  return quantity(value, sized().unit);
}

/* The number of a box whose colour shows it. */
function shown(i) {
  const { name, unit, shown } = data.metrics[state.metric];
  return `${name} ${shown[i] === null ? "unknown" : quantity(shown[i], unit)}`;
}

function quantity(value, unit) {
  const steps = NS[unit] ? TIMES : /^(bytes?|B)$/.test(unit) ? BYTES : null;
  const large = value >= 100000 && value < 1e18 && LARGE.find(s => value >= 0.9995 * s[0]);
  if (!steps) return (large ? (value / large[0]).toPrecision(3) + " " + large[1] : digits(value)) + (unit ? " " + unit : "");
  if (value === 0) return "0";
  const base = value * (NS[unit] || 1), step = steps.find(s => base >= s[0]) || steps[steps.length - 1];
  return digits(base / step[0]) + " " + step[1];
}

function share(value, whole) {
  const percent = whole > 0 ? 100 * value / whole : 0;
  return percent > 0 && percent < 0.005 ? "≈0%" : percent.toFixed(percent === 0 || percent === 100 ? 0 : percent < 0.995 ? 2 : 1) + "%";
}

/* ---- drawing: the rows in sight only ---- */

let width = 0, column = 7;
const levels = () => {
  let most = depth[state.zoom];
  for (let d = most; d < rows.length; d++) {
    const row = rows[d];
    for (let k = firstAt(row, state.zoom); k < row.length && row[k] < end[state.zoom]; k++)
      if (total[row[k]] > 0) { most = d; break; }
    if (most < d) break;
  }
  return most + 1;
};

/* The first place in a row whose box is not before box i. */
function firstAt(row, i) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle] < i) low = middle + 1;
    else high = middle;
  }
  return low;
}

let shownLevels = 1;
const levelTop = d => (state.flame ? shownLevels - 1 - d : d) * ROW + 6 - view.scrollTop;
const left = i => 10 + (start[i] - start[state.zoom]) / total[state.zoom] * (width - 20);
const wide = i => total[i] / total[state.zoom] * (width - 20);

function drawBox(i, x, y, w, faded) {
  const matched = matching && matching[nameOf[i]] && i > 0;
  ctx.globalAlpha = faded ? 0.45 : matching && !matched ? 0.55 : 1;
  ctx.fillStyle = matched ? "#b9a5f0" : colourAt(i);
  if (w < 3) {
    ctx.fillRect(x, y, Math.max(w - 0.3, 0.7), ROW - 1);
    return;
  }
  ctx.beginPath();
  ctx.roundRect(x, y, w - 0.8, ROW - 1, 2);
  ctx.fill();
  if (i === hover || i === chosen) {
    ctx.globalAlpha = 1;
    ctx.strokeStyle = i === chosen ? colours.accent : colours.ink;
    ctx.lineWidth = i === chosen ? 2 : 1;
    ctx.stroke();
  }
  const text = w > 20 ? fit(nameAt(i), w - 8) : "";
  if (!text) return;
  ctx.globalAlpha = faded ? 0.75 : 1;
  ctx.fillStyle = faded ? colours.ink : "#26211c";
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w - 2, ROW);
  ctx.clip();
  ctx.fillText(text, x + 4, y + 13);
  ctx.restore();
}

/* The boxes of a level below the zoomed one. What is narrower than half a pixel joins its neighbour. */
function drawLevel(d, y) {
  const row = rows[d], last = end[state.zoom];
  let drawn = -1;
  for (let k = firstAt(row, state.zoom); k < row.length && row[k] < last; k++) {
    const i = row[k];
    if (!(total[i] > 0)) continue;
    const x = left(i), w = wide(i);
    if (x + w < drawn + 0.5) continue;
    drawBox(i, x, y, w, false);
    drawn = x + w;
  }
}

let colours = {};
function draw() {
  const ratio = devicePixelRatio || 1, height = view.clientHeight;
  width = view.clientWidth;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = FONT;
  column = ctx.measureText("MMMMMMMMMM").width / 10;
  const style = getComputedStyle(document.documentElement);
  colours = { ink: style.getPropertyValue("--ink"), accent: style.getPropertyValue("--accent") };
  if (!(total[0] > 0)) return;
  const callers = [];
  for (let i = state.zoom; i > 0; i = parent[i]) callers[depth[parent[i]]] = parent[i];
  for (let d = 0; d < shownLevels; d++) {
    const y = levelTop(d);
    if (y + ROW < 0 || y > height) continue;
    if (d < depth[state.zoom]) drawBox(callers[d], 10, y, width - 20, true);
    else drawLevel(d, y);
  }
  ctx.globalAlpha = 1;
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

/* ---- what stands around ---- */

function crumb(i, last) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = button.title = nameAt(i);
  button.disabled = last;
  button.addEventListener("click", () => zoom(i));
  return button;
}

function showCrumbs() {
  const path = [];
  for (let i = state.zoom; i > 0; i = parent[i]) path.unshift(i);
  const cut = path.length > 40 ? path.length - 40 : 0;
  const items = [crumb(0, path.length === 0)];
  for (const i of path.slice(cut)) {
    const between = document.createElement("span");
    between.textContent = cut && i === path[cut] ? "› … ›" : "›";
    items.push(between, crumb(i, i === state.zoom));
  }
  part("crumbs").replaceChildren(...items);
  part("crumbs").scrollLeft = 1e6;
}

function facts(i) {
  const colour = coloured() ? ` · ${shown(i)}` : "";
  return `${amount(total[i])} · ${share(total[i], total[0])} of all${colour}`;
}

const coloured = () => data.metrics.length > 0 && Boolean(data.metrics[state.metric].shown);

function showStatus() {
  const i = chosen >= 0 ? chosen : state.zoom;
  part("status").textContent = !(total[0] > 0) ? "" : i > 0 ? `${nameAt(i)} · ${facts(i)}`
    : `${(n - 1).toLocaleString("en")} boxes · width is ${coloured() ? sized().name : "cost"} · siblings in alphabetical order`;
}

function showAll() {
  const some = total[0] > 0;
  const metric = data.metrics[state.metric];
  const known = coloured() && metric.shown[0] !== null;
  const legend = coloured() && `${shown(0)} of the whole${known ? ": red boxes have more, blue ones less" : ""}`;
  part("facts").textContent = [some ? amount(total[0]) + " in all" : "no values", legend, data.of, data.source]
    .filter(Boolean).join(" · ");
  part("metric").value = state.metric;
  part("title").textContent = document.title = [data.title, metric && metric.name].filter(Boolean).join(" · ");
  part("turn").textContent = state.flame ? "Icicle" : "Flame";
  part("turn").title = state.flame ? "Callers on top" : "Callers at the bottom";
  part("reset").disabled = state.zoom === 0;
  part("none").hidden = some;
  canvas.hidden = !some;
  shownLevels = some ? levels() : 0;
  part("space").style.height = Math.max(0, shownLevels * ROW + 14 - view.clientHeight) + "px";
  showCrumbs();
  showStatus();
  writeAddress();
  redraw();
}

/* ---- what can be done ---- */

/* Shows box i in full width, its callers faded. */
function zoom(i) {
  state.zoom = total[i] > 0 ? i : 0;
  chosen = -1;
  hover = -1;
  tip.hidden = true;
  showAll();
  const top = levelTop(depth[state.zoom]) + view.scrollTop;
  if (state.flame || top < view.scrollTop || top > view.scrollTop + view.clientHeight - 3 * ROW)
    view.scrollTop = state.flame ? top - view.clientHeight + 6 * ROW : top - 4 * ROW;
}

function pattern(term) {
  try {
    return new RegExp(term, "i");
  } catch {
    return new RegExp(term.replace(/[^\w\s]/g, "\\$&"), "i");
  }
}

/* Marks the boxes whose name matches; what matches below a match counts once. */
function search(term) {
  state.term = term || "";
  part("term").value = state.term;
  matching = null;
  if (state.term) {
    const wanted = pattern(state.term);
    matching = Uint8Array.from(data.names, name => wanted.test(name) ? 1 : 0);
  }
  let sum = 0;
  for (let i = 1; matching && i < n;) {
    if (matching[nameOf[i]]) sum += total[i];
    i = matching[nameOf[i]] ? end[i] : i + 1;
  }
  part("matched").textContent = matching ? `Matched: ${share(sum, total[0])}` : "";
  writeAddress();
  redraw();
}

function choose(metric) {
  state.metric = metric;
  measure();
  if (!(total[state.zoom] > 0)) state.zoom = 0;
  showAll();
  search(state.term);
}

function turn() {
  state.flame = !state.flame;
  showAll();
  view.scrollTop = state.flame ? 1e9 : 0;
}

function boxAt(event) {
  const box = view.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top + view.scrollTop - 6;
  const level = Math.floor(y / ROW), d = state.flame ? shownLevels - 1 - level : level;
  if (!(total[0] > 0) || d < 0 || d >= shownLevels || x < 10 || x > width - 10) return -1;
  if (d < depth[state.zoom]) {
    let i = state.zoom;
    while (depth[i] > d) i = parent[i];
    return i;
  }
  const row = rows[d];
  for (let k = firstAt(row, state.zoom); k < row.length && row[k] < end[state.zoom]; k++) {
    const from = left(row[k]);
    if (from > x) break;
    if (x < from + Math.max(wide(row[k]), 0.7) && total[row[k]] > 0) return row[k];
  }
  return -1;
}

function line(...cells) {
  const row = document.createElement("tr");
  for (const text of cells) row.insertCell().textContent = text;
  return row;
}

function showTip(event) {
  const name = document.createElement("b"), table = document.createElement("table");
  const i = hover, body = table.createTBody();
  name.textContent = nameAt(i).length > 600 ? nameAt(i).slice(0, 600) + "…" : nameAt(i);
  body.append(line("total", amount(total[i]), share(total[i], total[0]) + " of all"));
  if (i > 0 && parent[i] > 0) body.append(line("", "", share(total[i], total[parent[i]]) + " of its caller"));
  if (state.zoom > 0 && i > state.zoom && parent[i] !== state.zoom && i < end[state.zoom])
    body.append(line("", "", share(total[i], total[state.zoom]) + " of what is shown"));
  const mine = own[i] > total[i] * 1e-9 ? own[i] : 0; /* not what rounding leaves of a difference */
  body.append(line("own", amount(mine), share(mine, total[0]) + " of all"));
  if (coloured()) body.append(line("", shown(i), ""));
  tip.replaceChildren(name, table);
  tip.hidden = false;
  const { width: w, height: h } = tip.getBoundingClientRect();
  const below = event.clientY + 18 + h < innerHeight;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - w - 8)) + "px";
  tip.style.top = (below ? event.clientY + 18 : Math.max(4, event.clientY - h - 12)) + "px";
}

view.addEventListener("mousemove", event => {
  const i = boxAt(event);
  if (i !== hover) redraw();
  hover = i;
  view.style.cursor = i >= 0 ? "pointer" : "";
  if (i >= 0) showTip(event);
  else tip.hidden = true;
});
view.addEventListener("mouseleave", () => { hover = -1; tip.hidden = true; redraw(); });
view.addEventListener("click", event => { const i = boxAt(event); if (i >= 0) zoom(i); });
view.addEventListener("scroll", () => { tip.hidden = true; redraw(); });
part("metric").addEventListener("change", event => choose(Number(event.target.value)));
part("term").addEventListener("input", event => search(event.target.value));
part("turn").addEventListener("click", turn);
part("reset").addEventListener("click", () => zoom(0));

/* ---- keyboard ---- */

const inSight = i => i > 0 && total[i] > 0;
const steps = {
  out: i => parent[i],
  in: i => {
    let best = i;
    for (let c = i + 1; c < end[i]; c = end[c]) if (total[c] > 0 && (best === i || total[c] > total[best])) best = c;
    return best;
  },
  next: i => { let c = end[i]; while (i && c < end[parent[i]] && !inSight(c)) c = end[c]; return i && c < end[parent[i]] ? c : i; },
  back: i => {
    let best = i;
    for (let c = parent[i] + 1; i && c < i; c = end[c]) if (inSight(c)) best = c;
    return best;
  },
};

function move(step) {
  chosen = step(chosen >= 0 ? chosen : state.zoom);
  const top = levelTop(depth[chosen]);
  if (top < ROW) view.scrollTop += top - 2 * ROW;
  else if (top > view.clientHeight - 2 * ROW) view.scrollTop += top - view.clientHeight + 3 * ROW;
  if (chosen < state.zoom || chosen >= end[state.zoom]) zoom(chosen);
  showStatus();
  redraw();
}

const keys = {
  "/": () => part("term").focus(),
  "0": () => zoom(0),
  Enter: () => { if (chosen >= 0) zoom(chosen); },
  Escape: () => { if (state.term) search(""); else zoom(parent[state.zoom]); },
  ArrowUp: () => move(state.flame ? steps.in : steps.out),
  ArrowDown: () => move(state.flame ? steps.out : steps.in),
  ArrowLeft: () => move(steps.back),
  ArrowRight: () => move(steps.next),
};
addEventListener("keydown", event => {
  const find = event.key === "f" && (event.ctrlKey || event.metaKey);
  if (event.target === part("term") && event.key === "Escape") {
    search("");
    view.focus();
  } else if (find || (event.key in keys && event.target.matches("body, main, html, button") && !event.ctrlKey &&
      !event.metaKey && !event.altKey && !(event.key === "Enter" && event.target.matches("button")))) {
    event.preventDefault();
    keys[find ? "/" : event.key]();
  }
});

/* ---- begin ---- */

data.metrics.forEach((metric, i) => part("metric").add(new Option(metric.name, i)));
part("metric").hidden = data.metrics.length < 2;
function begin() {
  readAddress();
  measure();
  if (!(total[state.zoom] > 0)) state.zoom = 0;
  showAll();
  search(state.term);
}
addEventListener("hashchange", begin);
new ResizeObserver(showAll).observe(view);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
begin();
if (state.flame) view.scrollTop = 1e9;
