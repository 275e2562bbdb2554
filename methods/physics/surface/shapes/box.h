/* |x|, |y|, |z| <= half. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(BOX, box)
#elif defined(V)

PBD_FN V(collider_gap) V(box_gap)(const real half[3], V(vec3) x) {
    return V(gap_of_faces)(
        V(vec3_make)(V(real_abs)(x.x) - half[0], V(real_abs)(x.y) - half[1], V(real_abs)(x.z) - half[2]),
        V(vec3_make)(V(real_sign)(x.x), V(real_sign)(x.y), V(real_sign)(x.z)));
}

#else

static void box_extent(const collider_solid *s, double extent[3]) { memcpy(extent, s->half, 3 * sizeof *extent); }

static pbd_status box_outline(const collider_solid *s, const collider_pen *pen) {
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 4; side++) {
            double from[3], to[3];
            from[d] = -s->half[d];
            from[(d + 1) % 3] = side % 2 ? s->half[(d + 1) % 3] : -s->half[(d + 1) % 3];
            from[(d + 2) % 3] = side / 2 ? s->half[(d + 2) % 3] : -s->half[(d + 2) % 3];
            memcpy(to, from, sizeof to);
            to[d] = s->half[d];
            PBD_TRY(pen->line(pen->to, from, to));
        }
    return pbd_ok();
}

static const collider_shape box_shape = {.name = "box",
                                         .size = {{"half-width along x", 0, ABOVE_0},
                                                  {"half-width along y", 1, ABOVE_0},
                                                  {"half-width along z", 2, ABOVE_0}},
                                         .extent = box_extent,
                                         .outline = box_outline};
#endif
