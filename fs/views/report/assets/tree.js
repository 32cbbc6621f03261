/* ---- tree: calling contexts from the top down, or functions with their callers from the bottom up ---- */

/* A node has what is below it in pages: `more` says that there is another one. */
const treeNode = (facts, depth) => ({ ...facts, depth, below: [], pages: 0, open: false });

const contextNode = (row, depth) => treeNode({ ctx: row[0], number: row[1], name: row[2], kind: row[3], module: row[5], file: row[6], line: row[7], cells: row[9], more: row[8] }, depth);

/* What a node gets below it comes in the order of its pages, however often it is asked for while one is on its way. */
const growing = new WeakMap();
function once(node, grow) {
  if (!growing.has(node)) growing.set(node, grow(node).finally(() => growing.delete(node)));
  return growing.get(node);
}

async function nextContexts(node) {
  const data = await pm.load(`children-${node.ctx + 1}-${node.pages}`);
  node.pages++;
  node.below.push(...data.rows.map(row => contextNode(row, node.depth + 1)));
  node.more = data.more;
}

const functionNode = (f, callers, cells, depth) => treeNode({ fn: f ? f.number : -1, name: f ? f.name : "(top)", kind: f ? "function" : "", module: f ? f.module : "", file: f && f.file, line: f && f.line, colour: f && f.colour, cells, callers, more: !callers || callers.below.size > 0 }, depth);

async function nextCallers(node) {
  if (node.depth < 0) {
    const first = CHUNK * node.pages;
    await functionsFrom(node.pages);
    node.pages++;
    node.below.push(...allFunctions.rows.slice(first, first + CHUNK).map(f => functionNode(f, null, f.cells, 0)));
    node.more = first + CHUNK < start.functions;
    return;
  }
  if (!node.callers) node.callers = bottomUp((await pm.load(`function-${node.fn}`)).instances);
  for (const next of node.callers.below.values()) node.below.push(functionNode(await functionAt(next.row), next, next.cells, node.depth + 1));
  node.more = false;
}

const growDown = node => once(node, nextContexts), growUp = node => once(node, nextCallers);

/* Which columns of contexts.csv are shown, and by which of them those with the same parent are sorted. */
function treeColumns(up) {
  const g = group(), usual = [g.all, g.own, g.count, ...groups.filter(x => x !== g && x.count >= 0 && x.whole > 0).map(x => x.count)].filter(i => i >= 0);
  const asked = (state.cols || "").split(",").map(Number).filter(i => Number.isInteger(i) && start.columns[i]);
  const shown = state.cols ? asked : usual, [by, way] = (state.sort || "").split("-");
  return { shown, by: state.sort && start.columns[by] ? Number(by) : up && g.own >= 0 ? g.own : shown.length ? shown[0] : g.main, down: way !== "up" };
}

function columnMenu(shown) {
  return h("details", { class: "menu" }, h("summary", {}, "Columns"), h("div", {}, start.columns.map((column, i) => h("label", {},
    h("input", { type: "checkbox", checked: shown.includes(i), onchange: event => go({ cols: (event.target.checked ? [...shown, i] : shown.filter(k => k !== i)).sort((a, b) => a - b).join(",") || undefined }, true) }), " ", column.name))));
}

/* What was opened stays open while sorting and choosing columns. */
const trees = new Map();

