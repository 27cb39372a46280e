"""Ask an EquivCNP server, or another one of the Open Inference Protocol, with numpy and the standard library alone.

    python3 infer.py http://localhost:8080 rbf
"""

import json
import sys
import urllib.error
import urllib.request

import numpy as np

TYPES = {
    "BOOL": np.bool_, "UINT8": np.uint8, "INT8": np.int8, "INT32": np.int32, "INT64": np.int64,
    "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
}
NAMES = {np.dtype(t): name for name, t in TYPES.items()}
HEADER = "Inference-Header-Content-Length"


class ServerError(Exception):
    """What the server says instead of an answer; retry_after is in seconds, or None."""

    def __init__(self, status, message, retry_after=None):
        super().__init__(f"{status}: {message}")
        self.status, self.retry_after = status, retry_after


class Client:
    def __init__(self, url, token=None, timeout=60):
        self.url, self.token, self.timeout = url.rstrip("/"), token, timeout

    def _ask(self, path, body=None, header=None):
        request = urllib.request.Request(self.url + path, data=body, headers=header or {})
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return answer.headers, answer.read()
        except urllib.error.HTTPError as e:
            text = e.read().decode(errors="replace")
            try:
                text = json.loads(text)["error"]
            except (ValueError, KeyError, TypeError):
                pass
            raise ServerError(e.code, text, e.headers.get("Retry-After")) from None

    def metadata(self, model):
        """Inputs and outputs of a model, with their types and shapes."""
        return json.loads(self._ask("/v2/models/" + model)[1])

    def ready(self):
        try:
            return json.loads(self._ask("/v2/health/ready")[1])["ready"]
        except ServerError:
            return False

    def infer(self, model, inputs, outputs=(), **parameters):
        """Sends arrays by name and returns arrays by name. A parameter is, for example, timeout in microseconds."""
        head = {"inputs": [], "parameters": {"binary_data_output": True, **parameters}}
        if outputs:
            head["outputs"] = [{"name": name, "parameters": {"binary_data": True}} for name in outputs]
        data = []
        for name, array in inputs.items():
            array = np.ascontiguousarray(array)
            array = array.astype(array.dtype.newbyteorder("<"), copy=False)
            data.append(array.tobytes())
            head["inputs"].append({"name": name, "datatype": NAMES[array.dtype.newbyteorder("=")], "shape": list(array.shape),
                                   "parameters": {"binary_data_size": len(data[-1])}})
        head = json.dumps(head).encode()
        header, body = self._ask(f"/v2/models/{model}/infer", b"".join([head, *data]),
                                 {HEADER: str(len(head)), "Content-Type": "application/octet-stream"})
        size = int(header[HEADER])
        answer, rest, out = json.loads(body[:size]), body[size:], {}
        for tensor in answer["outputs"]:
            n = tensor["parameters"]["binary_data_size"]
            dtype = np.dtype(TYPES[tensor["datatype"]]).newbyteorder("<")
            out[tensor["name"]] = np.frombuffer(rest[:n], dtype).reshape(tensor["shape"])
            rest = rest[n:]
        return out


def main():
    client, model = Client(sys.argv[1]), sys.argv[2]
    inputs = {tensor["name"] for tensor in client.metadata(model)["inputs"]}
    random = np.random.default_rng(1)
    if "image" in inputs:  # noise of which a third is observed
        image = random.random((1, 1, 64, 64), dtype=np.float32)
        out = client.infer(model, {"image": image, "mask": random.random((1, 1, 64, 64)) < 1 / 3})
    else:  # a sine at ten places, wanted at five
        x = np.sort(random.uniform(-2, 2, (1, 10, 1)))
        out = client.infer(model, {"x_context": x, "y_context": np.sin(2 * x).astype(np.float32),
                                   "x_target": np.linspace(-2, 2, 5).reshape(1, 5, 1)})
    for name, array in out.items():
        print(name, array.shape, array.ravel()[:5])


if __name__ == "__main__":
    main()
