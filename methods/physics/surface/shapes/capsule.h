/* Radius half[0] about the segment |z| <= half[2] of the z axis. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(CAPSULE, capsule)
#elif defined(V)

PBD_FN V(collider_gap) V(capsule_gap)(const real half[3], V(vec3) x) {
    const V(real) end = V(real_set)(half[2]), along = V(real_max)(-end, V(real_min)(x.z, end));
    return V(gap_from_middle)(V(vec3_make)(x.x, x.y, x.z - along), half[0], vec3_make(1, 0, 0));
}

#else

static void capsule_extent(const collider_solid *s, double extent[3]) {
    extent[0] = extent[1] = s->half[0];
    extent[2] = s->half[2] + s->half[0];
}

/* A cylinder, and half circles at both ends. */
static pbd_status capsule_outline(const collider_solid *s, const collider_pen *pen) {
    for (int end = -1; end <= 1; end += 2) {
        const double middle[3] = {0, 0, end * s->half[2]};
        PBD_TRY(draw_arc(pen, 0, middle, s->half[0], end > 0 ? 0 : 0.5, 0.5));      /* about x, from y */
        PBD_TRY(draw_arc(pen, 1, middle, s->half[0], end > 0 ? -0.25 : 0.25, 0.5)); /* about y, from z */
    }
    return draw_tube(pen, s->half[0], s->half[2]);
}

static const collider_shape capsule_shape = {.name = "capsule",
                                             .size = {{"radius", 0, ABOVE_0}, {"half-length", 2, AT_LEAST_0}},
                                             .extent = capsule_extent,
                                             .outline = capsule_outline};
#endif
