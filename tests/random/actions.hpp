// Are the actions of two cores the same?
#pragma once

#include "scheduler/action.hpp"

namespace rehearse::testing {

[[nodiscard]] bool same_actions(const scheduler::Actions& left, const scheduler::Actions& right);

}  // namespace rehearse::testing
