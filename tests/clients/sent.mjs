// Opens export/report.html, which needs no mount, and walks through its views: node sent.mjs PROGRAM URL
import puppeteer from "puppeteer-core";

const [executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ timeout: 0, executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
page.setDefaultTimeout(0); // whoever starts this script limits it
const errors = [];
let asked = -1; /* but for the page itself */
page.on("pageerror", error => errors.push(String(error)));
page.on("request", () => { asked++; });
await page.goto(url);
const ids = await page.evaluate(() => shownViews().map(v => v.id));
const drawn = {};
let functions = [];
for (const id of ids) {
  await page.evaluate(async view => {
    location.hash = "view=" + view;
    for (let quiet = 0, tries = 0; quiet < 6 && tries < 2000; tries++) {
      await new Promise(done => requestAnimationFrame(() => setTimeout(done, 30)));
      quiet = document.body.classList.contains("busy") ? 0 : quiet + 1;
    }
  }, id);
  const shown = await page.evaluate(() => ({ alerts: [...document.querySelectorAll("[role=alert]")].map(e => e.innerText), text: document.getElementById("main").innerText.trim(), canvas: document.querySelectorAll("main canvas").length,
    names: [...document.querySelectorAll("main .long tbody tr:not(.space) td:first-child .name")].map(e => e.textContent.trim()) }));
  errors.push(...shown.alerts.map(alert => `${id}: ${alert}`));
  drawn[id] = shown.text.length > 0 || shown.canvas > 0;
  if (id === "functions") functions = shown.names;
}
console.log(JSON.stringify({ ids, drawn, functions, asked, errors }));
await browser.close();
