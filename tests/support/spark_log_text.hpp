// Spark event logs written by hand for the tests of traces/: one call per line, only the keys that
// a reader needs. Times are milliseconds after base_ms.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace rehearse::testing {

inline constexpr std::int64_t base_ms = 1'700'000'000'000;

struct StageText {
  int id = 0;
  int tasks = 1;
  std::vector<int> rdds = {};
  std::vector<int> parents = {};
  int attempt = 0;
  int profile = 0;
  std::string extra_rdd = {};  // more keys of every RDD, with a leading comma
  std::string name = "stage";
  bool name_parents = true;
};

struct TaskText {
  int stage = 0;
  int id = 0;
  int index = 0;
  std::int64_t launch = 0;
  std::int64_t finish = 0;
  std::string executor = "1";
  std::string reason = "Success";
  std::string type = "ShuffleMapTask";
  int attempt = 0;
  int stage_attempt = 0;
  std::string metrics = {};  // the object; empty = none
};

class SparkLogText {
 public:
  SparkLogText& line(std::string_view text) {
    text_.append(text).append("\n");
    return *this;
  }
  SparkLogText& start(std::int64_t at = 0) {
    line(R"({"Event":"SparkListenerLogStart","Spark Version":"3.5.1"})");
    return line(fmt::format(
        R"({{"Event":"SparkListenerApplicationStart","App Name":"test","App ID":"app-1",)"
        R"("Timestamp":{},"User":"u"}})",
        base_ms + at));
  }
  SparkLogText& end(std::int64_t at) {
    return line(
        fmt::format(R"({{"Event":"SparkListenerApplicationEnd","Timestamp":{}}})", base_ms + at));
  }
  SparkLogText& executor(std::string_view id, int cores, std::int64_t at = 0,
                         std::string_view more = "") {
    return line(
        fmt::format(R"({{"Event":"SparkListenerExecutorAdded","Timestamp":{},"Executor ID":"{}",)"
                    R"("Executor Info":{{"Host":"h{}","Total Cores":{},"Log Urls":{{}}{}}}}})",
                    base_ms + at, id, id, cores, more));
  }
  SparkLogText& removed(std::string_view id, std::int64_t at) {
    return line(
        fmt::format(R"({{"Event":"SparkListenerExecutorRemoved","Timestamp":{},"Executor ID":"{}",)"
                    R"("Removed Reason":"idle"}})",
                    base_ms + at, id));
  }
  SparkLogText& job(int id, std::int64_t at, const std::vector<StageText>& stages,
                    std::string_view properties = "{}") {
    std::string infos;
    std::string ids;
    for (const StageText& stage : stages) {
      infos += (infos.empty() ? "" : ",") + info(stage, -1, -1);
      ids += (ids.empty() ? "" : ",") + std::to_string(stage.id);
    }
    return line(fmt::format(R"({{"Event":"SparkListenerJobStart","Job ID":{},)"
                            R"("Submission Time":{},"Stage Infos":[{}],"Stage IDs":[{}],)"
                            R"("Properties":{}}})",
                            id, base_ms + at, infos, ids, properties));
  }
  SparkLogText& job_end(int id, std::int64_t at, std::string_view result = "JobSucceeded") {
    return line(fmt::format(R"({{"Event":"SparkListenerJobEnd","Job ID":{},)"
                            R"("Completion Time":{},"Job Result":{{"Result":"{}"}}}})",
                            id, base_ms + at, result));
  }
  SparkLogText& submitted(const StageText& stage, std::int64_t at) {
    return line(fmt::format(R"({{"Event":"SparkListenerStageSubmitted","Stage Info":{}}})",
                            info(stage, at, -1)));
  }
  SparkLogText& completed(const StageText& stage, std::int64_t from, std::int64_t to) {
    return line(fmt::format(R"({{"Event":"SparkListenerStageCompleted","Stage Info":{}}})",
                            info(stage, from, to)));
  }
  SparkLogText& task_start(const TaskText& task) {
    return line(fmt::format(R"({{"Event":"SparkListenerTaskStart","Stage ID":{},)"
                            R"("Stage Attempt ID":{},"Task Info":{}}})",
                            task.stage, task.stage_attempt, task_info(task, 0)));
  }
  SparkLogText& task_end(const TaskText& task) {
    return line(
        fmt::format(R"({{"Event":"SparkListenerTaskEnd","Stage ID":{},"Stage Attempt ID":{},)"
                    R"("Task Type":"{}","Task End Reason":{{"Reason":"{}"}},"Task Info":{}{}}})",
                    task.stage, task.stage_attempt, task.type, task.reason,
                    task_info(task, task.finish == 0 ? 0 : base_ms + task.finish),
                    task.metrics.empty() ? "" : ",\"Task Metrics\":" + task.metrics));
  }

  // A stage with all its tasks on one executor, each from `from` to `to`.
  SparkLogText& whole_stage(const StageText& stage, std::int64_t from, std::int64_t to,
                            std::string_view type = "ShuffleMapTask") {
    submitted(stage, from);
    for (int i = 0; i < stage.tasks; ++i) {
      task_end({.stage = stage.id,
                .id = stage.id * 100 + i,
                .index = i,
                .launch = from,
                .finish = to,
                .type = std::string(type)});
    }
    return completed(stage, from, to);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::string info(const StageText& stage, std::int64_t from, std::int64_t to) {
    std::string rdds;
    for (const int rdd : stage.rdds) {
      rdds += fmt::format("{}{{\"RDD ID\":{}{}}}", rdds.empty() ? "" : ",", rdd, stage.extra_rdd);
    }
    std::string parents;
    for (const int parent : stage.parents) {
      parents += (parents.empty() ? "" : ",") + std::to_string(parent);
    }
    std::string text = fmt::format(
        R"({{"Stage ID":{},"Stage Attempt ID":{},"Stage Name":"{}","Number of Tasks":{},)"
        R"("RDD Info":[{}])",
        stage.id, stage.attempt, stage.name, stage.tasks, rdds);
    if (stage.name_parents) {
      text += ",\"Parent IDs\":[" + parents + "]";
    }
    if (from >= 0) {
      text += ",\"Submission Time\":" + std::to_string(base_ms + from);
    }
    if (to >= 0) {
      text += ",\"Completion Time\":" + std::to_string(base_ms + to);
    }
    return text + ",\"Resource Profile Id\":" + std::to_string(stage.profile) + "}";
  }

  static std::string task_info(const TaskText& task, std::int64_t finish_ms) {
    return fmt::format(R"({{"Task ID":{},"Index":{},"Attempt":{},"Launch Time":{},)"
                       R"("Executor ID":"{}","Host":"h{}","Finish Time":{}}})",
                       task.id, task.index, task.attempt, base_ms + task.launch, task.executor,
                       task.executor, finish_ms);
  }

  std::string text_;
};

// Files of one test, gone with it.
class TestFolder {
 public:
  explicit TestFolder(std::string_view name)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("rehearse-{}-{}", getpid(), name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(std::string_view name, std::string_view content) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    return path.string();
  }
  [[nodiscard]] std::string path(std::string_view name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rehearse::testing
