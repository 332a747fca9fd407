// registry: none (the writer beside native_read)
// The canonical writer: records in a fixed order, keys in a fixed order, no spaces, a key left out
// when it has its default, a column that says the same for every task written once.
#include <fmt/format.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/resources.hpp"
#include "traces/native.hpp"

namespace rehearse::traces {
namespace {

using model::Error;
using model::NameId;

class LineText {
 public:
  explicit LineText(std::string_view kind) { text_ = fmt::format("{{\"r\":\"{}\"", kind); }

  LineText& key(std::string_view name) {
    if (!fresh_) {
      text_ += ',';
    }
    quote(name);
    text_ += ':';
    fresh_ = false;
    return *this;
  }
  // An object as the value of a key: what comes until close() is inside.
  LineText& open(std::string_view name) {
    key(name).raw("{");
    fresh_ = true;
    return *this;
  }
  LineText& close() {
    fresh_ = false;
    return raw("}");
  }
  LineText& number(std::string_view name, std::int64_t value) {
    key(name);
    text_ += std::to_string(value);
    return *this;
  }
  LineText& text(std::string_view name, std::string_view value) {
    key(name);
    quote(value);
    return *this;
  }
  LineText& raw(std::string_view value) {
    text_ += value;
    return *this;
  }
  void quote(std::string_view value) {
    text_ += '"';
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (byte < 0x20U) {
        text_ += fmt::format("\\u{:04x}", byte);
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }
  template <class Number>
  LineText& column(std::string_view name, const std::vector<Number>& values) {
    key(name);
    const bool equal = !values.empty() && std::all_of(values.begin(), values.end(),
                                                      [&](Number v) { return v == values[0]; });
    if (equal) {
      text_ += std::to_string(values[0]);
      return *this;
    }
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) {
        text_ += ',';
      }
      fmt::format_to(std::back_inserter(text_), "{}", values[i]);
    }
    text_ += ']';
    return *this;
  }
  std::string_view finish() {
    text_ += "}\n";
    return text_;
  }

 private:
  std::string text_;
  bool fresh_ = false;  // just after the opening of an object
};

class Writer {
 public:
  Writer(const model::Trace& trace, const TextSink& sink) : trace_(trace), sink_(sink) {}

  void write() {
    write_header();
    write_cluster();
    for (const model::TraceJob& job : trace_.jobs) {
      write_job(job);
    }
    for (const model::FaultPlan::Entry& entry : trace_.recorded_faults.order) {
      if (entry.task) {
        write_task_fault(trace_.recorded_faults.tasks[entry.index]);
      } else {
        write_timed_fault(trace_.recorded_faults.timed[entry.index]);
      }
    }
    LineText line("end");
    line.number("records", records_)
        .number("jobs", static_cast<std::int64_t>(trace_.jobs.size()))
        .number("stages", stages_)
        .number("tasks", tasks_);
    put(line);
  }

 private:
  void put(LineText& line) {
    ++records_;
    sink_(line.finish());
  }

  [[nodiscard]] std::string_view name(NameId id) const { return trace_.names.text(id); }

  void write_header() {
    LineText line("trace");
    line.text("format", "rehearse-trace")
        .number("version", 1)
        .number("minor", 0)
        .text("time_unit", "ns")
        .number("epoch_ns", trace_.epoch_ns)
        .text("name", trace_.name);
    line.open("origin");
    const std::array<std::pair<std::string_view, const std::string*>, 4> parts{
        {{"kind", &trace_.origin},
         {"version", &trace_.version},
         {"app", &trace_.application},
         {"attempt", &trace_.attempt}}};
    for (const auto& [key, value] : parts) {
      if (!value->empty()) {
        line.text(key, *value);
      }
    }
    line.close().key("flags").raw(trace_.partial ? "[\"partial\"]" : "[]");
    put(line);
  }

  void amounts(LineText& line, std::string_view key, const model::ResourceVector& values) {
    // By name: the order of the list of resources is not kept in a file.
    std::map<std::string_view, std::int64_t> present;
    for (std::size_t r = 0; r < values.size(); ++r) {
      if (values[r] != 0) {
        present[name(trace_.cluster.resources[r])] = values[r];
      }
    }
    line.open(key);
    for (const auto& [resource, amount] : present) {
      line.number(resource, amount);
    }
    line.close();
  }

  void write_cluster() {
    const model::Cluster& cluster = trace_.cluster;
    for (std::size_t i = 0; i < cluster.profiles.size(); ++i) {
      LineText line("profile");
      line.number("id", static_cast<std::int64_t>(i)).text("name", name(cluster.profiles[i].name));
      amounts(line, "task", cluster.profiles[i].task);
      put(line);
    }
    std::set<NameId> racked;
    for (const model::ExecutorSpec& executor : cluster.executors) {
      if (executor.rack.valid() && racked.insert(executor.host).second) {
        LineText line("node");
        line.text("id", name(executor.host)).text("rack", name(executor.rack));
        put(line);
      }
    }
    for (std::size_t i = 0; i < cluster.executors.size(); ++i) {
      write_executor(cluster.executors[i], trace_.executor_ends[i]);
    }
  }

