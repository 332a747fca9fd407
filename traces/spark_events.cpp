// registry: none (a part of the reader of Spark event logs)
// JSON lines to plain records: one function per event, reading the keys that matter and skipping
// the rest. Reading may throw (simdjson's errors, and FieldError of our own); the throw ends in
// SparkEventReader::read, before anything was applied.
#include "traces/spark_events.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "model/resources.hpp"
#include "traces/spark_apply.hpp"
#include "traces/spark_event_names.hpp"

namespace rehearse::traces {
namespace {

namespace ondemand = simdjson::ondemand;
using model::Error;

static_assert(line_padding >= simdjson::SIMDJSON_PADDING);

constexpr std::int64_t tasks_max = 100'000'000;          // of one stage; more is a damaged number
constexpr std::int64_t time_max_ms = 3'153'600'000'000;  // a hundred years after 1970
constexpr std::int64_t amount_max = std::int64_t{1} << 50U;  // of a metric, in its own unit

// A key that is missing, or a value that cannot be.
struct FieldError {
  std::string code;
  std::string what;
};

// 1/1000 of a unit. What Spark asks of a fraction is how many tasks share one unit (floor of 1 /
// amount), and 1/16 of a GPU is no whole number of thousandths: the thousandths chosen give that
// number of tasks.
std::int64_t to_milli(double amount) {
  constexpr double rounding = 1e-9;
  constexpr double most = 1e12;
  if (!(amount >= 0.0 && amount <= most)) {
    throw FieldError{"T010", "is no amount of a resource"};
  }
  if (amount > 0.0 && amount < 0.001) {
    return 1;
  }
  if (amount > 0.0 && amount <= 0.5) {
    const auto sharing = static_cast<std::int64_t>(1.0 / amount + rounding);
    return std::max<std::int64_t>(1, model::milli / sharing);
  }
  return std::llround(amount * 1000.0);
}

template <class Function>
void each_field(ondemand::value value, Function&& function) {
  if (value.type() == ondemand::json_type::null) {
    return;
  }
  for (auto field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    ondemand::value item = field.value();
    function(key, item);
  }
}

std::string text_of(ondemand::value value) {
  return value.type() == ondemand::json_type::string ? std::string(std::string_view(value))
                                                     : std::string();
}

std::vector<std::int64_t> integers_of(ondemand::value value) {
  std::vector<std::int64_t> numbers;
  for (auto item : value.get_array()) {
    numbers.push_back(item.get_int64());
  }
  return numbers;
}

// simdjson's own codes for "the value is of another type": everything else is not JSON at all.
bool is_type_error(simdjson::error_code code) {
  return code == simdjson::INCORRECT_TYPE || code == simdjson::NUMBER_ERROR ||
         code == simdjson::NUMBER_OUT_OF_RANGE || code == simdjson::NO_SUCH_FIELD;
}

simdjson::padded_string_view padded(std::string_view text) {
  return simdjson::padded_string_view(text.data(), text.size(),
                                      text.size() + simdjson::SIMDJSON_PADDING);
}

}  // namespace

struct SparkEventReader::State {
  State(SparkLog& target, bool is_strict) : log(target), apply(target), strict(is_strict) {}

  SparkLog& log;
  SparkApply apply;
  bool strict;
  ondemand::parser parser;
  std::string_view field;  // what is being read, for messages

  std::int64_t integer(std::string_view name, ondemand::value value) {
    field = name;
    return value.get_int64();
  }

  // A point in time. Spark writes 0 or less for one that it does not know.
  std::optional<std::int64_t> moment(std::string_view name, ondemand::value value) {
    const std::int64_t at_ms = integer(name, value);
    if (at_ms > time_max_ms) {
      throw FieldError{"T010",
                       "is " + std::to_string(at_ms) + " ms, a hundred years after 1970 or more"};
    }
    return at_ms > 0 ? std::optional(at_ms) : std::nullopt;
  }

  // A number of something, or an id.
  std::int64_t count(std::string_view name, ondemand::value value) {
    const std::int64_t number = integer(name, value);
    if (number < 0 || number > tasks_max) {
      throw FieldError{
          "T010", "is " + std::to_string(number) + ", expected 0 to " + std::to_string(tasks_max)};
    }
    return number;
  }

  // A metric: what cannot be is cut to what can.
  std::int64_t metric(std::string_view name, ondemand::value value) {
    return std::clamp<std::int64_t>(integer(name, value), 0, amount_max);
  }

