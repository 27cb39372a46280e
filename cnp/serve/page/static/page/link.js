// The state of the page in its address: JSON, in base64 that addresses may hold.

export function toText(bytes) {
  let s = ''
  for (const b of bytes) s += String.fromCharCode(b)
  return btoa(s).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

export const toBytes = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))

// packBits makes text of flags.
export function packBits(flags) {
  const bytes = new Uint8Array(Math.ceil(flags.length / 8))
  flags.forEach((v, i) => { if (v) bytes[i >> 3] |= 1 << (i & 7) })
  return toText(bytes)
}

export function unpackBits(text, n) {
  const bytes = toBytes(text)
  return Uint8Array.from({ length: n }, (_, i) => (bytes[i >> 3] >> (i & 7)) & 1)
}

// packGrey makes text of values from 0 to 1, in sixteen levels.
export function packGrey(values) {
  const bytes = new Uint8Array(Math.ceil(values.length / 2))
  values.forEach((v, i) => { bytes[i >> 1] |= Math.round(15 * Math.min(Math.max(v, 0), 1)) << (4 * (i & 1)) })
  return toText(bytes)
}

export function unpackGrey(text, n) {
  const bytes = toBytes(text)
  return Float32Array.from({ length: n }, (_, i) => ((bytes[i >> 1] >> (4 * (i & 1))) & 15) / 15)
}

// What a link may say is anything at all, so views say of each of their values what is fit. text is short, packed is that of toText, and rows are
// few enough that a view can show them.
export const fit = {
  text: v => typeof v === 'string' && v.length <= 1000,
  packed: v => typeof v === 'string' && /^[\w-]*$/.test(v) && v.length % 4 !== 1,
  number: (lo, hi) => v => typeof v === 'number' && Number.isFinite(v) && v >= lo && v <= hi,
  whole: (lo, hi) => v => Number.isInteger(v) && v >= lo && v <= hi,
  flag: v => typeof v === 'boolean',
  one: list => v => list.includes(v),
  row: length => v => Array.isArray(v) && v.length === length && v.every(Number.isFinite),
  rows: (length, most) => v => Array.isArray(v) && v.length <= most && v.every(fit.row(length)),
}

// fitting returns those values of a view's state that are fit for it.
export const fitting = (fits, from) => Object.fromEntries(Object.entries(fits).filter(([k, ok]) => Object.hasOwn(from, k) && ok(from[k])).map(([k]) => [k, from[k]]))

export const encodeState = state => toText(new TextEncoder().encode(JSON.stringify(state)))

// decodeState returns the state in an address, or null where there is none that can be read.
export function decodeState(hash) {
  try {
    const s = JSON.parse(new TextDecoder().decode(toBytes(hash.replace(/^#/, ''))))
    return s && typeof s === 'object' ? s : null
  } catch {
    return null
  }
}
