"use strict";
/*
 * Data comes as scripts beside the page, report/KEY.js: a page that was opened from a file may not fetch(). The script's
 * element knows the key, which names the directory, too: a window's data is in its own directory. What was loaded last
 * is kept. A page that was sent has its data inside (pm.put) and loads nothing.
 */
const pm = {
  most: 400,
  kept: new Map(),
  waiting: new Map(),
  sent: null, /* what is in a page that was sent, by key; `left`: how many documents there was no room for */
  left: 0,
  put(key, data) { (this.sent ||= new Map()).set(key, data); },
  take(key, data) {
    key = document.currentScript.dataset.key || key;
    const wait = this.waiting.get(key);
    if (!wait) return;
    this.waiting.delete(key);
    this.kept.set(key, data);
    if (this.kept.size > this.most) this.kept.delete(this.kept.keys().next().value);
    wait.resolve(data);
  },
  load(name, source = `${base()}report/${name}.js`, key = base() + name) {
    if (this.sent) return this.sent.has(name) ? Promise.resolve(this.sent.get(name)) : Promise.reject(new Error("This part is not in the file that was sent; it is in the mount."));
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
  at(name) { return this.sent ? this.sent.get(name) : this.kept.get(base() + name); },
};

const part = id => document.getElementById(id);

/* The class `busy` has no style: a cursor is inherited, and to change it for all elements at each step takes milliseconds. */
let loading = 0, longer = 0;
function busy(change) {
  loading += change;
  document.body.classList.toggle("busy", loading > 0);
  clearTimeout(longer);
  if (!loading) document.body.classList.remove("waiting");
  else longer = setTimeout(() => document.body.classList.add("waiting"), 200);
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

/* ---- numbers for people: as pmfs_print_amount ---- */

const NS = { sec: 1e9, s: 1e9, seconds: 1e9, msec: 1e6, ms: 1e6, usec: 1e3, us: 1e3, nsec: 1, ns: 1 };
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"], [1, "B"]];
const LARGE = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
/* 12,345.5; toLocaleString would take longer the first time than all else that a view does. */
const grouped = text => {
  const [whole, part] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part ? "." + part : "");
};
const count = value => grouped(String(Math.round(value)));
const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

/* Decimals that make `n` significant digits, of a number from 1 on. */
function decimals(size, n) {
  for (let limit = 10; n > 1 && size >= limit - 5 * 10 ** -n; limit *= 10) n--;
  return n - 1;
}

/* In the largest unit in which the value, as it will be shown, is at least 1. */
function inUnits(value, units, n) {
  const shown = i => { const x = Math.abs(value) / units[i][0], scale = 10 ** decimals(x, n); return Math.round(x * scale) / scale; };
  const i = units.findIndex((u, k) => k === units.length - 1 || shown(k + 1) * units[k + 1][0] >= u[0]), part = value / units[i][0], name = units[i][1];
  if (Math.abs(value) < 0.0005) return "0 " + (units === TIMES ? "s" : name);
  return (Math.abs(part) >= 1e9 ? part.toExponential(3) : part.toFixed(Number.isInteger(part) ? 0 : decimals(Math.abs(part), n))) + " " + name;
}

/* A number without a unit: 12,345, 13.2 G, 0.00123. */
function digits(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 100000) return count(value);
  if (size >= 100000) return size < 1e18 ? inUnits(value, LARGE, 3) : value.toExponential(3);
  return size >= 1000 ? count(value) : String(Number(value.toPrecision(4)));
}

function amount(value, unit) {
  if (value === null || value === undefined) return "";
  if (NS[unit]) return inUnits(value * NS[unit], TIMES, 4);
  if (/^(bytes?|B)$/.test(unit)) return inUnits(value, BYTES, 4);
  return digits(value) + (unit ? " " + unit : "");
}

/* What is left of costs that were added and taken off again is none. */
const tidy = (value, whole) => whole > 0 && Math.abs(value) < whole * 2 ** -40 ? 0 : value;

