/* ---- traces of a store: a list with filters, and one of them as a waterfall ---- */

const LONGER = [[0, "any duration"], [1e6, "1 ms and longer"], [1e7, "10 ms and longer"], [1e8, "100 ms and longer"], [1e9, "1 s and longer"], [1e10, "10 s and longer"]];

views.push({ id: "traces", title: "Traces", shown: () => documentsOf(/^traces\.csv$/).length > 0, show(box) {
  const least = Number(state.least) || 0, list = h("div", { class: "fill" }), chosen = state.item;
  const longer = h("select", { onchange: () => go({ least: Number(longer.value) || undefined }, true) }, LONGER.map(([ns, title]) => h("option", { value: ns, selected: ns === least }, title)));
  const failing = h("input", { type: "checkbox", checked: state.errors === "1", onchange: () => go({ errors: failing.checked ? "1" : undefined }, true) });
  const area = h("div", { class: chosen ? "split pair" : "fill" }, list);
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" }, h("label", {}, "Duration ", longer), h("label", {}, failing, " with errors only")), area));
  showTable(list, documentsOf(/^traces\.csv$/)[0][0], {
    only: chosen ? ["timestamp_ns", "duration_ns", "method"] : ["timestamp_ns", "duration_ns", "calls", "errors", "component", "method", "trace_id", "path"],
    keep: row => !(row.duration_ns < least) && !(state.errors === "1" && !(row.errors > 0)),
    link: path => link({ item: path }, "open"), onrow: row => go({ item: row.path }), chosen: row => row.path === chosen });
  if (!chosen) return;
  const detail = h("section", { class: "detail" });
  area.append(detail);
  pm.load("item " + chosen, encodePath(chosen) + "/report.js").then(data => showTrace(detail, chosen, data), error => failed(detail, error));
} });

/* The rows of a table as objects. */
const rowsOf = table => table ? table.rows.map(row => Object.fromEntries(table.columns.map((name, i) => [name, row[i]]))) : [];

function showTrace(box, path, data) {
  const calls = rowsOf(data.tables["calls.csv"]), more = data.tables["calls.csv"] && data.tables["calls.csv"].more;
  const begin = calls.reduce((t, c) => Math.min(t, c.time_ns), Infinity), end = calls.reduce((t, c) => Math.max(t, c.time_ns + c.duration_ns), -Infinity);
  const attributes = rowsOf(data.tables["attributes.csv"]), whole = Math.max(1, end - begin);
  const file = name => data.files.includes(name) ? h("a", { href: encodePath(path) + "/" + name }, name) : null;
  const place = c => ({ left: 100 * (c.time_ns - begin) / whole + "%", width: Math.max(0.3, 100 * c.duration_ns / whole) + "%" });
  const list = longTable({ rows: calls, label: "Calls", least: 70, columns: [
    { title: "call", cell: c => h("span", { class: "name" + (c.error ? " wrong" : ""), style: { paddingLeft: Math.min(c.depth, 40) * 10 + "px" }, title: c.method }, c.method + (c.error ? " (error)" : "")) },
    { title: "when", width: "38%", hint: `from ${amount(begin, "ns")} to ${amount(end, "ns")}`, cell: c => h("span", { class: "lane", role: "img", "aria-label": `from ${amount(c.time_ns - begin, "ns")}` }, h("span", { class: c.error ? "wrong" : "", style: place(c) })) },
    { title: "duration", number: true, width: "7.5em", cell: c => amount(c.duration_ns, "ns") },
    { title: "own", number: true, width: "7.5em", cell: c => amount(c.self_ns, "ns") },
    { title: "calls", number: true, width: "5em", cell: c => count(c.calls) }] });
  const waterfall = h("div", { class: "waterfall", style: { height: Math.min(calls.length + 2, 24) * ROW_HEIGHT + 8 + "px" } }, list.box);
  box.replaceChildren(
    h("div", { class: "headline" }, h("h2", {}, baseName(path)), h("button", { type: "button", title: "Close", "aria-label": "Close", onclick: () => go({ item: undefined }) }, "×")),
    h("p", { class: "note" }, ["calls.csv", "tree.txt", "trace.json", "flamegraph.svg"].map(file).filter(Boolean).flatMap(a => [a, "  "])),
    calls.length ? waterfall : h("p", { class: "note" }, "This trace has no calls."),
    more ? h("p", { class: "note" }, `The first ${count(calls.length)} calls; calls.csv has all of them.`) : "",
    attributes.length ? h("section", {}, h("h3", {}, "Attributes"), facts(attributes.map(a => [a.attribute, a.value === null ? "" : String(a.value)]))) : "",
    data.files.includes("exception.txt") ? h("section", {}, h("h3", {}, "Exception"), h("iframe", { class: "text", src: encodePath(path) + "/exception.txt", title: "exception.txt", sandbox: true })) : "");
  list.refresh();
}
