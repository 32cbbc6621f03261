// Opens report.html of a mount in a browser and walks through its views: node report.mjs BROWSER(chrome|firefox) PROGRAM URL
// Prints a line of JSON: what each view shows, and every error that the page had.
import axe from "axe-core";
import puppeteer from "puppeteer-core";

const [browserName, executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ timeout: 0, browser: browserName, executablePath, headless: true,
  args: browserName === "chrome" ? ["--no-sandbox", "--disable-gpu"] : [] });
const page = await browser.newPage();
page.setDefaultTimeout(0); // whoever starts this script limits it
const errors = [];
page.on("pageerror", error => errors.push(String(error)));
page.on("console", message => { if (message.type() === "error") errors.push(message.text()); });
page.on("dialog", dialog => { errors.push("a dialog: " + dialog.message()); dialog.dismiss(); });

// Waits until nothing is being loaded for a moment, and two frames are drawn: long tables get their rows when they are measured.
async function settled() {
  for (let quiet = 0, tries = 0; quiet < 4 && tries < 600; tries++) {
    await new Promise(resolve => setTimeout(resolve, 50));
    await page.evaluate(() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    quiet = await page.evaluate(() => document.body.classList.contains("busy")) ? 0 : quiet + 1;
  }
}

// What a screen reader would stumble on, or eyes that need contrast, in light and in dark colours.
async function barriers() {
  const found = [];
  for (const value of ["dark", "light"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
    const rules = value === "dark" ? { runOnly: ["color-contrast"] } : {};
    found.push(...await page.evaluate(async (source, rules) => {
      if (!window.axe) new Function(source)();
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"], ...rules });
      return violations.map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(" ")}`);
    }, axe.source, rules));
  }
  return found;
}

async function view(hash) {
  await page.goto(url + "#" + hash);
  await settled();
  const shown = await page.evaluate(() => ({
    text: document.getElementById("main").innerText,
    alerts: [...document.querySelectorAll("[role=alert]")].map(e => e.innerText),
    rows: [...document.querySelectorAll("table.long tbody tr:not(.space)")].map(row => [...row.cells].map(cell => (cell.querySelector(".name") ? cell.querySelector(".name").textContent : cell.innerText).replace(/\s+/g, " ").trim())),
    drawn: [...document.querySelectorAll("main canvas")].map(canvas => {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      const colours = new Set();
      for (let i = 0; i < data.length; i += 4 * 37) if (data[i + 3]) colours.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
      return colours.size;
    }),
    elements: document.querySelectorAll("main script, main img, main svg").length,
  }));
  return { ...shown, barriers: browserName === "chrome" ? await barriers() : [] };
}

await page.goto(url);
await settled();
const ids = await page.evaluate(() => [...document.querySelectorAll("#views a")].map(a => new URLSearchParams(a.hash.slice(1)).get("view")));
const views = {};
for (const id of ids) views[id] = await view("view=" + id);
views.function = await view("view=functions&fn=0");
views.bottomup = await view("view=tree&up=1");
if (ids.includes("traces")) views.trace = await view(await page.evaluate(async () => {
  const traces = await pm.load(`table-${documentsOf(/^traces\.csv$/)[0][0]}-0`);
  return "view=traces&item=" + encodeURIComponent(traces.rows[0][traces.columns.indexOf("path")]);
}));
if (ids.includes("timeline")) views.kinds = await view("view=timeline&by=kind");
if (ids.includes("flame")) views.sandwich = await view("view=flame&fn=0");
await page.evaluate(() => loadFunctions(() => {}));
const kept = await page.evaluate(() => ({
  columns: start.columns.map(c => c.name),
  functions: allFunctions().rows.map(f => [f.name, ...f.cells]),
  bytes: performance.getEntriesByType("resource").length,
}));
// A step to a view draws it once, and what is asked for twice before it has come is there once: pages of a tree.
const twice = await page.evaluate(async () => {
  const view = views.find(v => v.id === "overview"), show = view.show;
  let drawn = 0;
  view.show = box => { drawn++; show(box); };
  location.hash = "#view=overview&search=x";
  for (let tries = 0; tries < 200 && !drawn; tries++) await new Promise(resolve => setTimeout(resolve, 50));
  await new Promise(resolve => setTimeout(resolve, 200));
  view.show = show;
  if (isComparison()) return { drawn };
  const node = treeNode({ ctx: -1, more: true }, -1);
  pm.kept.clear();
  await Promise.all([growDown(node), growDown(node)]);
  return { drawn, pages: node.pages, repeated: node.below.length - new Set(node.below.map(n => n.ctx)).size };
});
console.log(JSON.stringify({ ids, views, kept, twice, errors, title: await page.title() }));
await browser.close();
