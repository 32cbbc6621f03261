/* ---- the page around the views ---- */

function status(text) { part("status").textContent = text; }

const ORDER = ["overview", "flame", "tree", "functions", "source", "timeline", "threads", "gpu", "traces", "counters", "tables"];
const shownViews = () => views.filter(view => view.shown()).sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));

function showControls() {
  const metric = part("metric"), usable = groups.map((g, i) => [g, i]).filter(([g, i]) => g.whole > 0 || i === state.metric);
  metric.replaceChildren(...usable.map(([g, i]) => h("option", { value: i, selected: i === state.metric }, g.label)));
  metric.parentElement.hidden = usable.length === 0;
  part("threadlabel").hidden = start.threads < 2 || pm.sent || !["functions", "flame", "timeline"].includes(state.view);
  const search = part("search");
  search.parentElement.hidden = state.view === "overview" && isTree();
  if (document.activeElement !== search) search.value = state.search || "";
  part("views").replaceChildren(...shownViews().map(view => {
    const item = link({ view: view.id }, view.title);
    if (view.id === state.view) item.setAttribute("aria-current", "page");
    return item;
  }));
  const chip = part("window");
  chip.hidden = !state.win;
  if (state.win) chip.replaceChildren("Only ", h("b", {}, state.win.replace("-", " – ")), " ", h("button", { type: "button", "aria-label": "The whole run", title: "The whole run", onclick: () => go({ win: undefined }) }, "×"));
}

/* Filters are directories of the mount: a page that was sent has none, nor have costs of call edges. */
function showFilters() {
  const filters = (state.filter || "").split("/").filter(Boolean), chips = [];
  for (let i = 0; i + 1 < filters.length; i += 2)
    chips.push(h("span", { class: "chip" }, filters[i] + " ", h("b", {}, filters[i + 1]), " ",
      h("button", { type: "button", "aria-label": "Remove the filter", title: "Remove the filter", onclick: () => go({ filter: filters.toSpliced(i, 2).join("/") }) }, "×")));
  part("filters").replaceChildren(...chips);
  part("filterlabel").hidden = Boolean(pm.sent) || !start || !isTree() || start.contexts_are === "edges";
}

async function fillThreads() {
  const select = part("thread");
  if (start.threads < 2 || select.dataset.of === base()) return;
  select.dataset.of = base();
  const threads = start.threads <= 5000 ? await allThreads() : [];
  select.replaceChildren(h("option", { value: -1 }, "all"), ...threads.map(t => h("option", { value: t.number }, t.path)));
}

/* What a page that was sent has: whole chunks of functions, and some of the tables. */
function onlySent() {
  let chunks = 0;
  while (pm.sent.has(`functions-${chunks}-0`)) chunks++;
  start.functions = Math.min(start.functions, chunks * CHUNK);
  start.documents = start.documents.filter(([n]) => pm.sent.get(`table-${n}-0`));
  start.counters = start.counters.filter(([n]) => pm.sent.has(`plot-${n}`));
  start.lines = start.lines && pm.sent.has("sources");
}

let shows = 0;
async function show() {
  const mine = ++shows;
  readHash();
  showFilters();
  try {
    const next = await pm.load("start");
    if (mine !== shows) return;
    start = next;
  } catch (error) {
    failed(part("main"), error);
    return;
  }
  if (pm.sent) onlySent();
  readGroups();
  readState();
  showControls();
  showFilters();
  tip({});
  status("");
  viewKeys = null;
  if (!part("threadlabel").hidden) fillThreads().then(() => { part("thread").value = state.thread; }, () => {});
  const title = start.title + (start.base ? ` against ${start.base}` : "");
  part("title").textContent = title;
  part("facts").replaceChildren(`${start.format} ·`, pathOf(start.source));
  document.title = `${title} – ${views.find(v => v.id === state.view).title}`;
  views.find(view => view.id === state.view).show(part("main"));
}

function help() {
  const box = part("help");
  box.replaceChildren(h("h2", {}, "Keys"), facts([["/", "search: what is typed, literally; a regular expression between slashes"], ["1 – 9", "views"], ["Enter, ↓", "flame graph: into the widest box"], ["Esc, ↑", "flame graph: out"],
    ["← → + −", "timeline: move and zoom"], ["Enter, w", "timeline: into the marks; everything of their time"], ["[ ]", "timeline: begin and end of the marks at what was clicked"], ["Esc", "timeline: remove the marks"], ["Backspace", "back"]]),
    h("form", { method: "dialog" }, h("button", {}, "Close")));
  box.showModal();
}

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || part("help").open) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); part("search").focus(); }
  else if (event.key === "Escape" && typing) event.target.blur();
  else if (typing) return;
  else if (event.key === "?") help();
  else if (event.key === "Backspace") history.back();
  else if (/^[1-9]$/.test(event.key)) part("views").children[event.key - 1]?.click();
  else if (viewKeys && !(event.key === "Enter" && event.target.closest("a, button, summary")) && viewKeys(event)) event.preventDefault();
});

/* Names are copied whole, on one line; rows of tables with tabs between their cells. */
document.addEventListener("copy", event => {
  const selection = getSelection();
  if (!selection.rangeCount || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
  const range = selection.getRangeAt(0), taken = range.cloneContents(), around = range.commonAncestorContainer, rows = [...taken.querySelectorAll("tr:not(.space)")];
  const textOf = node => [...(node.querySelector(".cost") || node).childNodes].map(child => child.textContent.trim()).filter(Boolean).join(node.querySelector(".name") ? "" : " ");
  const text = rows.length ? rows.map(row => [...row.cells].map(textOf).join("\t")).join("\n") : taken.querySelector(".name") || (around.closest ? around : around.parentElement)?.closest(".name") ? taken.textContent : selection.toString();
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
});

let typed = 0;
part("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => go({ search: part("search").value }, true), 150);
});
part("metric").addEventListener("change", () => go({ metric: Number(part("metric").value), node: undefined, sort: undefined }));
part("filter").addEventListener("keydown", event => {
  const box = part("filter"), pattern = box.value.trim().replaceAll("/", "\u2215");
  if (event.key !== "Enter" || !pattern) return;
  box.value = "";
  go({ filter: [state.filter, `${part("filterkind").value}/${pattern}`].filter(Boolean).join("/") });
});
part("thread").addEventListener("change", () => go({ thread: Number(part("thread").value), node: undefined }));
addEventListener("hashchange", show);

/* What the page itself is of comes first: a window's has other windows beside it. */
{
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.get("view") === "source" && !asked.has("win")) pm.load("sources").catch(() => {});
}
pm.load("start").then(data => {
  if (data.window) windowsAt = "../";
  return show();
}).catch(error => failed(part("main"), error));
