// Sixteen floats at a time in GCC's and Clang's vector types: the compiler splits them where registers are narrower.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint32_t vu __attribute__((vector_size(64)));
typedef uint16_t vh __attribute__((vector_size(32)));
using bf16 = uint16_t;
constexpr int W = 16;

static inline vf splat(float x) { return vf{} + x; }

static inline vf load(const float* p) {
    vf v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(float* p, vf v) { std::memcpy(p, &v, sizeof v); }

static inline vf load(const bf16* p) {
    vh h;
    std::memcpy(&h, p, sizeof h);
    vu wide = __builtin_convertvector(h, vu) << 16;
    return (vf)wide;
}

static inline void store(bf16* p, vf v) {  // to nearest even; NaN is not expected here
#if defined(__AVX512BF16__)
    __m256bh h = _mm512_cvtneps_pbh((__m512)v);
    std::memcpy(p, &h, sizeof h);
#else
    vu bits = (vu)v;
    bits += 0x7fff + ((bits >> 16) & 1);
    vh h = __builtin_convertvector(bits >> 16, vh);
    std::memcpy(p, &h, sizeof h);
#endif
}

// what is left of x in bfloat16
static inline float rounded(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
    std::memcpy(&x, &bits, 4);
    return x;
}

static inline vf select(vi mask, vf yes, vf no) { return (vf)(((vi)yes & mask) | ((vi)no & ~mask)); }

static inline vf round_even(vf x) {
    const vf magic = splat(12582912.0f);  // 1.5 * 2^23: adding it leaves no room for a fraction
    return (x + magic) - magic;
}

// sin(x)^2, absolute error below 1e-6 for |x| < 1e4: even and of period pi, so a polynomial in the square of the
// distance to the nearest multiple of pi.
static inline vf sin_squared(vf x) {
    vf n = round_even(x * 0.318309886183790672f);
    vf r = x - n * 3.140625f;
    r = r - n * 9.67653589793e-4f;
    vf q = r * r;
    vf p = splat(-3.631023255e-6f);  // fitted on [0, pi^2 / 4]
    p = p * q + 1.393492966e-4f;
    p = p * q - 3.172398931e-3f;
    p = p * q + 4.444317860e-2f;
    p = p * q - 3.333330668e-1f;
    p = p * q + 9.999999909e-1f;
    return q * p;
}

// sin(x), absolute error below 1e-6 for |x| < 1e4
static inline vf sine(vf x) {
    vf n = round_even(x * 0.318309886183790672f);
    vf r = x - n * 3.140625f;
    r = r - n * 9.67653589793e-4f;
    vi odd = __builtin_convertvector(n, vi) & 1;
    vf q = r * r;
    vf p = splat(2.6019031e-6f);  // Taylor's, the last terms fitted on [-pi/2, pi/2]
    p = p * q - 1.980741872e-4f;
    p = p * q + 8.333025138e-3f;
    p = p * q - 1.666665668e-1f;
    vf s = r + r * q * p;
    return select(odd != 0, -s, s);
}

// cos(x) for |x| <= 1
static inline vf small_cosine(vf x) {
    vf q = x * x;
    vf p = splat(-2.7557e-7f);
    p = p * q + 2.48015873e-5f;
    p = p * q - 1.388888889e-3f;
    p = p * q + 4.166666667e-2f;
    p = p * q - 0.5f;
    return p * q + 1.0f;
}

static inline vf exponential(vf x) {
    x = select(x > 80.0f, splat(80.0f), select(x < -80.0f, splat(-80.0f), x));
    vf n = round_even(x * 1.44269504088896341f);
    vf r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    vf p = splat(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    vf e = p * r * r + r + 1.0f;
    return (vf)((vi)e + (__builtin_convertvector(n, vi) << 23));
}

static inline vf sigmoid(vf x) { return 1.0f / (1.0f + exponential(-x)); }

static inline vf hyperbolic_tangent(vf x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }

// Hendrycks & Gimpel's tanh form: 0.5 x (1 + tanh(u)) is x sigmoid(2 u)
static inline vf gelu(vf x) { return x * sigmoid(1.5957691216057308f * (x + 0.044715f * x * x * x)); }

static inline float total(vf v) {
    float sum = 0;
    for (int j = 0; j < W; ++j) sum += v[j];
    return sum;
}
