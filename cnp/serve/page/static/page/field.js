// The view of vector fields in the plane, such as wind: arrows that one sets, the field that models make of them, and whether that turns,
// places and arrows, when the arrows are turned.
import { color, figures, holdTouches, snapping, tapReach } from './draw.js'
import { engine, latest } from './engine.js'
import { fit } from './link.js'
import { uniform } from './random.js'

const element = id => document.getElementById(id)
const side = 15 // of the grid of places where models are asked
const stay = { angle: 0, x: 0, y: 0 }

// Stations are [x, y, u, v], all in a unit of their own: the window goes from -1 to 1, and arrows of length 1 are two deviations of what
// the model was trained on. So a link means something for any model.
export const initial = {
  stations: [[-.6, .4, .6, .3], [-.2, .7, .8, -.2], [.5, .5, .3, -.8], [.7, -.1, -.3, -.7], [.2, -.6, -.8, .1], [-.5, -.5, -.4, .6], [0, 0, .1, .1]],
  seed: 1, angle: 90, x: 0, y: 0,
}

// fits says what a link may say.
export const fits = {
  stations: fit.rows(4, 1000), seed: fit.whole(0, 2 ** 32), angle: fit.number(-180, 180), x: fit.number(-.5, .5), y: fit.number(-.5, .5),
}

// vectorOf returns the first column of the first vector among a model's outputs, or -1.
// Those before it are single numbers.
const vectorOf = ({ outputs = [] }) => outputs.indexOf('vector')

// takes reports whether a model predicts vectors in the plane.
export const takes = ({ config: c }) => c.dim_x === 2 && !/image/.test(c.architecture) && c.placement !== 'sphere' && vectorOf(c) >= 0

// unitsOf returns what the view's units are in a model's data: where its window is, how wide, and how long its vectors.
function unitsOf({ config: c }) {
  const x = c.trained?.x, y = c.trained?.y, at = vectorOf(c)
  if (!x || !y) return { centre: [0, 0], half: 3, length: 2 }
  const half = Math.max(...x.map(v => v.max - v.min)) / 2, middle = x.map(v => (v.max + v.min) / 2)
  // Where the origin is about the middle it is the middle: groups without shifts know no other.
  return { half, centre: Math.hypot(...middle) < half / 4 ? [0, 0] : middle, length: 2 * Math.hypot(y[at].std, y[at + 1].std) / Math.SQRT2 || 2 }
}

const grid = []
for (let i = 0; i < side; i++) {
  for (let j = 0; j < side; j++) {
    const x = (j - (side - 1) / 2) / (side - 1) * 2, y = (i - (side - 1) / 2) / (side - 1) * 2
    if (Math.hypot(x, y) <= 1.01) grid.push([x, y]) // a disk, which stays one when it turns
  }
}

const turned = (angle, [x, y]) => {
  const s = Math.sin(angle * Math.PI / 180), c = Math.cos(angle * Math.PI / 180)
  return Number.isInteger(angle / 90) ? turned90(angle / 90, x, y) : [c * x - s * y, s * x + c * y]
}
const turned90 = (k, x, y) => [[x, y], [-y, x], [-x, -y], [y, -x]][(k % 4 + 4) % 4] // to the last bit

export class Field {
  #cards = new Map()
  #answers = new Map() // model → {mean, std, still, fit, g}, vectors in the view's units at the grid
  #selected = -1