function share(value, whole) {
  if (value === null || value === undefined || !(whole > 0)) return "";
  const percent = 100 * value / whole;
  return percent > 0 && percent < 0.005 ? "≈0%" : percent.toFixed(percent === 0 || percent === 100 ? 0 : percent < 0.995 ? 2 : 1) + "%";
}

/*
 * Every number on the page is a cell of a table of the mount: `cell` says which, as FILE|ROW|COLUMN with rows from 0, or
 * FILE|COLUMN=TEXT|COLUMN. The tests look it up.
 */
const number = (text, cell) => h("span", { class: "value", "data-cell": cell }, text);

/* Where a window is narrow, names need the room of what is less often looked at. */
const isNarrow = () => innerWidth < 1300;
/* Of costs with bars and shares, of amounts below a title. */
const costWidth = () => isNarrow() ? "13em" : "15em", amountWidth = title => Math.max(isNarrow() ? 6 : 8, 2.2 + title.length * 0.57) + "em";
/* Without the unit where the column is called like it. */
const unitIn = (label, unit) => label === unit ? "" : unit;

/* A cost with its share of a whole, and a bar: of that whole, or of the greatest of its column. */
const cost = (value, unit, whole, cell, most) => value === null || value === undefined ? "" :
  h("span", { class: "cost" }, bar(value, most || whole), number(amount(tidy(value, whole), unit), cell), h("span", { class: "share", "data-share": cell, "data-whole": whole }, share(tidy(value, whole), whole)));

/* ---- names ---- */

const column = 7.25; /* px of a letter in pictures */
const baseName = path => path.slice(path.lastIndexOf("/") + 1);

/* Of an eval that of its text stays: (eval 5)[…/More.pm:858]. */
function fileName(path) {
  const at = path.match(/^(\(eval[^)]*\)\[)(.*)$/s);
  return at ? at[1] + fileName(at[2]) : baseName(path);
}
const place = (file, line) => file ? fileName(file) + (line ? ":" + line : "") : "";

/* Cut in its middle if there is no room; whole for those who copy it. What tells it from others stays longest. */
function nameOf(name, more) {
  let wider, from, end, after, last = name.length;
  if (name.length < 4096) {
    const [short, mark] = original(name), begin = name.indexOf(short), at = component(short, short.length), dot = numberOf(mark);
    end = begin + short.length;
    from = begin + at;
    after = name.indexOf(mark, end) + mark.length;
    last = dot >= 0 && mark.length - dot < 12 ? after - mark.length + dot : after; /* `.0`, by which copies differ */
    wider = begin + component(short, at); /* the class */
  } else {
    wider = from = name.length - 30;
    end = after = last;
  }
  if (end - from > 40) wider = from = end - 40;
  return h("span", { class: "name" + (more ? " " + more : ""), title: name.slice(0, 2000) },
    [["head", 0, wider], ["mid", wider, from], ["tail", from, end], ["rest", end, last], ["copy", last, after], ["rest", after, name.length]].filter(([, a, b]) => a < b).map(([kind, a, b]) => h("span", { class: kind }, name.slice(a, b))));
}

/* A path: the name of its file stays, and which eval it is. */
function pathOf(path) {
  const is = path.match(/^\(eval[^)]*\)\[/), from = is ? is[0].length : 0, at = Math.max(from, path.lastIndexOf("/") + 1);
  return h("span", { class: "name", title: path.slice(0, 2000) }, [["tail", 0, from], ["head", from, at], ["tail", at, path.length]].filter(([, a, b]) => a < b).map(([kind, a, b]) => h("span", { class: kind }, path.slice(a, b))));
}

const views = []; /* {id, title, shown(), show(box)}, in the order of the files */

/* ---- what the page is of, and what of it is shown: all of it in the address ---- */

let start; /* start.js of the directory at hand */
const isRuns = () => start.format === "runs", isComparison = () => start.format === "comparison", isTree = () => !isRuns() && !isComparison();
let groups = []; /* quantities: {label, unit, own, all, count, whole, idle, picture}; the first is the primary one. Shares are of `whole`, in which something ran; `idle` is not in it */
const state = {};

