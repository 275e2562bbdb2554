#include "harness/picture/render_scene.h"

#include <math.h>
#include <string.h>

#include "harness/picture/vector.h"

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* From light and neutral to dark; lightness (CIE L*) falls evenly from 88 to 22, so that it also reads in grey. */
static const float scale[5][3] = {{0.835f, 0.871f, 0.906f},
                                  {0.937f, 0.671f, 0.431f},
                                  {0.839f, 0.420f, 0.286f},
                                  {0.647f, 0.208f, 0.251f},
                                  {0.376f, 0.063f, 0.208f}};
/* Distinct also to readers with red-green colour blindness (Okabe and Ito 2008); lightened, since shading darkens. */
static const float bodies[6][3] = {{0.45f, 0.70f, 0.90f}, {0.93f, 0.68f, 0.25f}, {0.30f, 0.70f, 0.56f},
                                   {0.86f, 0.58f, 0.74f}, {0.88f, 0.50f, 0.28f}, {0.72f, 0.72f, 0.70f}};

void render_body_colour(uint32_t body, float rgb[3]) { memcpy(rgb, bodies[body % 6], 3 * sizeof *rgb); }

void render_colour(double x, float rgb[3]) {
    const float at = clamped((float)x, 0, 1) * 4;
    const int from = at < 3 ? (int)at : 3;
    for (int c = 0; c < 3; c++) rgb[c] = scale[from][c] + (at - (float)from) * (scale[from + 1][c] - scale[from][c]);
}

/* ---- The camera -------------------------------------------------------------------------------------------------- */

static void cross_double(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}
static void unit_double(double a[3]) {
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int d = 0; d < 3; d++) a[d] /= length;
}

/* 1, 2 or 5 times a power of ten: about a sixth of the length. */
static double grid_for(double length) {
    const double rough = length / 6, ten = pow(10, floor(log10(rough)));
    return rough / ten < 1.5 ? ten : rough / ten < 3.5 ? 2 * ten : rough / ten < 7.5 ? 5 * ten : 10 * ten;
}

render_camera render_look_at(const double low[3], const double high[3], double *aspect) {
    static const double MARGIN = 1.06;
    render_camera c = {.towards = {0.38, -1, 0.42}, .has_ground = true, .ground = low[2]};
    const double z[3] = {0, 0, 1};
    if (high[0] - low[0] < 0.5 * (high[1] - low[1]))
        c.towards[0] = 1, c.towards[1] = -0.38; /* a sheet, from its face */
    double size = 0, diagonal = 0;
    unit_double(c.towards);
    cross_double(z, c.towards, c.right);
    unit_double(c.right);
    cross_double(c.towards, c.right, c.up);
    for (int d = 0; d < 3; d++) {
        const double half = 0.5 * (high[d] - low[d]);
        c.centre[d] = 0.5 * (low[d] + high[d]);
        c.half_width += MARGIN * fabs(c.right[d]) * half;
        c.half_height += MARGIN * fabs(c.up[d]) * half;
        size = fmax(size, 2 * half);
        if (d < 2) diagonal += half * half;
    }
    if (!(size > 0)) size = c.half_width = c.half_height = 1; /* a point, or no finite position */
    *aspect = fmin(fmax(c.half_height / c.half_width, 0.5), 1);
    if (c.half_height < *aspect * c.half_width)
        c.half_height = *aspect * c.half_width;
    else
        c.half_width = c.half_height / *aspect;
    c.grid = grid_for(size);
    c.ground_centre[0] = c.centre[0], c.ground_centre[1] = c.centre[1];
    c.ground_radius = 1.15 * sqrt(diagonal) + 0.1 * size;
    return c;
}
