// The view of maps: values at places in the plane, clicked or pasted as a table, and the map and its deviation that a model makes of them.
// The models that need no training take any units; those that were trained bring values and coordinates into theirs.
import { color, corrects, drawMap, heat, holdTouches, resolved, tapReach, warm } from './draw.js'
import { engine, latest } from './engine.js'
import { fit } from './link.js'
import { TablePanel, mostRows } from './table.js'

const element = id => document.getElementById(id)
const side = 48 // cells of the map
const margin = 1.12 // of the window around the places
const flags = ['positive', 'robust'] // parameters of the request that boxes set, of models that interpolate

export const initial = {
  model: '', value: 1, positive: false, robust: false, window: [0, 0, 10],
  points: [[1.2, 8.4, 2.1], [2.4, 5.9, 2.9], [4.6, 8.8, 1.4], [5.1, 4.9, 3.4], [7.8, 7.2, 0.8], [8.6, 3.1, 1.7], [3.3, 1.8, 4.1], [6.4, 1.2, 2.8]],
}

// fits says what a link may say.
export const fits = {
  model: fit.text, value: Number.isFinite, positive: fit.flag, robust: fit.flag, window: v => fit.row(3)(v) && v[2] > 0, points: fit.rows(3, mostRows),
}

// isUniversal reports whether a model interpolates what it is given, without any training.
export const isUniversal = ({ config: c }) => c.architecture === 'krige'

// takes reports whether a model predicts one number at places in the plane.
export const takes = ({ config: c }) => c.dim_x === 2 && c.dim_y === 1 && !/image/.test(c.architecture) && c.placement !== 'sphere'

export class Map2D {
  #selected = -1
  #answer = null // {mean, std, window}
  #cursor = null // the place that is read off, or the middle
  #table
  #canvases = { mean: element('map-mean'), std: element('map-std') }

