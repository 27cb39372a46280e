// The view of images: what is observed of a scene, what models of every group make of it, and whether that moves when the scene moves.
import { drawDigit } from './digits.js'
import { corrects, drawMap, grey, heat, signed, snapping, tapReach } from './draw.js'
import { engine, latest } from './engine.js'
import { fit, packBits, packGrey, unpackBits, unpackGrey } from './link.js'
import { between, middle, move, moveMask, observe, rms, soften, still } from './motion.js'
import { uniform } from './random.js'

const element = id => document.getElementById(id)
const sceneSize = 64
const motions = ['angle', 'scale', 'shift-x', 'shift-y']
const stay = { angle: 0, scale: 1, x: 0, y: 0 }
const hidden = NaN // how pixels that are not observed are shown
const knots = 32 // pixels that a sample is drawn at by the chain rule; the rest of the image follows

export const initial = { digit: 3, size: engine.pixels, rate: 30, seed: 1, samples: 0, draw: 1, angle: 90, scale: 1, x: 0, y: 0, models: null }

// fits says what a link may say; scene and mask are there where they were painted.
export const fits = {
  digit: fit.whole(0, 9), size: fit.one([24, 32, 48, 64]), rate: fit.number(0, 100), seed: fit.whole(0, 2 ** 32), samples: fit.whole(0, 8),
  draw: fit.whole(0, 2 ** 32), angle: fit.number(-180, 180), scale: fit.number(.5, 1.5), x: fit.number(-12, 12), y: fit.number(-12, 12),
  models: v => Array.isArray(v) && v.every(fit.text), scene: fit.packed, mask: fit.packed,
}

export class Image {
  #scene
  #mask
  #cards = new Map()
  #prepared = new Set() // models and sizes that were answered: the server has their plans
  #at = { scene: [32, 32], observed: [16, 16] } // where keys paint

  constructor(state, models, { changed, report, problem }) {
    this.models = models
    Object.assign(this, { changed, report, problem })
    for (let d = 0; d < 10; d++) element('digit').add(new Option(d, d))
    element('digit').add(new Option('painted', ''))
    for (const m of models) {
      const label = document.createElement('label'), box = document.createElement('input')
      box.type = 'checkbox'
      box.id = `use-${m.name}`
      box.addEventListener('change', e => {
        const used = new Set(this.state.models)
        box.checked ? used.add(m.name) : used.delete(m.name)
        this.state.models = this.models.map(v => v.name).filter(v => used.has(v))
        this.update(e.timeStamp)
      })
      label.append(box, ` ${groupOf(m)}: ${m.name}`)
      element('image-models').append(label)
    }
    this.#listen()
    this.restore(state)
  }

  // restore takes over a state, from a link.
  restore(state) {
    this.state = state
    state.models ??= this.models.filter(m => m.usual).map(m => m.name)
    this.#scene = state.scene ? unpackGrey(state.scene, sceneSize ** 2) : drawDigit(state.digit ?? 3, sceneSize)
    if (state.mask) this.#mask = unpackBits(state.mask, state.size ** 2)
    else this.#choose()
  }

