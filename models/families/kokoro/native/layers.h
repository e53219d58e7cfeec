// The layers of the sequence models: linear, layer norm, bidirectional LSTM.
#pragma once
#include "network.h"

constexpr int kFewRows = 8;  // rows of a task where a row is little work

template <class Task>
void each_row(Pool& pool, int rows, Task&& task) {
    pool.run((rows + kFewRows - 1) / kFewRows, [&](int block) {
        for (int t = block * kFewRows; t < std::min(rows, (block + 1) * kFewRows); ++t) task(t);
    });
}

// Several linear layers of one input as one: outputs side by side.
static inline Conv read_linear(const Tensors& tensors, const std::vector<std::string>& names, int in, int out,
                               Kind kind) {
    std::vector<const float*> weights;
    std::vector<float> bias;
    for (const auto& name : names) {
        weights.push_back(tensors.get(name + ".weight", long(in) * out));
        const float* b = tensors.get(name + ".bias", out);
        bias.insert(bias.end(), b, b + out);
    }
    return make_conv(in, out * int(names.size()), 1, 1, 0, kind, bias.data(),
                     [=](int o, int i, int) { return weights[o / out][long(o % out) * in + i]; });
}

// x -> (x - mean) / deviation * gain + shift over one row, in place; width is a multiple of W
static inline void layer_norm(float* x, int width, const float* gain, const float* shift, double epsilon) {
    vf sum = {}, square = {};
    for (int c = 0; c < width; c += W) sum += load(x + c);
    const float mean = total(sum) / width;
    for (int c = 0; c < width; c += W) {
        vf d = load(x + c) - mean;
        square += d * d;
    }
    const float scale = float(1.0 / std::sqrt(double(total(square)) / width + epsilon));
    for (int c = 0; c < width; c += W) store(x + c, (load(x + c) - mean) * scale * load(gain + c) + load(shift + c));
}

class Lstm {  // bidirectional, one layer; gates in torch's order: input, forget, cell, output
public:
    static constexpr int kHidden = 256, kGates = 4 * kHidden;

    Lstm(const Tensors& tensors, const std::string& name, int in, Kind kind) {
        std::vector<const float*> weights;
        std::vector<float> bias;
        for (int d = 0; d < 2; ++d) {
            const std::string end = d == 0 ? "_l0" : "_l0_reverse";
            weights.push_back(tensors.get(name + ".weight_ih" + end, long(kGates) * in));
            const float* bias_in = tensors.get(name + ".bias_ih" + end, kGates);
            const float* bias_hidden = tensors.get(name + ".bias_hh" + end, kGates);
            for (int g = 0; g < kGates; ++g) bias.push_back(bias_in[g] + bias_hidden[g]);
            const float* recurrent = tensors.get(name + ".weight_hh" + end, long(kGates) * kHidden);
            float* to = recurrent_[d].get(size_t(kGates) * kHidden);  // [hidden][gate]
            for (int h = 0; h < kHidden; ++h)
                for (int g = 0; g < kGates; ++g) to[h * kGates + g] = recurrent[long(g) * kHidden + h];
        }
        input_ = make_conv(in, 2 * kGates, 1, 1, 0, kind, bias.data(),
                           [=](int o, int i, int) { return weights[o / kGates][long(o % kGates) * in + i]; });
    }

    // x [t, in] -> out [t, 512]: forward's state, then backward's
    void run(Pool& pool, Rows<float> x, Rows<float> out) {
        pool.between();
        Rows<float> gates{gates_.get(size_t(x.count) * 2 * kGates), x.count, 2 * kGates, 2 * kGates};
        run_conv(pool, input_, x, Inward{}, Outward<float>{gates});
        pool.run(2, [&](int direction) {
            alignas(64) float hidden[kHidden] = {}, cell[kHidden] = {};
            for (int step = 0; step < x.count; ++step) {
                const int t = direction == 0 ? step : x.count - 1 - step;
                float* row = gates.row(t) + direction * kGates;
                if (step > 0) recur(recurrent_[direction].get(0), hidden, row);
                for (int c = 0; c < kHidden; c += W) {
                    vf in = sigmoid(load(row + c)), forget = sigmoid(load(row + kHidden + c));
                    vf fresh = hyperbolic_tangent(load(row + 2 * kHidden + c)),
                       show = sigmoid(load(row + 3 * kHidden + c));
                    vf state = forget * load(cell + c) + in * fresh;
                    store(cell + c, state);
                    store(hidden + c, show * hyperbolic_tangent(state));
                }
                std::memcpy(out.row(t) + direction * kHidden, hidden, sizeof hidden);
            }
        });
    }

    template <class Do>
    void working(Do each) {
        each(gates_);
    }

private:
    static void recur(const float* weight, const float* hidden, float* gates) {
        constexpr int V = 8;
        for (int g = 0; g < kGates; g += V * W) {
            vf acc[V];
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) acc[v] = load(gates + g + v * W);
            for (int h = 0; h < kHidden; ++h) {
                vf x = splat(hidden[h]);
#pragma GCC unroll 8
                for (int v = 0; v < V; ++v) acc[v] += x * load(weight + h * kGates + g + v * W);
            }
#pragma GCC unroll 8
            for (int v = 0; v < V; ++v) store(gates + g + v * W, acc[v]);
        }
    }

    Conv input_;
    Aligned<float> recurrent_[2];
    Working<float> gates_;
};
