// The view of the globe: stations that one moves, what models make of them everywhere, and whether that turns when the globe is turned.
import { figures, heat, holdTouches, signed, snapping } from './draw.js'
import { engine, latest } from './engine.js'
import { fit } from './link.js'
import { cholesky } from './process.js'
import { normal, uniform } from './random.js'
import { apply, areas, Globe, grid, place, rotation, transposed, valueAt, vector, View } from './sphere.js'

const element = id => document.getElementById(id)
const range = 2.5 // of values, on the globes

export const initial = {
  stations: [[52, 13, 1.2], [48, 2, .8], [60, 25, 1.6], [40, -4, -.4], [41, 29, -.8], [30, 31, -1.6], [15, 0, -1.2], [64, -22, .6], [33, -7, -.9], [55, 38, 1.1]],
  value: 1, seed: 1, camera: [60, 12], spin: 0, tilt: 40,
}

// fits says what a link may say.
export const fits = {
  stations: fit.rows(3, 1000), value: Number.isFinite, seed: fit.whole(0, 2 ** 32), camera: fit.row(2), spin: fit.number(-180, 180), tilt: fit.number(-180, 180),
}

// takes reports whether a model predicts a number at latitudes and longitudes.
export const takes = ({ config: c, trainedOn }) => c.dim_x === 2 && c.dim_y === 1 && !/image|krige/.test(c.architecture) && (c.placement === 'sphere' || /latitude/.test(trainedOn ?? ''))

export class GlobeView {
  #cards = new Map()
  #selected = -1
  #cursor // a unit vector of the turned globe, where values are read off
  #view
  #answers = new Map() // model → {mean, std, still}, on the grid that turns with the data; still: of the globe before it is turned

