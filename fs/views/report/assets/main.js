/* ---- the page around the views ---- */

function status(text) { part("status").textContent = text; }

function shownViews() { return views.filter(view => view.shown()); }

function showControls() {
  const metric = part("metric"), usable = groups.map((g, i) => [g, i]).filter(([g, i]) => g.whole > 0 || i === state.metric);
  metric.replaceChildren(...usable.map(([g, i]) => h("option", { value: i, selected: i === state.metric }, g.label)));
  metric.parentElement.hidden = usable.length === 0;
  part("threadlabel").hidden = start.threads < 2 || !["functions", "flame"].includes(state.view);
  const search = part("search");
  if (document.activeElement !== search) search.value = state.search || "";
  const order = ["overview", "flame", "tree", "functions", "source", "timeline", "threads", "traces", "counters", "tables"];
  const shown = shownViews().sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  part("views").replaceChildren(...shown.map(view => {
    const item = link({ view: view.id }, view.title);
    if (view.id === state.view) item.setAttribute("aria-current", "page");
    return item;
  }));
}

async function fillThreads() {
  const select = part("thread");
  if (start.threads < 2 || select.options.length) return;
  select.append(h("option", { value: -1 }, "all"));
  const threads = start.threads <= 5000 ? await allThreads() : [];
  select.append(...threads.map(t => h("option", { value: t.number }, t.path)));
  select.value = state.thread;
}

function show() {
  readAddress();
  showControls();
  tip({});
  if (!part("threadlabel").hidden) fillThreads().then(() => { part("thread").value = state.thread; }, () => {});
  document.title = `${start.title} – ${views.find(v => v.id === state.view).title}`;
  views.find(view => view.id === state.view).show(part("main"));
}

function help() {
  const box = part("help");
  box.replaceChildren(h("h2", {}, "Keys"), facts([["/", "search"], ["1 – 9", "views"], ["Enter, ↓", "flame graph: into the widest box"], ["Esc, ↑", "flame graph: out"], ["← → + −", "timeline: move and zoom"], ["Backspace", "back"]]),
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  box.showModal();
}

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); part("search").focus(); }
  else if (event.key === "Escape" && typing) event.target.blur();
  else if (event.key === "?" && !typing) help();
  else if (event.key === "Backspace" && !typing) history.back();
  else if (/^[1-9]$/.test(event.key) && !typing) part("views").children[event.key - 1]?.click();
});

let typed = 0;
part("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => go({ search: part("search").value }, true), 150);
});
part("metric").addEventListener("change", () => go({ metric: Number(part("metric").value), node: undefined }));
part("thread").addEventListener("change", () => go({ thread: Number(part("thread").value), node: undefined }));
addEventListener("hashchange", show);

pm.load("start").then(data => {
  start = data;
  readGroups();
  part("title").textContent = start.title;
  part("facts").textContent = `${start.format} · ${start.source}`;
  show();
}, error => failed(part("main"), error));
