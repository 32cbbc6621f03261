/* ---- tree: calling contexts from the top down, or functions with their callers from the bottom up ---- */

/* A node has what is below it in pages: `more` says that there is another one. */
const treeNode = (facts, depth) => ({ ...facts, depth, below: [], pages: 0, open: false });

const contextNode = (row, depth) => treeNode({ ctx: row[0], name: row[2], kind: row[3], module: row[5], file: row[6], line: row[7], cells: row[9], fn: row[10], colour: row[11], fileNumber: row[12], more: row[8], nothing: row[1] === 0,
  cellOf: i => `${files()}contexts.csv|${row[0]}|${start.columns[i].name}` }, depth);

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

/*
 * Bottom up: a node is a path of functions, with the own cost of all contexts whose path ends so. `ctx` is one of them,
 * `level` how many callers the path has. `sumOf` says which contexts: functions from the innermost on.
 */
const pathNode = (f, ctx, level, cells, above, depth) => treeNode({ fn: f ? f.number : -1, name: f ? f.name : "(top)", kind: f ? "function" : "", module: f ? f.module : "", file: f && f.file, line: f && f.line, fileNumber: f && f.fileNumber, colour: f && f.colour, nothing: f && f.nothing,
  ctx, level, cells, more: !!f && f.contexts > 0 && !(level > 0 && start.contexts_are === "edges"), path: [...above, f ? f.name : null],
  cellOf(i) { return this.path.length === 1 ? functionCell(f, i) : `${files()}contexts.csv|up=${JSON.stringify(this.path)}|${start.columns[i].name}`; } }, depth);

async function nextCallers(node) {
  if (node.depth < 0) {
    const rows = (await pm.load(`functions-${node.pages}-${node.by + 1}`)).map(functionRow);
    node.pages++;
    node.below.push(...rows.map(f => pathNode(f, -1, 0, f.cells, [], 0)));
    node.more = CHUNK * node.pages < start.functions;
    return;
  }
  if (node.ctx < 0) node.ctx = (await pm.load(`function-${node.fn}`)).context ?? -1;
  const data = node.ctx < 0 ? null : await pm.load(`up-${node.ctx}-${node.level}`);
  for (const [row, ctx, cells] of data ? data.rows : []) node.below.push(pathNode(await functionAt(row), ctx, node.level + 1, cells, node.path, node.depth + 1));
  if (data && data.n > data.rows.length) node.left = data.n - data.rows.length;
  node.more = false;
}

const growDown = node => once(node, nextContexts), growUp = node => once(node, nextCallers);

/* Which columns are shown, and by which of them those with the same parent are sorted. Bottom up, only own costs are. */
function treeColumns(up) {
  const g = group(), asked = chosenColumns([g.all, g.own], up ? "excl" : "incl", up ? "functions" : "contexts"), own = asked.filter(i => start.columns[i].role !== "incl"), shown = up && own.length ? own : asked;
  const [by, way] = (state.sort || "").split("-");
  return { shown, by: state.sort && shown.includes(Number(by)) ? Number(by) : up ? g.first : shown.length ? shown[0] : g.main, down: way !== "up" };
}

/* What was opened stays open while sorting and choosing columns. */
const trees = new Map();
function treeRoot(key, facts) {
  if (!trees.has(key)) trees.set(key, treeNode({ more: true, path: [], ...facts }, -1));
  return trees.get(key);
}

