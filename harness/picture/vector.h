/* Vectors of three floats, for pictures. */
#ifndef PBD_PICTURE_VECTOR_H
#define PBD_PICTURE_VECTOR_H

#include <math.h>
#include <stdbool.h>

typedef struct vector {
    float x, y, z;
} vector;

static inline vector sum(vector a, vector b) { return (vector){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vector difference(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vector scaled(vector a, float s) { return (vector){a.x * s, a.y * s, a.z * s}; }
static inline float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vector cross(vector a, vector b) {
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline vector unit(vector a) {
    const float square = dot(a, a);
    return square > 0 ? scaled(a, 1 / sqrtf(square)) : a;
}
static inline vector vector_of(const double *x) { return (vector){(float)x[0], (float)x[1], (float)x[2]}; }
static inline bool is_finite(vector a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static inline float clamped(float x, float low, float high) { return x < low ? low : x > high ? high : x; }
static inline float larger(float a, float b) { return a > b ? a : b; }
static inline float smaller(float a, float b) { return a < b ? a : b; }

/* Twice the area of (a, b, p) in x and y. */
static inline float turn(vector a, vector b, float x, float y) {
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}
/* The first and the last sample whose middle lies in [low, high], clamped to the buffer. */
static inline int first_sample(float low) { return (int)clamped(ceilf(low - 0.5f), 0, 1e6f); }
static inline int last_sample(float high, int count) {
    return (int)clamped(floorf(high - 0.5f), -1, (float)(count - 1));
}

#endif
