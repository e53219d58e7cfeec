// Convolutions over channels-last rows, with what surrounds them: normalisation and activation on the way in; bias,
// residual and the next normalisation's statistics on the way out. Each block of rows is activated into a small buffer
// that stays in cache, then multiplied: a convolution tap is only an offset of rows in it.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "pool.h"
#include "vec.h"

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

static inline int up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

template <class T>
struct Rows {  // `count` rows of `width` channels, `stride` elements apart; rows before and behind count as zeros
    T* data = nullptr;
    int count = 0, width = 0;
    long stride = 0;
    T* row(long t) const { return data + t * stride; }
    bool has(long t) const { return t >= 0 && t < count; }
};

// Whole pages straight from the system, large ones where it can: what is dropped is given back at once, whatever the
// allocator would rather keep.
void* take_pages(size_t bytes);
void give_pages(void* data, size_t bytes);

template <class T>
struct Aligned {  // grows, never shrinks until dropped
    T* get(size_t n) {
        if (n > size_) {
            drop();
            data_ = static_cast<T*>(take_pages(n * sizeof(T)));
            size_ = n;
        }
        return data_;
    }
    void drop() {
        if (data_) give_pages(data_, size_ * sizeof(T));
        data_ = nullptr;
        size_ = 0;
    }
    size_t bytes() const { return size_ * sizeof(T); }
    ~Aligned() { drop(); }
    Aligned() = default;
    Aligned(const Aligned&) = delete;
    Aligned& operator=(const Aligned&) = delete;

private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

enum class Act { none, leaky, snake, gelu };

struct Inward {  // x -> act(x * scale + shift), per channel; all arrays padded to whole vectors
    const float *scale = nullptr, *shift = nullptr;
    const float *alpha = nullptr, *inverse = nullptr;  // snake's a and 1 / a
    float slope = 0;                                   // leaky's
    Act act = Act::none;
};

struct Statistics {  // per channel: of everything a convolution wrote
    std::vector<double> sum, square;
    int rows = 0;
};

// How a product is computed. wide: in float. narrow: in bfloat16, summed in float. split: each number as the sum of two
// bfloat16, of whose four products the three that matter are summed; nearly float's precision at three times narrow's
// work, which is still less than wide's where there are matrix units.
enum class Kind { wide, narrow, split };

struct Conv {
    int in = 0, out = 0, taps = 0, dilation = 1, before = 0;  // `before`: rows the first tap lies before its output
    Kind kind = Kind::wide;
    int in_padded = 0, out_padded = 0;  // split: twice the inputs, their high parts before their low parts
    std::vector<float> bias;
    std::shared_ptr<Aligned<float>> wide_weight;
    std::shared_ptr<Aligned<bf16>> narrow_weight;

