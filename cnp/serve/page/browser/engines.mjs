// Compares engines of the page in turns, in node: an image and its moved copy on 24 x 24 pixels, as the page asks the image models for them, and a
// curve's prediction and four samples.
//
//   node cnp/serve/page/browser/engines.mjs [--turns 7] [--only NAME] A.wasm B.wasm
//
// Prints the median processor time of an answer of each engine in milliseconds; the median, least and greatest over the turns of A's time divided by
// the other's; and the largest difference of the answers' numbers. The first answers, which make plans and let node compile, are left out.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { drawDigit } from '../static/page/digits.js'
import { uniform } from '../static/page/random.js'

const { values: options, positionals: files } = parseArgs({ allowPositionals: true, options: {
  turns: { type: 'string', default: '7' },
  warm: { type: 'string', default: '3' },
  only: { type: 'string', default: '' },
} })
const models = new URL('../../../pretrained/models/', import.meta.url)

// start runs an engine and returns its two functions. The latest wasm_exec.js serves engines of older versions of Go, too.
async function start(file) {
  const go = new Go()
  const { instance } = await WebAssembly.instantiate(await readFile(file), go.importObject)
  go.run(instance)
  return globalThis.equivcnp
}

function image(n) {
  const image = new Float32Array(2 * n * n), mask = new Uint8Array(2 * n * n), seen = uniform(1)
  const digit = drawDigit(3, n)
  for (let y = 0; y < n; y++) {
    for (let x = 0; x < n; x++) {
      const i = y * n + x, moved = n * n + x * n + (n - 1 - y) // by a quarter turn
      image[i] = image[moved] = digit[i]
      mask[i] = mask[moved] = seen() < .3 ? 1 : 0
    }
  }
  const bytes = a => new Uint8Array(a.buffer), shape = [2, 1, n, n]
  return [{ name: 'image', datatype: 'FP32', shape, data: bytes(image) }, { name: 'mask', datatype: 'BOOL', shape, data: mask }]
}

function curve() {
  const points = [[-1.6, -.4], [-.7, .8], [.2, .3], [1.3, -1.1]], bytes = a => new Uint8Array(a.buffer)
  const tensor = (name, datatype, a) => ({ name, datatype, shape: [1, a.length, 1], data: bytes(a) })
  return [tensor('x_context', 'FP64', Float64Array.from(points, p => p[0])), tensor('y_context', 'FP32', Float32Array.from(points, p => p[1])),
    tensor('x_target', 'FP64', Float64Array.from({ length: 121 }, (_, i) => -3 + i / 20))]
}

const sampled = { standardise: false, samples: 4, seed: 1, function: true, knots: 16 }
const requests = [
  ...['digits-T2-small', 'digits-T2', 'digits-SO2', 'digits-RxSO2'].map(model => ({ what: '2 x 24 x 24', model, inputs: image(24) })),
  ...['rbf-levels', 'rbf-equivcnp'].flatMap(model => [
    { what: 'mean and band', model, inputs: curve(), params: { standardise: false } },
    { what: 'four samples', model, inputs: curve(), outputs: ['samples'], params: sampled }]),
].filter(r => `${r.model}: ${r.what}`.includes(options.only))

globalThis.require ??= undefined
const goroot = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim()
await import(`file://${goroot}/lib/wasm/wasm_exec.js`)
const engines = []
for (const file of files) engines.push(await start(file))

function ask(engine, { model, inputs, outputs = [], params = {} }) {
  const answer = engine.infer(model, inputs, outputs, params)
  if (answer.error) throw new Error(`${model}: ${answer.error}`)
  const { data } = answer.samples ?? answer.mean
  return new Float32Array(data.buffer)
}

const median = a => [...a].sort((x, y) => x - y)[a.length >> 1]
for (const r of requests) {
  const file = await readFile(new URL(`${r.model}.safetensors`, models))
  const answers = engines.map(e => { e.load(r.model, new Uint8Array(file)); return ask(e, r) })
  for (let i = 0; i < Number(options.warm); i++) engines.forEach(e => ask(e, r))
  await new Promise(done => setTimeout(done, 500)) // for the compiler's threads
  const times = engines.map(() => [])
  for (let i = 0; i < Number(options.turns); i++) {
    engines.forEach((e, k) => {
      const before = process.cpuUsage()
      ask(e, r)
      const { user, system } = process.cpuUsage(before)
      times[k].push((user + system) / 1e3)
    })
  }
  const line = [`${r.model}, ${r.what}:`.padEnd(36), times.map(t => median(t).toFixed(1)).join(' '), 'ms']
  for (let k = 1; k < engines.length; k++) {
    const ratios = times[0].map((t, i) => t / times[k][i])
    const off = answers[0].reduce((m, v, i) => Number.isNaN(v) && Number.isNaN(answers[k][i]) ? m : Math.max(m, Math.abs(v - answers[k][i])), 0)
    line.push(` ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}) times, off by ${off.toExponential(1)}`)
  }
  console.log(line.join(' '))
}
process.exit(0)
