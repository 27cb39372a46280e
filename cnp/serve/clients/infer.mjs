// Asks a server over gRPC with @grpc/grpc-js, as clients in JavaScript do: node infer.mjs HOST:PORT PROTO
import assert from 'node:assert/strict';
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';

const [address, proto] = process.argv.slice(2);
const { inference } = grpc.loadPackageDefinition(loader.loadSync(proto, { longs: Number, keepCase: true }));
const client = new inference.GRPCInferenceService(address, grpc.credentials.createInsecure());
const call = (method, request, options = {}) => new Promise((resolve, reject) => {
	client[method](request, new grpc.Metadata(), options, (error, answer) => error ? reject(error) : resolve(answer));
});
const doubles = (values) => Buffer.from(new Float64Array(values).buffer);
const floats = (buffer) => Array.from({ length: buffer.length / 4 }, (_, i) => buffer.readFloatLE(4 * i));

assert.equal((await call('ServerLive', {})).live, true);
assert.equal((await call('ServerReady', {})).ready, true);
assert.equal((await call('ModelReady', { name: 'rbf' })).ready, true);
assert.ok((await call('ServerMetadata', {})).extensions.includes('binary_tensor_data'));
const metadata = await call('ModelMetadata', { name: 'rbf' });
assert.deepEqual(metadata.inputs[0], { name: 'x_context', datatype: 'FP64', shape: [-1, -1, 1] });

const inputs = [
	{ name: 'x_context', datatype: 'FP64', shape: [1, 2, 1] },
	{ name: 'y_context', datatype: 'FP32', shape: [1, 2, 1] },
	{ name: 'x_target', datatype: 'FP64', shape: [1, 3, 1] },
];
const raw = await call('ModelInfer', {
	model_name: 'rbf', id: 'raw', inputs,
	raw_input_contents: [doubles([-1, 0.5]), Buffer.from(new Float32Array([0.2, -0.7]).buffer), doubles([-0.5, 0, 1])],
}, { deadline: Date.now() + 30_000 });
assert.equal(raw.id, 'raw');
assert.deepEqual(raw.outputs.map((o) => o.name), ['mean', 'std']);
const typed = await call('ModelInfer', {
	model_name: 'rbf', inputs: [
		{ ...inputs[0], contents: { fp64_contents: [-1, 0.5] } },
		{ ...inputs[1], contents: { fp32_contents: [0.2, -0.7] } },
		{ ...inputs[2], contents: { fp64_contents: [-0.5, 0, 1] } },
	],
});
assert.deepEqual(floats(raw.raw_output_contents[0]), typed.outputs[0].contents.fp32_contents);
assert.deepEqual(floats(raw.raw_output_contents[1]), typed.outputs[1].contents.fp32_contents);

await assert.rejects(call('ModelInfer', { model_name: 'none' }), { code: grpc.status.NOT_FOUND });
await assert.rejects(call('ModelInfer', { model_name: 'rbf', inputs }), { code: grpc.status.INVALID_ARGUMENT });
await Promise.all(Array.from({ length: 64 }, () => call('ModelInfer', {
	model_name: 'rbf', inputs,
	raw_input_contents: [doubles([-1, 0.5]), Buffer.from(new Float32Array([0.2, -0.7]).buffer), doubles([-0.5, 0, 1])],
})));
client.close();
console.log('grpc-js: ok');
