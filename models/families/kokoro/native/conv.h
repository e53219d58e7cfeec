// Convolutions over channels-last rows, with what surrounds them: normalisation and activation on the way in; bias,
// residual and the next normalisation's statistics on the way out. Each block of rows is activated into a small buffer
// that stays in cache, then multiplied: a convolution tap is only an offset of rows in it.
#pragma once
#include <cmath>
#include <vector>

#include "inward.h"
#include "pool.h"
#include "products.h"

struct Statistics {  // per channel: of everything a convolution wrote
    std::vector<double> sum, square;
    int rows = 0;
};

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
    if (conv.kind == Kind::wide)
        run_conv_as<float>(pool, conv, in, inward, how, statistics);
    else
        run_conv_as<bf16>(pool, conv, in, inward, how, statistics);
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
