/* ---- overview: where the cost is, at a glance ---- */

/* Rows of categories.csv. Time in which nothing runs is no work: it has no share. */
function categoryBar() {
  const g = group(), i = g.first, card = h("section", { class: "card", hidden: true });
  pm.load("categories").then(rows => showCategories(card, rows, g, i), error => { card.hidden = false; failed(card, error); });
  return card;
}

function showCategories(card, rows, g, i) {
  const found = rows.map(([name, contexts, cells], row) => ({ name: name || "program", colour: colourOfKind(name), value: cells[i], cell: `${files()}categories.csv|${row}|${start.columns[i].name}` })).filter(c => c.value > 0).sort((a, b) => b.value - a.value);
  if (!found.length) return;
  const work = c => c.name === "idle" ? c.value - g.idle : c.value, shareOf = c => work(c) > 0 ? share(work(c), g.whole) : "";
  card.hidden = false;
  card.append(h("h2", {}, `Kinds of work: ${g.label}`),
    h("div", { class: "stack", role: "img", "aria-label": found.map(c => `${c.name} ${shareOf(c)}`).join(", ") },
      found.map(c => h("span", { style: { width: Math.min(100, 100 * work(c) / g.whole) + "%", background: start.palette[c.colour] }, title: `${c.name} ${shareOf(c)}` }))),
    h("table", { class: "plain" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "kind"), h("th", { scope: "col", class: "number" }, start.columns[i].role === "excl" ? "own" : g.label), h("th", { scope: "col", class: "number" }, OF()))),
      h("tbody", {}, found.map(c => h("tr", {}, h("td", {}, swatch(c.colour), c.name),
        h("td", { class: "number" }, number(amount(c.value, g.unit), c.cell)), h("td", { class: "number" }, shareOf(c) ? h("span", work(c) === c.value ? { "data-share": c.cell, "data-whole": g.whole } : {}, shareOf(c)) : ""))))));
}

/* What shares are of. */
const OF = () => start.filtered ? "of what is filtered" : state.win || start.window ? "of this time" : "of the run";

function hotPath() {
  const g = group();
  if (g.all < 0) return null;
  const body = h("tbody"), more = h("div"), card = h("section", { class: "card wide" }, h("h2", {}, `Hot path: ${g.label}, with callees, ${OF()}`), h("table", { class: "plain" }, body), more);
  pm.load(`hot-${g.all}`).then(path => {
    if (!path.length) { card.hidden = true; return; }
    const placed = path.some(step => step[3]);
    body.replaceChildren(...path.slice(0, 40).map(([ctx, value, name, file, line, fileNumber], depth) =>
      h("tr", {}, h("td", { class: "number amount" }, cost(value, g.unit, g.whole, `${files()}contexts.csv|${ctx}|${start.columns[g.all].name}`)), h("td", {}, h("span", { class: "fn", style: { paddingLeft: Math.min(depth, 20) * 8 + "px" } }, contextLink(ctx, name))),
        placed ? h("td", { class: "soft where" }, lineLink(fileNumber, file, line)) : null)));
    if (path.length > 40) more.append(note(link({ view: "tree", up: undefined, ctx: path[path.length - 1][0] }, "and further down")));
  }, error => failed(card, error));
  return card;
}

function topFunctions() {
  const g = group(), i = g.first, body = h("tbody"), of = start.columns[i];
  const title = of.role === "excl" ? `Functions by own ${g.label}, ${OF()}` : `Functions by ${g.label}, ${OF()}`;
  const card = h("section", { class: "card wide" }, h("h2", {}, title), h("table", { class: "plain" }, body), h("p", {}, link({ view: "functions" }, "All functions")));
  pm.load(`functions-0-${i + 1}`).then(rows => {
    const found = rows.slice(0, Math.max(20, Math.floor((innerHeight - 260) / 24))).map(functionRow).filter(f => f.cells[i] > 0 && !f.nothing), placed = found.some(f => f.file || f.module);
    body.replaceChildren(...found.map(f => h("tr", {}, h("td", { class: "number amount" }, cost(f.cells[i], g.unit, g.whole, functionCell(f, i))),
      h("td", {}, h("span", { class: "fn" }, swatch(f.colour), functionLink(f))), placed ? h("td", { class: "soft where", title: f.file || f.module }, lineLink(f.fileNumber, f.file, f.line) || h("span", { class: "where" }, baseName(f.module))) : null)));
  }, error => failed(card, error));
  return card;
}

/* Loads once `after` has come, unless the reader has gone to another view. */
const ifSeen = (card, after, load) => after.then(() => card.isConnected ? load() : new Promise(() => {}));

