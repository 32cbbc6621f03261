/* ---- functions: all of them, and one with those around it ---- */

const CHUNK = 500;
const allFunctions = { rows: [], done: false, promise: null, listeners: [] };

/* A row with its number in front, which other data refers to. */
const functionRow = (row, number) => ({ number, name: row[0], module: row[1], file: row[2], line: row[3], category: row[4], colour: row[5], contexts: row[6], cells: row[7] });

async function functionsFrom(chunk) {
  const rows = await pm.load(`functions-${chunk}`);
  rows.forEach((row, i) => { allFunctions.rows[chunk * CHUNK + i] = functionRow(row, chunk * CHUNK + i); });
}

/* The first of them at once; the others as they come, with `grown` called after each part. */
function loadFunctions(grown) {
  const chunks = Math.ceil(start.functions / CHUNK);
  const all = async () => {
    for (let chunk = 0; chunk < chunks; chunk++) {
      if (!allFunctions.rows[chunk * CHUNK]) await functionsFrom(chunk);
      for (const tell of allFunctions.listeners) tell();
    }
    allFunctions.done = true;
    for (const tell of allFunctions.listeners) tell();
  };
  allFunctions.listeners = [grown];
  if (!allFunctions.promise) allFunctions.promise = all();
  else grown();
  return allFunctions.promise;
}

async function functionAt(number) {
  if (number < 0) return null;
  if (!allFunctions.rows[number]) await functionsFrom(Math.floor(number / CHUNK));
  return allFunctions.rows[number] || null;
}

const functionLink = f => f ? link({ view: "functions", fn: f.number }, h("span", { class: "name", title: f.name }, f.name)) : h("span", { class: "soft" }, "(top)");

/* Rows of a thread's flat profile: the functions with the thread's numbers. */
async function threadFunctions(thread) {
  const found = [];
  for (let chunk = 0; ; chunk++) {
    const rows = await pm.load(`threadfunctions-${thread}-${chunk}`);
    for (const [number, contexts, cells] of rows) found.push({ ...await functionAt(number), contexts, cells });
    if (rows.length < CHUNK) return found;
  }
}

function functionColumns() {
  const g = group(), columns = [], beside = state.fn >= 0, width = beside ? "13em" : "15em";
  if (g.own >= 0) columns.push({ title: "own", key: g.own, number: true, width, sort: true, cell: f => cost(f.cells[g.own], g.unit, g.whole), hint: start.columns[g.own].name });
  if (g.all >= 0) columns.push({ title: "with callees", key: g.all, number: true, width, sort: true, cell: f => cost(f.cells[g.all], g.unit, g.whole), hint: start.columns[g.all].name });
  if (g.count >= 0) columns.push({ title: g.label, key: g.count, number: true, width: "10em", sort: true, cell: f => amount(f.cells[g.count], g.unit), hint: start.columns[g.count].name });
  for (const other of groups)
    if (other !== g && other.count >= 0 && other.whole > 0) columns.push({ title: other.label, key: other.count, number: true, width: "10em", sort: true, cell: f => amount(f.cells[other.count], other.unit), hint: start.columns[other.count].name });
  columns.push({ title: "function", name: true, sort: true, cell: f => h("span", { class: "fn" }, swatch(f.colour), functionLink(f)) });
  if (beside) return columns;
  columns.push({ title: "category", cell: f => f.category, width: "6em" });
  columns.push({ title: "where", cell: f => h("span", { class: "soft", title: f.file || f.module }, place(f.file, f.line) || baseName(f.module)), width: "12em" });
  return columns;
}

function sortedFunctions(rows, columns, sort) {
  const test = matcher(), found = test ? rows.filter(f => f && test.test(f.name)) : rows.filter(f => f);
  const column = columns[sort.column];
  if (!column || (sort.column === 0 && sort.down && column.key === start.excl && !state.thread)) return found;
  const value = column.name ? f => f.name : f => f.cells[column.key];
  const order = (a, b) => column.name ? a.localeCompare(b) : (a ?? -Infinity) - (b ?? -Infinity);
  return [...found].sort((a, b) => (sort.down ? -1 : 1) * order(value(a), value(b)) || a.number - b.number);
}

