// The T(2) EquivCNP image model in XNNPACK's operators, channels last. XNNPACK's depthwise kernels have 25 taps at most, and the layers'
// windows are 21 x 21. Their forms:
//
//   plain   One convolution with 128 groups, as a framework would ask for it. XNNPACK makes 128 matrix products of one column each of it
//           and computes 16 columns for every one that is wanted.
//   tiles   The window is cut into rectangles of 25 taps and less; corners outside the ball are left out. Each is a depthwise convolution
//           with its own borders. A loop of ours adds the results and divides by the number of neighbours.
//   bricks  Pixels become channels: 16 output pixels of a channel are the 16 columns of one matrix product, whose rows are the pixels that
//           their windows cover. No column is wasted, but weights are zero where a pixel lies in some of the 16 windows only: 4 x 4 pixels
//           need 24 x 24 to 28 x 28. Loops of ours lay pixels out as bricks and back.
//
// Pointwise layers are fully connected operators with bias and ReLU, residuals an addition with ReLU. The first layer, 25 x 25 over one
// channel, is a column of 25 taps over 25 channels: every pixel's row of neighbours. Images with borders would save nothing, as XNNPACK
// reads every tap through a pointer and has one pixel of zeros for all borders.
//
//	OMP_NUM_THREADS=2 bin/xnnpack BATCH CALLS [full|one] [plain|tiles|bricksIxJtoKxL [IMAGES AT ONCE]]
//
// Without a form, a child process tries what there is. The program reads onnx/net.f32, x.f32 and y.f32 below the current folder, checks its
// outputs against y.f32, and prints lines as bin/onednn does.
#include <cpuinfo.h>
#include <pthreadpool.h>
#include <xnnpack.h>

#include <immintrin.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifndef VERSION
#define VERSION "unknown"
#endif

// Since 2023 an operator's sizes and its memory are set by two calls, and weights may lie in a cache. -DRESHAPE=1 says so.
#if RESHAPE
#define CACHE , nullptr
#else
#define CACHE
#endif

constexpr int S = 64, C = 128, N = S * S;  // pixels of a side, channels, pixels
constexpr int K = 21, R = K / 2;           // the window of a layer
constexpr int K0 = 25, R0 = K0 / 2;        // the window of the first one
constexpr float INF = INFINITY;

using Floats = std::vector<float>;

