// The matrix products, and what happens to their results on the way out: bias, residuals, statistics.
#pragma once
#include "weights.h"

#if defined(__AMX_BF16__) && defined(__AVX512F__)
#define HAVE_AMX 1
#else
#define HAVE_AMX 0
#endif
#if defined(__AVX512BF16__) && defined(__AVX512F__)
#define HAVE_DOT 1
#else
#define HAVE_DOT 0
#endif

bool amx_allowed();  // asked of the kernel once, in kokoro.cpp

// -- outward: bias, residuals, statistics

template <class Out>
struct Outward {
    Rows<Out> out;
    Rows<float> residual{}, second{};  // added where given; may be `out` itself
    double* partial = nullptr;         // this block's sums and squares, [2][out_padded]
};

template <class Out>
static inline void put(const Outward<Out>& how, const Conv& conv, long row, int c, vf v, vf& sum, vf& square) {
    v += load(conv.bias.data() + c);
    if (how.residual.data) v += load(how.residual.row(row) + c);
    if (how.second.data) v += load(how.second.row(row) + c);
    sum += v;
    square += v * v;
    store(how.out.row(row) + c, v);
}

static inline void note(double* partial, int padded, int c, vf sum, vf square) {
    if (!partial) return;
    for (int j = 0; j < W; ++j) partial[c + j] += sum[j], partial[padded + c + j] += square[j];
}

// -- the products: rows [first, first + n) of the output from `from`, whose row 0 belongs to output row `first`

template <class Out>
static void multiply_wide(const Conv& conv, const float* from, long width, long first, int n, int c0, int c1,
                          const Outward<Out>& how) {
    constexpr int V = kPanel / W;
    for (int o = c0; o < c1; o += kPanel) {
        const float* panel = conv.wide_weight->get(0) + size_t(o) * conv.taps * conv.in_padded;
        vf sum[V] = {}, square[V] = {};
        for (int r = 0; r < n; r += kHeight) {
            int height = std::min(kHeight, n - r);
            vf acc[kHeight][V] = {};
            const float* w = panel;
            for (int k = 0; k < conv.taps; ++k) {
                const float* x = from + (r + long(k) * conv.dilation) * width;
                for (int i = 0; i < conv.in_padded; ++i, w += kPanel) {
                    vf b[V];
                    for (int v = 0; v < V; ++v) b[v] = load(w + v * W);
#pragma GCC unroll 6
                    for (int h = 0; h < kHeight; ++h) {
                        vf a = splat(x[h * width + i]);
#pragma GCC unroll 4
                        for (int v = 0; v < V; ++v) acc[h][v] += a * b[v];
                    }
                }
            }
            // unrolled whole: an index known only at run time would keep the accumulators in memory
#pragma GCC unroll 6
            for (int h = 0; h < kHeight; ++h)
#pragma GCC unroll 4
                for (int v = 0; v < V; ++v)
                    if (h < height && o + v * W < up(conv.out, W))
                        put(how, conv, first + r + h, o + v * W, acc[h][v], sum[v], square[v]);
        }
        for (int v = 0; v < V && o + v * W < up(conv.out, W); ++v)
            note(how.partial, conv.out_padded, o + v * W, sum[v], square[v]);
    }
}

#if HAVE_AMX
struct TileConfig {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {};
    uint8_t rows[16] = {};
};

static void configure_tiles() {
    alignas(64) TileConfig config;
    for (int t = 0; t < 8; ++t) config.bytes[t] = 64, config.rows[t] = 16;
    _tile_loadconfig(&config);
}

static inline void multiply_four() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

// 32 rows by 32 outputs into tiles 0 to 3: high by high, high by low, low by high.
static void multiply_split(const Conv& conv, const bf16* from, long width, const bf16* panel) {
    const int chunks = conv.in_padded / 64;  // of one part
    const long row = width * sizeof(bf16), low = conv.in_padded / 2;
    for (int k = 0; k < conv.taps; ++k) {
        const bf16* x = from + long(k) * conv.dilation * width;
        const bf16* w = panel + long(k) * chunks * 2048;
        for (int i = 0; i < chunks; ++i) {
            const bf16 *here = x + i * 32, *high = w + i * 1024, *rest = high + chunks * 1024L;
            _tile_loadd(4, here, row);
            _tile_loadd(5, here + 16 * width, row);
            _tile_loadd(6, rest, 64);
            _tile_loadd(7, rest + 512, 64);
            multiply_four();
            _tile_loadd(6, high, 64);
            _tile_loadd(7, high + 512, 64);
            multiply_four();
            _tile_loadd(4, here + low, row);
            _tile_loadd(5, here + low + 16 * width, row);
            multiply_four();
        }
    }
}

