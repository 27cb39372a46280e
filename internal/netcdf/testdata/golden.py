"""Writes the golden files beside it: /usr/bin/python3 golden.py (Debian 12: python3-netcdf4 1.6.2, numpy 1.24)."""
import h5py, netCDF4, numpy as np
for name, form in (("cdf1", "NETCDF3_CLASSIC"), ("cdf2", "NETCDF3_64BIT_OFFSET"), ("cdf5", "NETCDF3_64BIT_DATA"), ("nc4", "NETCDF4")):
    with netCDF4.Dataset(name + ".nc", "w", format=form) as f:
        f.title = "golden"
        f.createDimension("time", None)
        f.createDimension("lat", 2)
        f.createDimension("lon", 3)
        f.createDimension("name", 5)
        lat = f.createVariable("lat", "f8", ("lat",)); lat[:] = [-10, 10]; lat.units = "degrees_north"
        lon = f.createVariable("lon", "f4", ("lon",)); lon[:] = [0, 120, 240]; lon.units = "degrees_east"
        time = f.createVariable("time", "f8", ("time",)); time.units = "days since 2000-01-01"
        t2m = f.createVariable("t2m", "i2", ("time", "lat", "lon"), fill_value=-999)
        t2m.scale_factor, t2m.add_offset, t2m.units = 0.01, 273.15, "K"
        flag = f.createVariable("flag", "i1", ("time",)); 
        rain = f.createVariable("rain", "f4", ("lat", "lon")); rain.missing_value = np.float32(-1)
        station = f.createVariable("station", "S1", ("lat", "name")); station[:] = netCDF4.stringtochar(np.array(["south", "north"], "S5"))
        time[:] = [0, 0.5, 1]
        t2m[:] = np.ma.masked_array(273.15 + np.arange(18).reshape(3, 2, 3) / 4, np.arange(18).reshape(3, 2, 3) % 7 == 6)
        flag[:] = [1, -1, 0]
        rain[:] = [[0, 1, 2], [3, -1, 5]]
        if name in ("cdf5", "nc4"):
            count = f.createVariable("count", "u8", ("lon",)); count[:] = [1, 2, 2**40]
with netCDF4.Dataset("groups.nc", "w", format="NETCDF4") as f:
    # What only NetCDF-4 has: several dimensions that grow, of which variables have been written to different lengths, texts of any length,
    # unsigned integers, groups, compression, a variable that is not over the dimension of its name, and many attributes.
    f.createDimension("time", None); f.createDimension("level", None); f.createDimension("x", 4)
    f.createVariable("time", "i8", ("time",))[:] = [10, 20, 30]
    f["time"].units, f["time"].calendar = "hours since 1999-01-01", "standard"
    long = f.createVariable("long", "f4", ("time", "level"), zlib=True, shuffle=True, fletcher32=True, chunksizes=(2, 3))
    long[:] = np.arange(15).reshape(3, 5)
    f.createVariable("short", "i2", ("time", "level"), fill_value=-9)[:] = [[1, 2, 3], [4, 5, 6]]
    f.createVariable("x", "f8", ("time",))[:] = [0.5, 1.5, 2.5]
    f.createVariable("station", str, ("x",))[:] = np.array(["north", "", "east of the \u00c5", "west"], dtype=object)
    f.createVariable("one", "u2", ())[:] = 65535
    g = f.createGroup("inner"); g.createDimension("x", 2)
    g.createVariable("y", "f8", ("x", "time"))[:] = [[1, 2, 3], [4, 5, 6]]
    for i in range(20):
        f["long"].setncattr("attribute%d" % i, i / 2)
    f["long"].setncattr("valid_range", np.array([0, 13], "f4"))

# texts.nc: texts of any length that were not all written, of which the library keeps what stands in their places
with netCDF4.Dataset("texts.nc", "w", format="NETCDF4") as f:
    f.createDimension("s", None)
    f.createDimension("k", 3)
    f.createVariable("plain", str, ("k",))[1] = "mid"
    f.createVariable("filled", str, ("k",), fill_value="none")[1] = "mid"
    f.createVariable("gaps", str, ("s",), fill_value="gap", chunksizes=(2,))[5] = "end"
    f.createVariable("short", str, ("s",), fill_value="gap", chunksizes=(2,))[1] = "b"
    v = f.createVariable("wide", "i8", ("s",), fill_value=False, chunksizes=(2,))
    v[:2] = [1, 2]

# counts.h5: numbers that are the library's fill values, in a file that it did not write
with h5py.File("counts.h5", "w", libver="latest") as f:
    for dtype, value in (("u2", 65535), ("i2", -32767), ("u4", 2**32 - 1), ("i4", 1 - 2**31), ("i8", 2 - 2**63),
                         ("f4", netCDF4.default_fillvals["f4"])):
        f[dtype] = np.array([7, value], dtype)
    f["named"] = np.array([7, 65535], "u2")
    f["named"].attrs["_FillValue"] = np.uint16(65535)
    f.create_dataset("chosen", data=np.array([7, 65535], "u2"), fillvalue=1)

# codes.h5: texts of one letter, which are not the letters of one text, as datasets and in records
with h5py.File("codes.h5", "w", libver="latest") as f:
    f["code"] = np.array([b"M", b"F", b"", b"M"])
    f["x"] = np.arange(4.0)
    f["records"] = np.array([(1, b"a"), (2, b"b")], dtype=[("u", "i4"), ("k", "S1")])