  void write_executor(const model::ExecutorSpec& executor, const model::ExecutorEnd& end) {
    LineText line("executor");
    line.text("id", name(executor.name)).text("node", name(executor.host));
    if (executor.profile.valid()) {
      line.number("profile", executor.profile.value);
    }
    line.number("from", executor.joins);
    if (end.leaves) {
      line.number("to", *end.leaves);
      if (end.cause != model::LossCause::decommission) {
        line.text("cause", model::name_of(end.cause));
      }
    } else {
      line.key("to").raw("null");
    }
    amounts(line, "resources", executor.resources);
    if (executor.speed_milli != model::milli) {
      line.number("speed", executor.speed_milli);
    }
    put(line);
  }

  void write_job(const model::TraceJob& job) {
    LineText line("job");
    line.text("id", name(job.spec.name))
        .number("at", job.spec.submit)
        .text("pool", name(job.spec.pool));
    if (job.spec.priority != 0) {
      line.number("priority", job.spec.priority);
    }
    line.key("after").raw("[");
    for (std::size_t i = 0; i < job.spec.after.size(); ++i) {
      line.raw(i == 0 ? "{\"job\":" : ",{\"job\":");
      line.quote(name(job.spec.after[i].job));
      line.number("delay", job.spec.after[i].delay).raw("}");
    }
    line.raw("]").open("tags");
    const std::array<std::pair<std::string_view, NameId>, 3> tags{
        {{"sql", job.recorded.sql}, {"batch", job.recorded.batch}, {"group", job.recorded.group}}};
    for (const auto& [key, value] : tags) {
      if (value.valid()) {
        line.text(key, name(value));
      }
    }
    line.close();
    put(line);
    for (std::size_t s = 0; s < job.spec.stages.size(); ++s) {
      write_stage(job, s);
    }
    LineText seen("observe");
    seen.text("job", name(job.spec.name)).number("start", job.recorded.submitted);
    if (job.recorded.end) {
      seen.number("end", *job.recorded.end);
    }
    seen.text("result", model::name_of(job.recorded.outcome));
    put(seen);
    for (std::size_t s = 0; s < job.spec.stages.size(); ++s) {
      write_seen_stage(job, s);
    }
  }

  void write_stage(const model::TraceJob& job, std::size_t index) {
    const model::StageSpec& stage = job.spec.stages[index];
    LineText line("stage");
    line.text("job", name(job.spec.name))
        .text("id", name(stage.name))
        .number("profile", stage.profile.value)
        .number("tasks", stage.tasks);
    line.key("in").raw("[");
    bool first = true;
    for (const model::EdgeSpec& edge : job.spec.edges) {
      if (edge.to.front().index() != index) {
        continue;
      }
      line.raw(first ? "{\"stage\":" : ",{\"stage\":");
      line.quote(edge.from.valid()
                     ? std::string(name(job.spec.stages[edge.from.index()].name))
                     : fmt::format("{}/{}", name(edge.from_job), name(edge.from_stage)));
      line.text("kind", model::name_of(edge.kind));
      if (edge.bytes != 0) {
        line.number("bytes", edge.bytes);
      }
      line.raw("}");
      first = false;
    }
    line.raw("]");
    write_durations(line, stage);
    if (stage.barrier) {
      line.key("barrier").raw("true");
    }
    if (stage.indeterminate) {
      line.key("indeterminate").raw("true");
    }
    const NameId label = job.recorded.stages[index].label;
    if (label.valid()) {
      line.text("label", name(label));
    }
    ++stages_;
    tasks_ += stage.tasks;
    put(line);
  }

  static void write_durations(LineText& line, const model::StageSpec& stage) {
    if (const auto* values = std::get_if<std::vector<model::Duration>>(&stage.duration)) {
      line.column("dur", *values);
      return;
    }
    const auto& drawn = std::get<model::Distribution>(stage.duration);
    if (drawn.kind == model::DistributionKind::fixed && !drawn.cap_ns) {
      line.number("dur", drawn.base_ns);
      return;
    }
    line.open("dur").text("dist", model::name_of(drawn.kind)).number("base", drawn.base_ns);
    if (drawn.max_ns != 0) {
      line.number("max", drawn.max_ns);
    }
    if (drawn.shape_e9 != 0) {
      line.number("shape_e9", drawn.shape_e9);
    }
    if (!drawn.values_ns.empty()) {
      line.column("values", drawn.values_ns);
    }
    if (drawn.cap_ns) {
      line.number("cap", *drawn.cap_ns);
    }
    line.close();
  }