  constructor(state, models, { changed, report, problem }) {
    this.state = state
    this.models = models
    Object.assign(this, { changed, report, problem })
    const on = (id, type, f) => element(id).addEventListener(type, e => { f(e.target); this.update(e.timeStamp) })
    on('globe-value', 'input', t => {
      this.state.value = +t.value
      if (this.#selected >= 0) this.state.stations[this.#selected][2] = +t.value
    })
    for (const key of ['spin', 'tilt']) {
      const read = snapping(element(`globe-${key}`))
      on(`globe-${key}`, 'input', () => { this.state[key] = read() })
    }
    on('globe-still', 'click', () => Object.assign(this.state, { spin: 0, tilt: 0 }))
    on('globe-clear', 'click', () => { this.state.stations = []; this.#selected = -1 })
    on('globe-new', 'click', () => this.#drawStations())
    for (const m of models) this.#card(m)
    if (models.length > 0) new ResizeObserver(() => this.#draw()).observe(this.#cards.get(models[0].name).globes.mean.canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  // restore takes over a state, from a link.
  restore(state) { this.state = state }

  model() { return this.models[0] }

  #g() { return rotation(this.state) }

  #still() { return this.state.spin === 0 && this.state.tilt === 0 }

  // #stations are those on the screen: the state's, turned.
  #stations() {
    const g = this.#g()
    return this.state.stations.map(s => [...place(apply(g, vector(s))), s[2]])
  }

  // #drawStations takes stations at random, most of them in clusters as real ones are, and values of a process whose values are alike at
  // places that are near: that of Matérn with smoothness 5/2 and a length of 1600 km, which the shipped model was trained on.
  #drawStations() {
    const s = this.state, u = uniform(++s.seed), z = normal(s.seed + 1), n = 12 + Math.floor(28 * u())
    const anywhere = () => place([z(), z(), z()])
    const centres = Array.from({ length: 4 }, anywhere)
    const near = ([lat, lon]) => place(vector([lat, lon]).map(v => v + .2 * z()))
    const places = Array.from({ length: n }, () => u() < .7 ? near(centres[Math.floor(4 * u())]) : anywhere())
    const vectors = places.map(vector), k = (a, b) => {
      const d = Math.sqrt(5) * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) / .25
      return (1 + d + d * d / 3) * Math.exp(-d)
    }
    const cov = new Float64Array(n * n)
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) cov[i * n + j] = k(vectors[i], vectors[j]) + (i === j ? .05 : 0)
    const root = cholesky(cov, n), e = Float64Array.from({ length: n }, z)
    s.stations = places.map(([lat, lon], i) => {
      let y = 0
      for (let j = 0; j <= i; j++) y += root[i * n + j] * e[j]
      return [round(lat), round(lon), Math.round(100 * y) / 100]
    })
    this.#selected = -1
  }

  // #card returns the place of a model's answers.
  #card(m) {
    const root = document.createElement('article'), title = document.createElement('h3'), difference = document.createElement('p'), row = document.createElement('div'), globes = {}
    root.className = 'card'
    root.id = `globe-card-${m.name}`
    title.textContent = `${m.config.group ?? m.config.architecture} · ${m.name}`
    root.title = m.trainedOn ?? ''
    difference.className = 'difference'
    row.className = 'globes'
    const kinds = { mean: 'mean f(g x)', std: 'deviation of f(g x)', moved: 'g f(x), the mean of before, turned', difference: 'difference' }
    for (const [key, canvas] of figures(row, 'globe', m.name, kinds)) {
      globes[key] = new Globe(canvas)
      this.#edit(globes[key])
    }
    root.append(title, difference, row)
    element('globe-cards').append(root)
    this.#cards.set(m.name, { root, difference, globes, ask: latest(stamp => this.#ask(m, stamp)) })
  }

  #edit(globe) {
    const { canvas } = globe
    let held = -1, from = null, turning = false, last = 0
    // stored is a place on the screen as the state holds it: before it is turned.
    const stored = v => place(apply(transposed(this.#g()), v)).map(round)
    holdTouches(canvas, e => globe.near(this.#stations(), e, this.#view, 24) >= 0)
    canvas.addEventListener('pointerdown', e => {
      if (e.button !== 0) return
      held = globe.near(this.#stations(), e, this.#view, e.pointerType === 'touch' ? 24 : 12)
      canvas.setPointerCapture(e.pointerId)
      from = { x: e.clientX, y: e.clientY, camera: this.state.camera }
      turning = false
      this.#cursor = globe.at(e, this.#view)
      if (held < 0) return
      if (this.#selected === held && e.timeStamp - last < 350) { // a double click
        this.#remove(held, e)
        held = -1
        from = null
        return
      }
      last = e.timeStamp
      this.#select(held)
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointermove', e => {
      this.#cursor = globe.at(e, this.#view)
      if (held >= 0) {
        if (Math.hypot(e.clientX - from.x, e.clientY - from.y) > 4) last = 0 // no click
        this.state.stations[held].splice(0, 2, ...stored(this.#cursor))
        this.update(e.timeStamp)
        return
      }
      if (!from) {
        this.#status()
        return
      }
      const dx = e.clientX - from.x, dy = e.clientY - from.y
      if (turning ||= Math.hypot(dx, dy) > 4) {
        const by = 180 / canvas.clientWidth
        this.#look([from.camera[0] + by * dy, from.camera[1] - by * dx])
      }
    })
    canvas.addEventListener('pointerup', e => {
      if (from && held < 0 && !turning) { // a click beside all stations
        this.#select(this.state.stations.push([...stored(globe.at(e, this.#view)), this.state.value]) - 1)
        this.update(e.timeStamp)
      }
      held = -1
      from = null
    })
    canvas.addEventListener('pointercancel', () => { held = -1; from = null })
    canvas.addEventListener('keydown', e => this.#key(e, stored))
  }

  #select(i) {
    this.#selected = i
    if (i >= 0) this.state.value = this.state.stations[i][2]
  }

  #remove(i, e) {
    this.state.stations.splice(i, 1)
    this.#selected = -1
    this.update(e.timeStamp)
  }

  // #look turns the globe before the eye; what is known stays.
  #look([lat, lon]) {
    this.state.camera = [round(Math.min(Math.max(lat, -90), 90)), round(((lon + 180) % 360 + 360) % 360 - 180)]
    this.changed()
    this.#draw()
  }

  #key(e, stored) {
    const { stations, camera } = this.state, n = stations.length, step = e.shiftKey ? 10 : 2
    const moves = { ArrowLeft: [0, -step], ArrowRight: [0, step], ArrowUp: [step, 0], ArrowDown: [-step, 0] }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'n' || e.key === 'N') {
      this.#select(stations.push([...stored(vector(camera)), this.state.value]) - 1)
    } else if ((e.key === ',' || e.key === '.') && n > 0) {
      this.#select(this.#selected < 0 ? 0 : (this.#selected + (e.key === '.' ? 1 : n - 1)) % n)
    } else if (e.key === 'Escape') {
      this.#select(-1)
    } else if ((e.key === 'Delete' || e.key === 'Backspace') && this.#selected >= 0) {
      e.preventDefault()
      this.#remove(this.#selected, e)
      return
    } else if ((e.key === '+' || e.key === '-') && this.#selected >= 0) {
      const s = stations[this.#selected]
      s[2] = this.state.value = Math.round(10 * Math.min(Math.max(s[2] + (e.key === '+' ? .1 : -.1), -3), 3)) / 10
    } else if (moves[e.key] && this.#selected >= 0) {
      const [lat, lon] = this.#stations()[this.#selected], [dlat, dlon] = moves[e.key]
      stations[this.#selected].splice(0, 2, ...stored(vector([Math.min(Math.max(lat + dlat, -90), 90), lon + dlon])))
    } else if (moves[e.key]) {
      this.#look([camera[0] + 2.5 * moves[e.key][0], camera[1] + 2.5 * moves[e.key][1]])
      e.preventDefault()
      return
    } else {
      return
    }
    e.preventDefault()
    if (this.#selected >= 0) this.#cursor = vector(this.#stations()[this.#selected])
    this.update(e.timeStamp)
  }

  show() {
    const s = this.state
    element('globe-value').value = s.value
    element('globe-value-value').value = s.value.toFixed(1)
    for (const key of ['spin', 'tilt']) {
      element(`globe-${key}`).value = s[key]
      element(`globe-${key}-value`).value = `${s[key]}°`
    }
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

  // example is a request for people to copy: with fewer places, as they are on the screen.
  example() { return this.request(this.model(), grid.filter(p => p.every(v => v % 30 === 0)), [this.#g()]) }

  // request is that of the prediction: the turned stations and the turned grid and, if anything is turned, both as they were beside them.
  request(model = this.model(), places = grid, turns = this.#still() ? [null] : [this.#g(), null]) {
    const s = this.state, n = s.stations.length, m = places.length
    const x = new Float64Array(turns.length * n * 2), y = new Float32Array(turns.length * n), t = new Float64Array(turns.length * m * 2)
    turns.forEach((g, b) => {
      const at = p => g ? place(apply(g, vector(p))) : [p[0], p[1]]
      s.stations.forEach((p, i) => { x.set(at(p), 2 * (b * n + i)); y[b * n + i] = p[2] })
      places.forEach((p, i) => t.set(at(p), 2 * (b * m + i)))
    })
    return {
      inputs: [
        { name: 'x_context', datatype: 'FP64', shape: [turns.length, n, 2], data: x },
        { name: 'y_context', datatype: 'FP32', shape: [turns.length, n, 1], data: y },
        { name: 'x_target', datatype: 'FP64', shape: [turns.length, m, 2], data: t },
      ],
      outputs: ['mean', 'std'],
      parameters: { standardise: model?.config.trained?.units !== undefined },
    }
  }

  async #ask(m, stamp) {
    const { dataset } = this.#cards.get(m.name).root
    dataset.stale = 'true' // the answer that came last may be to an older request
    try {
      const request = this.request(m), { spin, tilt } = this.state, n = grid.length
      const { outputs: { mean, std }, timing } = await engine.infer(m.name, request)
      const still = request.inputs[0].shape[0] === 2 ? mean.data.subarray(n) : null
      this.#answers.set(m.name, { mean: mean.data.subarray(0, n), std: std.data.subarray(0, n), still, spin, tilt })
      this.problem(null, m.name)
      dataset.stale = 'false'
      this.#draw()
      this.report({ view: 'globe', drawn: performance.now() - stamp, timing, model: m.name })
    } catch (e) {
      this.problem(e, m.name)
    }
  }

  #draw() {
    const s = this.state, g = this.#g(), stations = this.#stations()
    const key = JSON.stringify([s.camera, s.spin, s.tilt])
    if (this.#view?.key !== key) this.#view = Object.assign(new View(s.camera, g), { key })
    for (const [name, { root, difference, globes }] of this.#cards) {
      const { mean, std, still, spin = s.spin, tilt = s.tilt } = this.#answers.get(name) ?? {}
      for (const k of ['moved', 'difference']) globes[k].canvas.parentElement.hidden = this.#still()
      const draw = (k, ...what) => globes[k].draw(this.#view, ...what, stations, this.#selected, [signed, -range, range])
      draw('mean', mean, signed, -range, range)
      draw('std', std, heat, 0, 1.2)
      Object.assign(root.dataset, { spin, tilt })
      if (!still || this.#still()) {
        difference.textContent = ''
        root.dataset.difference = ''
      } else {
        const d = mean.map((v, i) => v - still[i]), number = document.createElement('strong')
        draw('moved', still, signed, -range, range)
        draw('difference', d, signed, -.5, .5)
        root.dataset.difference = spread(d)
        number.textContent = spread(d).toFixed(4)
        difference.replaceChildren('f(g x) and g f(x) differ by ', number)
      }
    }
    this.#status()
  }

  // #status writes numbers, for people and for tests.
  #status() {
    const s = this.state, first = this.models[0] && this.#answers.get(this.models[0].name), data = element('globe-status').dataset
    const text = [`${s.stations.length} station${s.stations.length === 1 ? '' : 's'}.`]
    const at = this.#cursor ?? vector(s.camera), [lat, lon] = place(at)
    if (s.stations[this.#selected]) text.push(`Station ${this.#selected + 1} is ${s.stations[this.#selected][2]}.`)
    if (first) {
      const inData = apply(transposed(rotation(first)), at), mean = valueAt(first.mean, inData), std = valueAt(first.std, inData)
      text.push(`At ${Math.abs(lat).toFixed(1)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon).toFixed(1)}° ${lon < 0 ? 'W' : 'E'} ${this.models[0].name} says ${mean.toFixed(2)} ± ${std.toFixed(2)}.`)
      Object.assign(data, { mean, std })
    }
    Object.assign(data, { stations: s.stations.length, lat, lon, selected: this.#selected, look: s.camera.join(' ') })
    element('globe-status').textContent = text.join(' ')
  }
}

// spread is the root of the mean square over the globe, of what is known.
function spread(values) {
  let sum = 0, area = 0
  values.forEach((v, i) => {
    if (v !== v) return
    sum += areas[i] * v * v
    area += areas[i]
  })
  return Math.sqrt(sum / area)
}

const round = v => Math.round(v * 100) / 100