  constructor(state, models, { changed, report, problem }) {
    this.state = state
    this.models = models
    Object.assign(this, { changed, report, problem })
    const on = (id, type, f) => element(id).addEventListener(type, e => { f(e.target); this.update(e.timeStamp) })
    const angle = snapping(element('field-angle'))
    for (const key of ['angle', 'x', 'y']) on(`field-${key}`, 'input', t => { this.state[key] = key === 'angle' ? angle() : +t.value })
    on('field-still', 'click', () => Object.assign(this.state, stay))
    on('field-clear', 'click', () => { this.state.stations = []; this.#selected = -1 })
    on('field-new', 'click', () => this.#drawStations())
    for (const m of models) this.#card(m)
    if (models.length > 0) new ResizeObserver(() => this.#draw()).observe(this.#cards.get(models[0].name).canvases.after)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  // restore takes over a state, from a link.
  restore(state) { this.state = state }

  model() { return this.models[0] }

  #still() { return this.state.angle === 0 && this.state.x === 0 && this.state.y === 0 }

  // move applies g to a place, back undoes it.
  #move(p, { angle, x, y } = this.state) {
    const [a, b] = turned(angle, p)
    return [a + x, b + y]
  }

  #back([a, b]) {
    const { angle, x, y } = this.state
    return turned(-angle, [a - x, b - y])
  }

  // #stations are those on the screen: the state's, moved, and their arrows turned.
  #stations() { return this.state.stations.map(s => [...this.#move(s), ...turned(this.state.angle, s.slice(2))]) }

  // #drawStations takes some arrows of a smooth field: a few waves in random directions.
  #drawStations() {
    const s = this.state, u = uniform(++s.seed), n = 8 + Math.floor(14 * u())
    const waves = Array.from({ length: 5 }, () => ({ k: [4 * u() - 2, 4 * u() - 2], phase: 7 * u(), a: [u() - .5, u() - .5] }))
    s.stations = Array.from({ length: n }, () => {
      const r = .95 * Math.sqrt(u()), t = 2 * Math.PI * u(), x = r * Math.cos(t), y = r * Math.sin(t), v = [0, 0]
      for (const { k, phase, a } of waves) for (const d of [0, 1]) v[d] += a[d] * Math.sin(k[0] * x + k[1] * y + phase)
      return [x, y, ...v].map(round)
    })
    this.#selected = -1
  }

  // #card returns the place of a model's answers.
  #card(m) {
    const root = document.createElement('article'), title = document.createElement('h3'), difference = document.createElement('p'), numbers = document.createElement('p'), row = document.createElement('div'), canvases = {}
    const { group, lifts, architecture } = m.config
    root.className = 'card'
    root.id = `field-card-${m.name}`
    title.textContent = `${group ? lifts > 1 ? `${group}, ${lifts} lifts` : group : architecture} · ${m.name}`
    root.title = m.trainedOn ?? ''
    difference.className = 'difference'
    numbers.className = 'numbers'
    row.className = 'globes'
    const kinds = { after: 'f(g x), and its deviations', moved: 'g f(x), the field of before, moved', difference: 'difference' }
    for (const [key, canvas] of figures(row, 'field', m.name, kinds)) {
      canvases[key] = canvas
      this.#edit(canvas)
    }
    root.append(title, difference, numbers, row)
    element('field-cards').append(root)
    this.#cards.set(m.name, { root, difference, numbers, canvases, ask: latest(stamp => this.#ask(m, stamp)) })
  }

  #edit(canvas) {
    let held = -1, tip = false, from = null, last = 0, tap = null // a touch beside all arrows, which adds one if it does not scroll
    const at = e => {
      const r = canvas.getBoundingClientRect()
      return [((e.clientX - r.left) / r.width * 2 - 1) / room, (1 - (e.clientY - r.top) / r.height * 2) / room]
    }
    // near returns the number of the place under a pointer, or -1.
    const near = (places, e, reach) => {
      const [x, y] = at(e), unit = canvas.clientWidth * room / 2
      let best = -1, least = reach
      places.forEach(([px, py], i) => {
        const d = Math.hypot(px - x, py - y) * unit
        if (d < least) [best, least] = [i, d]
      })
      return best
    }
    const set = e => {
      const s = this.state.stations[held], p = this.#back(at(e)).map(v => Math.min(Math.max(v, -1.2), 1.2))
      tip ? s.splice(2, 2, round((p[0] - s[0]) / arrow), round((p[1] - s[1]) / arrow)) : s.splice(0, 2, ...p.map(round))
    }
    const tips = stations => stations.map(([x, y, u, v]) => [x + arrow * u, y + arrow * v])
    holdTouches(canvas, e => { const s = this.#stations(); return near(tips(s), e, 24) >= 0 || near(s, e, 24) >= 0 })
    canvas.addEventListener('pointerdown', e => {
      if (e.button !== 0) return
      const stations = this.#stations(), reach = e.pointerType === 'touch' ? 24 : 10
      held = near(tips(stations), e, reach)
      tip = held >= 0
      if (!tip) held = near(stations, e, reach)
      canvas.setPointerCapture(e.pointerId)
      from = [e.clientX, e.clientY]
      if (held >= 0 && this.#selected === held && e.timeStamp - last < 350) { // a double click
        this.#remove(held, e)
        held = -1
        return
      }
      if (held < 0 && e.pointerType === 'touch') {
        tap = e
        return
      }
      if (held < 0) { // a new arrow, the tip of which is held
        held = this.state.stations.push([...this.#back(at(e)).map(round), ...turned(-this.state.angle, [.5, 0]).map(round)]) - 1
        tip = true
        last = 0
      } else {
        last = e.timeStamp
      }
      this.#selected = held
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointermove', e => {
      if (tap && Math.hypot(e.clientX - tap.clientX, e.clientY - tap.clientY) > tapReach) tap = null
      if (held < 0) return
      if (Math.hypot(e.clientX - from[0], e.clientY - from[1]) > 4) last = 0 // no click
      set(e)
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointerup', e => {
      if (tap) {
        this.#selected = this.state.stations.push([...this.#back(at(e)).map(round), ...turned(-this.state.angle, [.5, 0]).map(round)]) - 1
        last = 0
        this.update(e.timeStamp)
      }
      held = -1
      tap = null
    })
    canvas.addEventListener('pointercancel', () => { held = -1; tap = null })
    canvas.addEventListener('keydown', e => this.#key(e))
  }

  #remove(i, e) {
    this.state.stations.splice(i, 1)
    this.#selected = -1
    this.update(e.timeStamp)
  }

  #key(e) {
    const { stations, angle } = this.state, n = stations.length
    const moves = { ArrowLeft: [-.05, 0], ArrowRight: [.05, 0], ArrowUp: [0, .05], ArrowDown: [0, -.05] }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'n' || e.key === 'N') {
      this.#selected = stations.push([...this.#back([0, 0]).map(round), ...turned(-angle, [.5, 0]).map(round)]) - 1
    } else if ((e.key === ',' || e.key === '.') && n > 0) {
      this.#selected = this.#selected < 0 ? 0 : (this.#selected + (e.key === '.' ? 1 : n - 1)) % n
    } else if ((e.key === 'Delete' || e.key === 'Backspace') && this.#selected >= 0) {
      e.preventDefault()
      this.#remove(this.#selected, e)
      return
    } else if (moves[e.key] && this.#selected >= 0) { // the place, or with Shift the arrow
      const s = stations[this.#selected], d = turned(-angle, moves[e.key]), at = e.shiftKey ? 2 : 0
      s.splice(at, 2, round(s[at] + d[0]), round(s[at + 1] + d[1]))
    } else {
      return
    }
    e.preventDefault()
    this.update(e.timeStamp)
  }

  show() {
    const s = this.state
    for (const key of ['angle', 'x', 'y']) element(`field-${key}`).value = s[key]
    element('field-angle-value').value = `${s.angle}°`
    element('field-x-value').value = s.x
    element('field-y-value').value = s.y
  }

  update(stamp = performance.now()) {
    if (this.#selected >= this.state.stations.length) this.#selected = -1
    this.show()
    this.#draw()
    this.changed()
    for (const { root, ask } of this.#cards.values()) {
      root.dataset.stale = 'true'
      ask(stamp)
    }
  }

  // request is that of the prediction: the moved stations and the moved grid and, if anything is moved, both as they were beside them. The
  // stations are targets, too, after the grid.
  request(m = this.model()) {
    const s = this.state, moves = this.#still() ? [stay] : [s, stay], n = s.stations.length, targets = [...grid, ...s.stations], t = targets.length
    const { centre, half, length } = unitsOf(m), dy = m.config.dim_y, column = vectorOf(m.config), b = moves.length
    const x = new Float64Array(b * n * 2), y = new Float32Array(b * n * dy).fill(m.config.channel_density ? NaN : 0), xt = new Float64Array(b * t * 2)
    const put = (into, at, p, g) => this.#move(p, g).forEach((v, d) => { into[2 * at + d] = centre[d] + half * v })
    moves.forEach((g, k) => {
      s.stations.forEach((p, i) => {
        put(x, k * n + i, p, g)
        turned(g.angle, p.slice(2)).forEach((v, d) => { y[(k * n + i) * dy + column + d] = length * v })
      })
      targets.forEach((p, i) => put(xt, k * t + i, p, g))
    })
    return {
      inputs: [
        { name: 'x_context', datatype: 'FP64', shape: [b, n, 2], data: x },
        { name: 'y_context', datatype: 'FP32', shape: [b, n, dy], data: y },
        { name: 'x_target', datatype: 'FP64', shape: [b, t, 2], data: xt },
      ],
      outputs: ['mean', 'std'],
      parameters: { standardise: m.config.trained?.units !== undefined },
    }
  }

  async #ask(m, stamp) {
    const { dataset } = this.#cards.get(m.name).root
    dataset.stale = 'true' // the answer that came last may be to an older request
    try {
      const request = this.request(m), g = { ...this.state }, { outputs: { mean, std }, timing } = await engine.infer(m.name, request)
      const dy = m.config.dim_y, column = vectorOf(m.config), { length } = unitsOf(m), [tasks, t] = request.inputs[2].shape
      const vectors = (data, k) => Array.from({ length: t }, (_, i) => [0, 1].map(d => data[(k * t + i) * dy + column + d] / length))
      const after = vectors(mean.data, 0), n = request.inputs[0].shape[1]
      const seen = Array.from({ length: n }, (_, i) => [0, 1].map(d => request.inputs[1].data[i * dy + column + d] / length))
      this.#answers.set(m.name, {
        after: after.slice(0, grid.length), deviations: vectors(std.data, 0).slice(0, grid.length), g,
        still: tasks === 2 ? vectors(mean.data, 1).slice(0, grid.length).map(v => turned(g.angle, v)) : null,
        fit: n > 0 ? size(seen.map((v, i) => minus(v, after[grid.length + i]))) : 0,
      })
      this.problem(null, m.name)
      dataset.stale = 'false'
      this.#draw()
      this.report({ view: 'field', drawn: performance.now() - stamp, timing, model: m.name })
    } catch (e) {
      this.problem(e, m.name)
    }
  }

  #draw() {
    const stations = this.#stations(), status = element('field-status'), chosen = stations[this.#selected]
    for (const [name, { root, difference, numbers, canvases }] of this.#cards) {
      const a = this.#answers.get(name)
      for (const k of ['moved', 'difference']) canvases[k].parentElement.hidden = this.#still()
      const places = a && grid.map(p => this.#move(p, a.g))
      drawField(canvases.after, places, a?.after, a?.deviations, stations, this.#selected)
      const data = root.dataset
      if (a) {
        Object.assign(data, { angle: a.g.angle, x: a.g.x, y: a.g.y, fit: a.fit, speed: size(a.after), deviation: size(a.deviations) })
        numbers.textContent = `misses its arrows by ${a.fit.toFixed(3)} · deviation ${size(a.deviations).toFixed(3)}`
      }
      if (!a?.still || this.#still()) {
        difference.textContent = ''
        data.difference = ''
        continue
      }
      const d = a.after.map((v, i) => minus(v, a.still[i])), number = document.createElement('strong')
      drawField(canvases.moved, places, a.still, null, stations, this.#selected)
      drawField(canvases.difference, places, d, null, [], -1)
      data.difference = size(d)
      number.textContent = size(d).toExponential(1)
      difference.replaceChildren('f(g x) and g f(x) differ by ', number)
    }
    const n = stations.length
    const says = [`${n} arrow${n === 1 ? '' : 's'}.`], pair = v => `(${v.map(round).join(', ')})`
    if (chosen) says.push(`Arrow ${this.#selected + 1} is ${pair(chosen.slice(2))}, at ${pair(chosen.slice(0, 2))}.`)
    says.push('An arrow of length 1 is two standard deviations of what a model was trained on.')
    status.textContent = says.join(' ')
    Object.assign(status.dataset, { stations: n, selected: this.#selected, first: (this.state.stations.at(-1) ?? []).join(' ') })
  }
}

const room = .8 // of a canvas's half, the window
const arrow = .2 // how long a vector of length 1 is drawn

const minus = (a, b) => a.map((v, d) => v - b[d])
// size is the root of the mean square length, of those that are known.
function size(vectors) {
  const known = vectors.filter(([u, v]) => u === u && v === v)
  return known.length ? Math.sqrt(known.reduce((s, [u, v]) => s + u * u + v * v, 0) / known.length) : 0
}

// drawField shows vectors at places, the deviations of both components as an ellipse around each tip, and stations.
function drawField(canvas, places, vectors, deviations, stations, selected) {
  const c = canvas.getContext('2d'), scale = devicePixelRatio || 1, width = canvas.clientWidth
  if (width === 0) return // not shown
  if (canvas.width !== Math.round(width * scale)) canvas.width = canvas.height = Math.round(width * scale)
  c.setTransform(scale, 0, 0, scale, 0, 0)
  c.clearRect(0, 0, width, width)
  const unit = width / 2 * room, x = v => width / 2 + unit * v, y = v => width / 2 - unit * v
  c.strokeStyle = color('line')
  c.lineWidth = 1
  for (const line of [[[-2, 0], [2, 0]], [[0, -2], [0, 2]]]) {
    c.beginPath()
    for (const [a, b] of line) c.lineTo(x(a), y(b))
    c.stroke()
  }
  const shaft = ([px, py], [u, v], head) => {
    const ax = x(px), ay = y(py), bx = x(px + arrow * u), by = y(py + arrow * v), long = Math.hypot(bx - ax, by - ay)
    c.beginPath()
    c.moveTo(ax, ay)
    c.lineTo(bx, by)
    c.stroke()
    if (!(long > .5)) return
    const dx = (bx - ax) / long, dy = (by - ay) / long, h = Math.min(head, long)
    c.beginPath()
    c.moveTo(bx, by)
    c.lineTo(bx - h * (dx + .5 * dy), by - h * (dy - .5 * dx))
    c.lineTo(bx - h * (dx - .5 * dy), by - h * (dy + .5 * dx))
    c.fill()
  }
  if (deviations) {
    c.fillStyle = color('band')
    places.forEach(([px, py], i) => {
      const [u, v] = vectors[i], [s, t] = deviations[i]
      if (!(s >= 0 && t >= 0)) return
      c.beginPath()
      c.ellipse(x(px + arrow * u), y(py + arrow * v), Math.min(unit * arrow * s, width), Math.min(unit * arrow * t, width), 0, 0, 2 * Math.PI)
      c.fill()
    })
  }
  c.strokeStyle = c.fillStyle = color('accent')
  c.lineWidth = 1.4
  if (vectors) places.forEach((p, i) => shaft(p, vectors[i], 5))
  stations.forEach((s, i) => {
    c.strokeStyle = c.fillStyle = color('point')
    c.lineWidth = 2.2
    shaft(s, s.slice(2), 8)
    c.beginPath()
    c.arc(x(s[0]), y(s[1]), 4, 0, 2 * Math.PI)
    c.fill()
    if (i !== selected) return
    c.strokeStyle = color('text')
    c.beginPath()
    c.arc(x(s[0]), y(s[1]), 8, 0, 2 * Math.PI)
    c.stroke()
  })
}

const round = v => Math.round(v * 1000) / 1000
