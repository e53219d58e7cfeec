// The generator's two ends: the excitation and its spectrum, and the waveform out of log magnitudes and angles.
// All of it in float, phases in double.
#pragma once
#include "network.h"

class Signal {
public:
    static constexpr int kHarmonics = 9, kFrame = 300, kFft = 20, kHop = 5, kBins = kFft / 2 + 1;
    static constexpr int kLanes = 16;  // a row of bins in one vector
    static constexpr float kRate = 24000, kSine = 0.1f, kVoicedNoise = 0.003f, kUnvoicedNoise = kSine / 3, kVoiced = 10;

    explicit Signal(const Tensors& tensors) {
        const float* w = tensors.get("decoder.generator.m_source.l_linear.weight", kHarmonics);
        merge_.assign(w, w + kHarmonics);
        bias_ = *tensors.get("decoder.generator.m_source.l_linear.bias", 1);
        double square = 0;
        for (float x : merge_) square += double(x) * x;
        noise_gain_ = float(std::sqrt(square));
        for (int j = 0; j < kFft; ++j) {
            window_[j] = float(0.5 - 0.5 * std::cos(2 * M_PI * j / kFft));
            for (int k = 0; k < kLanes; ++k) {
                double angle = 2 * M_PI * j * k / kFft, used = k < kBins ? 1 : 0;
                cosine_[j][k] = float(std::cos(angle) * used);
                // the outer bins are real: their imaginary part is not left to rounding
                sine_[j][k] = k % (kFft / 2) == 0 ? 0.0f : float(-std::sin(angle) * used);
            }
        }
        for (int k = 0; k < kBins; ++k)
            for (int j = 0; j < 2 * kLanes; ++j) {
                double angle = 2 * M_PI * j * k / kFft, share = (k % (kFft / 2) == 0 ? 1.0 : 2.0) / kFft;
                double used = j < kFft ? share * window_[j % kFft] : 0.0;
                back_cosine_[k][j] = float(std::cos(angle) * used);
                back_sine_[k][j] = k % (kFft / 2) == 0 ? 0.0f : float(-std::sin(angle) * used);
            }
    }

    // pitch [frames] in Hz and white noise [frames * 300] -> magnitudes and angles [60 * frames + 1][22], at `to`
    void spectrum(Pool& pool, const float* pitch, const float* noise, int frames, float* to) {
        const long samples = long(frames) * kFrame;
        float* padded = samples_.get(samples + kFft + kLanes);
        float* signal = padded + kFft / 2;
        std::vector<double> cycles(size_t(kHarmonics) * frames);
        for (int h = 0; h < kHarmonics; ++h) {
            double at = 0;
            for (int i = 0; i < frames; ++i) {
                float step = pitch[i] * float(h + 1) / kRate;
                at += double(step - std::floor(step)) * kFrame;
                cycles[size_t(h) * frames + i] = at;
            }
        }
        pool.run(frames, [&](int i) { excite(pitch, noise, frames, i, cycles.data(), signal); });
        for (int j = 1; j <= kFft / 2; ++j) {
            signal[-j] = signal[j];
            signal[samples - 1 + j] = signal[samples - 1 - j];
        }
        const int count = int(samples / kHop) + 1, height = 256;
        pool.run((count + height - 1) / height, [&](int block) {
            for (int f = block * height; f < std::min(count, (block + 1) * height); ++f)
                analyse(padded + long(f) * kHop, to + long(f) * 2 * kBins);
        });
    }

    // rows of log magnitudes and angles -> (count - 1) * 5 samples
    void waveform(Pool& pool, Rows<float> rows, float* to) {
        float* pieces = pieces_.get(size_t(rows.count) * 2 * kLanes);
        const int height = 256;
        pool.run((rows.count + height - 1) / height, [&](int block) {
            for (int f = block * height; f < std::min(rows.count, (block + 1) * height); ++f)
                synthesise(rows.row(f), pieces + size_t(f) * 2 * kLanes);
        });
        pool.run((rows.count - 1 + height - 1) / height, [&](int block) {
            for (long hop = block * height; hop < std::min<long>(rows.count - 1, (block + 1) * height); ++hop)
                overlap(pieces, rows.count, hop, to + hop * kHop);
        });
    }

