// As many floats at a time as a register holds, in GCC's and Clang's vector types.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif

typedef float vf __attribute__((vector_size(4 * W)));
typedef float vf16 __attribute__((vector_size(64)));  // where sixteen are needed: slower if a register is narrower
typedef uint32_t vu __attribute__((vector_size(4 * W)));
typedef uint16_t vh __attribute__((vector_size(2 * W)));
using bf16 = uint16_t;

template <class V>
using Mask = decltype(V{} < V{});  // integers of the same width: all ones where a comparison holds

template <class V = vf>
static inline V load(const float* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

template <class V>
static inline void store(float* p, V v) {
    std::memcpy(p, &v, sizeof v);
}

static inline vf splat(float x) { return vf{} + x; }

static inline vf load(const bf16* p) {
    vh h;
    std::memcpy(&h, p, sizeof h);
    vu wide = __builtin_convertvector(h, vu) << 16;
    return (vf)wide;
}

static inline void store(bf16* p, vf v) {  // to nearest even; NaN is not expected here
#if defined(__AVX512BF16__) && defined(__AVX512F__)
    __m256bh h = _mm512_cvtneps_pbh((__m512)v);
    std::memcpy(p, &h, sizeof h);
#else
    vu bits = (vu)v;
    bits += 0x7fff + ((bits >> 16) & 1);
    vh h = __builtin_convertvector(bits >> 16, vh);
    std::memcpy(p, &h, sizeof h);
#endif
}

static inline bf16 narrowed(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return bf16((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static inline float widened(bf16 x) {
    uint32_t bits = uint32_t(x) << 16;
    float wide;
    std::memcpy(&wide, &bits, 4);
    return wide;
}

template <class V>
static inline V select(Mask<V> mask, V yes, V no) {
    return (V)(((Mask<V>)yes & mask) | ((Mask<V>)no & ~mask));
}

template <class V>
static inline V round_even(V x) {
    const float magic = 12582912.0f;  // 1.5 * 2^23: adding it leaves no room for a fraction
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
template <class V>
static inline V sine(V x) {
    V n = round_even(x * 0.318309886183790672f);
    V r = x - n * 3.140625f;
    r = r - n * 9.67653589793e-4f;
    Mask<V> odd = __builtin_convertvector(n, Mask<V>) & 1;
    V q = r * r;
    V p = V{} + 2.6019031e-6f;  // Taylor's, the last terms fitted on [-pi/2, pi/2]
    p = p * q - 1.980741872e-4f;
    p = p * q + 8.333025138e-3f;
    p = p * q - 1.666665668e-1f;
    V s = r + r * q * p;
    return select(odd != 0, -s, s);
}

// cos(x) for |x| <= 1
template <class V>
static inline V small_cosine(V x) {
    V q = x * x;
    V p = V{} + -2.7557e-7f;
    p = p * q + 2.48015873e-5f;
    p = p * q - 1.388888889e-3f;
    p = p * q + 4.166666667e-2f;
    p = p * q - 0.5f;
    return p * q + 1.0f;
}

template <class V>
static inline V exponential(V x) {
    x = select(x > 80.0f, V{} + 80.0f, select(x < -80.0f, V{} - 80.0f, x));
    V n = round_even(x * 1.44269504088896341f);
    V r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    V p = V{} + 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    V e = p * r * r + r + 1.0f;
    return (V)((Mask<V>)e + (__builtin_convertvector(n, Mask<V>) << 23));
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
