// What happens to rows on their way into a product: normalisation, activation, the product's own number format.
#pragma once
#include "rows.h"
#include "vec.h"

enum class Act { none, leaky, snake, gelu };

struct Inward {  // x -> act(x * scale + shift), per channel; all arrays padded to whole vectors
    const float *scale = nullptr, *shift = nullptr;
    const float *alpha = nullptr, *inverse = nullptr;  // snake's a and 1 / a
    float slope = 0;                                   // leaky's
    Act act = Act::none;
};

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
        case Act::none:
            return activate_rows<Act::none>(in, how, first, n, to, width, split);
        case Act::leaky:
            return activate_rows<Act::leaky>(in, how, first, n, to, width, split);
        case Act::snake:
            return activate_rows<Act::snake>(in, how, first, n, to, width, split);
        case Act::gelu:
            return activate_rows<Act::gelu>(in, how, first, n, to, width, split);
    }
}
