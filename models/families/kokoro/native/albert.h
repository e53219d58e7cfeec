// ALBERT: one transformer layer run twelve times.
#pragma once
#include "layers.h"

class Albert {
public:
    static constexpr int kEmbedding = 128, kWidth = 768, kHeads = 12, kHead = kWidth / kHeads, kInner = 2048;
    static constexpr int kRepeats = 12, kPositions = 512;
    static constexpr double kEpsilon = 1e-12;

    Albert(const Tensors& tensors, int tokens, Kind kind) {
        const std::string at = "bert.embeddings.", layer = "bert.encoder.albert_layer_groups.0.albert_layers.0.";
        auto keep = [&](std::vector<float>& to, const std::string& name, long count) {
            const float* p = tensors.get(name, count);
            to.assign(p, p + count);
        };
        keep(words_, at + "word_embeddings.weight", long(tokens) * kEmbedding);
        keep(positions_, at + "position_embeddings.weight", long(kPositions) * kEmbedding);
        const float* type = tensors.get(at + "token_type_embeddings.weight", 2L * kEmbedding);
        for (int i = 0; i < kPositions * kEmbedding; ++i) positions_[i] += type[i % kEmbedding];
        keep(gain_[0], at + "LayerNorm.weight", kEmbedding), keep(shift_[0], at + "LayerNorm.bias", kEmbedding);
        keep(gain_[1], layer + "attention.LayerNorm.weight", kWidth),
            keep(shift_[1], layer + "attention.LayerNorm.bias", kWidth);
        keep(gain_[2], layer + "full_layer_layer_norm.weight", kWidth),
            keep(shift_[2], layer + "full_layer_layer_norm.bias", kWidth);
        enter_ = read_linear(tensors, {"bert.encoder.embedding_hidden_mapping_in"}, kEmbedding, kWidth, kind);
        const std::string a = layer + "attention.";
        look_ = read_linear(tensors, {a + "query", a + "key", a + "value"}, kWidth, kWidth, kind);
        dense_ = read_linear(tensors, {a + "dense"}, kWidth, kWidth, kind);
        inner_ = read_linear(tensors, {layer + "ffn"}, kWidth, kInner, kind);
        outer_ = read_linear(tensors, {layer + "ffn_output"}, kInner, kWidth, kind);
        leave_ = read_linear(tensors, {"bert_encoder"}, kWidth, kOut, kind);
    }

    static constexpr int kOut = 512;

    // ids [count] -> out [count, 512]
    void run(Pool& pool, const int64_t* ids, int count, Rows<float> out) {
        auto rows = [&](Working<float>& buffer, int width) {
            return Rows<float>{buffer.get(size_t(count) * width), count, width, width};
        };
        Rows<float> x = rows(x_, kWidth), looks = rows(wide_, 3 * kWidth), mixed = rows(mixed_, kWidth);
        Rows<float> embedded = rows(mixed_, kEmbedding);
        each_row(pool, count, [&](int t) {
            const float *word = words_.data() + ids[t] * kEmbedding, *position = positions_.data() + t * kEmbedding;
            for (int c = 0; c < kEmbedding; c += W) store(embedded.row(t) + c, load(word + c) + load(position + c));
            layer_norm(embedded.row(t), kEmbedding, gain_[0].data(), shift_[0].data(), kEpsilon);
        });
        run_conv(pool, enter_, embedded, Inward{}, Outward<float>{x});
        Inward through_gelu;
        through_gelu.act = Act::gelu;
        for (int repeat = 0; repeat < kRepeats; ++repeat) {
            pool.between();
            run_conv(pool, look_, x, Inward{}, Outward<float>{looks});
            pool.run(kHeads, [&](int head) { attend(looks, head, mixed); });
            run_conv(pool, dense_, mixed, Inward{}, Outward<float>{x, x});
            each_row(pool, count,
                     [&](int t) { layer_norm(x.row(t), kWidth, gain_[1].data(), shift_[1].data(), kEpsilon); });
            Rows<float> inner = rows(wide_, kInner);
            run_conv(pool, inner_, x, Inward{}, Outward<float>{inner});
            run_conv(pool, outer_, inner, through_gelu, Outward<float>{x, x});
            each_row(pool, count,
                     [&](int t) { layer_norm(x.row(t), kWidth, gain_[2].data(), shift_[2].data(), kEpsilon); });
        }
        run_conv(pool, leave_, x, Inward{}, Outward<float>{out});
    }

    template <class Do>
    void working(Do each) {
        for (auto* buffer : {&x_, &wide_, &mixed_}) each(*buffer);
    }

private:
    void attend(Rows<float> looks, int head, Rows<float> mixed) const {
        static thread_local Aligned<float> memory;
        const int count = looks.count, padded = up(count, W);
        float* keys = memory.get(size_t(kHead + 1) * padded);  // [kHead][padded], then one row of scores
        float* scores = keys + size_t(kHead) * padded;
        for (int d = 0; d < kHead; ++d)
            for (int t = 0; t < padded; ++t)
                keys[size_t(d) * padded + t] = t < count ? looks.row(t)[kWidth + head * kHead + d] : 0.0f;
        const float scale = 1.0f / std::sqrt(float(kHead));
        for (int t = 0; t < count; ++t) {
            const float* query = looks.row(t) + head * kHead;
            float highest = -1e30f;
            for (int j = 0; j < padded; j += W) {
                vf sum = {};
                for (int d = 0; d < kHead; ++d) sum += query[d] * load(keys + size_t(d) * padded + j);
                sum *= scale;
                store(scores + j, sum);
                for (int l = 0; l < W && j + l < count; ++l) highest = std::max(highest, sum[l]);
            }
            float weight = 0;
            for (int j = 0; j < padded; j += W) store(scores + j, exponential(load(scores + j) - highest));
            for (int j = 0; j < count; ++j) weight += scores[j];
            vf out[kHead / W] = {};
            for (int j = 0; j < count; ++j) {
                const float* value = looks.row(j) + 2 * kWidth + head * kHead;
                for (int v = 0; v < kHead / W; ++v) out[v] += scores[j] * load(value + v * W);
            }
            for (int v = 0; v < kHead / W; ++v) store(mixed.row(t) + head * kHead + v * W, out[v] / weight);
        }
    }

    std::vector<float> words_, positions_, gain_[3], shift_[3];
    Conv enter_, look_, dense_, inner_, outer_, leave_;
    Working<float> x_, wide_, mixed_;
};
