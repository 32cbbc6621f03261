/* ---- flame graph: callers on top, width is cost; zooming loads what was too narrow before ---- */

/* Boxes of flame-NODE-COLUMN.js with their places: x and width are parts of the root's cost. */
function boxesOf(data) {
  const boxes = [], path = [], next = [];
  for (let i = 0; i < data.boxes.length; i += 6) {
    const [node, depth, name, total, own, cut] = data.boxes.slice(i, i + 6);
    path.length = depth;
    const parent = path[depth - 1], x = parent ? next[depth - 1] : 0;
    const box = { node, depth, name: data.names[name][0], colour: data.names[name][1], total, own, cut, x, parent };
    if (parent) next[depth - 1] = x + total;
    next[depth] = x;
    path[depth] = box;
    boxes.push(box);
  }
  return boxes;
}

views.push({ id: "flame", title: "Flame graph", shown: () => groups.some(g => g.whole > 0), show(box) {
  const i = group().picture, around = state.fn >= 0, ofThread = state.thread >= 0 && !around, root = ofThread ? 0 : state.node || 0;
  const crumbs = h("nav", { class: "crumbs", "aria-label": "Call path" }), area = h("div", { class: "column" }), found = h("div", { class: "found", hidden: true });
  box.replaceChildren(h("div", { class: "column" }, crumbs, found, area));
  if (i < 0) { area.append(note("This metric has no flame graph.")); return; }
  const load = around ? `sandwich-${state.fn}-${i}` : ofThread ? `threadflame-${state.thread}-${i}` : `flame-${root}-${i}`;
  pm.load(load).then(data => {
    if (!data || !((around ? data.callees : data).boxes[3] > 0)) area.replaceChildren(note("There are no values to draw."));
    else if (around) showSandwich(data, area, crumbs);
    else showFlame(data, area, crumbs, ofThread);
  }).catch(error => failed(area, error));
  if (state.search && !ofThread) showMatches(found).catch(error => failed(found, error));
} });

/* What the functions that match cost: by functions.csv, however much of them the picture shows. */
async function showMatches(box) {
  const g = group(), test = matcher();
  box.hidden = false;
  box.textContent = "Searching …";
  const found = sorted(await matching(test), { key: g.main }, true);
  const told = f => h("span", { class: "match" }, h("span", { class: "fn" }, swatch(f.colour), functionLink(f)), f.cells[g.main] === null ? "" : [number(amount(tidy(f.cells[g.main], g.whole), g.unit), functionCell(f, g.main)), " ",
    f.nothing ? "" : h("span", { class: "soft", "data-share": functionCell(f, g.main), "data-whole": g.whole }, share(tidy(f.cells[g.main], g.whole), g.whole))]);
  box.replaceChildren(...found.slice(0, 4).map(told), h("span", { class: "soft" }, found.length > 4 ? link({ view: "functions" }, `all ${count(found.length)} functions that match`) : found.length ? `${g.all >= 0 ? "with callees, " : ""}${OF()}` : "No function matches."));
}

/* Zooming goes into the address: what was too narrow is loaded then. */
function showFlame(data, area, crumbs, ofThread) {
  const g = group(), boxes = boxesOf(data), zoomed = ofThread && state.node > 0 && boxes.find(b => b.node === state.node) || boxes[0];
  const above = [...data.above, ...ancestors(zoomed).map(b => [b.node, b.name])];
  crumbs.replaceChildren(...above.flatMap(([node, name]) => [link({ view: "flame", node: node || undefined }, fit(name, 400)), " › "]), h("b", {}, fit(zoomed.name, 700)),
    zoomed.node ? h("span", {}, "  ", link({ view: "functions", search: zoomed.name }, "as a function")) : "");
  const scroll = h("div", { class: "scroll flame", tabindex: "0", role: "group", "aria-label": "Flame graph" });
  area.replaceChildren(scroll);
  const keys = drawFlame(boxes, scroll, { zoomed, whole: g.whole, of: OF(), zoom: b => go({ node: b.node || undefined }),
    out: () => { if (above.length) go({ node: above[above.length - 1][0] || undefined }); } });
  viewKeys = keys;
}

/* A function between all that calls it and all that it calls. Zooming stays on the page. */
function showSandwich(data, area, crumbs) {
  const callers = boxesOf(data.callers), callees = boxesOf(data.callees);
  crumbs.replaceChildren(link({ view: "flame", fn: undefined }, "all"), " › ", h("b", {}, fit(callees[0].name, 500)), "  ", link({ view: "functions", fn: state.fn }, "as a table"));
  const scroll = h("div", { class: "scroll flame", tabindex: "0", role: "group", "aria-label": "Callers above, callees below" });
  area.replaceChildren(scroll);
  const half = (boxes, title, flip, zoomed) => {
    const part = h("div", { class: "half" });
    const again = b => part.replaceWith(half(boxes, title, flip, b));
    const keys = drawFlame(boxes, part, { zoomed, whole: group().whole, of: OF(), flip, zoom: again, out: () => { if (zoomed.parent) again(zoomed.parent); } });
    if (!flip) viewKeys = keys;
    part.prepend(note(title));
    return part;
  };
  scroll.append(half(callers, callers.length > 1 ? "Callers" : "Callers: none", true, callers[0]), half(callees, callees.length > 1 ? "Callees" : "Callees: none", false, callees[0]));
}

