// The view of curves: points that one moves, what a model predicts of them, and what the process that it was trained on says.
import { corrects, holdTouches, Plot, tapReach } from './draw.js'
import { engine, latest } from './engine.js'
import { fit } from './link.js'
import { isUniversal } from './map.js'
import { divergence, kernels, posterior } from './process.js'
import { uniform } from './random.js'

const element = id => document.getElementById(id)
const targets = Float64Array.from({ length: 121 }, (_, i) => (i - 60) / 20)
const knots = 16 // places that a sample is drawn at by the chain rule; the rest of the function follows

export const initial = { model: '', kernel: 'rbf', points: [[-1.6, -.4], [-.7, .8], [.2, .3], [1.3, -1.1]], samples: 4, seed: 1, shift: 0 }

// fits says what a link may say.
export const fits = {
  model: fit.text, kernel: fit.one(Object.keys(kernels)), points: fit.rows(2, 500), samples: fit.whole(0, 20), seed: fit.whole(0, 2 ** 32),
  shift: fit.number(-1.5, 1.5),
}

export class Curve {
  #plots = [new Plot(element('curve-plot')), new Plot(element('curve-truth'))]
  #selected = -1
  #cursor = 0 // where values are read off
  #prediction = {}
  #truth = {}
  #sampled = [] // of the model

