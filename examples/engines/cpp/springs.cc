// A whole engine in C++: a spring along each edge of the tetrahedra, symplectic Euler. Built and run by the test suite:
//     g++ -std=c++17 -O2 springs.cc -o springs
#include <algorithm>
#include <array>
#include <set>

#include "pbd_engine.h"

struct Springs : pbd::Engine {
    std::vector<double> x, v, force, inverse, pull, rest;
    std::vector<std::array<uint32_t, 2>> edge;
    double stiffness = 0, damping = 0;

    Springs() {
        engine = "springs in C++", version = "1.0", integrator = "symplectic_euler";
        needs = {"tets"}, takes = {"start", "elasticity"}, fields = {"positions", "velocities"};
        says_laws = saves = true;  // a lattice of springs is no law
        params = {pbd::real("stiffness", "N/m", 1000, 0, 1e12, "of every spring"),
                  pbd::real("damping", "1/s", 0, 0, 1e6, "of velocities, by mass")};
    }

    void create(const pbd::Scene &s) override {
        x = s.start();
        v = s.has("velocities") ? s.reals("velocities") : std::vector<double>(x.size());
        force.resize(x.size());
        const std::vector<double> at = s.reals("positions"), mass = s.reals("masses"), loads = s.reals("forces");
        for (double m : mass) inverse.push_back(1 / m);
        for (size_t i = 0; i < x.size(); i++)
            pull.push_back(s.gravity(i % 3) + (loads.empty() ? 0 : loads[i] / mass[i / 3]));
        for (uint32_t i : s.numbers("fixed")) inverse[i] = 0;
        const std::vector<uint32_t> tets = s.numbers("tets");
        std::set<std::array<uint32_t, 2>> edges;
        for (size_t t = 0; t < tets.size(); t += 4)
            for (size_t a = 0; a < 4; a++)
                for (size_t b = 0; b < a; b++)
                    edges.insert({std::min(tets[t + a], tets[t + b]), std::max(tets[t + a], tets[t + b])});
        edge.assign(edges.begin(), edges.end());
        for (const auto &e : edge) rest.push_back(distance(at, e));
        stiffness = s.param("stiffness").real();
        damping = s.param("damping").real();
    }

    static double distance(const std::vector<double> &at, const std::array<uint32_t, 2> &e) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) square += std::pow(at[3 * e[1] + d] - at[3 * e[0] + d], 2);
        return std::sqrt(square);
    }

    void step(double dt, long n, pbd::Report &report) override {
        for (long k = 0; k < n; k++) step_once(dt);
        report.counts["spring_forces"] = static_cast<unsigned long>(n) * edge.size();
    }

    void step_once(double dt) {
        std::fill(force.begin(), force.end(), 0);
        for (size_t i = 0; i < edge.size(); i++) {
            const double length = distance(x, edge[i]), tension = stiffness * (length - rest[i]) / length;
            for (size_t d = 0; d < 3; d++) {
                const double f = tension * (x[3 * edge[i][1] + d] - x[3 * edge[i][0] + d]);
                force[3 * edge[i][0] + d] += f;
                force[3 * edge[i][1] + d] -= f;
            }
        }
        for (size_t i = 0; i < x.size(); i++) {
            if (inverse[i / 3] == 0) continue;
            v[i] += dt * (pull[i] + force[i] * inverse[i / 3] - damping * v[i]);
            x[i] += dt * v[i];
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
        if (state.size() != 2 * x.size() * sizeof x[0]) throw pbd::Error("bad_input", "a state of another scene");
        std::memcpy(x.data(), state.data(), state.size() / 2);
        std::memcpy(v.data(), state.data() + state.size() / 2, state.size() / 2);
    }
};

int main() {
    Springs springs;
    return pbd::serve(springs);
}