  template <class T>
  const T& needed(std::string_view name, const std::optional<T>& value) {
    if (!value) {
      field = name;
      throw FieldError{"T006", "is missing"};
    }
    return *value;
  }

  void read_rdds(ondemand::value value, SparkStageInfo& info) {
    bool first = true;
    for (auto rdd : value.get_array()) {
      each_field(rdd.value(), [&](std::string_view key, ondemand::value item) {
        if (key == "RDD ID") {
          info.rdds.push_back(integer("Stage Info.RDD Info.RDD ID", item));
        } else if (key == "Barrier") {
          info.barrier = bool(item.get_bool()) || info.barrier;
        } else if (key == "DeterministicLevel" && first) {
          // The first RDD listed is the stage's own last one: its level is that of the output.
          info.indeterminate = text_of(item) == "INDETERMINATE";
        }
      });
      first = false;
    }
    std::sort(info.rdds.begin(), info.rdds.end());
    info.rdds.erase(std::unique(info.rdds.begin(), info.rdds.end()), info.rdds.end());
  }

  SparkStageInfo read_stage_info(ondemand::value value) {
    SparkStageInfo info;
    each_field(value, [&](std::string_view key, ondemand::value item) {
      if (key == "Stage ID") {
        info.id = integer("Stage Info.Stage ID", item);
      } else if (key == "Stage Attempt ID") {
        info.attempt = count("Stage Info.Stage Attempt ID", item);
      } else if (key == "Stage Name") {
        info.label = text_of(item);
      } else if (key == "Number of Tasks") {
        info.tasks = count("Stage Info.Number of Tasks", item);
      } else if (key == "RDD Info") {
        field = "Stage Info.RDD Info";
        read_rdds(item, info);
      } else if (key == "Parent IDs") {
        field = "Stage Info.Parent IDs";
        info.parents = integers_of(item);
      } else if (key == "Submission Time") {
        info.submitted_ms = moment("Stage Info.Submission Time", item);
      } else if (key == "Completion Time") {
        info.completed_ms = moment("Stage Info.Completion Time", item);
      } else if (key == "Resource Profile Id") {
        info.profile = count("Stage Info.Resource Profile Id", item);
      }
    });
    needed("Stage Info.Stage ID", info.id);
    needed("Stage Info.Number of Tasks", info.tasks);
    return info;
  }

  SparkTaskInfo read_task_info(ondemand::value value) {
    SparkTaskInfo info;
    each_field(value, [&](std::string_view key, ondemand::value item) {
      if (key == "Task ID") {
        info.id = integer("Task Info.Task ID", item);
      } else if (key == "Index") {
        info.index = integer("Task Info.Index", item);
      } else if (key == "Partition ID") {
        info.partition = integer("Task Info.Partition ID", item);
      } else if (key == "Attempt") {
        info.attempt = count("Task Info.Attempt", item);
      } else if (key == "Launch Time") {
        info.launch_ms = moment("Task Info.Launch Time", item);
      } else if (key == "Finish Time") {
        info.finish_ms = moment("Task Info.Finish Time", item).value_or(0);
      } else if (key == "Executor ID") {
        info.executor = text_of(item);
      } else if (key == "Host") {
        info.host = text_of(item);
      }
    });
    needed("Task Info.Task ID", info.id);
    needed("Task Info.Index", info.index);
    needed("Task Info.Launch Time", info.launch_ms);
    return info;
  }

  SparkTaskMetrics read_metrics(ondemand::value value) {
    SparkTaskMetrics metrics;
    each_field(value, [&](std::string_view key, ondemand::value item) {
      metrics.present = true;
      if (key == "Executor Deserialize Time") {
        metrics.deserialize_ms = metric("Task Metrics.Executor Deserialize Time", item);
      } else if (key == "Executor Run Time") {
        metrics.run_ms = metric("Task Metrics.Executor Run Time", item);
      } else if (key == "Result Serialization Time") {
        metrics.serialize_ms = metric("Task Metrics.Result Serialization Time", item);
      } else if (key == "Shuffle Read Metrics") {
        each_field(item, [&](std::string_view part, ondemand::value amount) {
          if (part == "Fetch Wait Time") {
            metrics.fetch_wait_ms = metric("Shuffle Read Metrics.Fetch Wait Time", amount);
          } else if (part == "Remote Bytes Read" || part == "Local Bytes Read") {
            metrics.read_bytes += metric("Shuffle Read Metrics bytes", amount);
          }
        });
      } else if (key == "Shuffle Write Metrics") {
        each_field(item, [&](std::string_view part, ondemand::value amount) {
          if (part == "Shuffle Bytes Written") {
            metrics.written_bytes = metric("Shuffle Write Metrics bytes", amount);
          } else if (part == "Shuffle Write Time") {
            metrics.write_ns = metric("Shuffle Write Metrics.Shuffle Write Time", amount);
          }
        });
      }
    });
    return metrics;
  }