views.push({ id: "tree", title: "Tree", shown: () => !isComparison(), show(box) {
  const up = state.up === "1", grow = up ? growUp : growDown, { shown, by, down } = treeColumns(up), hot = new Set(start.hot.map(step => step[0]));
  if (!trees.has(up)) trees.set(up, treeNode({ ctx: -1, more: true }, -1));
  const root = trees.get(up);
  const title = i => start.columns[i].role === "incl" ? "with callees" : start.columns[i].role === "excl" ? "own" : start.columns[i].metric;
  const heading = i => groups.length > 1 && (state.cols || start.columns[i].group !== start.columns[group().main].group) && start.columns[i].role !== "count" ? start.columns[i].name : title(i);
  const rowsOfTree = () => {
    const rows = [], walk = node => {
      for (const next of [...node.below].sort((a, b) => (down ? -1 : 1) * ((a.cells[by] ?? -Infinity) - (b.cells[by] ?? -Infinity) || 0))) {
        rows.push(next);
        if (next.open) walk(next);
      }
      if (node.more && node.below.length) rows.push({ pageOf: node, depth: node.depth + 1, cells: [] });
    };
    walk(root);
    return rows;
  };
  const numbers = shown.map(i => ({ title: heading(i), number: true, width: start.columns[i].role === "count" ? "9em" : "15em", sort: true, key: i, hint: start.columns[i].name,
    cell: row => row.pageOf ? "" : start.columns[i].role === "count" ? amount(row.cells[i], start.columns[i].unit) : cost(row.cells[i], start.columns[i].unit, start.columns[i].whole) }));
  const indent = row => ({ paddingLeft: row.depth * 14 + "px" });
  const named = row => up && row.fn >= 0 ? link({ view: "functions", fn: row.fn }, h("span", { class: "name", title: `${row.name}\n${row.module}` }, row.name)) :
    h("span", { class: "name" + (!up && hot.has(row.ctx) ? " hot" : ""), title: `${row.name}\n${row.module}` }, row.name);
  const columns = [
    { title: up ? "function, and its callers below it" : "calling context", cell: row => row.pageOf ? h("button", { type: "button", style: { marginLeft: row.depth * 14 + "px" }, onclick: () => { grow(row.pageOf).then(refresh, error => failed(list.box, error)); } }, "more …") :
      h("span", { class: "fn", style: indent(row) },
        row.more || row.below.length ? h("button", { type: "button", class: "twist", "aria-expanded": row.open, "aria-label": up ? "Callers" : "Children", onclick: () => toggle(row) }, row.open ? "▾" : "▸") : h("span", { class: "twist" }),
        up && row.colour !== undefined && row.fn >= 0 ? swatch(row.colour) : null, named(row)) },
    ...numbers,
    { title: "kind", width: "7em", cell: row => row.kind || "" },
    { title: "where", width: "14em", cell: row => h("span", { class: "soft", title: row.file || "" }, row.pageOf ? "" : place(row.file, row.line)) },
  ];
  const list = longTable({ columns, rows: [], label: up ? "Functions and their callers" : "Calling contexts", chosen: row => !up && !row.pageOf && row.ctx === state.ctx, least: 80 + 28 * shown.length,
    sort: { column: 1 + shown.indexOf(by), down }, onsort: i => go({ sort: `${columns[i].key}-${columns[i].key === by && down ? "up" : "down"}` }, true) });
  function refresh() { list.refresh(rowsOfTree()); }
  async function expand(node) {
    node.open = true;
    if (!node.below.length && node.more) await grow(node);
  }
  function toggle(node) {
    if (node.open) { node.open = false; refresh(); }
    else expand(node).then(refresh, error => failed(list.box, error));
  }
  /* Opens a path of contexts from the top, and shows where it ends. */
  async function follow(path) {
    let node = root;
    for (const ctx of path) {
      let next = node.below.find(n => n.ctx === ctx);
      while (!next && node.more) {
        await grow(node);
        next = node.below.find(n => n.ctx === ctx);
      }
      if (!next) break;
      node.open = true;
      node = next;
    }
    refresh();
    const at = rowsOfTree().indexOf(node);
    if (at >= 0) list.box.scrollTop = Math.max(0, at * ROW_HEIGHT - 200);
  }
  const hotPath = start.hot.map(step => step[0]);
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" },
    h("b", {}, up ? "Bottom up" : "Top down"), link({ up: up ? undefined : "1", sort: undefined }, up ? "top down" : "bottom up"),
    !up && hotPath.length ? h("button", { type: "button", onclick: () => follow(hotPath).catch(error => failed(list.box, error)) }, "Open the hot path") : null,
    columnMenu(shown),
    state.thread >= 0 ? h("span", { class: "note" }, "The tree shows the whole run.") : null,
    up ? h("span", { class: "note" }, "Callers of the 500 most expensive calling contexts of a function.") : null), list.box));
  (root.below.length ? Promise.resolve() : grow(root)).then(async () => {
    if (!up && state.at) await follow(state.at.split(".").map(Number));
    else if (!up && state.ctx !== undefined) await follow(hotPath.slice(0, hotPath.indexOf(state.ctx) + 1));
    else if (!up && root.below.length === 1) await expand(root.below[0]);
    refresh();
  }).catch(error => failed(list.box, error));
  status(up ? many(start.functions, "function") : many(start.contexts, "context"));
} });
