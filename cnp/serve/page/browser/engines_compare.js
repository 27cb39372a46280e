// What engines.mjs runs in node or in a browser: requests, and the comparison of engines' answers and times.
import { drawDigit } from '../static/page/digits.js'
import { uniform } from '../static/page/random.js'

// start runs an engine, given as bytes of WebAssembly, and returns its functions. The latest wasm_exec.js serves engines of older versions of Go, too.
export async function start(bytes) {
  const go = new Go()
  const { instance } = await WebAssembly.instantiate(bytes, go.importObject)
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
export const requests = [
  ...['digits-T2-small', 'digits-T2', 'digits-SO2', 'digits-RxSO2'].map(model => ({ what: '2 x 24 x 24', model, inputs: image(24) })),
  ...['rbf-levels', 'rbf-equivcnp'].flatMap(model => [
    { what: 'mean and band', model, inputs: curve(), params: { standardise: false } },
    { what: 'four samples', model, inputs: curve(), outputs: ['samples'], params: sampled }]),
]

function ask(engine, { model, inputs, outputs = [], params = {} }) {
  const answer = engine.infer(model, inputs, outputs, params)
  if (answer.error) throw new Error(`${model}: ${answer.error}`)
  const { data } = answer.samples ?? answer.mean
  return new Float32Array(data.buffer)
}

const median = a => [...a].sort((x, y) => x - y)[a.length >> 1]

// compare asks the engines in turns and returns a line of text. file holds the model's bytes, and clock gives milliseconds.
export async function compare(engines, r, file, { turns, warm, clock }) {
  const answers = engines.map(e => { e.load(r.model, file); return ask(e, r) })
  for (let i = 0; i < warm; i++) engines.forEach(e => ask(e, r))
  await new Promise(done => setTimeout(done, 500)) // for the compiler's threads
  const times = engines.map(() => [])
  for (let i = 0; i < turns; i++) {
    engines.forEach((e, k) => {
      const before = clock()
      ask(e, r)
      times[k].push(clock() - before)
    })
  }
  const line = [`${r.model}, ${r.what}:`.padEnd(36), times.map(t => median(t).toFixed(1)).join(' '), 'ms']
  for (let k = 1; k < engines.length; k++) {
    const ratios = times[0].map((t, i) => t / times[k][i])
    const off = answers[0].reduce((m, v, i) => Number.isNaN(v) && Number.isNaN(answers[k][i]) ? m : Math.max(m, Math.abs(v - answers[k][i])), 0)
    line.push(` ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}) times, off by ${off.toExponential(1)}`)
  }
  return line.join(' ')
}