views.push({ id: "functions", title: "Functions", shown: () => !isComparison(), show(box) {
  const columns = functionColumns();
  const firstSort = { column: 0, down: true };
  const [column, down] = (state.sort || "").split("-");
  const sort = state.sort && columns[column] ? { column: Number(column), down: down === "down" } : firstSort;
  const ofThread = state.thread >= 0;
  let threadRows = [];
  const rows = () => sortedFunctions(ofThread ? threadRows : allFunctions.rows, columns, sort);
  const list = longTable({ columns, rows: rows(), sort, label: "Functions",
    onsort: i => go({ sort: `${i}-${sort.column === i && sort.down || columns[i].name && sort.column !== i ? "up" : "down"}` }, true),
    onrow: f => go({ fn: f.number }), chosen: f => f.number === state.fn });
  const detail = h("section", { class: "detail" });
  box.replaceChildren(h("div", { class: state.fn >= 0 ? "split" : "fill" }, list.box, state.fn >= 0 ? detail : null));
  const tell = () => {
    const now = rows();
    list.refresh(now);
    status(`${count(now.length)} of ${many(start.functions, "function")}` + (allFunctions.done || ofThread ? "" : ", loading"));
  };
  if (ofThread) threadFunctions(state.thread).then(found => { threadRows = found; tell(); }, error => failed(list.box, error));
  else loadFunctions(tell).catch(error => failed(list.box, error));
  if (state.fn >= 0) showFunction(detail, state.fn).catch(error => failed(detail, error));
} });

/* Edges to the same function from several places are shown together. */
async function joined(edges) {
  const g = group(), byRow = new Map();
  for (const [row, file, line, calls, cells] of edges) {
    const edge = byRow.get(row) || { row, calls: null, cells: start.columns.map(() => null), places: [] };
    byRow.set(row, edge);
    if (calls !== null) edge.calls = (edge.calls || 0) + calls;
    cells.forEach((cell, i) => { if (cell !== null) edge.cells[i] = (edge.cells[i] || 0) + cell; });
    if (place(file, line)) edge.places.push(place(file, line));
  }
  const found = [...byRow.values()];
  for (const edge of found) edge.f = await functionAt(edge.row);
  return found.sort((a, b) => (b.cells[g.main] || 0) - (a.cells[g.main] || 0));
}

