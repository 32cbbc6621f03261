/* ---- source: files with costs, and the lines of one with whom they call ---- */

views.push({ id: "source", title: "Source", shown: () => start.lines, show(box) {
  const fileList = h("section", { class: "files" }), lines = h("section", { class: "lines" });
  box.replaceChildren(h("div", { class: "split left" }, fileList, lines));
  pm.load("sources").then(data => {
    data = data || [];
    /* Where lines are measured apart, the metric at hand has nothing for them. */
    const has = x => x.whole > 0 && x.first >= 0 && data.some(row => row[3][x.first] > 0), g = has(group()) ? group() : groups.find(x => x.unit === group().unit && has(x)) || groups.find(has) || group(), i = g.first;
    const test = matcher();
    const found = data.map(([file, path, text, cells]) => ({ file, path, text, value: cells[i] })).filter(f => !test || test.test(f.path)).sort((a, b) => (b.value || 0) - (a.value || 0));
    const list = longTable({ rows: found, label: "Files", chosen: f => f.file === state.file, onrow: f => go({ file: f.file, line: undefined }), columns: [
      { title: "file", cell: f => h("span", { class: f.text ? "fn" : "fn pale", title: f.text ? null : `${f.path}: there is no text` }, link({ file: f.file, line: undefined }, pathOf(f.path))) },
      { title: g === group() ? "own" : start.columns[i].name, hint: `${start.columns[i] ? start.columns[i].name : ""}, ${OF()}`, number: true, width: innerWidth > 1500 ? "13em" : "10.8em", cell: f => cost(f.value, g.unit, g.whole, `${files()}lines.csv|sum=${JSON.stringify({ file: f.path })}|${start.columns[i].name}`) }] });
    fileList.replaceChildren(list.box);
    status(`${many(found.length, "file")}, ${g.label}, shares ${OF()}`);
    const first = state.file === undefined && (found.find(f => f.text) || found[0]) || found.find(f => f.file === state.file) || (state.file > 0 ? { file: state.file } : null);
    if (first) showSource(lines, first.file, g).catch(error => failed(lines, error));
    else lines.replaceChildren(note(test ? "No file's path matches." : "No line has a cost."));
  }).catch(error => failed(fileList, error));
} });

/* The lines at once; whom they call when that is there, with the line on top where it is. */
async function showSource(box, file, g) {
  const data = await pm.load(`source-${file}`), early = pm.at(`sites-${file}`);
  if (!data) return;
  const lines = sourceLines(data, early || { sites: [], evals: [], names: {} }, g);
  box.replaceChildren(lines.list.box);
  if (early) return;
  const later = await pm.load(`sites-${file}`).catch(error => status(error.message));
  if (!later || !later.sites.length && !later.evals.length || lines.list.box.parentNode !== box) return;
  const top = lines.list.box.scrollTop;
  box.replaceChildren(sourceLines(data, later, g, top && lines.rows[Math.floor(top / ROW_HEIGHT)].line).list.box);
}

