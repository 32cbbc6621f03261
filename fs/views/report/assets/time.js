/* ---- timeline: all threads over time, or the call path of one; zooming asks for smaller tiles ---- */

const TILE = 1000, PAGE = 64, RULER = 22, FEW = 32; /* threads whose call paths can be seen side by side */

/* "#rrggbb" as a pixel of an ImageData; `pale`: of what does not match. */
function pixelOf(colour, pale) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
  return new Uint32Array(new Uint8ClampedArray([r, g, b, pale ? 50 : 255]).buffer)[0];
}

/* stack-TILE-THREAD.js as a tile whose rows are levels of the call path. */
const stackTiles = new WeakMap();
function stackTile(data) {
  if (stackTiles.has(data)) return stackTiles.get(data);
  const { frames, names } = data, rows = [], contexts = [];
  for (let i = 0; i < frames.length; i += 3) contexts.push(frames[i], frames[i + 2]);
  for (let i = 0, cell = 0; i < data.cells.length; i += 4) {
    const path = [];
    for (let f = data.cells[i]; f >= 0; f = frames[3 * f + 1]) path.unshift(f);
    path.forEach((f, level) => {
      const row = rows[level] ||= { runs: [level], end: 0 };
      if (row.end < cell) row.runs.push(-1, cell - row.end);
      if (row.end === cell && row.runs.length > 2 && row.runs[row.runs.length - 2] === f) row.runs[row.runs.length - 1] += data.cells[i + 1];
      else row.runs.push(f, data.cells[i + 1]);
      row.end = cell + data.cells[i + 1];
    });
    cell += data.cells[i + 1];
  }
  const tile = { rows: rows.map(row => row.runs), contexts, names, cells: data.cells };
  stackTiles.set(data, tile);
  return tile;
}

/* Times as names of windows have them. */
const nsName = ns => Math.round(ns) + "ns";
const exactTime = ns => {
  const [size, unit] = TIMES.find(u => Math.abs(ns) >= u[0]) || TIMES[3];
  return grouped(String(Number((ns / size).toFixed(6)))) + " " + unit;
};

let timelineScroll = 0;