  // #choose observes pixels at random.
  #choose() {
    const s = this.state, u = uniform(s.seed)
    this.#mask = Uint8Array.from({ length: s.size ** 2 }, () => u() < s.rate / 100 ? 1 : 0)
    delete s.mask
  }

  #listen() {
    const on = (id, type, f) => element(id).addEventListener(type, e => { f(e.target); this.update(e.timeStamp) })
    on('digit', 'input', t => {
      if (t.value === '') return
      this.state.digit = +t.value
      delete this.state.scene
      this.#scene = drawDigit(+t.value, sceneSize)
    })
    on('blank', 'click', () => this.#painted(new Float32Array(sceneSize ** 2)))
    on('size', 'input', t => { this.state.size = +t.value; this.#choose() })
    on('rate', 'input', t => { this.state.rate = +t.value; this.#choose() })
    on('image-samples', 'input', t => { this.state.samples = Math.min(Math.max(Math.trunc(t.value), 0), 8) || 0 })
    corrects(element('image-samples'), () => this.state.samples)
    on('image-redraw', 'click', () => { this.state.draw++ })
    on('again', 'click', () => { this.state.seed++; this.#choose() })
    on('still', 'click', () => Object.assign(this.state, stay))
    const angle = snapping(element('angle'))
    for (const [id, key] of [['angle', 'angle'], ['scale', 'scale'], ['shift-x', 'x'], ['shift-y', 'y']]) on(id, 'input', t => { this.state[key] = key === 'angle' ? angle() : +t.value })
    element('load').addEventListener('change', ({ target }) => {
      if (target.files.length > 0) this.drop(target.files[0])
      target.value = '' // or the same file would be no change
    })
    this.#brush('scene', sceneSize, (i, value) => { this.#scene[i] = value }, () => this.#painted(this.#scene))
    this.#brush('observed', () => this.state.size, (i, value) => { this.#mask[i] = value }, () => { this.state.mask = packBits(this.#mask) })
  }

  // drop takes a file.
  async drop(file) {
    try {
      this.#painted(await readPicture(file))
      this.update()
    } catch (error) {
      this.problem(error)
    }
  }

  // #painted takes over a scene that is none of the digits.
  #painted(scene) {
    this.#scene = scene
    this.state.scene = packGrey(scene)
  }

  // #brush lets pointer and keys set pixels of a canvas to 1, or to 0.
  #brush(id, size, set, done) {
    const canvas = element(id), n = () => typeof size === 'function' ? size() : size
    const paint = (row, column, e) => {
      const radius = +element('brush').value / 2 * n() / 32, value = e.shiftKey || element('tool').value === 'remove' ? 0 : 1
      for (let i = 0; i < n(); i++) {
        for (let j = 0; j < n(); j++) if (Math.hypot(i + .5 - row, j + .5 - column) <= Math.max(radius, .71)) set(i * n() + j, value)
      }
      done()
      this.update(e.timeStamp)
    }
    const at = e => {
      const r = canvas.getBoundingClientRect()
      return [(e.clientY - r.top) / r.height * n(), (e.clientX - r.left) / r.width * n()]
    }
    let down = false, tap = null // a touch that has not painted yet: it paints where it taps or goes sideways, and scrolls otherwise
    canvas.addEventListener('pointerdown', e => {
      if (e.button !== 0) return
      canvas.setPointerCapture(e.pointerId)
      if (e.pointerType === 'touch') {
        tap = e
        return
      }
      down = true
      paint(...at(e), e)
    })
    canvas.addEventListener('pointermove', e => {
      if (tap && Math.abs(e.clientX - tap.clientX) > tapReach) {
        down = true
        paint(...at(tap), e)
        tap = null
      }
      if (down) paint(...at(e), e)
    })
    canvas.addEventListener('pointerup', e => {
      if (tap && Math.hypot(e.clientX - tap.clientX, e.clientY - tap.clientY) <= tapReach) paint(...at(e), e)
      down = false
      tap = null
    })
    canvas.addEventListener('pointercancel', () => { down = false; tap = null })
    canvas.addEventListener('keydown', e => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key], here = this.#at[id]
      if (step) {
        this.#at[id] = here.map((v, d) => Math.min(Math.max(v + step[d], 0), n() - 1))
        this.#drawInputs()
      } else if (e.key === ' ') {
        paint(here[0] + .5, here[1] + .5, e)
      } else {
        return
      }
      e.preventDefault()
    })
    for (const type of ['focus', 'blur']) canvas.addEventListener(type, () => this.#drawInputs())
  }

  show() {
    const s = this.state
    element('digit').value = s.scene ? '' : s.digit
    element('size').value = s.size
    element('rate').value = s.rate
    element('rate-value').value = `${s.rate} %`
    if (document.activeElement !== element('image-samples')) element('image-samples').value = s.samples
    const values = { angle: s.angle, scale: s.scale, 'shift-x': s.x, 'shift-y': s.y }
    for (const id of motions) element(id).value = values[id]
    element('angle-value').value = `${s.angle}°`
    element('scale-value').value = s.scale.toFixed(2)
    element('shift-x-value').value = s.x
    element('shift-y-value').value = s.y
    for (const m of this.models) element(`use-${m.name}`).checked = s.models.includes(m.name)
    for (const [name, card] of this.#cards) {
      if (s.models.includes(name)) continue
      card.root.remove()
      this.#cards.delete(name)
    }
  }

  // observations are x and, where g moves anything, g x: [pixels, mask] each. Where g turns by an angle between quarter turns there is x a second time, with the
  // pixels that are left of those observed when they are turned there and back: what a model makes of it differs by what the grid of pixels costs.
  #observations() {
    const { size: n } = this.state, g = this.state
    const out = [[observe(this.#scene, sceneSize, n, stay), this.#mask]]
    if (!still(g)) out.push([observe(this.#scene, sceneSize, n, g), moveMask(this.#mask, n, g)])
    if (between(g)) out.push([out[0][0], moveMask(out[1][1], n, { ...stay, angle: -g.angle })])
    return out
  }

  #drawInputs() {
    const { size: n } = this.state
    drawMap(element('scene'), this.#scene, sceneSize, grey, 0, 1)
    const [x, mask] = this.#observations().at(0)
    drawMap(element('observed'), x.map((v, i) => mask[i] ? v : hidden), n, grey, 0, 1)
    for (const [id, size] of [['scene', sceneSize], ['observed', n]]) {
      if (document.activeElement !== element(id)) continue
      const c = element(id).getContext('2d'), [i, j] = this.#at[id]
      c.fillStyle = '#ff8c3a'
      c.fillRect(Math.min(j, size - 1), Math.min(i, size - 1), 1, 1)
    }
  }

  update(stamp = performance.now()) {
    this.problem(null) // that of a picture which could not be read
    this.show()
    this.#drawInputs()
    const { size: n } = this.state, observed = this.#mask.reduce((s, v) => s + v, 0)
    const brightness = this.#scene.reduce((s, v) => s + v, 0) / this.#scene.length
    element('image-status').textContent = `${observed} of ${n * n} pixels are observed; ${(100 * brightness).toFixed(0)} % of the image is white.`
    Object.assign(element('image-status').dataset, { observed, pixels: n * n, brightness })
    this.changed()
    for (const m of this.models) {
      if (!this.state.models.includes(m.name)) {
        this.#fail(null, m)
        this.#fail(null, m, ' samples')
        continue
      }
      const card = this.#card(m)
      card.root.dataset.stale = 'true'
      card.ask(stamp)
      card.sample()
    }
  }

  // #fail says what went wrong with something of a model that is shown.
  #fail(e, m, what = '') { this.problem(this.state.models.includes(m.name) ? e : null, m.name + what) }

  // example is a request for people to copy: of the image as it is.
  example() { return this.request(this.#observations().slice(0, 1)) }

  request(observations = this.#observations()) {
    const { size: n } = this.state, b = observations.length
    const image = new Float32Array(b * n * n), mask = new Uint8Array(b * n * n)
    observations.forEach(([x, m], i) => { image.set(x, i * n * n); mask.set(m, i * n * n) })
    return {
      inputs: [{ name: 'image', datatype: 'FP32', shape: [b, 1, n, n], data: image }, { name: 'mask', datatype: 'BOOL', shape: [b, 1, n, n], data: mask }],
      outputs: ['mean', 'std'],
    }
  }

  model() { return this.models.find(m => this.state.models.includes(m.name)) }

  // #card returns the place of a model's answers.
  #card(m) {
    let card = this.#cards.get(m.name)
    if (card) return card
    const root = document.createElement('article'), maps = {}
    root.className = 'card'
    root.id = `card-${m.name}`
    const title = document.createElement('h3'), difference = document.createElement('p'), numbers = document.createElement('p'), grid = document.createElement('div'), samples = document.createElement('div')
    title.textContent = `${groupOf(m)} · ${m.name}`
    root.title = m.trainedOn ?? ''
    difference.className = 'difference'
    numbers.className = 'numbers'
    grid.className = samples.className = 'maps'
    for (const [key, text] of [['mean', 'mean f(x)'], ['std', 'deviation'], ['error', 'error'], ['after', 'f(g x)'], ['moved', 'g f(x)'], ['difference', 'difference']]) {
      const figure = document.createElement('figure'), caption = document.createElement('figcaption')
      maps[key] = document.createElement('canvas')
      maps[key].setAttribute('role', 'img')
      maps[key].setAttribute('aria-label', `${text} of ${m.name}`)
      caption.textContent = text
      figure.append(maps[key], caption)
      grid.append(figure)
    }
    root.append(title, difference, numbers, grid, samples)
    const order = this.models.map(v => v.name), next = [...element('cards').children].find(c => order.indexOf(c.id.slice(5)) > order.indexOf(m.name))
    element('cards').insertBefore(root, next ?? null)
    card = { root, difference, numbers, maps, samples, turns: turns(m), ask: latest(stamp => this.#ask(m, stamp)), sample: latest(() => this.#sample(m)) }
    this.#cards.set(m.name, card)
    return card
  }

  async #ask(m, stamp) {
    const card = this.#card(m)
    card.root.ariaBusy = 'true'
    card.root.dataset.stale = 'true' // the answer that came last may be to an older request
    const size = `${m.name} ${this.state.size}`
    const slow = setTimeout(() => { card.numbers.textContent = this.#prepared.has(size) ? 'Computing ..' : `Preparing for ${this.state.size} × ${this.state.size} pixels ..` }, 300)
    try {
      const request = this.request(), { size: n, angle, scale, x, y } = this.state, g = { angle, scale, x, y }
      const { outputs: { mean, std }, timing } = await engine.infer(m.name, request)
      clearTimeout(slow)
      this.#prepared.add(size)
      card.root.dataset.stale = 'false'
      this.#drawCard(card, n, g, request, mean.data, std.data)
      this.#fail(null, m)
      const drawn = performance.now() - stamp
      card.numbers.textContent += ` · ${timing.total.toFixed(0)} ms`
      this.report({ view: 'image', drawn, timing, model: m.name })
    } catch (e) {
      card.numbers.textContent = ''
      this.#fail(e, m)
    } finally {
      clearTimeout(slow)
      card.root.ariaBusy = 'false'
    }
  }

  // #sample draws whole images that the model finds likely, given what is observed.
  async #sample(m) {
    const { root, samples: place } = this.#card(m), { size: n, samples: count, draw: seed } = this.state, size = n * n
    const none = () => {
      place.replaceChildren()
      Object.assign(root.dataset, { samples: 0, spread: '' })
    }
    if (count === 0 || !m.samples) {
      none()
      this.#fail(null, m, ' samples')
      return
    }
    try {
      const inputs = this.request().inputs.map(i => ({ ...i, shape: [1, ...i.shape.slice(1)], data: i.data.subarray(0, size) }))
      const { outputs: { samples } } = await engine.infer(m.name, { inputs, outputs: ['samples'], parameters: { samples: count, seed, function: true, knots } })
      const drawn = Array.from({ length: count }, (_, i) => samples.data.subarray(i * size, (i + 1) * size))
      place.replaceChildren(...drawn.map((values, i) => {
        const figure = document.createElement('figure'), caption = document.createElement('figcaption'), canvas = document.createElement('canvas')
        canvas.setAttribute('role', 'img')
        canvas.setAttribute('aria-label', `sample ${i + 1} of ${m.name}`)
        caption.textContent = `sample ${i + 1}`
        drawMap(canvas, values, n, grey, 0, 1)
        figure.append(canvas, caption)
        return figure
      }))
      // How far samples are from the first one: nothing, if all are the same.
      const spread = Math.max(...drawn.map(values => rms(values.map((v, i) => v - drawn[0][i]))))
      Object.assign(root.dataset, { samples: count, spread })
      this.#fail(null, m, ' samples')
    } catch (e) {
      none() // those that there are may be of another image
      this.#fail(e, m, ' samples')
    }
  }

  #drawCard({ root, difference, numbers, maps, turns }, n, g, request, mean, std) {
    const size = n * n, truth = request.inputs[0].data, data = root.dataset
    const f = mean.subarray(0, size), deviation = std.subarray(0, size), error = f.map((v, i) => v - truth[i])
    drawMap(maps.mean, f, n, grey, 0, 1)
    drawMap(maps.std, deviation, n, heat, 0, .5)
    drawMap(maps.error, error, n, signed, -1, 1)
    const meanDeviation = deviation.reduce((s, v) => s + v, 0) / size
    numbers.textContent = `error ${rms(error).toFixed(3)} · deviation ${meanDeviation.toFixed(3)}`
    Object.assign(data, { error: rms(error), deviation: meanDeviation, turn: g.angle, scale: g.scale, x: g.x, y: g.y, size: n, sum: f.reduce((s, v) => s + v, 0) })
    const moving = request.inputs[0].shape[0] >= 2
    for (const key of ['after', 'moved', 'difference']) maps[key].parentElement.hidden = !moving
    if (!moving) {
      difference.textContent = ''
      data.difference = data.grid = ''
      return
    }
    const after = mean.subarray(size, 2 * size), moved = move(f, n, g), d = after.map((v, i) => v - moved[i])
    drawMap(maps.after, after, n, grey, 0, 1)
    drawMap(maps.moved, moved, n, grey, 0, 1)
    drawMap(maps.difference, d, n, signed, -.5, .5)
    const number = document.createElement('strong')
    // Away from the border, and equally sharp: g f(x) is read between pixels.
    const apart = (a, b) => rms(middle(a, n).map((v, i) => v - b[i]))
    data.difference = apart(soften(after, n), soften(moved, n))
    number.textContent = (+data.difference).toFixed(4)
    difference.replaceChildren('f(g x) and g f(x) differ by ', number)
    data.grid = ''
    if (between(g)) {
      data.grid = apart(soften(mean.subarray(2 * size, 3 * size), n), soften(f, n))
      difference.append(`. ${g.angle}° takes no pixel to a pixel: turned there and back, the same observations already cost ${(+data.grid).toFixed(4)}`)
      // At quarter turns nothing is left of the difference, so between them it says how coarse pixels are, and not what the group is.
      if (turns) difference.append('. The model is equivariant under every turn, so the whole difference is what the grid of pixels costs')
    }
  }
}

// turns reports whether a model is equivariant under all turns about the image's centre, and not only under some of them.
const turns = ({ config: c }) => /^(SO|R>0xSO)\(2\)$/.test(c.group)

// groupOf names what a model is equivariant under. The lifts are the rotations among which SE(2) tells.
function groupOf({ config: c }) {
  if (!c.group) return c.architecture
  return c.group.startsWith('SE') ? `${c.group}, ${c.lifts === 1 ? 'one lift' : `${c.lifts} lifts`}` : c.group
}

// readPicture returns a picture as grey values from 0 to 1, its middle square on the scene.
async function readPicture(file) {
  const picture = await createImageBitmap(file).catch(() => { throw new Error(`${file.name}: not a picture that this browser reads: PNG, JPEG, GIF and WebP are.`) })
  const side = Math.min(picture.width, picture.height)
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = sceneSize
  const c = canvas.getContext('2d', { willReadFrequently: true })
  c.imageSmoothingQuality = 'high'
  c.drawImage(picture, (picture.width - side) / 2, (picture.height - side) / 2, side, side, 0, 0, sceneSize, sceneSize)
  const { data } = c.getImageData(0, 0, sceneSize, sceneSize)
  return Float32Array.from({ length: sceneSize ** 2 }, (_, i) => {
    const alpha = data[4 * i + 3] / 255
    return (.2126 * data[4 * i] + .7152 * data[4 * i + 1] + .0722 * data[4 * i + 2]) / 255 * alpha
  })
}