  constructor(state, models, { changed, report, problem }) {
    this.state = state
    this.models = [...models.filter(isUniversal), ...models.filter(m => !isUniversal(m))]
    Object.assign(this, { changed, report, problem })
    for (const m of this.models) element('map-model').add(new Option(m.name, m.name))
    const on = (id, type, f) => element(id).addEventListener(type, e => { f(e.target); this.update(e.timeStamp) })
    on('map-model', 'input', t => { this.state.model = t.value })
    on('map-value', 'input', t => {
      const v = t.value === '' ? NaN : +t.value
      if (!Number.isFinite(v)) return
      this.state.value = v
      if (this.#selected >= 0) this.state.points[this.#selected][2] = v
    })
    for (const name of flags) on(`map-${name}`, 'change', t => { this.state[name] = t.checked })
    corrects(element('map-value'), () => this.#value())
    on('map-clear', 'click', () => { this.state.points = []; this.#selected = -1 })
    this.#table = new TablePanel('map', { kind: 'map', problem, taken: ({ points }) => {
      this.state.points = points
      this.state.window = windowOf(points)
      this.#selected = -1
      this.#cursor = null
      this.update()
    } })
    for (const canvas of Object.values(this.#canvases)) this.#edit(canvas)
    new ResizeObserver(() => this.#draw()).observe(this.#canvases.mean)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  // restore takes over a state, from a link.
  restore(state) {
    this.state = state
    this.#cursor = null
  }

  // drop takes a file.
  drop(file) { this.#table.takeFile(file) }

  // #value is that of the point that is chosen, or of the next one.
  #value() { return this.state.points[this.#selected]?.[2] ?? this.state.value }

  model() { return this.models.find(m => m.name === this.state.model) ?? this.models[0] }

  #at(canvas, e) {
    const r = canvas.getBoundingClientRect(), [x, y, width] = this.state.window
    return [x + (e.clientX - r.left) / r.width * width, y + (1 - (e.clientY - r.top) / r.height) * width].map(v => rounded(v, width))
  }

  // #inside returns the place of the window that is nearest to another one.
  #inside(place) {
    const { window } = this.state, width = window[2]
    return place.map((v, d) => rounded(Math.min(Math.max(v, window[d]), window[d] + width), width))
  }

  #near(canvas, e, reach) {
    const [px, py] = this.#at(canvas, e), unit = canvas.clientWidth / this.state.window[2]
    let best = -1, least = reach
    this.state.points.forEach(([x, y], i) => {
      const d = Math.hypot(x - px, y - py) * unit
      if (d < least) [best, least] = [i, d]
    })
    return best
  }

  #add(place) { this.#selected = this.state.points.push([...place, this.state.value]) - 1 }

  #remove(i) {
    this.state.points.splice(i, 1)
    this.#selected = -1
  }

  #edit(canvas) {
    let held = -1, last = 0, tap = null // a touch beside all points, which adds one if it does not scroll
    holdTouches(canvas, e => this.#near(canvas, e, 24) >= 0)
    canvas.addEventListener('pointerdown', e => {
      if (e.button !== 0) return
      this.#cursor = this.#inside(this.#at(canvas, e))
      held = this.#near(canvas, e, e.pointerType === 'touch' ? 24 : 10)
      if (held >= 0 && held === this.#selected && e.timeStamp - last < 350) { // a double click
        this.#remove(held)
        held = -1
      } else if (held < 0 && e.pointerType === 'touch') {
        tap = e
        return
      } else {
        if (held < 0) this.#add(this.#at(canvas, e)), held = this.#selected
        last = e.timeStamp
        this.#selected = held
        canvas.setPointerCapture(e.pointerId)
      }
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointermove', e => {
      if (tap && Math.hypot(e.clientX - tap.clientX, e.clientY - tap.clientY) > tapReach) tap = null
      this.#cursor = this.#inside(this.#at(canvas, e))
      if (held < 0) {
        this.#say()
        return
      }
      this.state.points[held].splice(0, 2, ...this.#inside(this.#at(canvas, e)))
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointerup', e => {
      if (tap) {
        this.#add(this.#at(canvas, e))
        last = e.timeStamp
        this.update(e.timeStamp)
      }
      held = -1
      tap = null
    })
    canvas.addEventListener('pointercancel', () => { held = -1; tap = null })
    canvas.addEventListener('pointerleave', e => {
      if (e.pointerType === 'touch') return // a finger leaves after each tap, and what it read off stays
      this.#cursor = null
      this.#say()
    })
    canvas.addEventListener('keydown', e => this.#key(e))
  }

  #key(e) {
    const { points, window: [x, y, width] } = this.state, n = points.length, step = width / (e.shiftKey ? 10 : 50)
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'n' || e.key === 'N') {
      this.#add([rounded(x + width / 2, width), rounded(y + width / 2, width)])
    } else if ((e.key === ',' || e.key === '.') && n > 0) {
      this.#selected = this.#selected < 0 ? 0 : (this.#selected + (e.key === '.' ? 1 : n - 1)) % n
    } else if (e.key === 'Escape') {
      this.#selected = -1
    } else if ((e.key === 'Delete' || e.key === 'Backspace') && this.#selected >= 0) {
      this.#remove(this.#selected)
    } else if (moves[e.key] && this.#selected >= 0) {
      const p = points[this.#selected]
      p.splice(0, 2, ...this.#inside([0, 1].map(d => p[d] + moves[e.key][d])))
    } else {
      return
    }
    e.preventDefault()
    this.#cursor = points[this.#selected]?.slice(0, 2) ?? null
    this.update(e.timeStamp)
  }

  show() {
    element('map-model').value = this.model()?.name ?? ''
    for (const name of flags) {
      element(`map-${name}`).checked = this.state[name]
      element(`map-${name}`).disabled = !(this.model() && isUniversal(this.model()))
    }
    element('map-value-of').textContent = this.#selected >= 0 ? `Value of point ${this.#selected + 1}` : 'Value of the next point'
    if (document.activeElement !== element('map-value')) element('map-value').value = this.#value()
  }

  update(stamp = performance.now()) {
    if (this.#selected >= this.state.points.length) this.#selected = -1
    this.show()
    this.#draw()
    this.changed()
    if (!this.model()) return
    for (const canvas of Object.values(this.#canvases)) canvas.dataset.stale = 'true'
    this.#predict(stamp)
  }

  // request is that of the map: the points, and the middles of its cells, from the lower left, row by row.
  request() {
    const { points, window: [x, y, width] } = this.state, n = points.length, places = new Float64Array(2 * side * side)
    for (let i = 0; i < side * side; i++) {
      places[2 * i] = x + (i % side + .5) / side * width
      places[2 * i + 1] = y + (Math.floor(i / side) + .5) / side * width
    }
    return {
      inputs: [
        { name: 'x_context', datatype: 'FP64', shape: [1, n, 2], data: Float64Array.from(points.flatMap(p => p.slice(0, 2))) },
        { name: 'y_context', datatype: 'FP32', shape: [1, n, 1], data: Float32Array.from(points, p => p[2]) },
        { name: 'x_target', datatype: 'FP64', shape: [1, side * side, 2], data: places },
      ],
      outputs: ['mean', 'std'],
      parameters: isUniversal(this.model()) ? Object.fromEntries(flags.filter(name => this.state[name]).map(name => [name, true])) : {},
    }
  }

  // example is the request of what other programs are shown: the middle of the window is enough.
  example() {
    const r = this.request(), [x, y, width] = this.state.window
    r.inputs[2] = { ...r.inputs[2], shape: [1, 1, 2], data: Float64Array.of(x + width / 2, y + width / 2) }
    return r
  }

  #predict = latest(async stamp => {
    const model = this.model(), window = this.state.window, stale = v => { for (const canvas of Object.values(this.#canvases)) canvas.dataset.stale = v }
    stale('true') // the answer that came last may be to older points
    if (this.state.points.length === 0 && isUniversal(model)) { // of nothing it knows nothing, not even a scale
      this.#answer = null
      stale('false')
      this.problem(null)
      this.#draw()
      return
    }
    try {
      const { outputs: { mean, std }, timing } = await engine.infer(model.name, this.request())
      this.#answer = { mean: mean.data, std: std.data, window }
      this.problem(null)
      stale('false')
      this.#draw()
      this.report({ view: 'map', drawn: performance.now() - stamp, timing, model: model.name })
    } catch (e) {
      this.problem(e)
    }
  })

  #draw() {
    const values = this.state.points.map(p => p[2]), a = this.#current()
    const [lo, hi] = span([...values, ...(a ? a.mean : [])]), most = a ? Math.max(...a.std) : 1
    this.#paint(this.#canvases.mean, a?.mean, warm, lo, hi)
    this.#paint(this.#canvases.std, a?.std, heat, 0, most)
    const text = v => resolved(v, hi - lo)
    element('map-mean-scale').textContent = a ? `from ${text(lo)} (blue) to ${text(hi)} (red)` : ''
    element('map-std-scale').textContent = a ? `from 0 (dark) to ${resolved(most, most)} (bright)` : ''
    this.#say(a)
  }

  // #current is the answer, if it is one to this window: a map of another one is of other places.
  #current() { return this.#answer?.window.every((v, i) => v === this.state.window[i]) ? this.#answer : null }

  // #say tells in words which point is chosen, and what the map says where it is read off.
  #say(a = this.#current()) {
    const { points, window: [left, lower, width] } = this.state, chosen = points[this.#selected]
    const n = points.length, status = element('map-status'), says = [`${n} point${n === 1 ? '' : 's'}.`]
    const data = { points: n, selected: this.#selected, mean: '', std: '', lo: '', hi: '' }
    if (n === 0) says.push('Click to add one, or paste a table.')
    const at = (x, y) => `x = ${rounded(x, width)}, y = ${rounded(y, width)}`, pair = i => `${resolved(a.mean[i], a.std[i])} ± ${resolved(a.std[i], a.std[i])}`
    if (chosen) says.push(`Point ${this.#selected + 1} is ${chosen[2]} at ${at(...chosen)}.`)
    if (a) {
      const middle = side * side / 2 + side / 2
      Object.assign(data, { mean: a.mean[middle], std: a.std[middle], lo: Math.min(...a.mean), hi: Math.max(...a.mean) })
      const [i, j] = this.#cursor?.map((v, d) => Math.min(Math.max(Math.floor((v - [left, lower][d]) / width * side), 0), side - 1)) ?? []
      says.push(this.#cursor ? `At ${at(...this.#cursor)} the map says ${pair(j * side + i)}.` : `In the middle of the map ${pair(middle)}.`)
    }
    status.textContent = says.join(' ')
    Object.assign(status.dataset, data)
  }

  // #paint shows the cells and, in the same colours, the points.
  #paint(canvas, cells, colors, lo, hi) {
    const scale = devicePixelRatio || 1, width = canvas.clientWidth, c = canvas.getContext('2d')
    if (width === 0) return // not shown
    if (canvas.width !== Math.round(width * scale)) canvas.width = canvas.height = Math.round(width * scale)
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.clearRect(0, 0, width, width)
    if (cells) {
      const small = document.createElement('canvas'), up = new Float32Array(side * side)
      for (let i = 0; i < side; i++) up.set(cells.subarray((side - 1 - i) * side, (side - i) * side), i * side)
      drawMap(small, up, side, colors, lo, hi)
      c.imageSmoothingEnabled = true
      c.drawImage(small, 0, 0, width, width)
    }
    const [x, y, extent] = this.state.window
    this.state.points.forEach(([px, py, v], i) => {
      const at = [(px - x) / extent * width, (1 - (py - y) / extent) * width]
      c.beginPath()
      c.arc(...at, 5.5, 0, 2 * Math.PI)
      c.fillStyle = canvas === this.#canvases.mean && cells ? `rgb(${colors[index(v, lo, hi)].map(Math.round).join(' ')})` : color('ground')
      c.fill()
      // Two rings, a dark one and a bright one: some colour of the map hides either.
      const wide = i === this.#selected ? 3 : 1.2
      for (const [ring, line] of [['#ffffff', wide + 2], ['#1b1e24', wide]]) {
        c.strokeStyle = ring
        c.lineWidth = line
        c.stroke()
      }
    })
  }
}

const index = (v, lo, hi) => Math.round(255 * Math.min(Math.max((v - lo) / (hi - lo), 0), 1))

// rounded gives a coordinate the digits that can be seen in a window of that width.
const rounded = (v, width) => Number(v.toFixed(Math.min(Math.max(3 - Math.floor(Math.log10(width)), 0), 12)))

// span is the range of values, never empty.
function span(values) {
  const known = values.filter(Number.isFinite)
  if (known.length === 0) return [0, 1]
  const lo = known.reduce((a, b) => Math.min(a, b)), hi = known.reduce((a, b) => Math.max(a, b))
  return hi > lo ? [lo, hi] : [lo - .5, hi + .5]
}

// windowOf is a square around points, as [left, lower, width].
export function windowOf(points) {
  const [[x0, x1], [y0, y1]] = [0, 1].map(d => span(points.map(p => p[d]))), width = margin * Math.max(x1 - x0, y1 - y0)
  return [(x0 + x1 - width) / 2, (y0 + y1 - width) / 2, width]
}
