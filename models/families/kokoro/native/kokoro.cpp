// Kokoro's network for the CPU, behind a C interface. A handle owns its weights, its threads and its working memory; it
// serves one caller at a time: kokoro_plan, then kokoro_speak for what was planned.
#include "albert.h"
#include "decoder.h"
#include "generator.h"
#include "prosody.h"
#include "signal.h"

#include <new>
#include <sys/mman.h>

void* take_pages(size_t bytes) {
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    madvise(data, bytes, MADV_HUGEPAGE);
#endif
    return data;
}

void give_pages(void* data, size_t bytes) { munmap(data, bytes); }

#if HAVE_AMX
#include <sys/syscall.h>
#include <unistd.h>

bool amx_allowed() {
    static const bool allowed = [] {
        constexpr int kRequestPermission = 0x1023, kTileData = 18;
        return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
    }();
    return allowed;
}
#else
bool amx_allowed() { return false; }
#endif

namespace {

struct Engine {
    virtual ~Engine() = default;
    virtual int plan(const int64_t* ids, int count, const float* style, float speed, int64_t* frames) = 0;
    virtual void speak(const float* noise, float* samples) = 0;
    virtual void drop() = 0;
    virtual size_t bytes() const = 0;
};

// T: the generator's activations. careful: how all that decides durations and pitch is computed.
template <class T>
struct Network : Engine {
    static constexpr int kStyle = Norm::kStyle;
    Pool pool;
    Albert albert;
    Prosody prosody;
    TextEncoder text;
    Features features;
    Signal signal;
    Generator<T> generator;
    std::vector<Norm*> manner, timbre;  // led by the style's second and first half
    Aligned<float> encoded, aligned, content, curves, shown, spectrum;
    std::vector<int64_t> ids, frames;
    float style[2 * kStyle] = {};
    int total = 0;

    Network(const Tensors& tensors, int tokens, int threads, Kind careful)
        : pool(threads),
          albert(tensors, tokens, careful),
          prosody(tensors, careful),
          text(tensors, tokens, careful),
          features(tensors, sizeof(T) == sizeof(bf16) ? Kind::narrow : Kind::wide),
          signal(tensors),
          generator(tensors) {
        prosody.norms(manner);
        features.norms(timbre);
        generator.norms(timbre);
    }

    void lead(std::vector<Norm*>& norms, const float* half) {
        pool.run(int(norms.size()), [&](int i) { norms[i]->set_style(half); });
    }

    int plan(const int64_t* wanted, int count, const float* row, float speed, int64_t* lengths) override {
        if (!std::equal(row, row + 2 * kStyle, style) || frames.empty()) {
            std::copy_n(row, 2 * kStyle, style);
            lead(timbre, style);
            lead(manner, style + kStyle);
        }
        ids.assign(wanted, wanted + count);
        frames.resize(count);
        constexpr int kShown = Prosody::kShown;
        Rows<float> text_rows{encoded.get(size_t(count) * kShown), count, kShown, kShown};
        albert.run(pool, ids.data(), count, text_rows);
        prosody.encode(pool, text_rows, style + kStyle);
        total = prosody.durations(pool, text_rows, speed, frames.data());
        std::copy(frames.begin(), frames.end(), lengths);
        return total;
    }

    void speak(const float* noise, float* samples) override {
        using G = Generator<T>;
        const int count = int(ids.size()), n = total;
        constexpr int kShown = Prosody::kShown, kWidth = Prosody::kWidth;
        Rows<float> spread{aligned.get(size_t(n) * kShown), n, kShown, kShown};
        long row = 0;
        for (int t = 0; t < count; ++t)
            for (int64_t f = 0; f < frames[t]; ++f, ++row)
                std::memcpy(spread.row(row), encoded.get(0) + size_t(t) * kShown, sizeof(float) * kShown);
        float *pitch = curves.get(size_t(4) * n), *energy = pitch + 2 * n;
        prosody.curves(pool, spread, pitch, energy);
        Rows<float> said{content.get(size_t(count) * kWidth), count, kWidth, kWidth};
        text.run(pool, ids.data(), count, said);
        Rows<float> in{shown.get(size_t(2) * n * G::kIn), 2 * n, G::kIn, G::kIn};
        features.run(pool, said, frames.data(), n, pitch, energy, in);

        const size_t rows = size_t(n) * 120 + 1;
        float* bins = spectrum.get((rows + G::kBefore + G::kBehind) * G::kBins);
        std::fill(bins, bins + G::kBefore * G::kBins, 0.0f);
        std::fill(bins + (G::kBefore + rows) * G::kBins, bins + (G::kBefore + rows + G::kBehind) * G::kBins, 0.0f);
        signal.spectrum(pool, pitch, noise, 2 * n, bins + G::kBefore * G::kBins);
        signal.waveform(pool, generator.run(pool, in, bins), samples);
    }

    void drop() override {
        albert.drop(), prosody.drop(), text.drop(), features.drop(), signal.drop(), generator.drop();
        for (auto* buffer : {&encoded, &aligned, &content, &curves, &shown, &spectrum}) buffer->drop();
    }

    size_t bytes() const override {
        size_t sum =
            albert.bytes() + prosody.bytes() + text.bytes() + features.bytes() + signal.bytes() + generator.bytes();
        for (auto* buffer : {&encoded, &aligned, &content, &curves, &shown, &spectrum}) sum += buffer->bytes();
        return sum;
    }
};

struct Handle {
    Tensors tensors;
    std::unique_ptr<Engine> engine;
    std::string error;
};

Engine& engine(void* handle) { return *static_cast<Handle*>(handle)->engine; }

}  // namespace

extern "C" {

// 2: AMX, 1: bfloat16 dot products, 0: float only.
int kokoro_narrow_kind() {
    if (HAVE_AMX && amx_allowed()) return 2;
    return HAVE_DOT ? 1 : 0;
}

void* kokoro_new() { return new Handle; }

void kokoro_free(void* handle) { delete static_cast<Handle*>(handle); }

// The numbers are read by kokoro_build and not kept.
void kokoro_tensor(void* handle, const char* name, const float* data, long count) {
    static_cast<Handle*>(handle)->tensors.all[name] = {data, count};
}

// narrow: the decoder in bfloat16. Null on success, else what is wrong.
const char* kokoro_build(void* handle, int tokens, int threads, int narrow) {
    auto* self = static_cast<Handle*>(handle);
    const Kind careful = narrow && kokoro_narrow_kind() == 2 ? Kind::split : Kind::wide;
    try {
        if (narrow)
            self->engine = std::make_unique<Network<bf16>>(self->tensors, tokens, threads, careful);
        else
            self->engine = std::make_unique<Network<float>>(self->tensors, tokens, threads, careful);
        self->tensors.all.clear();
        return nullptr;
    } catch (const std::exception& error) {
        self->error = error.what();
        return self->error.c_str();
    }
}

// ids [count], boundaries included; style [256] -> frames of 25 ms for each id; returns their sum, -1 without memory
int kokoro_plan(void* handle, const int64_t* ids, int count, const float* style, float speed, int64_t* frames) {
    try {
        return engine(handle).plan(ids, count, style, speed, frames);
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

// What was planned last: noise and samples are both [sum of frames * 600]; returns 0, or -1 without memory
int kokoro_speak(void* handle, const float* noise, float* samples) {
    try {
        engine(handle).speak(noise, samples);
        return 0;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

void kokoro_drop(void* handle) { engine(handle).drop(); }

long kokoro_bytes(void* handle) { return long(engine(handle).bytes()); }
}
