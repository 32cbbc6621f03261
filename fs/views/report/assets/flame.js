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
  const column = group().picture, around = state.fn >= 0, ofThread = state.thread >= 0 && !around, root = ofThread ? 0 : state.node || 0;
  const crumbs = h("nav", { class: "crumbs", "aria-label": "Call path" }), area = h("div", { class: "column" });
  box.replaceChildren(h("div", { class: "column" }, crumbs, area));
  if (column < 0) { area.append(h("p", { class: "note" }, "This metric has no flame graph.")); return; }
  const load = around ? `sandwich-${state.fn}-${column}` : ofThread ? `threadflame-${state.thread}-${column}` : `flame-${root}-${column}`;
  pm.load(load).then(data => {
    if (!data || !((around ? data.callees : data).boxes[3] > 0)) area.replaceChildren(h("p", { class: "note" }, "There are no values to draw."));
    else if (around) showSandwich(data, area, crumbs);
    else showFlame(data, area, crumbs, ofThread);
  }, error => failed(area, error));
} });

const shortName = name => name.length > 60 ? name.slice(0, 59) + "…" : name;

/* Zooming goes into the address: what was too narrow is loaded then. */
function showFlame(data, area, crumbs, ofThread) {
  const boxes = boxesOf(data), zoomed = ofThread && state.node > 0 && boxes.find(b => b.node === state.node) || boxes[0];
  const above = [...data.above, ...ancestors(zoomed).map(b => [b.node, b.name])];
  crumbs.replaceChildren(...above.flatMap(([node, name]) => [link({ view: "flame", node: node || undefined }, shortName(name)), " › "]), h("b", {}, zoomed.name));
  const scroll = h("div", { class: "scroll flame", tabindex: "0", role: "group", "aria-label": "Flame graph" });
  area.replaceChildren(scroll);
  drawFlame(boxes, scroll, { zoomed, whole: data.whole, zoom: b => go({ node: b.node || undefined }),
    out: () => { if (above.length) go({ node: above[above.length - 1][0] || undefined }); } });
}

/* A function between all that calls it and all that it calls. Zooming stays on the page. */
function showSandwich(data, area, crumbs) {
  const callers = boxesOf(data.callers), callees = boxesOf(data.callees);
  crumbs.replaceChildren(link({ view: "flame", fn: undefined }, "all"), " › ", h("b", {}, shortName(callees[0].name)), "  ", link({ view: "functions", fn: state.fn }, "as a table"));
  const scroll = h("div", { class: "scroll flame", tabindex: "0", role: "group", "aria-label": "Callers above, callees below" });
  area.replaceChildren(scroll);
  const half = (boxes, title, flip, zoomed) => {
    const part = h("div", { class: "half" });
    const again = b => part.replaceWith(half(boxes, title, flip, b));
    drawFlame(boxes, part, { zoomed, whole: data.whole, flip, zoom: again, out: () => { if (zoomed.parent) again(zoomed.parent); } });
    part.prepend(h("p", { class: "note" }, title));
    return part;
  };
  scroll.append(half(callers, callers.length > 1 ? "Callers" : "Callers: none", true, callers[0]), half(callees, callees.length > 1 ? "Callees" : "Callees: none", false, callees[0]));
}

/* `flip`: callers above a function, which is at the bottom. `zoom(box)` and `out()` show another part. */
function drawFlame(boxes, area, { zoomed, whole, zoom, out, flip }) {
  const g = group(), height = 20, byDepth = [];
  for (const b of boxes) (byDepth[b.depth] ||= []).push(b);
  const inside = h("div", { style: { height: byDepth.length * height + "px", position: "relative" } });
  area.replaceChildren(inside);
  let hover = null;
  const test = matcher();
  const canvasBox = h("div", { style: { position: "absolute", inset: "0" } });
  inside.append(canvasBox);
  const level = depth => flip ? byDepth.length - 1 - depth : depth;
  const at = b => (b.x - zoomed.x) / zoomed.total;
  const isIn = b => b.depth >= zoomed.depth ? b.x >= zoomed.x - 1e-9 * zoomed.total && b.x + b.total <= zoomed.x + zoomed.total * (1 + 1e-9) : b.x <= zoomed.x && b.x + b.total >= zoomed.x + zoomed.total * (1 - 1e-9);
  const view = canvasIn(canvasBox, (ctx, width) => {
    ctx.clearRect(0, 0, width, inside.clientHeight);
    ctx.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
    ctx.textBaseline = "middle";
    let matched = 0;
    for (const b of boxes) {
      if (!isIn(b)) continue;
      const x = b.depth < zoomed.depth ? 0 : at(b) * width, w = b.depth < zoomed.depth ? width : b.total / zoomed.total * width, y = level(b.depth) * height;
      if (w < 0.3) continue;
      const hit = test && test.test(b.name);
      if (hit && !ancestors(b).some(a => test.test(a.name))) matched += b.total;
      const isAll = b.node === 0 && b.name === "all";
      ctx.fillStyle = isAll ? colourOf("--line") : start.palette[b.colour];
      ctx.globalAlpha = test && !hit ? 0.3 : b === hover ? 0.75 : 1;
      ctx.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), 0.3), height - 1);
      ctx.globalAlpha = 1;
      if (w > 24) {
        ctx.fillStyle = isAll ? colourOf("--ink") : "#1b1917";
        const room = Math.floor((w - 8) / 7.25), text = b.name.length > room ? b.name.slice(0, Math.max(0, room - 1)) + "…" : b.name;
        if (room > 1) ctx.fillText(text, x + 4, y + height / 2);
      }
    }
    status(test ? `matched ${amount(matched, g.unit)}, ${share(matched, zoomed.total)}` : `${g.label}: ${amount(zoomed.total, g.unit)}, ${share(zoomed.total, whole)} of all` + (boxes.some(b => b.cut) ? "; narrow boxes appear when you zoom" : ""));
  });
  const find = event => {
    const rect = view.canvas.getBoundingClientRect(), depth = level(Math.floor((event.clientY - rect.top) / height));
    const x = (event.clientX - rect.left) / rect.width * zoomed.total + zoomed.x;
    return (byDepth[depth] || []).find(b => isIn(b) && (depth < zoomed.depth || b.x <= x && x < b.x + b.total)) || null;
  };
  view.canvas.addEventListener("mousemove", event => {
    const b = find(event);
    if (b !== hover) { hover = b; view.draw(); }
    view.canvas.style.cursor = b ? "pointer" : "";
    if (b) tip(event, h("b", {}, b.name), facts([[g.label, amount(b.total, g.unit)], ["of all", share(b.total, whole)], flip ? null : ["own", amount(b.own, g.unit)]]));
    else tip(event);
  });
  view.canvas.addEventListener("mouseleave", event => { hover = null; tip(event); view.draw(); });
  view.canvas.addEventListener("click", event => {
    const b = find(event);
    tip(event);
    if (b) zoom(b);
  });
  area.addEventListener("keydown", event => {
    if (event.key === "Escape" || event.key === "ArrowUp") { event.preventDefault(); out(); }
    const below = byDepth[zoomed.depth + 1]?.filter(isIn).sort((a, b) => b.total - a.total)[0];
    if ((event.key === "Enter" || event.key === "ArrowDown") && below) { event.preventDefault(); zoom(below); }
  });
}

function ancestors(box) {
  const found = [];
  for (let b = box.parent; b; b = b.parent) found.unshift(b);
  return found;
}
