// The page: it asks the engine which models there are, makes the views, and keeps their state in the address.
import * as curves from './curve.js'
import { engine, Lost, NeedsToken } from './engine.js'
import * as fields from './field.js'
import * as globes from './globe.js'
import * as images from './image.js'
import * as maps from './map.js'
import * as series from './series.js'
import { decodeState, encodeState, fitting } from './link.js'
import { snippet } from './snippets.js'

const element = id => document.getElementById(id)
const first = { curve: curves.initial, image: images.initial, globe: globes.initial, field: fields.initial, map: maps.initial, series: series.initial }
const fits = { curve: curves.fits, image: images.fits, globe: globes.fits, field: fields.fits, map: maps.fits, series: series.fits }
const views = Object.keys(first)
const state = { view: 'curve', ...structuredClone(first) }
const open = {} // view → its object
let language = 'curl'

// take brings a state from a link into the page's; what the link does not say, or says wrongly, is as at first.
function take(from) {
  if (views.includes(from?.view)) state.view = from.view
  if (from?.image) for (const key of ['scene', 'mask']) delete state.image[key]
  for (const v of views) if (from?.[v]) Object.assign(state[v], structuredClone(first[v]), fitting(fits[v], from[v]))
}

let saving = 0
let known = '' // the address that was read or written last: where it is another one, a link was followed whose event is still to come
function changed() {
  clearTimeout(saving)
  saving = setTimeout(save, 150)
  facts()
  if (element('copy').open) writeSnippet()
}

function save() {
  clearTimeout(saving)
  if (location.hash !== known) return
  history.replaceState(null, '', `#${encodeState({ view: state.view, [state.view]: state[state.view] })}`)
  known = location.hash
}

// follow takes what the address says.
function follow() {
  known = location.hash
  take(decodeState(known))
}

// problem notes what went wrong with something that was asked for, null where nothing did: one model's answer does not hide another's
// failure. What belongs to no view is of ''.
const problems = new Map()
function problem(e, of = '') {
  e ? problems.set(of, e) : problems.delete(of)
  showProblem()
}

// showProblem says what is wrong in the view that is open.
function showProblem() {
  const all = [...problems].filter(([k]) => k === '' || k.startsWith(`${state.view} `)).map(([, e]) => e)
  const e = all.find(e => e instanceof NeedsToken || e instanceof Lost) ?? all[0]
  element('problem').hidden = !e
  element('problem').textContent = e?.message ?? ''
  element('token-form').hidden = !(e instanceof NeedsToken)
  if (e instanceof Lost) wait(e)
}

// wait asks a server that is lost until it is there again.
let waiting = false
async function wait(e) {
  element('problem').textContent = `${e.message} What is shown is from before. Trying again ..`
  if (waiting) return
  waiting = true
  do await new Promise(done => setTimeout(done, 2000))
  while (!await engine.alive())
  waiting = false
  again()
}

// again asks anew after something that concerned all requests: for the models only if there are no views of them yet.
function again() {
  problems.clear()
  showProblem()
  document.documentElement.dataset.ready ? open[state.view]?.update() : start()
}

// missing says in a view that has no model how to start a server that has one.
const missing = {
  curve: ['curves', 'rbf-levels'], image: ['images', 'digits-SO2'], globe: ['values on the globe', 'globe'], field: ['vector fields', 'vectors-rbf'],
  map: ['values in the plane', 'universal-2'], series: ['values over time', 'universal-1'],
}
function offer(view, models) {
  const section = element(view)
  section.querySelector('.missing')?.remove()
  section.classList.toggle('empty', models.length === 0)
  if (models.length > 0) return
  const p = document.createElement('p'), code = document.createElement('code'), [what, model] = missing[view]
  p.className = 'missing'
  code.textContent = `equivcnp serve --model shipped`
  const one = document.createElement('code')
  one.textContent = `--model ${model}`
  p.append(`No model of ${what} is served here. Start one: `, code, ' serves a model of every kind, ', one, ' this one alone.')
  section.append(p)
}

// report shows the measurements of an answer, for people and for tests.
const measured = {}
function report({ view, drawn, sampled, timing, model }) {
  Object.assign(measured, { view, model, ...(drawn !== undefined && { drawn, ...timing }), ...(sampled !== undefined && { sampled }) })
  const ms = v => `${v < 10 ? v.toFixed(1) : v.toFixed(0)} ms`
  const parts = [`${model}: drawn ${ms(measured.drawn ?? NaN)} after the input`]
  if (view === 'curve' && measured.sampled !== undefined) parts.push(`samples after ${ms(measured.sampled)}`)
  if (measured.compute !== undefined) parts.push(`request ${ms(measured.total)}, of it waiting ${ms(measured.queue)}, computing ${ms(measured.compute)}`)
  if (measured.batch !== undefined) parts.push(`batch of ${measured.batch}`)
  element('latency').textContent = parts.join(' · ')
  const data = element('latency').dataset
  for (const [k, v] of Object.entries(measured)) data[k] = v
  data.answers = +(data.answers ?? 0) + 1
}

function facts() {
  const m = open.curve?.model()
  element('curve-facts').replaceChildren(...Object.entries(m ? factsOf(m) : {}).map(([name, text]) => {
    const row = document.createElement('div'), dt = document.createElement('dt'), dd = document.createElement('dd')
    dt.textContent = name
    dd.textContent = text
    row.append(dt, dd)
    return row
  }))
}

function factsOf({ config: c, trainedOn }) {
  const out = { architecture: c.architecture }
  if (c.group) out.group = c.group
  if (c.channels) out.channels = c.channels.join(', ')
  if (c.points_per_unit) out.lattice = `${c.points_per_unit} points per unit`
  if (trainedOn) out['trained on'] = trainedOn
  return out
}

