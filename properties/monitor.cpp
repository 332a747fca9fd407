// Keeps the first violations of a monitor and counts the others.
// registry: none (what all monitors share)
#include "properties/monitor.hpp"

#include <utility>

#include "properties/track.hpp"

namespace rehearse::properties {

void Monitor::found(std::string detail) {
  first_found_at_ = count_ == 0 ? track_->sequence() : first_found_at_;
  ++count_;
  if (violations_.size() < kept_max) {
    violations_.push_back({.property = {}, .t = track_->now(), .detail = std::move(detail)});
  }
}

}  // namespace rehearse::properties
