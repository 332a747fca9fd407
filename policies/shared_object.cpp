// Loading of policies from shared objects.
// registry: none (policies of shared objects name themselves)
#include "policies/shared_object.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "policies/guard.hpp"

namespace rehearse::policies {

namespace {

using Exported = const ObjectTable* (*)();

std::unexpected<model::Error> refused(std::string what, std::string remedy) {
  model::Error error{.what = std::move(what)};
  error.remedy = std::move(remedy);
  return std::unexpected(std::move(error));
}

std::string last_message() {
  const char* message = dlerror();
  return message == nullptr ? "unknown cause" : message;
}

model::Result<const ObjectTable*> table_of(const model::PolicyObject& object) {
  const bool anywhere = object.file.find('/') == std::string::npos;
  const std::string path =
      anywhere ? "./" + object.file : object.file;  // not what ld.so would find
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return refused("the policies of " + object.file + " cannot be loaded: " + last_message(),
                   "build it with the compiler and the headers of this program");
  }
  const auto exported = reinterpret_cast<Exported>(dlsym(handle, "rehearse_policy_object"));
  if (exported == nullptr) {
    return refused(object.file + " exports no policies",
                   "end its file with REHEARSE_POLICY_OBJECT and build with "
                   "-DREHEARSE_SHARED_OBJECT (docs/add-a-policy.md)");
  }
  const ObjectTable* table = exported();
  if (table == nullptr || table->version != policy_interface_version) {
    return refused(object.file + " was built for another interface of policies",
                   "build it anew with the headers of this program");
  }
  return table;
}

template <class Interface>
model::Result<std::unique_ptr<Interface>> load(
    const model::PolicyObject& object, std::string_view axis,
    std::unique_ptr<Interface> (*ObjectRow::*maker)(Parameters)) {
  const model::Result<const ObjectTable*> table = table_of(object);
  if (!table) {
    return std::unexpected(table.error());
  }
  const std::span rows((*table)->rows, (*table)->count);
  const auto found = std::ranges::find_if(
      rows, [&object](const ObjectRow& row) { return object.name == row.name; });
  if (found == rows.end() || (*found).*maker == nullptr) {
    std::string names;
    for (const ObjectRow& row : rows) {
      names += row.*maker == nullptr ? "" : std::string(" ") + row.name;
    }
    return refused(object.file + " has no policy " + object.name + " for " + std::string(axis),
                   names.empty() ? "it has none for this axis" : "it has:" + names);
  }
  std::unique_ptr<Interface> policy = ((*found).*maker)(object.parameters);
  if (policy == nullptr) {
    return refused(object.file + ":" + object.name + " does not take these parameters",
                   "see what its author says of them");
  }
  return policy;
}

std::string label(const model::PolicyObject& object) { return object.file + ":" + object.name; }

}  // namespace

model::Result<std::unique_ptr<scheduler::QueuePolicy>> load_queue(
    const model::PolicyObject& object) {
  auto policy = load(object, "admission.queue", &ObjectRow::queue);
  return policy ? guarded(std::move(*policy), label(object)) : std::move(policy);
}

model::Result<std::unique_ptr<scheduler::OvertakePolicy>> load_overtake(
    const model::PolicyObject& object) {
  auto policy = load(object, "admission.overtake", &ObjectRow::overtake);
  return policy ? guarded(std::move(*policy), label(object)) : std::move(policy);
}

model::Result<std::unique_ptr<scheduler::PlacementPolicy>> load_placement(
    const model::PolicyObject& object) {
  auto policy = load(object, "placement", &ObjectRow::placement);
  return policy ? guarded(std::move(*policy), label(object)) : std::move(policy);
}

}  // namespace rehearse::policies
