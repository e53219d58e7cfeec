// How long each phoneme lasts, the curves of pitch and energy, and the phonemes' acoustic content. Never narrow:
// durations are rounded and pitch is summed up to phases, so small errors would not stay small.
#pragma once
#include "block.h"
#include "layers.h"

class TextEncoder {
public:
    static constexpr int kWidth = 512, kDepth = 3;

    TextEncoder(const Tensors& tensors, int tokens, Kind kind) : lstm_(tensors, "text_encoder.lstm", kWidth, kind) {
        const float* table = tensors.get("text_encoder.embedding.weight", long(tokens) * kWidth);
        table_.assign(table, table + long(tokens) * kWidth);
        for (int i = 0; i < kDepth; ++i) {
            const std::string at = "text_encoder.cnn." + std::to_string(i);
            convs_.push_back(read_conv(tensors, at + ".0", kWidth, kWidth, 5, 1, kind));
            const float* gain = tensors.get(at + ".1.gamma", kWidth);
            const float* shift = tensors.get(at + ".1.beta", kWidth);
            gain_[i].assign(gain, gain + kWidth), shift_[i].assign(shift, shift + kWidth);
        }
    }

    // ids [count] -> out [count, 512]
    void run(Pool& pool, const int64_t* ids, int count, Rows<float> out) {
        Rows<float> x{a_.get(size_t(count) * kWidth), count, kWidth, kWidth},
            y{b_.get(size_t(count) * kWidth), count, kWidth, kWidth};
        for (int t = 0; t < count; ++t) std::memcpy(x.row(t), table_.data() + ids[t] * kWidth, sizeof(float) * kWidth);
        Inward how;
        for (int i = 0; i < kDepth; ++i) {
            run_conv(pool, convs_[i], x, how, Outward<float>{y});
            each_row(pool, count,
                     [&](int t) { layer_norm(y.row(t), kWidth, gain_[i].data(), shift_[i].data(), 1e-5); });
            std::swap(x, y);
            how.act = Act::leaky, how.slope = 0.2f;  // applied by whoever reads next
        }
        each_row(pool, count, [&](int t) { activate(x, how, t, 1, y.row(t), kWidth); });
        lstm_.run(pool, y, out);
    }

    template <class Do>
    void working(Do each) {
        each(a_), each(b_), lstm_.working(each);
    }

private:
    std::vector<float> table_, gain_[kDepth], shift_[kDepth];
    std::vector<Conv> convs_;
    Lstm lstm_;
    Working<float> a_, b_;
};

class Prosody {
public:
    static constexpr int kWidth = 512, kStyle = Norm::kStyle, kShown = kWidth + kStyle, kLayers = 3, kVotes = 50;

    Prosody(const Tensors& tensors, Kind kind)
        : lstm_(tensors, "predictor.lstm", kShown, kind), shared_(tensors, "predictor.shared", kShown, kind) {
        const std::string at = "predictor.text_encoder.lstms.";
        for (int i = 0; i < kLayers; ++i) {
            layers_.push_back(std::make_unique<Lstm>(tensors, at + std::to_string(2 * i), kShown, kind));
            adaptive_.emplace_back(tensors, at + std::to_string(2 * i + 1), kWidth);
        }
        votes_ = read_linear(tensors, {"predictor.duration_proj.linear_layer"}, kWidth, kVotes, kind);
        for (int curve = 0; curve < 2; ++curve) {
            const std::string name = curve == 0 ? "predictor.F0" : "predictor.N";
            blocks_[curve].push_back(std::make_unique<AdainBlock>(tensors, name + ".0", kWidth, kWidth, false, kind));
            blocks_[curve].push_back(
                std::make_unique<AdainBlock>(tensors, name + ".1", kWidth, kWidth / 2, true, kind));
            blocks_[curve].push_back(
                std::make_unique<AdainBlock>(tensors, name + ".2", kWidth / 2, kWidth / 2, false, kind));
            const float* weight = tensors.get(name + "_proj.weight", kWidth / 2);
            project_[curve].assign(weight, weight + kWidth / 2);
            project_[curve].push_back(*tensors.get(name + "_proj.bias", 1));
        }
    }

