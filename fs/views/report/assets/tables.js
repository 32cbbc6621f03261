/* ---- what only this format has: tables, and numbers over time ---- */

const documentsOf = pattern => start.documents.filter(([, path]) => pattern.test(path));

views.push({ id: "counters", title: "Counters", shown: () => start.counters.length > 0, show(box) {
  const cards = h("div", { class: "cards" });
  box.replaceChildren(cards);
  const test = matcher();
  const found = start.counters.filter(([, name]) => !test || test.test(name)).slice(0, 40);
  for (const [number, name] of found) {
    const area = h("div", { class: "plot" }), words = h("p", { class: "note" });
    cards.append(h("section", { class: "card wide" }, h("h2", {}, name), area, words));
    pm.load(`plot-${number}`).then(data => data && drawPlot(area, words, data), error => failed(area, error));
  }
  status(`${count(found.length)} of ${many(start.counters.length, "counter")}`);
} });

function drawPlot(area, words, data) {
  const points = [];
  for (let i = 0; i < data.points.length; i += 2) points.push([data.points[i], data.points[i + 1]]);
  points.sort((a, b) => a[0] - b[0]);
  if (!points.length) { words.textContent = "no values"; return; }
  const values = points.map(p => p[1]), low = Math.min(0, ...values), high = Math.max(...values), begin = points[0][0], end = points[points.length - 1][0];
  canvasIn(area, (ctx, width, height) => {
    ctx.clearRect(0, 0, width, height);
    ctx.strokeStyle = colourOf("--accent");
    ctx.lineWidth = 1.2;
    ctx.beginPath();
    points.forEach(([t, v], i) => {
      const x = (t - begin) / (end - begin || 1) * width, y = height - 2 - (v - low) / (high - low || 1) * (height - 4);
      if (i) ctx.lineTo(x, y); else ctx.moveTo(x, y);
    });
    ctx.stroke();
  });
  words.textContent = `${count(data.rows)} values from ${amount(begin, "ns")} to ${amount(end, "ns")}, ${digits(Math.min(...values))} to ${digits(high)}`;
}

views.push({ id: "tables", title: "Tables", shown: () => documentsOf(/^[^/]+\.csv$/).length > 0, show(box) {
  const found = documentsOf(/^[^/]+\.csv$/), number = found.some(([n]) => n === state.doc) ? state.doc : found[0][0], area = h("div", { class: "fill" });
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" }, found.map(([n, path]) => n === number ? h("b", {}, path) : link({ doc: n }, path))), area));
  showTable(area, number);
} });

/*
 * A table of the mount: its first rows at once, more as one reads on. Of `options`, keep(row) says which rows are shown,
 * and onrow(row) and chosen(row) are as for longTable, with rows as objects; link(path) is what a path becomes; `only` has
 * the names of the columns to show.
 */
function showTable(box, number, options = {}) {
  const rows = [], area = h("div", { class: "fill" });
  let list = null, chunk = 0, more = true, running = false, names = [];
  const test = matcher(), cellText = (name, value) => value === null ? "" : name === "timestamp_ns" && typeof value === "number" ? new Date(value / 1e6).toISOString() : /_ns$/.test(name) && typeof value === "number" ? amount(value, "ns") : /_bytes$|^bytes$/.test(name) && typeof value === "number" ? amount(value, "B") : typeof value === "number" ? digits(value) : value;
  const named = row => Object.fromEntries(names.map((name, i) => [name, row[i]])), few = test || options.keep;
  function columnsFor(data) {
    const widths = names.map((name, i) => Math.min(44, Math.max(name.length, ...data.rows.slice(0, 100).map(row => String(cellText(name, row[i])).length))) + 3);
    const shown = (options.only || names).map(name => names.indexOf(name)).filter(i => i >= 0), last = shown[shown.length - 1];
    const cell = i => row => {
      const text = cellText(names[i], row[i]);
      if (names[i] !== "path" || !text) return h("span", { class: "name", title: text }, text);
      return options.link ? options.link(text) : h("a", { href: encodePath(text) + "/" }, "open");
    };
    return { least: shown.reduce((sum, i) => sum + widths[i], 0), columns: shown.map(i => ({ title: names[i], hint: names[i], cell: cell(i),
      width: i === last ? null : widths[i] + "ch", number: data.rows.some(row => typeof row[i] === "number") })) };
  }
  box.replaceChildren(area);
  async function next() {
    if (!more || running) return;
    running = true;
    const data = await pm.load(`table-${number}-${chunk++}`);
    running = false;
    if (!data) return;
    more = data.more;
    names = data.columns;
    rows.push(...data.rows.filter(row => (!test || row.some(cell => typeof cell === "string" && test.test(cell))) && (!options.keep || options.keep(named(row)))));
    if (!list) {
      list = longTable({ rows, label: "Rows", ...columnsFor(data),
        onrow: options.onrow && (row => options.onrow(named(row))), chosen: options.chosen && (row => options.chosen(named(row))) });
      area.replaceChildren(list.box);
      list.box.addEventListener("scroll", () => { if (list.box.scrollTop + list.box.clientHeight > list.box.scrollHeight - 3000) next().catch(error => failed(area, error)); }, { passive: true });
    }
    list.refresh();
    status(many(rows.length, "row") + (more ? ", more below" : ""));
    if (few && more && rows.length < 100 && chunk < 40) next().catch(error => failed(area, error));
  }
  next().catch(error => failed(area, error));
}

const encodePath = path => path.split("/").map(encodeURIComponent).join("/");