[[noreturn]] void fail(const std::string &what) {
  fprintf(stderr, "%s\n", what.c_str());
  exit(1);
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

pthreadpool_t pool;  // null with one thread

// parallel calls f(0) to f(n - 1) on the threads of the pool.
template <class F> void parallel(size_t n, F f) {
  pthreadpool_parallelize_1d(pool, [](void *p, size_t i) { (*static_cast<F *>(p))(i); }, &f, n, 0);
}

enum Kind { FIRST, POINTWISE, DEPTHWISE, OWN, KINDS };
double spent[KINDS];
struct Timer {
  Kind kind;
  double start = now();
  ~Timer() { spent[kind] += now() - start; }
};

void must(xnn_status s, const std::string &what) {
  if (s != xnn_status_success) fail("XNNPACK refuses " + what + ": status " + std::to_string(s));
}

// An Op is an operator with its inputs and outputs set.
struct Op {
  std::shared_ptr<xnn_operator> op;
  std::shared_ptr<void> work;  // memory that the operator asks for
  std::function<void()> own;   // a loop of ours in the operator's place
  Kind kind = POINTWISE;
  Op() = default;
  Op(Kind kind_, xnn_operator_t raw) : op(raw, [](xnn_operator_t p) { xnn_delete_operator(p); }), kind(kind_) {}
  void run() const {
    Timer t{kind};
    if (own) return own();
    must(xnn_run_operator(op.get(), pool), "to run an operator");
  }
};

// A Convolution is what XNNPACK must know of one. The kernel is [groups * outputs, rows, columns, inputs].
struct Convolution {
  const char *what;
  int top, right, below, left;  // borders
  int rows, columns, stride_y, stride_x;
  int groups, inputs, outputs, in_stride, out_stride;  // channels of a group; channels from pixel to pixel
  Op with(Kind kind, const float *kernel, int images, int height, int width, const float *in, float *out) const {
    xnn_operator_t raw = nullptr;
    must(xnn_create_convolution2d_nhwc_f32(top, right, below, left, rows, columns, stride_y, stride_x, 1, 1, groups, inputs, outputs,
                                           in_stride, out_stride, kernel, nullptr, -INF, INF, 0 CACHE, &raw), what);
    Op op(kind, raw);
#if RESHAPE
    size_t bytes = 0;
    must(xnn_reshape_convolution2d_nhwc_f32(raw, images, height, width, &bytes, nullptr, nullptr, pool), std::string(what) + "'s sizes");
    op.work.reset(aligned_alloc(64, (bytes + 127) / 64 * 64), free);
    must(xnn_setup_convolution2d_nhwc_f32(raw, op.work.get(), in, out), std::string(what) + "'s memory");
#else
    must(xnn_setup_convolution2d_nhwc_f32(raw, images, height, width, in, out, pool), std::string(what) + "'s sizes");
#endif
    return op;
  }
};

// buffer has room behind its end, which XNNPACK may read.
Floats buffer(size_t n) { return Floats(n + 64); }

Floats read(const std::string &path) {
  std::ifstream f(path, std::ios::binary | std::ios::ate);
  if (!f) fail(path + ": cannot be read");
  Floats v(f.tellg() / 4);
  f.seekg(0).read(reinterpret_cast<char *>(v.data()), v.size() * 4);
  if (!f) fail(path + ": cannot be read");
  return v;
}

// The weights, in the order of the file: build.py of the peers wrote it.
struct Weights {
  Floats all;
  const float *first, *first_inv, *mix, *constant;  // [16, 25, 25], [N], [128, 32], [N, 128]
  const float *window[8], *pointwise[8], *bias[8];  // [128, 21, 21], [128, 128], [128]
  const float *inv, *last, *last_bias;              // [N], [2, 128], [2]
} W;

void load() {
  W.all = read("onnx/net.f32");
  size_t at = 0;
  auto take = [&](size_t n) {
    at += n;
    return W.all.data() + at - n;
  };
  W.first = take(16 * K0 * K0), W.first_inv = take(N), W.mix = take(C * 32), W.constant = take(C * N);
  for (int i = 0; i < 8; i++) W.window[i] = take(C * K * K), W.pointwise[i] = take(C * C), W.bias[i] = take(C);
  W.inv = take(N), W.last = take(2 * C), W.last_bias = take(2);
  if (at != W.all.size()) fail("onnx/net.f32 has another size");
}

Op pointwise(int ci, int co, const float *w, const float *bias, bool relu, size_t pixels, const Floats &in, Floats &out) {
  xnn_operator_t raw = nullptr;
  must(xnn_create_fully_connected_nc_f32(ci, co, ci, co, w, bias, relu ? 0 : -INF, INF, 0 CACHE, &raw), "a pointwise layer");
  const Op op(POINTWISE, raw);
#if RESHAPE
  must(xnn_reshape_fully_connected_nc_f32(raw, pixels, pool), "a pointwise layer's sizes");
  must(xnn_setup_fully_connected_nc_f32(raw, in.data(), out.data()), "a pointwise layer's memory");
#else
  must(xnn_setup_fully_connected_nc_f32(raw, pixels, in.data(), out.data(), pool), "a pointwise layer's sizes");
#endif
  return op;
}

// sum adds b, [images, N, 128] or one image of it, to a, [images, N, 128].
Op sum(const Floats &a, const float *b, Floats &out, size_t images, bool one, bool relu) {
  xnn_operator_t raw = nullptr;
  const size_t shape[] = {images, N, C}, other[] = {one ? 1 : images, N, C};
#if RESHAPE
  // Sums have no bounds of their own any more. A ReLU by an operator would pass over the memory once more; a loop of ours has both.
  if (relu) {
    Op op;
    op.kind = POINTWISE;
    op.own = [&a, b, &out, images] {
      parallel(images * S, [&](size_t row) {
        for (size_t i = row * S * C; i < (row + 1) * S * C; i++) out[i] = std::max(a[i] + b[i], 0.f);
      });
    };
    return op;
  }
  must(xnn_create_binary_elementwise_nd(xnn_binary_add, xnn_datatype_fp32, nullptr, nullptr, nullptr, 0, &raw), "a sum");
  const Op op(POINTWISE, raw);
  must(xnn_reshape_binary_elementwise_nd(raw, 3, shape, 3, other, pool), "a sum's sizes");
  must(xnn_setup_binary_elementwise_nd(raw, a.data(), b, out.data()), "a sum's memory");
#else
  must(xnn_create_add_nd_f32(relu ? 0 : -INF, INF, 0, &raw), "a sum");
  const Op op(POINTWISE, raw);
  must(xnn_setup_add_nd_f32(raw, 3, shape, 3, other, a.data(), b, out.data(), pool), "a sum's sizes");
#endif
  return op;
}

// A Depthwise layer writes window * in / neighbours to out, both [images, N, 128].
struct Depthwise {
  virtual void run() = 0;
  virtual ~Depthwise() = default;
};

// scale multiplies c channels of every pixel by the pixel's inv.
void scale(Floats &x, const float *inv, int images, int c) {
  Timer t{OWN};
  parallel(images * S, [&](size_t row) {
    for (int p = 0; p < S; p++) {
      const float v = inv[row % S * S + p];
      float *d = &x[(row * S + p) * c];
      for (int k = 0; k < c; k++) d[k] *= v;
    }
  });
}

struct Plain : Depthwise {
  int images;
  Floats &out;
  Op op;
  Plain(const float *window, int images_, const Floats &in, Floats &out_) : images(images_), out(out_) {
    const Convolution all{"plain", R, R, R, R, K, K, 1, 1, C, 1, 1, C, C};
    op = all.with(DEPTHWISE, window, images, S, S, in.data(), out.data());
  }
  void run() override {
    op.run();
    scale(out, W.inv, images, C);
  }
};

// A Rect is a part of the window: rows y to y + h - 1, columns x to x + w - 1, from the window's middle. It may stick out.
struct Rect {
  int y, x, h, w;
};

// tiles are the shapes with as many taps as a kernel of XNNPACK has: only then does it take that kernel.
const std::vector<std::pair<int, int>> tiles = {{5, 5}, {1, 25}, {3, 3}, {1, 9}, {2, 2}, {1, 4}};

// rectangles covers what is not zero of the window: bands of whole rows, each cut into tiles of one shape, with as little work as such
// bands allow. Adding a tile's result costs about as much as 10 taps.
std::vector<Rect> rectangles(const float *window) {
  auto band = [&](int y, int h, int w) {
    int from = K, to = -1;
    for (int c = 0; c < C; c++) for (int r = y; r < std::min(K, y + h); r++) for (int x = 0; x < K; x++)
      if (window[(c * K + r) * K + x] != 0) from = std::min(from, x), to = std::max(to, x);
    std::vector<Rect> all;
    for (int x = from; x <= to; x += w) all.push_back({y - R, x - R, h, w});
    return all;
  };
  struct Cover {
    int cost;
    std::vector<Rect> all;
  };
  std::vector<Cover> best(K + 1, {1 << 30, {}});  // of the rows from that one on
  best[K].cost = 0;
  for (int y = K - 1; y >= 0; y--)
    for (const auto &[h, w] : tiles) {
      Cover c = best[std::min(K, y + h)];
      const auto more = band(y, h, w);
      c.all.insert(c.all.end(), more.begin(), more.end());
      c.cost += more.size() * (h * w + 10);
      if (c.cost < best[y].cost) best[y] = c;
    }
  return best[0].all;
}

struct Tiles : Depthwise {
  struct Part {
    std::vector<Op> ops;  // one an image: rows are cropped
    Floats out;           // [images, 64, width, 128]
    int width, skip;      // the first columns lie outside the image
  };
  int images;
  Floats &out;
  std::vector<Part> parts;
  Tiles(const float *window, int images_, const Floats &in, Floats &out_) : images(images_), out(out_) {
    for (const Rect &r : rectangles(window)) {
      Floats w(C * r.h * r.w);
      for (int c = 0; c < C; c++) for (int y = 0; y < r.h; y++) for (int x = 0; x < r.w; x++)
        if (r.y + y <= R && r.x + x <= R) w[(c * r.h + y) * r.w + x] = window[(c * K + r.y + R + y) * K + r.x + R + x];
      // A tile's borders hold the pixels that it reads outside the image. Rows that only it does not read are left out; columns cannot be.
      const int right = std::max(0, r.x + r.w - 1), left = std::max(0, -r.x), width = S + left + right + 1 - r.w;
      const int skip = std::max(0, r.y), height = S - skip - std::max(0, -(r.y + r.h - 1));
      const Convolution tile{"a tile", std::max(0, -r.y), right, std::max(0, r.y + r.h - 1), left, r.h, r.w, 1, 1, C, 1, 1, C, C};
      parts.push_back({{}, buffer(size_t(images) * S * width * C), width, std::max(0, r.x)});
      for (int i = 0; i < images; i++)
        parts.back().ops.push_back(tile.with(DEPTHWISE, w.data(), 1, height, S, in.data() + (size_t(i) * S + skip) * S * C,
                                             parts.back().out.data() + size_t(i) * S * width * C));
    }
  }
  void run() override {
    for (Part &p : parts) for (Op &op : p.ops) op.run();
    Timer t{OWN};
    parallel(images * S, [&](size_t row) {
      float *d = &out[row * S * C];
      for (size_t k = 0; k < parts.size(); k++) {
        const float *s = &parts[k].out[(row * parts[k].width + parts[k].skip) * C];
        if (k == 0) memcpy(d, s, S * C * sizeof *d);
        else for (int i = 0; i < S * C; i++) d[i] += s[i];
      }
      for (int p = 0; p < S; p++) for (int c = 0; c < C; c++) d[p * C + c] *= W.inv[row % S * S + p];
    });
  }
};

// A Brick is a block of h x w pixels.
struct Brick {
  int h, w;
  int size() const { return h * w; }
};

// bricksOf lays images [images, N, 128] out as [images, 64 / h, 64 / w, 128, h x w].
void bricksOf(Brick b, int images, const Floats &from, Floats &to) {
  Timer t{OWN};
  parallel(size_t(images) * S / b.h, [&](size_t row) {
    for (int col = 0; col < S / b.w; col++) {
      float *d = &to[(row * (S / b.w) + col) * C * b.size()];
      for (int p = 0; p < b.size(); p += 4) {
        const float *s[4];
        for (int k = 0; k < 4; k++) s[k] = &from[((row * b.h + (p + k) / b.w) * S + col * b.w + (p + k) % b.w) * C];
        for (int c = 0; c < C; c += 4) {
          __m128 v0 = _mm_loadu_ps(s[0] + c), v1 = _mm_loadu_ps(s[1] + c), v2 = _mm_loadu_ps(s[2] + c), v3 = _mm_loadu_ps(s[3] + c);
          _MM_TRANSPOSE4_PS(v0, v1, v2, v3);
          float *to4 = d + c * b.size() + p;
          _mm_storeu_ps(to4, v0), _mm_storeu_ps(to4 + b.size(), v1);
          _mm_storeu_ps(to4 + 2 * b.size(), v2), _mm_storeu_ps(to4 + 3 * b.size(), v3);
        }
      }
    }
  });
}

// imagesOf is its inverse, and divides by the number of neighbours.
void imagesOf(Brick b, int images, const Floats &from, Floats &to) {
  Timer t{OWN};
  parallel(size_t(images) * S / b.h, [&](size_t row) {
    for (int col = 0; col < S / b.w; col++) {
      const float *s = &from[(row * (S / b.w) + col) * C * b.size()];
      for (int p = 0; p < b.size(); p += 4) {
        float *d[4];
        __m128 inv[4];
        for (int k = 0; k < 4; k++) {
          const size_t pixel = (row * b.h + (p + k) / b.w) * S + col * b.w + (p + k) % b.w;
          d[k] = &to[pixel * C], inv[k] = _mm_set1_ps(W.inv[pixel % N]);
        }
        for (int c = 0; c < C; c += 4) {
          const float *s4 = s + c * b.size() + p;
          __m128 v0 = _mm_loadu_ps(s4), v1 = _mm_loadu_ps(s4 + b.size());
          __m128 v2 = _mm_loadu_ps(s4 + 2 * b.size()), v3 = _mm_loadu_ps(s4 + 3 * b.size());
          _MM_TRANSPOSE4_PS(v0, v1, v2, v3);
          _mm_storeu_ps(d[0] + c, _mm_mul_ps(v0, inv[0])), _mm_storeu_ps(d[1] + c, _mm_mul_ps(v1, inv[1]));
          _mm_storeu_ps(d[2] + c, _mm_mul_ps(v2, inv[2])), _mm_storeu_ps(d[3] + c, _mm_mul_ps(v3, inv[3]));
        }
      }
    }
  });
}

// An Axis of a convolution of bricks: bricks from to to, from the brick of the first output pixel.
struct Axis {
  int from, to, stride;
  Axis(int in, int out) : from(-((R + in - 1) / in)), to((out - 1 + R) / in), stride(out / in) {}
  int size() const { return to - from + 1; }
  int before() const { return -from; }
  int after() const { return std::max(0, to + 1 - stride); }
};

struct Bricks : Depthwise {
  Brick small, big;
  int images;
  const Floats &in;
  Floats &out;
  Floats from, to;
  Op op;
  Bricks(Brick small_, Brick big_, const float *window, int images_, const Floats &in_, Floats &out_)
      : small(small_), big(big_), images(images_), in(in_), out(out_), from(buffer(size_t(images_) * N * C)), to(from) {
    const Axis y(small.h, big.h), x(small.w, big.w);
    Floats w(size_t(C) * big.size() * y.size() * x.size() * small.size());
    size_t at = 0;
    for (int c = 0; c < C; c++) for (int o = 0; o < big.size(); o++)
      for (int ky = y.from; ky <= y.to; ky++) for (int kx = x.from; kx <= x.to; kx++)
        for (int i = 0; i < small.size(); i++, at++) {
          const int row = ky * small.h + i / small.w - o / big.w + R, col = kx * small.w + i % small.w - o % big.w + R;
          if (row >= 0 && row < K && col >= 0 && col < K) w[at] = window[(c * K + row) * K + col];
        }
    const Convolution all{"bricks", y.before(), x.after(), y.after(), x.before(), y.size(), x.size(), y.stride, x.stride,
                          C, small.size(), big.size(), C * small.size(), C * big.size()};
    op = all.with(DEPTHWISE, w.data(), images, S / small.h, S / small.w, from.data(), to.data());
  }
  void run() override {
    bricksOf(small, images, in, from);
    op.run();
    imagesOf(big, images, to, out);
  }
};

// forms are what is tried; plain takes forty times as long and is measured only where it is named. The names of bricks say which pixels
// are channels, and which are columns.
const std::vector<std::string> forms = {"bricks4x4to4x4", "bricks4x2to4x4", "bricks2x2to4x4", "bricks1x16to1x16", "tiles"};

std::unique_ptr<Depthwise> depthwise(const std::string &form, const float *window, int images, const Floats &in, Floats &out) {
  Brick a, b;
  if (form == "plain") return std::make_unique<Plain>(window, images, in, out);
  if (form == "tiles") return std::make_unique<Tiles>(window, images, in, out);
  if (sscanf(form.c_str(), "bricks%dx%dto%dx%d", &a.h, &a.w, &b.h, &b.w) != 4 || a.h < 1 || a.w < 1 || a.size() % 4 || b.size() % 4 ||
      b.h % a.h || b.w % a.w || S % b.h || S % b.w)
    fail(form + ": no such form");
  return std::make_unique<Bricks>(a, b, window, images, in, out);
}

Floats x, want, mean, dev;  // of all images

// A Net computes some images at a time.
struct Net {
  int images;
  Floats rows, p, h, t, y, u, out;  // rows: [2, images, N, 25]; p: [images, N, 32]; others: [images, N, 128], [images, N, 2]
  std::vector<Op> first;
  Op mix, constant, last;
  std::unique_ptr<Depthwise> dw[8];
  Op pw[8], residual[8];
  Net(const std::string &form, int images_)
      : images(images_), rows(buffer(size_t(2) * images * N * K0)), p(buffer(size_t(images) * N * 32)), h(buffer(size_t(images) * N * C)),
        t(h), y(h), u(h), out(buffer(size_t(images) * N * 2)) {
    const Convolution column{"the first layer", R0, 0, R0, 0, K0, 1, 1, 1, 1, K0, 16, K0, 32};
    for (int s = 0; s < 2; s++)
      first.push_back(column.with(FIRST, W.first, images, S, S, &rows[size_t(s) * images * N * K0], &p[s * 16]));
    const size_t pixels = size_t(images) * N;
    mix = pointwise(32, C, W.mix, nullptr, false, pixels, p, u);
    constant = sum(u, W.constant, h, images, true, false);
    for (int i = 0; i < 8; i++) {
      dw[i] = depthwise(form, W.window[i], images, i % 2 ? y : h, t);
      pw[i] = pointwise(C, C, W.pointwise[i], W.bias[i], i % 2 == 0, pixels, t, i % 2 ? u : y);
      if (i % 2) residual[i] = sum(u, h.data(), h, images, false, true);
    }
    last = pointwise(C, 2, W.last, W.last_bias, false, pixels, h, out);
  }
  // lay copies every pixel's row of 25 neighbours, from that image on.
  void lay(int from) {
    Timer t{OWN};
    parallel(size_t(2) * images * S, [&](size_t k) {
      const int s = k / (images * S), i = k / S % images, r = k % S;
      float line[S + 2 * R0] = {};
      memcpy(line + R0, &x[(size_t(2 * (from + i) + s) * S + r) * S], S * sizeof *line);
      for (int q = 0; q < S; q++) memcpy(&rows[(k * S + q) * K0], line + q, K0 * sizeof *line);
    });
  }
  void run(int from) {
    lay(from);
    for (const Op &op : first) op.run();
    scale(p, W.first_inv, images, 32);
    mix.run(), constant.run();
    for (int i = 0; i < 8; i++) {
      dw[i]->run(), pw[i].run();
      if (i % 2) residual[i].run();
    }
    last.run();
    Timer t{OWN};
    parallel(size_t(images) * S, [&](size_t row) {
      for (size_t q = row * S; q < (row + 1) * S; q++) {
        const float v = out[2 * q + 1];
        mean[size_t(from) * N + q] = out[2 * q];
        dev[size_t(from) * N + q] = std::max(v, 0.f) + std::log1p(std::exp(-std::fabs(v)));
      }
    });
  }
};

struct Choice {
  char form[32];
  int each;
};

// choose finds the fastest form on one image, then how many images at once. It is run in a child, so that its memory is not counted.
Choice choose(int batch) {
  Choice best = {"", 1};
  double shortest = INF;
  // least is the shortest time of four calls; one is enough where it takes three times as long as the best so far.
  auto least = [&](auto f) {
    double t = INF;
    for (int i = 0; i < 4 && !(i && t > 3 * shortest); i++) {
      const double a = now();
      f();
      t = std::min(t, now() - a);
    }
    return t;
  };
  for (const std::string &form : forms) {
    Net n(form, 1);
    const double t = least([&] { n.run(0); });
    fprintf(stderr, "%s, one image: %.4g s\n", form.c_str(), t);
    if (t < shortest) shortest = t, strcpy(best.form, form.c_str());
  }
  shortest = INF;
  std::vector<int> tries;
  for (int each : {1, 2, 4}) if (each < batch && batch % each == 0) tries.push_back(each);
  tries.push_back(batch);
  for (int each : tries) {
    Net n(best.form, each);
    const double t = least([&] { for (int i = 0; i < batch; i += each) n.run(i); }) / batch;
    fprintf(stderr, "%s, %d of %d images at once: %.4g s an image\n", best.form, each, batch, t);
    if (t < shortest) shortest = t, best.each = each;
  }
  return best;
}

// begin starts XNNPACK. A program compiled for AVX2 keeps it from using AVX-512, so that machines without it can be imitated.
void begin(int threads) {
  if (!cpuinfo_initialize()) fail("cpuinfo knows nothing of this processor");
#ifndef __AVX512F__
  cpuinfo_isa.avx512f = false;
#endif
  must(xnn_initialize(nullptr), "to start");
  pool = threads > 1 ? pthreadpool_create(threads) : nullptr;
}

Choice chosen(int batch, int threads) {
  int p[2];
  if (pipe(p)) fail("pipe");
  const pid_t child = fork();
  if (child == 0) {
    begin(threads);
    const Choice c = choose(batch);
    _exit(write(p[1], &c, sizeof c) == sizeof c ? 0 : 1);
  }
  Choice c;
  close(p[1]);
  if (child < 0 || ::read(p[0], &c, sizeof c) != sizeof c) fail("nothing could be tried");
  waitpid(child, nullptr, 0);
  return c;
}

// worst is the largest error of all outputs, huge where one is not a number.
double worst(int batch) {
  double err = 0;
  for (int i = 0; i < batch; i++) for (int q = 0; q < N; q++) for (int k = 0; k < 2; k++) {
    const double e = std::fabs((k ? dev : mean)[size_t(i) * N + q] - want[size_t(2 * i + k) * N + q]);
    err = e <= 1e9 ? std::max(err, e) : 1e9;
  }
  return err;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--version")) return puts(VERSION), 0;
  const int batch = argc > 1 ? atoi(argv[1]) : 0, calls = argc > 2 ? atoi(argv[2]) : 0;
  if (batch < 1 || calls < 1) fail("usage: xnnpack BATCH CALLS [full|one] [FORM [IMAGES AT ONCE]], or xnnpack --version");
  const std::string what = argc > 3 ? argv[3] : "full";
  const char *given = getenv("OMP_NUM_THREADS");
  const int threads = given ? std::max(1, atoi(given)) : int(sysconf(_SC_NPROCESSORS_ONLN));
  load();
  x = read("onnx/x.f32"), want = read("onnx/y.f32");
  if (x.size() < size_t(2) * batch * N || want.size() < size_t(2) * batch * N) fail("onnx/x.f32 has fewer images");
  mean.resize(size_t(batch) * N), dev.resize(mean.size());
  Choice c;
  if (argc > 4) snprintf(c.form, sizeof c.form, "%s", argv[4]), c.each = argc > 5 ? atoi(argv[5]) : batch;
  else c = chosen(batch, threads);
  if (c.each < 1 || batch % c.each) fail("a batch is no multiple of the images at once");
  begin(threads);
  Net net(c.form, c.each);
  fprintf(stderr, "%s, %d at once\n", c.form, c.each);
  auto run = [&] {
    if (what == "one") return net.dw[0]->run();
    for (int i = 0; i < batch; i += c.each) net.run(i);
  };
  run();
  const double err = what == "full" ? worst(batch) : 0;
  run();
  std::fill(spent, spent + KINDS, 0.);
  const int images = what == "one" ? c.each : batch;
  std::vector<double> s;
  for (int i = 0; i < calls; i++) {
    const double a = now();
    run();
    s.push_back((now() - a) / images);
  }
  std::sort(s.begin(), s.end());
  struct rusage ru;
  getrusage(RUSAGE_SELF, &ru);
  auto say = [&](const char *metric, double v) {
    printf("{\"name\": \"image/xnnpack/%s/64x64/batch%d%s\", \"n\": %d, \"metric\": \"%s\", \"value\": %.6g}\n",
           what == "one" ? "layer" : "T2", batch, threads == 1 ? "/onecore" : "", batch, metric, v);
  };
  say("s_per_image", s[0]), say("p50_s", s[calls / 2] * images), say("p99_s", s.back() * images), say("peak_bytes", ru.ru_maxrss * 1024.);
  if (what == "full") say("max_err", err);
  const double ms = 1e3 / calls / images;
  fprintf(stderr, "a call's mean ms per image: first %.3g, pointwise and sums %.3g, depthwise %.3g, our own loops %.3g\n",
          spent[FIRST] * ms, spent[POINTWISE] * ms, spent[DEPTHWISE] * ms, spent[OWN] * ms);
  return err < 5e-6 ? 0 : 1;
}
