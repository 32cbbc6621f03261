/* ---- functions: all of them, and one with those around it ---- */

const CHUNK = 500, MOST_KEYS = 4095; /* numbers in names of data have 12 bits */
const TOGETHER = 10; /* chunks, of which each is a while on its way */

/* A row of functions.csv, with its number, which other data refers to. */
const functionRow = row => ({ number: row[0], name: row[1], module: row[2], file: row[3], line: row[4], category: row[5], colour: row[6], contexts: row[7], cells: row[8], fileNumber: row[9], nothing: row[10] });
const functionCell = (f, i) => f.cellOf ? f.cellOf(i) : `${files()}functions.csv|${f.number}|${start.columns[i].name}`;

/* All functions of each directory, in the order of functions.csv, as far as they are there. */
const functionLists = new Map();
function allFunctions() {
  if (!functionLists.has(base())) functionLists.set(base(), { rows: [], done: false, promise: null, listeners: [] });
  return functionLists.get(base());
}

async function functionsFrom(chunk) {
  const list = allFunctions(), rows = await pm.load(`functions-${chunk}-0`);
  for (const row of rows) list.rows[row[0]] = functionRow(row);
}

/* The first of them at once; the others as they come, with `grown` called after each part. */
function loadFunctions(grown) {
  const list = allFunctions(), chunks = Math.ceil(start.functions / CHUNK);
  const all = async () => {
    for (let chunk = 0; chunk < chunks; chunk += TOGETHER) {
      await Promise.all(Array.from({ length: Math.min(TOGETHER, chunks - chunk) }, (_, i) => list.rows[(chunk + i) * CHUNK] ? null : functionsFrom(chunk + i)));
      for (const tell of list.listeners) tell();
    }
    list.done = true;
    for (const tell of list.listeners) tell();
  };
  list.listeners = [grown];
  if (!list.promise) list.promise = all().catch(error => { list.promise = null; throw error; });
  else grown();
  return list.promise;
}

async function functionAt(number) {
  if (number < 0) return null;
  const list = allFunctions();
  if (!list.rows[number]) await functionsFrom(Math.floor(number / CHUNK));
  return list.rows[number] || null;
}

/* What matches is known when all functions are there; they cost what functions.csv says. */
async function matching(test) {
  await loadFunctions(() => {});
  return allFunctions().rows.filter(f => f && test.test(f.name));
}

/* Rows of a thread's functions.csv: the functions with the thread's numbers. */
async function threadFunctions(thread) {
  const found = [], threads = await allThreads();
  for (let chunk = 0; ; chunk++) {
    const rows = await pm.load(`threadfunctions-${thread}-${chunk}`);
    for (const [row, contexts, cells] of rows) {
      const at = found.length;
      found.push({ ...await functionAt(row), contexts, cells, cellOf: i => `${files()}${threads[thread].directory}/functions.csv|${at}|${start.columns[i].name}` });
    }
    if (rows.length < CHUNK) return found;
  }
}

/* ---- columns of numbers, of functions and of calling contexts ---- */

/* Which of them are chosen; else those of the metric at hand, the counts that the table has, and of derived metrics at most four, those of -o derive first. */
function chosenColumns(first, role, table) {
  if (state.cols) return state.cols.split(",").map(Number).filter(i => Number.isInteger(i) && start.columns[i]);
  const g = group(), derived = new Map();
  start.columns.forEach((c, i) => { if (c.derived && (!derived.has(c.metric) || c.role === role)) derived.set(c.metric, i); });
  return [...first, g.count, ...groups.filter(x => x !== g && start.columns[x.count]?.[table]).map(x => x.count), ...[...derived.values()].slice(-4)].filter(i => i >= 0);
}

function columnMenu(shown, up) {
  return h("details", { class: "menu" }, h("summary", {}, "Columns"), h("div", {}, start.columns.map((column, i) => up && column.role === "incl" ? null : h("label", { title: column.derived },
    h("input", { type: "checkbox", checked: shown.includes(i), onchange: event => go({ cols: (event.target.checked ? [...shown, i] : shown.filter(k => k !== i)).sort((a, b) => a - b).join(",") || undefined }, true) }), " ", column.name))));
}