/*
 * Where the data is: of the run, or of a window, which may be one beside the one whose page this is, and of filters in it:
 * state.filter is focus/PATTERN/hide/PATTERN.
 */
let windowsAt = "windows/";
const part_of = encode => (state.win ? windowsAt + encode(state.win) + "/" : "") + (state.filter ? state.filter.split("/").map(encode).join("/") + "/" : "");
const base = () => part_of(encodeURIComponent);
/* The same as a name in the mount. */
const files = () => part_of(name => name);

const NO_GROUP = { label: "", unit: "", own: -1, all: -1, count: -1, whole: 0, idle: 0, main: -1, picture: -1 };
const group = () => groups[state.metric] || groups[0] || NO_GROUP;

function readGroups() {
  const byNumber = new Map();
  start.columns.forEach((column, i) => {
    if (column.derived) return;
    let g = byNumber.get(column.group);
    if (!g) byNumber.set(column.group, g = { label: column.metric, unit: column.unit, own: -1, all: -1, count: -1, whole: column.whole, idle: column.idle, picture: -1 });
    if (column.role === "incl") g.all = i;
    else if (column.role === "excl") g.own = i;
    else g.count = i;
    if (column.picture) g.picture = i;
  });
  groups = [...byNumber.values()];
  for (const g of groups) {
    g.main = g.all >= 0 ? g.all : g.own >= 0 ? g.own : g.count;
    g.first = g.own >= 0 ? g.own : g.main;
    g.name = start.columns[g.main].name;
  }
  const labels = groups.map(g => g.label);
  for (const g of groups) if (labels.indexOf(g.label) !== labels.lastIndexOf(g.label)) g.label = g.name;
}

/* Of a column of counts; those of one metric are told apart. */
const countName = i => (groups.find(g => g.count === i) || { label: start.columns[i].metric }).label;

const NUMBERS = ["node", "fn", "ctx", "file", "doc", "depth", "thread", "root", "row"];

function readHash() {
  const now = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(state)) delete state[key];
  for (const [key, value] of now) state[key] = NUMBERS.includes(key) ? Number(value) : value;
}

/* After start.js of its directory is there. */
function readState() {
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

const LASTING = ["view", "metric", "thread", "search", "win", "filter"];

/* A change to another view, time or filter does not carry what is only of this one: numbers of rows, places. */
function toView(change) {
  const next = { ...change };
  if (change.view && change.view !== state.view || "win" in change || "filter" in change)
    for (const key of Object.keys(state)) if (!LASTING.includes(key) && !(key in change)) next[key] = undefined;
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
  event.stopPropagation();
  go(change);
} }, ...content);

/* Literally what was typed; a regular expression between slashes. */
function matcher() {
  const text = state.search;
  if (!text) return null;
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/")) {
    try { return new RegExp(text.slice(1, -1), "i"); } catch { /* literally, then */ }
  }
  const plain = text.toLowerCase();
  return { test: name => name.toLowerCase().includes(plain) };
}

/* Links from numbers of things: to a function, a context, a line. */
const functionLink = f => f ? link({ view: "functions", fn: f.number }, nameOf(f.name)) : h("span", { class: "soft" }, "(top)");
const contextLink = (ctx, name) => link({ view: "tree", up: undefined, ctx }, nameOf(name));
const lineLink = (number, file, line) => !place(file, line) ? "" :
  start.lines && number > 0 ? link({ view: "source", file: number, line: line || undefined }, h("span", { class: "where", title: file }, place(file, line))) : h("span", { class: "soft where", title: file }, place(file, line));

/* ---- parts of views ---- */

const swatch = colour => h("span", { class: "swatch", style: { background: start.palette[colour] || "#ccc" } });
/* The number of the colour of a kind of work, as pictures have it; the program is blue. */
const colourOfKind = kind => kind === "" || kind === "program" ? 1 : Math.max(0, start.kinds.indexOf(kind === "thread" ? "waiting" : kind));

