"""Writes the golden files beside it: /usr/bin/python3 golden.py (Debian 12: python3-netcdf4 1.6.2, numpy 1.24)."""
import netCDF4, numpy as np
for name, form in (("cdf1", "NETCDF3_CLASSIC"), ("cdf2", "NETCDF3_64BIT_OFFSET"), ("cdf5", "NETCDF3_64BIT_DATA")):
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
        if name == "cdf5":
            count = f.createVariable("count", "u8", ("lon",)); count[:] = [1, 2, 2**40]
