// The kernels of ../ours/main.go as plain C, written so that a compiler can make vectors of them; for bench/arm64, which counts instructions.
// What ours promises beyond this (NaN, infinities, subnormal results, errors of one or two units) is not asked of the compiler.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { n = 4096, side = 64, rows = 64, near = 16, channels = 128 };
#define KERNEL __attribute__((noinline, section(".kernels")))
// Sums may be added in any order, as ours are.
#define SUM __attribute__((optimize("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")))

static inline float bits(int32_t i) { float f; memcpy(&f, &i, 4); return f; }
static inline int32_t word(float f) { int32_t i; memcpy(&i, &f, 4); return i; }

// exp(x) = 2^k exp(r), x = k ln 2 + r, by the Taylor polynomial to r^6 (|r| <= ln 2 / 2).
static inline float exp1(float x) {
  x = x > 88.7f ? 88.7f : x;
  x = x < -87.3f ? -87.3f : x;
  float k = rintf(x * 1.44269504f), r = x - k * 0.693359375f + k * 2.12194440e-4f;
  float p = 1 + r * (1 + r * (0.5f + r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r * (1.f / 720))))));
  return p * bits(((int32_t)k + 127) << 23);
}

KERNEL void k_exp(float *restrict d, const float *restrict x) { for (int i = 0; i < n; i++) d[i] = exp1(x[i]); }
KERNEL void k_swish(float *restrict d, const float *restrict x) { for (int i = 0; i < n; i++) d[i] = x[i] / (1 + exp1(-x[i])); }

// log(x) = k ln 2 + 2 artanh(s), s = (m - 1) / (m + 1), m in [1/sqrt 2, sqrt 2).
KERNEL void k_log(float *restrict d, const float *restrict x) {
  for (int i = 0; i < n; i++) {
    int32_t w = word(x[i]) - 0x3f3504f3, k = w >> 23;
    float m = bits((w & 0x7fffff) + 0x3f3504f3), s = (m - 1) / (m + 1), z = s * s;
    d[i] = (float)k * 0.693147181f + 2 * s * (1 + z * (1.f / 3 + z * (1.f / 5 + z * (1.f / 7 + z * (1.f / 9)))));
  }
}

// Sine and cosine of x = k pi/2 + r by their Taylor polynomials, exchanged and negated by the quadrant.
KERNEL void k_sincos(float *restrict s, float *restrict c, const float *restrict x) {
  for (int i = 0; i < n; i++) {
    float k = rintf(x[i] * 0.636619772f), r = x[i] - k * 1.5703125f - k * 4.83751297e-4f - k * 7.54979013e-8f, z = r * r;
    float p = r * (1 + z * (-1.f / 6 + z * (1.f / 120 + z * (-1.f / 5040))));
    float q = 1 + z * (-0.5f + z * (1.f / 24 + z * (-1.f / 720 + z * (1.f / 40320))));
    int32_t m = (int32_t)k, odd = -(m & 1);
    int32_t u = (word(q) & odd) | (word(p) & ~odd), v = (word(p) & odd) | (word(q) & ~odd);
    s[i] = bits(u ^ ((m & 2) << 30));
    c[i] = bits(v ^ (((m + 1) & 2) << 30));
  }
}

KERNEL void k_relu(float *restrict d, const float *restrict x) { for (int i = 0; i < n; i++) d[i] = x[i] > 0 ? x[i] : 0; }
KERNEL void k_add(float *restrict d, const float *restrict x, const float *restrict y) { for (int i = 0; i < n; i++) d[i] = x[i] + y[i]; }
KERNEL void k_axpy(float *restrict d, float a, const float *restrict x) { for (int i = 0; i < n; i++) d[i] += a * x[i]; }

// In double, as ours adds up.
KERNEL SUM double k_dot(const float *restrict x, const float *restrict y) {
  double s = 0;
  for (int i = 0; i < n; i++) s += (double)x[i] * y[i];
  return s;
}

// In double, rounded once for each result, as ours.
KERNEL void k_adam(float *restrict p, float *restrict m, float *restrict v, const float *restrict g, double step, double b1, double b2,
                   double root, double eps) {
  for (int i = 0; i < n; i++) {
    double d = g[i], a = b1 * m[i] + (1 - b1) * d, s = b2 * v[i] + (1 - b2) * d * d;
    m[i] = (float)a;
    v[i] = (float)s;
    p[i] = (float)(p[i] - step * a / (sqrt(s) * root + eps));
  }
}

// Four rows together, so that a row of b is read once for four.
KERNEL void k_gemm(float *restrict c, const float *restrict a, const float *restrict b) {
  for (int i = 0; i < side; i += 4)
    for (int j = 0; j < side; j += 16) {
      float t[4][16] = {{0}};
      for (int k = 0; k < side; k++)
        for (int r = 0; r < 4; r++)
          for (int q = 0; q < 16; q++) t[r][q] += a[(i + r) * side + k] * b[k * side + j + q];
      for (int r = 0; r < 4; r++)
        for (int q = 0; q < 16; q++) c[(i + r) * side + j + q] = t[r][q];
    }
}

KERNEL void k_depthwise(float *restrict out, const float *restrict f, const float *restrict w, const int32_t *restrict index, const int32_t *restrict pose) {
  for (int i = 0; i < rows; i++)
    for (int c = 0; c < channels; c += 16) {
      float t[16] = {0};
      for (int k = 0; k < near; k++) {
        const float *a = w + pose[i * near + k] * channels + c, *b = f + index[i * near + k] * channels + c;
        for (int q = 0; q < 16; q++) t[q] += a[q] * b[q];
      }
      for (int q = 0; q < 16; q++) out[i * channels + c + q] = t[q];
    }
}

static float *numbers(int k) {
  float *x = aligned_alloc(64, k * sizeof(float));
  for (int i = 0; i < k; i++) x[i] = (float)(i * 7919 % 1000) / 1000 + 0.01f;
  return x;
}

volatile double sink;

// Called before and after a call that counts.
__attribute__((noinline)) void mark(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
  float *x = numbers(n), *y = numbers(n), *d = numbers(n), *m = numbers(n), *v = numbers(n);
  float *f = numbers(rows * channels), *w = numbers(near * channels), *out = numbers(rows * channels);
  int32_t index[rows * near], pose[rows * near];
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < near; k++) index[i * near + k] = (i + k * 5) % rows, pose[i * near + k] = k;
  for (int i = 1; i < argc; i++) {
    const char *k = argv[i];
    mark();
    if (!strcmp(k, "exp")) k_exp(d, x);
    else if (!strcmp(k, "log")) k_log(d, x);
    else if (!strcmp(k, "swish")) k_swish(d, x);
    else if (!strcmp(k, "sincos")) k_sincos(d, m, x);
    else if (!strcmp(k, "relu")) k_relu(d, x);
    else if (!strcmp(k, "add")) k_add(d, x, y);
    else if (!strcmp(k, "axpy")) k_axpy(d, 0.5f, x);
    else if (!strcmp(k, "dot")) sink = k_dot(x, y);
    else if (!strcmp(k, "adam")) k_adam(x, m, v, y, 1e-3, 0.9, 0.999, 1, 1e-8);
    else if (!strcmp(k, "gemm")) k_gemm(d, x, y);
    else if (!strcmp(k, "depthwise")) k_depthwise(out, f, w, index, pose);
    else return 2;
    mark();
  }
  return 0;
}