views.push({ id: "timeline", title: "Timeline", shown: () => start.trace, show(box) {
  const one = state.thread, depth = Number.isInteger(state.depth) ? state.depth : 63, test = matcher();
  let LABELS = innerWidth > 1800 ? 340 : 190;
  const endOf = text => { const most = Math.floor((LABELS - 8) / 6.7); return text.length > most ? "…" + text.slice(1 - most) : text; };
  const area = h("div", { class: "scroll timeline", tabindex: "0", role: "group", "aria-label": one < 0 ? "Timeline of all threads" : "Call path of a thread over time" }), legend = h("div", { class: "legend" });
  const detail = h("section", { class: "detail", hidden: true }), marksBox = h("span", { class: "marks", hidden: true });
  const slider = h("input", { type: "range", min: "0", max: "40", value: depth === 63 ? "40" : String(depth), "aria-label": "Depth", onchange: () => go({ depth: slider.value === "40" ? undefined : Number(slider.value) }, true) });
  const depthLabel = h("label", {}, "Depth ", slider, depth === 63 ? " innermost" : ` ${depth}`), rowsLabel = h("label", { hidden: true });
  const byKind = state.by === "kind", by = h("select", { "aria-label": "Colours", onchange: () => go({ by: by.value || undefined }, true) },
    h("option", { value: "" }, "by function"), h("option", { value: "kind", selected: byKind }, "by kind of work"));
  /* The name in the legend, and the number of its colour. */
  const shownAs = ([name, colour]) => byKind ? [start.kinds[colour], colourOfKind(start.kinds[colour])] : [name, colour];
  const split = h("div", { class: "split wide" }, area, detail), counters = h("div", { class: "counters", hidden: true, tabindex: "0", role: "group", "aria-label": "Counters" });
  box.replaceChildren(h("div", { class: "column" }, h("div", { class: "tools" },
    h("button", { type: "button", onclick: () => move(0.5, 0.5) }, "Zoom in"), h("button", { type: "button", onclick: () => move(2, 0.5) }, "Zoom out"), h("button", { type: "button", onclick: () => set(0, 1) }, "All"),
    h("label", {}, "Colours ", by), rowsLabel, one < 0 ? depthLabel : link({ thread: -1 }, "all threads"), marksBox,
    h("span", { class: "soft hint" }, "click: the call path there; double click: zoom to it; drag: mark a time; Ctrl and wheel, + − ← →: zoom and move")), split, counters, legend));
  /* Parts of the whole time; in the address, times. */
  let from = 0, to = 1, whole = null;
  const timeOf = part => whole.begin + part * (whole.end - whole.begin), partOf = time => (time - whole.begin) / (whole.end - whole.begin || 1);
  const inside = h("div", { style: { position: "relative" } }), layer = h("div", { style: { position: "sticky", top: "0", left: "0", height: "100%" } });
  let all = null, rows = 0, band = 16, view = null, drag = null, settled = null;
  let marks = null; /* two times */
  /* The threads that are seen with their call paths, a row for each level of them; else a thread has one row. */
  let stacked = one >= 0 ? [one] : null, lanes = []; /* [thread, level] */
  let pins = one < 0 ? (state.pins || "").split(",").filter(Boolean).map(Number).filter(Number.isInteger) : [];

  const keyOf = (level, i, page) => stacked ? `stack-${2 ** level + i}-${page}` : `time-${2 ** level + i}-${page}-${depth}`;
  const tileAt = key => { const data = pm.at(key); return data && stacked ? stackTile(data) : data; };
  /* Smaller tiles may know deeper levels. */
  function layLanes(levels) {
    lanes = stacked.flatMap(thread => Array.from({ length: levels.get(thread) || 0 }, (_, level) => [thread, level]));
    rows = lanes.length;
  }
  /* The tiles that a page of threads needs for the time in sight. */
  function tilesOf(page) {
    const level = Math.max(0, Math.min(24, Math.floor(Math.log2(1 / (to - from))) + 1)), n = 2 ** level, found = [];
    for (let i = Math.floor(from * n); i < Math.min(n, Math.ceil(to * n)); i++) found.push({ level, i, key: keyOf(level, i, page), from: i / n, to: (i + 1) / n });
    return found;
  }
  /* Until a tile is there, a coarser one is drawn in its place. */
  function readyTile(tile, page) {
    for (let level = tile.level, i = tile.i; level >= 0; level--, i >>= 1) {
      const data = tileAt(keyOf(level, i, page));
      if (data) return { data, from: i / 2 ** level, to: (i + 1) / 2 ** level };
    }
    return null;
  }
  const numbers = []; /* of the threads in the rows that were seen */
  const numberAt = row => stacked ? lanes[row] && lanes[row][0] : numbers[row], threadAt = row => all && all[numberAt(row)];
  const pageOf = row => stacked ? lanes[row][0] : Math.floor(row / PAGE), within = row => stacked ? lanes[row][1] : row % PAGE;
  /* Rows in sight, with their places: those that are pinned stay on top. */
  function sightOf(height) {
    const top = area.scrollTop, pinned = pins.length * band, found = pins.map((row, i) => ({ row, y: RULER + i * band, pinned: true }));
    const first = Math.floor(top / band), last = Math.min(rows - 1, Math.floor((top + height - RULER - pinned) / band));
    for (let row = first; row <= last; row++) found.push({ row, y: RULER + pinned + (pins.length ? 4 : 0) + row * band - top });
    return found;
  }
  const seen = new Map();
  /* A line of pixels for each thread in sight, stretched to its band: browsers are far slower with a rectangle for each run. */
  const strip = document.createElement("canvas");
  function draw(ctx, width, height) {
    const w = width - LABELS, x = t => LABELS + (t - from) / (to - from) * w, sight = sightOf(height);
    strip.width = Math.max(1, Math.round(w * (devicePixelRatio || 1)));
    strip.height = Math.max(1, sight.length);
    const image = new ImageData(strip.width, strip.height), labels = [];
    const out = { width: strip.width, pixels: new Uint32Array(image.data.buffer), least: 40 * strip.width / w, labels };
    seen.clear();
    sight.forEach(({ row, y }, line) => {
      const page = pageOf(row);
      for (const tile of tilesOf(page)) {
        if (!pm.at(tile.key)) request(tile.key);
        const ready = readyTile(tile, page), runs = ready && ready.data.rows[within(row)];
        if (!runs) continue;
        numbers[row] = runs[0];
        drawRuns(out, ready, tile, runs, line, y);
      }
    });
    strip.getContext("2d").putImageData(image, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.imageSmoothingEnabled = false;
    const clip = pins.length ? RULER + pins.length * band + 4 : RULER;
    ctx.font = "11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
    ctx.textBaseline = "middle";
    for (const under of [false, true]) { /* what is pinned is over what is scrolled */
      ctx.save();
      if (!under) { ctx.beginPath(); ctx.rect(0, clip, width, height); ctx.clip(); }
      sight.forEach(({ row, y, pinned }, line) => {
        if (!!pinned !== under) return;
        ctx.drawImage(strip, 0, line, strip.width, 1, LABELS, y, w, band - 1);
      });
      ctx.fillStyle = "#1b1917";
      for (const { name, y, begin, end, pale } of labels) {
        if (pale || (y < clip) !== under) continue;
        const text = fit(name, (x(end) - x(begin) - 6) * 1.08);
        if (text) ctx.fillText(text, x(begin) + 3, y + band / 2);
      }
      ctx.fillStyle = colourOf("--ink");
      for (const { row, y, pinned } of sight) {
        if (!!pinned !== under) continue;
        const t = threadAt(row), path = t && !(stacked && lanes[row][1]) ? t.told : "";
        if (stacked && path && row) { ctx.fillStyle = colourOf("--line"); ctx.fillRect(0, y - 1, width, 1); ctx.fillStyle = colourOf("--ink"); }
        ctx.fillText((pinned ? "▪ " : "") + endOf(path), 4, y + band / 2);
      }
      ctx.restore();
    }
    if (pins.length) { ctx.fillStyle = colourOf("--soft"); ctx.fillRect(0, clip - 3, width, 1); }
    drawTimes(ctx, width, w, x);
    drawMarks(ctx, height, x);
    legend.replaceChildren(...[...seen.entries()].sort((a, b) => b[1].n - a[1].n).slice(0, 16).map(([name, s]) => byKind ? h("span", { class: "fn" }, swatch(s.colour), name) :
      h("button", { type: "button", class: "fn", title: `${name.slice(0, 1000)}: show only this`, onclick: () => go({ search: state.search === name ? undefined : name }) }, swatch(s.colour), nameOf(name))));
  }
  /* How the names of a tile are drawn: made once, for a tile has many thousands of runs. */
  const styles = new WeakMap();
  function stylesOf({ names }) {
    if (!styles.has(names)) styles.set(names, names.map(entry => {
      const pale = !!test && !test.test(entry[0]), [shown, colour] = shownAs(entry);
      return { name: entry[0], pale, shown, colour, pixel: pixelOf(start.palette[colour], pale) };
    }));
    return styles.get(names);
  }
  function drawRuns(out, ready, tile, runs, row, y) {
    const left = Math.max(tile.from, from), right = Math.min(tile.to, to), cellTime = (ready.to - ready.from) / TILE, scale = out.width / (to - from), { contexts } = ready.data, drawn = stylesOf(ready.data);
    for (let i = 1, cell = 0; i < runs.length; ) {
      const name = runs[i] < 0 ? -1 : contexts[2 * runs[i] + 1], first = cell;
      for (; i < runs.length && (runs[i] < 0 ? -1 : contexts[2 * runs[i] + 1]) === name; i += 2) cell += runs[i + 1];
      const begin = Math.max(ready.from + first * cellTime, left), end = Math.min(ready.from + cell * cellTime, right);
      if (name < 0 || end <= begin) continue;
      const { pale, shown, colour, pixel } = drawn[name], a = Math.floor((begin - from) * scale), b = Math.max(a + 1, Math.floor((end - from) * scale));
      out.pixels.fill(pixel, row * out.width + a, row * out.width + Math.min(b, out.width));
      if (out.y !== y || out.name !== drawn[name].name || begin - out.end > 1e-12) { /* else it goes on in this tile */
        out.y = y;
        out.name = drawn[name].name;
        out.begin = begin;
        out.label = null;
      }
      out.end = end;
      if (out.label) out.label.end = end;
      else if ((end - out.begin) * scale > out.least) out.labels.push(out.label = { name: out.name, y, begin: out.begin, end, pale });
      if (pale) continue;
      const s = seen.get(shown) || { n: 0, colour };
      s.n += end - begin;
      seen.set(shown, s);
    }
  }
  function drawTimes(ctx, width, w, x) {
    ctx.fillStyle = colourOf("--paper");
    ctx.fillRect(0, 0, width, RULER - 1);
    ctx.fillStyle = colourOf("--soft");
    ctx.font = "11px system-ui, sans-serif";
    let free = 0;
    for (const [t, label] of ticks(timeOf(from), timeOf(to), w / 120, "ns")) {
      const at = x(partOf(t)), wide = ctx.measureText(label).width, left = Math.min(at + 3, width - wide - 2);
      ctx.fillRect(at, 14, 1, 7);
      if (left < free) continue;
      ctx.fillText(label, left, 9);
      free = left + wide + 8;
    }
  }
  function drawMarks(ctx, height, x) {
    const shown = drag ? [Math.min(drag.from, drag.now), Math.max(drag.from, drag.now)] : marks && marks.map(partOf);
    ctx.fillStyle = colourOf("--accent");
    if (shown) {
      const a = Math.max(LABELS, x(shown[0])), b = Math.max(a, x(shown[1]));
      ctx.globalAlpha = 0.2;
      ctx.fillRect(a, RULER, b - a, height);
      ctx.globalAlpha = 1;
      ctx.fillRect(a, RULER - 8, 1, height);
      ctx.fillRect(b, RULER - 8, 1, height);
    }
    const at = state.t === undefined ? -1 : x(partOf(Number(state.t)));
    if (at >= LABELS) ctx.fillRect(at, RULER, 1, height);
  }
  /* What lies between two marks: how long that is, and the ways to all of it. */
  function showMarks() {
    marksBox.hidden = !marks;
    if (!marks) return;
    const [a, b] = marks, window = `${nsName(a)}-${nsName(b)}`;
    marksBox.replaceChildren(h("b", {}, exactTime(b - a)), ` from ${exactTime(a)} to ${exactTime(b)} `,
      h("button", { type: "button", onclick: zoomToMarks }, "Zoom"), pm.sent ? "" : h("button", { type: "button", title: "Tables, flame graph, hot path and kinds of work of this time", onclick: () => openWindow(window) }, "Everything of this time"),
      h("button", { type: "button", "aria-label": "Remove the marks", title: "Remove the marks", onclick: () => mark(null) }, "×"));
  }
  const openWindow = win => go({ view: "overview", win, thread: -1, search: undefined });
  function zoomToMarks() { if (marks) set(partOf(marks[0]), partOf(marks[1])); }
  function mark(next) {
    marks = next && next[1] > next[0] ? next.map(Math.round) : null;
    if (marks && marks[1] <= marks[0]) marks[1] = marks[0] + 1;
    note_({ marks: marks ? marks.join("-") : undefined });
    showMarks();
    redraw();
  }
  let drawing = false;
  function redraw() {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      if (!view || !box.contains(area)) return;
      view.draw();
      strips?.draw();
    });
  }
  /* Counters below the threads, in the same time. */
  const STRIP = 40;
  let strips = null;
  async function showCounters() {
    const shown = await Promise.all(start.counters.slice(0, 12).map(async ([n, name]) => {
      const data = await pm.load(`plot-${n}`), points = [];
      for (let i = 0; data && i < data.points.length; i += 2) points.push([data.points[i], data.points[i + 1]]);
      points.sort((a, b) => a[0] - b[0]);
      const values = points.map(p => p[1]);
      return { name, points, low: Math.min(0, ...values), high: Math.max(0, ...values) };
    }));
    const found = shown.filter(c => c.points.length), inner = h("div", { style: { height: found.length * STRIP + "px" } });
    if (!found.length) return;
    counters.hidden = false;
    counters.replaceChildren(inner);
    strips = canvasIn(inner, (ctx, _, height) => {
      const width = area.clientWidth, w = width - LABELS, x = t => LABELS + (partOf(t) - from) / (to - from) * w;
      ctx.clearRect(0, 0, width, height);
      ctx.font = "11px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
      ctx.textBaseline = "middle";
      found.forEach((c, k) => {
        const top = k * STRIP + 3, y = v => top + (STRIP - 8) * (1 - (v - c.low) / (c.high - c.low || 1));
        ctx.fillStyle = colourOf("--ink");
        ctx.fillText(endOf(c.name), 4, top + 9);
        ctx.fillStyle = colourOf("--soft");
        ctx.fillText(`at most ${digits(c.high)}`, 4, top + 24);
        ctx.fillStyle = colourOf("--line");
        ctx.fillRect(0, k * STRIP + STRIP - 1, width, 1);
        ctx.save();
        ctx.beginPath();
        ctx.rect(LABELS, top - 3, w, STRIP);
        ctx.clip();
        ctx.beginPath();
        c.points.forEach(([t, v], i) => { if (i) ctx.lineTo(x(t), y(c.points[i - 1][1])); ctx[i ? "lineTo" : "moveTo"](x(t), y(v)); });
        ctx.lineTo(x(whole.end), y(c.points[c.points.length - 1][1])); /* a value stays until the next one */
        ctx.strokeStyle = colourOf("--accent");
        ctx.stroke();
        ctx.lineTo(x(whole.end), y(0));
        ctx.lineTo(x(c.points[0][0]), y(0));
        ctx.globalAlpha = 0.25;
        ctx.fillStyle = colourOf("--accent");
        ctx.fill();
        ctx.restore();
      });
    });
    strips.canvas.addEventListener("mousemove", event => {
      const rect = strips.canvas.getBoundingClientRect(), c = found[Math.floor((event.clientY - rect.top) / STRIP)], t = timeOf(from + partAt(event) * (to - from));
      const before = c && partAt(event) > 0 ? c.points.filter(p => p[0] <= t).pop() : null;
      if (before) tip(event, h("b", {}, `${c.name}: ${digits(before[1])}`), facts([["since", exactTime(before[0])]])); else tip(event);
    });
    strips.canvas.addEventListener("mouseleave", event => tip(event));
  }
  const asked = new Set();
  function request(key) {
    if (asked.has(key)) return;
    asked.add(key);
    pm.load(key).then(data => {
      asked.delete(key);
      if (stacked && data) grow(Number(key.slice(key.lastIndexOf("-") + 1)), stackTile(data).rows.length);
      redraw();
    }, error => { if (!pm.sent) failed(area, error); });
  }
  const levels = new Map();
  function grow(thread, n) {
    if (n <= (levels.get(thread) || 0)) return;
    levels.set(thread, n);
    layLanes(levels);
    inside.style.height = (rows + pins.length) * band + RULER + 4 + "px";
  }
  /* A step that is drawn already: one can go back to what was before. */
  function note_(change) {
    for (const [key, value] of Object.entries(change)) state[key] = value;
    if (address({}) !== location.hash) history.pushState(null, "", address({}));
  }
  function set(a, b) {
    const least = 2 ** -24, w = Math.max(least, Math.min(1, b - a));
    from = Math.max(0, Math.min(1 - w, a));
    to = from + w;
    redraw();
    clearTimeout(settled);
    settled = setTimeout(() => { if (box.contains(area)) note_({ from: from > 0 ? Math.round(timeOf(from)) : undefined, to: to < 1 ? Math.round(timeOf(to)) : undefined }); }, 200);
  }
  function move(factor, at) {
    const middle = from + (to - from) * at, w = (to - from) * factor;
    set(middle - w * at, middle + w * (1 - at));
  }
  const inArea = event => event.clientX - area.getBoundingClientRect().left;
  const partAt = event => (inArea(event) - LABELS) / (area.clientWidth - LABELS);
  function rowAt(event) {
    const y = event.clientY - area.getBoundingClientRect().top - RULER, pinned = pins.length * band + (pins.length ? 4 : 0);
    if (y < 0) return -1;
    const row = y < pins.length * band ? pins[Math.floor(y / band)] : Math.floor((y - pinned + area.scrollTop) / band);
    return row < rows ? row : -1;
  }
  area.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    move(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, partAt(event))));
  }, { passive: false });
  viewKeys = event => {
    const w = to - from, at = state.t === undefined ? null : Number(state.t);
    const moves = { ArrowLeft: [-0.25, 1], ArrowRight: [0.25, 1], "+": [0, 0.5], "-": [0, 2] }[event.key];
    if (!whole) return false;
    if (moves && moves[0]) set(from + moves[0] * w, to + moves[0] * w);
    else if (moves) move(moves[1], 0.5);
    else if (event.key === "Enter" && marks) zoomToMarks();
    else if (event.key === "w" && marks && !pm.sent) openWindow(marks.map(nsName).join("-"));
    else if (event.key === "[" && at !== null) mark([at, marks && marks[1] > at ? marks[1] : timeOf(to)]);
    else if (event.key === "]" && at !== null) mark([marks && marks[0] < at ? marks[0] : timeOf(from), at]);
    else if (event.key === "Escape" && (marks || state.t !== undefined)) { if (marks) mark(null); else closePath(); }
    else return false;
    return true;
  };
  area.addEventListener("mousedown", event => {
    if (event.button !== 0 || inArea(event) > area.clientWidth) return;
    area.focus({ preventScroll: true });
    tip(event);
    if (partAt(event) > 0) drag = { from: from + partAt(event) * (to - from), now: from + partAt(event) * (to - from), x: event.clientX };
    event.preventDefault();
  });
  area.addEventListener("mousemove", event => {
    const at = from + partAt(event) * (to - from);
    if (drag) { drag.now = Math.max(from, Math.min(to, at)); redraw(); return; }
    const row = rowAt(event), found = partAt(event) > 0 && row >= 0 && cellAt(row, at);
    area.style.cursor = partAt(event) > 0 ? "crosshair" : row >= 0 && one < 0 ? "pointer" : "";
    if (found && whole) tip(event, h("b", {}, found.name.slice(0, 1000)), facts([["thread", threadAt(row) ? threadAt(row).path : ""], ["at", exactTime(timeOf(at))]]));
    else if (partAt(event) <= 0 && row >= 0 && threadAt(row) && one < 0) tip(event, h("b", {}, threadAt(row).path), "click: its call path over time");
    else tip(event);
  });
  area.addEventListener("mouseleave", event => { tip(event); if (drag) { drag = null; redraw(); } });
  area.addEventListener("mouseup", event => {
    const row = rowAt(event), was = drag;
    drag = null;
    if (!was) {
      if (partAt(event) <= 0 && row >= 0 && one < 0 && numberAt(row) !== undefined) go({ thread: numberAt(row), row: undefined, t: undefined });
      return;
    }
    if (Math.abs(event.clientX - was.x) > 3) mark([timeOf(Math.min(was.from, was.now)), timeOf(Math.max(was.from, was.now))]);
    else if (row >= 0 && event.detail > 1 && state.t !== undefined) { /* the first click opened the call path, which moved the picture */
      const found = cellAt(row, partOf(Number(state.t)));
      if (found) set(found.from - (found.to - found.from) / 4, found.to + (found.to - found.from) / 4);
    } else if (row >= 0) {
      note_({ t: Math.round(timeOf(was.from)), row: one < 0 ? row : undefined });
      showPath();
      redraw();
    }
  });
  area.addEventListener("scroll", () => { timelineScroll = area.scrollTop; redraw(); }, { passive: true });
  /* What a row shows at a part of the time: the cell of the smallest tile that is there. */
  function cellAt(row, at) {
    const page = pageOf(row), tile = tilesOf(page).find(t => t.from <= at && at < t.to), ready = tile && readyTile(tile, page), runs = ready && ready.data.rows[within(row)];
    if (!runs) return null;
    const cellTime = (ready.to - ready.from) / TILE;
    for (let i = 1, cell = 0; i < runs.length; cell += runs[i + 1], i += 2) if (ready.from + (cell + runs[i + 1]) * cellTime > at)
      return runs[i] < 0 ? null : { context: ready.data.contexts[2 * runs[i]], name: ready.data.names[ready.data.contexts[2 * runs[i] + 1]][0], from: ready.from + cell * cellTime, to: ready.from + (cell + runs[i + 1]) * cellTime };
    return null;
  }
  /* The run whose events the calls are: its start.js, and the way to it. A page of a window or filter is inside of the run's directory. */
  async function runOf() {
    let at = "", run = await pm.load("start", "report/start.js", "start");
    for (let folders = location.pathname.split("/").slice(0, -1); (run.window || run.filtered) && /^(windows|focus|ignore|hide|from)$/.test(folders[folders.length - 2]); folders = folders.slice(0, -2)) {
      at += "../../";
      run = await pm.load("start", `${at}report/start.js`, `${at}start`);
    }
    return [run, at];
  }
  /* What the traced program said about a call: its row of raw/events.csv, as far as that is not far down. */
  async function toldBy(seq) {
    if (!(seq >= 0) || seq > 500000 || pm.sent) return null;
    const [run, at] = await runOf(), doc = run.documents.find(d => d[1] === "raw/events.csv");
    for (let chunk = doc ? Math.floor(seq / CHUNK) : -1; chunk >= 0; chunk--) { /* what is no event has no row */
      const name = `table-${doc[0]}-${chunk}`, data = await pm.load(name, `${at}report/${name}.js`, at + name), column = data ? data.columns.indexOf("args") : -1, row = column < 0 ? null : data.rows.find(r => r[0] === seq);
      if (column < 0 || data.rows.length && data.rows[0][0] <= seq && !row) return null;
      if (row) return row[column];
    }
    return null;
  }
  /* Of a call that was clicked, its arguments: a table, if they are JSON as it should be. */
  async function showArguments(seq, place) {
    const text = await toldBy(seq);
    if (!text || text === "{}") return;
    let named = null;
    try { named = JSON.parse(text); } catch { /* as it is */ }
    const told = value => typeof value === "string" && value ? value : JSON.stringify(value);
    place.append(h("h3", {}, "Arguments"), h("div", { class: "plainfacts", "data-args": seq }, named && typeof named === "object" ? facts(Object.entries(named).slice(0, 200).map(([key, value]) => [key.slice(0, 200), told(value).slice(0, 4000)])) : h("code", {}, text.slice(0, 4000))));
  }
  /* The context of a thread at a part of the time, which may be below the innermost function: a line of it. */
  async function sampleAt(thread, tile, at) {
    const { cells } = await pm.load(`stack-${2 ** tile.level + tile.i}-${thread}`);
    for (let i = 0, end = 0; i < cells.length; i += 4)
      if (tile.from + (end += cells[i + 1]) * (tile.to - tile.from) / TILE > at) return cells[i] < 0 ? null : { context: cells[i + 2], seq: cells[i + 3] };
    return null;
  }
  function closePath() {
    note_({ t: undefined, row: undefined });
    detail.hidden = true;
    split.classList.remove("with");
    redraw();
  }
  /* The call path at what was clicked, beside the picture. */
  async function showPath() {
    detail.hidden = state.t === undefined;
    split.classList.toggle("with", !detail.hidden);
    if (detail.hidden) return;
    const at = partOf(Number(state.t)), row = one < 0 ? Math.min(state.row || 0, rows - 1) : 0, tile = tilesOf(pageOf(row)).find(t => t.from <= at && at < t.to);
    if (!tile) { detail.replaceChildren(note("What was clicked is not in sight.")); return; }
    const shown = await pm.load(tile.key), n = stacked ? lanes[row][0] : shown.rows[within(row)][0], found = pm.sent && !stacked ? cellAt(row, at) : await sampleAt(n, tile, at), t = all && all[n], path = found ? await pm.load(`path-${found.context}`) : [];
    const more = h("section", {});
    if (found) showArguments(found.seq, more).catch(() => {});
    detail.replaceChildren(
      h("div", { class: "headline" }, h("h2", {}, h("span", { "data-time": state.t, "data-thread": t ? t.directory : "" }, exactTime(Number(state.t)))), h("button", { type: "button", title: "Close", "aria-label": "Close", onclick: closePath }, "×")),
      t ? h("p", { class: "links" }, h("span", { class: "where" }, t.path), one < 0 ? [" ", link({ thread: n, t: state.t, row: undefined }, "its call path over time"), " ", stacked ? "" : h("button", { type: "button", onclick: () => pin(row) }, pins.includes(row) ? "Unpin" : "Pin on top")] : "", " ", link({ view: "functions", thread: n }, "its functions")) : "",
      found ? h("ol", { class: "path" }, path.map(row => h("li", {}, h("span", { class: "fn" }, row[10] >= 0 ? swatch(row[11]) : h("span", { class: "swatch" }), link({ view: "tree", up: undefined, ctx: row[0], thread: -1 }, nameOf(row[2]))),
        h("span", { class: "soft" }, lineLink(row[12], row[6], row[7]), ...(row[10] >= 0 ? [" ", link({ view: "functions", fn: row[10], thread: -1 }, h("span", { title: "the function", "aria-label": "the function" }, "ƒ"))] : []))))) : note("Nothing ran there."), more);
  }
  function pin(row) {
    pins = pins.includes(row) ? pins.filter(p => p !== row) : [...pins, row].slice(-8);
    note_({ pins: pins.join(",") || undefined });
    showPath().catch(error => failed(detail, error));
    redraw();
  }
  /* One thread, or few that make calls, are seen with their call paths unless one wishes otherwise. */
  function chooseRows(data) {
    const paths = state.rows ? state.rows === "paths" : data.threads === 1 || start.calls && data.threads <= 8;
    const choice = h("select", { "aria-label": "Rows", onchange: () => go({ rows: choice.value, row: undefined, t: undefined, pins: undefined }, true) },
      h("option", { value: "threads" }, "threads"), h("option", { value: "paths", selected: paths }, "call paths"));
    rowsLabel.replaceChildren("Rows ", choice);
    rowsLabel.hidden = false;
    if (!paths) return;
    stacked = data.rows.map(row => row[0]);
    depthLabel.hidden = true;
    pins = [];
  }
  (async () => {
    const data = await pm.load(`time-1-0-${depth}`);
    if (!data || !data.threads) { area.replaceChildren(note("There are no samples.")); return; }
    whole = data;
    if (state.from !== undefined || state.to !== undefined) {
      from = Math.max(0, Math.min(1, state.from === undefined ? 0 : partOf(Number(state.from))));
      to = Math.max(from, Math.min(1, state.to === undefined ? 1 : partOf(Number(state.to))));
      if (!(to > from)) { from = 0; to = 1; }
    }
    const given = (state.marks || "").match(/^(-?\d+)-(-?\d+)$/);
    if (given) marks = [Number(given[1]), Number(given[2])];
    all = await allThreads();
    LABELS = Math.min(LABELS, Math.max(90, 16 + 6.7 * Math.max(...all.slice(0, 5000).map(t => t.told.length), ...start.counters.slice(0, 12).map(c => c[1].length))));
    rows = data.threads;
    if (one < 0 && rows <= FEW && (!pm.sent || data.rows.every(row => pm.sent.has(`stack-1-${row[0]}`)))) chooseRows(data);
    if (stacked) {
      await Promise.all(stacked.map(async thread => { const stack = await pm.load(`stack-1-${thread}`); if (stack) levels.set(thread, stackTile(stack).rows.length); }));
      layLanes(levels);
      if (!rows) { area.replaceChildren(note("This thread has no samples.")); return; }
    }
    band = Math.max(16, Math.min(stacked ? 28 : 48, Math.floor((area.clientHeight - RULER - 6) / rows)));
    inside.style.height = (rows + pins.length) * band + RULER + 4 + "px";
    area.append(inside);
    inside.append(layer);
    layer.style.height = area.clientHeight + "px";
    view = canvasIn(layer, draw);
    new ResizeObserver(() => { layer.style.height = area.clientHeight + "px"; }).observe(area);
    if (one < 0) area.scrollTop = timelineScroll;
    status(`${one < 0 ? many(data.threads, "thread") : all[one] ? all[one].path : ""}, ${exactTime(whole.end - whole.begin)}`);
    showMarks();
    redraw();
    if (start.counters.length) showCounters().catch(error => failed(counters, error));
    await showPath();
  })().catch(error => failed(area, error));
} });
