// Opens report.html in a browser, goes through views, metrics, threads and widths, and prints what numbers are on screen and
// which cells of the mount's tables they claim to be: node law.mjs BROWSER(chrome|firefox) PROGRAM URL
// A line of JSON: {cells: [[text, cell]], shares: [[text, cell, whole]], …, strays: [texts with digits that claim nothing]}
import puppeteer from "puppeteer-core";

const [browserName, executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ timeout: 0, browser: browserName, executablePath, headless: true,
  args: browserName === "chrome" ? ["--no-sandbox", "--disable-gpu"] : [] });
const page = await browser.newPage();
page.setDefaultTimeout(0); // whoever starts this script limits it
const errors = [];
page.on("pageerror", error => errors.push(String(error)));
const found = { cells: new Set(), shares: new Set(), totals: new Set(), rows: new Set(), args: new Set(), times: new Set(), strays: new Set() };

async function look(where) {
  await page.evaluate(async () => {
    for (let quiet = 0, tries = 0; quiet < 2 && tries < 2000; tries++) {
      await new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)));
      quiet = document.body.classList.contains("busy") ? 0 : quiet + 1;
    }
  });
  const shown = await page.evaluate(() => {
    const main = document.getElementById("main"), all = (name, read) => [...main.querySelectorAll(`[${name}]`)].map(read);
    const free = "[data-cell], [data-share], [data-total], [data-rows], [data-duration], [data-time], .name, .where, code, h2, h3, select, .tools, .crumbs, .facts th, th, .plainfacts, .found .soft, .chip, .legend, iframe";
    const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), strays = [];
    for (let node = walk.nextNode(); node; node = walk.nextNode())
      if (/\d/.test(node.data) && !node.parentElement.closest(free)) strays.push(node.data.trim());
    // Of a name that is too long, a part is only cut when nothing is left of those that tell less.
    const wide = e => { const text = document.createRange(); text.selectNodeContents(e); return text.getBoundingClientRect().width; };
    const early = [...main.querySelectorAll(".name")].filter(name => {
      const parts = ["rest", "head", "mid", "tail"].map(kind => name.querySelector("." + kind)).filter(Boolean), room = parts.map(e => e.getBoundingClientRect().width);
      return parts.some((e, i) => wide(e) > room[i] + 0.02 && room.slice(0, i).some(left => left > 1));
    }).map(name => `${name.title || name.textContent} is cut too early`);
    return {
      cells: all("data-cell", e => [e.textContent, e.dataset.cell]), shares: all("data-share", e => [e.textContent, e.dataset.share, Number(e.dataset.whole)]),
      totals: all("data-total", e => [e.textContent, e.dataset.total, Number(e.dataset.whole)]), rows: all("data-rows", e => [e.textContent, e.dataset.rows]),
      args: all("data-args", e => [e.dataset.args, [...e.querySelectorAll("tr")].map(r => [r.cells[0].textContent, r.cells[1].textContent])]),
      times: all("data-time", e => [Number(e.dataset.time), e.dataset.thread, [...main.querySelectorAll(".path .name")].map(n => n.textContent)]),
      alerts: [...main.querySelectorAll("[role=alert]")].map(e => e.textContent).concat(early), strays };
  });
  for (const alert of shown.alerts) errors.push(`${where}: ${alert}`);
  for (const stray of shown.strays) found.strays.add(JSON.stringify([where, stray]));
  for (const kind of ["cells", "shares", "totals", "rows", "args", "times"]) for (const claim of shown[kind]) found[kind].add(JSON.stringify(claim));
}

async function visit(hash) {
  await page.evaluate(to => { history.replaceState(null, "", "#" + to); return show(); }, hash);
  await look(hash);
}

// Clicks in the first row of the timeline, at parts of what is in sight.
async function clicks(parts) {
  await look("timeline");
  const box = await page.evaluate(() => { const r = document.querySelector("#main canvas").getBoundingClientRect(); return [r.x, r.y, r.width]; });
  for (const part of parts) {
    await page.mouse.click(box[0] + 190 + (box[2] - 190) * part * 0.7, box[1] + 30);
    await look("a click in the timeline");
  }
  return box;
}

await page.setViewport({ width: 1024, height: 768 });
await page.goto(url);
await look("");
const { ids, metrics, threads, search, trace } = await page.evaluate(async () => ({ ids: shownViews().map(v => v.id), metrics: groups.filter(g => g.whole > 0).map(g => g.name), threads: start.threads,
  search: start.functions ? (await functionAt(Math.min(3, start.functions - 1))).name : "", trace: start.trace }));
