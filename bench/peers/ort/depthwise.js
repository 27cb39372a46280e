// node depthwise.js: ONNX Runtime's own case of 2026, a depthwise convolution 7 x 7 from 64 channels to 128 on 64 x 64, on one thread.
// Prints one JSON object a line, as bench does. Needs onnxruntime-node (NODE_PATH); writes the model itself, so no Python is needed.
const ort = require('onnxruntime-node');

const side = 64, channels = 64, outputs = 128, window = 7, pad = 3;

// Protocol Buffers (onnx.proto): a field is its number and wire type, then a varint or a length and bytes.
const varint = n => { const b = []; for (; n > 127; n = Math.floor(n / 128)) b.push(n % 128 | 128); b.push(n); return Buffer.from(b); };
const whole = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, b) => { b = Buffer.from(b); return Buffer.concat([varint(field * 8 + 2), varint(b.length), b]); };
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
const FLOAT = 1, INTS = 7, INT = 2;
const ints = (name, v) => message(5, bytes(1, name), ...v.map(x => whole(8, x)), whole(20, INTS)); // NodeProto.attribute
const int = (name, x) => message(5, bytes(1, name), whole(3, x), whole(20, INT));
const value = (field, name, shape) => message(field, bytes(1, name), // ValueInfoProto
  message(2, message(1, whole(1, FLOAT), message(2, ...shape.map(d => message(1, whole(1, d)))))));

function model(weights) {
  const node = message(1, bytes(1, 'x'), bytes(1, 'w'), bytes(2, 'y'), bytes(4, 'Conv'), ints('pads', [pad, pad, pad, pad]),
    ints('kernel_shape', [window, window]), int('group', channels));
  const w = message(5, ...[outputs, 1, window, window].map(d => whole(1, d)), whole(2, FLOAT), bytes(8, 'w'),
    bytes(9, Buffer.from(weights.buffer)));
  const graph = message(7, node, bytes(2, 'depthwise'), w, value(11, 'x', [1, channels, side, side]), value(12, 'y', [1, outputs, side, side]));
  return Buffer.concat([whole(1, 8), graph, message(8, bytes(1, ''), whole(2, 13))]);
}

let state = 1;
const draw = n => Float32Array.from({ length: n }, () => { state = state * 48271 % 2147483647; return state / 2147483647 - 0.5; });

(async () => {
  const x = draw(channels * side * side), w = draw(outputs * window * window);
  const s = await ort.InferenceSession.create(model(w), { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential',
    graphOptimizationLevel: 'all', logSeverityLevel: 3 });
  const feeds = { x: new ort.Tensor('float32', x, [1, channels, side, side]) };
  const { y } = await s.run(feeds);
  for (const [o, i, j] of [[0, 0, 0], [77, 31, 5], [127, 63, 63]]) { // against the definition
    let sum = 0;
    for (let a = 0; a < window; a++) for (let b = 0; b < window; b++) {
      const r = i + a - pad, c = j + b - pad;
      if (r >= 0 && r < side && c >= 0 && c < side) sum += w[(o * window + a) * window + b] * x[((o >> 1) * side + r) * side + c];
    }
    const got = y.data[(o * side + i) * side + j];
    if (!(Math.abs(got - sum) < 1e-4)) throw new Error(`output ${o} at ${i}, ${j} is ${got}, need ${sum}`);
  }
  const budget = 1e3 * (+process.env.PEER_SECONDS || 0.4);
  let best = Infinity;
  for (const begin = performance.now(); performance.now() - begin < budget;) {
    const t = performance.now();
    await s.run(feeds);
    best = Math.min(best, performance.now() - t);
  }
  const flop = 2 * side * side * window * window * outputs;
  console.log(JSON.stringify({ name: 'depthwise7x7/ort/64x64x64to128', n: flop, metric: 'gflops', value: flop / best * 1e-6 }));
})().catch(e => { console.error(e); process.exit(1); });