function sourceLines(data, { sites, evals: texts, names }, g, top) {
  const known = new Map(), calls = new Map(), column = g.first, named = namedIn({ names: { ...data.names, ...names } });
  for (const [line, fn, cells, row] of data.costs) known.set(line, { fn, cells, row });
  for (const [line, fn, n, cells] of sites) {
    if (!calls.has(line)) calls.set(line, []);
    calls.get(line).push({ fn, n, cells });
  }
  const evals = new Map();
  for (const [line, file, path, n, ns, subs] of texts) {
    if (!evals.has(line)) evals.set(line, []);
    evals.get(line).push({ file, path, n, ns, subs });
  }
  /* Time in calls is of the primary quantity, as in annotated source. */
  const p = groups.find(x => x.all >= 0), inCalls = p ? p.all : -1;
  const rows = [], at = new Map();
  const numbers = data.text ? data.text.map((text, i) => ({ line: i + 1, text })) : [...new Set([...known.keys(), ...calls.keys(), ...evals.keys()])].sort((a, b) => a - b).map(line => ({ line, text: "" }));
  if (data.text) for (const line of [...known.keys(), ...calls.keys()].sort((a, b) => a - b)) if (line > data.text.length && numbers[numbers.length - 1].line < line) numbers.push({ line, text: "" });
  for (const row of numbers) {
    at.set(row.line, rows.length);
    rows.push(row);
    const below = calls.get(row.line) || [];
    for (const call of below.slice(0, 8)) rows.push({ call, of: row.line, indent: (row.text || "").search(/\S|$/) });
    if (below.length > 8) rows.push({ rest: below.length - 8 });
    const texts = evals.get(row.line) || [];
    for (const text of texts.slice(0, 8)) rows.push({ text_: text, indent: (row.text || "").search(/\S|$/) });
    if (texts.length > 8) rows.push({ rest: texts.length - 8 });
  }
  const name = i => start.columns[i].name, cellOf = (line, i) => `${files()}lines.csv|${known.get(line).row}|${name(i)}`;
  const all = data.costs, used = i => i >= 0 && all.some(([, , cells]) => cells[i] !== null);
  const those = is => start.columns.map((c, i) => i).filter(i => is(start.columns[i]) && i !== column && used(i));
  const others = [...those(c => c.role === "count").slice(0, 3), ...those(c => c.derived && c.role === "excl").slice(-2)];
  const sum = below => below.reduce((total, c) => c.cells[inCalls] === null ? total : (total || 0) + c.cells[inCalls], null);
  const value = c => c[2][column] || 0, hottest = data.costs.reduce((best, c) => !best || value(c) > value(best) ? c : best, null);
  const site = row => JSON.stringify({ file: data.path, line: row.line });
  const list = longTable({ rows, label: data.path, chosen: row => row.line !== undefined && row.line === Number(state.line), least: isNarrow() ? 60 : 80, begin: at.has(top) ? at.get(top) + 8 : at.get(Number(state.line) || (hottest ? hottest[0] : 0)), columns: [
    { title: g === group() ? "own" : name(column), hint: `${name(column)}, ${OF()}`, number: true, width: innerWidth > 1500 ? "13em" : "10.8em", cell: row => { const c = known.get(row.line); return c ? cost(c.cells[column], g.unit, g.whole, cellOf(row.line, column)) : ""; },
      heat: row => { const c = known.get(row.line); return c && hottest ? value(hottest) > 0 && (c.cells[column] || 0) / value(hottest) : 0; } },
    used(g.all) && g.own >= 0 ? { title: "with callees", hint: name(g.all), number: true, width: isNarrow() ? "7.5em" : "8em", cell: row => { const c = known.get(row.line); return c && c.cells[g.all] !== null ? number(amount(tidy(c.cells[g.all], g.whole), g.unit), cellOf(row.line, g.all)) : ""; } } : null,
    ...others.map(i => ({ title: start.columns[i].derived ? start.columns[i].metric : countName(i), hint: start.columns[i].derived ? `${name(i)}: ${start.columns[i].derived}` : name(i), number: true, width: isNarrow() ? "4.6em" : "7.6em", cell: row => { const c = known.get(row.line); return c && c.cells[i] !== null ? number(amount(c.cells[i], start.columns[i].unit), cellOf(row.line, i)) : ""; } })),
    inCalls >= 0 && calls.size ? { title: "in calls", hint: `${name(inCalls)} of all calls on this line, added up; a call within another one of this line counts in both: callers.csv`, number: true, width: isNarrow() ? "6em" : "7em", cell: row => { const v = row.line && calls.has(row.line) ? sum(calls.get(row.line)) : null; return v === null ? "" : number(amount(tidy(v, p.whole), p.unit), `${files()}callers.csv|sum=${site(row)}|${name(inCalls)}`); } } : null,
    { title: "line", number: true, width: isNarrow() ? "3.6em" : "4.5em", cell: row => { const f = data.text && known.has(row.line) && named(known.get(row.line).fn), told = h("span", { class: "where", title: f ? `${f.name}: callers and callees` : null }, row.line ? String(row.line) : ""); return f ? link({ view: "functions", fn: f.number }, told) : told; } },
    { title: fileName(data.path), hint: data.path, cell: row => {
      if (row.text_) {
        const e = row.text_, told = h("span", { class: "soft where" }, `${e.n ? many(e.n, "time") : "before the measurement"}${e.ns === null ? "" : `, ${amount(e.ns, "ns")}`}`);
        return h("span", { class: "fn call", style: { paddingLeft: Math.min(row.indent, 40) + 2 + "ch" } }, "⇒ ", link({ view: "source", file: e.file, line: undefined }, pathOf(e.path)), told,
          ...e.subs.slice(0, 3).map(n => functionLink(named(n))), e.subs.length > 3 ? "…" : "");
      }
      if (row.rest) return h("span", { class: "soft" }, `… and ${count(row.rest)} more`);
      if (!row.call) return data.text ? h("code", {}, row.text) : known.has(row.line) && known.get(row.line).fn >= 0 ? functionLink(named(known.get(row.line).fn)) : "";
      const f = named(row.call.fn), key = JSON.stringify({ file: data.path, line: row.of, callee: f && f.name });
      const of = row.call.cells[inCalls];
      return h("span", { class: "fn call", style: { paddingLeft: Math.min(row.indent, 40) + 2 + "ch" } }, "→ ", functionLink(f), " ",
        of === null || of === undefined ? "" : h("span", { class: "soft" }, number(amount(tidy(of, p.whole), p.unit), `${files()}callers.csv|${key}|${name(inCalls)}`)),
        row.call.n === null ? "" : h("span", { class: "soft" }, " in ", number(count(row.call.n), `${files()}callers.csv|${key}|calls`), row.call.n === 1 ? " call" : " calls"));
    } }].filter(Boolean) });
  return { list, rows };
}