    template <class Do>
    void working(Do each) {
        each(samples_), each(pieces_);
    }

private:
    // One frame's samples: each harmonic's phase is interpolated between the frames' centres.
    void excite(const float* pitch, const float* noise, int frames, int frame, const double* cycles,
                float* signal) const {
        alignas(64) float total[kFrame + W] = {};
        const bool voiced = pitch[frame] > kVoiced;
        for (int h = 0; voiced && h < kHarmonics; ++h) {
            const double* at = cycles + size_t(h) * frames;
            for (int half = 0; half < 2; ++half) {
                const int left = half == 0 ? std::max(frame - 1, 0) : frame,
                          right = half == 0 ? frame : std::min(frame + 1, frames - 1);
                const double base = at[left] - std::floor(at[left]);
                const float step = float(at[right] - at[left]), start = float(base);
                const int n0 = half * kFrame / 2;
                // the position between the two centres; before the first and behind the last the phase stands still
                for (int n = n0; n < n0 + kFrame / 2; n += W) {
                    vf index;
                    for (int j = 0; j < W; ++j) index[j] = float(n + j);
                    vf between = (index + (half == 0 ? 150.5f : -149.5f)) * (1.0f / kFrame);
                    vf phase = start + between * step;
                    phase = phase - round_even(phase);
                    vf value = load(total + n) + sine(phase * 6.283185307179586f) * (merge_[h] * kSine);
                    if (n + W <= n0 + kFrame / 2) {
                        store(total + n, value);
                    } else {
                        for (int j = 0; n + j < n0 + kFrame / 2; ++j) total[n + j] = value[j];
                    }
                }
            }
        }
        const float level = (voiced ? kVoicedNoise : kUnvoicedNoise) * noise_gain_;
        const long first = long(frame) * kFrame;
        for (int n = 0; n < kFrame; ++n) signal[first + n] = std::tanh(total[n] + level * noise[first + n] + bias_);
    }

    void analyse(const float* samples, float* to) const {
        vf16 real = {}, imaginary = {};
        for (int j = 0; j < kFft; ++j) {
            const float x = samples[j] * window_[j];
            real += x * load<vf16>(cosine_[j]);
            imaginary += x * load<vf16>(sine_[j]);
        }
        float both[2][kLanes];
        store(both[0], real);
        store(both[1], imaginary);
        for (int k = 0; k < kBins; ++k) {
            to[k] = std::sqrt(both[0][k] * both[0][k] + both[1][k] * both[1][k]);
            to[kBins + k] = std::atan2(both[1][k], both[0][k]);
        }
    }

    void synthesise(const float* row, float* piece) const {
        float padded[2 * kLanes] = {};
        std::memcpy(padded, row + kBins, sizeof(float) * kBins);
        vf16 magnitude = exponential(load<vf16>(row)), angle = sine(load<vf16>(padded));
        vf16 real = magnitude * small_cosine(angle), imaginary = magnitude * sine(angle);
        vf16 low = {}, high = {};
        for (int k = 0; k < kBins; ++k) {
            low += real[k] * load<vf16>(back_cosine_[k]) + imaginary[k] * load<vf16>(back_sine_[k]);
            high += real[k] * load<vf16>(back_cosine_[k] + kLanes) + imaginary[k] * load<vf16>(back_sine_[k] + kLanes);
        }
        store(piece, low);
        store(piece + kLanes, high);
    }

    // The four pieces over one hop, divided by the sum of their squared windows.
    void overlap(const float* pieces, int count, long hop, float* to) const {
        for (int j = 0; j < kHop; ++j) {
            float sum = 0, weight = 0;
            const long at = hop * kHop + j + kFft / 2;
            for (long f = at / kHop - 3; f <= at / kHop; ++f) {
                if (f < 0 || f >= count) continue;
                const int offset = int(at - f * kHop);
                sum += pieces[f * 2 * kLanes + offset];
                weight += window_[offset] * window_[offset];
            }
            to[j] = sum / weight;
        }
    }

    std::vector<float> merge_;
    float bias_ = 0, noise_gain_ = 0;
    alignas(64) float window_[kFft], cosine_[kFft][kLanes], sine_[kFft][kLanes];
    alignas(64) float back_cosine_[kBins][2 * kLanes], back_sine_[kBins][2 * kLanes];
    Working<float> samples_, pieces_;
};
