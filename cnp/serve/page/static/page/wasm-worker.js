// The engine as WebAssembly, in a worker of its own, so that the page stays responsive while it computes.
import './wasm_exec.js'

const here = file => new URL(file, import.meta.url)
const ready = (async () => {
  const go = new Go()
  const source = fetch(here('engine.wasm'))
  // Hosts that do not know the type of .wasm files are fine, too.
  const { instance } = await WebAssembly.instantiateStreaming(source, go.importObject)
    .catch(async () => WebAssembly.instantiate(await (await fetch(here('engine.wasm'))).arrayBuffer(), go.importObject))
  go.run(instance)
})()

function checked(answer) {
  if (answer.error) throw new Error(answer.error)
  return answer
}

const list = fetch(here('models.json')).then(r => r.json())

async function fileOf(model) {
  const r = await fetch(here(`models/${model}.safetensors`))
  if (!r.ok) throw new Error(`${model}: ${r.status} ${r.statusText}`)
  return new Uint8Array(await r.arrayBuffer())
}

const loading = new Map() // model → promise that it is there

// load reads a model's file when it is asked for the first time.
function load(model) {
  if (!loading.has(model)) {
    loading.set(model, (async () => {
      const file = (await list).find(m => m.name === model)?.untrained ? new Uint8Array() : await fileOf(model)
      await ready
      checked(equivcnp.load(model, file))
    })())
  }
  return loading.get(model)
}

const calls = {
  async table(bytes, options) {
    await ready
    return JSON.parse(checked(equivcnp.table(bytes, options)).json)
  },

  async models() {
    return (await list).map(m => ({ ...m, samples: true }))
  },

  async infer(model, { inputs, outputs = [], parameters = {} }) {
    await load(model)
    const start = performance.now()
    const bytes = inputs.map(i => ({ ...i, data: new Uint8Array(i.data.buffer, i.data.byteOffset, i.data.byteLength) }))
    const answer = checked(equivcnp.infer(model, bytes, outputs, parameters))
    const out = {}
    for (const [name, { shape, data }] of Object.entries(answer)) out[name] = { shape, data: new Float32Array(data.buffer) }
    return { outputs: out, timing: { compute: performance.now() - start, queue: 0, batch: inputs[0].shape[0] } }
  },
}

self.onmessage = async ({ data: { id, call, args } }) => {
  try {
    self.postMessage({ id, answer: await calls[call](...args) })
  } catch (e) {
    self.postMessage({ id, error: e.message ?? String(e) })
  }
}
