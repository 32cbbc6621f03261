"use strict";
/*
 * Data comes as scripts beside the page, report/KEY.js, each of which calls pm.take: a page that was opened from a file
 * may not fetch(). Scripts in other directories do not know their key, which their element has. What was loaded last is
 * kept.
 */
const pm = {
  most: 400,
  kept: new Map(),
  waiting: new Map(),
  take(key, data) {
    key = key || document.currentScript.dataset.key;
    const wait = this.waiting.get(key);
    if (!wait) return;
    this.waiting.delete(key);
    this.kept.set(key, data);
    if (this.kept.size > this.most) this.kept.delete(this.kept.keys().next().value);
    wait.resolve(data);
  },
  load(key, source = `report/${key}.js`) {
    if (this.kept.has(key)) {
      const data = this.kept.get(key);
      this.kept.delete(key);
      this.kept.set(key, data);
      return Promise.resolve(data);
    }
    const before = this.waiting.get(key);
    if (before) return before.promise;
    const wait = {};
    wait.promise = new Promise((resolve, reject) => Object.assign(wait, { resolve, reject }));
    this.waiting.set(key, wait);
    const script = document.createElement("script");
    script.src = source;
    script.dataset.key = key;
    const end = () => {
      script.remove();
      if (this.waiting.get(key) !== wait) return;
      this.waiting.delete(key);
      wait.reject(new Error(`${source} cannot be read. The page works in a mount; a copy of it has no data.`));
    };
    script.onload = script.onerror = end;
    document.head.append(script);
    busy(1);
    wait.promise.then(() => busy(-1), () => busy(-1));
    return wait.promise;
  },
  /* What is there already, or undefined. */
  at(key) { return this.kept.get(key); },
};

const part = id => document.getElementById(id);

let loading = 0;
function busy(change) {
  loading += change;
  document.body.classList.toggle("busy", loading > 0);
}

/* An element. Text is only ever set as text. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(element.style, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined));
  return element;
}

/* ---- numbers for people ---- */

const NS = { sec: 1e9, s: 1e9, seconds: 1e9, msec: 1e6, ms: 1e6, usec: 1e3, us: 1e3, nsec: 1, ns: 1 };
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]];
const count = value => Math.round(value).toLocaleString("en");
const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const digits = value => Math.abs(value) >= 1000 || Number.isInteger(value) ? count(value) : value.toPrecision(4);

function amount(value, unit) {
  if (value === null || value === undefined) return "";
  const steps = NS[unit] ? TIMES : /^(bytes?|B)$/.test(unit) ? BYTES : null;
  if (!steps) return digits(value) + (unit ? " " + unit : "");
  if (value === 0) return "0";
  const base = value * (NS[unit] || 1), step = steps.find(s => Math.abs(base) >= s[0]) || steps[steps.length - 1];
  return digits(base / step[0]) + " " + step[1];
}

function share(value, whole) {
  if (value === null || value === undefined || !(whole > 0)) return "";
  const percent = 100 * value / whole;
  return percent > 0 && percent < 0.005 ? "≈0%" : percent.toFixed(percent === 0 || percent === 100 ? 0 : percent < 0.995 ? 2 : 1) + "%";
}

const baseName = path => path.slice(path.lastIndexOf("/") + 1);
const place = (file, line) => file ? baseName(file) + (line ? ":" + line : "") : "";

const views = []; /* {id, title, shown(), show(box)}, in the order of the files */

/* ---- what the page is of, and what of it is shown: all of it in the address ---- */

let start; /* start.js */
const isComparison = () => start.format === "comparison";
let groups = []; /* quantities: {label, unit, own, all, count, whole, picture}; the first is the primary one */
const state = {};

const group = () => groups[state.metric] || groups[0] || { label: "", unit: "", own: -1, all: -1, whole: 0, main: -1 };

function readGroups() {
  const byNumber = new Map();
  start.columns.forEach((column, i) => {
    let g = byNumber.get(column.group);
    if (!g) byNumber.set(column.group, g = { label: column.metric, unit: column.unit, own: -1, all: -1, count: -1, whole: column.whole, picture: -1 });
    if (column.role === "incl") g.all = i;
    else if (column.role === "excl") g.own = i;
    else g.count = i;
    if (column.picture) g.picture = i;
  });
  groups = [...byNumber.values()];
  for (const g of groups) {
    g.main = g.all >= 0 ? g.all : g.own >= 0 ? g.own : g.count;
    g.name = start.columns[g.main].name;
  }
  const labels = groups.map(g => g.label);
  for (const g of groups) if (labels.indexOf(g.label) !== labels.lastIndexOf(g.label)) g.label = g.name;
}

const NUMBERS = ["node", "fn", "ctx", "file", "doc", "depth", "thread"];

function readAddress() {
  const now = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(state)) delete state[key];
  for (const [key, value] of now) state[key] = NUMBERS.includes(key) ? Number(value) : value;
  state.view = views.some(v => v.id === state.view && v.shown()) ? state.view : "overview";
  const metric = groups.findIndex(g => g.name === state.metric);
  state.metric = metric < 0 ? 0 : metric;
  state.thread = Number.isInteger(state.thread) && state.thread < start.threads ? state.thread : -1;
}

