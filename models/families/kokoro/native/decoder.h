// From content, pitch and energy to the generator's features.
#pragma once
#include "block.h"

class Features {
public:
    static constexpr int kContent = 512, kWidth = 1024, kReminder = 64, kOut = 512;
    static constexpr int kShown = kWidth + kReminder + 2, kStride = 1120, kEntry = kContent + 2, kEntryStride = 544;

    Features(const Tensors& tensors, Kind kind) : encode_(tensors, "decoder.encode", kEntry, kWidth, false, kind) {
        remind_ = read_conv(tensors, "decoder.asr_res.0", kContent, kReminder, 1, 1, Kind::wide);
        for (int i = 0; i < 4; ++i)
            decode_.push_back(std::make_unique<AdainBlock>(tensors, "decoder.decode." + std::to_string(i), kShown,
                                                           i == 3 ? kOut : kWidth, i == 3, kind));
        for (int curve = 0; curve < 2; ++curve) {
            const std::string name = curve == 0 ? "decoder.F0_conv" : "decoder.N_conv";
            std::copy_n(tensors.get(name + ".weight", 3), 3, halve_[curve]);
            halve_[curve][3] = *tensors.get(name + ".bias", 1);
        }
    }

    void norms(std::vector<Norm*>& all) {
        encode_.norms(all);
        for (auto& block : decode_) block->norms(all);
    }

    // content of phoneme t for frames[t] frames; pitch, energy [2 * n] -> out [2 * n, 512]
    void run(Pool& pool, Rows<float> content, const int64_t* frames, int n, const float* pitch, const float* energy,
             Rows<float> out) {
        Rows<float> entry{entry_.get(size_t(n) * kEntryStride), n, kEntry, kEntryStride};
        Rows<float> x{a_.get(size_t(n) * kStride), n, kShown, kStride},
            y{b_.get(size_t(n) * kStride), n, kShown, kStride};
        long row = 0;
        for (int t = 0; t < content.count; ++t)
            for (int64_t f = 0; f < frames[t]; ++f, ++row)
                std::memcpy(entry.row(row), content.row(t), sizeof(float) * kContent);
        run_conv(pool, remind_, Rows<float>{entry.data, n, kContent, kEntryStride}, Inward{},
                 Outward<float>{Rows<float>{x.data + kWidth, n, kReminder, kStride}});
        for (int t = 0; t < n; ++t) {
            float* tail = x.row(t) + kWidth + kReminder;
            std::fill(tail, x.row(t) + kStride, 0.0f);
            tail[0] = halved(pitch, t, halve_[0]), tail[1] = halved(energy, t, halve_[1]);
            std::fill(entry.row(t) + kContent, entry.row(t) + kEntryStride, 0.0f);
            std::copy_n(tail, 2, entry.row(t) + kContent);
            std::copy_n(x.row(t) + kWidth, kStride - kWidth, y.row(t) + kWidth);
        }
        auto inner = [&](Rows<float> rows) { return Rows<float>{rows.data, n, kWidth, kStride}; };
        encode_.run(pool, entry, inner(x));
        decode_[0]->run(pool, x, inner(y));
        decode_[1]->run(pool, y, inner(x));
        decode_[2]->run(pool, x, inner(y));
        decode_[3]->run(pool, y, out);
    }

    template <class Do>
    void working(Do each) {
        for (auto* buffer : {&a_, &b_, &entry_}) each(*buffer);
        encode_.working(each);
        for (auto& block : decode_) block->working(each);
    }

private:
    static float halved(const float* curve, int t, const float* taps) {  // kernel 3, stride 2
        float sum = taps[3] + taps[1] * curve[2 * t] + taps[2] * curve[2 * t + 1];
        return t > 0 ? sum + taps[0] * curve[2 * t - 1] : sum;
    }

    AdainBlock encode_;
    std::vector<std::unique_ptr<AdainBlock>> decode_;
    Conv remind_;
    float halve_[2][4];
    Working<float> a_, b_, entry_;
};
