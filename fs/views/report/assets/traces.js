/* ---- traces of a store: a list with filters, and one of them as a waterfall ---- */

const LONGER = [[0, "any duration"], [1e6, "1 ms and longer"], [1e7, "10 ms and longer"], [1e8, "100 ms and longer"], [1e9, "1 s and longer"], [1e10, "10 s and longer"]];

views.push({ id: "traces", title: "Traces", shown: () => documentsOf(/^traces\.csv$/).length > 0, show(box) {
  const least = Number(state.least) || 0, list = h("div", { class: "fill" }), chosen = state.item, tools = h("div", { class: "tools" });
  const longer = h("select", { onchange: () => go({ least: Number(longer.value) || undefined }, true) }, LONGER.map(([ns, title]) => h("option", { value: ns, selected: ns === least }, title)));
  const failing = h("input", { type: "checkbox", checked: state.errors === "1", onchange: () => go({ errors: failing.checked ? "1" : undefined }, true) });
  const area = h("div", { class: chosen ? "split pair" : "fill" }, list);
  tools.append(h("label", {}, "Duration ", longer), h("label", {}, failing, " with errors only"));
  box.replaceChildren(h("div", { class: "column" }, tools, area));
  showTable(list, documentsOf(/^traces\.csv$/)[0][0], {
    path: "traces.csv", menu: chosen ? null : tools,
    only: chosen ? isNarrow() ? ["duration_ns", "timestamp_ns"] : ["timestamp_ns", "duration_ns", "method"] : ["method", "duration_ns", "timestamp_ns", "calls", "errors", ...(isNarrow() ? [] : ["component", "trace_id"]), "path"],
    keep: least || state.errors === "1" ? row => !(row.duration_ns < least) && !(state.errors === "1" && !(row.errors > 0)) : null,
    link: path => link({ item: path }, "open"), onrow: row => go({ item: row.path }), chosen: row => row.path === chosen });
  if (!chosen) return;
  const detail = h("section", { class: "detail" });
  area.append(detail);
  pm.load("item " + chosen, files() + encodePath(chosen) + "/report.js", files() + "item " + chosen).then(data => showTrace(detail, chosen, data)).catch(error => failed(detail, error));
} });

function showTrace(box, path, data) {
  const calls = rowsOf(data.tables["calls.csv"]), more = data.tables["calls.csv"] && data.tables["calls.csv"].more;
  let begin = Infinity, end = -Infinity;
  calls.forEach((c, i) => { c.row = i; begin = Math.min(begin, c.time_ns); end = Math.max(end, c.time_ns + c.duration_ns); });
  const attributes = rowsOf(data.tables["attributes.csv"]), whole = Math.max(1, end - begin), at = `${files()}${path}/`;
  const file = name => data.files.includes(name) ? h("a", { href: at + encodeURIComponent(name) }, name) : null;
  const place = c => ({ left: 100 * (c.time_ns - begin) / whole + "%", width: Math.max(0.3, 100 * c.duration_ns / whole) + "%" });
  const cell = (c, column, text) => number(text, `${at}calls.csv|${c.row}|${column}`);
  const list = longTable({ rows: calls, label: "Calls", least: isNarrow() ? 50 : 70, columns: [
    { title: "call", cell: c => h("span", { class: "fn", style: { paddingLeft: Math.min(c.depth, 40) * 10 + "px" } }, nameOf(c.method, c.error ? "wrong" : ""), c.error ? h("span", { class: "name wrong" }, " (error)") : "") },
    { title: "when", width: isNarrow() ? "20%" : "30%", hint: `from ${amount(begin, "ns")} to ${amount(end, "ns")}`, cell: c => h("span", { class: "lane", role: "img", "aria-label": `from ${amount(c.time_ns - begin, "ns")}` }, h("span", { class: c.error ? "wrong" : "", style: place(c) })) },
    { title: "duration", number: true, width: isNarrow() ? "6em" : "7.5em", cell: c => cell(c, "duration_ns", amount(c.duration_ns, "ns")) },
    { title: "own", number: true, width: isNarrow() ? "6em" : "7.5em", cell: c => cell(c, "self_ns", amount(c.self_ns, "ns")) },
    { title: "calls", number: true, width: isNarrow() ? "3.6em" : "5em", cell: c => cell(c, "calls", count(c.calls)) }] });
  const waterfall = h("div", { class: "waterfall", style: { height: Math.min(calls.length + 2, Math.max(12, Math.floor((innerHeight - 420) / ROW_HEIGHT))) * ROW_HEIGHT + 8 + "px" } }, list.box);
  box.replaceChildren(
    h("div", { class: "headline" }, h("h2", {}, baseName(path)), closeButton({ item: undefined })),
    h("p", { class: "links" }, ["calls.csv", "tree.txt", "trace.json", "flamegraph.svg"].map(file).filter(Boolean).flatMap(a => [a, " "])),
    calls.length ? waterfall : note("This trace has no calls."),
    more ? note(`The first ${count(calls.length)} calls; calls.csv has all of them.`) : "",
    attributes.length ? h("section", {}, h("h3", {}, "Attributes"), h("div", { class: "plainfacts" }, facts(attributes.map(a => [a.attribute, a.value === null ? "" : String(a.value)])))) : "",
    data.files.includes("exception.txt") ? h("section", {}, h("h3", {}, "Exception"), h("iframe", { class: "text", src: at + "exception.txt", title: "exception.txt", sandbox: true })) : "");
  list.refresh();
}
