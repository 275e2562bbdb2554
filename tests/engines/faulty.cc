// An engine whose particles fall freely, and that can be wrong in every way that a test asks for: in what it says of
// itself by the variable FAULTY_HELLO, later by its parameter `fault`. FAULTY_PID names a file for the process id of
// one that hangs in a step.
#include <csignal>
#include <fstream>

#include "examples/engines/cpp/pbd_engine.h"

static std::string variable(const char *name) {
    const char *text = std::getenv(name);
    return text ? text : "";
}

static bool exists(const std::string &file) { return !file.empty() && access(file.c_str(), F_OK) == 0; }

struct Faulty : pbd::Engine {
    std::vector<double> x, v, pull;
    std::vector<uint32_t> fixed;
    std::string fault;
    long steps_done = 0;

    Faulty() {
        engine = "faulty", version = "1.2", device = "no device", integrator = "symplectic_euler";
        needs = {"tets"}, takes = {"start", "elasticity"}, fields = {"positions", "velocities"};
        says_laws = true;
        params = {
            pbd::choice("fault", "none",
                        {"none",    "crash_create", "refuse",  "crash",    "exit",  "hang",      "noise",       "magic",
                         "json",    "list",         "nan",     "short",    "type",  "huge_json", "huge_arrays", "extra",
                         "no_wall", "clock",        "says_no", "diverges", "names", "advanced",  "flag"},
                        "what goes wrong"),
            pbd::integer("number", 1, 1, 9, "tells runs apart")};
    }

    void create(const pbd::Scene &s) override {
        fault = s.param("fault").words;
        if (fault == "crash_create") std::abort();
        if (fault == "refuse") throw pbd::Error("not_supported", "no scene of \"this\" kind");
        x = s.start();
        v.assign(x.size(), 0);
        fixed = s.numbers("fixed");
        for (size_t i = 0; i < 3; i++) pull.push_back(s.gravity(i));
        if (fault == "flag" && s.param("number").integer() == 3 && exists(variable("FAULTY_FLAG"))) raise(SIGKILL);
    }

    void step(double dt, long n, pbd::Report &report) override {
        if (fault == "crash") raise(SIGSEGV);
        if (fault == "exit") {
            std::puts("these are its last words");
            std::fflush(stdout);
            std::exit(3);
        }
        if (fault == "hang") {
            std::ofstream(variable("FAULTY_PID")) << getpid() << "\n";
            for (;;) pause();
        }
        for (int i = 0; fault == "noise" && i < 20000; i++) std::printf("line %d of noise on standard output\n", i);
        if (fault == "says_no") throw pbd::Error("failed", "it says no");
        if (fault == "diverges") throw pbd::Error("diverged", "the iterations do not converge");
        if (fault == "names") report.counts["Not a name"] = 1;
        if (fault == "advanced") report.advanced = 0.5 * dt * static_cast<double>(n);
        for (long k = 0; k < n; k++) {
            const std::vector<double> old = x;
            for (size_t i = 0; i < x.size(); i++) v[i] += dt * pull[i % 3], x[i] += dt * v[i];
            for (uint32_t i : fixed)
                for (size_t d = 0; d < 3; d++) x[3 * i + d] = old[3 * i + d], v[3 * i + d] = 0;
        }
        steps_done += n;
        report.counts["steps_done"] = static_cast<unsigned long>(n);
        if (fault == "nan") x[x.size() - 1] = NAN;
    }

    std::vector<double> read(const std::string &field) override {
        std::vector<double> out = field == "positions" ? x : v;
        if (fault == "short") out.resize(out.size() - 3);
        return out;
    }
};

static void put(uint32_t magic, uint32_t json, uint64_t arrays, const std::string &text) {
    pbd::detail::put(&magic, 4);
    pbd::detail::put(&json, 4);
    pbd::detail::put(&arrays, 8);
    pbd::detail::put(text.data(), text.size());
}

// Whether the answer is one that the package would not give.
static bool answer_wrongly(const Faulty &e, const std::string &op) {
    const std::string ok = "{\"ok\": true}";
    if (op == "step" && e.fault == "magic")
        put(0x206f6c6c, 5, 0, ok);
    else if (op == "step" && e.fault == "json")
        put(pbd::magic, 8, 0, "{\"ok\": t");
    else if (op == "step" && e.fault == "list")
        put(pbd::magic, 2, 0, "[]");
    else if (op == "step" && e.fault == "huge_json")
        put(pbd::magic, 0xfffffff0u, 0, "");
    else if (op == "step" && e.fault == "huge_arrays")
        put(pbd::magic, 12, ~0ull, ok);
    else if (op == "step" && e.fault == "no_wall")
        pbd::detail::tell(ok);
    else if (op == "step" && e.fault == "clock")
        pbd::detail::tell("{\"ok\": true, \"wall\": 1000, \"cpu\": 1000}");
    else if (op == "read" && e.fault == "type")
        pbd::detail::tell("{\"ok\": true, \"arrays\": [[\"positions\", \"<i8\", [1, 3]]]}", e.x.data(), 24);
    else if (op == "step" && e.fault == "extra")
        pbd::detail::tell("{\"ok\": true, \"wall\": 0}", e.x.data(), 24);
    else
        return false;
    return true;
}

static bool hello_wrongly(Faulty &e, const std::string &how) {
    if (how == "crash") raise(SIGSEGV);
    while (how == "hang") pause();
    if (how == "protocol")
        pbd::detail::tell("{\"ok\": true, \"protocol\": 0, " + e.hello() + "}");
    else if (how == "silent")
        pbd::detail::tell("{\"ok\": true, " + e.hello() + "}");
    else
        return false;
    return true;
}

int main() {
    Faulty e;
    const std::string how = variable("FAULTY_HELLO");
    if (how == "takes") e.takes.push_back("colliderz");
    if (how == "liquid") e.needs = {"particles"}, e.takes = {"start", "fluid", "colliders"};
    if (how == "sand") e.needs = {"particles"}, e.takes = {"start", "flow", "colliders"};
    if (how == "version") e.version = "";
    if (how == "precision") e.precision = "f16";
    if (how == "fields") e.fields = {"velocities"};
    if (how == "name") e.params.push_back(pbd::real("not a name", "", 0, 0, 1, "x"));
    if (how == "default") e.params.push_back(pbd::real("k", "", 2, 0, 1, "its default is out of its range"));
    for (;;) {
        const pbd::Scene request = pbd::detail::hear();
        const std::string op = request.json["op"].words;
        if (op == "hello" && hello_wrongly(e, how)) continue;
        if (answer_wrongly(e, op)) continue;
        try {
            pbd::detail::answer(e, request, op);
        } catch (const pbd::Error &x) {
            pbd::detail::tell("{\"ok\": false, \"code\": " + pbd::quoted(x.code) +
                              ", \"says\": " + pbd::quoted(x.what()) + "}");
        }
        if (op == "quit") return 0;
    }
}
