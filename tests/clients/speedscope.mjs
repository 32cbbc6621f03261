// Opens files in speedscope and saves them again from there.
//
//     node speedscope.mjs CHROMIUM DIST FILE…
//
// Serves DIST (speedscope's own pages) and the files on localhost. Prints a line of JSON a file: {path, errors, saved},
// `saved` being what speedscope's own `export` gives, or null if it did not take the file.
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const [chromium, dist, ...files] = process.argv.slice(2)
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }

function serve(request, response) {
  const name = decodeURIComponent(new URL(request.url, 'http://localhost').pathname)
  const file = name.match(/^\/file\/(\d+)\//)
  const place = file ? files[file[1]] : path.join(dist, name === '/' ? 'index.html' : path.normalize(name))
  fs.readFile(place, (error, bytes) => {
    response.writeHead(error ? 404 : 200, { 'content-type': types[path.extname(place)] ?? 'application/octet-stream' })
    response.end(error ? undefined : bytes)
  })
}

// Keeps what the page offers for download in window.saved.
function catchDownloads() {
  const createObjectURL = URL.createObjectURL.bind(URL)
  URL.createObjectURL = (blob) => {
    window.saved = blob
    return createObjectURL(blob)
  }
}

async function open(browser, origin, index) {
  const page = await browser.newPage()
  page.setDefaultTimeout(0)
  const errors = []
  const imported = new Promise((resolve) => {
    page.on('console', (message) => message.text().startsWith('import:') && resolve(true))
    page.on('pageerror', (error) => resolve(errors.push(error.message)))
    page.on('dialog', (dialog) => resolve(errors.push(dialog.message()) && dialog.dismiss()))
    setTimeout(() => resolve(errors.push('nothing was imported')), 120000).unref()
  })
  const name = path.basename(files[index])
  const url = `${origin}/file/${index}/${encodeURIComponent(name)}`
  await page.evaluateOnNewDocument(catchDownloads)
  await page.goto(`${origin}/#profileURL=${encodeURIComponent(url)}`)
  await imported
  let saved = null
  if (errors.length === 0) {
    await page.waitForFunction(() => document.body.innerText.includes('Export'))
    await page.keyboard.down('Control')
    await page.keyboard.press('s')
    await page.keyboard.up('Control')
    await page.waitForFunction(() => window.saved)
    saved = JSON.parse(await page.evaluate(() => window.saved.text()))
  }
  await page.close()
  return { path: files[index], errors, saved }
}

const server = http.createServer(serve).listen(0, '127.0.0.1')
await new Promise((resolve) => server.on('listening', resolve))
const browser = await puppeteer.launch({
  timeout: 0, // whoever starts this script limits it
  executablePath: chromium,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
})
try {
  for (const index of files.keys()) {
    console.log(JSON.stringify(await open(browser, `http://127.0.0.1:${server.address().port}`, index)))
  }
} finally {
  await browser.close()
  server.close()
}