  void log_start(ondemand::value event) {
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Spark Version") {
        log.version = text_of(item);
      }
    });
  }

  void application_start(ondemand::value event) {
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "App Name") {
        log.app_name = text_of(item);
      } else if (key == "App ID") {
        log.app_id = text_of(item);
      } else if (key == "App Attempt ID") {
        log.attempt = text_of(item);
      } else if (key == "Timestamp") {
        log.app_start_ms = moment("Timestamp", item);
      }
    });
  }

  void application_end(ondemand::value event) {
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Timestamp") {
        log.app_end_ms = moment("Timestamp", item);
      }
    });
  }

  void environment(ondemand::value event) {
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key != "Spark Properties") {
        return;
      }
      each_field(item, [&](std::string_view name, ondemand::value value) {
        if (name == "spark.task.cpus") {
          const std::string text = text_of(value);
          const bool digits = !text.empty() && text.size() < 6 &&
                              text.find_first_not_of("0123456789") == std::string::npos;
          log.task_cpus = digits ? std::max<std::int64_t>(1, std::stoll(text)) : 1;
        }
      });
    });
  }

  void profile_added(ondemand::value event) {
    std::optional<std::int64_t> id;
    SparkProfile profile;
    const auto amounts = [&](ondemand::value requests, auto&& take) {
      each_field(requests, [&](std::string_view name, ondemand::value request) {
        const std::string resource(name);
        each_field(request, [&](std::string_view key, ondemand::value amount) {
          if (key == "Amount") {
            take(resource, to_milli(amount.get_double()));
          }
        });
      });
    };
    each_field(event, [&](std::string_view key, ondemand::value item) {
      field = "Resource Profile";
      if (key == "Resource Profile Id") {
        id = count("Resource Profile Id", item);
      } else if (key == "Executor Resource Requests") {
        amounts(item, [&](const std::string& name, std::int64_t milli) {
          profile.executor_amount[name] = milli / model::milli;
        });
      } else if (key == "Task Resource Requests") {
        amounts(item, [&](const std::string& name, std::int64_t milli) {
          profile.task_milli[name] = milli;
        });
      }
    });
    log.profiles[needed("Resource Profile Id", id)] = std::move(profile);
  }

  void read_executor_info(ondemand::value value, SparkExecutor& executor) {
    each_field(value, [&](std::string_view key, ondemand::value item) {
      if (key == "Host") {
        executor.host = text_of(item);
      } else if (key == "Total Cores") {
        executor.cores = count("Executor Info.Total Cores", item);
      } else if (key == "Resource Profile Id") {
        executor.profile = count("Executor Info.Resource Profile Id", item);
      } else if (key == "Resources") {
        each_field(item, [&](std::string_view name, ondemand::value resource) {
          const std::string text(name);
          each_field(resource, [&](std::string_view part, ondemand::value addresses) {
            if (part == "addresses") {
              executor.amounts[text] =
                  static_cast<std::int64_t>(std::size_t(addresses.count_elements()));
            }
          });
        });
      }
    });
  }

  SparkExecutor read_executor_added(ondemand::value event) {
    SparkExecutor added;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Timestamp") {
        added.added_ms = moment("Timestamp", item);
      } else if (key == "Executor ID") {
        added.id = text_of(item);
      } else if (key == "Executor Info") {
        read_executor_info(item, added);
      }
    });
    needed("Timestamp", added.added_ms);
    return added;
  }

  SparkExecutorRemoved read_executor_removed(ondemand::value event) {
    SparkExecutorRemoved removed;
    std::optional<std::int64_t> at_ms;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Timestamp") {
        at_ms = moment("Timestamp", item);
      } else if (key == "Executor ID") {
        removed.id = text_of(item);
      } else if (key == "Removed Reason") {
        removed.reason = text_of(item);
      }
    });
    removed.at_ms = needed("Timestamp", at_ms);
    return removed;
  }

  void read_job_properties(ondemand::value value, SparkJob& job) {
    std::string root;
    std::string query;
    std::string batch;
    each_field(value, [&](std::string_view key, ondemand::value item) {
      if (key == "spark.sql.execution.id") {
        job.sql = text_of(item);
      } else if (key == "spark.sql.execution.root.id") {
        root = text_of(item);
      } else if (key == "spark.scheduler.pool") {
        job.pool = text_of(item);
      } else if (key == "spark.jobGroup.id") {
        job.group = text_of(item);
      } else if (key == "sql.streaming.queryId") {
        query = text_of(item);
      } else if (key == "streaming.sql.batchId") {
        batch = text_of(item);
      }
    });
    if (!root.empty()) {
      job.sql = root;
    }
    if (!batch.empty()) {
      job.batch = query.empty() ? batch : query + ":" + batch;
    }
  }

  SparkJobStart read_job_start(ondemand::value event) {
    std::optional<std::int64_t> id;
    SparkJobStart start;
    SparkJob& job = start.job;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Job ID") {
        id = integer("Job ID", item);
      } else if (key == "Submission Time") {
        job.submitted_ms = moment("Submission Time", item);
      } else if (key == "Stage Infos") {
        field = "Stage Infos";
        for (auto info : item.get_array()) {
          start.stages.push_back(read_stage_info(info.value()));
        }
      } else if (key == "Stage IDs") {
        field = "Stage IDs";
        job.stages = integers_of(item);
      } else if (key == "Properties") {
        field = "Properties";
        read_job_properties(item, job);
      }
    });
    job.id = needed("Job ID", id);
    return start;
  }

  SparkJobEnd read_job_end(ondemand::value event) {
    std::optional<std::int64_t> id;
    SparkJobEnd end;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Job ID") {
        id = integer("Job ID", item);
      } else if (key == "Completion Time") {
        end.completed_ms = moment("Completion Time", item);
      } else if (key == "Job Result") {
        each_field(item, [&](std::string_view part, ondemand::value text) {
          if (part == "Result") {
            end.succeeded = text_of(text) == "JobSucceeded";
          }
        });
      }
    });
    end.job = needed("Job ID", id);
    return end;
  }

  SparkStageInfo read_stage_event(ondemand::value event) {
    std::optional<SparkStageInfo> info;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Stage Info") {
        info = read_stage_info(item);
      }
    });
    return needed("Stage Info", info);
  }

  SparkTaskStart read_task_start(ondemand::value event) {
    SparkTaskStart start;
    std::optional<std::int64_t> stage;
    std::optional<SparkTaskInfo> task;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Stage ID") {
        stage = integer("Stage ID", item);
      } else if (key == "Task Info") {
        task = read_task_info(item);
      }
    });
    start.stage = needed("Stage ID", stage);
    start.task = needed("Task Info", task);
    return start;
  }

  SparkTaskEnd read_task_end(ondemand::value event) {
    SparkTaskEnd end;
    bool task_seen = false;
    each_field(event, [&](std::string_view key, ondemand::value item) {
      if (key == "Stage ID") {
        end.stage = integer("Stage ID", item);
      } else if (key == "Stage Attempt ID") {
        end.stage_attempt = count("Stage Attempt ID", item);
      } else if (key == "Task Type") {
        end.writes_shuffle = text_of(item) == "ShuffleMapTask";
      } else if (key == "Task End Reason") {
        each_field(item, [&](std::string_view part, ondemand::value text) {
          if (part == "Reason") {
            end.reason = text_of(text);
          }
        });
      } else if (key == "Task Info") {
        end.task = read_task_info(item);
        task_seen = true;
      } else if (key == "Task Metrics") {
        end.metrics = read_metrics(item);
      }
    });
    needed("Stage ID", end.stage);
    if (!task_seen) {
      field = "Task Info";
      throw FieldError{"T006", "is missing"};
    }
    return end;
  }

  void task_end(ondemand::value event) {
    const SparkTaskEnd end = read_task_end(event);
    const std::int64_t partition = end.task.partition.value_or(*end.task.index);
    if (partition < 0 || partition > tasks_max) {
      field = "Task Info.Index";
      throw FieldError{"T010", "is " + std::to_string(partition)};
    }
    apply.task_end(end, partition);
  }

  void job_start(ondemand::value event) {
    SparkJobStart start = read_job_start(event);
    const std::int64_t id = start.job.id;
    if (!apply.job_start(std::move(start))) {
      field = "Job ID";
      throw FieldError{"T007", "job " + std::to_string(id) + " starts twice, differently"};
    }
  }

  void dispatch(SparkEvent event, ondemand::value value) {
    switch (event) {
      case SparkEvent::task_end:
        return task_end(value);
      case SparkEvent::task_start:
        return apply.task_start(read_task_start(value));
      case SparkEvent::stage_submitted:
        return apply.stage_submitted(read_stage_event(value));
      case SparkEvent::stage_completed:
        return apply.stage_completed(read_stage_event(value));
      case SparkEvent::job_start:
        return job_start(value);
      case SparkEvent::job_end:
        return apply.job_end(read_job_end(value));
      case SparkEvent::executor_added:
        return apply.executor_added(read_executor_added(value));
      case SparkEvent::executor_removed:
        return apply.executor_removed(read_executor_removed(value));
      case SparkEvent::environment:
        return environment(value);
      case SparkEvent::profile_added:
        return profile_added(value);
      case SparkEvent::application_start:
        return application_start(value);
      case SparkEvent::application_end:
        return application_end(value);
      case SparkEvent::log_start:
        return log_start(value);
      case SparkEvent::ignored:
      case SparkEvent::unknown:
        return;
    }
  }

  // The name of the event, also where it is not the first key; empty when there is none.
  std::string name_of_event(std::string_view text) {
    if (const std::string_view sniffed = sniff_spark_event(text); !sniffed.empty()) {
      return std::string(sniffed);
    }
    ondemand::document document = parser.iterate(padded(text));
    ondemand::object object = document.get_object();
    std::string_view name;
    return object.find_field_unordered("Event").get_string().get(name) == simdjson::SUCCESS
               ? std::string(name)
               : std::string();
  }

  // Reads and applies one line of valid UTF-8.
  void read(std::string_view text, const Line& line) {
    const std::string_view sniffed = sniff_spark_event(text);
    const std::string slow = sniffed.empty() ? name_of_event(text) : std::string();
    const std::string_view name = sniffed.empty() ? std::string_view(slow) : sniffed;
    if (name.empty()) {
      apply.warn("line without an event: skipped");
      return;
    }
    log.any_event = true;
    const SparkEvent event = spark_event_of(name);
    if (event == SparkEvent::unknown) {
      apply.warn("event of an unknown kind: skipped", name);
    } else if (event != SparkEvent::ignored) {
      if (line.cut) {
        throw FieldError{"T005", "is longer than the limit of a line"};
      }
      ondemand::document document = parser.iterate(padded(text));
      dispatch(event, document.get_value());
    }
  }

  void read_repaired(const Line& line) {
    try {
      read(line.text, line);
    } catch (const simdjson::simdjson_error& thrown) {
      if (thrown.error() != simdjson::UTF8_ERROR) {
        throw;
      }
      apply.warn("invalid UTF-8 was replaced");
      const std::string repaired = with_valid_utf8(line.text, line_padding);
      read(repaired, line);
    }
  }
};