function edgeTable(title, edges) {
  const g = group();
  const counted = edges.some(e => e.calls !== null);
  return h("section", {}, h("h3", {}, `${title} (${count(edges.length)})`), edges.length === 0 ? h("p", { class: "note" }, "None.") :
    h("table", { class: "plain" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number amount" }, g.label), counted ? h("th", { scope: "col", class: "number calls" }, "calls") : null, h("th", { scope: "col" }, "function"), h("th", { scope: "col", class: "where" }, "call site"))),
      h("tbody", {}, edges.slice(0, 100).map(e => h("tr", {}, h("td", { class: "number" }, cost(e.cells[g.main], g.unit, g.whole)), counted ? h("td", { class: "number" }, e.calls === null ? "" : count(e.calls)) : null,
        h("td", {}, functionLink(e.f)), h("td", { class: "soft" }, e.places.slice(0, 3).join(", ") + (e.places.length > 3 ? ", …" : "")))))),
    edges.length > 100 ? h("p", { class: "note" }, `and ${count(edges.length - 100)} more`) : null);
}

/*
 * The callers of each instance, merged from the function outwards, as a tree: what calls from there cost, by column, and
 * of the metric at hand. Calls inside others of the same function are in the inclusive cost of those.
 */
function bottomUp(instances) {
  const g = group(), level = row => ({ row, value: 0, cells: start.columns.map(() => null), below: new Map() }), top = level(-2);
  const add = (node, cells, outer) => {
    cells.forEach((cell, i) => { if (cell !== null && (outer || start.columns[i].role !== "incl")) node.cells[i] = (node.cells[i] || 0) + cell; });
    if (g.all < 0 || outer) node.value += cells[g.main] || 0;
  };
  for (const [, outer, cells, path] of instances) {
    let node = top;
    add(node, cells, outer);
    for (const row of path) {
      if (!node.below.has(row)) node.below.set(row, level(row));
      node = node.below.get(row);
      add(node, cells, outer);
    }
  }
  return top;
}

async function showFunction(box, number) {
  const g = group(), data = await pm.load(`function-${number}`);
  if (!data) { box.replaceChildren(h("p", { class: "note" }, "There is no such function.")); return; }
  const f = functionRow(data.row, number);
  const [callers, callees] = [await joined(data.callers), await joined(data.callees)];
  const numbers = groups.filter(x => x.whole > 0).map(x => [x.label, h("span", {},
    x.own >= 0 ? h("span", {}, "own ", h("b", {}, amount(f.cells[x.own], x.unit)), ` ${share(f.cells[x.own], x.whole)}  `) : null,
    x.all >= 0 ? h("span", {}, "with callees ", h("b", {}, amount(f.cells[x.all], x.unit)), ` ${share(f.cells[x.all], x.whole)}`) : null,
    x.count >= 0 ? h("b", {}, amount(f.cells[x.count], x.unit)) : null)]);
  const shares = ["50%", "90%", "99%"];
  const calls = data.times && h("span", {}, shares.map((s, i) => [`${s} at most `, h("b", {}, amount(data.times[i], "ns")), ", "]).flat(), "longest ", h("b", {}, amount(data.times[3], "ns")));
  const all = bottomUp(data.instances), whole = all.value || g.whole;
  const tree = h("div", { class: "tree", role: "tree", "aria-label": "Callers, bottom up" });
  const level = async (into, node, depth) => {
    const found = [...node.below.values()].sort((a, b) => b.value - a.value);
    for (const next of found.slice(0, 50)) {
      const caller = await functionAt(next.row), under = h("div", { role: "group", hidden: true });
      let filled = false;
      const button = h("button", { type: "button", class: "twist", "aria-expanded": "false", "aria-label": "Callers", onclick: () => {
        const open = under.hidden;
        under.hidden = !open;
        button.textContent = open ? "▾" : "▸";
        button.setAttribute("aria-expanded", open);
        if (!filled) level(under, next, depth + 1);
        filled = true;
      } }, "▸");
      into.append(h("div", { role: "treeitem", class: "node", style: { paddingLeft: depth * 16 + "px" } },
        next.below.size ? button : h("span", { class: "twist" }), cost(next.value, g.unit, whole), functionLink(caller)), under);
    }
  };
  await level(tree, all, 0);
  box.replaceChildren(
    h("div", { class: "headline" }, h("h2", {}, swatch(f.colour), f.name), h("button", { type: "button", title: "Close", "aria-label": "Close", onclick: () => go({ fn: undefined }) }, "×")),
    groups.some(x => x.picture >= 0) ? h("p", {}, link({ view: "flame", fn: number, thread: -1 }, "Flame graph of callers and callees")) : null,
    facts([["defined", f.file ? `${f.file}${f.line ? ":" + f.line : ""}` : ""], ["module", f.module], ["category", f.category], ["contexts", count(f.contexts)], ...numbers, ["time of a call", calls]]),
    edgeTable("Callers", callers), edgeTable("Callees", callees),
    h("section", {}, h("h3", {}, "Callers, bottom up"), data.instances.length < f.contexts ? h("p", { class: "note" }, `of the ${count(data.instances.length)} most expensive of ${count(f.contexts)} contexts`) : null, tree));
}