/*
 * `flip`: callers above a function, which is at the bottom. `zoom(box)` and `out()` show another part. Returns the keys.
 * Boxes are as tall as there is room.
 */
function drawFlame(boxes, area, { zoomed, whole, of, zoom, out, flip }) {
  const g = group(), byDepth = [];
  for (const b of boxes) (byDepth[b.depth] ||= []).push(b);
  const room = area.clientHeight || part("main").clientHeight - 90, height = flip !== undefined ? 20 : Math.max(20, Math.min(30, Math.floor(room / byDepth.length)));
  const inside = h("div", { style: { height: byDepth.length * height + "px", position: "relative" } });
  area.replaceChildren(inside);
  let hover = null;
  const test = matcher();
  const canvasBox = h("div", { style: { position: "absolute", inset: "0" } });
  inside.append(canvasBox);
  const level = depth => flip ? byDepth.length - 1 - depth : depth;
  const at = b => (b.x - zoomed.x) / zoomed.total;
  const isIn = b => b.depth >= zoomed.depth ? b.x >= zoomed.x - 1e-9 * zoomed.total && b.x + b.total <= zoomed.x + zoomed.total * (1 + 1e-9) : b.x <= zoomed.x && b.x + b.total >= zoomed.x + zoomed.total * (1 - 1e-9);
  const told = `${g.label}: ${amount(zoomed.total, g.unit)}, ${share(zoomed.total, whole)} ${of}` + (boxes.some(b => b.cut) ? "; narrow boxes appear when you zoom" : "");
  const view = canvasIn(canvasBox, (ctx, width) => {
    ctx.clearRect(0, 0, width, inside.clientHeight);
    ctx.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
    ctx.textBaseline = "middle";
    const lineColour = colourOf("--line"), ink = colourOf("--ink");
    for (const b of boxes) {
      if (!isIn(b)) continue;
      const x = b.depth < zoomed.depth ? 0 : at(b) * width, w = b.depth < zoomed.depth ? width : b.total / zoomed.total * width, y = level(b.depth) * height;
      if (w < 0.3) continue;
      const hit = test && test.test(b.name);
      const isAll = b.node === 0 && b.name === "all";
      ctx.fillStyle = isAll ? lineColour : start.palette[b.colour];
      ctx.globalAlpha = test && !hit ? 0.3 : b === hover ? 0.75 : 1;
      ctx.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.3), height - 1);
      ctx.globalAlpha = 1;
      const text = w > 24 ? fit(b.name, w - 8) : "";
      if (text) {
        ctx.fillStyle = isAll || test && !hit ? ink : "#1b1917";
        ctx.fillText(text, x + 4, y + height / 2);
      }
    }
  });
  status(told);
  const find = event => {
    const rect = view.canvas.getBoundingClientRect(), depth = level(Math.floor((event.clientY - rect.top) / height));
    const x = (event.clientX - rect.left) / rect.width * zoomed.total + zoomed.x;
    return (byDepth[depth] || []).find(b => isIn(b) && (depth < zoomed.depth || b.x <= x && x < b.x + b.total)) || null;
  };
  view.canvas.addEventListener("mousemove", event => {
    const b = find(event);
    if (b !== hover) { hover = b; view.draw(); }
    view.canvas.style.cursor = b ? "pointer" : "";
    if (b) tip(event, h("b", {}, b.name.slice(0, 1000)), facts([[g.label, amount(b.total, g.unit)], [of, share(b.total, whole)], flip ? null : ["own", amount(tidy(b.own, whole), g.unit)]]));
    else tip(event);
  });
  view.canvas.addEventListener("mouseleave", event => { hover = null; tip(event); view.draw(); });
  view.canvas.addEventListener("click", event => {
    const b = find(event);
    tip(event);
    if (b) zoom(b);
  });
  return event => {
    const below = byDepth[zoomed.depth + 1]?.filter(isIn).sort((a, b) => b.total - a.total)[0];
    if (event.key === "Escape" || event.key === "ArrowUp") { out(); return true; }
    if ((event.key === "Enter" || event.key === "ArrowDown") && below) { zoom(below); return true; }
    return false;
  };
}

function ancestors(box) {
  const found = [];
  for (let b = box.parent; b; b = b.parent) found.unshift(b);
  return found;
}
