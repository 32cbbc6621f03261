// Opens a page in Chromium without scripts: node noscript.mjs PROGRAM URL. Prints its text, its frames' and its links as JSON.
import puppeteer from "puppeteer-core";

const [executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ timeout: 0, executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
page.setDefaultTimeout(0); // whoever starts this script limits it
await page.setJavaScriptEnabled(false);
await page.goto(url, { waitUntil: "networkidle0" });
const textOf = frame => frame.evaluate(() => document.body.innerText);
const frames = await Promise.all(page.frames().slice(1).map(textOf));
const links = await page.evaluate(() => [...document.querySelectorAll("a")].filter(a => a.checkVisibility()).map(a => a.getAttribute("href")));
const controls = await page.evaluate(() => [...document.querySelectorAll("select, input, button")].filter(e => e.checkVisibility()).length);
console.log(JSON.stringify({ text: await textOf(page), frames, links, controls }));
await browser.close();