    int halo() const { return (taps - 1) * dilation; }
};

#if defined(__AVX512F__)
constexpr int kPanel = 64, kHeight = 6;  // couts and rows of one register block: 24 accumulators of 32 registers
#else
constexpr int kPanel = 16, kHeight = 6;
#endif

// weight(o, i, k) gives the published weight. out is padded to whole panels with zeros.
template <class Weight>
Conv make_conv(int in, int out, int taps, int dilation, int before, Kind kind, const float* bias, Weight weight) {
    Conv conv;
    conv.in = in, conv.out = out, conv.taps = taps, conv.dilation = dilation, conv.before = before;
    conv.kind = kind;
    const int part = up(in, kind == Kind::wide ? W : 32);
    conv.in_padded = kind == Kind::split ? 2 * part : part;
    conv.out_padded = up(out, kind == Kind::wide ? kPanel : 32);
    conv.bias.assign(conv.out_padded, 0.0f);
    if (bias) std::copy(bias, bias + out, conv.bias.begin());
    size_t size = size_t(conv.in_padded) * conv.out_padded * taps;
    auto value = [&](int o, int i, int k) {
        const int at = i % part;
        float w = o < out && at < in ? weight(o, at, k) : 0.0f;
        return i < part ? w : w - rounded(w);
    };
    if (kind == Kind::wide) {  // [panel][tap][in][kPanel]
        conv.wide_weight = std::make_shared<Aligned<float>>();
        float* p = conv.wide_weight->get(size);
        for (int o = 0; o < conv.out_padded; o += kPanel)
            for (int k = 0; k < taps; ++k)
                for (int i = 0; i < conv.in_padded; ++i)
                    for (int j = 0; j < kPanel; ++j) *p++ = value(o + j, i, k);
    } else {  // [16 couts of 32][tap][in / 32] tiles of 16 input pairs by 16 couts, as AMX and the dot product want them
        conv.narrow_weight = std::make_shared<Aligned<bf16>>();
        bf16* p = conv.narrow_weight->get(size);
        for (int o = 0; o < conv.out_padded; o += 32)
            for (int k = 0; k < taps; ++k)
                for (int i = 0; i < conv.in_padded; i += 32)
                    for (int half = 0; half < 32; half += 16)
                        for (int pair = 0; pair < 32; pair += 2) {
                            float even[16], odd[16];
                            bf16 e[16], d[16];
                            for (int j = 0; j < 16; ++j) {
                                even[j] = value(o + half + j, i + pair, k);
                                odd[j] = value(o + half + j, i + pair + 1, k);
                            }
                            store(e, load(even));
                            store(d, load(odd));
                            for (int j = 0; j < 16; ++j) *p++ = e[j], *p++ = d[j];
                        }
    }
    return conv;
}

// -- inward: rows [first, first + n) of `in`, activated, to `to` with `width` channels a row

static inline void put_inward(float* to, int, int c, vf v) { store(to + c, v); }

static inline void put_inward(bf16* to, int part, int c, vf v) {
    store(to + c, v);
    if (!part) return;
    store(to + part + c, v - load(to + c));
}

template <Act act, class In, class To>
static void activate_rows(const Rows<In>& in, const Inward& how, long first, int n, To* to, int width, bool split) {
    const int part = split ? width / 2 : 0, end = split ? part : width;
    for (int r = 0; r < n; ++r, to += width) {
        if (!in.has(first + r)) {
            std::memset(to, 0, sizeof(To) * width);
            continue;
        }
        const In* x = in.row(first + r);
        int c = 0;
        for (; c + W <= up(in.width, W) && c < end; c += W) {
            vf v = load(x + c);
            if (how.scale) v = v * load(how.scale + c) + load(how.shift + c);
            if (act == Act::leaky) v = select(v > 0, v, v * how.slope);
            if (act == Act::gelu) v = gelu(v);
            if (act == Act::snake) v = v + sin_squared(v * load(how.alpha + c)) * load(how.inverse + c);
            put_inward(to, part, c, v);
        }
        for (; c < end; c += W) put_inward(to, part, c, vf{});
    }
}

template <class In, class To>
static void activate(const Rows<In>& in, const Inward& how, long first, int n, To* to, int width, bool split = false) {
    switch (how.act) {
        case Act::none: return activate_rows<Act::none>(in, how, first, n, to, width, split);
        case Act::leaky: return activate_rows<Act::leaky>(in, how, first, n, to, width, split);
        case Act::snake: return activate_rows<Act::snake>(in, how, first, n, to, width, split);
        case Act::gelu: return activate_rows<Act::gelu>(in, how, first, n, to, width, split);
    }
}

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
        for (int v = 0; v < V && o + v * W < up(conv.out, W); ++v) note(how.partial, conv.out_padded, o + v * W, sum[v], square[v]);
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
            } else for (int k = 0; k < conv.taps; ++k) {
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

// -- the whole: in blocks of rows on all threads

struct Scratch {  // one activated block per thread
    Aligned<float> wide;
    Aligned<bf16> narrow;
    float* get(size_t n, float) { return wide.get(n); }
    bf16* get(size_t n, bf16) { return narrow.get(n); }
};

static inline Scratch& scratch() {
    static thread_local Scratch mine;
    return mine;
}

static inline Scratch& shared_scratch() {  // of the thread that shares out the work
    static thread_local Scratch mine;
    return mine;
}

constexpr int kRagged = 32;  // the products read up to a whole register block of rows past the last

// Few rows are shared out by output channels as well. T: the type of activations between memory and the product.
template <class T, class In, class Out>
void run_conv_as(Pool& pool, const Conv& conv, const Rows<In>& in, const Inward& inward, Outward<Out> how,
                 Statistics* statistics) {
    const int rows = how.out.count;
    // fixed by the shape alone, so that sums come out the same however many threads there are
    int height = std::clamp(up((rows + 7) / 8, 32), 32, conv.in_padded > 128 ? 256 : 512);
    const int blocks = (rows + height - 1) / height;
    const int unit = conv.kind == Kind::wide ? kPanel : 32;
    const bool split = conv.kind == Kind::split;
    const int groups = blocks >= 8 ? 1 : std::min(8 / blocks, conv.out_padded / unit);
    const int share = up((conv.out_padded + groups - 1) / groups, unit);
    std::vector<double> partials;
    if (statistics) partials.assign(size_t(blocks) * 2 * conv.out_padded, 0.0);
    const long width = conv.in_padded;
    T* shared = nullptr;
    if (groups > 1) {  // every group of channels reads the same rows: activate them once
        const int held = rows + conv.halo() + kRagged, piece = 16;
        shared = shared_scratch().get(size_t(held) * width, T());
        pool.run((held + piece - 1) / piece, [&](int task) {
            const int from = task * piece, n = std::min(piece, held - from);
            activate(in, inward, from - conv.before, n, shared + from * width, int(width), split);
        });
    }
    pool.run(blocks * groups, [&](int task) {
        const int block = task / groups, group = task % groups;
        const long first = long(block) * height;
        const int n = std::min<long>(height, rows - first);
        const int c0 = group * share, c1 = std::min(c0 + share, conv.out_padded);
        if (c0 >= c1) return;
        T* buffer = shared ? shared + first * width : nullptr;
        if (!shared) {
            const int held = n + conv.halo();
            buffer = scratch().get(size_t(held + kRagged) * width, T());
            activate(in, inward, first - conv.before, held, buffer, int(width), split);
            std::memset(buffer + size_t(held) * width, 0, sizeof(T) * kRagged * width);
        }
        Outward<Out> mine = how;
        if (statistics) mine.partial = partials.data() + size_t(block) * 2 * conv.out_padded;
        multiply(conv, buffer, width, first, n, c0, c1, mine);
    });
    if (statistics) {
        statistics->sum.assign(conv.out_padded, 0.0);
        statistics->square.assign(conv.out_padded, 0.0);
        statistics->rows = rows;
        for (int b = 0; b < blocks; ++b)
            for (int c = 0; c < conv.out_padded; ++c) {
                statistics->sum[c] += partials[size_t(b) * 2 * conv.out_padded + c];
                statistics->square[c] += partials[(size_t(b) * 2 + 1) * conv.out_padded + c];
            }
    }
}

template <class In, class Out>
void run_conv(Pool& pool, const Conv& conv, const Rows<In>& in, const Inward& inward, Outward<Out> how,
              Statistics* statistics = nullptr) {
    if (conv.kind == Kind::wide) run_conv_as<float>(pool, conv, in, inward, how, statistics);
    else run_conv_as<bf16>(pool, conv, in, inward, how, statistics);
}

// Statistics of rows that no convolution has just written.
static inline Statistics measure(Pool& pool, const Rows<float>& in) {
    const int width = up(in.width, W), height = 512, blocks = (in.count + height - 1) / height;
    std::vector<double> partials(size_t(blocks) * 2 * width, 0.0);
    pool.run(blocks, [&](int block) {
        double* partial = partials.data() + size_t(block) * 2 * width;
        const int end = std::min((block + 1) * height, in.count);
        for (int c = 0; c < width; c += W) {
            vf sum = {}, square = {};
            for (int t = block * height; t < end; ++t) {
                vf v = load(in.row(t) + c);
                sum += v;
                square += v * v;
            }
            note(partial, width, c, sum, square);
        }
    });
    Statistics all{std::vector<double>(width, 0.0), std::vector<double>(width, 0.0), in.count};
    for (int b = 0; b < blocks; ++b)
        for (int c = 0; c < width; ++c) {
            all.sum[c] += partials[size_t(b) * 2 * width + c];
            all.square[c] += partials[(size_t(b) * 2 + 1) * width + c];
        }
    return all;
}
