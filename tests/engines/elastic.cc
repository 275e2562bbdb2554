// St. Venant-Kirchhoff on the scene's tetrahedra with its masses, symplectic Euler: an engine that the admission gate
// must admit, and with `wrong` one whose mapping of a material, of masses or of gravity it must find.
#include "examples/engines/cpp/pbd_engine.h"

struct Elastic : pbd::Engine {
    std::vector<double> x, v, force, mass, shape, volume;
    std::vector<uint32_t> tets, fixed;
    double lambda = 0, mu = 0, gravity[3] = {0, 0, 0};

    Elastic() {
        engine = "elastic", version = "1.0", integrator = "symplectic_euler";
        needs = {"tets"}, takes = {"start", "elasticity"}, laws = {"stvk"}, fields = {"positions", "velocities"};
        says_laws = saves = true;
        params = {pbd::choice("wrong", "none", {"none", "E", "nu", "masses", "gravity"}, "what it takes wrongly")};
    }

    void create(const pbd::Scene &s) override {
        const std::string wrong = s.param("wrong").words;
        const double E = s.material()["E"].real() * (wrong == "E" ? 1.05 : 1);
        const double nu = s.material()["nu"].real() + (wrong == "nu" ? 0.03 : 0);
        lambda = E * nu / ((1 + nu) * (1 - 2 * nu)), mu = E / (2 * (1 + nu));
        x = s.start(), v.assign(x.size(), 0), force = v;
        mass = s.reals("masses"), tets = s.numbers("tets"), fixed = s.numbers("fixed");
        for (double &m : mass) m *= wrong == "masses" ? 1.1 : 1;
        for (size_t d = 0; d < 3; d++) gravity[d] = s.gravity(d) * (wrong == "gravity" ? 1.05 : 1);
        const std::vector<double> at = s.reals("positions");
        for (size_t t = 0; t < tets.size(); t += 4) measure(at, &tets[t]);
    }

    // Gradients of the shape functions of the first three corners: the rows of the inverse of their edges from the
    // last.
    void measure(const std::vector<double> &at, const uint32_t *c) {
        double D[3][3];
        for (size_t i = 0; i < 3; i++)
            for (size_t d = 0; d < 3; d++) D[i][d] = at[3 * c[i] + d] - at[3 * c[3] + d];
        double cross[3][3], det = 0;
        for (size_t i = 0; i < 3; i++)
            for (size_t d = 0; d < 3; d++) {
                const double *a = D[(i + 1) % 3], *b = D[(i + 2) % 3];
                cross[i][d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
            }
        for (size_t d = 0; d < 3; d++) det += D[0][d] * cross[0][d];
        for (size_t i = 0; i < 3; i++)
            for (size_t d = 0; d < 3; d++) shape.push_back(cross[i][d] / det);
        volume.push_back(det / 6);
    }

    void add_force(size_t t) {
        const uint32_t *c = &tets[4 * t];
        const double *g = &shape[9 * t];
        double F[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, S[3][3], trace = 0;
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 3; j++) F[i][j] += (x[3 * c[k] + i] - x[3 * c[3] + i]) * g[3 * k + j];
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++) {
                S[i][j] = i == j ? -0.5 : 0;
                for (size_t k = 0; k < 3; k++) S[i][j] += 0.5 * F[k][i] * F[k][j];
                if (i == j) trace += S[i][j];
            }
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 3; j++) S[i][j] = 2 * mu * S[i][j] + (i == j ? lambda * trace : 0);
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < 3; i++) {
                double f = 0;
                for (size_t j = 0; j < 3; j++)
                    for (size_t l = 0; l < 3; l++) f -= volume[t] * F[i][l] * S[l][j] * g[3 * k + j];
                force[3 * c[k] + i] += f;
                force[3 * c[3] + i] -= f;
            }
    }

    void step(double dt, long n, pbd::Report &) override {
        for (long s = 0; s < n; s++) {
            for (size_t i = 0; i < x.size(); i++) force[i] = mass[i / 3] * gravity[i % 3];
            for (size_t t = 0; t < volume.size(); t++) add_force(t);
            for (uint32_t i : fixed)
                for (size_t d = 0; d < 3; d++) force[3 * i + d] = 0;
            for (size_t i = 0; i < x.size(); i++) v[i] += dt * force[i] / mass[i / 3], x[i] += dt * v[i];
        }
    }

    std::vector<double> read(const std::string &field) override { return field == "positions" ? x : v; }

    std::vector<char> save() override {
        std::vector<char> out(2 * x.size() * sizeof x[0]);
        std::memcpy(out.data(), x.data(), out.size() / 2);
        std::memcpy(out.data() + out.size() / 2, v.data(), out.size() / 2);
        return out;
    }

    void load(const std::vector<char> &state) override {
        std::memcpy(x.data(), state.data(), state.size() / 2);
        std::memcpy(v.data(), state.data() + state.size() / 2, state.size() / 2);
    }
};

int main() {
    Elastic e;
    return pbd::serve(e);
}