function writeSnippet() {
  const view = open[state.view], m = view?.model()
  if (!m) return
  const here = location.protocol.startsWith('http') && document.documentElement.dataset.engine === 'http'
  element('snippet').textContent = snippet(language, here ? new URL('.', location.href).href.replace(/\/$/, '') : 'http://localhost:8080', m.name, view.example?.() ?? view.request(),
    sessionStorage.getItem('token'))
}

function select(view, stamp) {
  state.view = view
  for (const v of views) {
    element(v).hidden = v !== view
    const tab = element(`tab-${v}`)
    tab.ariaSelected = String(v === view)
    tab.tabIndex = v === view ? 0 : -1
  }
  delete measured.sampled
  showProblem()
  open[view]?.update(stamp)
  if (element('copy').open) writeSnippet()
}

for (const v of views) {
  const tab = element(`tab-${v}`)
  tab.onclick = e => select(v, e.timeStamp)
  tab.onkeydown = e => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key]
    if (!step) return
    const next = views[(views.indexOf(v) + step + views.length) % views.length]
    element(`tab-${next}`).focus()
    select(next, e.timeStamp)
  }
}

const called = new Map() // buttons that say how copying went → what they say otherwise
async function copyText(button, text) {
  const before = called.get(button) ?? button.textContent
  called.set(button, before)
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
  } catch {
    button.textContent = 'Not allowed: copy it by hand'
  }
  setTimeout(() => { button.textContent = before }, 1500)
}

element('link').onclick = e => { save(); copyText(e.currentTarget, location.href) }
element('copy').addEventListener('toggle', writeSnippet)
element('copy-text').onclick = e => copyText(e.currentTarget, element('snippet').textContent)
for (const button of document.querySelectorAll('[data-language]')) {
  button.onclick = () => {
    language = button.dataset.language
    for (const b of document.querySelectorAll('[data-language]')) b.ariaPressed = String(b === button)
    writeSnippet()
  }
}
// Files may be dropped anywhere on the page, and go to the view that is open: a browser would leave the page for the file.
const holdsFiles = e => e.dataTransfer?.types.includes('Files')
addEventListener('dragover', e => {
  if (!holdsFiles(e)) return
  e.preventDefault()
  e.dataTransfer.dropEffect = open[state.view]?.drop ? 'copy' : 'none'
})
addEventListener('drop', e => {
  if (!holdsFiles(e)) return
  e.preventDefault()
  if (e.dataTransfer.files.length > 0) open[state.view]?.drop?.(e.dataTransfer.files[0])
})
addEventListener('hashchange', () => {
  follow()
  for (const v of views) open[v]?.restore?.(state[v])
  select(state.view)
})
element('token-form').onsubmit = e => {
  e.preventDefault()
  sessionStorage.setItem('token', element('token').value)
  again()
}

async function start() {
  element('about').textContent = 'Asking for models ..'
  try {
    const all = await engine.models()
    const models = all.filter(m => !m.config.auxiliary?.length && !m.config.static?.length)
    const takes = m => m.config.dim_y === 1
    const isImage = m => /image/.test(m.config.architecture)
    const curveModels = models.filter(m => takes(m) && !isImage(m) && m.config.dim_x === 1)
    const imageModels = models.filter(m => takes(m) && isImage(m))
    // Views take a second for an image: whoever wants them ticks them.
    for (const m of imageModels) m.usual = !m.config.views && m.config.trained !== undefined || imageModels.every(v => v.config.trained === undefined)
    // Of models that differ in depth alone the deepest is shown unless others are asked for.
    const deeper = (a, b) => a.config.group === b.config.group && (a.config.lifts ?? 1) === (b.config.lifts ?? 1) && a.config.blocks > b.config.blocks
    for (const m of imageModels) m.usual &&= !imageModels.some(v => v.usual && deeper(v, m))
    follow()
    if (!curveModels.some(m => m.name === state.curve.model)) {
      // One that is smooth: those of the paper's architecture jump between neighbouring targets.
      const m = curveModels.find(v => v.config.levels && /\brbf\b/i.test(`${v.name} ${v.trainedOn ?? ''}`)) ?? curveModels.find(v => v.config.levels) ?? curveModels[0]
      state.curve.model = m?.name ?? ''
      state.curve.kernel = curves.kernelOf(m) ?? state.curve.kernel
    }
    const on = v => ({ changed, report, problem: (e, of = '') => problem(e, `${v} ${of}`) })
    const of = { curve: curveModels, image: imageModels, globe: models.filter(globes.takes), field: models.filter(fields.takes), map: models.filter(maps.takes), series: models.filter(series.takes) }
    const classes = { curve: curves.Curve, image: images.Image, globe: globes.GlobeView, field: fields.Field, map: maps.Map2D, series: series.Series }
    for (const v of views) {
      open[v] = new classes[v](state[v], of[v], on(v))
      offer(v, of[v])
    }
    problems.clear()
    showProblem()
    if (of[state.view].length === 0) state.view = views.find(v => of[v].length > 0) ?? state.view
    select(state.view)
    element('about').textContent = `${models.length} models, computed by ${engine.name}. Everything on this page is asked for in the Open Inference Protocol.`
    if (models.length < all.length) {
      const others = all.filter(m => !models.includes(m)).map(m => m.name).join(', ')
      element('about').textContent += ` Not shown here: ${others}, which need auxiliary inputs or static fields (tensors aux_context and aux_target, x_static and y_static).`
    }
    document.documentElement.dataset.ready = 'true'
  } catch (e) {
    problem(e)
  }
}

start()
