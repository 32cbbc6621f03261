// How long report.html lets its reader wait, in Chromium: node browser.mjs PROGRAM FOLDER
// Prints a line of JSON: seconds and bytes to the first view, seconds of each action, private memory of the tab after a
// walk through all views.
import fs from "node:fs";
import { createRequire } from "node:module";

const puppeteer = createRequire(new URL("../clients/", import.meta.url))("puppeteer-core");
const [executablePath, folder] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, headless: true, protocolTimeout: 600000,
  args: ["--no-sandbox", "--disable-gpu", "--window-size=1600,1000"], defaultViewport: { width: 1600, height: 1000 } });
const page = await browser.newPage();
const errors = [];
const loaded = [];
page.on("pageerror", error => errors.push(String(error)));
page.on("request", request => loaded.push(request.url()));

// Does something in the page; the time until a frame was drawn with nothing still being loaded.
const waited = (act, ...given) => page.evaluate(async (source, given) => {
  const frame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  const begin = performance.now();
  new Function(`return (${source})(...arguments[0])`)(given);
  do await frame(); while (document.body.classList.contains("busy"));
  await frame();
  return (performance.now() - begin) / 1e3;
}, act.toString(), given);

await page.goto("about:blank");
const clicked = Date.now();
await page.goto(`file://${folder}/report.html`, { waitUntil: "domcontentloaded" });
// When something stands in the view, and not only in its frame.
const firstView = await page.evaluate(async () => {
  while (!document.getElementById("main").children.length) await new Promise(requestAnimationFrame);
  await new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.timeOrigin + performance.now();
}) - clicked;
const before = loaded.length;
await waited(() => {});
const whole = Date.now() - clicked;
const sizeOf = url => fs.statSync(decodeURIComponent(new URL(url).pathname)).size;
const bytes = loaded.slice(0, before).filter(url => url.startsWith("file:")).reduce((sum, url) => sum + sizeOf(url), 0);

const hash = view => waited(to => { location.hash = to; }, "view=" + view);
const press = key => waited(k => {
  const target = document.querySelector("#main .scroll") || document.body;
  target.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
}, key);
const actions = {};
const ids = await page.evaluate(() => [...document.querySelectorAll("#views a")].map(a => new URLSearchParams(a.hash.slice(1)).get("view")));
for (const id of ids) actions[`view ${id}, first time`] = await hash(id);
for (const id of ids) actions[`view ${id}, again`] = await hash(id);
await hash("functions");
actions["sort functions"] = await waited(() => document.querySelector("th button:not([aria-sort])").click());
// What is typed is searched for after 150 ms, in which more may be typed.
actions["search functions"] = await waited(() => { state.search = "1"; go({}, true); });
await waited(() => { go({ search: "" }, true); });
if (ids.includes("flame")) {
  await hash("flame");
  actions["zoom flame graph"] = await press("Enter");
}
if (ids.includes("timeline")) {
  await hash("timeline");
  actions["zoom timeline"] = await press("+");
  actions["move timeline"] = await press("ArrowRight");
}
if (ids.includes("tree")) {
  await hash("tree");
  actions["sort tree"] = await waited(() => document.querySelector("th button")?.click());
}

const cdp = await browser.target().createCDPSession();
const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
const privateOf = pid => Number(/^RssAnon:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;
const memory = Math.max(...processInfo.filter(p => p.type === "renderer").map(p => privateOf(p.id)));
const { JSHeapUsedSize } = await page.metrics();
console.log(JSON.stringify({ firstView: firstView / 1e3, whole: whole / 1e3, bytes, actions, memory, heap: JSHeapUsedSize, errors }));
await browser.close();
