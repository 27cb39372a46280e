"""Writes the fixtures of this folder: python3 make.py (PyTorch 1.13, seed 20).

tensors.safetensors holds what every good tensors_*.pth must give; it is written here by hand, from the tensors'
own numpy bytes, so that it does not share code with the reader under test.
"""
import json
import os
import struct
from collections import OrderedDict

import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))
torch.manual_seed(20)

NAMES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}


def raw(t):
    t = t.detach().contiguous()
    if t.dtype == torch.bfloat16:
        t = t.view(torch.int16)
    return t.numpy().tobytes()


def write_safetensors(path, tensors):
    head, data = {}, b""
    for name, t in tensors.items():
        b = raw(t)
        head[name] = {"dtype": NAMES[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(b)]}
        data += b
    text = json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.bn = torch.nn.BatchNorm1d(2)


state = Net().state_dict()  # an OrderedDict with a _metadata attribute
base = torch.arange(24.0).reshape(4, 6)
state["transposed"] = base.t()
state["rows"] = base[1:3]  # shares the storage, with an offset
state["steps"] = base[:, ::2]
state["expanded"] = torch.tensor([5.0, 6.0]).unsqueeze(1).expand(2, 3)
state["scalar"] = torch.tensor(1.5)
state["empty"] = torch.zeros(0, 7)
state["parameter"] = torch.nn.Parameter(torch.randn(2, 2))
for dtype, name in NAMES.items():
    state["type." + name] = (torch.randn(5) * 3).to(dtype)

write_safetensors("tensors.safetensors", state)
torch.save(state, "tensors_legacy.pth", _use_new_zipfile_serialization=False)
torch.save(state, "tensors_zip.pth")
torch.save(state, "tensors_legacy_p4.pth", _use_new_zipfile_serialization=False, pickle_protocol=4)
torch.save(state, "tensors_zip_p4.pth", pickle_protocol=4)
torch.save(dict(state), "tensors_dict.pth")

small = OrderedDict(a=torch.tensor([1.0, 2.0]), b=torch.tensor([3], dtype=torch.int64))
write_safetensors("small.safetensors", small)
torch.save(small, "small_legacy.pth", _use_new_zipfile_serialization=False)
torch.save(small, "small_zip.pth")


class Evil:
    def __reduce__(self):
        return os.system, ("touch executed",)


torch.save(OrderedDict(a=small["a"], b=Evil()), "evil_legacy.pth", _use_new_zipfile_serialization=False)
torch.save(OrderedDict(a=small["a"], b=Evil()), "evil_zip.pth")
torch.save(OrderedDict(a=small["a"], b=Evil()), "evil_zip_p4.pth", pickle_protocol=4)
torch.save({"state_dict": small, "epoch": 3}, "nested.pth")
torch.save([small["a"]], "list.pth")
torch.save(torch.nn.ReLU(), "module_zip.pth")
torch.save(torch.nn.ReLU(), "module_legacy.pth", _use_new_zipfile_serialization=False)
