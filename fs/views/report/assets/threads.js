/* ---- threads: what the run, or a function, costs on each ---- */

async function allThreads() {
  const found = [];
  for (let chunk = 0; found.length < start.threads; chunk++) {
    const rows = await pm.load(`threads-${chunk}`);
    if (!rows.length) break;
    rows.forEach(([id, path, identity, samples]) => found.push({ number: found.length, id, path: path.replace(/^threads\//, ""), identity, samples }));
  }
  return found;
}

views.push({ id: "threads", title: "Threads", shown: () => start.threads > 1, show(box) {
  const g = group(), ctx = state.ctx === undefined ? -1 : state.ctx;
  const plots = h("div", { class: "cards" }), area = h("div", { class: "fill" });
  box.replaceChildren(h("div", { class: "column" }, plots, area));
  Promise.all([allThreads(), pm.load(`costs-${ctx + 1}-${g.main}`)]).then(([threads, costs]) => {
    if (!costs) return;
    threads.forEach((t, i) => { t.cost = costs[i]; });
    const known = threads.filter(t => t.cost !== null), most = known.reduce((m, t) => Math.max(m, t.cost), 0), whole = known.reduce((sum, t) => sum + t.cost, 0);
    plots.append(plot("In the order of threads", costs, most, i => tellThread(threads[i])));
    const sorted = [...known].sort((a, b) => a.cost - b.cost);
    plots.append(plot("Sorted", sorted.map(t => t.cost), most, i => tellThread(sorted[i])));
    plots.append(histogram(known.map(t => t.cost), most));
    const matrix = heatmap(threads, most);
    if (matrix) plots.append(matrix);
    const list = longTable({ rows: [...threads].sort((a, b) => (b.cost ?? -1) - (a.cost ?? -1)), label: "Threads", chosen: t => t.number === state.thread, onrow: t => go({ view: "functions", thread: t.number }), columns: [
      { title: g.label, number: true, width: "16em", cell: t => cost(t.cost, g.unit, most) },
      { title: "samples", number: true, width: "8em", cell: t => t.samples ? count(t.samples) : "" },
      { title: "thread", cell: t => link({ view: "functions", thread: t.number }, t.path) }] });
    area.append(list.box);
    status(`${many(threads.length, "thread")}, mean ${amount(whole / (known.length || 1), g.unit)}, greatest ${amount(most, g.unit)}` + (whole > 0 ? `, imbalance ${(most * known.length / whole).toFixed(2)}` : ""));
  }, error => failed(area, error));
} });

const tellThread = t => [h("b", {}, t.path), facts([[group().label, amount(t.cost, group().unit)]])];

function plot(title, costs, most, tell) {
  const box = h("div", { class: "plot", role: "img", "aria-label": title.textContent || title }), card = h("section", { class: "card" }, h("h2", {}, title), box);
  const view = canvasIn(box, (ctx, width, height) => {
    const step = Math.min(40, width / costs.length);
    ctx.clearRect(0, 0, width, height);
    ctx.fillStyle = colourOf("--accent");
    costs.forEach((c, i) => { if (c > 0) ctx.fillRect(i * step, height - c / most * height, Math.max(1, step - (step > 4 ? 1 : 0)), c / most * height); });
  });
  view.canvas.addEventListener("mousemove", event => {
    const rect = view.canvas.getBoundingClientRect(), i = Math.floor((event.clientX - rect.left) / Math.min(40, rect.width / costs.length));
    if (costs[i] !== undefined) tip(event, ...tell(i));
  });
  view.canvas.addEventListener("mouseleave", event => tip(event));
  return card;
}

function histogram(values, most) {
  const BINS = 30, bins = new Array(BINS).fill(0), g = group();
  for (const value of values) bins[Math.min(BINS - 1, Math.floor(value / (most || 1) * BINS))]++;
  return plot("Histogram: threads by cost", bins, Math.max(...bins), i => [h("b", {}, `${amount(most * i / BINS, g.unit)} – ${amount(most * (i + 1) / BINS, g.unit)}`), facts([["threads", count(bins[i])]])]);
}

/* Ranks × threads, where threads have such keys: a column for each value of one key, a row for each of the others. */
function heatmap(threads, most) {
  const keyed = threads.filter(t => t.identity.length >= 2);
  if (keyed.length < 4 || keyed.length > 50000) return null;
  const keys = [...new Set(keyed.flatMap(t => t.identity.map(([key]) => key)))];
  const across = keys.includes(state.across) ? state.across : keyed[0].identity[keyed[0].identity.length - 1][0];
  const rows = new Map(), columns = new Map(), cell = new Map();
  const numbered = (map, name) => map.get(name) ?? map.set(name, map.size).get(name);
  for (const t of keyed) {
    const own = t.identity.filter(([key]) => key === across), others = t.identity.filter(([key]) => key !== across);
    t.cell = [numbered(rows, others.map(k => k.join("=")).join("/")), numbered(columns, own.map(k => k.join("=")).join("/"))];
  }
  if (rows.size < 2 && columns.size < 2) return null;
  for (const t of keyed) cell.set(t.cell[0] * columns.size + t.cell[1], t);
  const choice = h("select", { "aria-label": "Columns", onchange: () => go({ across: choice.value }, true) }, keys.map(key => h("option", { value: key, selected: key === across }, key)));
  const box = h("div", { class: "plot", role: "img", "aria-label": "Heat map of processes and threads" });
  const view = canvasIn(box, (ctx, width, height) => {
    const w = width / columns.size, tall = height / rows.size;
    ctx.clearRect(0, 0, width, height);
    for (const [at, t] of cell) {
      if (!(t.cost > 0)) continue;
      ctx.globalAlpha = 0.08 + 0.92 * t.cost / most;
      ctx.fillStyle = colourOf("--accent");
      ctx.fillRect(at % columns.size * w, Math.floor(at / columns.size) * tall, Math.max(1, w - (w > 4)), Math.max(1, tall - (tall > 4)));
    }
    ctx.globalAlpha = 1;
  });
  const threadAt = event => {
    const rect = view.canvas.getBoundingClientRect(), part = (at, from, size, n) => Math.max(0, Math.min(n - 1, Math.floor((at - from) / size * n)));
    return cell.get(part(event.clientY, rect.top, rect.height, rows.size) * columns.size + part(event.clientX, rect.left, rect.width, columns.size));
  };
  view.canvas.addEventListener("mousemove", event => {
    const t = threadAt(event);
    if (t) tip(event, ...tellThread(t)); else tip(event);
  });
  view.canvas.addEventListener("mouseleave", event => tip(event));
  view.canvas.addEventListener("click", event => { const t = threadAt(event); if (t) go({ view: "functions", thread: t.number }); });
  return h("section", { class: "card" }, h("h2", {}, `${many(columns.size, across)} across, ${many(rows.size, "row")} down  `, choice), box);
}
