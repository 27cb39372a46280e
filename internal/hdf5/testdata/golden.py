"""Writes the golden files of package hdf5 with h5py: every way to index chunks, of both kinds of headers. Values are sums of what
value(i) says, so that the test knows them. python3 golden.py"""

import h5py
import numpy as np


def values(shape, dtype="f8"):
    """Numbers that differ and that every type has."""
    n = int(np.prod(shape))
    return (np.arange(n) * 7 % 101).reshape(shape).astype(dtype)


for name, libver, order in (("old", "earliest", False), ("new", "latest", True)):
    with h5py.File(f"{name}.h5", "w", libver=libver, track_order=order) as f:
        f["whole"] = values((3, 4))
        for dtype in ("<f4", ">f4", "<f2", "i1", "<u2", ">i4", "<i8", ">u8"):
            f["type " + dtype] = values(11, dtype)
        f["one"] = 3.5
        f["flags"] = np.array([True, False, True])
        f["fixed"] = np.array([b"abc", b"de", b""])
        f.create_dataset("texts", data=["alpha", "", "β"], dtype=h5py.string_dtype())
        f.create_dataset("filtered", data=values((7, 11), "i4"), chunks=(3, 4), compression="gzip", shuffle=True, fletcher32=True)
        f.create_dataset("lzf", data=values((300,), "i4") // 50, chunks=(160,), compression="lzf")
        f.create_dataset("plain", data=values((7, 11)), chunks=(3, 4))
        f.create_dataset("single", data=values((6, 7)), chunks=(6, 7), compression="gzip")
        f.create_dataset("single plain", data=values((6, 7)), chunks=(6, 7))
        f.create_dataset("rows", data=values((90, 3), "i2"), chunks=(1, 3), maxshape=(None, 3))
        f.create_dataset("columns", data=values((3, 70), "i2"), chunks=(2, 1), maxshape=(3, None), compression="gzip")
        f.create_dataset("both", data=values((12, 13), "i2"), chunks=(2, 3), maxshape=(None, None))
        f.create_dataset("both filtered", data=values((12, 13), "i2"), chunks=(2, 3), maxshape=(None, None), compression="gzip")
        d = f.create_dataset("sparse", shape=(20, 20), chunks=(7, 7), fillvalue=-7.0, dtype="f8")
        d[8:10, 3:5] = 1
        f.create_dataset("never", shape=(5,), fillvalue=4, dtype="i2")
        d = f.create_dataset("grown", shape=(9, 9), maxshape=(40, 30), chunks=(4, 4), dtype="f4")
        d[:] = values((9, 9))
        d.resize((5, 11))
        f.create_dataset("compound", data=np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]))
        f.create_dataset("empty", data=h5py.Empty("f4"))
        f["group/inner/values"] = values(5)
        f["another name"] = f["whole"]
        f["a link"] = h5py.SoftLink("/whole")
        for i in range(40):
            f["whole"].attrs[f"attribute {i}"] = i * 1.5
        f["whole"].attrs["text"] = "some text"
        f["whole"].attrs["long"] = "x" * 3000
        f["whole"].attrs["list"] = np.arange(5)
        f.attrs["title"] = "golden"


def sized(name, offsets, lengths, most, depth):
    """A file whose addresses and lengths have so many bytes, with a dataset that is too long to be read, and groups within groups."""
    sizes = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    sizes.set_sizes(offsets, lengths)
    with h5py.File(h5py.h5f.create(name.encode(), h5py.h5f.ACC_TRUNC, sizes)) as f:
        f["texts"] = ["alpha", "", "beta"]
        f.create_dataset("chunks", data=np.arange(6.0), chunks=(4,), compression="gzip")
        f.create_dataset("long", shape=(most,), chunks=(1000,), dtype="u1")
        f["/".join(f"g{k}" for k in range(depth)) + "/deep"] = np.arange(3)


sized("addresses4.h5", 4, 8, 5 * 10**9, 1)
sized("lengths4.h5", 8, 4, 2**31 + 5, 20)

# expands.h5: millions of zeros, compressed twice
with h5py.File("expands.h5", "w", libver="latest") as f:
    for name, n in (("zeros", 140_000_000), ("fewer", 30_000_000)):
        twice = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        twice.set_chunk((n,))
        twice.set_deflate(9)
        twice.set_deflate(9)
        d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.STD_U8LE, h5py.h5s.create_simple((n,)), twice)
        h5py.Dataset(d)[:] = 0

# arrays_old.h5, arrays_new.h5: records with arrays, of which one has too many values for columns, in versions 1 and 3 of the format
for name, libver in (("arrays_old", "earliest"), ("arrays_new", "latest")):
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        kind = np.dtype([("t", "f8"), ("pos", "f4", (3,)), ("m", "i2", (2, 2)), ("name", "S4", (2,)), ("big", "u1", (65,))])
        records = np.zeros(3, kind)
        records["t"], records["pos"], records["m"] = np.arange(3), np.arange(9).reshape(3, 3) / 2, np.arange(12).reshape(3, 2, 2)
        records["name"] = [[b"a", b"bc"]] * 3
        f["records"] = records