function address(change) {
  const next = { ...state, ...change }, hash = new URLSearchParams();
  hash.set("view", next.view);
  if (next.metric > 0) hash.set("metric", groups[next.metric].name);
  if (next.thread >= 0) hash.set("thread", next.thread);
  for (const [key, value] of Object.entries(next))
    if (!["view", "metric", "thread"].includes(key) && value !== undefined && value !== "" && value !== null) hash.set(key, value);
  return "#" + hash;
}

/* A change to another view does not carry what is only of this one. */
function toView(change) {
  const next = { ...change };
  if (change.view && change.view !== state.view)
    for (const key of ["node", "fn", "ctx", "file", "doc", "from", "to", "line", "sort", "item", "least", "errors", "up", "at", "cols", "across"]) if (!(key in change)) next[key] = undefined;
  return next;
}

/* Goes to another state; `replace` leaves no step to go back to. */
function go(change, replace) {
  const hash = address(toView(change));
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  show();
}

const link = (change, ...content) => h("a", { href: address(toView(change)), onclick: event => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(change);
} }, ...content);

function matcher() {
  if (!state.search) return null;
  try {
    return new RegExp(state.search, "i");
  } catch {
    const plain = state.search.toLowerCase();
    return { test: text => text.toLowerCase().includes(plain) };
  }
}

/* ---- parts of views ---- */

const swatch = colour => h("span", { class: "swatch", style: { background: start.palette[colour] || "#ccc" } });

function bar(value, whole, colour) {
  const width = whole > 0 && value > 0 ? Math.min(100, 100 * value / whole) : 0;
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: { width: width + "%", background: colour || "" } }));
}

function tip(event, ...content) {
  const box = part("tip");
  if (!content.length) { box.hidden = true; return; }
  box.replaceChildren(...content);
  box.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8);
  const y = event.clientY + 18 + box.offsetHeight > innerHeight ? event.clientY - box.offsetHeight - 10 : event.clientY + 18;
  box.style.left = Math.max(4, x) + "px";
  box.style.top = Math.max(4, y) + "px";
}

function facts(rows) {
  return h("table", { class: "facts" }, h("tbody", {}, rows.filter(row => row && row[1] !== null && row[1] !== "").map(([key, value]) =>
    h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, value)))));
}

/*
 * A table of any length: rows are made for what is in sight. `columns`: {title, cell(row) → node or text, number, sort,
 * width}; `least`: how many characters all of them need. `rows` may grow: call refresh().
 */
const ROW_HEIGHT = 24;
function longTable({ columns, rows, sort, onsort, onrow, label, chosen, least }) {
  const head = h("tr", {}, columns.map((column, i) => {
    const sorted = sort && sort.column === i;
    const content = column.sort ? h("button", { type: "button", onclick: () => onsort(i) }, column.title + (sorted ? sort.down ? " ▾" : " ▴" : "")) : column.title;
    return h("th", { scope: "col", class: column.number ? "number" : "", "aria-sort": sorted ? sort.down ? "descending" : "ascending" : null,
      style: column.width ? { width: column.width } : {}, title: column.hint }, content);
  }));
  const above = h("tr", { class: "space", "aria-hidden": "true" }), below = h("tr", { class: "space", "aria-hidden": "true" });
  const body = h("tbody"), table = h("table", { class: "long", "aria-label": label, style: least ? { minWidth: least + "ch" } : {} }, h("thead", {}, head), body);
  const box = h("div", { class: "scroll", tabindex: "0" }, table);
  let first = -1, last = -1;
  function draw(force) {
    const from = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - 10);
    const to = Math.min(rows.length, from + Math.ceil((box.clientHeight || 600) / ROW_HEIGHT) + 20);
    if (!force && from === first && to === last) return;
    first = from;
    last = to;
    above.style.height = from * ROW_HEIGHT + "px";
    below.style.height = (rows.length - to) * ROW_HEIGHT + "px";
    table.setAttribute("aria-rowcount", rows.length);
    const made = rows.slice(from, to).map(row => {
      const line = h("tr", { class: (onrow ? "live" : "") + (chosen && chosen(row) ? " chosen" : "") }, columns.map(column =>
        h("td", { class: column.number ? "number" : "" }, column.cell(row))));
      if (onrow) line.addEventListener("click", event => { if (!event.target.closest("a, button")) onrow(row); });
      return line;
    });
    body.replaceChildren(above, ...made, below);
  }
  box.addEventListener("scroll", () => draw(false), { passive: true });
  new ResizeObserver(() => draw(true)).observe(box);
  return { box, refresh(next) { if (next) rows = next; draw(true); } };
}

/* A number with its share and a bar behind it. */
const cost = (value, unit, whole) => value === null || value === undefined ? "" :
  h("span", { class: "cost" }, bar(value, whole), h("span", { class: "value" }, amount(value, unit)), h("span", { class: "share" }, share(value, whole)));

/* A canvas as wide as its box, drawn again when that changes. */
function canvasIn(box, draw) {
  const canvas = h("canvas"), ctx = canvas.getContext("2d");
  const fit = () => {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(1, box.clientWidth), height = Math.max(1, box.clientHeight);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(ctx, width, height);
  };
  new ResizeObserver(fit).observe(box);
  box.append(canvas);
  return { canvas, ctx, draw: fit };
}

const colourOf = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function failed(box, error) {
  box.replaceChildren(h("p", { class: "note", role: "alert" }, error.message));
}