template <class Out>
static void multiply_tiles(const Conv& conv, const bf16* from, long width, long first, int n, int c0, int c1,
                           const Outward<Out>& how) {
    static_assert(W == 16);
    alignas(64) float block[4][16][16];
    const int chunks = conv.in_padded / 32;
    const long row = width * sizeof(bf16);
    for (int o = c0; o < c1; o += 32) {
        const bf16* panel = conv.narrow_weight->get(0) + size_t(o) * conv.taps * conv.in_padded;
        vf sum[2] = {}, square[2] = {};
        for (int r = 0; r < n; r += 32) {
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            const bf16* w = panel;
            if (conv.kind == Kind::split) {
                multiply_split(conv, from + r * width, width, panel);
            } else
                for (int k = 0; k < conv.taps; ++k) {
                    const bf16* x = from + (r + long(k) * conv.dilation) * width;
                    for (int i = 0; i < chunks; ++i, w += 1024) {
                        _tile_loadd(4, x + i * 32, row);
                        _tile_loadd(6, w, 64);
                        _tile_loadd(7, w + 512, 64);
                        _tile_loadd(5, x + 16 * width + i * 32, row);
                        multiply_four();
                    }
                }
            _tile_stored(0, block[0], 64);
            _tile_stored(1, block[1], 64);
            _tile_stored(2, block[2], 64);
            _tile_stored(3, block[3], 64);
            int height = std::min(32, n - r);
            for (int h = 0; h < height; ++h)
                for (int v = 0; v < 2; ++v)
                    put(how, conv, first + r + h, o + v * W, load(block[h / 16 * 2 + v][h % 16]), sum[v], square[v]);
        }
        for (int v = 0; v < 2; ++v) note(how.partial, conv.out_padded, o + v * W, sum[v], square[v]);
    }
}
#endif

#if HAVE_DOT
template <class Out>
static void multiply_dots(const Conv& conv, const bf16* from, long width, long first, int n, int c0, int c1,
                          const Outward<Out>& how) {
    static_assert(W == 16);
    constexpr int H = 8;
    const int chunks = conv.in_padded / 32;
    for (int o = c0; o < c1; o += 32) {
        const bf16* panel = conv.narrow_weight->get(0) + size_t(o) * conv.taps * conv.in_padded;
        vf sum[2] = {}, square[2] = {};
        for (int r = 0; r < n; r += H) {
            __m512 acc[H][2] = {};
            const bf16* w = panel;
            for (int k = 0; k < conv.taps; ++k) {
                const bf16* x = from + (r + long(k) * conv.dilation) * width;
                for (int i = 0; i < chunks; ++i, w += 1024)
                    for (int pair = 0; pair < 16; ++pair) {
                        __m512bh b0 = (__m512bh)_mm512_load_si512(w + pair * 32);
                        __m512bh b1 = (__m512bh)_mm512_load_si512(w + 512 + pair * 32);
#pragma GCC unroll 8
                        for (int h = 0; h < H; ++h) {
                            int32_t two;
                            std::memcpy(&two, x + h * width + i * 32 + pair * 2, 4);
                            __m512bh a = (__m512bh)_mm512_set1_epi32(two);
                            acc[h][0] = _mm512_dpbf16_ps(acc[h][0], a, b0);
                            acc[h][1] = _mm512_dpbf16_ps(acc[h][1], a, b1);
                        }
                    }
            }
            int height = std::min(H, n - r);
#pragma GCC unroll 8
            for (int h = 0; h < H; ++h)
                for (int v = 0; v < 2; ++v)
                    if (h < height) put(how, conv, first + r + h, o + v * W, (vf)acc[h][v], sum[v], square[v]);
        }
        for (int v = 0; v < 2; ++v) note(how.partial, conv.out_padded, o + v * W, sum[v], square[v]);
    }
}
#endif

template <class Out>
static void multiply(const Conv& conv, const float* from, long width, long first, int n, int c0, int c1,
                     const Outward<Out>& how) {
    multiply_wide(conv, from, width, first, n, c0, c1, how);
}

template <class Out>
static void multiply(const Conv& conv, const bf16* from, long width, long first, int n, int c0, int c1,
                     const Outward<Out>& how) {
#if HAVE_AMX
    if (amx_allowed()) {
        configure_tiles();
        multiply_tiles(conv, from, width, first, n, c0, c1, how);
        _tile_release();
        return;
    }
#endif
#if HAVE_DOT
    multiply_dots(conv, from, width, first, n, c0, c1, how);
#endif
}
