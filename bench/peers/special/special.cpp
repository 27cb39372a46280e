// What the peers' elementwise.cpp lacks: erf, GELU, exp(x) - 1, ln(1 + x) and powers, softmax, magnitudes, maxima, clipping and rounding, float32, by
// glibc's libmvec, SLEEF, oneDNN and intrinsics. Sizes, arrays and the form of the lines are those of elementwise.cpp. See README.md beside
// this file.
#include <oneapi/dnnl/dnnl.hpp>
#include <sleef.h>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include "peer.h"
#include "vec.h"
#ifdef __AVX512F__
#define SLEEF(f, u) Sleef_##f##f16_##u##avx512f
#else
#define SLEEF(f, u) Sleef_##f##f8_##u##avx2
#endif

using Fn = std::function<void(float* y, const float* x, const float* other, size_t n)>;
#define ARGS float *__restrict y, const float *__restrict x, const float *__restrict other, size_t n
#define GCC(expr) [](ARGS) { (void)other; _Pragma("omp simd") for (size_t i = 0; i < n; i++) expr; }
#define VEC(expr) [](ARGS) { (void)other; _Pragma("GCC unroll 2") for (size_t i = 0; i < n; i += VL) { const vec a = ld(x + i); expr; } }
#define PAST(expr) [](ARGS) { (void)other; _Pragma("GCC unroll 2") for (size_t i = 0; i < n; i += VL) { const vec a = ld(x + i); st_past(y + i, expr); } _mm_sfence(); }

struct Size {
  const char* name;
  size_t n, block;
};
static const std::vector<Size> cached = {{"L2", 1 << 20, 1 << 16}, {"stream", 1 << 20, 1 << 20}};
static const std::vector<Size> moved = {{"L1", 1 << 20, 1 << 12}, {"L2", 1 << 20, 1 << 16}, {"stream", 1 << 20, 1 << 20}, {"memory", 1 << 24, 1 << 24}};
constexpr size_t MAX = 1 << 24;

static float *near_zero, *positive_numbers, *exponents, *results;  // in [-4, 4), exp of [-8, 8), and [-1, 1)

struct Function {
  std::string name;
  const float* x;
  double (*f)(double x, double other);
  double tol;  // relative, or absolute if that is set
  bool absolute;
  const std::vector<Size>& sizes;
};

static void time(const Function& f, const std::string& who, const Fn& run) {
  const size_t m = 1 << 16;
  memset(results, 0xff, 4 * m);
  run(results, f.x, exponents, m);
  double e = 0;
  for (size_t i = 0; i < m; i++) {
    const double want = f.f(f.x[i], exponents[i]);
    e = worst(e, (results[i] - want) / (f.absolute ? 1 : std::fabs(want) + 1e-30));
  }
  check((f.name + " " + who).c_str(), e, f.tol);
  for (auto& s : f.sizes)
    emit(f.name + "/" + s.name + "/" + who, s.n, "ns_per_elem",
         best([&] { for (size_t i = 0; i < s.n; i += s.block) run(results, f.x, exponents, s.block); }) / s.n * 1e9);
}

using namespace dnnl;
static Fn onednn(algorithm a, float alpha, float beta) {
  static engine eng(engine::kind::cpu, 0);
  static dnnl::stream str(eng);
  struct Made {
    eltwise_forward p;
    memory x, y;
  };
  auto made = std::make_shared<std::map<size_t, Made>>();
  return [=](float* y, const float* x, const float*, size_t n) {
    auto& m = (*made)[n];
    if (!m.x) {
      memory::desc line({(long)n}, memory::data_type::f32, memory::format_tag::a);
      eltwise_forward::primitive_desc pd(eltwise_forward::desc(prop_kind::forward_inference, a, line, alpha, beta), eng);
      m = {eltwise_forward(pd), memory(line, eng, (void*)x), memory(line, eng, y)};
    }
    m.p.execute(str, {{DNNL_ARG_SRC, m.x}, {DNNL_ARG_DST, m.y}});
    str.wait();
  };
}

static double gelu(double x, double) { return 0.5 * x * erfc(-x * M_SQRT1_2); }
static inline vec whole(vec a) { return PICK(_mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF), _mm256_floor_ps(a)); }
static inline vec magnitude(vec a) { return PICK(_mm512_abs_ps(a), _mm256_andnot_ps(all(-0.f), a)); }

// Rows of c logits in turn. oneDNN's is softmax_accurate; the loops are what a C++ programmer writes for a compiler that vectorises exp.
static void plain_softmax(float* y, const float* x, size_t rows, size_t c) {
  for (size_t r = 0; r < rows; r++, x += c, y += c) {
    float most = x[0], sum = 0;
    for (size_t i = 1; i < c; i++) most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < c; i++) sum += y[i] = std::exp(x[i] - most);
    const float f = 1 / sum;
    for (size_t i = 0; i < c; i++) y[i] *= f;
  }
}