/* Of costs with their shares, of counts, of what is derived: `whole(i)` is what shares are of, `of` says it. Where nothing runs is no share of it. */
function numberColumns(shown, { of, whole, cellOf, width }) {
  const main = start.columns[group().main], twins = c => shown.filter(i => start.columns[i].derived && start.columns[i].metric === c.metric).length > 1;
  const title = (c, i) => c.derived ? twins(c) ? c.name : c.metric : c.role === "count" ? countName(i) :
    groups.length > 1 && (state.cols || c.group !== main.group) ? c.name : c.role === "incl" ? "with callees" : "own";
  return shown.map(i => {
    const c = start.columns[i], told = title(c, i), plain = c.derived || c.role === "count";
    return { title: told, key: i, number: true, sort: true, width: plain ? amountWidth(told) : width, hint: c.derived ? `${c.name}: ${c.derived}` : plain ? c.name : `${c.name}, ${of}`,
      cell: row => (row.cells[i] ?? null) === null ? "" : plain ? number(amount(row.cells[i], unitIn(told, c.unit)), cellOf(row, i)) : cost(row.cells[i], c.unit, row.nothing ? 0 : whole(i), cellOf(row, i)) };
  });
}

/* How many characters columns need; what may be left out where there is no room for all of them. */
const roomOf = columns => 34 + columns.reduce((sum, c) => sum + (c.width ? 1.6 * parseFloat(c.width) : 0), 0), letter = 8.3; /* px */
function fitting(columns) {
  while (roomOf(columns) * letter > innerWidth && columns.some(c => c.spare)) columns.splice(columns.findLastIndex(c => c.spare), 1);
  return columns;
}

/* Which of two rows is first by a column: where nothing can be derived, nothing is said, and such rows are last either way. */
function byColumn(i, down) {
  const none = start.columns[i]?.derived && !down ? Infinity : -Infinity, value = row => row.cells[i] ?? none;
  return (a, b) => value(a) === value(b) ? 0 : (down ? -1 : 1) * (value(a) - value(b));
}

/* `whole(i)` is what shares are of. */
function functionColumns(shown, whole) {
  const beside = state.fn >= 0, numbers = numberColumns(beside ? shown.slice(0, 2) : shown, { of: state.thread >= 0 ? "of this thread" : OF(), whole, cellOf: functionCell, width: beside ? innerWidth > 1500 ? "13em" : "10.5em" : costWidth() });
  const columns = [{ title: "function", name: true, sort: true, cell: f => h("span", { class: "fn" }, swatch(f.colour), functionLink(f)) }, ...numbers];
  if (beside) return columns;
  if (start.categories && !isNarrow()) columns.push({ title: "category", spare: true, cell: f => f.category, width: "6em" });
  if (start.places && (!isNarrow() || columns.length < 4)) columns.push({ title: "where", spare: true, cell: f => h("span", { class: "soft", title: f.file || f.module }, lineLink(f.fileNumber, f.file, f.line) || h("span", { class: "where" }, baseName(f.module))), width: innerWidth > 2000 ? "22em" : "13em" });
  return fitting(columns);
}

function sorted(rows, column, down) {
  const order = column.name ? (a, b) => (down ? -1 : 1) * (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) : byColumn(column.key, down);
  return [...rows].sort((a, b) => order(a, b) || a.number - b.number);
}

