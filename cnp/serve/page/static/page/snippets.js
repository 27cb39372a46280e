// What is on the screen as a request that other programs can send.

// short writes a number in the digits that its type has: tables may be in any units. Of float64 twelve are a hundredth of a second in days since 1970.
const short = { FP32: v => Number(v.toPrecision(8)), FP64: v => Number(v.toPrecision(12)), BOOL: v => v !== 0 }
const plain = input => ({ ...input, data: Array.from(input.data, short[input.datatype]) })

// snippet writes a request to a model of a server in a language: curl, go or python. token is the bearer token, if the server asks for one.
export function snippet(language, base, model, { inputs, outputs, parameters }, token) {
  const list = inputs.map(plain)
  const body = { inputs: list }
  if (outputs?.length) body.outputs = outputs.map(name => ({ name }))
  if (parameters && Object.keys(parameters).length) body.parameters = parameters
  return { curl, go, python }[language](base, model, body, token)
}

// lines writes a request with a tensor a line.
function lines(body, indent, value = JSON.stringify) {
  const parts = Object.entries(body).map(([key, v]) => {
    if (key !== 'inputs') return `${indent}"${key}": ${value(v)}`
    return `${indent}"inputs": [\n${v.map(i => `${indent}  ${value(i)}`).join(',\n')}]`
  })
  return `{\n${parts.join(',\n')}}`
}

function curl(base, model, body, token) {
  const header = token ? ` -H ${quoted(`Authorization: Bearer ${token}`)}` : ''
  return `curl -s ${base}/v2/models/${model}/infer${header} -d @- <<'END'\n${lines(body, '  ')}\nEND\n`
}

// quoted is a word of a shell.
const quoted = text => `'${text.replaceAll("'", `'\\''`)}'`

function python(base, model, body, token) {
  const value = v => JSON.stringify(v).replace(/\btrue\b/g, 'True').replace(/\bfalse\b/g, 'False')
  return `import json, urllib.request

request = ${lines(body, '    ', value)}
asked = urllib.request.Request("${base}/v2/models/${model}/infer", json.dumps(request).encode()${token ? `, {"Authorization": ${JSON.stringify(`Bearer ${token}`)}}` : ''})
answer = json.load(urllib.request.urlopen(asked))
for output in answer["outputs"]:
    print(output["name"], output["shape"], output["data"][:5])
`
}

function go(base, model, { inputs, outputs, parameters }, token) {
  const kinds = { FP32: ['Float32s', 'float32'], FP64: ['Float64s', 'float64'], BOOL: ['Bools', 'bool'] }
  const tensors = inputs.map(({ name, datatype, shape, data }) => {
    const [call, type] = kinds[datatype]
    return `\t\tclient.${call}("${name}", []int{${shape.join(', ')}}, []${type}{${data.join(', ')}}),`
  })
  const fields = [`Inputs: []client.Tensor{\n${tensors.join('\n')}\n\t}`]
  if (outputs) fields.push(`Outputs: []string{${outputs.map(o => `"${o.name}"`).join(', ')}}`)
  if (parameters) fields.push(`Parameters: map[string]any{${Object.entries(parameters).map(([k, v]) => `"${k}": ${JSON.stringify(v)}`).join(', ')}}`)
  return `package main

import (
\t"context"
\t"fmt"
\t"log"

\t"github.com/equivcnp/equivcnp/cnp/serve/client"
)

func main() {
\tc := client.New("${base}", client.Options{${token ? `Token: ${JSON.stringify(token)}` : ''}})
\tr, err := c.Infer(context.Background(), "${model}", &client.Request{${fields.join(', ')}})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tmean, err := r.Get("mean").Float32s()
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfmt.Println(mean)
}
`
}
