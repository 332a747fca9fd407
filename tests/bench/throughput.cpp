// End-to-end throughput: one line per cluster size with tasks per second of CPU time (median of
// several runs), the journal hash beside it, with monitors on and off. Usage:
//   throughput [--hosts N]... [--tasks N] [--repeat N] [--monitors on|off] [--dialect NAME]
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/configuration_text.hpp"
#include "policies/registry.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"
#include "sim/simulation.hpp"
#include "tests/bench/throughput_workload.hpp"

namespace {

using namespace rehearse;

// A slice (A21) counts as the tasks that it stands for, one a partition.
class TaskCounter final : public model::Observer {
 public:
  void begin(const model::NameTable& /*names*/) override {}
  void on(const model::Event& event) override {
    if (const auto* start = event.as<model::TaskStart>(); start != nullptr) {
      tasks_ += start->task.size();
    }
  }
  [[nodiscard]] std::int64_t tasks() const { return tasks_; }

 private:
  std::int64_t tasks_ = 0;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

struct Sample {
  double tasks_per_second = 0;
  std::int64_t tasks = 0;
  std::uint64_t hash = 0;
  std::size_t violations = 0;
};

Sample measure(const model::Scenario& scenario, bool monitors) {
  const auto policies = policies::make(scenario.scheduler);
  properties::MonitorSet judged;
  TaskCounter counter;
  std::vector<model::Observer*> observers{&counter};
  if (monitors) {
    observers.push_back(&judged);
  }
  sim::RunOptions options;
  options.promises = properties::promised(scenario.scheduler, scenario.timing);
  options.probe_one_in = 20;
  const double begin = cpu_seconds();
  const sim::RunResult result = sim::run(scenario, *policies, observers, options);
  if (monitors) {
    judged.finish();
  }
  const double seconds = cpu_seconds() - begin;
  return {static_cast<double>(counter.tasks()) / seconds, counter.tasks(), result.journal_hash,
          monitors ? judged.violations().size() : 0};
}

struct Arguments {
  std::vector<std::int32_t> hosts;
  std::int64_t tasks = 1'000'000;
  int repeat = 7;
  std::string monitors = "both";
  model::Dialect dialect = model::Dialect::psd;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--hosts") {
      arguments.hosts.push_back(std::atoi(argv[i + 1]));
    } else if (key == "--tasks") {
      arguments.tasks = std::atoll(argv[i + 1]);
    } else if (key == "--repeat") {
      arguments.repeat = std::atoi(argv[i + 1]);
    } else if (key == "--monitors") {
      arguments.monitors = argv[i + 1];
    } else if (key == "--dialect") {
      const auto dialect = model::parse_dialect(argv[i + 1]);
      if (!dialect) {
        std::fprintf(stderr, "%s\n", dialect.error().what.c_str());
        std::exit(2);
      }
      arguments.dialect = *dialect;
    }
  }
  if (arguments.hosts.empty()) {
    arguments.hosts = {1000, 10000};
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  std::printf("%8s %9s %10s %12s %12s %12s  %s\n", "hosts", "monitors", "tasks", "median/s",
              "min/s", "max/s", "journal hash");
  for (const std::int32_t hosts : arguments.hosts) {
    const model::Scenario scenario =
        bench::throughput_workload({hosts, arguments.tasks, 1, arguments.dialect});
    for (const bool monitors : {true, false}) {
      if (arguments.monitors != "both" && (arguments.monitors == "on") != monitors) {
        continue;
      }
      std::vector<double> speeds;
      Sample sample;
      for (int run = 0; run < arguments.repeat; ++run) {
        sample = measure(scenario, monitors);
        speeds.push_back(sample.tasks_per_second);
      }
      std::ranges::sort(speeds);
      std::printf("%8d %9s %10lld %12.0f %12.0f %12.0f  xxh3:%016llx\n", hosts,
                  monitors ? "on" : "off", static_cast<long long>(sample.tasks),
                  speeds[speeds.size() / 2], speeds.front(), speeds.back(),
                  static_cast<unsigned long long>(sample.hash));
      if (sample.violations != 0) {
        std::printf("violations: %zu\n", sample.violations);
        return 3;
      }
    }
  }
  return 0;
}
