/* ---- tree: calling contexts from the top down ---- */

const childRow = row => ({ ctx: row[0], number: row[1], name: row[2], kind: row[3], category: row[4], module: row[5], file: row[6], line: row[7], parent: row[8], cells: row[9] });

async function childrenOf(ctx, page) {
  const data = await pm.load(`children-${ctx + 1}-${page}`);
  return { rows: data.rows.map(childRow), more: data.more };
}

views.push({ id: "tree", title: "Tree", shown: () => true, show(box) {
  const g = group(), rows = [], open = new Set(), hot = new Set(start.hot.map(step => step[0]));
  const columns = [
    { title: "calling context", cell: row => row.more ? h("button", { type: "button", style: { marginLeft: row.depth * 14 + "px" }, onclick: () => morePages(row) }, "more …") :
      h("span", { class: "fn", style: { paddingLeft: row.depth * 14 + "px" } },
        row.parent ? h("button", { type: "button", class: "twist", "aria-expanded": open.has(row.ctx), "aria-label": "Children", onclick: () => toggle(row) }, open.has(row.ctx) ? "▾" : "▸") : h("span", { class: "twist" }),
        h("span", { class: "name" + (hot.has(row.ctx) ? " hot" : ""), title: `${row.name}\n${row.module}` }, row.name)) },
    g.all >= 0 ? { title: "with callees", number: true, width: "15em", hint: start.columns[g.all].name, cell: row => row.more ? "" : cost(row.cells[g.all], g.unit, g.whole) } : null,
    g.own >= 0 ? { title: "own", number: true, width: "15em", hint: start.columns[g.own].name, cell: row => row.more ? "" : cost(row.cells[g.own], g.unit, g.whole) } : null,
    g.count >= 0 ? { title: g.label, number: true, cell: row => row.more ? "" : amount(row.cells[g.count], g.unit) } : null,
    ...groups.filter(x => x !== g && x.count >= 0 && x.whole > 0).map(x => ({ title: x.label, number: true, cell: row => row.more ? "" : amount(row.cells[x.count], x.unit) })),
    { title: "kind", width: "7em", cell: row => row.kind || "" },
    { title: "where", width: "14em", cell: row => h("span", { class: "soft", title: row.file || "" }, row.more ? "" : place(row.file, row.line)) },
  ].filter(Boolean);
  const list = longTable({ columns, rows, label: "Calling contexts", chosen: row => row.ctx === state.ctx && !row.more });
  const insert = (at, data, ctx, page, depth) => {
    const found = data.rows.map(row => ({ ...row, depth }));
    if (data.more) found.push({ more: true, ctx, page: page + 1, depth });
    rows.splice(at, 0, ...found);
    list.refresh();
  };
  async function morePages(row) {
    const data = await childrenOf(row.ctx, row.page), at = rows.indexOf(row);
    rows.splice(at, 1);
    insert(at, data, row.ctx, row.page, row.depth);
  }
  async function expand(row) {
    if (open.has(row.ctx)) return;
    open.add(row.ctx);
    const data = await childrenOf(row.ctx, 0);
    insert(rows.indexOf(row) + 1, data, row.ctx, 0, row.depth + 1);
  }
  function toggle(row) {
    if (!open.has(row.ctx)) { expand(row); return; }
    let end = rows.indexOf(row) + 1;
    while (end < rows.length && rows[end].depth > row.depth) { open.delete(rows[end].ctx); end++; }
    open.delete(row.ctx);
    rows.splice(rows.indexOf(row) + 1, end - rows.indexOf(row) - 1);
    list.refresh();
  }
  /* Opens the hot path as far as a context, or all of it. */
  async function followHot(until) {
    for (const [ctx] of start.hot) {
      const row = rows.find(r => r.ctx === ctx && !r.more);
      if (!row || ctx === until) break;
      if (row.parent) await expand(row);
    }
    const row = rows.findIndex(r => r.ctx === until && !r.more);
    if (row >= 0) list.box.scrollTop = Math.max(0, row * ROW_HEIGHT - 200);
  }
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" },
    start.hot.length ? h("button", { type: "button", onclick: () => followHot(start.hot[start.hot.length - 1][0]) }, "Open the hot path") : null,
    state.thread >= 0 ? h("span", { class: "note" }, "The tree shows the whole run.") : null), list.box));
  childrenOf(-1, 0).then(data => {
    insert(0, data, -1, 0, 0);
    if (state.ctx !== undefined) followHot(state.ctx);
    else if (rows.length === 1) expand(rows[0]);
  }).catch(error => failed(list.box, error));
  status(many(start.contexts, "context"));
} });
