/* ---- overview: where the cost is, at a glance ---- */

function categoryBar() {
  const g = group(), column = g.own >= 0 ? g.own : g.count >= 0 ? g.count : g.all;
  const found = start.categories.map(([name, cells]) => ({ name: name || "program", value: cells[column] || 0 })).filter(c => c.value > 0).sort((a, b) => b.value - a.value);
  const whole = found.reduce((sum, c) => sum + c.value, 0);
  const hue = name => `var(--cat-${name}, var(--cat-other))`;
  return h("section", { class: "card" }, h("h2", {}, "Kinds of work"),
    h("div", { class: "stack", role: "img", "aria-label": found.map(c => `${c.name} ${share(c.value, whole)}`).join(", ") },
      found.map(c => h("span", { style: { width: 100 * c.value / whole + "%", background: hue(c.name) }, title: `${c.name} ${share(c.value, whole)}` }))),
    h("table", { class: "plain" }, h("tbody", {}, found.map(c => h("tr", {}, h("td", {}, h("span", { class: "swatch", style: { background: hue(c.name) } }), c.name),
      h("td", { class: "number" }, amount(c.value, g.unit)), h("td", { class: "number" }, share(c.value, whole)))))));
}

function hotPath() {
  const g = groups[0], column = g ? g.all : -1;
  if (!start.hot.length || column < 0) return null;
  return h("section", { class: "card wide" }, h("h2", {}, "Hot path"), h("table", { class: "plain" }, h("tbody", {}, start.hot.slice(0, 40).map(([ctx, value, name, file, line], depth) =>
    h("tr", {}, h("td", { class: "number amount" }, cost(value, g.unit, g.whole)), h("td", { style: { paddingLeft: Math.min(depth, 20) * 8 + "px" } }, link({ view: "tree", up: undefined, ctx }, h("span", { class: "name", title: name }, name))),
      h("td", { class: "soft where", title: file }, place(file, line)))))), start.hot.length > 40 ? h("p", { class: "note" }, `and ${start.hot.length - 40} levels below`) : null);
}

function topFunctions() {
  const g = group(), column = g.own >= 0 ? g.own : g.main;
  const body = h("tbody"), card = h("section", { class: "card wide" }, h("h2", {}, "Functions with the highest own cost"), h("table", { class: "plain" }, body), h("p", {}, link({ view: "functions" }, start.functions > 1 ? `All ${count(start.functions)} functions` : "The function")));
  functionsFrom(0).then(() => {
    const rows = allFunctions.rows.slice(0, CHUNK).sort((a, b) => (b.cells[column] || 0) - (a.cells[column] || 0)).slice(0, 15);
    body.replaceChildren(...rows.filter(f => f.cells[column] > 0).map(f => h("tr", {}, h("td", { class: "number amount" }, cost(f.cells[column], g.unit, g.whole)), h("td", {}, h("span", { class: "fn" }, swatch(f.colour), functionLink(f))), h("td", { class: "soft where", title: f.file || f.module }, place(f.file, f.line) || baseName(f.module)))));
  }, error => failed(card, error));
  return card;
}

/* What each thread costs, as a line of bars in the order of threads. */
function threadPlot() {
  const g = group();
  if (start.threads < 2 || start.threads > 20000 || g.main < 0) return null;
  const card = h("section", { class: "card" }, h("h2", {}, "Threads"), h("p", { class: "note" }, "Reading threads …"));
  pm.load(`costs-0-${g.main}`).then(costs => {
    const known = costs.filter(c => c !== null), most = known.reduce((m, c) => Math.max(m, c), 0), mean = known.reduce((a, b) => a + b, 0) / (known.length || 1);
    const bars = plot(link({ view: "threads" }, "Threads"), costs, most, i => [h("b", {}, amount(costs[i], g.unit))]);
    bars.append(h("p", { class: "note" }, `mean ${amount(mean, g.unit)}, greatest ${amount(most, g.unit)}` + (mean > 0 ? `, imbalance ${(most / mean).toFixed(2)}` : "")));
    card.replaceWith(bars);
  }, error => failed(card, error));
  return card;
}

function damageCard() {
  const card = h("section", { class: "card", hidden: true });
  pm.load("damage-0").then(rows => {
    if (!rows.length) return;
    card.hidden = false;
    card.append(h("h2", {}, "Damage"), h("p", { class: "note" }, "Parts of the source could not be read."), h("table", { class: "plain whole" }, h("tbody", {}, rows.slice(0, 10).map(([file, what]) =>
      h("tr", {}, h("td", {}, file), h("td", {}, what))))), h("p", {}, h("a", { href: "damage.csv" }, "damage.csv")));
  }, error => failed(card, error));
  return card;
}

/* A comparison has no tree of its own: its documents are shown as they are. */
function showComparison(box) {
  box.replaceChildren(h("div", { class: "cards" },
    h("section", { class: "card wide" }, h("h2", {}, `${start.title} compared with the baseline`), h("iframe", { class: "text", src: "summary.txt", title: "summary.txt", sandbox: true })),
    h("section", { class: "card wide" }, h("h2", {}, "Differential flame graph"), h("iframe", { src: "flamegraph.html", title: "flamegraph.html" }))));
  status("");
}

views.push({ id: "overview", title: "Overview", shown: () => true, show(box) {
  if (isComparison()) { showComparison(box); return; }
  const g = groups[0];
  const what = facts([["source", start.source], ["format", `${start.format} (${start.layout})`], ["duration", start.duration_ns === null ? "" : amount(start.duration_ns, "ns")],
    ["threads", start.threads ? count(start.threads) : ""], ["contexts", count(start.contexts)], ["functions", count(start.functions)],
    ...groups.filter(x => x.whole > 0).slice(0, 8).map(x => [x.label, amount(x.whole, x.unit === x.label ? "" : x.unit)])]);
  box.replaceChildren(h("div", { class: "cards" }, h("section", { class: "card" }, h("h2", {}, "Profile"), what), g ? categoryBar() : null, threadPlot(), damageCard(), topFunctions(), hotPath()));
  status("");
} });
