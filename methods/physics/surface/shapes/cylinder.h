/* Radius half[0] about z, with flat ends at |z| = half[2]. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(CYLINDER, cylinder)
#elif defined(V)

/* A rectangle in (distance from the axis, z). */
PBD_FN V(collider_gap) V(cylinder_gap)(const real half[3], V(vec3) x) {
    const V(real) one = V(real_set)(1);
    const V(collider_gap) gap = V(gap_of_faces)(
        V(vec3_make)(V(axis_distance)(x) - half[0], V(real_set)(-half[0] - half[2]), V(real_abs)(x.z) - half[2]),
        V(vec3_make)(one, one, V(real_sign)(x.z)));
    return V(gap_about_axis)(x, gap.distance, gap.normal.x, gap.normal.z);
}

#else

static void cylinder_extent(const collider_solid *s, double extent[3]) {
    extent[0] = extent[1] = s->half[0];
    extent[2] = s->half[2];
}

static pbd_status cylinder_outline(const collider_solid *s, const collider_pen *pen) {
    return draw_tube(pen, s->half[0], s->half[2]);
}

static const collider_shape cylinder_shape = {.name = "cylinder",
                                              .size = {{"radius", 0, ABOVE_0}, {"half-length", 2, ABOVE_0}},
                                              .extent = cylinder_extent,
                                              .outline = cylinder_outline};
#endif
