// registry: none (patterns of expectations, no property)
// Matching reads events through their keys, so that a new event needs nothing here.
#include "properties/event_match.hpp"

#include <fmt/format.h>

#include <charconv>
#include <type_traits>

#include "model/support/event_schema.hpp"
#include "model/support/journal_line.hpp"

namespace rehearse::properties {

using model::NameId;

namespace {

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

// What patterns look at; invalid or empty where the event has no such key.
struct Subject {
  NameId job;
  NameId stage;
  NameId executor;
  std::optional<std::int32_t> partition;
  std::int32_t last_partition = 0;  // of a slice
  bool has_job = false;
};

Subject subject_of(const model::Event& event) {
  Subject subject;
  std::visit(
      [&]<class Body>(const Body& body) {
        Body::keys(body, [&]<class T>(std::string_view key, const T& value) {
          if constexpr (std::is_same_v<T, NameId>) {
            if (key == "job") {
              subject.job = value;
              subject.has_job = true;
            } else if (key == "stage") {
              subject.stage = value;
            } else if (key == "executor") {
              subject.executor = value;
            }
          } else if constexpr (std::is_same_v<T, std::int32_t>) {
            if (key == "partition") {
              subject.partition = value;
            }
          }
        });
        if constexpr (requires { body.task.last(); }) {
          subject.last_partition = body.task.last();
        }
      },
      event.body);
  return subject;
}

std::map<std::string, std::int64_t> counts_of(const model::PerProfile& counts,
                                              const model::NameTable& names) {
  std::map<std::string, std::int64_t> result;
  for (const model::ProfileCount& item : counts) {
    result[std::string(names.text(item.profile))] = item.n;
  }
  return result;
}

std::map<std::string, std::int64_t> counts_of(const model::Amounts& amounts,
                                              const model::NameTable& names) {
  std::map<std::string, std::int64_t> result;
  for (const model::Amount& item : amounts) {
    result[std::string(names.text(item.resource))] = item.amount;
  }
  return result;
}

// One key against one wanted value.
struct KeyComparison {
  std::string_view key;
  const model::KeyMatch& wanted;
  const model::NameTable& names;

  template <class T>
  [[nodiscard]] bool same(const T& value) const {
    if constexpr (is_optional<T>) {
      return value && same(*value);
    } else if constexpr (std::is_same_v<T, NameId>) {
      const auto* text = std::get_if<std::string>(&wanted);
      const std::string_view seen = names.text(value);
      return text != nullptr && value.valid() &&
             (key == "detail" ? seen.find(*text) != std::string_view::npos : seen == *text);
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto* boolean = std::get_if<bool>(&wanted);
      return boolean != nullptr && *boolean == value;
    } else if constexpr (model::NamedEnum<T>) {
      const auto* text = std::get_if<std::string>(&wanted);
      return text != nullptr && *text == model::name_of(value);
    } else if constexpr (std::is_integral_v<T>) {
      const auto* integer = std::get_if<std::int64_t>(&wanted);
      return integer != nullptr && *integer == static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<T, model::PerProfile> ||
                         std::is_same_v<T, model::Amounts>) {
      const auto* counts = std::get_if<std::map<std::string, std::int64_t>>(&wanted);
      return counts != nullptr && *counts == counts_of(value, names);
    } else {
      return false;  // lists are compared as text
    }
  }
};

bool key_matches(const model::Event& event, std::string_view key, const model::KeyMatch& wanted,
                 const model::NameTable& names) {
  if (const auto* list = std::get_if<model::ListMatch>(&wanted)) {
    std::string text;
    return model::append_key_value(text, event, key, names) && text == list->json;
  }
  const KeyComparison comparison{key, wanted, names};
  bool matches = false;
  std::visit(
      [&]<class Body>(const Body& body) {
        Body::keys(body, [&](std::string_view name, const auto& value) {
          if (name == key) {
            matches = comparison.same(value);
          }
        });
      },
      event.body);
  return matches;
}

}  // namespace

std::vector<RepeatedJob> repeated_jobs(const std::vector<model::JobSpec>& jobs,
                                       const model::NameTable& names) {
  std::vector<RepeatedJob> repeated;
  for (const model::JobSpec& job : jobs) {
    if (job.repeat_count > 1) {
      repeated.push_back({std::string(names.text(job.name)), job.repeat_count});
    }
  }
  return repeated;
}

JobMatcher::JobMatcher(std::string_view name, const std::vector<RepeatedJob>& repeated)
    : any_(name.empty()) {
  const std::size_t hash = name.find('#');
  base_ = name.substr(0, hash);
  suffix_ = hash == std::string_view::npos ? std::string_view{} : name.substr(hash);
  for (const RepeatedJob& job : repeated) {
    if (job.name == base_) {
      count_ = job.count;
    }
  }
}

bool JobMatcher::matches(std::string_view job) const {
  if (any_) {
    return true;
  }
  if (!job.starts_with(base_)) {
    return false;
  }
  const std::string_view rest = job.substr(base_.size());
  if (count_ == 0) {
    return rest == suffix_;
  }
  std::int32_t copy = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), copy);
  const bool numbered = error == std::errc{} && !rest.empty() && rest.front() != '0';
  return numbered && copy >= 1 && copy <= count_ &&
         std::string_view(end, static_cast<std::size_t>(rest.data() + rest.size() - end)) ==
             suffix_;
}

