// Motions g of the plane about an image's centre, {angle, scale, y, x}: first the scale, then the turn, in degrees and anticlockwise as one
// looks at the image, then the shift in pixels, down and right. Images are [n, n], row by row.

export const still = g => g.angle % 360 === 0 && g.scale === 1 && g.x === 0 && g.y === 0

// backward returns a function that says where g took a place from; both are row and column of an [n, n] image.
function backward(g, n) {
  const turn = g.angle * Math.PI / 180
  // A quarter turn takes pixels to pixels, exactly.
  const cos = g.angle % 90 ? Math.cos(turn) : Math.round(Math.cos(turn)), sin = g.angle % 90 ? Math.sin(turn) : Math.round(Math.sin(turn))
  const centre = (n - 1) / 2
  return (i, j) => {
    const y = (i - centre - g.y) / g.scale, x = (j - centre - g.x) / g.scale
    return [cos * y + sin * x + centre, cos * x - sin * y + centre]
  }
}

// read returns the value of an image between its pixels, or outside beyond them.
function read(image, n, y, x, outside) {
  const edge = .5 + 1e-9
  if (!(y >= -edge && x >= -edge && y <= n - 1 + edge && x <= n - 1 + edge)) return outside
  y = Math.min(Math.max(y, 0), n - 1)
  x = Math.min(Math.max(x, 0), n - 1)
  const i = Math.min(Math.floor(y), n - 2), j = Math.min(Math.floor(x), n - 2), s = y - i, t = x - j, at = i * n + j
  return (1 - s) * ((1 - t) * image[at] + t * image[at + 1]) + s * ((1 - t) * image[at + n] + t * image[at + n + 1])
}

const parts = 3 // a pixel's value is the mean of so many by so many places in it

// observe returns the [n, n] pixels that a camera sees of a scene [m, m] which g has moved; all around the scene is black.
export function observe(scene, m, n, g) {
  const from = backward(g, n), out = new Float32Array(n * n), k = m / n
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0
      for (let a = 0; a < parts; a++) {
        for (let b = 0; b < parts; b++) {
          const [y, x] = from(i + (a + .5) / parts - .5, j + (b + .5) / parts - .5)
          sum += read(scene, m, (y + .5) * k - .5, (x + .5) * k - .5, 0)
        }
      }
      out[i * n + j] = sum / parts ** 2
    }
  }
  return out
}

// moveMask moves which pixels are observed: each is what the pixel nearest to where it came from was.
export function moveMask(mask, n, g) {
  const from = backward(g, n), out = new Uint8Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const [y, x] = from(i, j).map(v => Math.round(v))
      if (y >= 0 && x >= 0 && y < n && x < n) out[i * n + j] = mask[y * n + x]
    }
  }
  return out
}

// move moves a map of values; what comes from outside is NaN.
export function move(map, n, g) {
  const from = backward(g, n), out = new Float32Array(n * n)
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[i * n + j] = read(map, n, ...from(i, j), NaN)
  return out
}

// soften returns a map in which each pixel is the mean of its neighbourhood, so that maps of which one was read between pixels are equally sharp.
export function soften(map, n) {
  const weight = [1, 2, 1], out = new Float32Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0, all = 0
      for (let a = -1; a < 2; a++) {
        for (let b = -1; b < 2; b++) {
          const y = i + a, x = j + b, v = y < 0 || x < 0 || y >= n || x >= n ? NaN : map[y * n + x]
          if (v !== v) continue
          sum += weight[a + 1] * weight[b + 1] * v
          all += weight[a + 1] * weight[b + 1]
        }
      }
      out[i * n + j] = map[i * n + j] === map[i * n + j] ? sum / all : NaN
    }
  }
  return out
}

// middle leaves the values of a map that are away from the border, however it is turned.
export const middle = (map, n) => map.map((v, i) => Math.hypot(Math.floor(i / n) - (n - 1) / 2, i % n - (n - 1) / 2) <= .36 * n ? v : NaN)

// between reports whether g turns by an angle between quarter turns, about the centre, and does nothing else.
export const between = g => g.angle % 90 !== 0 && g.scale === 1 && g.x === 0 && g.y === 0

// rms is the root mean square of values that are numbers.
export function rms(values) {
  let sum = 0, count = 0
  for (const v of values) {
    if (v === v) {
      sum += v * v
      count++
    }
  }
  return Math.sqrt(sum / count)
}
