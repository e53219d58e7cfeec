// What the decoder's blocks are made of, by their published names.
#pragma once
#include <map>
#include <stdexcept>
#include <string>

#include "conv.h"

struct Tensors {  // the published parameters, read while the network is built
    struct Entry {
        const float* data;
        long count;
    };
    std::map<std::string, Entry> all;

    const float* get(const std::string& name, long count) const {
        auto found = all.find(name);
        if (found == all.end()) throw std::runtime_error("missing " + name);
        if (found->second.count != count) throw std::runtime_error(name + " has another size");
        return found->second.data;
    }
};

// An ordinary convolution: weight [out, in, taps], output t reads inputs t - before .. with the given dilation.
static inline Conv read_conv(const Tensors& tensors, const std::string& name, int in, int out, int taps, int dilation,
                             Kind kind, float gain = 1.0f, float bias_gain = 1.0f) {
    const float* weight = tensors.get(name + ".weight", long(out) * in * taps);
    std::vector<float> bias(out, 0.0f);
    if (bias_gain != 0) {  // 0: the layer has none
        const float* stored = tensors.get(name + ".bias", out);
        for (int o = 0; o < out; ++o) bias[o] = stored[o] * bias_gain;
    }
    return make_conv(in, out, taps, dilation, (taps - 1) * dilation / 2, kind, bias.data(),
                     [=](int o, int i, int k) { return weight[(long(o) * in + i) * taps + k] * gain; });
}

struct Norm {  // AdaIN: statistics over time, scale and shift from the style
    static constexpr int kStyle = 128;
    static constexpr double kEpsilon = 1e-5;
    int channels = 0;
    std::vector<float> weight, bias;  // of the linear layer: gammas, then betas
    std::vector<float> gamma, beta;   // for the style at hand
    std::vector<float> scale, shift;  // for the rows at hand, padded with zeros

    Norm(const Tensors& tensors, const std::string& name, int channels) : channels(channels) {
        const float* w = tensors.get(name + ".fc.weight", 2L * channels * kStyle);
        const float* b = tensors.get(name + ".fc.bias", 2L * channels);
        weight.assign(w, w + 2L * channels * kStyle);
        bias.assign(b, b + 2 * channels);
        gamma.resize(channels), beta.resize(channels);
        scale.assign(up(channels, 32), 0.0f), shift = scale;
    }

    void set_style(const float* style) {
        for (int c = 0; c < 2 * channels; ++c) {
            const float* w = weight.data() + long(c) * kStyle;
            vf sum = {};
            for (int i = 0; i < kStyle; i += W) sum += load(w + i) * load(style + i);
            (c < channels ? gamma[c] : beta[c - channels]) = total(sum) + bias[c];
        }
    }

    void set_statistics(const Statistics& seen) {
        for (int c = 0; c < channels; ++c) {
            double mean = seen.sum[c] / seen.rows;
            double variance = std::max(0.0, seen.square[c] / seen.rows - mean * mean);
            double gain = (1.0 + gamma[c]) / std::sqrt(variance + kEpsilon);
            scale[c] = float(gain);
            shift[c] = float(beta[c] - mean * gain);
        }
    }

    Inward leaky(float slope) const {
        Inward how;
        how.scale = scale.data(), how.shift = shift.data(), how.slope = slope, how.act = Act::leaky;
        return how;
    }
};

struct Snake {
    std::vector<float> alpha, inverse;

    Snake(const Tensors& tensors, const std::string& name, int channels) {
        const float* a = tensors.get(name, channels);
        alpha.assign(a, a + channels);
        for (float x : alpha) inverse.push_back(1.0f / x);
    }

    Inward behind(const Norm& norm) const {
        Inward how;
        how.scale = norm.scale.data(), how.shift = norm.shift.data();
        how.alpha = alpha.data(), how.inverse = inverse.data(), how.act = Act::snake;
        return how;
    }
};