const of = view => metrics.slice(1, 5).map(metric => `view=${view}&metric=${encodeURIComponent(metric)}`);
const once = ["view=functions&fn=0", "view=functions&fn=1", "view=tree&up=1&fn=0", "view=tree&up=1", "view=flame&fn=0", `view=flame&search=${encodeURIComponent(search)}`, `view=functions&search=${encodeURIComponent(search)}`];
for (const [width, height] of [[1024, 768], [1600, 1000], [2560, 1440]]) {
  await page.setViewport({ width, height });
  for (const id of ids) await visit("view=" + id);
  if (metrics.length) for (const hash of once.slice(width === 1024 ? 0 : 5)) await visit(hash);
}
for (const view of ["overview", "functions", "tree", "source", "threads"].filter(id => ids.includes(id))) for (const hash of of(view)) await visit(hash);
for (const metric of metrics.slice(1, 3)) await visit(`view=tree&up=1&metric=${encodeURIComponent(metric)}`);
const chosen = threads > 1 ? [...new Set([0, threads >> 1, threads - 1])] : [];
for (const thread of chosen) for (const view of ["functions", "flame"]) await visit(`view=${view}&thread=${thread}`);
if (chosen.length && metrics[1]) await visit(`view=functions&thread=0&metric=${encodeURIComponent(metrics[1])}`);
if (threads > 1 && metrics.length) for (const hash of ["view=threads&fn=0", "view=threads&ctx=0"]) await visit(hash);
const tables = await page.evaluate(() => documentsOf(/^[^/]+\.csv$/).map(([n]) => n));
for (const n of tables) await visit(`view=tables&doc=${n}`);
// What is opened in the tree; what is clicked in the timeline; everything of the time that is dragged over.
if (ids.includes("tree")) {
  await visit("view=tree");
  await page.evaluate(() => [...document.querySelectorAll("#main .tools button")].forEach(b => b.click()));
  await look("the hot path");
}
let inWindow = 0, own = 0; // calls whose arguments were seen in a window: on the page of the run, and on its own
if (trace) for (const rows of ["threads", "paths"]) {
  await visit("view=timeline&rows=" + rows);
  const box = await clicks([0.12, 0.3, 0.55, 0.8]);
  if (rows === "paths") break;
  await visit("view=timeline");
  await page.mouse.move(box[0] + 190 + (box[2] - 190) * 0.2, box[1] + 30);
  await page.mouse.down();
  await page.mouse.move(box[0] + 190 + (box[2] - 190) * 0.6, box[1] + 34, { steps: 3 });
  await page.mouse.up();
  await look("marks");
  await page.keyboard.press("w");
  await look("a window");
  const win = await page.evaluate(() => state.win);
  if (!win) errors.push("w opens no window");
  for (const view of await page.evaluate(() => shownViews().map(v => v.id))) await visit(`view=${view}&win=${win}`);
  const kept = { ...found };
  found.args = new Set();
  await visit(`view=timeline&win=${win}`);
  await clicks([0.2, 0.5]);
  inWindow = found.args.size;
  // The window's own page: of its numbers, those that are the run's, what was said about a call.
  const args = [...kept.args, ...found.args];
  for (const kind of Object.keys(found)) found[kind] = new Set();
  await page.goto(new URL(`windows/${win}/report.html#view=timeline`, url).href);
  await clicks([0.2, 0.5]);
  own = found.args.size;
  Object.assign(found, kept, { args: new Set([...args, ...found.args]) });
  await page.goto(url);
}
// Operations of GPUs lead to the timeline.
if (ids.includes("gpu") && trace) for (const op of ["", "launches", "gaps"]) {
  await visit(`view=gpu&op=${op}`);
  const live = await page.$("#main tr.live");
  if (!live) continue;
  await page.evaluate(() => document.querySelector("#main tr.live td:last-child").click());
  await look("an operation in the timeline");
  if (await page.evaluate(() => state.view) !== "timeline") errors.push(`a row of ${op || "operations"} leads nowhere`);
}
const out = Object.fromEntries(Object.entries(found).map(([kind, set]) => [kind, [...set].map(text => JSON.parse(text))]));
console.log(JSON.stringify({ ...out, inWindow, own, errors }));
await browser.close();
