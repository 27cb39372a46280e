package simd

func normGeneric[T Float](y, x, mean, low, scale, bias []T, c int) {
	if c == 0 {
		return
	}
	mean, low, scale, bias = mean[:c], low[:c], scale[:c], bias[:c]
	for at := 0; at < len(x); at += c {
		in, out := x[at:at+c], y[at:at+c]
		for j, v := range in {
			out[j] = ((v-mean[j])-low[j])*scale[j] + bias[j]
		}
	}
}

// normGroup is the number of rows that are added up in float32.
const normGroup = 64

// normSumsGeneric adds as the assembly does: rows in T, groups of rows in float64.
func normSumsGeneric[T Float](sum, sumX []float64, dz, x, mean, low []T, c int) {
	if c == 0 {
		return
	}
	const most = 32
	for lo := 0; lo < len(x); lo += normGroup * c {
		hi := min(lo+normGroup*c, len(x))
		for j := 0; j < c; j += most {
			n := min(most, c-j)
			var s, sx [most]T
			for at := lo + j; at < hi; at += c {
				for k := range n {
					g := dz[at+k]
					s[k] += g
					sx[k] += g * ((x[at+k] - mean[j+k]) - low[j+k])
				}
			}
			for k := range n {
				sum[j+k] += float64(s[k])
				sumX[j+k] += float64(sx[k])
			}
		}
	}
}

func normGradGeneric[T Float](dx, dz, x []T, weight []int32, mean, low, a, p, q []T, c int) {
	if c == 0 {
		return
	}
	mean, low, a, p, q = mean[:c], low[:c], a[:c], p[:c], q[:c]
	for at, i := 0, 0; at < len(x); at, i = at+c, i+1 {
		w := T(1)
		if weight != nil {
			w = T(weight[i])
		}
		in, g, out := x[at:at+c], dz[at:at+c], dx[at:at+c]
		for j, v := range in {
			out[j] = a[j]*g[j] - w*(p[j]+q[j]*((v-mean[j])-low[j]))
		}
	}
}
