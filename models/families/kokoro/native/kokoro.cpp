// Kokoro's network for the CPU, behind a C interface. A handle owns its weights, its threads and its working memory; it
// serves one caller at a time: kokoro_plan, then kokoro_speak for what was planned. Only in a call's `leave` may the same
// thread plan and speak another utterance, whole, before it returns to the first.
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

struct Gap {  // where a call may be left: `leave` is called between two layers whenever *wanted is not 0
    const int32_t* wanted;
    int (*leave)();
};

struct Left {};  // thrown when `leave` returned something else than 0: the call is to end unfinished

struct Engine {
    virtual ~Engine() = default;
    virtual int plan(const int64_t* ids, int count, const float* style, float speed, int64_t* frames, Gap gap) = 0;
    virtual void speak(const float* noise, float* samples, Gap gap) = 0;
    virtual void drop(bool aside_only) = 0;
    virtual size_t bytes() = 0;
};

struct Utterance {  // what was planned
    std::vector<int64_t> ids, frames;
    float style[2 * Norm::kStyle] = {};
    int total = 0;
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
    Working<float> encoded, aligned, content, curves, shown, spectrum;
    Utterance said;
    std::vector<float> led;  // the style that `manner` and `timbre` are led by, empty before the first
    Gap way{nullptr, nullptr};
    bool away = false;  // another utterance is being spoken in the midst of one

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
        pool.between = [this] { give_way(); };
    }

    void lead(std::vector<Norm*>& norms, const float* half) {
        pool.run(int(norms.size()), [&](int i) { norms[i]->set_style(half); });
    }

    void lead_by(const float* style) {
        if (!led.empty() && std::equal(led.begin(), led.end(), style)) return;
        led.assign(style, style + 2 * kStyle);
        lead(timbre, style);
        lead(manner, style + kStyle);
    }

    void give_way() {
        if (away || !__atomic_load_n(way.wanted, __ATOMIC_RELAXED)) return;
        const Gap mine = way;
        Utterance left = std::move(said);  // pointers into its vectors stay good
        away = true;
        working([](auto& buffer) { buffer.turn(); });
        const bool over = mine.leave() != 0;
        working([](auto& buffer) { buffer.turn(); });
        away = false;
        said = std::move(left);
        way = mine;
        lead_by(said.style);
        if (over) throw Left{};
    }

    int plan(const int64_t* wanted, int count, const float* row, float speed, int64_t* lengths, Gap gap) override {
        auto& [ids, frames, style, total] = said;
        way = gap;
        std::copy_n(row, 2 * kStyle, style);
        lead_by(style);
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

    void speak(const float* noise, float* samples, Gap gap) override {
        using G = Generator<T>;
        auto& [ids, frames, style, total] = said;
        way = gap;
        const int count = int(ids.size()), n = total;
        constexpr int kShown = Prosody::kShown, kWidth = Prosody::kWidth;
        Rows<float> spread{aligned.get(size_t(n) * kShown), n, kShown, kShown};
        long row = 0;
        for (int t = 0; t < count; ++t)
            for (int64_t f = 0; f < frames[t]; ++f, ++row)
                std::memcpy(spread.row(row), encoded.get(0) + size_t(t) * kShown, sizeof(float) * kShown);
        float *pitch = curves.get(size_t(4) * n), *energy = pitch + 2 * n;
        prosody.curves(pool, spread, pitch, energy);
        Rows<float> sounds{content.get(size_t(count) * kWidth), count, kWidth, kWidth};
        text.run(pool, ids.data(), count, sounds);
        Rows<float> in{shown.get(size_t(2) * n * G::kIn), 2 * n, G::kIn, G::kIn};
        features.run(pool, sounds, frames.data(), n, pitch, energy, in);

        pool.between();
        const size_t rows = size_t(n) * 120 + 1;
        float* bins = spectrum.get((rows + G::kBefore + G::kBehind) * G::kBins);
        std::fill(bins, bins + G::kBefore * G::kBins, 0.0f);
        std::fill(bins + (G::kBefore + rows) * G::kBins, bins + (G::kBefore + rows + G::kBehind) * G::kBins, 0.0f);
        signal.spectrum(pool, pitch, noise, 2 * n, bins + G::kBefore * G::kBins);
        Rows<float> spoken = generator.run(pool, in, bins);
        pool.between();
        signal.waveform(pool, spoken, samples);
    }

    template <class Do>
    void working(Do each) {
        albert.working(each), prosody.working(each), text.working(each);
        features.working(each), signal.working(each), generator.working(each);
        for (auto* buffer : {&encoded, &aligned, &content, &curves, &shown, &spectrum}) each(*buffer);
    }

    void drop(bool aside_only) override {
        working([&](auto& buffer) {
            if (!aside_only) buffer.drop();
            if (!away) buffer.drop_aside();  // else the utterance that was left lies there
        });
    }

    size_t bytes() override {
        size_t sum = 0;
        working([&](auto& buffer) { sum += buffer.bytes() + (away ? 0 : buffer.bytes_aside()); });
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

// ids [count], boundaries included; style [256] -> frames of 25 ms for each id; returns their sum, -1 without memory,
// -2 when `leave` ended it
int kokoro_plan(void* handle, const int64_t* ids, int count, const float* style, float speed, int64_t* frames,
                const int32_t* wanted, int (*leave)()) {
    try {
        return engine(handle).plan(ids, count, style, speed, frames, {wanted, leave});
    } catch (const std::bad_alloc&) {
        return -1;
    } catch (const Left&) {
        return -2;
    }
}

// What was planned last: noise and samples are both [sum of frames * 600]; returns 0, or what kokoro_plan does
int kokoro_speak(void* handle, const float* noise, float* samples, const int32_t* wanted, int (*leave)()) {
    try {
        engine(handle).speak(noise, samples, {wanted, leave});
        return 0;
    } catch (const std::bad_alloc&) {
        return -1;
    } catch (const Left&) {
        return -2;
    }
}

// aside_only: only what an utterance in the midst of another one used. In `leave` the other's memory is left alone.
void kokoro_drop(void* handle, int aside_only) { engine(handle).drop(aside_only != 0); }

long kokoro_bytes(void* handle) { return long(engine(handle).bytes()); }
}