views.push({ id: "tree", title: "Tree", shown: isTree, show(box) {
  const up = state.up === "1", grow = up ? growUp : growDown, { shown, by, down } = treeColumns(up), g = group(), test = matcher(), hot = new Set();
  const at = Number.isInteger(state.root) && !up ? state.root : -1;
  const root = treeRoot(`${base()} ${up ? "up " + by : at}`, { ctx: at, by });
  const only = up && state.fn >= 0;
  const rowsOfTree = () => {
    const rows = [], walk = node => {
      let below = [...node.below].sort(byColumn(by, down));
      if (up && node === root) below = below.filter(n => only ? n.fn === state.fn : !test || test.test(n.name));
      for (const next of below) {
        rows.push(next);
        if (next.open) walk(next);
      }
      if (node.more && node.below.length && !(only && node === root)) rows.push({ pageOf: node, depth: node.depth + 1, cells: [], below: [] });
      if (node.left) rows.push({ left: node.left, depth: node.depth + 1, cells: [], below: [] });
    };
    walk(root);
    return rows;
  };
  const of = OF();
  const numbers = numberColumns(shown, { of, whole: i => start.columns[i].whole, cellOf: (row, i) => row.cellOf(i), width: costWidth() });
  const indent = row => ({ paddingLeft: Math.min(row.depth, 60) * 14 + "px" });
  const named = row => {
    const hit = test && test.test(row.name), name = nameOf(row.name, (hot.has(row.ctx) && !up ? "hot" : "") + (hit ? " hit" : ""));
    return row.fn >= 0 ? link({ view: "functions", fn: row.fn }, name) : name;
  };
  const label = row => {
    if (row.pageOf) return h("button", { type: "button", style: { marginLeft: row.depth * 14 + "px" }, onclick: () => { grow(row.pageOf).then(refresh, error => failed(list.box, error)); } }, "more …");
    if (row.left) return h("span", { class: "soft", style: indent(row) }, `and callers that cost less (${count(row.left)})`);
    return h("span", { class: "fn", style: indent(row) },
      row.more || row.below.length ? h("button", { type: "button", class: "twist", "aria-expanded": row.open, "aria-label": up ? "Callers" : "Children", onclick: () => toggle(row) }, row.open ? "▾" : "▸") : h("span", { class: "twist" }),
      row.colour !== undefined && row.colour !== null && row.fn >= 0 ? swatch(row.colour) : null, named(row),
      !up && row.more ? h("button", { type: "button", class: "twist focus", title: "Only this, and what is below it", "aria-label": "Only this", onclick: () => go({ root: row.ctx, ctx: undefined, at: undefined }) }, "⌖") : null);
  };
  const columns = fitting([
    { title: up ? "function, and its callers below it" : "calling context", cell: label }, ...numbers,
    isNarrow() || !start.kinds_differ ? null : { title: "kind", spare: true, width: "7.6em", cell: row => row.kind || "" },
    !start.places || isNarrow() && shown.length > 2 ? null : { title: "where", spare: true, width: innerWidth > 2000 ? "22em" : "13em", cell: row => row.pageOf || row.left ? "" : lineLink(row.fileNumber, row.file, row.line) || h("span", { class: "soft where", title: row.module }, baseName(row.module || "")) },
  ].filter(Boolean));
  const list = longTable({ columns, rows: [], label: up ? "Functions and their callers" : "Calling contexts", chosen: row => !up && !row.pageOf && row.ctx === state.ctx, least: roomOf(columns),
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
  /* Opens a path of contexts from the top; returns where it ends. */
  async function open(path) {
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
    return node;
  }
  async function follow(path) {
    const node = await open(path);
    refresh();
    const line = rowsOfTree().indexOf(node);
    if (line >= 0) list.box.scrollTop = Math.max(0, line * ROW_HEIGHT - 200);
  }
  /* Down to where the cost divides. */
  async function openMain() {
    const value = n => n.cells[g.main] || 0;
    for (let node = root, i = 0; i < 12 && node.below.length; i++) {
      const next = node.below.reduce((a, b) => value(b) > value(a) ? b : a);
      if (node.below.some(n => n.open) || value(next) < 0.9 * node.below.reduce((sum, n) => sum + value(n), 0)) break;
      await expand(next);
      node = next;
    }
  }
  const pathTo = async ctx => (await pm.load(`path-${ctx}`) || []).map(row => row[0]);
  async function openHot() {
    const path = (await pm.load(`hot-${g.all}`)).map(step => step[0]);
    path.forEach(ctx => hot.add(ctx));
    await follow(path);
  }
  /* Where the functions are that match: the first context of each of the most expensive ones. */
  async function openMatches(found) {
    const told = sorted(found, { key: g.main }, true).slice(0, 12);
    for (const f of told) {
      const { context } = await pm.load(`function-${f.number}`);
      if (context !== null) await open(await pathTo(context));
    }
    refresh();
    status(`${count(found.length)} ${found.length === 1 ? "function matches" : "functions match"}` + (found.length ? told.length < found.length ? `; opened: a context of each of the ${told.length} most expensive ones` : "; opened: a context of each" : ""));
  }
  const crumbs = h("nav", { class: "crumbs", "aria-label": "Call path", hidden: at < 0 });
  if (at >= 0) pm.load(`path-${at}`).then(path => crumbs.replaceChildren(link({ root: undefined }, "all"), ...(path || []).flatMap((row, i) => [" › ", i + 1 < path.length ? link({ root: row[0] }, fit(row[2], 300)) : h("b", {}, fit(row[2], 500))])), error => failed(crumbs, error));
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" },
    h("b", {}, up ? "Bottom up" : "Top down"), link({ up: up ? undefined : "1", sort: undefined, fn: undefined, root: undefined }, up ? "top down" : "bottom up"),
    only ? link({ fn: undefined }, "all functions") : null,
    !up && at < 0 && g.all >= 0 ? h("button", { type: "button", onclick: () => openHot().catch(error => failed(list.box, error)) }, "Open the hot path") : null,
    columnMenu(shown, up),
    state.thread >= 0 ? h("span", { class: "note" }, "The tree shows all threads.") : null,
    up ? h("span", { class: "note" }, `Own cost ${of}, by who called whom.`) : null), crumbs, list.box));
  status(up ? many(start.functions, "function") : many(start.contexts, "context"));
  (async () => {
    if (!root.below.length) await grow(root);
    if (up && (only || test)) while (root.more && !(only && root.below.some(n => n.fn === state.fn))) await grow(root);
    if (only) { const node = root.below.find(n => n.fn === state.fn); if (node) await expand(node); }
    if (!up && state.at) await follow(state.at.split(".").map(Number));
    else if (!up && state.ctx !== undefined) await follow(await pathTo(state.ctx));
    else if (!up) await openMain();
    refresh();
    if (!up && test) await openMatches(await matching(test));
  })().catch(error => failed(list.box, error));
} });