    void norms(std::vector<Norm*>& all) {
        for (auto& norm : adaptive_) all.push_back(&norm);
        for (auto& curve : blocks_)
            for (auto& block : curve) block->norms(all);
    }

    // x [count, 640], of which 512 are filled: the text as ALBERT sees it. Encodes it in place; style [128].
    void encode(Pool& pool, Rows<float> x, const float* style) {
        for (int t = 0; t < x.count; ++t) std::memcpy(x.row(t) + kWidth, style, sizeof(float) * kStyle);
        Rows<float> y{a_.get(size_t(x.count) * kWidth), x.count, kWidth, kWidth};
        for (int i = 0; i < kLayers; ++i) {
            layers_[i]->run(pool, x, y);
            std::vector<float> gain(kWidth);
            for (int c = 0; c < kWidth; ++c) gain[c] = 1 + adaptive_[i].gamma[c];
            each_row(pool, x.count, [&](int t) {
                std::memcpy(x.row(t), y.row(t), sizeof(float) * kWidth);
                layer_norm(x.row(t), kWidth, gain.data(), adaptive_[i].beta.data(), 1e-5);
            });
        }
    }

    // encoded [count, 640] -> frames of 25 ms for each row; returns their sum
    int durations(Pool& pool, Rows<float> encoded, float speed, int64_t* frames) {
        Rows<float> y{a_.get(size_t(encoded.count) * kWidth), encoded.count, kWidth, kWidth};
        lstm_.run(pool, encoded, y);
        Rows<float> votes{b_.get(size_t(encoded.count) * 64), encoded.count, 64, 64};
        run_conv(pool, votes_, y, Inward{}, Outward<float>{votes});
        int sum = 0;
        for (int t = 0; t < encoded.count; ++t) {
            double length = 0;
            for (int v = 0; v < kVotes; ++v) length += 1 / (1 + std::exp(-double(votes.row(t)[v])));
            frames[t] = std::max<int64_t>(1, int64_t(std::nearbyint(float(length) / speed)));
            sum += int(frames[t]);
        }
        return sum;
    }

    // aligned [frames, 640] -> pitch and energy, each [2 * frames]
    void curves(Pool& pool, Rows<float> aligned, float* pitch, float* energy) {
        const int n = aligned.count;
        Rows<float> common{a_.get(size_t(n) * kWidth), n, kWidth, kWidth};
        shared_.run(pool, aligned, common);
        Rows<float> x{b_.get(size_t(n) * kWidth), n, kWidth, kWidth};
        Rows<float> y{c_.get(size_t(n) * kWidth), 2 * n, kWidth / 2, kWidth / 2};
        Rows<float> z{b_.get(size_t(n) * kWidth), 2 * n, kWidth / 2, kWidth / 2};
        for (int curve = 0; curve < 2; ++curve) {
            auto& blocks = blocks_[curve];
            blocks[0]->run(pool, common, x);
            blocks[1]->run(pool, x, y);
            blocks[2]->run(pool, y, z);
            float* to = curve == 0 ? pitch : energy;
            const float* weight = project_[curve].data();
            for (int t = 0; t < 2 * n; ++t) {
                vf sum = {};
                for (int c = 0; c < kWidth / 2; c += W) sum += load(z.row(t) + c) * load(weight + c);
                to[t] = total(sum) + weight[kWidth / 2];
            }
        }
    }

    template <class Do>
    void working(Do each) {
        for (auto* buffer : {&a_, &b_, &c_}) each(*buffer);
        for (auto& layer : layers_) layer->working(each);
        lstm_.working(each), shared_.working(each);
        for (auto& curve : blocks_)
            for (auto& block : curve) block->working(each);
    }

private:
    std::vector<std::unique_ptr<Lstm>> layers_;
    std::vector<Norm> adaptive_;
    Lstm lstm_, shared_;
    Conv votes_;
    std::vector<std::unique_ptr<AdainBlock>> blocks_[2];
    std::vector<float> project_[2];
    Working<float> a_, b_, c_;
};