views.push({ id: "functions", title: "Functions", shown: isTree, show(box) {
  const ofThread = state.thread >= 0, test = matcher(), g = group(), totals = new Map();
  const shown = chosenColumns([g.own, g.all], "excl", "functions"), columns = functionColumns(shown, i => ofThread ? totals.get(start.columns[i].group) || 0 : start.columns[i].whole);
  const [by, way] = (state.sort || "").split("-"), asked = state.sort ? columns.findIndex(c => c.sort && (c.name ? by === "name" : c.key === Number(by))) : -1;
  const sort = asked >= 0 ? { column: asked, down: way === "down" } : { column: columns[1]?.number ? 1 : 0, down: !!columns[1]?.number };
  const column = columns[sort.column], key = column.name ? start.columns.length : column.key;
  /* The mount has them in each order, a part at a time: costs from the greatest on, names from the least on; backwards they are read from its end. */
  const ordered = !pm.sent && !ofThread && !test && key < MOST_KEYS && (sort.down || !start.columns[key]?.derived), backwards = sort.down === !!column.name;
  const rows = ordered ? new Array(start.functions) : [];
  const detail = h("section", { class: "detail" });
  const parts = new Set(), there = i => backwards ? start.functions - 1 - i : i;
  const missing = i => {
    const chunk = Math.floor(there(i) / CHUNK);
    if (parts.has(chunk)) return;
    parts.add(chunk);
    pm.load(`functions-${chunk}-${key + 1}`).then(found => {
      found.forEach((row, k) => { rows[there(chunk * CHUNK + k)] = functionRow(row); });
      list.refresh();
    }, error => failed(list.box, error));
  };
  const list = longTable({ columns, rows, sort, label: "Functions", missing,
    onsort: i => go({ sort: `${columns[i].name ? "name" : columns[i].key}-${sort.column === i ? sort.down ? "up" : "down" : columns[i].name ? "up" : "down"}` }, true),
    least: roomOf(columns),
    onrow: f => go({ fn: f.number }), chosen: f => f.number === state.fn });
  const area = h("div", { class: state.fn >= 0 ? "split" : "fill" }, list.box, state.fn >= 0 ? detail : null);
  box.replaceChildren(state.fn >= 0 || start.columns.length < 4 ? area : h("div", { class: "column" }, h("div", { class: "tools" }, columnMenu(shown, false)), area));
  const tell = (found, all, done) => {
    list.refresh(sorted(found, column, sort.down));
    status(`${count(found.length)} of ${many(all, "function")}` + (ofThread ? " of this thread" : "") + (done ? "" : ", loading"));
  };
  const kept = list => list.filter(f => f && (!test || test.test(f.name)));
  if (ordered) {
    status(many(start.functions, "function"));
    if (start.functions) missing(0);
  } else if (ofThread) {
    Promise.all([threadFunctions(state.thread), ...groups.map(x => pm.load(`costs-0-${x.main}`))]).then(([found, ...costs]) => {
      const idle = i => found.reduce((sum, f) => sum + (f.nothing ? f.cells[i] || 0 : 0), 0);
      groups.forEach((x, i) => totals.set(start.columns[x.main].group, costs[i] && costs[i][state.thread] - idle(x.main)));
      if (!found.length) { list.box.replaceChildren(note("This thread has no values.")); return; }
      tell(kept(found), found.length, true);
    }).catch(error => failed(list.box, error));
  } else {
    const all = allFunctions();
    loadFunctions(() => tell(kept(all.rows), start.functions, all.done)).catch(error => failed(list.box, error));
  }
  if (state.fn >= 0) showFunction(detail, state.fn).catch(error => failed(detail, error));
} });

/* What links need of the functions that data refers to by their rows. */
const namedIn = data => row => row < 0 ? null : { number: row, name: data.names[row] };

