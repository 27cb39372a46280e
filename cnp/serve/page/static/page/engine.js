// An engine answers inference requests. There are two: the server that the page came from, and the same Go code as WebAssembly, in a worker.
//
//   models()               [{name, config, trainedOn, samples}], samples: whether it draws them
//   table(bytes, options)  {points: [[x, y, value]], columns, notes} of a table of text; options are {kind, name, columns,
//                          decimal, dates, missing}; of the kind 'series' {points: [[time, value]], dates, ahead, step, columns, notes}
//   infer(model, request)  {outputs: {mean: {shape, data}, ..}, note, timing: {total, queue, compute, batch}}, times in milliseconds
import { decode, encode, headerLength } from './oip.js'

export class NeedsToken extends Error {}

// Lost says that the server does not answer at all.
export class Lost extends Error {}

class Server {
  name = 'the server'
  pixels = 32 // of an image on a side, at first

  async #fetch(path, init = {}) {
    const headers = new Headers(init.headers)
    const token = sessionStorage.getItem('token')
    try {
      if (token) headers.set('Authorization', `Bearer ${token}`)
    } catch {
      throw new NeedsToken('The token has characters that no request can bring.')
    }
    const r = await fetch(path, { ...init, headers }).catch(() => { throw new Lost('The server does not answer.') })
    if (r.status === 401) throw new NeedsToken('a bearer token is needed')
    if (!r.ok) throw new Error((await r.json().catch(() => ({}))).error ?? `${r.status} ${r.statusText}`)
    return r
  }

  // alive reports whether the server answers.
  alive() { return fetch('v2/health/live').then(r => r.ok, () => false) }

  // models asks once, however many there are.
  async models() {
    const { models } = await (await this.#fetch('v2/models')).json()
    return models.map(m => ({ name: m.name, config: m.config, trainedOn: m.trained_on, samples: m.outputs.some(o => o.name === 'samples') }))
  }

  async table(bytes, options) {
    const init = { method: 'POST', body: bytes, headers: { 'Content-Type': 'application/octet-stream' } }
    return (await this.#fetch(`v2/table?${new URLSearchParams(options)}`, init)).json()
  }

  async infer(model, request) {
    const start = performance.now()
    const { body, length } = encode(request)
    const r = await this.#fetch(`v2/models/${encodeURIComponent(model)}/infer`, { method: 'POST', body, headers: { [headerLength]: length } })
    const answer = decode(await r.arrayBuffer(), +r.headers.get(headerLength))
    return { ...answer, timing: { total: performance.now() - start, ...serverTiming(r.headers.get('Server-Timing')) } }
  }
}

// serverTiming reads a header like "queue;dur=0.1, compute;dur=3.5, batch;desc=2".
function serverTiming(header) {
  const out = {}
  for (const [, name, value] of (header ?? '').matchAll(/(\w+);(?:dur|desc)="?([\d.]+)/g)) out[name] = +value
  return out
}

class Wasm {
  name = 'this browser (WebAssembly)'
  pixels = 24
  #worker = new Worker(new URL('wasm-worker.js', import.meta.url), { type: 'module' })
  #waiting = new Map()
  #count = 0

  constructor() {
    this.#worker.onmessage = ({ data: { id, error, answer } }) => {
      const { resolve, reject } = this.#waiting.get(id)
      this.#waiting.delete(id)
      error ? reject(new Error(error)) : resolve(answer)
    }
    this.#worker.onerror = e => {
      for (const { reject } of this.#waiting.values()) reject(new Error(e.message || 'the engine does not start'))
      this.#waiting.clear()
    }
  }

  #ask(call, ...args) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#count, { resolve, reject })
      this.#worker.postMessage({ id: this.#count, call, args })
    })
  }

  models() { return this.#ask('models') }

  table(bytes, options) { return this.#ask('table', bytes, options) }

  async infer(model, request) {
    const start = performance.now()
    const answer = await this.#ask('infer', model, request)
    answer.timing.total = performance.now() - start
    return answer
  }
}

export const engine = document.documentElement.dataset.engine === 'wasm' ? new Wasm() : new Server()

let pending = 0 // calls under way; the document says so
function count(n) {
  pending += n
  document.documentElement.ariaBusy = String(pending > 0)
}

// latest makes a function of which one call runs at a time: calls meanwhile become one more call, after it.
export function latest(f) {
  let running = false, again = null
  return async function call(...args) {
    if (running) {
      again = args
      return
    }
    running = true
    count(1)
    try {
      for (let next = args; next; ) {
        again = null
        await f(...next)
        next = again
      }
    } finally {
      running = false
      count(-1)
    }
  }
}
