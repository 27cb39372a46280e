// Drawing: plots of functions, and maps of pixels.

export const color = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

// snapping has a slider of angles stop at quarter turns while it is dragged; keys reach every angle. It returns what reads its value.
export function snapping(slider) {
  let held = false
  slider.addEventListener('pointerdown', () => { held = true })
  for (const type of ['pointerup', 'pointercancel', 'change', 'keydown']) slider.addEventListener(type, () => { held = false })
  return () => {
    const v = +slider.value, quarter = 90 * Math.round(v / 90)
    return held && Math.abs(v - quarter) <= 8 ? quarter : v
  }
}

// corrects has a field of a number show the number that is used, once it is left: it may have said one out of range, or none.
export function corrects(input, used) { input.addEventListener('change', () => { input.value = used() }) }

// resolved returns v without the digits that do not matter beside step, such as its deviation, of which four matter. Four to seven digits are
// left, and float32 has no more.
export function resolved(v, step) {
  const digits = Math.floor(Math.log10(Math.abs(v))) - Math.floor(Math.log10(step)) + 4
  return Number(v.toPrecision(Math.min(Math.max(digits || 4, 4), 7)))
}

// holdTouches keeps a touch from scrolling the page where it holds something; elsewhere it scrolls.
export function holdTouches(canvas, holds) {
  canvas.addEventListener('touchstart', e => { if (e.touches.length === 1 && holds(e.touches[0])) e.preventDefault() }, { passive: false })
}

// tapReach is how far a finger may slide, in pixels, and still tap.
export const tapReach = 10

// Plot draws functions and points on a canvas. Its window is fixed, so that nothing jumps while points move.
export class Plot {
  x = [-3, 3]
  y = [-3.2, 3.2]

  constructor(canvas) {
    this.canvas = canvas
    this.c = canvas.getContext('2d')
  }

  toX(v) { return (v - this.x[0]) / (this.x[1] - this.x[0]) * this.width }
  toY(v) { return (this.y[1] - v) / (this.y[1] - this.y[0]) * this.height }
  // at returns the place of a pointer event, in the plot's units.
  at(event) {
    const r = this.canvas.getBoundingClientRect()
    return [this.x[0] + (event.clientX - r.left) / r.width * (this.x[1] - this.x[0]), this.y[1] - (event.clientY - r.top) / r.height * (this.y[1] - this.y[0])]
  }
  // near returns the number of the point under a pointer, or -1.
  near(points, event, reach) {
    const r = this.canvas.getBoundingClientRect()
    let best = -1, least = reach * reach
    points.forEach(([x, y], i) => {
      const dx = this.toX(x) / this.width * r.width - (event.clientX - r.left), dy = this.toY(y) / this.height * r.height - (event.clientY - r.top)
      if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy]
    })
    return best
  }

  // draw shows {targets, mean, std, samples} and points.
  draw({ targets, mean, std, samples = [] }, points, selected) {
    const { c, canvas } = this, scale = devicePixelRatio || 1
    this.width = canvas.clientWidth
    this.height = canvas.clientHeight
    if (canvas.width !== Math.round(this.width * scale) || canvas.height !== Math.round(this.height * scale)) {
      canvas.width = Math.round(this.width * scale)
      canvas.height = Math.round(this.height * scale)
    }
    c.setTransform(scale, 0, 0, scale, 0, 0)
    c.clearRect(0, 0, this.width, this.height)
    this.#axes()
    const line = (f, back) => {
      const order = back ? [...targets.keys()].reverse() : [...targets.keys()]
      for (const i of order) c.lineTo(this.toX(targets[i]), this.toY(f(i)))
    }
    if (mean) {
      c.fillStyle = color('band')
      c.beginPath()
      line(i => mean[i] + 2 * std[i])
      line(i => mean[i] - 2 * std[i], true)
      c.fill()
      c.strokeStyle = color('sample')
      c.lineWidth = 1.2
      for (const s of samples) {
        c.beginPath()
        line(i => s[i])
        c.stroke()
      }
      c.strokeStyle = color('accent')
      c.lineWidth = 2.5
      c.beginPath()
      line(i => mean[i])
      c.stroke()
    }
    c.fillStyle = color('point')
    points.forEach(([x, y], i) => {
      c.beginPath()
      c.arc(this.toX(x), this.toY(y), 5.5, 0, 2 * Math.PI)
      c.fill()
      if (i === selected) {
        c.strokeStyle = color('text')
        c.lineWidth = 2
        c.beginPath()
        c.arc(this.toX(x), this.toY(y), 9, 0, 2 * Math.PI)
        c.stroke()
      }
    })
  }

  #axes() {
    const { c } = this
    c.strokeStyle = color('line')
    c.fillStyle = color('soft')
    c.font = '12px system-ui, sans-serif'
    c.lineWidth = 1
    for (let v = Math.ceil(this.x[0]); v <= this.x[1]; v++) {
      c.globalAlpha = v === 0 ? 1 : .4
      c.beginPath()
      c.moveTo(this.toX(v), 0)
      c.lineTo(this.toX(v), this.height)
      c.stroke()
      c.globalAlpha = 1
      c.fillText(v, this.toX(v) + 3, this.height - 4)
    }
    for (let v = Math.ceil(this.y[0]); v <= this.y[1]; v++) {
      c.globalAlpha = v === 0 ? 1 : .4
      c.beginPath()
      c.moveTo(0, this.toY(v))
      c.lineTo(this.width, this.toY(v))
      c.stroke()
      c.globalAlpha = 1
      if (this.toY(v) > 14 && this.toY(v) < this.height - 16) c.fillText(v, 3, this.toY(v) - 3) // neither cut off nor over the other axis
    }
  }
}

