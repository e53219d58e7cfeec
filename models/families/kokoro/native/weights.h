// A convolution's weights, laid out for the products that read them.
#pragma once
#include <memory>
#include <vector>

#include "rows.h"
#include "vec.h"

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

// Couts and rows of one register block: all of the registers but a row of weights and an input.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kPanel = 4 * W, kHeight = 6;  // 32 registers
#else
constexpr int kPanel = 2 * W, kHeight = 6;  // 16 registers
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
        return i < part ? w : w - widened(narrowed(w));
    };
    if (kind == Kind::wide) {  // [panel][tap][in][kPanel]
        conv.wide_weight = std::make_shared<Aligned<float>>();
        float* p = conv.wide_weight->get(size);
        for (int o = 0; o < conv.out_padded; o += kPanel)
            for (int k = 0; k < taps; ++k)
                for (int i = 0; i < conv.in_padded; ++i)
                    for (int j = 0; j < kPanel; ++j) *p++ = value(o + j, i, k);
    } else {  // [32 couts][tap][in / 32][16 couts] tiles of 16 input pairs by 16 couts, for AMX and the dot product
        conv.narrow_weight = std::make_shared<Aligned<bf16>>();
        bf16* p = conv.narrow_weight->get(size);
        for (int o = 0; o < conv.out_padded; o += 32)
            for (int k = 0; k < taps; ++k)
                for (int i = 0; i < conv.in_padded; i += 32)
                    for (int half = 0; half < 32; half += 16)
                        for (int pair = 0; pair < 32; pair += 2) {
                            for (int j = 0; j < 16; ++j) {
                                *p++ = narrowed(value(o + half + j, i + pair, k));
                                *p++ = narrowed(value(o + half + j, i + pair + 1, k));
                            }
                        }
    }
    return conv;
}
