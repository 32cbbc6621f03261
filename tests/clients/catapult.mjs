// Imports a Chrome trace into catapult's own model and says what came in, as JSON.
//
//     node catapult.mjs CHROMIUM TRACE_VIEWER_FULL.HTML FILE
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const [chromium, viewer, file] = process.argv.slice(2)
const polyfill = path.join(path.dirname(viewer), 'webcomponents.min.js')
const page =
  `<!DOCTYPE html><html><head><script>${fs.readFileSync(polyfill, 'utf8')}</script></head>` +
  `<body>${fs.readFileSync(viewer, 'utf8')}</body></html>`

function describe(text) {
  const model = new tr.Model()
  new tr.importer.Import(model).importTraces([text])
  const threads = []
  for (const process of model.getAllProcesses()) {
    for (const thread of Object.values(process.threads)) {
      const slices = thread.sliceGroup.slices.filter((slice) => slice.duration > 0)
      threads.push({
        pid: process.pid,
        tid: thread.tid,
        name: thread.name,
        slices: slices.length,
        busy_ms: slices.reduce((sum, slice) => sum + slice.duration, 0),
        least_self_ms: slices.reduce((least, slice) => Math.min(least, slice.selfTime), 0),
      })
    }
  }
  return JSON.stringify({ warnings: model.importWarnings.map((warning) => warning.message), threads })
}

const server = http.createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end(page)
})
server.listen(0, '127.0.0.1')
await new Promise((resolve) => server.on('listening', resolve))
const browser = await puppeteer.launch({ timeout: 0, executablePath: chromium, args: ['--no-sandbox'] })
try {
  const tab = await browser.newPage()
  tab.setDefaultTimeout(0) // whoever starts this script limits it
  await tab.goto(`http://127.0.0.1:${server.address().port}/`)
  await tab.waitForFunction(() => globalThis.tr?.importer?.Import)
  console.log(await tab.evaluate(describe, fs.readFileSync(file, 'utf8')))
} finally {
  await browser.close()
  server.close()
}