static void softmax(size_t c) {
  const size_t rows = (1 << 16) / c, n = rows * c;
  engine eng(engine::kind::cpu, 0);
  dnnl::stream str(eng);
  memory::desc table({(long)rows, (long)c}, memory::data_type::f32, memory::format_tag::ab);
  softmax_forward p(softmax_forward::primitive_desc(softmax_forward::desc(prop_kind::forward_inference, table, 1), eng));
  memory x(table, eng, near_zero), y(table, eng, results);
  const std::pair<const char*, std::function<void()>> all[] = {
      {"plain", [&] { plain_softmax(results, near_zero, rows, c); }},
      {"onednn", [&] { p.execute(str, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}), str.wait(); }}};
  for (auto& [who, run] : all) {
    memset(results, 0xff, 4 * n);
    run();
    double e = 0;
    for (size_t r = 0; r < rows; r++) {
      double sum = 0;
      for (size_t i = 0; i < c; i++) sum += std::exp((double)near_zero[r * c + i]);
      for (size_t i = 0; i < c; i++) e = worst(e, results[r * c + i] * sum / std::exp((double)near_zero[r * c + i]) - 1);
    }
    const std::string name = "softmax/" + std::to_string(c) + "/" + who;
    check(name.c_str(), e, 2e-6);
    emit(name, n, "ns_per_elem", best(run) / n * 1e9);
  }
}

int main() {
  near_zero = alloc<float>(MAX), positive_numbers = alloc<float>(MAX), exponents = alloc<float>(MAX);
  results = alloc<float>(MAX + 272) + 272;
  Rng r;
  r.fill(exponents, MAX, 1);
  for (size_t i = 0; i < MAX; i++) {
    near_zero[i] = 4 * exponents[i];
    positive_numbers[i] = (float)std::exp(8. * exponents[i]);
  }
  Function f{"erf", near_zero, [](double x, double) { return erf(x); }, 2e-6, false, cached};
  time(f, "libmvec", GCC(y[i] = std::erf(x[i])));
  time(f, "sleef_u10", VEC(st(y + i, SLEEF(erf, u10)(a))));

  Function g{"gelu", near_zero, gelu, 4e-6, false, cached};
  time(g, "libmvec", GCC(y[i] = 0.5f * x[i] * std::erfc(-(float)M_SQRT1_2 * x[i])));
  time(g, "sleef_u15", VEC(st(y + i, mul(mul(all(0.5f), a), SLEEF(erfc, u15)(mul(all(-(float)M_SQRT1_2), a))))));
  g.absolute = true;
  time(g, "onednn", onednn(algorithm::eltwise_gelu_erf, 0, 0));

  Function e{"expm1", near_zero, [](double x, double) { return expm1(x); }, 2e-6, false, cached};
  time(e, "libmvec", GCC(y[i] = std::expm1(x[i])));
  time(e, "sleef_u10", VEC(st(y + i, SLEEF(expm1, u10)(a))));

  Function l{"log1p", positive_numbers, [](double x, double) { return log1p(x); }, 2e-6, false, cached};
  time(l, "libmvec", GCC(y[i] = std::log1p(x[i])));
  time(l, "sleef_u10", VEC(st(y + i, SLEEF(log1p, u10)(a))));

  Function p{"pow", positive_numbers, [](double x, double y) { return pow(x, y); }, 4e-6, false, cached};
  time(p, "libmvec", GCC(y[i] = std::pow(x[i], other[i])));
  time(p, "sleef_u10", VEC(st(y + i, SLEEF(pow, u10)(a, ld(other + i)))));

  for (size_t c : {10, 64, 1000}) softmax(c);

  Function abs_{"abs", near_zero, [](double x, double) { return fabs(x); }, 0, false, moved};
  time(abs_, "plain", GCC(y[i] = std::fabs(x[i])));
  time(abs_, ISA "_streamed", PAST(magnitude(a)));

  Function larger{"max", near_zero, [](double x, double y) { return fmax(x, y); }, 0, false, moved};
  time(larger, "plain", GCC(y[i] = x[i] > other[i] ? x[i] : other[i]));
  time(larger, ISA "_streamed", PAST(max(a, ld(other + i))));

  Function clip{"clip", near_zero, [](double x, double) { return fmin(fmax(x, -1), 2); }, 0, false, moved};
  time(clip, "plain", GCC(y[i] = x[i] < -1 ? -1.f : x[i] > 2 ? 2.f : x[i]));
  time(clip, "onednn", onednn(algorithm::eltwise_clip, -1, 2));
  time(clip, ISA "_streamed", PAST(min(all(2.f), max(all(-1.f), a))));

  Function down{"floor", near_zero, [](double x, double) { return floor(x); }, 0, false, moved};
  time(down, ISA, VEC(st(y + i, whole(a))));
  time(down, ISA "_streamed", PAST(whole(a)));
}
