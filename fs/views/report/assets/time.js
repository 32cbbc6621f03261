/* ---- timeline: all threads over time; zooming asks for smaller tiles ---- */

const TILE = 1000, PAGE = 64, LABELS = 190;

/* "#rrggbb" as a pixel of an ImageData. */
function pixelOf(colour) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
  return new Uint32Array(new Uint8ClampedArray([r, g, b, 255]).buffer)[0];
}

views.push({ id: "timeline", title: "Timeline", shown: () => start.trace, show(box) {
  const depth = Number.isInteger(state.depth) ? state.depth : 63;
  const area = h("div", { class: "scroll timeline", tabindex: "0", role: "group", "aria-label": "Timeline of all threads" }), legend = h("div", { class: "legend" });
  const slider = h("input", { type: "range", min: "0", max: "40", value: depth === 63 ? "40" : String(depth), "aria-label": "Depth", onchange: () => go({ depth: slider.value === "40" ? undefined : Number(slider.value) }, true) });
  const byKind = state.by === "kind", by = h("select", { "aria-label": "Colours", onchange: () => go({ by: by.value || undefined }, true) },
    h("option", { value: "" }, "by function"), h("option", { value: "kind", selected: byKind }, "by kind of work"));
  /* The name in the legend, and the number of its colour; the program is blue, as in the overview. */
  const colourOfKind = kind => kind === "program" ? 1 : start.kinds.indexOf(kind);
  const shownAs = ([name, colour]) => byKind ? [start.kinds[colour], colourOfKind(start.kinds[colour])] : [name, colour];
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" },
    h("button", { type: "button", onclick: () => move(0.5, 0.5) }, "Zoom in"), h("button", { type: "button", onclick: () => move(2, 0.5) }, "Zoom out"), h("button", { type: "button", onclick: () => set(0, 1) }, "All"),
    h("label", {}, "Colours ", by), h("label", {}, "Depth ", slider, depth === 63 ? " innermost" : ` ${depth}`), h("span", { class: "soft" }, "drag to zoom, wheel with Ctrl, ← → to move")), area, legend));
  let from = Math.max(0, Math.min(1, Number(state.from) || 0)), to = Math.max(from, Math.min(1, state.to === undefined ? 1 : Number(state.to)));
  if (!(to > from)) { from = 0; to = 1; }
  const axis = h("div", { class: "axis" }), inside = h("div", { style: { position: "relative" } }), layer = h("div", { style: { position: "sticky", top: "0", left: "0", height: "100%" } });
  area.append(inside);
  let all = null, whole = null, rows = 0, band = 16, view = null, drag = null, settled = null;

  /* The tiles that a page of threads needs for the time in sight. */
  function tilesOf(page) {
    const level = Math.max(0, Math.min(24, Math.floor(Math.log2(1 / (to - from))) + 1)), n = 2 ** level, found = [];
    for (let i = Math.floor(from * n); i < Math.min(n, Math.ceil(to * n)); i++) found.push({ level, i, key: `time-${n + i}-${page}-${depth}`, from: i / n, to: (i + 1) / n });
    return found;
  }
  /* Until a tile is there, a coarser one is drawn in its place. */
  function readyTile(tile, page) {
    for (let level = tile.level, i = tile.i; level >= 0; level--, i >>= 1) {
      const data = pm.at(`time-${2 ** level + i}-${page}-${depth}`);
      if (data) return { data, from: i / 2 ** level, to: (i + 1) / 2 ** level };
    }
    return null;
  }
  const numbers = []; /* of the threads in the rows that were seen */
  const threadAt = row => all && all[numbers[row]];
  const seen = new Map();
  /* A line of pixels for each thread in sight, stretched to its band: browsers are far slower with a rectangle for each run. */
  const strip = document.createElement("canvas");
  function draw(ctx, width, height) {
    const top = area.scrollTop, w = width - LABELS, x = t => LABELS + (t - from) / (to - from) * w;
    const first = Math.floor(top / band), last = Math.min(rows - 1, Math.floor((top + height - 22) / band));
    strip.width = Math.max(1, Math.round(w * (devicePixelRatio || 1)));
    strip.height = Math.max(1, last - first + 1);
    const image = new ImageData(strip.width, strip.height), labels = [];
    const sight = { first, last, width: strip.width, pixels: new Uint32Array(image.data.buffer), least: 40 * strip.width / w, labels };
    seen.clear();
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page++)
      for (const tile of tilesOf(page)) {
        if (!pm.at(tile.key)) request(tile.key);
        const ready = readyTile(tile, page);
        if (!ready) continue;
        ready.data.rows.forEach((runs, k) => { numbers[page * PAGE + k] = runs[0]; });
        drawTile(sight, ready, tile, page);
      }
    strip.getContext("2d").putImageData(image, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.imageSmoothingEnabled = false;
    const yOf = row => 22 + row * band - top;
    for (let row = first; row <= last; row++) ctx.drawImage(strip, 0, row - first, strip.width, 1, LABELS, yOf(row), w, band - 1);
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    ctx.fillStyle = "#1b1917";
    for (const { name, row, begin, end } of labels) {
      const room = Math.floor((x(end) - x(begin) - 6) / 6);
      if (room > 5) ctx.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, x(begin) + 3, yOf(row) + band / 2);
    }
    ctx.fillStyle = colourOf("--ink");
    for (let row = first; row <= last; row++) {
      const t = threadAt(row);
      if (t) ctx.fillText(t.path.length > 28 ? "…" + t.path.slice(-27) : t.path, 4, yOf(row) + band / 2);
    }
    drawAxis(ctx, width, w, x);
    if (drag) {
      ctx.fillStyle = colourOf("--accent");
      ctx.globalAlpha = 0.2;
      ctx.fillRect(Math.min(drag.x, drag.now), 22, Math.abs(drag.now - drag.x), height);
      ctx.globalAlpha = 1;
    }
    legend.replaceChildren(...[...seen.entries()].sort((a, b) => b[1].n - a[1].n).slice(0, 14).map(([name, s]) => h("span", { class: "fn" }, swatch(s.colour), h("span", { class: "name", title: name }, name))));
  }
  function drawTile(sight, ready, tile, page) {
    const left = Math.max(tile.from, from), right = Math.min(tile.to, to), cellTime = (ready.to - ready.from) / TILE, scale = sight.width / (to - from);
    const { names } = ready.data, shown = new Float64Array(names.length), inks = names.map(name => pixelOf(start.palette[shownAs(name)[1]]));
    for (let row = Math.max(sight.first, page * PAGE); row <= Math.min(sight.last, page * PAGE + ready.data.rows.length - 1); row++) {
      const runs = ready.data.rows[row - page * PAGE], line = (row - sight.first) * sight.width;
      for (let i = 1, cell = 0; i < runs.length; i += 2) {
        const begin = Math.max(ready.from + cell * cellTime, left);
        cell += runs[i + 1];
        const end = Math.min(ready.from + cell * cellTime, right), name = runs[i];
        if (name < 0 || end <= begin) continue;
        const a = Math.floor((begin - from) * scale), b = Math.max(a + 1, Math.floor((end - from) * scale));
        sight.pixels.fill(inks[name], line + a, line + Math.min(b, sight.width));
        shown[name] += end - begin;
        if (b - a > sight.least) sight.labels.push({ name: names[name][0], row, begin, end });
      }
    }
    names.forEach((entry, i) => {
      if (!shown[i]) return;
      const [name, colour] = shownAs(entry), s = seen.get(name) || { n: 0, colour };
      s.n += shown[i];
      seen.set(name, s);
    });
  }
  function drawAxis(ctx, width, w, x) {
    ctx.fillStyle = colourOf("--paper");
    ctx.fillRect(0, 0, width, 21);
    if (!whole) return;
    const span = (to - from) * (whole.end - whole.begin), rough = span / Math.max(2, w / 120), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough) || power * 10, t0 = whole.begin + from * (whole.end - whole.begin);
    ctx.fillStyle = colourOf("--soft");
    const [size, unit] = TIMES.find(u => t0 + span >= u[0]) || TIMES[TIMES.length - 1];
    const decimals = Math.min(9, Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9))); /* two steps differ */
    for (let i = 0, t = Math.ceil(t0 / step) * step; t <= t0 + span && i < 100; i++, t += step) {
      const at = x((t - whole.begin) / (whole.end - whole.begin));
      ctx.fillRect(at, 14, 1, 7);
      const label = t === 0 ? "0" : (t / size).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }) + " " + unit;
      ctx.fillText(label, Math.min(at + 3, width - ctx.measureText(label).width - 2), 9);
    }
  }
  let drawing = false;
  function redraw() {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => { drawing = false; if (view && box.contains(area)) view.draw(); });
  }
  const asked = new Set();
  function request(key) {
    if (asked.has(key)) return;
    asked.add(key);
    pm.load(key).then(() => { asked.delete(key); redraw(); }, error => failed(area, error));
  }
  function set(a, b) {
    const least = 2 ** -24, w = Math.max(least, Math.min(1, b - a));
    from = Math.max(0, Math.min(1 - w, a));
    to = from + w;
    redraw();
    clearTimeout(settled);
    settled = setTimeout(() => { if (state.view === "timeline") { state.from = from > 0 ? from : undefined; state.to = to < 1 ? to : undefined; history.replaceState(null, "", address({})); } }, 250);
  }
  function move(factor, at) {
    const middle = from + (to - from) * at, w = (to - from) * factor;
    set(middle - w * at, middle + w * (1 - at));
  }
  const partAt = event => (event.clientX - area.getBoundingClientRect().left - LABELS) / (area.clientWidth - LABELS);
  area.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    move(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, partAt(event))));
  }, { passive: false });
  area.addEventListener("keydown", event => {
    const w = to - from, moves = { ArrowLeft: [-0.25, 1], ArrowRight: [0.25, 1], "+": [0, 0.5], "-": [0, 2] }[event.key];
    if (!moves) return;
    event.preventDefault();
    if (moves[0]) set(from + moves[0] * w, to + moves[0] * w); else move(moves[1], 0.5);
  });
  area.addEventListener("mousedown", event => { if (partAt(event) > 0) { const x = event.clientX - area.getBoundingClientRect().left; drag = { x, now: x, from: partAt(event) }; event.preventDefault(); } });
  area.addEventListener("mousemove", event => {
    if (drag) { drag.now = event.clientX - area.getBoundingClientRect().left; redraw(); return; }
    const row = Math.floor((event.clientY - area.getBoundingClientRect().top - 22 + area.scrollTop) / band), at = from + partAt(event) * (to - from);
    const name = partAt(event) > 0 && nameAt(row, at);
    if (name && whole) tip(event, h("b", {}, name), facts([["thread", threadAt(row) ? threadAt(row).path : ""], ["at", amount(whole.begin + at * (whole.end - whole.begin), "ns")]]));
    else tip(event);
  });
  area.addEventListener("mouseleave", event => { tip(event); drag = null; });
  area.addEventListener("mouseup", event => {
    if (!drag) return;
    const a = drag.from, b = partAt(event), w = to - from;
    drag = null;
    if (Math.abs(b - a) > 0.005) set(from + Math.max(0, Math.min(a, b)) * w, from + Math.min(1, Math.max(a, b)) * w); else redraw();
  });
  area.addEventListener("scroll", redraw, { passive: true });
  function nameAt(row, at) {
    const page = Math.floor(row / PAGE), tile = tilesOf(page).find(t => t.from <= at && at < t.to), ready = tile && readyTile(tile, page), runs = ready && ready.data.rows[row % PAGE];
    if (!runs) return null;
    let cell = (at - ready.from) / (ready.to - ready.from) * TILE;
    for (let i = 1; i < runs.length; i += 2) if ((cell -= runs[i + 1]) < 0) return runs[i] < 0 ? null : ready.data.names[runs[i]][0];
    return null;
  }
  pm.load(`time-1-0-${depth}`).then(async data => {
    if (!data || !data.threads) { area.replaceChildren(h("p", { class: "note" }, "There are no samples.")); return; }
    whole = data;
    rows = data.threads;
    band = Math.max(16, Math.min(32, Math.floor((area.clientHeight - 26) / rows)));
    inside.style.height = rows * band + 26 + "px";
    inside.append(layer);
    layer.style.height = area.clientHeight + "px";
    view = canvasIn(layer, draw);
    new ResizeObserver(() => { layer.style.height = area.clientHeight + "px"; }).observe(area);
    all = await allThreads();
    redraw();
    status(`${many(rows, "thread")}, ${amount(whole.end - whole.begin, "ns")}`);
  }).catch(error => failed(area, error));
} });
