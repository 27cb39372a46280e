// Compares engines of the page in turns, in node or in Chromium: an image and its moved copy on 24 x 24 pixels, as the page asks the image models for
// them, and a curve's prediction and four samples.
//
//   node cnp/serve/page/browser/engines.mjs [--turns 7] [--only NAME] [--chromium] A.wasm B.wasm
//
// Prints the median time of an answer of each engine in milliseconds (processor time in node, wall time in Chromium); the median, least and greatest
// over the turns of A's time divided by the other's; and the largest difference of the answers' numbers. The first answers, which make plans and let
// the engine's code be compiled, are left out. --chromium needs `npm ci` in this folder.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { compare, requests, start } from './engines_compare.js'

const { values: options, positionals: files } = parseArgs({ allowPositionals: true, options: {
  turns: { type: 'string', default: '7' },
  warm: { type: 'string', default: '3' },
  only: { type: 'string', default: '' },
  chromium: { type: 'boolean', default: false },
} })
const turns = Number(options.turns), warm = Number(options.warm)
const wanted = r => `${r.model}: ${r.what}`.includes(options.only)
const goroot = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
const model = name => new URL(`../../../pretrained/models/${name}.safetensors`, import.meta.url)

async function inNode() {
  globalThis.require ??= undefined
  await import(`file://${goroot}/lib/wasm/wasm_exec.js`)
  const engines = []
  for (const file of files) engines.push(await start(await readFile(file)))
  const clock = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e3 }
  for (const r of requests.filter(wanted)) {
    console.log(await compare(engines, r, new Uint8Array(await readFile(model(r.model))), { turns, warm, clock }))
  }
}

// inChromium serves what the page needs on this machine and runs the same comparison there.
async function inChromium() {
  const { chromium } = await import('playwright-core')
  const executablePath = process.env.PAGE_EXECUTABLE ?? '/usr/bin/chromium'
  const found = { '/': ['text/html', () => '<!doctype html><script src="/wasm_exec.js"></script>'],
    '/wasm_exec.js': ['text/javascript', () => readFile(`${goroot}/lib/wasm/wasm_exec.js`)] }
  for (const path of ['browser/engines_compare.js', 'static/page/digits.js', 'static/page/random.js']) {
    found[`/${path}`] = ['text/javascript', () => readFile(new URL(`../${path}`, import.meta.url))]
  }
  files.forEach((file, i) => { found[`/engine/${i}`] = ['application/wasm', () => readFile(file)] })
  for (const r of requests) found[`/model/${r.model}`] = ['application/octet-stream', () => readFile(model(r.model))]
  const server = createServer(async (request, response) => {
    const [type, read] = found[request.url] ?? []
    if (!read) return response.writeHead(404).end()
    response.setHeader('Content-Type', type)
    response.end(await read())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  page.setDefaultTimeout(0)
  await page.exposeFunction('say', line => console.log(line))
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  await page.evaluate(async ({ engines, names, turns, warm }) => {
    const { compare, requests, start } = await import('/browser/engines_compare.js')
    const bytes = async path => new Uint8Array(await (await fetch(path)).arrayBuffer())
    const running = []
    for (let i = 0; i < engines; i++) running.push(await start(await bytes(`/engine/${i}`)))
    for (const r of requests.filter(r => names.includes(`${r.model}: ${r.what}`))) {
      await say(await compare(running, r, await bytes(`/model/${r.model}`), { turns, warm, clock: () => performance.now() }))
    }
  }, { engines: files.length, names: requests.filter(wanted).map(r => `${r.model}: ${r.what}`), turns, warm })
  await browser.close()
}

await (options.chromium ? inChromium() : inNode())
process.exit(0)
