/* A tube of radius half[1] about the circle of radius half[0] in z = 0. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(TORUS, torus)
#elif defined(V)

/* A circle in (distance from the axis, z). */
PBD_FN V(collider_gap) V(torus_gap)(const real half[3], V(vec3) x) {
    const V(real) zero = V(real_set)(0);
    const V(vec3) off = V(vec3_make)(V(axis_distance)(x) - half[0], x.z, zero);
    const V(collider_gap) gap = V(gap_from_middle)(off, half[1], vec3_make(1, 0, 0));
    return V(gap_about_axis)(x, gap.distance, gap.normal.x, gap.normal.y);
}

#else

static pbd_status torus_check(const double half[3], const char *who) {
    if (half[1] < half[0]) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%s has a tube of radius %g m about a circle of radius %g m: it has no hole", who,
                     half[1], half[0]);
}

static void torus_extent(const collider_solid *s, double extent[3]) {
    extent[0] = extent[1] = s->half[0] + s->half[1];
    extent[2] = s->half[1];
}

/* The widest, narrowest, highest and lowest circle, and the tube's section at four places. */
static pbd_status torus_outline(const collider_solid *s, const collider_pen *pen) {
    const double ring = s->half[0], tube = s->half[1];
    for (int side = -1; side <= 1; side += 2) {
        PBD_TRY(draw_circle(pen, 2, (double[3]){0, 0, 0}, ring + side * tube));
        PBD_TRY(draw_circle(pen, 2, (double[3]){0, 0, side * tube}, ring));
    }
    for (int quarter = 0; quarter < 4; quarter++) {
        double centre[3];
        on_circle(quarter, ring, 0, centre);
        PBD_TRY(draw_circle(pen, quarter % 2 ? 0 : 1, centre, tube));
    }
    return pbd_ok();
}

static const collider_shape torus_shape = {
    .name = "torus",
    .size = {{"radius of its circle", 0, ABOVE_0}, {"radius of its tube", 1, ABOVE_0}},
    .check = torus_check,
    .extent = torus_extent,
    .outline = torus_outline};
#endif