SparkEventReader::SparkEventReader(SparkLog& log, bool strict)
    : state_(std::make_unique<State>(log, strict)) {}
SparkEventReader::~SparkEventReader() = default;

std::optional<Error> SparkEventReader::read(const Line& line, const std::string& file,
                                            const std::string& warn_as) {
  State& state = *state_;
  state.apply.at({warn_as, line.number});
  state.field = {};
  Error error{.what = {}, .file = file, .line = line.number};
  try {
    state.read_repaired(line);
    return std::nullopt;
  } catch (const simdjson::simdjson_error& thrown) {
    error.code = is_type_error(thrown.error()) ? "T006" : "T005";
    error.what = is_type_error(thrown.error()) ? "has another type or value than expected"
                                               : "malformed JSON";
    error.what += std::string(" (") + simdjson::error_message(thrown.error()) + ")";
  } catch (const FieldError& thrown) {
    error.code = thrown.code;
    error.what = thrown.what;
  }
  error.field = state.field;
  error.what += ", in the line at byte " + std::to_string(line.offset);
  if (!line.terminated) {
    state.apply.warn("last line is cut: it is left out");
    return std::nullopt;
  }
  if (state.strict) {
    error.remedy = "read it without --strict to skip and count such lines";
    return error;
  }
  const std::string field = error.field.empty() ? "" : error.field + ": ";
  state.apply.warn(error.code + ": " + field + "line skipped", error.what);
  return std::nullopt;
}

}  // namespace rehearse::traces
