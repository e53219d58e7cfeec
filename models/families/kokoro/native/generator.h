// iSTFTNet's convolutional part: features and the excitation's spectrum in, log magnitudes and angles out.
// T is the type of activations inside: float, or bf16. The running sum of a residual block is always float.
#pragma once
#include "network.h"

template <class T>
class SnakeBlock {
public:
    static constexpr int kPairs = 3;

    SnakeBlock(const Tensors& tensors, const std::string& name, int channels, int taps, const int (&dilations)[kPairs])
        : channels_(channels) {
        constexpr Kind kind = sizeof(T) == sizeof(bf16) ? Kind::narrow : Kind::wide;
        for (int i = 0; i < kPairs; ++i) {
            std::string at = "." + std::to_string(i);
            first_.push_back(read_conv(tensors, name + ".convs1" + at, channels, channels, taps, dilations[i], kind));
            second_.push_back(read_conv(tensors, name + ".convs2" + at, channels, channels, taps, 1, kind));
            norm1_.emplace_back(tensors, name + ".adain1" + at, channels);
            norm2_.emplace_back(tensors, name + ".adain2" + at, channels);
            snake1_.emplace_back(tensors, name + ".alpha1" + at, channels);
            snake2_.emplace_back(tensors, name + ".alpha2" + at, channels);
        }
    }

    void norms(std::vector<Norm*>& all) {
        for (auto& norm : norm1_) all.push_back(&norm);
        for (auto& norm : norm2_) all.push_back(&norm);
    }

    // x: the block's input with its statistics; running: its residual stream, may be x itself; inner: between two
    // convolutions; out: where the result goes, added to what stands there if `add`.
    void run(Pool& pool, Rows<float> x, const Statistics& seen, Rows<float> running, Rows<T> inner, Rows<float> out,
             bool add) {
        Statistics statistics = seen, between;
        for (int i = 0; i < kPairs; ++i) {
            const Rows<float>& from = i == 0 ? x : running;
            pool.between();
            norm1_[i].set_statistics(statistics);
            run_conv(pool, first_[i], from, snake1_[i].behind(norm1_[i]), Outward<T>{inner}, &between);
            pool.between();
            norm2_[i].set_statistics(between);
            const bool last = i == kPairs - 1;
            Outward<float> outward{last ? out : running, from};
            if (last && add) outward.second = out;
            run_conv(pool, second_[i], inner, snake2_[i].behind(norm2_[i]), outward, last ? nullptr : &statistics);
        }
    }

private:
    int channels_;
    std::vector<Conv> first_, second_;
    std::vector<Norm> norm1_, norm2_;
    std::vector<Snake> snake1_, snake2_;
};

// A transposed convolution of stride `rate` and kernel 2 * rate: each output has two taps, the two inputs nearest to
// it, so the first half of a stride's outputs is one convolution of two taps and the second half another.
class Upsample {
public:
    Upsample(const Tensors& tensors, const std::string& name, int in, int out, int rate, Kind kind, float gain)
        : out_(out), rate_(rate) {
        const int taps = 2 * rate, half = rate / 2;
        const float* weight = tensors.get(name + ".weight", long(in) * out * taps);
        const float* bias = tensors.get(name + ".bias", out);
        std::vector<float> repeated(size_t(half) * out);
        for (int o = 0; o < half * out; ++o) repeated[o] = bias[o % out];
        for (int part = 0; part < 2; ++part)
            halves_[part] =
                make_conv(in, half * out, 2, 1, part == 0 ? 1 : 0, kind, repeated.data(), [=](int o, int i, int k) {
                    int tap = o / out + part * half + half + rate * (part == 0 ? 1 - k : -k);
                    return weight[(long(i) * out + o % out) * taps + tap] * gain;
                });
    }

    void run(Pool& pool, Rows<float> in, const Inward& inward, Rows<float> out, Rows<float> residual) {
        pool.between();
        for (int part = 0; part < 2; ++part) {
            auto shape = [&](Rows<float> rows) {
                return Rows<float>{rows.data + long(part) * (rate_ / 2) * rows.stride, in.count, rate_ / 2 * out_,
                                   rows.stride * rate_};
            };
            run_conv(pool, halves_[part], in, inward, Outward<float>{shape(out), shape(residual)});
        }
    }

private:
    int out_, rate_;
    Conv halves_[2];
};

template <class T>
class Generator {
public:
    static constexpr int kIn = 512, kWide = 256, kThin = 128, kBins = 22, kPostStride = 32;
    static constexpr int kRate0 = 10, kRate1 = 6;
    static constexpr int kBefore = 3, kBehind = 16;  // frames of zeros around the spectrum that its convolution reads

