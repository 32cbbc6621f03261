/* ---- tables of the mount as they are, and numbers over time ---- */

const documentsOf = pattern => start.documents.filter(([, path]) => pattern.test(path));

/* The rows of a table as objects. */
const rowsOf = table => table ? table.rows.map(row => Object.fromEntries(table.columns.map((name, i) => [name, row[i]]))) : [];

views.push({ id: "counters", title: "Counters", shown: () => start.counters.length > 0, show(box) {
  const cards = h("div", { class: "cards" });
  box.replaceChildren(cards);
  const test = matcher();
  const found = start.counters.filter(([, name]) => !test || test.test(name)).slice(0, 40);
  for (const [n, name] of found) {
    const area = h("div", { class: "plot" }), words = h("p", { class: "note where" });
    cards.append(h("section", { class: "card wide" }, h("h2", {}, name), area, words));
    pm.load(`plot-${n}`).then(data => data && drawPlot(area, words, data), error => failed(area, error));
  }
  status(`${count(found.length)} of ${many(start.counters.length, "counter")}`);
} });

function drawPlot(area, words, data) {
  const points = [];
  for (let i = 0; i < data.points.length; i += 2) points.push([data.points[i], data.points[i + 1]]);
  points.sort((a, b) => a[0] - b[0]);
  if (!points.length) { words.textContent = "no values"; return; }
  let least = Infinity, high = -Infinity;
  for (const [, v] of points) { least = Math.min(least, v); high = Math.max(high, v); }
  const low = Math.min(0, least), begin = points[0][0], end = points[points.length - 1][0], xOf = (t, width) => AXIS.left + (t - begin) / (end - begin || 1) * (width - AXIS.left - 2);
  const view = canvasIn(area, (ctx, width, height) => {
    ctx.clearRect(0, 0, width, height);
    const y = drawAxes(ctx, width, height, low, high === low ? low + 1 : high, "", "", ticks(begin, end, width / 140, "ns").map(([t, label]) => [xOf(t, width), label]));
    ctx.strokeStyle = colourOf("--accent");
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    points.forEach(([t, v], i) => { if (i) ctx.lineTo(xOf(t, width), y(v)); else ctx.moveTo(xOf(t, width), y(v)); });
    ctx.stroke();
  });
  view.canvas.addEventListener("mousemove", event => {
    const rect = view.canvas.getBoundingClientRect(), t = begin + (event.clientX - rect.left - AXIS.left) / (rect.width - AXIS.left - 2) * (end - begin);
    const near = points.reduce((best, p) => Math.abs(p[0] - t) < Math.abs(best[0] - t) ? p : best);
    tip(event, h("b", {}, digits(near[1])), facts([["at", exactTime(near[0])]]));
  });
  view.canvas.addEventListener("mouseleave", event => tip(event));
  words.textContent = `${count(data.rows)} values from ${amount(begin, "ns")} to ${amount(end, "ns")}, ${digits(least)} to ${digits(high)}`;
}

/* What there is no view for comes first. */
views.push({ id: "tables", title: "Tables", shown: () => documentsOf(/^[^/]+\.csv$/).length > 0, show(box) {
  const found = documentsOf(/^[^/]+\.csv$/), preferred = isRuns() ? null : found.find(([, path]) => path === "functions.csv");
  const n = found.some(([k]) => k === state.doc) ? state.doc : (preferred || found[0])[0], area = h("div", { class: "fill" }), tools = h("div", { class: "tools" });
  box.replaceChildren(h("div", { class: "column" }, tools, area));
  tools.append(...found.map(([k, path]) => k === n ? h("b", {}, path) : link({ doc: k, sort: undefined, cols: undefined }, path)));
  showTable(area, n, { path: found.find(([k]) => k === n)[1], menu: tools });
} });

const isText = /^(name|caller|callee|kernel|launch|before|after|category|names|joined|what|method|function|request|statement|path|title|class|message|attribute|value|label|run|metric)$/;
const isId = /(^|_)(id|ids)$|^(function_id|caller_id|callee_id|context_id|parent_id|thread_id|depth|timestamp_ns)$/;

