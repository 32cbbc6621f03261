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
  const g = group(), column = g.picture, ofThread = state.thread >= 0;
  const crumbs = h("nav", { class: "crumbs", "aria-label": "Call path" }), area = h("div", { class: "scroll flame", tabindex: "0", "aria-label": "Flame graph" });
  box.replaceChildren(h("div", { class: "column" }, crumbs, area));
  if (column < 0) { area.append(h("p", { class: "note" }, "This metric has no flame graph.")); return; }
  const root = ofThread ? 0 : state.node || 0;
  pm.load(ofThread ? `threadflame-${state.thread}-${column}` : `flame-${root}-${column}`).then(data => {
    if (!data || !data.boxes.length || !(data.boxes[3] > 0)) { area.replaceChildren(h("p", { class: "note" }, "There are no values to draw.")); return; }
    drawFlame(data, area, crumbs, ofThread);
  }, error => failed(area, error));
} });

function drawFlame(data, area, crumbs, ofThread) {
  const g = group(), boxes = boxesOf(data), height = 20, byDepth = [];
  for (const b of boxes) (byDepth[b.depth] ||= []).push(b);
  const inside = h("div", { style: { height: byDepth.length * height + "px", position: "relative" } });
  area.replaceChildren(inside);
  let zoomed = boxes[0], test = matcher(), hover = null;
  if (ofThread && state.node > 0) zoomed = boxes.find(b => b.node === state.node) || zoomed;
  const above = [...data.above, ...ancestors(zoomed).map(b => [b.node, b.name])];
  crumbs.replaceChildren(...above.flatMap(([node, name]) => [link({ view: "flame", node: node || undefined }, name.length > 60 ? name.slice(0, 59) + "…" : name), " › "]), h("b", {}, zoomed.name));
  const canvasBox = h("div", { style: { position: "absolute", inset: "0" } });
  inside.append(canvasBox);
  const at = b => (b.x - zoomed.x) / zoomed.total;
  const isIn = b => b.depth >= zoomed.depth ? b.x >= zoomed.x - 1e-9 * zoomed.total && b.x + b.total <= zoomed.x + zoomed.total * (1 + 1e-9) : b.x <= zoomed.x && b.x + b.total >= zoomed.x + zoomed.total * (1 - 1e-9);
  const view = canvasIn(canvasBox, (ctx, width) => {
    ctx.clearRect(0, 0, width, inside.clientHeight);
    ctx.font = "12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
    ctx.textBaseline = "middle";
    let matched = 0;
    for (const b of boxes) {
      if (!isIn(b)) continue;
      const x = b.depth < zoomed.depth ? 0 : at(b) * width, w = b.depth < zoomed.depth ? width : b.total / zoomed.total * width;
      if (w < 0.3) continue;
      const hit = test && test.test(b.name);
      if (hit && !ancestors(b).some(a => test.test(a.name))) matched += b.total;
      ctx.fillStyle = b.node === 0 ? colourOf("--line") : start.palette[b.colour];
      ctx.globalAlpha = test && !hit ? 0.3 : b === hover ? 0.75 : 1;
      ctx.fillRect(x, b.depth * height, Math.max(w - (w > 3 ? 1 : 0), 0.3), height - 1);
      ctx.globalAlpha = 1;
      if (w > 24) {
        ctx.fillStyle = b.node === 0 ? colourOf("--ink") : "#1b1917";
        const room = Math.floor((w - 8) / 7.25), text = b.name.length > room ? b.name.slice(0, Math.max(0, room - 1)) + "…" : b.name;
        if (room > 1) ctx.fillText(text, x + 4, b.depth * height + height / 2);
      }
    }
    status(test ? `matched ${amount(matched, g.unit)}, ${share(matched, zoomed.total)}` : `${g.label}: ${amount(zoomed.total, g.unit)}, ${share(zoomed.total, data.whole)} of all` + (boxes.some(b => b.cut) ? "; narrow boxes appear when you zoom" : ""));
  });
  const find = event => {
    const rect = view.canvas.getBoundingClientRect(), depth = Math.floor((event.clientY - rect.top) / height);
    const x = (event.clientX - rect.left) / rect.width * zoomed.total + zoomed.x;
    return (byDepth[depth] || []).find(b => isIn(b) && (depth < zoomed.depth || b.x <= x && x < b.x + b.total)) || null;
  };
  view.canvas.addEventListener("mousemove", event => {
    const b = find(event);
    if (b !== hover) { hover = b; view.draw(); }
    view.canvas.style.cursor = b ? "pointer" : "";
    if (b) tip(event, h("b", {}, b.name), facts([[g.label, amount(b.total, g.unit)], ["of all", share(b.total, data.whole)], ["own", amount(b.own, g.unit)]]));
    else tip(event);
  });
  view.canvas.addEventListener("mouseleave", event => { hover = null; tip(event); view.draw(); });
  view.canvas.addEventListener("click", event => {
    const b = find(event);
    tip(event);
    if (b) go({ node: b.node || undefined });
  });
  area.addEventListener("keydown", event => {
    const up = ancestors(zoomed).pop() || data.above.length && { node: data.above[data.above.length - 1][0] };
    if ((event.key === "Escape" || event.key === "ArrowUp") && up) { event.preventDefault(); go({ node: up.node || undefined }); }
    const below = byDepth[zoomed.depth + 1]?.filter(isIn).sort((a, b) => b.total - a.total)[0];
    if ((event.key === "Enter" || event.key === "ArrowDown") && below) { event.preventDefault(); go({ node: below.node }); }
  });
}

function ancestors(box) {
  const found = [];
  for (let b = box.parent; b; b = b.parent) found.unshift(b);
  return found;
}
