// Gaussian processes: what the curve models approximate, exactly. The kernels are those that the paper trains on: length and period 1.
import { normal } from './random.js'

export const kernels = {
  rbf: d => Math.exp(-d * d / 2),
  matern: d => {
    const s = Math.sqrt(5) * Math.abs(d)
    return (1 + s + s * s / 3) * Math.exp(-s)
  },
  periodic: d => Math.exp(-2 * Math.sin(Math.PI * d) ** 2),
}

const jitter = 1e-8 // variance of the noise of observations, as in training
const slack = 1e-7 // of what is drawn, to keep its covariance positive definite

// cholesky returns L of A = L·Lᵀ, both [n, n] row by row.
export function cholesky(a, n) {
  const l = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let s = a[i * n + j]
      for (let k = 0; k < j; k++) s -= l[i * n + k] * l[j * n + k]
      l[i * n + j] = i === j ? Math.sqrt(Math.max(s, 1e-14)) : s / l[j * n + j]
    }
  }
  return l
}

// solve returns L⁻¹·b.
function solve(l, n, b) {
  const x = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    let s = b[i]
    for (let k = 0; k < i; k++) s -= l[i * n + k] * x[k]
    x[i] = s / l[i * n + i]
  }
  return x
}

function covariance(k, x, noise) {
  const n = x.length, a = new Float64Array(n * n)
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) a[i * n + j] = k(x[i] - x[j]) + (i === j ? noise : 0)
  return a
}

// posterior is the process of a kernel at targets, given observations: mean and std, and samples that a seed decides.
export function posterior(kernel, x, y, targets, samples = 0, seed = 0) {
  const k = kernels[kernel], n = x.length, m = targets.length
  const l = cholesky(covariance(k, x, jitter), n), w = solve(l, n, y)
  const columns = Array.from(targets, t => solve(l, n, Float64Array.from(x, v => k(t - v)))) // L⁻¹·k(x, t)
  const dot = (a, b) => a.reduce((s, v, i) => s + v * b[i], 0)
  const mean = Float64Array.from(columns, c => dot(c, w))
  const std = Float64Array.from(columns, c => Math.sqrt(Math.max(k(0) + jitter - dot(c, c), jitter)))
  const drawn = []
  if (samples > 0) {
    const cov = new Float64Array(m * m)
    for (let i = 0; i < m; i++) {
      for (let j = 0; j <= i; j++) {
        cov[i * m + j] = cov[j * m + i] = k(targets[i] - targets[j]) - dot(columns[i], columns[j]) + (i === j ? slack : 0)
      }
    }
    const root = cholesky(cov, m), z = normal(seed + 1)
    for (let s = 0; s < samples; s++) {
      const e = Float64Array.from({ length: m }, z)
      drawn.push(Float64Array.from(mean, (v, i) => {
        for (let j = 0; j <= i; j++) v += root[i * m + j] * e[j]
        return v
      }))
    }
  }
  return { mean, std, samples: drawn }
}

// divergence is the mean of KL(p || q) of normal distributions, in nats a target: what the model loses against the process.
export function divergence(p, q) {
  let s = 0
  for (let i = 0; i < p.mean.length; i++) {
    const r = p.std[i] / q.std[i], d = (p.mean[i] - q.mean[i]) / q.std[i]
    s += (r * r + d * d - 1) / 2 - Math.log(r)
  }
  return s / p.mean.length
}
