// The digits of a digital clock, which the image models are trained on: seven segments with mitred ends, as package task draws them.

const width = 4 / 7, stroke = 1 / 7, gap = 1 / 56 / Math.SQRT2
const lit = ['abcdef', 'bc', 'abged', 'abgcd', 'fgbc', 'afgcd', 'afgedc', 'abc', 'abcdefg', 'abcdfg']

// outlines are those of the segments a to g, convex, as [y, x] about the digit's centre in units of its height.
const outlines = (() => {
  const h = .5, w = width / 2, t = stroke, e = gap
  const top = [[-h, -w + e], [-h, w - e], [-h + t, w - t - e], [-h + t, -w + t + e]]
  const right = [[-h + e, w], [-e, w], [-e, w - t / 2], [-t / 2 - e, w - t], [-h + t + e, w - t]]
  const half = [[0, -w + t / 2 + e], [-t / 2, -w + t + e], [-t / 2, w - t - e], [0, w - t / 2 - e], [t / 2, w - t - e], [t / 2, -w + t + e]]
  const flip = (p, y, x) => p.map(v => [y * v[0], x * v[1]])
  return { a: top, b: right, c: flip(right, -1, 1), d: flip(top, -1, 1), e: flip(right, -1, -1), f: flip(right, 1, -1), g: half }
})()

// inside reports whether a place lies in a convex outline.
function inside(outline, y, x) {
  let sign = 0
  for (let i = 0; i < outline.length; i++) {
    const [ay, ax] = outline[i], [by, bx] = outline[(i + 1) % outline.length]
    const side = Math.sign((by - ay) * (x - ax) - (bx - ax) * (y - ay))
    if (side && sign && side !== sign) return false
    sign ||= side
  }
  return true
}

// drawDigit returns an image [n, n] of a digit, as high as in training.
export function drawDigit(digit, n) {
  const height = 56 / 64 * n, parts = 4, out = new Float32Array(n * n)
  const shapes = [...lit[digit]].map(s => outlines[s])
  for (let i = 0; i < n * parts; i++) {
    for (let j = 0; j < n * parts; j++) {
      const y = ((i + .5) / parts - n / 2) / height, x = ((j + .5) / parts - n / 2) / height
      if (shapes.some(s => inside(s, y, x))) out[Math.floor(i / parts) * n + Math.floor(j / parts)] += 1 / parts ** 2
    }
  }
  return out
}
