// The view of series: values over time, pasted as a table, and what the model that needs no training says between them and behind the last.
import { color, corrects, resolved } from './draw.js'
import { engine, latest } from './engine.js'
import { fit } from './link.js'
import { isUniversal } from './map.js'
import { TablePanel, mostRows } from './table.js'

const element = id => document.getElementById(id)
const along = 300 // places of the curve, besides those ahead
const mostAhead = 200 // that package mappoints says of a table
const margin = { left: 56, right: 10, top: 10, bottom: 26 }
const day = 864e5 // milliseconds
const flags = ['positive', 'robust'] // parameters of the request that boxes set

const month = i => Date.UTC(2021, i) / day
const noise = i => { const v = 43758.5453 * Math.sin(12.9898 * i); return v - Math.floor(v) - .5 }
const wave = i => 20 + .25 * i + 6 * Math.sin(2 * Math.PI * i / 12) + 3 * noise(i) // made up

export const initial = {
  model: '', steps: 12, positive: false, robust: false, dates: true, points: Array.from({ length: 48 }, (_, i) => [month(i), Number(wave(i).toFixed(1))]),
  ahead: Array.from({ length: mostAhead }, (_, i) => month(48 + i)),
}

// fits says what a link may say.
export const fits = {
  model: fit.text, steps: fit.whole(0, mostAhead), positive: fit.flag, robust: fit.flag, dates: fit.flag, points: fit.rows(2, mostRows),
  ahead: v => Array.isArray(v) && v.length <= mostAhead && v.every(Number.isFinite),
}

// takes reports whether a model predicts a series in any units.
export const takes = m => isUniversal(m) && m.config.dim_x === 1 && m.config.dim_y === 1

export class Series {
  #canvas = element('series-plot')
  #answer = null // {x, mean, std, ahead}: the last so many of its places are ahead
  #cursor = -1 // the place that is read off
  #left = margin.left // of what is drawn, beside the numbers of the axis
  #table