std::vector<std::string> JobMatcher::names() const {
  if (any_) {
    return {};
  }
  if (count_ == 0) {
    return {base_ + suffix_};
  }
  std::vector<std::string> names;
  for (std::int32_t copy = 1; copy <= count_; ++copy) {
    names.push_back(fmt::format("{}{}{}", base_, copy, suffix_));
  }
  return names;
}

EventMatcher::EventMatcher(const model::EventPattern& pattern,
                           const std::vector<RepeatedJob>& repeated)
    : job_(pattern.job, repeated), stage_(pattern.stage), partition_(pattern.partition) {
  const auto& schemas = model::event_schemas();
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    if (schemas[i].name == pattern.event) {
      number_ = static_cast<int>(i) + 1;
    }
  }
}

bool EventMatcher::matches(const model::Event& event, const model::NameTable& names) const {
  const Subject subject = subject_of(event);
  const NameId who = subject.has_job ? subject.job : subject.executor;
  return job_.matches(names.text(who)) && (stage_.empty() || names.text(subject.stage) == stage_) &&
         (!partition_ || (subject.partition && *partition_ >= *subject.partition &&
                          *partition_ <= subject.last_partition));
}

bool keys_match(const model::Event& event, const std::map<std::string, model::KeyMatch>& keys,
                const model::NameTable& names) {
  for (const auto& [key, wanted] : keys) {
    if (!key_matches(event, key, wanted, names)) {
      return false;
    }
  }
  return true;
}

std::string to_string(const model::EventPattern& pattern) {
  std::string text = pattern.event;
  if (!pattern.job.empty()) {
    text += " " + pattern.job;
    text += pattern.stage.empty() ? "" : "/" + pattern.stage;
    text += pattern.partition ? "/" + std::to_string(*pattern.partition) : "";
  }
  return text;
}

std::string to_string(const std::map<std::string, model::KeyMatch>& keys) {
  std::string text;
  for (const auto& [key, wanted] : keys) {
    text += fmt::format("{}{} ", text.empty() ? "" : ", ", key);
    if (const auto* integer = std::get_if<std::int64_t>(&wanted)) {
      text += std::to_string(*integer);
    } else if (const auto* boolean = std::get_if<bool>(&wanted)) {
      text += *boolean ? "true" : "false";
    } else if (const auto* name = std::get_if<std::string>(&wanted)) {
      text += *name;
    } else if (const auto* list = std::get_if<model::ListMatch>(&wanted)) {
      text += list->json;
    } else {
      std::string counts;
      for (const auto& [name_of_count, count] :
           std::get<std::map<std::string, std::int64_t>>(wanted)) {
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name_of_count, count);
      }
      text += "{" + counts + "}";
    }
  }
  return text;
}

}  // namespace rehearse::properties