function bar(value, whole) {
  const width = whole > 0 && value > 0 ? Math.min(100, 100 * value / whole) : 0;
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: { width: width + "%" } }));
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

const note = (...words) => h("p", { class: "note" }, ...words);
const closeButton = change => h("button", { type: "button", title: "Close", "aria-label": "Close", onclick: () => go(change) }, "×");

/*
 * A table of any length: rows are made for what is in sight. `columns`: {title, cell(row, i) → node or text, number, sort,
 * width, heat(row) → 0 to 1}; `least`: how many characters all of them need. Rows that are not there yet are asked for with missing(i).
 * `rows` may grow: call refresh(). Nothing is made before the table has its height; `begin`: the row that is in sight then.
 */
const ROW_HEIGHT = 24;
function longTable({ columns, rows, sort, onsort, onrow, label, chosen, least, missing, begin }) {
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
    const height = box.clientHeight;
    if (!height) return;
    const place = begin > 8 ? Math.max(0, Math.min((begin - 8) * ROW_HEIGHT, rows.length * ROW_HEIGHT + head.offsetHeight - height)) : 0, top = place || box.scrollTop;
    begin = 0;
    let from = Math.max(0, Math.floor(top / ROW_HEIGHT)), to = Math.min(rows.length, Math.ceil((top + height) / ROW_HEIGHT));
    if (!force && from >= first && to <= last) return;
    if (last >= 0) { /* who scrolls needs more; the first rows come sooner without */
      from = Math.max(0, from - 8);
      to = Math.min(rows.length, to + 8);
    }
    first = from;
    last = to;
    above.style.height = from * ROW_HEIGHT + "px";
    below.style.height = (rows.length - to) * ROW_HEIGHT + "px";
    table.setAttribute("aria-rowcount", rows.length);
    const made = [];
    for (let i = from; i < to; i++) {
      const row = rows[i];
      if (!row) {
        made.push(h("tr", { "aria-hidden": "true" }, h("td", { colspan: columns.length }, "")));
        missing(i);
        continue;
      }
      const line = h("tr", { class: (onrow ? "live" : "") + (chosen && chosen(row) ? " chosen" : "") }, columns.map(column => {
        const cell = h("td", { class: column.number ? "number" : "" }, column.cell(row, i)), heat = column.heat ? column.heat(row) : 0;
        if (heat > 0.01) {
          cell.classList.add("heat");
          cell.style.setProperty("--heat", 40 * heat + "%");
        }
        return cell;
      }));
      if (onrow) line.addEventListener("click", event => { if (!event.target.closest("a, button") && !getSelection().toString()) onrow(row); });
      made.push(line);
    }
    body.replaceChildren(above, ...made, below);
    if (place) box.scrollTop = top;
  }
  box.addEventListener("scroll", () => draw(false), { passive: true });
  new ResizeObserver(() => draw(false)).observe(box);
  return { box, refresh(next) { if (next) rows = next; draw(true); } };
}

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

/* Ticks for an axis from `low` to `high`, about `n` of them: [value, label], all in one unit. */
function ticks(low, high, n, unit) {
  const rough = (high - low) / Math.max(1, n), power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough) || power * 10, found = [];
  const scale = NS[unit] || 1, steps = NS[unit] ? TIMES : /^(bytes?|B)$/.test(unit) ? BYTES : LARGE, greatest = Math.max(Math.abs(low), Math.abs(high)) * scale;
  const [size, name] = steps.find(u => greatest >= u[0]) || steps[steps.length - 1];
  const decimals = Math.min(9, Math.max(0, Math.ceil(Math.log10(size / (step * scale)) - 1e-9))); /* two steps differ */
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && found.length < 100; i++) {
    const value = i * step;
    found.push([value, value === 0 ? "0" : grouped((value * scale / size).toFixed(decimals)) + (name && " " + name)]);
  }
  return found;
}

function failed(box, error) {
  box.replaceChildren(h("p", { class: "note", role: "alert" }, error.message));
}

/* Keys that the view at hand has wherever the focus is, but for fields and what Enter already means something for. */
let viewKeys = null;
