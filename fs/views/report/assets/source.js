/* ---- source: files with costs, and the lines of one ---- */

const lineColumn = g => g.own >= 0 ? g.own : g.count;

/* Where time is also measured by statement, lines have that alone. */
function lineGroup(files) {
  const found = x => lineColumn(x) >= 0 && files.some(([, , , cells]) => cells[lineColumn(x)]);
  const g = group();
  return found(g) ? g : groups.find(x => x.unit === g.unit && found(x)) || g;
}

views.push({ id: "source", title: "Source", shown: () => start.lines, show(box) {
  const files = h("section", { class: "files" }), lines = h("section", { class: "lines" });
  box.replaceChildren(h("div", { class: "split left" }, files, lines));
  pm.load("sources-0").then(data => {
    const g = lineGroup(data || []), column = lineColumn(g);
    const test = matcher();
    const found = (data || []).map(([file, path, text, cells]) => ({ file, path, text, value: cells[column] || 0 })).filter(f => !test || test.test(f.path)).sort((a, b) => b.value - a.value);
    const whole = (data || []).reduce((sum, [, , , cells]) => sum + (cells[column] || 0), 0);
    const list = longTable({ rows: found, label: "Files", chosen: f => f.file === state.file, onrow: f => go({ file: f.file }), columns: [
      { title: "own", number: true, width: "13em", cell: f => cost(f.value, g.unit, whole) },
      { title: "file", cell: f => h("span", { class: "name", title: f.path }, link({ file: f.file }, baseName(f.path)), f.text ? "" : h("span", { class: "soft" }, " (no text)")) }] });
    files.replaceChildren(list.box);
    status(many(found.length, "file"));
    const first = state.file === undefined && found.find(f => f.text) || found.find(f => f.file === state.file);
    if (first) showSource(lines, first.file, g, whole).catch(error => failed(lines, error));
    else lines.replaceChildren(h("p", { class: "note" }, "Choose a file."));
  }, error => failed(files, error));
} });

/* Shares are of what all lines cost: where time is also measured by statement, that is not the time of calls. */
async function showSource(box, file, g, whole) {
  const column = lineColumn(g), data = await pm.load(`source-${file}`);
  if (!data) return;
  const known = new Map();
  for (const [line, fn, cells] of data.costs) known.set(line, { fn, cells });
  const rows = data.text ? data.text.map((text, i) => ({ line: i + 1, text })) : data.costs.map(([line]) => ({ line, text: "" }));
  const list = longTable({ rows, label: data.path, chosen: row => row.line === Number(state.line), columns: [
    { title: "own", number: true, width: "14em", cell: row => { const c = known.get(row.line); return c ? cost(c.cells[column], g.unit, whole) : ""; } },
    g.all >= 0 && g.own >= 0 ? { title: "with callees", number: true, width: "9em", cell: row => { const c = known.get(row.line); return c ? amount(c.cells[g.all], g.unit) : ""; } } : null,
    { title: "line", number: true, width: "5em", cell: row => String(row.line) },
    { title: data.path, cell: row => data.text ? h("code", {}, row.text) : h("span", { class: "soft" }, "") }].filter(Boolean) });
  box.replaceChildren(list.box);
  const wanted = Number(state.line) || data.costs.reduce((best, [line, , cells]) => (cells[column] || 0) > best.value ? { line, value: cells[column] } : best, { line: 0, value: 0 }).line;
  const at = rows.findIndex(row => row.line === wanted);
  if (at > 8) list.box.scrollTop = (at - 8) * ROW_HEIGHT;
}
