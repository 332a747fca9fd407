// The table itself. A new option is one row here and one line where it is read.
#include "cli/command_table.hpp"

#include <algorithm>
#include <array>

namespace rehearse::cli {
namespace {

constexpr Groups simulation =
    group::every | group::reading | group::parallel | group::listing | group::simulating |
    group::marking | group::units;

constexpr auto verb_rows = std::to_array<VerbInfo>({
    {"run", "SCENARIO...", "run scenarios: expectations and properties",
     "rehearse run examples/gang.json", simulation | group::configuring | group::running, 1, unlimited_operands},
    {"replay", "TRACE...",
     "replay job traces under one configuration and compare with what they recorded",
     "rehearse replay examples/sample.rtrace --dialect sequential",
     simulation | group::configuring, 1, unlimited_operands},
    {"compare", "INPUT...",
     "the same work under several configurations: what changes for each request",
     "rehearse compare examples/sample.rtrace --pipelined all --with sequential --with psd",
     simulation | group::comparing, 1, unlimited_operands},
    {"check", "JOURNAL", "the properties over a recorded journal, also one of another system",
     "rehearse check examples/gang.journal", group::every | group::checking, 1, 1},
    {"trace inspect", "TRACE...", "what is in a trace, and the slots each unit would need",
     "rehearse trace inspect examples/sample.rtrace",
     group::every | group::reading | group::parallel | group::units, 1, unlimited_operands},
    {"trace convert", "TRACE", "a foreign trace as a native one, written to --output",
     "rehearse trace convert examples/sample.rtrace -o -", group::every | group::reading, 1, 1},
    {"list", "WHAT", "the registries: policies, dialects, properties, formats",
     "rehearse list dialects", group::every, 1, 1, "policies dialects properties formats"},
    {"completion", "SHELL", "a completion script for bash, zsh or fish",
     "rehearse completion bash", group::every, 1, 1, "bash zsh fish"},
    {"fuzz", "", "random scenarios until a property breaks; the counterexample shrunk", {},
     group::every | group::fuzzing, 0, 0, {}, false},
    {"explore", "SCENARIO", "every interleaving of a small scenario", {}, group::every, 1, 1, {},
     false},
    {"mutants", "", "plants known scheduler bugs and reports which are caught", {}, group::every,
     0, 0, {}, false},
    {"explain", "INPUT", "why a job took as long as it did", {},
     group::every | group::explaining, 1, 1, {}, false},
    {"sweep", "GRID", "many runs side by side into one results file", {},
     group::every | group::sweeping, 1, 1, {}, false},
    {"report", "RESULTS", "renders a report again from saved results", {}, group::every, 1,
     unlimited_operands, {}, false},
    {"trace generate", "", "synthetic workloads", {}, group::every, 0, 0, {}, false},
    {"trace anonymize", "TRACE", "names and paths of a trace replaced", {}, group::every, 1, 1, {},
     false},
    {"trace merge", "TRACE...", "several traces into one", {}, group::every, 1,
     unlimited_operands, {}, false},
});

constexpr auto option_rows = std::to_array<OptionInfo>({
    {"--output", "-o", "FILE",
     "write the result there too: .html (compare), .json, else text; \"-\" is stdout"},
    {"--json", "", "", "one JSON document on stdout, nothing else there"},
    {"--quiet", "-q", "", "nothing on stderr but errors"},
    {"--color", "", "WHEN", "auto, always or never (NO_COLOR is honoured)", "auto always never"},

    {"--dialect", "", "CONFIGURATION",
     "psd, sequential, or dialect[axis=value,...,cluster=20x4,name=label]; default: the "
     "scenario's, else psd",
     "sequential psd", group::configuring},
    {"--set", "", "AXIS=VALUE", "one axis of the scheduler, on top of the dialect", {},
     group::simulating, true},
    {"--policy", "", "KIND=NAME", "short for --set; kinds are queue, overtake, placement, start",
     {}, group::simulating, true},
    {"--cluster", "", "FILE|SPEC",
     "20x4 is 20 executors of 4 cpus, 20x4,gpu=1 with a gpu each; default: what the input has", {},
     group::simulating},
    {"--timing", "", "TIMING", "scripted or coupled; default: the scenario's, coupled for traces",
     "scripted coupled", group::simulating},
    {"--seed", "", "N", "instead of the scenario's", {}, group::simulating},
    {"--horizon", "", "T", "ends the run at this instant (\"90s\"); what lives is unfinished", {},
     group::simulating},
    {"--journal", "", "FILE", "the journal as JSON lines, packed when it ends in .zst", {},
     group::simulating},
    {"--max-jobs", "", "N", "only the first N jobs, and what they read", {}, group::simulating},
    {"--select", "", "'job~REGEX'", "only jobs with such a name, and what they read", {},
     group::simulating},
    {"--time-scale", "", "X", "multiplies every time of the workload by X", {},
     group::simulating},
    {"--load-scale", "", "X", "jobs arrive X times as densely, with the same work", {},
     group::simulating},
    {"--threads", "", "N", "inputs and configurations side by side; default: all cores", {},
     group::parallel},
    {"--max-listed", "", "N", "jobs or requests listed one by one (100000)", {}, group::listing},

    {"--pipelined", "", "RULE",
     "which shuffles of the input are taken as pipelined: none, auto, streaming, match:REGEX, all",
     "none auto streaming all match:", group::marking},
    {"--by", "", "UNIT", "what is one request: sql (default when marking), job or batch",
     "sql job batch", group::units},
    {"--too-wide", "", "WHAT",
     "a group wider than the cluster: leave (edges stay regular), reject, or fit (narrow it)",
     "leave reject fit", group::marking},
    {"--fit-share", "", "X", "the share of capacity that fit narrows to (0.5)", {},
     group::marking},
    {"--delays", "", "WHICH", "of the driver: model or recorded", "model recorded",
     group::marking},
    {"--arrivals", "", "WHICH", "after what came before (think time), or at recorded offsets",
     "after recorded", group::marking},

    {"--strict", "", "", "the first problem of an input is an error (exit 2)", {},
     group::reading},
    {"--lenient", "", "", "problems are skipped with a warning (default)", {}, group::reading},
    {"--lossy", "", "", "reads a trace on that misses more than a tenth of its tasks", {},
     group::reading},
    {"--partial", "", "", "reads a trace that is not all there was", {}, group::reading},

    {"--print-scenario", "", "", "prints the canonical scenario instead of running it", {},
     group::running},
    {"--with", "", "CONFIGURATION", "a configuration to compare; the first is the baseline",
     "sequential psd", group::comparing, true},
    {"--min-effect", "", "X%", "a change below this counts as the same (1%)", {},
     group::comparing},
    {"--fail-if", "", "'METRIC.STAT OP NUMBER[%]'",
     "exit 4 when it holds, as in 'request_latency.p99 > +5%'", {}, group::comparing, true},
    {"--format", "", "F", "of the journal: journal", "journal", group::checking},

    {"--timeline", "", "FILE", "a timeline for Perfetto", {}, group::simulating, false, false},
    {"--inject-recorded-faults", "", "", "repeats the failures of a trace", {}, group::marking,
     false, false},
    {"--seeds", "", "N", "paired runs with common random numbers", {}, group::comparing, false,
     false},
    {"--time", "", "T", "how long", {}, group::fuzzing, false, false},
    {"--runs", "", "N", "how many", {}, group::fuzzing, false, false},
    {"--corpus", "", "DIR", "where what was found is kept", {}, group::fuzzing, false, false},
    {"--job", "", "J", "which job", {}, group::explaining, false, false},
    {"--shard", "", "i/n", "one part of the runs", {}, group::sweeping, false, false},
});

// What the readers refuse; a test tries every key of the first lines.
constexpr auto key_rows = std::to_array<std::string_view>({
    "executors[]: launch, memory_pool, disk_space",
    "jobs[]: mode, properties, client, query",
    "stages[]: width, waits_for, memory",
    "edges[]: pattern, transport, retained, durable, consume",
    "faults[]: launch_fails, partition_network",
    "workload: synthetic",
    "scheduler: registration_wait, discovery_poll, peer_silence, overflow, local_reads",
    "expect[]: totals of slot_..._ns",
    "timing: flow, packet",
});

}  // namespace

std::span<const VerbInfo> verbs() { return verb_rows; }

std::span<const OptionInfo> options() { return option_rows; }

const VerbInfo* find_verb(std::string_view name) {
  const auto* found = std::ranges::find(verb_rows, name, &VerbInfo::name);
  return found == verb_rows.end() ? nullptr : found;
}

std::vector<const OptionInfo*> options_of(const VerbInfo& verb) {
  std::vector<const OptionInfo*> result;
  for (const OptionInfo& option : option_rows) {
    if ((option.groups & verb.groups) != 0) {
      result.push_back(&option);
    }
  }
  return result;
}

std::vector<std::string_view> unbuilt_keys() { return {key_rows.begin(), key_rows.end()}; }

}  // namespace rehearse::cli