/* What each thread costs, as a line of bars in the order of threads. */
function threadPlot(first) {
  const g = group();
  if (start.threads < 2 || start.threads > 20000 || g.main < 0) return null;
  const card = h("section", { class: "card wide" }, h("h2", {}, "Threads"), note("Reading threads …"));
  ifSeen(card, first, () => Promise.all([allThreads(), pm.load(`costs-0-${g.main}`)])).then(([threads, costs]) => {
    if (!costs || !costs.some(c => c > 0)) { card.hidden = true; return; }
    let low = -1, high = -1;
    costs.forEach((c, i) => {
      if (c === null) return;
      if (low < 0 || c < costs[low]) low = i;
      if (high < 0 || c > costs[high]) high = i;
    });
    const bars = plot(link({ view: "threads" }, `Threads: ${g.label}`), costs, { unit: g.unit, below: "threads, in their order", tell: i => tellThread(threads[i], costs[i]), click: i => go({ view: "functions", thread: i }), wide: true });
    const told = i => [pm.sent ? h("span", { class: "name" }, threads[i].path) : link({ view: "functions", thread: i }, h("span", { class: "name" }, threads[i].path)), " ", number(amount(costs[i], g.unit), `${files()}threads.csv|${i}|${start.columns[g.main].name}`)];
    bars.append(note("greatest: ", ...told(high), ...(low === high ? [] : [", least: ", ...told(low)])));
    card.replaceWith(bars);
  }, error => failed(card, error));
  return card;
}

/*
 * Rows of a table of the mount on a card, if there is one: `row` makes a line of a row as an object; or, `many_`, lines. It
 * is asked for once `after` has come.
 */
function tableCard(path, title, words, after, row, many_) {
  const doc = documentsOf(path)[0];
  if (!doc) return null;
  const card = h("section", { class: "card", hidden: true });
  ifSeen(card, after, () => pm.load(`table-${doc[0]}-0`)).then(data => {
    const rows = rowsOf(data);
    if (!rows.length) return;
    card.hidden = false;
    card.append(h("h2", {}, title), words ? note(words) : "", h("table", { class: "plain whole" }, h("tbody", {}, rows.slice(0, 8).flatMap((r, i) => many_ ? row(r, i, files() + doc[1]) : [row(r, i, files() + doc[1])]).map(line => h("tr", {}, line.map(cell => h("td", {}, cell)))))),
      h("p", {}, link({ view: "tables", doc: doc[0] }, doc[1])));
  }, error => { card.hidden = false; failed(card, error); });
  return card;
}

function profileCard() {
  const wholes = groups.filter(g => g.whole + g.idle > 0), of = g => [g.label, h("span", { "data-total": start.columns[g.first].name, "data-whole": g.whole + g.idle }, amount(g.whole + g.idle, g.unit === g.label ? "" : g.unit))];
  const counted = (n, table) => n ? h("span", { "data-rows": files() + table }, count(n)) : "";
  return h("section", { class: "card" }, h("h2", {}, state.win || start.window ? "This time" : "Profile"),
    facts([["format", h("span", { class: "where" }, `${start.format} (${start.layout})`)], ["duration", start.duration_ns === null ? "" : h("span", { "data-duration": start.duration_ns }, amount(start.duration_ns, "ns"))],
      ["threads", counted(start.threads, "threads.csv")], ["contexts", counted(start.contexts, "contexts.csv")], ["functions", counted(start.functions, "functions.csv")], ...wholes.slice(0, 8).map(of)]),
    pm.sent ? note("This page was made to be sent. ", pm.left ? "What is largest is in it; the rest is in the mount." : "All that its views begin with is in it.") : null,
    wholes.length > 8 ? h("details", {}, h("summary", {}, "All metrics"), facts(wholes.slice(8).map(of))) : null);
}

views.push({ id: "overview", title: "Overview", shown: () => true, show(box) {
  if (isComparison()) { showComparison(box); return; }
  if (isRuns()) { showRuns(box); return; }
  const costs = groups.length ? [topFunctions(), hotPath(), categoryBar()] : [], large = start.threads * start.contexts > 1e7;
  /* Chromium reads files one after the other: what takes all costs of all threads comes last, or when it is asked for. */
  const first = Promise.allSettled([...pm.waiting.values()].map(wait => wait.promise)), efficiency = documentsOf(/^efficiency\.csv$/)[0];
  box.replaceChildren(h("div", { class: "deck" }, ...[h("div", { class: "pair" }, ...[profileCard(), costs.pop()].filter(Boolean)), threadPlot(first),
    tableCard(/^damage\.csv$/, "Damage", "Parts of the source could not be read.", first, d => [d.file, d.what].map(text => h("span", { class: "where" }, text))),
    large && efficiency ? h("section", { class: "card" }, h("h2", {}, "Efficiency"), note(link({ view: "tables", doc: efficiency[0] }, efficiency[1]), " takes all costs of all threads.")) :
      tableCard(/^efficiency\.csv$/, "Efficiency", "", first, (e, i, path) => Object.keys(e).filter(key => /_efficiency$|^load_balance$|^global/.test(key) && e[key] !== null).map(key => [key.replaceAll("_", " "), number(cellText(key, e[key]), `${path}|${i}|${key}`)]), true),
    tableCard(/^exceptions\.csv$/, "Exceptions", "", first, (e, i, path) => [number(count(e.count), `${path}|${i}|count`), nameOf(String(e.class ?? "")), h("span", { class: "where" }, String(e.message ?? ""))]),
    ...costs].filter(Boolean)));
} });