function cellText(name, value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return value;
  if (name === "timestamp_ns") return new Date(value / 1e6).toISOString();
  if (isId.test(name) || /^(line|rank|thread|node|process|repetition|pid|tid)$/.test(name)) return String(value);
  if (/(^|_)share$/.test(name)) return share(value, 1);
  const rate = /_per_sec(_|$)/.test(name), unit = /(^|_)bytes(_|$)/.test(name) ? "B" : rate ? "" : /_ns(_|$)/.test(name) ? "ns" : /_sec(_|$)/.test(name) ? "sec" : "";
  if (/(^|_)(ratio|p|q|imbalance|efficiency|scaling|balance|speedup)$/.test(name)) return Number.isInteger(value) ? String(value) : value.toPrecision(4);
  return amount(value, unit) + (rate ? "/s" : "");
}

/* Names first, then numbers, what only programs need last: at most `most` of them unless one chooses. */
function usualColumns(names, options) {
  if (options.only) return options.only.map(name => names.indexOf(name)).filter(i => i >= 0);
  const isKind = n => n === "category", texts = names.filter(n => isText.test(n)).sort((a, b) => isKind(a) - isKind(b)), own = names.filter(n => !isText.test(n) && !isId.test(n) && !/^(module|file|matched|only_in)$/.test(n)), rest = names.filter(n => /^(only_in|matched|file|module)$/.test(n)).reverse();
  const most = Math.max(4, Math.floor((innerWidth - 520) / 110)), first = own.slice(0, most);
  return [...(texts.length ? texts : []), ...first, ...rest].map(n => names.indexOf(n));
}

/*
 * A table of the mount: its first rows at once, more as one reads on; to sort or search it, all of it up to a limit. Of
 * `options`, keep(row) says which rows are shown, and onrow(row) and chosen(row) are as for longTable, with rows as
 * objects; link(path) is what a path becomes; `only` has the names of the columns to show at first.
 */
