// Trees of nanoflann over clouds of 4,096 points that differ, in turn. kdtree.cpp builds that of one cloud again and again, whose branches a
// processor learns. See README.md beside this file.
#include <nanoflann.hpp>
#include "peer.h"

template <int D>
struct Cloud {
  size_t n;
  const float* p;
  size_t kdtree_get_point_count() const { return n; }
  float kdtree_get_pt(size_t i, size_t axis) const { return p[i * D + axis]; }
  template <class B> bool kdtree_get_bbox(B&) const { return false; }
};

template <int D>
static void run() {
  constexpr size_t N = 4096, CLOUDS = 64;
  float* p = alloc<float>(CLOUDS * N * D);
  Rng g;
  g.fill(p, CLOUDS * N * D);
  for (int leaf : {10, 32}) {
    using Points = Cloud<D>;
    using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Points, float, uint32_t>, Points, D, uint32_t>;
    size_t turn = 0;
    double t = best([&] {
      Points points{N, p + turn++ % CLOUDS * N * D};
      Tree tree(D, points, nanoflann::KDTreeSingleIndexAdaptorParams(leaf));
      keep(tree.vAcc[0]);
    }, 3);
    emit("kdtree/nanoflann_leaf" + std::to_string(leaf) + "/d" + std::to_string(D) + "/n4096/build_fresh", N, "ms", t * 1e3);
  }
  free(p);
}

int main() { run<2>(); run<3>(); }