// between makes a table of 256 colours of some evenly spaced ones.
function between(...stops) {
  return Array.from({ length: 256 }, (_, i) => {
    const t = i / 255 * (stops.length - 1), k = Math.min(Math.floor(t), stops.length - 2)
    return stops[k].map((v, d) => v + (t - k) * (stops[k + 1][d] - v))
  })
}

export const grey = between([0, 0, 0], [255, 255, 255])
export const heat = between([0, 0, 4], [87, 16, 110], [188, 55, 84], [249, 142, 9], [252, 255, 164])
export const warm = between([49, 54, 149], [116, 173, 209], [255, 255, 224], [244, 109, 67], [165, 0, 38])
export const signed = between([33, 102, 172], [247, 247, 247], [178, 24, 43])
const nothing = [90, 100, 120] // where there is no value

// drawMap shows values [n, n] on a canvas; lo and hi have the first and the last colour. Values that are NaN have none.
export function drawMap(canvas, values, n, colors, lo, hi) {
  if (canvas.width !== n) canvas.width = canvas.height = n
  const c = canvas.getContext('2d'), image = c.createImageData(n, n)
  for (let i = 0; i < n * n; i++) {
    const t = (values[i] - lo) / (hi - lo)
    const rgb = t === t ? colors[Math.round(255 * Math.min(Math.max(t, 0), 1))] : nothing
    image.data.set(rgb, 4 * i)
    image.data[4 * i + 3] = 255
  }
  c.putImageData(image, 0, 0)
}

// figures puts a canvas with a caption into row for each kind of a model's answers, and returns them as [kind, canvas]. The first one takes the keyboard,
// whose use the element view-keys explains.
export function figures(row, view, model, kinds) {
  return Object.entries(kinds).map(([kind, text], i) => {
    const figure = document.createElement('figure'), caption = document.createElement('figcaption'), canvas = document.createElement('canvas')
    canvas.setAttribute('role', 'application')
    canvas.setAttribute('aria-label', `${text} of ${model}`)
    canvas.setAttribute('aria-describedby', `${view}-keys`)
    if (i === 0) canvas.tabIndex = 0
    canvas.dataset[view] = kind
    caption.textContent = text
    figure.append(canvas, caption)
    row.append(figure)
    return [kind, canvas]
  })
}