const MOST_SORTED = 200; /* chunks */
function showTable(box, doc, options = {}) {
  const area = h("div", { class: "fill" }), test = matcher(), [byName, way] = (state.sort || "").split(/-(?=[^-]*$)/);
  const data = []; /* rows, with their numbers in front */
  let list = null, chunk = 0, more = true, running = false, names = [], read = 0, types = null;
  const named = row => Object.fromEntries(names.map((name, i) => [name, row[i + 1]])), all = test || options.keep || byName;
  const cell = i => (row) => {
    const value = row[i + 1], text = cellText(names[i], value);
    if (names[i] === "path" && options.path === "threads.csv" && isTree() && !pm.sent) return link({ view: "functions", thread: row[0] }, h("span", { class: "name" }, value.replace(/^threads\//, "")));
    if (names[i] === "path" && text && (options.link || /\.csv$/.test(options.path || "") && isTree())) return options.link ? options.link(value) : h("a", { href: files() + encodePath(value) + "/" }, "open");
    if (names[i] === "path" && text && isRuns()) return h("a", { class: "where", href: encodePath(value) + "/report.html" }, value);
    if (names[i] === "category") return String(text);
    if (names[i] === "name" && text && isTree() && options.path === "functions.csv") return functionLink({ number: row[0], name: String(text) });
    if (names[i] === "name" && text && isTree() && options.path === "contexts.csv") return contextLink(row[0], String(text));
    if (isText.test(names[i]) && text) return nameOf(String(text));
    if (/^(file|module|source|command)$/.test(names[i])) return pathOf(String(text));
    return typeof value === "number" && !options.quiet ? number(text, `${files()}${options.path}|${row[0]}|${names[i]}`) : h("span", { class: "where", title: text }, text);
  };
  const filled = i => data.length === 0 || data.some(row => row[i + 1] !== null && row[i + 1] !== "");
  const shownColumns = () => state.cols && !options.fixed ? state.cols.split(",").map(name => names.indexOf(name)).filter(i => i >= 0) : usualColumns(names, options).filter(filled);
  const titleOf = name => options.titles && options.titles[name] || name;
  function makeList() {
    const shown = shownColumns(), isPath = i => /^(file|module|source|command)$/.test(names[i]), isName = i => isText.test(names[i]) && names[i] !== "category", named_ = shown.some(isName);
    const widths = i => names[i] === "path" && options.link ? 8 : isPath(i) && named_ ? 24 : isName(i) || isPath(i) ? 0 : Math.max(Math.min(18, titleOf(names[i]).length) * 0.92 + 2, ...data.slice(0, 100).map(row => String(cellText(names[i], row[i + 1])).length)) + (isNarrow() ? 1.6 : 2.6); /* and what is around a cell */
    types ||= names.map((_, i) => data.some(row => typeof row[i + 1] === "number"));
    const columns = shown.map(i => ({ title: titleOf(names[i]), hint: names[i], sort: true, cell: cell(i), width: widths(i) ? Math.min(34, widths(i)) + "ch" : null, number: types[i], index: i }));
    const sort = byName ? { column: columns.findIndex(c => c.hint === byName), down: way === "down" } : null;
    list = longTable({ rows: ordered(), label: options.path || "Rows", columns, sort, least: columns.reduce((sum, c) => sum + (c.width ? parseFloat(c.width) : 30), 0),
      onsort: i => go({ sort: `${columns[i].hint}-${sort && sort.column === i ? sort.down ? "up" : "down" : columns[i].number ? "down" : "up"}` }, true),
      onrow: options.onrow && (row => options.onrow(named(row))), chosen: options.chosen && (row => options.chosen(named(row))) });
    area.replaceChildren(list.box);
    list.box.addEventListener("scroll", () => { if (list.box.scrollTop + list.box.clientHeight > list.box.scrollHeight - 3000) next().catch(error => failed(area, error)); }, { passive: true });
    if (options.menu && !options.menu.querySelector(".menu")) options.menu.append(h("details", { class: "menu" }, h("summary", {}, "Columns"), h("div", {}, names.map((name, i) => h("label", {},
      h("input", { type: "checkbox", checked: shown.includes(i), onchange: event => go({ cols: (event.target.checked ? [...shown, i] : shown.filter(k => k !== i)).map(k => names[k]).join(",") || undefined }, true) }), " ", name)))));
  }
  function ordered() {
    const i = names.indexOf(byName);
    if (i < 0) return data;
    const sign = way === "down" ? -1 : 1;
    return [...data].sort((a, b) => {
      const x = a[i + 1], y = b[i + 1];
      if (x === null || y === null) return (x === null) - (y === null) || a[0] - b[0];
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a[0] - b[0];
    });
  }
  box.replaceChildren(area);
  async function next() {
    if (!more || running) return;
    running = true;
    const part = await pm.load(`table-${doc}-${chunk++}`);
    running = false;
    if (!part) { area.replaceChildren(note("There is no such table.")); return; }
    more = part.more;
    names = part.columns;
    for (const row of part.rows) {
      const numbered = [read++, ...row];
      if ((!test || row.some(c => typeof c === "string" && test.test(c))) && (!options.keep || options.keep(named(numbered)))) data.push(numbered);
    }
    if (!list) makeList();
    if (all && more && chunk < MOST_SORTED) { if (chunk % 8 === 0) list.refresh(ordered()); await next(); return; }
    list.refresh(ordered());
    status(many(data.length, "row") + (more ? all ? ` of the first ${count(read)}` : ", more below" : all && data.length < read ? ` of ${count(read)}` : ""));
  }
  next().catch(error => failed(area, error));
}

const encodePath = path => path.split("/").map(encodeURIComponent).join("/");

/* ---- GPUs ---- */

views.push({ id: "gpu", title: "GPU", shown: () => documentsOf(/^gpu\.csv$/).length > 0, show(box) {
  const doc = documentsOf(/^gpu\.csv$/)[0][0], others = { gaps: documentsOf(/^gpu-gaps\.csv$/)[0], launches: documentsOf(/^launches\.csv$/)[0] }, tools = h("div", { class: "tools" }), area = h("div", { class: "fill" });
  box.replaceChildren(h("div", { class: "column" }, tools, area));
  pm.load(`table-${doc}-0`).then(data => {
    const kinds = [...new Set(rowsOf(data).map(row => row.operation))], other = others[state.op];
    const choice = (op, title) => (state.op || "") === op ? h("b", {}, title) : link({ op: op || undefined, sort: undefined }, title);
    tools.append(choice("", "all operations"), ...kinds.map(kind => choice(kind, kind)), others.launches ? choice("launches", "launches") : "", others.gaps ? choice("gaps", "idle gaps") : "",
      h("span", { class: "soft" }, (other || isComparison() ? "" : "shares are of all GPU operations") + (start.trace ? `${other ? "" : "; "}click: in the timeline` : "")));
    /* A row, where it is in the timeline: marked, or the only one that is not pale. */
    const timeline = (begin, end) => go({ view: "timeline", thread: -1, search: undefined, from: Math.round(begin - (end - begin)), to: Math.round(end + (end - begin)), marks: `${begin}-${end}` });
    const onrow = start.trace && (row => other === others.gaps ? timeline(row.time_ns, row.time_ns + row.duration_ns) : other ? timeline(Math.min(row.launch_ns, row.kernel_ns), Math.max(row.launch_ns, row.kernel_ns)) : go({ view: "timeline", thread: -1, search: row.kernel }));
    if (other) { showTable(area, other[0], { path: other[1], menu: tools, onrow }); return; }
    const only = isComparison() ? ["kernel", "operation", "total_ns_diff", "total_ns_base", "total_ns", "total_ns_ratio", "q", "launches_base", "launches", "mean_ns_base", "mean_ns", "only_in"] : ["kernel", "operation", "launches", "total_ns", "share", "mean_ns", "max_ns", "bytes", "bytes_per_sec", "module"];
    showTable(area, doc, { path: "gpu.csv", menu: tools, onrow, only: state.op === "kernel" ? only.filter(c => !/^bytes/.test(c)) : only, keep: state.op ? row => row.operation === state.op : null });
  }).catch(error => failed(area, error));
} });

/* ---- comparisons, and several runs ---- */

/* A comparison has no tree of its own: what changed as a table, and the picture beside it. */
function showComparison(box) {
  const doc = documentsOf(/^functions\.csv$/)[0], table = h("div", { class: "fill" }), tools = h("div", { class: "tools" });
  box.replaceChildren(h("div", { class: "split even" }, h("div", { class: "column" }, tools, table), h("div", { class: "column pictures", tabindex: "0", role: "group", "aria-label": "Differential flame graph and summary" },
    h("iframe", { src: "flamegraph.html", title: "Differential flame graph" }), h("iframe", { class: "text", src: "summary.txt", title: "summary.txt", sandbox: true }))));
  tools.append(h("b", {}, "Functions"), link({ view: "tables" }, "all tables"));
  if (!doc) return;
  pm.load(`table-${doc[0]}-0`).then(data => {
    const base = data.columns.findIndex(c => /_base$/.test(c)), stem = data.columns[base].replace(/_base$/, "");
    const only = ["name", stem + "_diff", stem + "_base", stem, stem + "_ratio", "q", "only_in"], unit = stem.replace(/_excl$/, "");
    const titles = { name: "function", [stem + "_diff"]: "difference", [stem + "_base"]: start.base, [stem]: start.title, [stem + "_ratio"]: "ratio", only_in: "only in" };
    tools.append(h("span", { class: "soft" }, `own ${unit}; most changed first`));
    showTable(table, doc[0], { path: doc[1], menu: tools, only, titles });
  }).catch(error => failed(table, error));
}

/* The root of several runs: what they are, how they scale, what changed most. */
function showRuns(box) {
  const cards = h("div", { class: "cards" }), doc = documentsOf(/^runs\.csv$/)[0], efficiency = documentsOf(/^efficiency\.csv$/)[0] || documentsOf(/^scaling\.csv$/)[0];
  box.replaceChildren(cards);
  pm.load(`table-${doc[0]}-0`).then(data => {
    const runs = rowsOf(data), base = start.base, table = h("div", { class: "runs" });
    cards.append(h("section", { class: "card full" }, h("h2", {}, `${many(runs.length, "run")}, compared with ${base}`), table));
    table.style.height = Math.min(14, runs.length + 2) * ROW_HEIGHT + 16 + "px";
    const costs = data.columns.slice(2, data.columns.indexOf("contexts")).slice(0, 3);
    showTable(table, doc[0], { path: doc[1], fixed: true, quietStatus: true, only: ["run", ...(runs.some(r => r.repetition > 1) ? ["repetition"] : []), ...costs, "threads", "ranks", "duration_ns", "contexts", "format", "path", "error"], link: path => path ? h("a", { href: encodePath(path) + "/report.html" }, "open") : "" });
    if (efficiency) showSpeedup(cards, efficiency).catch(() => {});
    const names = [...new Set(runs.map(r => r.run))].filter(name => name !== base);
    names.slice(0, 12).forEach((name, i) => { if (runs.some(r => r.run === name && !r.error)) cards.append(changesOf(name, start.compared[i])); });
    if (names.length > 12) cards.append(note(`and ${names.length - 12} more: compare/`));
  }).catch(error => failed(cards, error));
}

/* Speedup over threads, where a table has it. */
async function showSpeedup(cards, [doc]) {
  const data = await pm.load(`table-${doc}-0`), rows = rowsOf(data).filter(r => r.speedup > 0 && r.threads > 0).sort((a, b) => a.threads - b.threads);
  if (rows.length < 2 || rows[0].threads === rows[rows.length - 1].threads) return; /* a line needs two places */
  const area = h("div", { class: "plot tall", role: "img", "aria-label": "Speedup over threads" });
  cards.children[0].after(h("section", { class: "card wide" }, h("h2", {}, "Speedup over threads"), area, note("the line: as many times faster as there are more threads")));
  const first = rows[0], last = rows[rows.length - 1], most = Math.max(...rows.map(r => r.speedup), first.speedup * last.threads / first.threads);
  canvasIn(area, (ctx, width, height) => {
    const x = t => AXIS.left + 14 + (t - first.threads) / (last.threads - first.threads || 1) * (width - AXIS.left - 40);
    ctx.clearRect(0, 0, width, height);
    const y = drawAxes(ctx, width, height, 0, most, "", "", rows.map(r => [x(r.threads), String(r.threads)]));
    ctx.strokeStyle = colourOf("--soft");
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(x(first.threads), y(first.speedup));
    ctx.lineTo(x(last.threads), y(first.speedup * last.threads / first.threads));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.strokeStyle = ctx.fillStyle = colourOf("--accent");
    ctx.beginPath();
    rows.forEach((r, i) => { if (i) ctx.lineTo(x(r.threads), y(r.speedup)); else ctx.moveTo(x(r.threads), y(r.speedup)); });
    ctx.stroke();
    for (const r of rows) { ctx.beginPath(); ctx.arc(x(r.threads), y(r.speedup), 3.5, 0, 7); ctx.fill(); }
  });
}

/* The largest changes of one run: the first rows of its functions.csv. */
function changesOf(name, entry) {
  const at = `compare/${entry}/`, card = h("section", { class: "card wide" }, h("h2", {}, h("a", { href: `compare/${encodeURIComponent(entry)}/report.html` }, `${name} against ${start.base}`)));
  const load = key => pm.load(key, `compare/${encodeURIComponent(entry)}/report/${key}.js`, at + key);
  load("start").then(async data => {
    const doc = data.documents.find(([, path]) => path === "functions.csv"), table = await load(`table-${doc[0]}-0`);
    const stem = table.columns.find(c => /_base$/.test(c)).replace(/_base$/, ""), rows = rowsOf(table).slice(0, 10);
    const cell = (row, i, column) => h("td", { class: "number" }, row[column] === null ? "" : number(cellText(column, row[column]), `${at}functions.csv|${i}|${column}`));
    card.append(h("table", { class: "plain" }, h("thead", {}, h("tr", {}, [["name", "function"], [stem + "_base", start.base], [stem, name], [stem + "_diff", "difference"]].map(([column, title]) => h("th", { scope: "col", class: column === "name" ? "" : "number calls", title: column }, title)))),
      h("tbody", {}, rows.map((row, i) => h("tr", {}, h("td", {}, nameOf(String(row.name))), cell(row, i, stem + "_base"), cell(row, i, stem), cell(row, i, stem + "_diff"))))));
  }).catch(error => card.append(h("p", { class: "note" }, error.message)));
  return card;
}