/* Rows of callers.csv. */
function edgeTable(title, edges, n, f, named, callers) {
  const g = group();
  const counted = edges.some(e => e[3] !== null), shown = edges.slice(0, 100), placed = shown.some(e => e[1]);
  const sortedEdges = [...shown].sort((a, b) => (b[4][g.main] || 0) - (a[4][g.main] || 0));
  const key = (e, col) => { const o = named(e[0]); return `${files()}callers.csv|${JSON.stringify({ caller: callers ? o && o.name : f.name, callee: callers ? f.name : o && o.name, file: e[1], line: e[2] })}|${col}`; };
  return h("section", {}, h("h3", {}, title, n ? ` (${count(n)})` : ""), !n ? note("None.") :
    h("table", { class: "plain" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number amount" }, g.label), counted ? h("th", { scope: "col", class: "number calls" }, "calls") : null, h("th", { scope: "col" }, "function"), placed ? h("th", { scope: "col", class: "where" }, "call site") : null)),
      h("tbody", {}, sortedEdges.map(e => h("tr", {}, h("td", { class: "number" }, cost(e[4][g.main], g.unit, g.whole, key(e, start.columns[g.main]?.name))), counted ? h("td", { class: "number" }, e[3] === null ? "" : number(count(e[3]), key(e, "calls"))) : null,
        h("td", {}, functionLink(named(e[0]))), placed ? h("td", { class: "soft" }, lineLink(e[5], e[1], e[2])) : null)))),
    n > shown.length ? note(h("span", { class: "where" }, `The ${count(shown.length)} most expensive call sites of ${count(n)}; `), link({ view: "tables", doc: (documentsOf(/^callers\.csv$/)[0] || [])[0], search: f.name }, "callers.csv")) : null);
}

async function showFunction(box, n) {
  const data = await pm.load(`function-${n}`);
  if (!data) { box.replaceChildren(note("There is no such function.")); return; }
  const f = functionRow(data.row), named = namedIn(data);
  const derived = start.columns.map((c, i) => [c.name, c.derived && f.cells[i] !== null ? h("b", { title: c.derived }, number(amount(f.cells[i], c.unit), functionCell(f, i))) : null]);
  const known = groups.filter(x => x.whole + x.idle > 0 && [x.own, x.all, x.count].some(i => i >= 0 && f.cells[i] !== null)), told = (x, i, word) => i < 0 || f.cells[i] === null ? null : h("span", {}, word, h("b", {}, number(amount(tidy(f.cells[i], x.whole), x.unit), functionCell(f, i))), " ",
    f.nothing ? "" : h("span", { class: "soft", "data-share": functionCell(f, i), "data-whole": x.whole }, share(tidy(f.cells[i], x.whole), x.whole)), "  ");
  const numbers = known.map(x => [x.label, h("span", {}, told(x, x.own, "own "), told(x, x.all, "with callees "), x.count >= 0 && f.cells[x.count] !== null ? h("b", {}, number(x.unit === x.label ? count(f.cells[x.count]) : amount(f.cells[x.count], x.unit), functionCell(f, x.count))) : null)]);
  const shares = ["50%", "90%", "99%"], cellOf = column => `${files()}functions.csv|${n}|${column}`;
  const calls = data.times && h("span", {}, shares.map((s, i) => [h("span", { class: "where" }, `${s} at most `), h("b", {}, number(amount(data.times[i], "ns"), cellOf(["p50_ns", "p90_ns", "p99_ns"][i]))), ", "]).flat(), "longest ", h("b", {}, number(amount(data.times[3], "ns"), cellOf("max_ns"))));
  const links = [groups.some(x => x.picture >= 0 && x.whole > 0) && link({ view: "flame", fn: n, thread: -1 }, "Flame graph of callers and callees"),
    link({ view: "tree", up: "1", fn: n }, "Callers, bottom up"),
    data.context !== null && link({ view: "tree", up: undefined, ctx: data.context }, "In the tree"),
    start.threads > 1 && link({ view: "threads", fn: n }, "On each thread"),
    start.trace && link({ view: "timeline", search: f.name, thread: -1 }, "In the timeline"),
    start.lines && f.fileNumber > 0 && link({ view: "source", file: f.fileNumber, line: f.line || undefined }, "Source")].filter(Boolean);
  box.replaceChildren(
    h("div", { class: "headline" }, h("h2", {}, swatch(f.colour), f.name), closeButton({ fn: undefined })),
    h("p", { class: "links" }, links.flatMap(a => [a, " "])),
    facts([["defined", f.file ? h("span", { class: "where" }, `${f.file}${f.line ? ":" + f.line : ""}`) : ""], ["module", f.module ? h("span", { class: "where" }, f.module) : ""], ["category", f.category], ["contexts", number(count(f.contexts), cellOf("contexts"))], ...numbers, ...derived, ["time of a call", calls]]),
    note(`Shares are ${OF()}.`),
    edgeTable("Callers", data.callers, data.n_callers, f, named, true), edgeTable("Callees", data.callees, data.n_callees, f, named, false));
}
