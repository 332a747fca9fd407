// One function per property: makes its monitor over a track. Statements and clauses are in
// registry.cpp; what each monitor can and cannot see is said in its own file.
#pragma once

#include <memory>

#include "properties/monitor.hpp"

namespace rehearse::properties {

using MakeMonitor = std::unique_ptr<Monitor> (*)(const Track&);

[[nodiscard]] std::unique_ptr<Monitor> make_no_oversubscription(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_reservation(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_gang(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_co_resident(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_closure(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_inputs_ready(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_deferred(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_job_success(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_group_atomic(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_no_lone_retry(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_no_retraction(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_task_accounting(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_commit_once(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_single_owner(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_fenced(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_reject_pure(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_quiescent(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_ledger(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_legal_order(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_claims_match(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_progress(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_no_starvation(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_work_conserving(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_no_livelock(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_prompt_failure(const Track& track);
[[nodiscard]] std::unique_ptr<Monitor> make_fail_fast(const Track& track);

}  // namespace rehearse::properties
