// The sphere: places as latitude and longitude in degrees and as unit vectors, rotations, and globes on a canvas.
import { color } from './draw.js'

const degree = Math.PI / 180

export function vector([lat, lon]) {
  const c = Math.cos(lat * degree)
  return [c * Math.cos(lon * degree), c * Math.sin(lon * degree), Math.sin(lat * degree)]
}

export const place = ([x, y, z]) => [Math.atan2(z, Math.hypot(x, y)) / degree, Math.atan2(y, x) / degree]

// Rotations are matrices [9], row by row.
export const apply = (r, [x, y, z]) => [r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z]
export const transposed = r => [r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]]
export function product(a, b) {
  const column = k => apply(a, [b[k], b[k + 3], b[k + 6]])
  const [p, q, r] = [column(0), column(1), column(2)]
  return [p[0], q[0], r[0], p[1], q[1], r[1], p[2], q[2], r[2]]
}

// spin turns the globe about its poles, eastward; tilt about the axis through 0° N, 90° E, so that what is at 0° N, 0° E goes north.
export function rotation({ spin, tilt }) {
  const s = Math.sin(spin * degree), c = Math.cos(spin * degree), u = Math.sin(tilt * degree), v = Math.cos(tilt * degree)
  return product([v, 0, -u, 0, 1, 0, u, 0, v], [c, -s, 0, s, c, 0, 0, 0, 1])
}

// Values on the globe are known at the places of a grid of this many degrees, from pole to pole and all around.
export const step = 5
const rows = 180 / step + 1, columns = 360 / step
export const grid = Array.from({ length: rows * columns }, (_, i) => [Math.floor(i / columns) * step - 90, i % columns * step - 180])
export const areas = Float64Array.from(grid, ([lat]) => Math.abs(lat) === 90 ? step * degree / 8 : Math.cos(lat * degree)) // in a common unit

// lookup returns what reads a grid of values at a unit vector, between four of its places.
function lookup([x, y, z]) {
  const [lat, lon] = place([x, y, z]), r = (lat + 90) / step, c = (lon + 180) / step
  const row = Math.min(Math.floor(r), rows - 2), fr = r - row, column = Math.floor(c) % columns, fc = c - Math.floor(c)
  return { row, column, fr, fc, at: 0 }
}

function read(values, { row, column, fr, fc }) {
  const at = row * columns, next = (column + 1) % columns
  const south = values[at + column] * (1 - fc) + values[at + next] * fc, north = values[at + columns + column] * (1 - fc) + values[at + columns + next] * fc
  return south * (1 - fr) + north * fr
}

export const valueAt = (values, v) => read(values, lookup(v))

const side = 220 // pixels of a globe's image

// View is how globes are looked at: from above a place, at data that g has turned. Globes of one view share what is looked up where.
export class View {
  constructor(camera, g) {
    const [lat, lon] = camera, s = Math.sin(lat * degree), c = Math.cos(lat * degree), u = Math.sin(lon * degree), v = Math.cos(lon * degree)
    this.toScreen = [-u, v, 0, -s * v, -s * u, c, c * v, c * u, s] // right, up, towards the eye
    this.g = g
    this.back = transposed(g)
    const toData = product(this.back, transposed(this.toScreen))
    this.pixels = []
    for (let i = 0; i < side; i++) {
      for (let j = 0; j < side; j++) {
        const x = (j + .5) / side * 2 - 1, y = 1 - (i + .5) / side * 2, d = x * x + y * y
        if (d >= 1) continue
        const p = lookup(apply(toData, [x, y, Math.sqrt(1 - d)]))
        p.at = 4 * (i * side + j)
        this.pixels.push(p)
      }
    }
  }

  // project returns where on the screen a place of the turned globe is: right and up from -1 to 1, and in front, if it is seen.
  project(latlon) { return apply(this.toScreen, vector(latlon)) }
}

// Globe draws values and stations on a canvas.
export class Globe {
  #image = new ImageData(side, side)
  #buffer = document.createElement('canvas')

  constructor(canvas) {
    this.canvas = canvas
    this.#buffer.width = this.#buffer.height = side
  }