  // changed is called after each change of the state; report with the measurements of an answer; problem with what went wrong.
  constructor(state, models, { changed, report, problem }) {
    this.state = state
    this.models = models
    Object.assign(this, { changed, report, problem })
    for (const m of models) element('curve-model').add(new Option(m.name, m.name))
    for (const [id, key, read] of [['curve-model', 'model', String], ['curve-kernel', 'kernel', String],
      ['curve-samples', 'samples', v => Math.min(Math.max(Math.trunc(v), 0), 20) || 0], ['curve-shift', 'shift', Number]]) {
      element(id).addEventListener('input', e => {
        this.state[key] = read(e.target.value)
        if (key === 'model') this.state.kernel = kernelOf(this.model()) ?? this.state.kernel
        this.update(e.timeStamp)
      })
    }
    corrects(element('curve-samples'), () => this.state.samples)
    element('curve-clear').onclick = e => { this.state.points = []; this.#selected = -1; this.update(e.timeStamp) }
    element('curve-seed').onclick = e => { this.state.seed++; this.update(e.timeStamp) }
    element('curve-draw').onclick = e => { this.#drawFunction(); this.update(e.timeStamp) }
    for (const plot of this.#plots) this.#edit(plot)
    new ResizeObserver(() => this.#draw()).observe(element('curve-plot'))
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  model() { return this.models.find(m => m.name === this.state.model) ?? this.models[0] }

  // points are those on the screen: the state's, shifted.
  #points() { return this.state.points.map(([x, y]) => [x + this.state.shift, y]) }

  // #drawFunction takes some points of a function of the process.
  #drawFunction() {
    const s = this.state, u = uniform(++s.seed), n = 3 + Math.floor(6 * u())
    const x = Array.from({ length: n }, () => -2 + 4 * u())
    const { samples: [y] } = posterior(s.kernel, [], [], x, 1, s.seed)
    s.points = x.map((v, i) => [round(v), round(y[i])])
    this.#selected = -1
  }

  #edit(plot) {
    const canvas = plot.canvas
    let held = -1, last = 0, tap = null // a touch beside all points, which adds one if it does not scroll
    holdTouches(canvas, e => plot.near(this.#points(), e, 24) >= 0)
    const place = e => this.#inside(...plot.at(e))
    canvas.addEventListener('pointerdown', e => {
      if (e.button !== 0) return
      held = plot.near(this.#points(), e, e.pointerType === 'touch' ? 24 : 12)
      if (held >= 0 && this.#selected === held && e.timeStamp - last < 350) { // a double click
        this.#remove(held, e)
        held = -1
        return
      }
      if (held < 0 && e.pointerType === 'touch') {
        tap = e
        return
      }
      if (held < 0) held = this.state.points.push(place(e)) - 1
      last = e.timeStamp
      this.#selected = held
      canvas.setPointerCapture(e.pointerId)
      this.#read(plot, e)
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointermove', e => {
      if (tap && Math.hypot(e.clientX - tap.clientX, e.clientY - tap.clientY) > tapReach) tap = null
      this.#read(plot, e)
      if (held < 0) {
        this.#status()
        return
      }
      this.state.points[held] = place(e)
      this.update(e.timeStamp)
    })
    canvas.addEventListener('pointerup', e => {
      if (tap) {
        this.#selected = this.state.points.push(place(e)) - 1
        last = e.timeStamp
        this.update(e.timeStamp)
      }
      held = -1
      tap = null
    })
    canvas.addEventListener('pointercancel', () => { held = -1; tap = null })
    canvas.addEventListener('contextmenu', e => {
      const i = plot.near(this.#points(), e, 12)
      if (i < 0) return
      e.preventDefault()
      this.#remove(i, e)
    })
    canvas.addEventListener('keydown', e => this.#key(e))
  }

  // #inside returns the place on the screen that is nearest to another one, as the state holds it: before it is shifted.
  #inside(x, y) {
    const [within] = this.#plots, into = (v, [lo, hi]) => Math.min(Math.max(v, lo), hi)
    return [round(into(x, within.x) - this.state.shift), round(into(y, within.y))]
  }

  #read(plot, e) { this.#cursor = plot.at(e)[0] }

  #remove(i, e) {
    this.state.points.splice(i, 1)
    this.#selected = -1
    this.update(e.timeStamp)
  }

  #key(e) {
    const { points } = this.state, n = points.length, step = e.shiftKey ? .25 : .05
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }
    if (e.ctrlKey || e.metaKey || e.altKey) return
    if (e.key === 'n' || e.key === 'N') {
      this.#selected = points.push([round(-this.state.shift), 0]) - 1
    } else if ((e.key === ',' || e.key === '.') && n > 0) {
      this.#selected = this.#selected < 0 ? 0 : (this.#selected + (e.key === '.' ? 1 : n - 1)) % n
    } else if ((e.key === 'Delete' || e.key === 'Backspace') && this.#selected >= 0) {
      e.preventDefault()
      this.#remove(this.#selected, e)
      return
    } else if (moves[e.key] && this.#selected >= 0) {
      const p = points[this.#selected], [dx, dy] = moves[e.key]
      points[this.#selected] = this.#inside(p[0] + this.state.shift + dx, p[1] + dy)
    } else {
      return
    }
    e.preventDefault()
    if (this.#selected >= 0) this.#cursor = points[this.#selected][0] + this.state.shift
    this.update(e.timeStamp)
  }

  // show brings the controls to what the state says.
  show() {
    const s = this.state, model = this.model()
    element('curve-model').value = model?.name ?? ''
    element('curve-kernel').value = s.kernel
    if (document.activeElement !== element('curve-samples')) element('curve-samples').value = s.samples
    element('curve-shift').value = s.shift
    element('curve-shift-value').value = s.shift
  }

  // update asks for everything anew; stamp is the time of the event that asks.
  update(stamp = performance.now()) {
    this.show()
    const s = this.state, points = this.#points(), at = k => Float64Array.from(points, p => p[k])
    this.#truth = { targets, ...posterior(s.kernel, at(0), at(1), targets, s.samples, s.seed) }
    this.#draw()
    this.changed()
    if (!this.model()) return
    element('curve-plot').dataset.stale = 'true'
    this.#predict(stamp)
    this.#sample(stamp)
  }

  // request is that of the prediction: the points on the screen, and if they are moved, the unmoved ones with unmoved targets beside them.
  request() {
    const s = this.state, tasks = s.shift ? 2 : 1, n = s.points.length, m = targets.length
    const x = new Float64Array(tasks * n), y = new Float32Array(tasks * n), t = new Float64Array(tasks * m)
    for (let b = 0; b < tasks; b++) {
      const shift = b === 0 ? s.shift : 0
      s.points.forEach(([px, py], i) => { x[b * n + i] = px + shift; y[b * n + i] = py })
      targets.forEach((v, i) => { t[b * m + i] = b === 0 ? v : v - s.shift })
    }
    return {
      inputs: [
        { name: 'x_context', datatype: 'FP64', shape: [tasks, n, 1], data: x },
        { name: 'y_context', datatype: 'FP32', shape: [tasks, n, 1], data: y },
        { name: 'x_target', datatype: 'FP64', shape: [tasks, m, 1], data: t },
      ],
      outputs: ['mean', 'std'],
      parameters: { standardise: hasUnits(this.model()) },
    }
  }

  // #unknown reports whether there are no points, and the model knows nothing without any, not even a scale.
  #unknown() { return this.state.points.length === 0 && isUniversal(this.model()) }

  #predict = latest(async stamp => {
    const { dataset } = element('curve-plot')
    dataset.stale = 'true' // the answer that came last may be to older points
    if (this.#unknown()) {
      this.#prediction = {}
      this.moved = null
      dataset.stale = 'false'
      this.problem(null)
      this.#draw()
      return
    }
    try {
      const request = this.request(), model = this.model()
      const { outputs: { mean, std }, timing } = await engine.infer(model.name, request)
      const m = targets.length
      this.#prediction = { targets, mean: mean.data.subarray(0, m), std: std.data.subarray(0, m) }
      this.moved = request.inputs[0].shape[0] === 2 ? Math.hypot(...mean.data.subarray(m).map((v, i) => v - mean.data[i])) / Math.sqrt(m) : null
      this.problem(null)
      dataset.stale = 'false'
      this.#draw()
      this.report({ view: 'curve', drawn: performance.now() - stamp, timing, model: model.name })
    } catch (e) {
      this.problem(e)
    }
  })

  #sample = latest(async stamp => {
    const s = this.state
    if (s.samples === 0 || !this.model().samples || this.#unknown()) {
      this.#sampled = []
      this.problem(null, 'samples')
      this.#draw()
      return
    }
    try {
      const { inputs } = this.request(), m = targets.length
      const first = inputs.map(i => ({ ...i, shape: [1, ...i.shape.slice(1)], data: i.data.subarray(0, i.shape[1]) }))
      const { outputs: { samples }, timing } = await engine.infer(this.model().name, { inputs: first, outputs: ['samples'],
        parameters: { standardise: hasUnits(this.model()), samples: s.samples, seed: s.seed, function: true, knots } })
      this.#sampled = Array.from({ length: s.samples }, (_, i) => samples.data.subarray(i * m, (i + 1) * m))
      this.problem(null, 'samples')
      this.#draw()
      this.report({ view: 'curve', sampled: performance.now() - stamp, timing, model: this.model().name })
    } catch (e) {
      this.#sampled = [] // those that there are may be of other points
      this.#draw()
      this.problem(e, 'samples')
    }
  })

  #draw() {
    const points = this.#points()
    this.#plots[0].draw({ ...this.#prediction, samples: this.#sampled }, points, this.#selected)
    this.#plots[1].draw(this.#truth, points, this.#selected)
    this.#status()
  }

  // #status writes numbers, for people and for tests.
  #status() {
    const p = this.#prediction, q = this.#truth, n = this.state.points.length
    const i = Math.min(Math.max(Math.round((this.#cursor + 3) * 20), 0), targets.length - 1)
    const text = [`${n} point${n === 1 ? '' : 's'}.`]
    const data = element('curve-status').dataset, chosen = this.#points()[this.#selected]
    if (chosen) text.push(`Point ${this.#selected + 1} is at x = ${round(chosen[0])}, y = ${round(chosen[1])}.`)
    if (p.mean && q.mean) {
      const kl = divergence(q, p), pair = f => `${f.mean[i].toFixed(3)} ± ${f.std[i].toFixed(3)}`
      text.push(`At x = ${targets[i].toFixed(2)} the model says ${pair(p)}, the process ${pair(q)}.`)
      text.push(`The model loses ${kl.toFixed(3)} nats per target against the process.`)
      Object.assign(data, { x: targets[i], mean: p.mean[i], std: p.std[i], trueMean: q.mean[i], trueStd: q.std[i], loss: kl })
    }
    if (!p.mean) for (const key of ['mean', 'std', 'loss']) data[key] = ''
    Object.assign(data, { points: n, samples: this.#sampled.length, selected: this.#selected })
    // How far the samples spread where the band is read: as wide as the band says, if model and chain rule agree.
    data.spread = this.#sampled.length ? Math.max(...this.#sampled.map(s => s[i])) - Math.min(...this.#sampled.map(s => s[i])) : ''
    if (this.state.shift && this.moved != null) text.push(`T(1): f(g x) and g f(x) differ by ${this.moved.toExponential(1)}.`)
    data.difference = this.state.shift && this.moved != null ? this.moved : ''
    element('curve-status').textContent = text.join(' ')
  }
}

// hasUnits reports whether a model was trained on data in units of their own, which it needs.
const hasUnits = model => model?.config.trained?.units !== undefined

const round = v => Math.round(v * 1000) / 1000

// kernelOf returns the kernel of the process that a model was trained on, as far as its words say.
export function kernelOf(model) {
  const words = `${model?.trainedOn ?? ''} ${model?.name ?? ''}`.toLowerCase()
  return ['periodic', 'matern', 'rbf'].find(k => words.includes(k))
}
