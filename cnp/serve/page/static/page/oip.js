// The Open Inference Protocol with its binary tensor extension: JSON, and after it the elements of all tensors, in order.

export const headerLength = 'Inference-Header-Content-Length'

// encode makes the body of a request of inputs {name, datatype, shape, data}, whose data are typed arrays. Browsers run on little-endian
// machines, which is the order of the protocol.
export function encode({ inputs, outputs = [], parameters = {} }) {
  const head = new TextEncoder().encode(JSON.stringify({
    parameters: { ...parameters, binary_data_output: true },
    inputs: inputs.map(({ name, datatype, shape, data }) => ({ name, datatype, shape, parameters: { binary_data_size: data.byteLength } })),
    outputs: outputs.map(name => ({ name })),
  }))
  return { body: new Blob([head, ...inputs.map(i => i.data)]), length: head.length }
}

// decode reads an answer: its tensors by name, as {shape, data}, and its note, if there is one.
export function decode(buffer, length) {
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 0, length)))
  const outputs = {}
  let at = length
  for (const { name, shape, parameters } of head.outputs) {
    const end = at + parameters.binary_data_size
    outputs[name] = { shape, data: new Float32Array(buffer.slice(at, end)) }
    at = end
  }
  return { outputs, note: head.parameters?.note }
}
