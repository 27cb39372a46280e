// Functions of the peers' elementwise.cpp for all of float32: what a C++ engineer would write with intrinsics who promises NaN for NaN,
// infinities, subnormal results and 2 to 3 ULP everywhere, as simd does. Same arrays, sizes and lines as there, under the name
// avx2_whole or avx512_whole. See README.md beside this file.
#include <algorithm>
#include <cmath>
#include <functional>
#include "peer.h"
#include "vec.h"

// limited is x between lo and hi. NaN stays NaN: MINPS and MAXPS return their second operand if either is NaN.
static inline vec limited(vec x, float lo, float hi) { return max(all(lo), min(all(hi), x)); }

// A Power is p * 2^n with 0.7 < p < 1.42: 2^n alone may be out of range.
struct Power {
  vec p, n;
  vint k;
};

// power_of_e is exp(x) for x in [-104, 89].
static inline Power power_of_e(vec x) {
  const vec shifted = fma(x, all(0x1.715476p+0f), all(0x1.8p23f)), n = sub(shifted, all(0x1.8p23f));
  const vec r = fnma(n, all(-0x1.05c61p-29f), fnma(n, all(0x1.62e43p-1f), x));
  vec p = fma(all(0.0013814599f), r, all(0.0083687166f));
  p = fma(p, r, all(0.0416683890f));
  p = fma(p, r, all(0.1666652113f));
  p = fma(p, r, all(0.4999999404f));
  p = fma(mul(p, r), r, add(r, all(1.f)));
  return {p, n, sub(bits(shifted), bits(all(0x1.8p23f)))};
}

// scaled is y * 2^n, rounded once: without an instruction for it by two powers of about half of n.
static inline vec scaled(vec y, const Power& e) {
#ifdef __AVX512F__
  return _mm512_scalef_ps(y, e.n);
#else
  const vint half = SAR(e.k, 1), one = bits(all(1.f));
  y = mul(y, floats(add(SHL(half, 23), one)));
  return mul(y, floats(add(SHL(sub(e.k, half), 23), one)));
#endif
}

static inline vec exp_whole(vec x) {
  const Power e = power_of_e(limited(x, -104.f, 89.f));
  return scaled(e.p, e);
}

// falling is exp(-|x|).
static inline Power falling(vec x) {
  return power_of_e(max(all(-104.f), PICK(_mm512_or_ps(x, all(-0.f)), _mm256_or_ps(x, all(-0.f)))));
}

static inline vec whole_div(vec a, vec b) { return PICK(_mm512_div_ps(a, b), _mm256_div_ps(a, b)); }

// sigmoid_whole is 1/(1+e) or e/(1+e) with e = exp(-|x|), which is accurate where the result is tiny.
static inline vec sigmoid_whole(vec x) {
  const Power f = falling(x);
  const vec e = scaled(f.p, f);
  return whole_div(pick(x, all(0.f), e, all(1.f)), add(all(1.f), e));
}

// swish_whole is x times that, with one division. Where the result is subnormal e has too few digits to be multiplied by x; -infinity
// counts as -125, whose result is -0 as well.
static inline vec swish_whole(vec x) {
  const vec t = max(all(-125.f), x);
  Power f = power_of_e(max(all(-125.f), PICK(_mm512_or_ps(x, all(-0.f)), _mm256_or_ps(x, all(-0.f)))));
  return whole_div(pick(x, all(0.f), scaled(mul(t, f.p), f), t), add(all(1.f), scaled(f.p, f)));
}

// within87 reports whether every |x| of four vectors is at most 87; as integers, magnitudes order like the numbers, NaN above infinity.
static inline bool within87(const float* x) {
  const vint magnitude = all(0x7fffffff), limit = bits(all(87.f));
  const auto most = [](vint a, vint b) { return PICK(_mm512_max_epi32(a, b), _mm256_max_epi32(a, b)); };
  const auto at = [&](int i) { return both(bits(ld(x + i * VL)), magnitude); };
  const vint m = most(most(at(0), at(1)), most(at(2), at(3)));
  return PICK(_mm512_cmpgt_epi32_mask(m, limit) == 0, _mm256_movemask_epi8(_mm256_cmpgt_epi32(m, limit)) == 0);
}

// near_power is exp(x) for |x| <= 87.
static inline vec near_power(vec x) {
  const Power e = power_of_e(x);
  return PICK(scaled(e.p, e), floats(add(bits(e.p), SHL(e.k, 23))));
}

// units is |got - want| in units in the last place of want.
static double units(float got, double want) {
  if (std::isnan(want) || std::isinf((float)want)) return (std::isnan(want) ? std::isnan(got) : got == (float)want) ? 0 : 1e300;
  int e;
  std::frexp(want, &e);
  return std::fabs(got - want) / std::ldexp(1., std::max(e - 24, -149));
}

struct Function {
  const char* name;
  void (*f)(float*, const float*, size_t);
  double (*want)(double);
};

// Four vectors within 87 take the short way.
template <class Near, class Whole>
static inline void map(float* y, const float* x, size_t n, Near near, Whole whole) {
  for (size_t i = 0; i < n; i += 4 * VL) {
    if (within87(x + i)) {
#pragma GCC unroll 4
      for (int k = 0; k < 4 * VL; k += VL) st(y + i + k, near(ld(x + i + k)));
    } else {
      for (int k = 0; k < 4 * VL; k += VL) st(y + i + k, whole(ld(x + i + k)));
    }
  }
}
#define MAP(near, whole) [](float* y, const float* x, size_t n) { map(y, x, n, [](vec a) { return near; }, [](vec a) { return whole; }); }

int main() {
  constexpr size_t n = 1 << 20, block = 1 << 16;
  float *x = alloc<float>(n), *y = alloc<float>(n + 272) + 272;
  const Function functions[] = {
      {"exp", MAP(near_power(a), exp_whole(a)), [](double x) { return std::exp(x); }},
      {"sigmoid", MAP(whole_div(all(1.f), add(all(1.f), near_power(sub(all(0.f), a)))), sigmoid_whole(a)), [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }},
      {"swish", MAP(whole_div(a, add(all(1.f), near_power(sub(all(0.f), a)))), swish_whole(a)), [](double x) { return x < 0 ? std::max(x, -1000.) * std::exp(x) / (1 + std::exp(x)) : x / (1 + std::exp(-x)); }},
  };
  for (const auto& f : functions) {
    Rng r;
    double worst_units = 0;
    for (int scale : {8, 120}) {
      r.fill(x, n, scale);
      const float special[] = {NAN, INFINITY, -INFINITY, 0.f, -0.f, 88.9f, -87.5f, -103.9f, 1e38f, -1e38f, 1e-40f, -1e-40f};
      std::copy(std::begin(special), std::end(special), x);
      f.f(y, x, n);
      for (size_t i = 0; i < n; i++) worst_units = std::max(worst_units, units(y[i], f.want(x[i])));
    }
    check(f.name, worst_units, 3);
    r = Rng();
    r.fill(x, n, 8);
    for (size_t size : {block, n})
      emit(std::string(f.name) + (size == block ? "/L2/" : "/stream/") + ISA "_whole", n, "ns_per_elem",
           best([&] { for (size_t i = 0; i < n; i += size) f.f(y, x, size); }) / n * 1e9);
  }
}
