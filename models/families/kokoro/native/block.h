// StyleTTS 2's decoder block: two convolutions behind AdaIN and a shortcut, their sum over the root of two.
#pragma once
#include "network.h"

class AdainBlock {
public:
    AdainBlock(const Tensors& tensors, const std::string& name, int in, int out, bool doubles, Kind kind)
        : norm1_(tensors, name + ".norm1", in),
          norm2_(tensors, name + ".norm2", out),
          in_(in),
          out_(out),
          doubles_(doubles) {
        first_ = read_conv(tensors, name + ".conv1", in, out, 3, 1, kind);
        second_ = read_conv(tensors, name + ".conv2", out, out, 3, 1, kind, kShare, kShare);
        if (in != out) skip_ = read_conv(tensors, name + ".conv1x1", in, out, 1, 1, kind, kShare, 0);
        if (doubles) {
            const float* w = tensors.get(name + ".pool.weight", 3L * in);
            const float* b = tensors.get(name + ".pool.bias", in);
            for (auto& tap : pool_) tap.assign(up(in, W), 0.0f);
            for (int c = 0; c < in; ++c) {
                for (int k = 0; k < 3; ++k) pool_[k][c] = w[c * 3 + k];
                pool_[3][c] = b[c];
            }
        }
    }

    void norms(std::vector<Norm*>& all) {
        all.push_back(&norm1_);
        all.push_back(&norm2_);
    }

    // x [t, in] -> out [t or 2 t, out]; x's columns up to a whole vector must be finite
    void run(Pool& pool, Rows<float> x, Rows<float> out) {
        pool.between();
        const int rows = out.count, wide = up(in_, W);
        norm1_.set_statistics(measure(pool, x));
        Rows<float> inner{inner_.get(size_t(rows) * out_), rows, out_, out_};
        Rows<float> skip{skipped_.get(size_t(rows) * out_), rows, out_, out_};
        Rows<float> brief{skip.data, x.count, out_, out_};
        if (in_ != out_) {
            run_conv(pool, skip_, x, Inward{}, Outward<float>{brief});
        } else {
            for (int t = 0; t < x.count; ++t)
                for (int c = 0; c < out_; c += W) store(brief.row(t) + c, load(x.row(t) + c) * kShare);
        }
        if (doubles_)  // backwards, so that nothing is overwritten before it is read
            for (int t = rows - 1; t > 0; --t) std::memmove(skip.row(t), skip.row(t / 2), sizeof(float) * out_);
        Statistics seen;
        if (doubles_) {
            Rows<float> doubled{doubled_.get(size_t(rows) * wide), rows, in_, wide};
            spread(pool, x, doubled);
            run_conv(pool, first_, doubled, Inward{}, Outward<float>{inner}, &seen);
        } else {
            run_conv(pool, first_, x, norm1_.leaky(kSlope), Outward<float>{inner}, &seen);
        }
        norm2_.set_statistics(seen);
        run_conv(pool, second_, inner, norm2_.leaky(kSlope), Outward<float>{out, skip});
    }

    template <class Do>
    void working(Do each) {
        for (auto* buffer : {&inner_, &skipped_, &doubled_}) each(*buffer);
    }

private:
    static constexpr float kShare = 0.70710678118654752f, kSlope = 0.2f;

    // The activated rows, doubled by a transposed convolution of each channel by itself: kernel 3, stride 2.
    void spread(Pool& pool, Rows<float> x, Rows<float> to) {
        const int wide = up(in_, W);
        pool.run((x.count + 7) / 8, [&](int task) {
            const int first = task * 8, n = std::min(8, x.count - first);
            static thread_local Aligned<float> memory;
            float* rows = memory.get(size_t(9) * wide);
            activate(x, norm1_.leaky(kSlope), first, n + 1, rows, wide);
            for (int r = 0; r < n; ++r)
                for (int c = 0; c < wide; c += W) {
                    vf here = load(rows + r * wide + c), next = load(rows + (r + 1) * wide + c),
                       bias = load(pool_[3].data() + c);
                    store(to.row(2 * (first + r)) + c, here * load(pool_[1].data() + c) + bias);
                    store(to.row(2 * (first + r) + 1) + c,
                          here * load(pool_[2].data() + c) + next * load(pool_[0].data() + c) + bias);
                }
        });
    }

    Norm norm1_, norm2_;
    Conv first_, second_, skip_;
    std::vector<float> pool_[4];
    int in_, out_;
    bool doubles_;
    Working<float> inner_, skipped_, doubled_;
};