  void write_seen_stage(const model::TraceJob& job, std::size_t index) {
    const model::RecordedStage& seen = job.recorded.stages[index];
    LineText line("observe");
    line.text("job", name(job.spec.name)).text("stage", name(job.spec.stages[index].name));
    const std::array<std::pair<std::string_view, std::optional<model::Instant>>, 4> times{
        {{"submitted", seen.submitted},
         {"first", seen.first_launch},
         {"last", seen.last_finish},
         {"completed", seen.completed}}};
    for (const auto& [key, at] : times) {
      if (at) {
        line.number(key, *at);
      }
    }
    line.number("attempts", seen.attempts)
        .number("failed", seen.tasks_failed)
        .number("missing", seen.tasks_missing)
        .number("read", seen.read_bytes)
        .number("written", seen.written_bytes);
    if (!seen.parts.empty()) {
      line.open("parts_us");
      line.column("deserialize", seen.parts.deserialize_us)
          .column("fetch_wait", seen.parts.fetch_wait_us)
          .column("write", seen.parts.write_us)
          .column("serialize", seen.parts.serialize_us)
          .column("rest", seen.parts.rest_us);
      line.close();
    }
    put(line);
  }

  void write_task_fault(const model::TaskFault& fault) {
    LineText line("fault");
    line.text("kind", "task_fail")
        .text("job", name(fault.job))
        .text("stage", name(fault.stage))
        .number("task", fault.partition)
        .number("attempt", fault.attempt)
        .number("try", fault.try_number.value_or(0))
        .number("after", fault.after)
        .text("reason", fault.fails ? model::name_of(*fault.fails) : "fetch_failed");
    put(line);
  }

  void write_timed_fault(const model::TimedFault& fault) {
    const auto* lost = std::get_if<model::LoseExecutor>(&fault.action);
    if (lost == nullptr || !fault.at) {
      return;  // nothing else is ever recorded
    }
    LineText line("fault");
    line.number("at", *fault.at)
        .text("kind", "executor_lost")
        .text("executor", name(lost->executor))
        .text("cause", model::name_of(lost->cause));
    put(line);
  }

  const model::Trace& trace_;
  const TextSink& sink_;
  std::int64_t records_ = 0;
  std::int64_t stages_ = 0;
  std::int64_t tasks_ = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

void write_native(const model::Trace& trace, const TextSink& sink) { Writer(trace, sink).write(); }

std::string trace_id(const model::Trace& trace) {
  struct FreeState {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_64bits_reset(state.get());
  write_native(trace, [&](std::string_view text) {
    XXH3_64bits_update(state.get(), text.data(), text.size());
  });
  return fmt::format("xxh3:{:016x}", XXH3_64bits_digest(state.get()));
}

namespace {

// Packs text as it comes, in memory that does not grow with it.
class PackedFile {
 public:
  PackedFile(std::FILE* file, bool zstd) : file_(file) {
    if (zstd) {
      zstd_.reset(ZSTD_createCStream());
      ZSTD_initCStream(zstd_.get(), 3);
      ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_checksumFlag, 1);
    }
  }

  void write(std::string_view text, bool last = false) {
    if (zstd_ == nullptr) {
      if (text.empty()) {
        return;
      }
      failed_ = failed_ || std::fwrite(text.data(), 1, text.size(), file_) != text.size();
      return;
    }
    ZSTD_inBuffer source{text.data(), text.size(), 0};
    const ZSTD_EndDirective directive = last ? ZSTD_e_end : ZSTD_e_continue;
    for (bool more = true; more;) {
      ZSTD_outBuffer target{buffer_.data(), buffer_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(zstd_.get(), &target, &source, directive);
      failed_ = failed_ || ZSTD_isError(left) != 0U ||
                std::fwrite(buffer_.data(), 1, target.pos, file_) != target.pos;
      more = !failed_ && (last ? left != 0 : source.pos < source.size);
    }
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  struct FreeStream {
    void operator()(ZSTD_CStream* stream) const { ZSTD_freeCStream(stream); }
  };
  std::FILE* file_;
  std::unique_ptr<ZSTD_CStream, FreeStream> zstd_;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 17U);
  bool failed_ = false;
};

}  // namespace

model::Result<void> save_native(const model::Trace& trace, const std::string& path) {
  const auto failure = [&](const char* what) {
    return std::unexpected(Error{.what = std::string(what) + ": " + std::strerror(errno),
                                 .file = path,
                                 .kind = model::ErrorKind::io});
  };
  if (path.ends_with(".gz")) {
    return std::unexpected(Error{.what = "writing gzip is not built yet",
                                 .file = path,
                                 .remedy = "name it .rtrace or .rtrace.zst"});
  }
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) {
    return failure("cannot be written");
  }
  PackedFile packed(file.get(), path.ends_with(".zst") || path.ends_with(".zstd"));
  write_native(trace, [&](std::string_view text) { packed.write(text); });
  packed.write({}, true);
  if (packed.failed() || std::fflush(file.get()) != 0) {
    return failure("writing failed");
  }
  return {};
}

}  // namespace rehearse::traces