  // at returns the place under a pointer, as a unit vector of the turned globe; beside the globe the nearest that is seen.
  at(event, view) {
    const r = this.canvas.getBoundingClientRect(), x = ((event.clientX - r.left) / r.width * 2 - 1) / room, y = (1 - (event.clientY - r.top) / r.height * 2) / room
    const d = Math.hypot(x, y), k = d > .999 ? .999 / d : 1
    return apply(transposed(view.toScreen), [x * k, y * k, Math.sqrt(1 - (d * k) ** 2)])
  }

  // near returns the number of the station under a pointer, or -1. Stations are places of the turned globe.
  near(stations, event, view, reach) {
    const r = this.canvas.getBoundingClientRect()
    let best = -1, least = reach * reach
    stations.forEach((s, i) => {
      const [x, y, front] = view.project(s)
      const dx = (1 + x * room) * r.width / 2 - (event.clientX - r.left), dy = (1 - y * room) * r.height / 2 - (event.clientY - r.top)
      if (front > 0 && dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy]
    })
    return best
  }

  // draw shows values of the grid in colours from lo to hi, and stations [lat, lon, value] of the turned globe in those of ends.
  draw(view, values, colors, lo, hi, stations, selected, [stationColors, stationLo, stationHi] = [colors, lo, hi]) {
    const { canvas } = this, c = canvas.getContext('2d'), scale = devicePixelRatio || 1, size = canvas.clientWidth
    if (size === 0) return // not shown
    if (canvas.width !== Math.round(size * scale)) canvas.width = canvas.height = Math.round(size * scale)
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.clearRect(0, 0, size, size)
    const edge = size * (1 - room) / 2
    if (values) {
      const { data } = this.#image
      for (const p of view.pixels) {
        const t = (read(values, p) - lo) / (hi - lo), rgb = t === t ? colors[Math.round(255 * Math.min(Math.max(t, 0), 1))] : [90, 100, 120]
        data[p.at] = rgb[0]
        data[p.at + 1] = rgb[1]
        data[p.at + 2] = rgb[2]
        data[p.at + 3] = 255
      }
      this.#buffer.getContext('2d').putImageData(this.#image, 0, 0)
      c.drawImage(this.#buffer, edge, edge, size - 2 * edge, size - 2 * edge)
    }
    const screen = p => {
      const [x, y, front] = view.project(p)
      return [size / 2 * (1 + x * room), size / 2 * (1 - y * room), front]
    }
    // Meridians and parallels stay while the data turn: they are those of the earth.
    c.strokeStyle = '#7a7f8a'
    c.lineWidth = .6
    c.globalAlpha = .6
    const line = places => {
      c.beginPath()
      let pen = false
      for (const p of places) {
        const [x, y, front] = screen(p)
        if (front > 0) pen ? c.lineTo(x, y) : c.moveTo(x, y)
        pen = front > 0
      }
      c.stroke()
    }
    const range = (a, b, by) => Array.from({ length: Math.round((b - a) / by) + 1 }, (_, i) => a + i * by)
    for (const lat of [-60, -30, 0, 30, 60]) line(range(-180, 180, 5).map(lon => [lat, lon]))
    for (const lon of range(-180, 150, 30)) line(range(-90, 90, 5).map(lat => [lat, lon]))
    c.globalAlpha = 1
    c.lineWidth = 1.2
    c.strokeStyle = color('soft')
    c.beginPath()
    c.arc(size / 2, size / 2, size / 2 * room, 0, 2 * Math.PI)
    c.stroke()
    c.font = '12px system-ui, sans-serif'
    for (const [name, p] of [['N', [90, 0]], ['S', [-90, 0]]]) {
      const [x, y, front] = screen(p)
      if (front <= 0) continue
      c.fillStyle = '#1b1e24'
      c.fillText(name, x + 4, y - 4)
    }
    stations.forEach((s, i) => {
      const [x, y, front] = screen(s)
      if (front <= 0) return
      const t = (s[2] - stationLo) / (stationHi - stationLo), [r, g, b] = stationColors[Math.round(255 * Math.min(Math.max(t, 0), 1))]
      c.fillStyle = `rgb(${r} ${g} ${b})`
      c.strokeStyle = '#1b1e24'
      c.lineWidth = 1.5
      c.beginPath()
      c.arc(x, y, 5, 0, 2 * Math.PI)
      c.fill()
      c.stroke()
      if (i === selected) {
        c.beginPath()
        c.arc(x, y, 9, 0, 2 * Math.PI)
        c.stroke()
      }
    })
  }
}

const room = .96 // of a canvas's half, the globe's radius