    explicit Generator(const Tensors& tensors) {
        constexpr Kind kind = sizeof(T) == sizeof(bf16) ? Kind::narrow : Kind::wide;
        const int dilations[3] = {1, 3, 5}, kernels[3] = {3, 7, 11};
        const std::string at = "decoder.generator.";
        up0_ = std::make_unique<Upsample>(tensors, at + "ups.0", kIn, kWide, kRate0, kind, 1.0f);
        // the mean of three blocks is their sum here: the third goes into the weights that come next
        up1_ = std::make_unique<Upsample>(tensors, at + "ups.1", kWide, kThin, kRate1, kind, 1.0f / 3);
        for (int j = 0; j < 6; ++j)
            blocks_.emplace_back(tensors, at + "resblocks." + std::to_string(j), j < 3 ? kWide : kThin, kernels[j % 3],
                                 dilations);
        noise_.emplace_back(tensors, at + "noise_res.0", kWide, 7, dilations);
        noise_.emplace_back(tensors, at + "noise_res.1", kThin, 11, dilations);
        // stride 6 over frames of 22 numbers is stride 1 over rows of 6 frames
        const float* weight = tensors.get(at + "noise_convs.0.weight", long(kWide) * kBins * 12);
        source0_ = make_conv(
            6 * kBins, kWide, 2, 1, 0, Kind::wide, tensors.get(at + "noise_convs.0.bias", kWide),
            [=](int o, int i, int k) { return weight[(long(o) * kBins + i % kBins) * 12 + k * 6 + i / kBins]; });
        source1_ = read_conv(tensors, at + "noise_convs.1", kBins, kThin, 1, 1, Kind::wide);
        post_ = read_conv(tensors, at + "conv_post", kThin, kBins, 7, 1, Kind::wide, 1.0f / 3);
    }

    void norms(std::vector<Norm*>& all) {
        for (auto& block : blocks_) block.norms(all);
        for (auto& block : noise_) block.norms(all);
    }

    // features [frames, 512]; spectrum: 60 * frames + 1 rows of 22, with kBefore and kBehind rows of zeros around them
    // -> 60 * frames + 1 rows of log magnitudes and angles, kPostStride apart.
    Rows<float> run(Pool& pool, Rows<float> features, const float* spectrum) {
        const int frames = features.count, wide = frames * kRate0, thin = wide * kRate1 + 1;
        const size_t need = size_t(thin) * kThin;  // the second stage has the larger rows x channels
        auto rows = [&](Working<float>& buffer, int count, int width) {
            return Rows<float>{buffer.get(need + kThin), count, width, width};
        };
        Statistics seen;
        {
            Rows<float> excitation = rows(a_, wide, kWide), x = rows(b_, wide, kWide), sum = rows(c_, wide, kWide);
            Rows<T> inner{inner_.get(need + kThin), wide, kWide, kWide};
            Rows<float> grouped{const_cast<float*>(spectrum) + (kBefore - 3) * kBins, wide + 1, 6 * kBins, 6 * kBins};
            run_conv(pool, source0_, grouped, Inward{}, Outward<float>{excitation}, &seen);
            noise_[0].run(pool, excitation, seen, excitation, inner, excitation, false);
            up0_->run(pool, features, leaky(0.1f), x, excitation);
            stage(pool, 0, x, excitation, inner, sum);
        }
        {
            // c holds the first stage's sum until it is upsampled
            Rows<float> before = rows(c_, wide, kWide);
            Rows<float> excitation = rows(a_, thin, kThin), x = rows(b_, thin, kThin);
            Rows<T> inner{inner_.get(need + kThin), thin, kThin, kThin};
            Rows<float> single{const_cast<float*>(spectrum) + kBefore * kBins, thin, kBins, kBins};
            run_conv(pool, source1_, single, Inward{}, Outward<float>{excitation}, &seen);
            noise_[1].run(pool, excitation, seen, excitation, inner, excitation, false);
            // one frame more than hops: the upsampled rows begin at row 1, row 0 mirrors what stands behind row 1
            auto behind = [](Rows<float> r) { return Rows<float>{r.data + r.stride, r.count - 1, r.width, r.stride}; };
            up1_->run(pool, before, leaky(0.1f), behind(x), behind(excitation));
            for (int c = 0; c < kThin; ++c) x.row(0)[c] = x.row(2)[c] - excitation.row(2)[c] + excitation.row(0)[c];
            Rows<float> sum = rows(c_, thin, kThin);
            stage(pool, 1, x, excitation, inner, sum);
            Rows<float> post{post_rows_.get(size_t(thin) * kPostStride), thin, kPostStride, kPostStride};
            pool.between();
            run_conv(pool, post_, sum, leaky(0.01f), Outward<float>{post});
            return post;
        }
    }

    template <class Do>
    void working(Do each) {
        for (auto* buffer : {&a_, &b_, &c_, &post_rows_}) each(*buffer);
        each(inner_);
    }

private:
    static Inward leaky(float slope) {
        Inward how;
        how.slope = slope, how.act = Act::leaky;
        return how;
    }

    // Three blocks of x, summed; `running` is free for their residual streams.
    void stage(Pool& pool, int number, Rows<float> x, Rows<float> running, Rows<T> inner, Rows<float> sum) {
        Statistics seen = measure(pool, x);
        for (int j = 0; j < 3; ++j) blocks_[number * 3 + j].run(pool, x, seen, running, inner, sum, j > 0);
    }

    std::unique_ptr<Upsample> up0_, up1_;
    std::vector<SnakeBlock<T>> blocks_, noise_;
    Conv source0_, source1_, post_;
    Working<float> a_, b_, c_, post_rows_;
    Working<T> inner_;
};
