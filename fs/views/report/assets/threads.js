/* ---- threads: what the run, a context or a function costs on each ---- */

async function allThreads() {
  const found = [];
  for (let chunk = 0; found.length < start.threads; chunk++) {
    const rows = await pm.load(`threads-${chunk}`);
    if (!rows.length) break;
    rows.forEach(([id, path, identity, samples, name, process]) => found.push({ number: found.length, id, directory: path, path: [path.replace(/^threads\//, ""), process, name].filter(Boolean).join(" "), told: [process, name].filter(Boolean).join(" ") || path.replace(/^threads\//, ""), identity, samples }));
  }
  return found;
}

views.push({ id: "threads", title: "Threads", shown: () => start.threads > 1, show(box) {
  const g = group(), ofFunction = state.fn >= 0, ofContext = !ofFunction && state.ctx >= 0;
  const i = g.main, plots = h("div", { class: "cards" }), area = h("div", { class: "fill" }), head = h("div", { class: "tools" });
  box.replaceChildren(h("div", { class: "column" }, head, plots, area));
  const load = ofFunction ? `functioncosts-${state.fn}-${i}` : `costs-${ofContext ? state.ctx + 1 : 0}-${i}`, name = start.columns[i] && start.columns[i].name;
  const what = ofFunction ? functionAt(state.fn).then(f => f && f.name) : ofContext ? pm.load(`path-${state.ctx}`).then(path => path && path[path.length - 1][2]) : Promise.resolve(null);
  Promise.all([allThreads(), pm.load(load), what]).then(([threads, costs, of]) => {
    head.replaceChildren(h("b", {}, of ? nameOf(of) : "The run"), h("span", { class: "soft" }, `${g.label}${g.all >= 0 ? ", with callees" : ""}, on each thread`), ...(of ? [link({ fn: undefined, ctx: undefined }, "the run instead"), ofFunction ? link({ view: "functions", fn: state.fn }, "the function") : contextLink(state.ctx, of)] : []));
    if (!costs) { area.append(note("There are no costs by thread.")); return; }
    threads.forEach((t, k) => {
      t.cost = costs[k];
      t.cell = ofFunction ? `${files()}${t.directory}/functions.csv|${JSON.stringify({ name: of })}|${name}` : ofContext ? `${files()}${t.directory}/profile.csv|${JSON.stringify({ context: state.ctx })}|${name}` : `${files()}threads.csv|${k}|${name}`;
    });
    const known = threads.filter(t => t.cost !== null), most = known.reduce((m, t) => Math.max(m, t.cost), 0);
    const open = t => go({ view: "functions", thread: t.number, fn: ofFunction ? state.fn : undefined });
    plots.append(plot("In the order of threads", costs, { unit: g.unit, below: "threads, in their order", tell: k => tellThread(threads[k], costs[k]), click: k => open(threads[k]) }));
    const order = [...known].sort((a, b) => a.cost - b.cost);
    plots.append(plot("Sorted", order.map(t => t.cost), { unit: g.unit, below: "threads, by cost", tell: k => tellThread(order[k], order[k].cost), click: k => open(order[k]) }));
    plots.append(histogram(known.map(t => t.cost), most));
    const matrix = heatmap(threads, most, open);
    if (matrix) plots.append(matrix);
    const test = matcher(), rows = threads.filter(t => !test || test.test(t.path)).sort((a, b) => (b.cost ?? -1) - (a.cost ?? -1));
    const list = longTable({ rows, label: "Threads", chosen: t => t.number === state.thread, onrow: open, columns: [
      { title: "thread", width: Math.min(60, 4 + Math.max(0, ...rows.slice(0, 2000).map(t => t.path.length))) + "ch", cell: t => link({ view: "functions", thread: t.number }, pathOf(t.path)) },
      { title: g.label, hint: `${name}, ${OF()}`, number: true, cell: t => cost(t.cost, g.unit, g.whole + g.idle, t.cell, most) },
      { title: "samples", number: true, width: "8em", cell: t => t.samples ? number(count(t.samples), `${files()}threads.csv|${t.number}|samples`) : "" },
      { title: "timeline", width: "8em", cell: t => start.trace && t.samples ? link({ view: "timeline", thread: t.number }, "over time") : "" }] });
    area.append(list.box);
    status(`${many(threads.length, "thread")}, shares ${OF()}`);
  }).catch(error => failed(area, error));
} });

const tellThread = (t, c) => [h("b", {}, t.path), facts([[group().label, amount(c, group().unit)]])];

/* Axes: what is at the left of `left` and below `bottom` belongs to them. `unit` of the values; `marks` on the x axis. */
const AXIS = { left: 62, bottom: 18, top: 6 };
function drawAxes(ctx, width, height, low, high, unit, below, marks) {
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const y = v => height - AXIS.bottom - (v - low) / (high - low || 1) * (height - AXIS.bottom - AXIS.top);
  for (const [v, label] of ticks(low, high, Math.max(2, height / 45), unit)) {
    ctx.fillStyle = colourOf("--line");
    ctx.fillRect(AXIS.left, Math.round(y(v)), width - AXIS.left, 1);
    ctx.fillStyle = colourOf("--soft");
    ctx.fillText(label, AXIS.left - 5, y(v));
  }
  ctx.textAlign = "center";
  for (const [x, label] of marks || []) ctx.fillText(label, Math.max(AXIS.left + 12, Math.min(width - 20, x)), height - 8);
  if (below) ctx.fillText(below, AXIS.left + (width - AXIS.left) / 2, height - 8);
  ctx.textAlign = "left";
  return y;
}

/* Bars from 0, with an axis of their unit. */
function plot(title, costs, { unit, below, tell, click, marks, wide }) {
  const box = h("div", { class: "plot", role: "img", "aria-label": title.textContent || title }), card = h("section", { class: wide ? "card wide" : "card" }, h("h2", {}, title), box);
  const most = costs.reduce((m, c) => Math.max(m, c || 0), 0) || 1, stepOf = width => Math.min(60, (width - AXIS.left) / costs.length);
  const view = canvasIn(box, (ctx, width, height) => {
    const step = stepOf(width);
    ctx.clearRect(0, 0, width, height);
    const y = drawAxes(ctx, width, height, 0, most, unit, below, marks && marks(AXIS.left, width));
    ctx.fillStyle = colourOf("--accent");
    costs.forEach((c, i) => { if (c > 0) ctx.fillRect(AXIS.left + i * step, y(c), Math.max(1, step - (step > 4 ? 1 : 0)), y(0) - y(c)); });
  });
  const at = event => {
    const rect = view.canvas.getBoundingClientRect(), i = Math.floor((event.clientX - rect.left - AXIS.left) / stepOf(rect.width));
    return costs[i] === undefined ? -1 : i;
  };
  view.canvas.addEventListener("mousemove", event => { const i = at(event); if (i >= 0) tip(event, ...tell(i)); else tip(event); });
  view.canvas.addEventListener("mouseleave", event => tip(event));
  if (click) view.canvas.addEventListener("click", event => { const i = at(event); if (i >= 0) click(i); });
  return card;
}

function histogram(values, most) {
  const BINS = 30, bins = new Array(BINS).fill(0), g = group();
  for (const value of values) bins[Math.max(0, Math.min(BINS - 1, Math.floor(value / (most || 1) * BINS)))]++;
  return plot("Histogram: threads by cost", bins, { unit: "", tell: i => [h("b", {}, `${amount(most * i / BINS, g.unit)} – ${amount(most * (i + 1) / BINS, g.unit)}`), facts([["threads", count(bins[i])]])],
    marks: (left, width) => ticks(0, most, 4, g.unit).map(([v, label]) => [left + v / (most || 1) * Math.min(60, (width - left) / BINS) * BINS, label]) });
}

/* Ranks × threads, where threads have such keys: a column for each value of one key, a row for each of the others. */
function heatmap(threads, most, open) {
  const keyed = threads.filter(t => t.identity.length >= 2);
  if (keyed.length < 4 || keyed.length > 50000) return null;
  const keys = [...new Set(keyed.flatMap(t => t.identity.map(([key]) => key)))];
  const across = keys.includes(state.across) ? state.across : keyed[0].identity[keyed[0].identity.length - 1][0];
  const rows = new Map(), columns = new Map(), cell = new Map();
  const numbered = (map, name) => map.get(name) ?? map.set(name, map.size).get(name);
  const byNumber = [...keyed].sort((a, b) => { for (let i = 0; i < a.identity.length && i < b.identity.length; i++) if (a.identity[i][1] !== b.identity[i][1]) return a.identity[i][1] - b.identity[i][1]; return 0; });
  for (const t of byNumber) {
    const own = t.identity.filter(([key]) => key === across), others = t.identity.filter(([key]) => key !== across);
    t.cell2 = [numbered(rows, others.map(k => k.join("=")).join("/")), numbered(columns, own.map(k => k.join("=")).join("/"))];
  }
  if (rows.size < 2 && columns.size < 2) return null;
  for (const t of keyed) cell.set(t.cell2[0] * columns.size + t.cell2[1], t);
  const choice = h("select", { "aria-label": "Columns", onchange: () => go({ across: choice.value }, true) }, keys.map(key => h("option", { value: key, selected: key === across }, key)));
  const box = h("div", { class: "plot", role: "img", "aria-label": "Heat map of processes and threads" });
  const down = keys.filter(key => key !== across).join(", ");
  const view = canvasIn(box, (ctx, width, height) => {
    const w = (width - AXIS.left) / columns.size, tall = (height - AXIS.bottom) / rows.size, colour = colourOf("--accent");
    ctx.clearRect(0, 0, width, height);
    for (const [at, t] of cell) {
      if (!(t.cost > 0)) continue;
      ctx.globalAlpha = 0.08 + 0.92 * t.cost / most;
      ctx.fillStyle = colour;
      ctx.fillRect(AXIS.left + at % columns.size * w, Math.floor(at / columns.size) * tall, Math.max(1, w - (w > 4)), Math.max(1, tall - (tall > 4)));
    }
    ctx.globalAlpha = 1;
    ctx.font = "11px system-ui, sans-serif";
    ctx.fillStyle = colourOf("--soft");
    ctx.textBaseline = "middle";
    const names = [...rows.keys()], step = Math.max(1, Math.ceil(14 / tall));
    for (let r = 0; r < names.length; r += step) ctx.fillText(fit(names[r].replace(/(^|\/)[a-z]+=/g, "$1"), AXIS.left - 6), 2, Math.max(6, (r + 0.5) * tall));
    const tops = [...columns.keys()].map(name => name.replace(/^[a-z]+=/, "")), stride = Math.max(1, Math.ceil((6 + Math.max(...tops.slice(-50).map(t => ctx.measureText(t).width))) / w));
    for (let c = 0; c < tops.length; c += stride) ctx.fillText(tops[c], AXIS.left + c * w, height - 8);
  });
  const threadAt = event => {
    const rect = view.canvas.getBoundingClientRect(), part = (at, from, size, n) => Math.floor((at - from) / size * n);
    const r = part(event.clientY, rect.top, rect.height - AXIS.bottom, rows.size), c = part(event.clientX, rect.left + AXIS.left, rect.width - AXIS.left, columns.size);
    return r < 0 || c < 0 || r >= rows.size || c >= columns.size ? null : cell.get(r * columns.size + c);
  };
  view.canvas.addEventListener("mousemove", event => {
    const t = threadAt(event);
    if (t) tip(event, ...tellThread(t, t.cost)); else tip(event);
  });
  view.canvas.addEventListener("mouseleave", event => tip(event));
  view.canvas.addEventListener("click", event => { const t = threadAt(event); if (t) open(t); });
  return h("section", { class: "card" }, h("h2", {}, `${down || "threads"} down, `, choice, " across"), box);
}