  constructor(state, models, { changed, report, problem }) {
    this.state = state
    this.models = models
    Object.assign(this, { changed, report, problem })
    for (const m of models) element('series-model').add(new Option(m.name, m.name))
    element('series-model').addEventListener('input', e => { this.state.model = e.target.value; this.update(e.timeStamp) })
    element('series-steps').addEventListener('input', e => {
      this.state.steps = Math.min(Math.max(Math.trunc(e.target.value), 0), mostAhead) || 0
      this.update(e.timeStamp)
    })
    corrects(element('series-steps'), () => this.state.steps)
    for (const name of flags) {
      element(`series-${name}`).addEventListener('change', e => { this.state[name] = e.target.checked; this.update(e.timeStamp) })
    }
    this.#table = new TablePanel('series', { kind: 'series', problem, taken: ({ points, dates, ahead }) => {
      Object.assign(this.state, { points, dates, ahead })
      this.#cursor = -1
      this.update()
    } })
    for (const type of ['pointerdown', 'pointermove']) this.#canvas.addEventListener(type, e => this.#read(e))
    this.#canvas.addEventListener('pointerleave', e => {
      if (e.pointerType === 'touch') return // a finger leaves after each tap, and what it read off stays
      this.#cursor = -1
      this.#draw()
    })
    this.#canvas.addEventListener('keydown', e => this.#key(e))
    new ResizeObserver(() => this.#draw()).observe(this.#canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  restore(state) { this.state = state }

  // drop takes a file.
  drop(file) { this.#table.takeFile(file) }

  model() { return this.models.find(m => m.name === this.state.model) ?? this.models[0] }

  #ahead() { return this.state.ahead.slice(0, this.state.steps) }

  // places are those of the curve, in order, of which the last are those ahead.
  #places() {
    const { points } = this.state, ahead = this.#ahead()
    if (points.length === 0) return []
    const [first, last] = ends(points.map(p => p[0])), curve = []
    for (let i = 0; i <= along; i++) curve.push(first + (last - first) * i / along)
    return [...(last > first ? curve : [first]), ...ahead]
  }

  request(places = this.#places()) {
    const { points } = this.state, n = points.length
    return {
      inputs: [
        { name: 'x_context', datatype: 'FP64', shape: [1, n, 1], data: Float64Array.from(points, p => p[0]) },
        { name: 'y_context', datatype: 'FP32', shape: [1, n, 1], data: Float32Array.from(points, p => p[1]) },
        { name: 'x_target', datatype: 'FP64', shape: [1, places.length, 1], data: Float64Array.from(places) },
      ],
      outputs: ['mean', 'std', 'quantiles'],
      parameters: { quantiles: '0.025,0.975', ...Object.fromEntries(['dates', ...flags].filter(name => this.state[name]).map(name => [name, true])) },
    }
  }

  // example is the request of what other programs are shown: the places ahead are enough.
  example() {
    const ahead = this.#ahead()
    return this.request(ahead.length > 0 ? ahead : this.#places().slice(-1))
  }

  show() {
    element('series-model').value = this.model()?.name ?? ''
    for (const name of flags) element(`series-${name}`).checked = this.state[name]
    if (document.activeElement !== element('series-steps')) element('series-steps').value = this.state.steps
  }

  update(stamp = performance.now()) {
    this.show()
    this.#draw()
    this.changed()
    if (!this.model()) return
    this.#canvas.dataset.stale = 'true'
    this.#predict(stamp)
  }

  #predict = latest(async stamp => {
    const model = this.model(), places = this.#places(), ahead = this.#ahead().length, { points } = this.state
    this.#canvas.dataset.stale = 'true' // the answer that came last may be to other points
    try {
      if (places.length === 0) {
        this.#answer = null
      } else {
        const { outputs: { mean, std, quantiles }, timing } = await engine.infer(model.name, this.request(places))
        this.#answer = { x: places, mean: mean.data, std: std.data, lo: places.map((_, i) => quantiles.data[2 * i]), hi: places.map((_, i) => quantiles.data[2 * i + 1]), ahead, points }
        this.report({ view: 'series', drawn: performance.now() - stamp, timing, model: model.name })
      }
      this.problem(null)
      this.#canvas.dataset.stale = 'false'
      this.#draw()
    } catch (e) {
      this.problem(e)
    }
  })

  // #read has the pointer's nearest place read off.
  #read(e) {
    if (!this.#answer) return
    const r = this.#canvas.getBoundingClientRect(), { x: [lo, hi] } = this.#window()
    const at = lo + (e.clientX - r.left - this.#left) / (r.width - this.#left - margin.right) * (hi - lo)
    this.#cursor = this.#answer.x.reduce((best, v, i, x) => Math.abs(v - at) < Math.abs(x[best] - at) ? i : best, 0)
    this.#draw()
  }

  #key(e) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key], n = this.#answer?.x.length ?? 0
    if (!step || n === 0 || e.ctrlKey || e.metaKey || e.altKey) return
    e.preventDefault()
    const from = this.#cursor < 0 ? n - this.#answer.ahead - (step > 0 ? 1 : 0) : this.#cursor
    this.#cursor = Math.min(Math.max(from + step, 0), n - 1)
    this.#draw()
  }

  // #window is what is drawn. Where outliers are left out, points far above or below the curve do not count for it.
  #window() {
    const { points, robust } = this.state, a = this.#current(), x = [...points.map(p => p[0]), ...this.#ahead()]
    let y = points.map(p => p[1])
    if (a) {
      const band = [...a.lo, ...a.hi], [lo, hi] = ends(band)
      if (robust) y = y.filter(v => v > lo - (hi - lo) / 2 && v < hi + (hi - lo) / 2)
      y.push(...band)
    }
    return { x: span(x), y: span(y) }
  }

  // #current is the answer, if it is one to these points.
  #current() { return this.#answer?.points === this.state.points && this.#answer.ahead === this.#ahead().length ? this.#answer : null }

  #label(x) {
    if (!this.state.dates || !isDate(x)) return String(Number(x.toPrecision(8)))
    const text = new Date(Math.round(x * day / 1000) * 1000).toISOString()
    return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.slice(0, 16).replace('T', ' ')
  }

  #draw() {
    const canvas = this.#canvas, c = canvas.getContext('2d'), scale = devicePixelRatio || 1, { points } = this.state, a = this.#current()
    this.#say(a)
    const width = canvas.clientWidth, height = canvas.clientHeight
    if (width === 0) return // not shown
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale)
      canvas.height = Math.round(height * scale)
    }
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.clearRect(0, 0, width, height)
    const { x: [x0, x1], y: [y0, y1] } = this.#window()
    c.font = '12px system-ui, sans-serif'
    const values = ticks([y0, y1], 6), names = values.map(v => Number(v.toPrecision(12)))
    this.#left = Math.min(Math.max(margin.left, ...names.map(v => c.measureText(v).width + 12)), width / 2)
    const toX = v => this.#left + (v - x0) / (x1 - x0) * (width - this.#left - margin.right)
    const toY = v => height - margin.bottom - (v - y0) / (y1 - y0) * (height - margin.top - margin.bottom)
    this.#axes(c, { width, height, toX, toY, x: [x0, x1], values, names })
    if (a) {
      const path = (f, order) => order.forEach(i => c.lineTo(toX(a.x[i]), toY(f(i)))), order = [...a.x.keys()]
      c.fillStyle = color('band')
      c.beginPath()
      path(i => a.hi[i], order)
      path(i => a.lo[i], [...order].reverse())
      c.fill()
      c.strokeStyle = color('accent')
      c.lineWidth = 2
      c.beginPath()
      path(i => a.mean[i], order)
      c.stroke()
      if (a.x[this.#cursor] !== undefined) {
        c.beginPath()
        c.moveTo(toX(a.x[this.#cursor]), margin.top)
        c.lineTo(toX(a.x[this.#cursor]), height - margin.bottom)
        c.strokeStyle = color('soft')
        c.lineWidth = 1
        c.stroke()
      }
    }
    c.fillStyle = c.strokeStyle = color('point')
    for (const [x, y] of points) { // those outside are rings at the edge
      c.beginPath()
      c.arc(toX(x), toY(Math.min(Math.max(y, y0), y1)), points.length > 300 ? 1.8 : 3, 0, 2 * Math.PI)
      y < y0 || y > y1 ? c.stroke() : c.fill()
    }
  }

  #axes(c, { width, height, toX, toY, x, values, names }) {
    c.strokeStyle = color('line')
    c.fillStyle = color('soft')
    c.lineWidth = 1
    const line = (ax, ay, bx, by) => { c.beginPath(); c.moveTo(ax, ay); c.lineTo(bx, by); c.stroke() }
    c.textAlign = 'right'
    values.forEach((v, i) => {
      line(this.#left, toY(v), width - margin.right, toY(v))
      c.fillText(names[i], this.#left - 6, toY(v) + 4)
    })
    c.textAlign = 'center'
    const times = this.state.dates ? two(dateTicks, x, width / 110) : two(ticks, x, width / 90).map(v => [v, Number(v.toPrecision(8))])
    for (const [v, text] of times) {
      line(toX(v), height - margin.bottom, toX(v), height - margin.bottom + 4)
      c.fillText(text, toX(v), height - 8)
    }
  }

  // #say tells in words what is drawn, and lists what is ahead.
  #say(a) {
    const { points } = this.state, n = points.length, status = element('series-status'), says = [`${n} point${n === 1 ? '' : 's'}.`]
    const text = (v, i) => resolved(v, a.std[i]), at = i => `${this.#label(a.x[i])}: ${text(a.mean[i], i)} ± ${text(a.std[i], i)}`
    const data = { points: n, ahead: a?.ahead ?? '', next: '', mean: '', std: '', at: '', lo: a ? ends(a.lo)[0] : '' }
    if (n === 0) says.push('Paste a table.')
    const list = []
    if (a && a.ahead > 0) {
      const first = a.x.length - a.ahead
      Object.assign(data, { next: this.#label(a.x[first]), mean: a.mean[first], std: a.std[first] })
      says.push(`Next, ${at(first)}.`)
      for (let i = first; i < a.x.length; i++) list.push([this.#label(a.x[i]), ...[a.mean, a.std, a.lo, a.hi].map(v => text(v[i], i))].join(','))
    }
    if (a && a.x[this.#cursor] !== undefined) {
      says.push(`At ${at(this.#cursor)}.`)
      data.at = this.#label(a.x[this.#cursor])
    }
    status.textContent = says.join(' ')
    Object.assign(status.dataset, data)
    element('series-list').textContent = list.length > 0 ? ['time,mean,std,q2.5,q97.5', ...list].join('\n') : ''
  }
}

// ends are the smallest and the largest of values.
const ends = values => [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)]

// span is the range of values, never empty.
function span(values) {
  const [lo, hi] = ends(values)
  return hi > lo ? [lo, hi] : lo === hi ? [lo - .5, hi + .5] : [0, 1]
}

// ticks are round numbers in a range, about so many.
function ticks([lo, hi], most) {
  const raw = (hi - lo) / most, ten = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find(k => k * ten >= raw) * ten, out = []
  for (let k = Math.ceil(lo / step); k * step <= hi && out.length < 100; k++) out.push(k * step)
  return out
}

// two returns ticks of f, about so many but two at least if there are any: with one alone an axis has no scale.
function two(f, range, most) {
  const least = Math.max(2, Math.floor(most))
  for (let k = least; ; k++) {
    const out = f(range, k)
    if (out.length >= 2 || k > 4 * least) return out
  }
}

// isDate reports whether a browser has a date for days since the beginning of 1970: a link may say anything.
const isDate = x => Math.abs(x) < 1e8 - 1e6

// dateTicks are round times in a range of days, about so many, as [time, text].
function dateTicks([lo, hi], most) {
  if (!isDate(lo) || !isDate(hi)) return []
  const days = (hi - lo) / most, out = []
  if (days > 20) {
    const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find(m => m * 30.4 >= days) ?? 12000, first = new Date(lo * day)
    for (let m = Math.ceil((12 * first.getUTCFullYear() + first.getUTCMonth()) / months) * months; out.length < 100; m += months) {
      const v = new Date(Date.UTC(2000, 0)).setUTCFullYear(Math.floor(m / 12), m % 12, 1) / day
      if (v > hi) break
      if (v >= lo) out.push([v, new Date(v * day).toISOString().slice(0, months % 12 === 0 ? 4 : 7)])
    }
    return out
  }
  const steps = [1 / 1440, 5 / 1440, 15 / 1440, 1 / 24, 3 / 24, 6 / 24, .5, 1, 2, 7, 14, 28], step = steps.find(s => s >= days) ?? 28
  for (let k = Math.ceil(lo / step); k * step <= hi && out.length < 100; k++) {
    const text = new Date(Math.round(k * step * 1440) * 60000).toISOString()
    out.push([k * step, step >= 1 ? text.slice(0, 10) : text.slice(5, 16).replace('T', ' ')])
  }
  return out
}
