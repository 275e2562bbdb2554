/* Logarithm and exponential without branches: gcc 12 vectorises neither logf nor expf.
 *
 * log: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1, s = f/(2 + f), z = s^2:
 *     log m = 2 artanh(s) = f - excess(f),   excess(f) = f - log(1 + f) = s (f - 2 z q(z)),   q(z) = 1/3 + z/5 + ...
 * f is exact and the excess is at most f/5, so rounding of the excess contributes little. exp: x = k log 2 + r,
 *     exp r = 1 + r + r^2 e(r), |r| <= log(2)/2.
 * q and e are interpolants at the Chebyshev points of their ranges, computed with 60 digits. Their truncation errors
 * are below 2e-11 (f32) and 3e-20 (f64) relative to log, 8e-9 and 2e-19 relative to exp. Measured error bounds are in
 * methods/physics/README.md.
 *
 * Special values are those of C: log(0) = -inf, log(< 0) = NaN, exp(-inf) = 0, overflow = inf, NaN propagates.
 * Subnormal arguments are supported. */
#ifndef PBD_BODY
#ifndef PBD_LOG_H
#define PBD_LOG_H

#include "methods/physics/math/scalar.h"

#define PBD_BODY "methods/physics/math/log.h"
#include "methods/physics/math/twice.h"
#endif
#else

#define K(c) ((real)(c))

/* (artanh(s)/s - 1)/z for z = s^2, |s| <= (sqrt 2 - 1)/(sqrt 2 + 1). */
PBD_FN V(real) V(log_series)(V(real) z) {
    if (REAL_IS_FLOAT)
        return K(0.33333333277225824) +
               z * (K(0.20000060938486) + z * (K(0.14275408299855774) + z * K(0.11665290969120946)));
    return K(0.33333333333333331) +
           z * (K(0.2000000000000044) +
                z * (K(0.14285714285401616) +
                     z * (K(0.11111111195900235) +
                          z * (K(0.090908978154423767) +
                               z * (K(0.076931201029067392) +
                                    z * (K(0.066343798342803059) + z * K(0.065433835049740874)))))));
}

/* (exp(r) - 1 - r)/r^2 for |r| <= log(2)/2. */
PBD_FN V(real) V(exp_series)(V(real) r) {
    if (REAL_IS_FLOAT)
        return K(0.5) +
               r * (K(0.16666576989698775) +
                    r * (K(0.041666554617204574) + r * (K(0.0083631790527225781) + r * K(0.0013926183587713494))));
    return K(0.5) +
           r * (K(0.16666666666666671) + r * (K(0.041666666666666671) +
                                              r * (K(0.0083333333333261358) +
                                                   r * (K(0.0013888888888883748) +
                                                        r * (K(0.00019841269874820627) +
                                                             r * (K(2.4801587325547743e-05) +
                                                                  r * (K(2.7557255400206422e-06) +
                                                                       r * (K(2.7557273643110297e-07) +
                                                                            r * (K(2.5105217004720745e-08) +
                                                                                 r * K(2.0914686968086876e-09))))))))));
}

/* log 2 in two parts; the first has few enough bits that its product with k is exact. */
#define LOG2_HIGH (REAL_IS_FLOAT ? K(0.693145751953125) : K(0.69314718036912382))
#define LOG2_LOW (REAL_IS_FLOAT ? K(1.42860682e-06) : K(1.9082149292705877e-10))

typedef struct V(log_parts) {
    V(real) log;    /* log x */
    V(real) excess; /* (x - 1) - log x >= 0, to full relative precision also near x = 1 */
} V(log_parts);

/* log x for x > 0 (else NaN), given d = x - 1 to higher relative accuracy than x itself: near x = 1 only d is used.
 * With d computed without cancellation, energies of tiny strains keep full relative precision. x is normal or zero. */
PBD_FN V(log_parts) V(log_of)(V(real) x, V(real) d) {
    const real_bits one = real_to_bits(K(1)), half_root = real_to_bits(K(0.70710678118654752440));
    const real_bits fraction = ((real_bits)1 << REAL_MANTISSA) - 1;
    /* Converts k to a real without an integer conversion, by placing its bits below the leading bit of a power of
     * two. */
    const real shift = real_from_bits((real_bits)(REAL_BIAS + REAL_MANTISSA) << REAL_MANTISSA);

    V(real_bits) bits = V(real_to_bits)(x) + (one - half_root);
    V(real) k = V(real_from_bits)((bits >> REAL_MANTISSA) | real_to_bits(shift)) - (shift + K(REAL_BIAS));
    V(real) m = V(real_from_bits)((bits & fraction) + half_root);
    V(real) f = V(real_where)(k == 0, d, m - 1);

    V(real) s = f / (2 + f), z = s * s;
    V(real) rest = s * (f - 2 * z * V(log_series)(z));
    V(log_parts) out;
    out.log = k * LOG2_HIGH + (f - (rest - k * LOG2_LOW));
    const V(real) inf = V(real_set)(K(INFINITY)), nan = V(real_set)(K(NAN));
    out.log = V(real_where)(x == 0, -inf, out.log);
    out.log = V(real_where)(x >= 0, V(real_where)(x == inf, inf, out.log), nan);
    out.excess = V(real_where)(k == 0, rest, d - out.log);
    return out;
}

PBD_FN V(real) V(real_log)(V(real) x) {
    const real up = REAL_IS_FLOAT ? K(8388608) : K(4503599627370496);
    const real lost = REAL_IS_FLOAT ? K(15.942385152878742) : K(36.04365338911715); /* log(up) */
    V(real) scaled = V(real_where)(x < REAL_MIN, x * up, x);
    V(real) log = V(log_of)(scaled, scaled - 1).log;
    return V(real_where)(x < REAL_MIN, log - lost, log);
}

PBD_FN V(real) V(real_exp)(V(real) x) {
    const real least = REAL_IS_FLOAT ? K(-104) : K(-746), most = REAL_IS_FLOAT ? K(89) : K(710);
    const real shift =
        REAL_IS_FLOAT ? K(12582912) : K(6755399441055744); /* 3/2 of the smallest real from which all are integers */
    const real_bits one = real_to_bits(K(1));
    x = V(real_where)(x < least, V(real_set)(least),
                      V(real_where)(x > most, V(real_set)(most), x)); /* NaN propagates */
    V(real) k = (x * K(1.4426950408889634) + shift) - shift;
    V(real) r = (x - k * LOG2_HIGH) - k * LOG2_LOW;
    V(real) p = 1 + (r + r * r * V(exp_series)(r));
    /* 2^k as two factors, so that subnormal and overflowing results are correct. */
    V(real) half = k * K(0.5) + shift, other = (k - (half - shift)) + shift;
    V(real) first = V(real_from_bits)((V(real_to_bits)(half) << REAL_MANTISSA) + one);
    V(real) second = V(real_from_bits)((V(real_to_bits)(other) << REAL_MANTISSA) + one);
    return p * first * second;
}

#undef LOG2_HIGH
#undef LOG2_LOW
#undef K
#endif
