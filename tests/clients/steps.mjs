// What a reader does in report.html with keys and mouse, in Chromium: node steps.mjs PROGRAM URL
// Prints a line of JSON: what the page showed after each step.
import puppeteer from "puppeteer-core";

const [executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ timeout: 0, executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"], defaultViewport: { width: 1440, height: 900 } });
const page = await browser.newPage();
page.setDefaultTimeout(0); // whoever starts this script limits it
const errors = [];
page.on("pageerror", error => errors.push(String(error)));
const settled = () => page.evaluate(async () => {
  for (let quiet = 0, tries = 0; quiet < 20 && tries < 2000; tries++) { // a zoom is noted after a fifth of a second
    await new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 10)));
    quiet = document.body.classList.contains("busy") ? 0 : quiet + 1;
  }
});
const at = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const does = async act => { await act(); await settled(); return at(); };
const press = key => does(() => page.keyboard.press(key));
const back = () => does(() => page.evaluate(() => history.back()));
const visit = hash => does(() => page.evaluate(to => { location.hash = to; }, hash));
const rows = () => page.evaluate(() => [...document.querySelectorAll("#main .long tbody tr:not(.space)")].map(row => [...row.cells].map(cell => cell.textContent.trim())));
const search = async text => { await page.evaluate(() => { document.getElementById("search").value = ""; }); await page.type("#search", text); await settled(); const found = await rows(); await page.evaluate(() => { document.activeElement.blur(); go({ search: "" }); }); await settled(); return found.map(row => row[0]); };

await page.goto(url);
await settled();
const shown = {};
await visit("view=functions");
const names = (await rows()).map(row => row[0]);
const longest = names.reduce((a, b) => b.length > a.length ? b : a);
shown.search = { names, longest, literally: await search(longest), pattern: await search(`/^${names[0].slice(0, 2).replace(/\W/g, "\\$&")}/`), none: await search("(no such name[") };
// By the last column, up and down.
const sortable = await page.evaluate(() => document.querySelectorAll("#main th button").length);
shown.sorted = [];
for (let i = 0; i < 2; i++) {
  await does(() => page.evaluate(n => document.querySelectorAll("#main th button")[n].click(), sortable - 1));
  shown.sorted.push(await page.evaluate(n => [...document.querySelectorAll("#main .long tbody tr:not(.space)")].map(row => row.cells[n].querySelector("[data-cell]")?.dataset.cell), sortable - 1));
}
shown.byName = [];
for (let i = 0; i < 2; i++) {
  await does(() => page.evaluate(() => document.querySelector("#main th button").click()));
  shown.byName.push((await rows()).map(row => row[0]));
}
shown.hints = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("#main th")].map(th => [th.textContent, th.title])));
// The name of a row, whole, though it is cut on screen.
await visit("view=functions");
shown.copied = await page.evaluate(text => {
  const name = [...document.querySelectorAll("#main .long .name")].find(e => e.textContent === text), data = new DataTransfer();
  getSelection().selectAllChildren(name);
  document.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, cancelable: true }));
  getSelection().removeAllRanges();
  return data.getData("text/plain");
}, longest);
// Flame graph: in, out, back.
await visit("view=flame");
shown.flame = [await at(), await press("Enter"), await press("Escape")];
// Timeline: a click, keys after it, marks, all of their time, and back to where one came from.
await visit("view=timeline&rows=threads");
const box = await page.evaluate(() => { const r = document.querySelector("#main canvas").getBoundingClientRect(); return [r.x, r.y, r.width]; });
const x = part => box[0] + 190 + (box[2] - 190) * part;
shown.clicked = await does(() => page.mouse.click(x(0.3), box[1] + 30));
shown.path = await page.evaluate(() => document.querySelectorAll("#main .path a").length);
shown.moved = [await press("+"), await press("ArrowRight")];
shown.closed = await press("Escape");
await visit("view=timeline&rows=threads");
shown.marked = await does(async () => {
  await page.mouse.move(x(0.2), box[1] + 30);
  await page.mouse.down();
  await page.mouse.move(x(0.4), box[1] + 34, { steps: 3 });
  await page.mouse.up();
});
shown.window = await press("w");
shown.back = await back();
// Views by number, and what is under the mouse leads somewhere.
shown.third = (await press("3")).view;
await visit("view=source");
shown.source = { lines: await page.evaluate(() => [...document.querySelectorAll(".lines [data-cell^='lines.csv|']")].filter(e => { const r = e.getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; }).map(e => e.dataset.cell)), hot: await page.evaluate(() => document.querySelectorAll(".lines td.heat").length) };
// Numbers of tables have the units that their columns are named by.
shown.units = await page.evaluate(() => ["bytes", "bytes_per_sec", "bytes_per_sec_base", "total_ns", "total_ns_ratio"].map(name => cellText(name, 2 ** 31)));
console.log(JSON.stringify({ ...shown, errors }));
await browser.close();
