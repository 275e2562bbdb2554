// Google Benchmark behind C functions (bench.h). Nothing of pbdbench's own logic belongs here.
#include "harness/bench/bench.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

void measure(benchmark::State &state, const pbd_bench_entry *entry) {
    pbd_status status = entry->begin(entry->context);
    if (status.code != PBD_OK) state.SkipWithError(status.text);
    for (auto iteration : state) {
        (void)iteration;
        double seconds = 0;
        state.PauseTiming();
        status = entry->restore(entry->context);
        state.ResumeTiming();
        if (status.code == PBD_OK) status = entry->iterate(entry->context, &seconds);
        if (status.code != PBD_OK) {
            state.SkipWithError(status.text);
            break;
        }
        state.SetIterationTime(seconds);
    }
    pbd_bench_counter counters[PBD_BENCH_COUNTERS];
    const size_t count = entry->end(entry->context, counters);
    for (size_t i = 0; i < count; i++)
        state.counters[counters[i].name] = benchmark::Counter(
            counters[i].value, counters[i].rate ? benchmark::Counter::kIsRate : benchmark::Counter::kDefaults);
}

// Passes everything to the reporter that the flags select, and calls the entry's `report` after its repetitions; also
// with --benchmark_report_aggregates_only, where single repetitions reach no reporter.
class Tee : public benchmark::BenchmarkReporter {
   public:
    Tee(const pbd_bench_entry *entries, size_t count, benchmark::BenchmarkReporter *shown) : shown_(shown) {
        for (size_t i = 0; i < count; i++) entries_[entries[i].name] = &entries[i];
        SetErrorStream(&errors_);
    }
    bool ReportContext(const Context &context) override { return shown_->ReportContext(context); }
    void Finalize() override { shown_->Finalize(); }
    void ReportRuns(const std::vector<Run> &runs) override {
        shown_->ReportRuns(runs);
        shown_->GetOutputStream().flush();
        if (runs.empty()) return;
        const auto found = entries_.find(runs.front().run_name.function_name);
        if (found != entries_.end()) found->second->report(found->second->context, runs.front().repetitions);
    }
    std::string errors() const { return errors_.str(); }

   private:
    benchmark::BenchmarkReporter *shown_;
    std::unordered_map<std::string, const pbd_bench_entry *> entries_;
    std::ostringstream errors_;
};

void register_entries(const pbd_bench_entry *entries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const pbd_bench_entry *entry = &entries[i];
        auto *registered =
            benchmark::RegisterBenchmark(entry->name, [entry](benchmark::State &state) { measure(state, entry); });
        registered->UseManualTime()->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
        if (entry->iterations > 0) registered->Iterations(entry->iterations);
    }
}

// Google Benchmark prints its usage and ends the process at wrong values of these: they are checked first.
bool is_known_value(const char *flag) {
    static const struct {
        const char *flag;
        std::vector<std::string> values;
    } lists[] = {{"--benchmark_format=", {"console", "json", "csv"}},
                 {"--benchmark_out_format=", {"console", "json", "csv"}},
                 {"--benchmark_time_unit=", {"", "ns", "us", "ms", "s"}}};
    for (const auto &list : lists) {
        if (std::strncmp(flag, list.flag, std::strlen(list.flag)) != 0) continue;
        for (const auto &value : list.values)
            if (value == flag + std::strlen(list.flag)) return true;
        return false;
    }
    return std::strcmp(flag, "--benchmark_color=") != 0 && std::strcmp(flag, "--help") != 0;
}

}  // namespace

extern "C" {

pbd_status pbd_bench_flags(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!is_known_value(argv[i]))
            return pbd_error(PBD_BAD_INPUT, "Google Benchmark does not know '%.120s'", argv[i]);
    try {
        benchmark::Initialize(&argc, argv);
    } catch (const std::exception &e) {
        return pbd_error(PBD_FAILED, "Google Benchmark: %.200s", e.what());
    }
    if (argc > 1) return pbd_error(PBD_BAD_INPUT, "Google Benchmark does not know '%.120s'", argv[1]);
    return pbd_ok();
}

void pbd_bench_note(const char *key, const char *value) {
    try {
        benchmark::AddCustomContext(key, value);
    } catch (const std::exception &) {  // the line is left out
    }
}

pbd_status pbd_bench_run(const pbd_bench_entry *entries, size_t count, const char *filter, size_t *matched) {
    *matched = 0;
    try {
        register_entries(entries, count);
        Tee tee(entries, count, benchmark::CreateDefaultDisplayReporter());
        const std::string spec = filter ? filter : benchmark::GetBenchmarkFilter();
        *matched = benchmark::RunSpecifiedBenchmarks(&tee, nullptr, spec);
        benchmark::ClearRegisteredBenchmarks();
        if (*matched == 0 && tee.errors().find("compile") != std::string::npos)
            return pbd_error(PBD_BAD_INPUT, "the filter '%.120s' is not a regular expression", spec.c_str());
        return pbd_ok();
    } catch (const std::exception &e) {
        return pbd_error(PBD_FAILED, "Google Benchmark: %.200s", e.what());
    }
}

}  // extern "C"
