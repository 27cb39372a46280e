// Random numbers that a seed decides, so that a link shows everybody the same.

// uniform returns a function of numbers in [0, 1) (mulberry32).
export function uniform(seed) {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

// normal returns a function of standard normal numbers (Box and Muller).
export function normal(seed) {
  const u = uniform(seed)
  return () => Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u())
}
