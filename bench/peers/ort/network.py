"""network.py MODEL.onnx [--threads N] [--calls N]: the T(2) network of the peers in ONNX Runtime, from Python, where there is no Node.

Run it in the folder convnet of the peers, after `run.sh build`: it reads onnx/x.f32 and onnx/y.f32 there, and prints JSON lines as ort.js
does. Outputs are compared with the golden data first.
"""

import argparse
import json
import statistics
import time

import numpy as np
import onnxruntime as ort

p = argparse.ArgumentParser()
p.add_argument("model")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--calls", type=int, default=15)
a = p.parse_args()
options = ort.SessionOptions()
options.intra_op_num_threads = a.threads
options.inter_op_num_threads = 1
session = ort.InferenceSession(a.model, options, providers=["CPUExecutionProvider"])
given = session.get_inputs()[0]
batch = given.shape[0]
x = np.fromfile("onnx/x.f32", "<f4").reshape(-1, 2, 64, 64)[:batch]
want = np.fromfile("onnx/y.f32", "<f4").reshape(-1, 2, 64, 64)[:batch]
call = lambda: session.run(None, {given.name: x})[0]
error = float(np.abs(call() - want).max())
if not error < 5e-6:
    raise SystemExit(f"{a.model}: largest error {error}")
call()
times = []
for _ in range(a.calls):
    start = time.perf_counter()
    call()
    times.append(time.perf_counter() - start)
name = f"image/ort/T2/64x64/batch{batch}"
for metric, value in (("s_per_image", min(times) / batch), ("p50_s", statistics.median(times)), ("max_err", error)):
    print(json.dumps({"name": name, "n": a.threads, "metric": metric, "value": value}))
