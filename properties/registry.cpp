// The one table of properties: those of properties.md in its order, then the project's own. Who
// promises which is in promises.cpp.
#include "properties/registry.hpp"

#include <algorithm>
#include <array>

namespace rehearse::properties {

namespace {

using enum PropertyKind;

constexpr Property unbuilt(std::string_view id, PropertyKind kind, std::string_view clause,
                           std::string_view statement, JudgedIn judged_in = JudgedIn::run) {
  return {id, kind, clause, statement, nullptr, judged_in};
}

constexpr auto properties = std::to_array<Property>({
    {"NO_OVERSUBSCRIPTION", always, "A4 A22 X12 X13; VE-S1",
     "executors run what fits; launches name a live executor that takes them and their profile",
     make_no_oversubscription},
    {"RESERVATION", always, "A2; VE-S2",
     "slots reserved at admission, or held by a bulk request, are there, and nobody else launches "
     "into them",
     make_reservation},
    {"GANG", always, "A2 A12; VE-S3",
     "at every quiescent instant a group has launched none or all of its tasks", make_gang},
    {"CO_RESIDENT", always, "C1; VE-S4",
     "before a member task ends well, all tasks of its group were running at one instant",
     make_co_resident},
    {"CLOSURE", always, "F2 F11; VE-S5",
     "groups are what the axis grouping says, fixed from submission on", make_closure},
    {"INPUTS_READY", always, "A1 X9; VE-S6",
     "nothing launches before its regular parents are complete and their outputs still there",
     make_inputs_ready},
    {"DEFERRED", always, "C2 C4; VE-S7",
     "members succeed only in one block at group commit, in topological order", make_deferred},
    {"JOB_SUCCESS", always, "C9 C7; VE-S8",
     "a job succeeds only after every group committed and every result partition was accepted once",
     make_job_success},
    {"GROUP_ATOMIC", always, "X1 X2 X4 X6 X17; VE-S9",
     "a group fails as one, at one instant, and touches nobody else", make_group_atomic},
    {"NO_LONE_RETRY", always, "X2 X10 X16; VE-S10",
     "members of a group always share one attempt number", make_no_lone_retry},
    {"NO_RETRACTION", always, "C11 X14; VE-S11 VE-S12",
     "no success is followed by a failure of the same attempt or job; one terminal event each",
     make_no_retraction},
    {"TASK_ACCOUNTING", always, "C3 X9; VE-S13",
     "every start has exactly one end, and a partition counts once", make_task_accounting},
    {"COMMIT_ONCE", always, "C8 C4; VE-S14",
     "a partition is committed at most once per attempt, and for once at most once per job",
     make_commit_once},
    {"SINGLE_OWNER", always, "F7; VE-S15", "a pipelined shuffle belongs to one live job",
     make_single_owner},
    {"FENCED", always, "X5 X9 X12; VE-S16",
     "events of dead executors, old epochs and old attempts of groups change nothing current",
     make_fenced},
    {"REJECT_PURE", always, "F9; VE-S17", "a rejected job leaves the core equal to before",
     make_reject_pure},
    {"QUIESCENT", eventually, "F9 X4 X14; VE-S18",
     "nothing is left of a job after its end plus the kill latency, nothing at all after the last",
     make_quiescent},
    {"LEDGER", always, "A4; VE-S19",
     "free is capacity less used, and the core's counters equal the journal's sums", make_ledger},
    {"LEGAL_ORDER", always, "C6 C12; VE-S20 VE-S23",
     "every task, stage, group and job follows its automaton", make_legal_order},
    {"CLAIMS_MATCH", always, "A2 A3 A5 A6 A9 A12 F9",
     "what the core claims is what was executed: launches, kills, slots, need and have",
     make_claims_match},
    unbuilt("SHUFFLE_COMPLETE", always, "W2; VE-S27",
            "a consumer that succeeds saw every record up to end of stream or its own close"),
    unbuilt("DELIVERED_ONCE", always, "section 1",
            "rows given by a failed attempt and again by a retry are never counted as success"),
    unbuilt("REPORT_HONEST", always, "VE-S28",
            "every number of a report names its set; unfinished or failed work is never fast",
            JudgedIn::tests),
    {"PROGRESS", eventually, "W5; VE-L1 VE-L2",
     "an admitted group ends; a live job has a future event", make_progress},
    {"NO_STARVATION", always, "A7 A16; VE-L3 VE-L9",
     "nobody is passed over more often than the bound of queue and overtake", make_no_starvation},
    {"WORK_CONSERVING", always, "A8 A20; VE-L4 VE-L5",
     "at quiescence the next candidate does not fit", make_work_conserving},
    {"NO_LIVELOCK", always, "VE-L6 VE-L7",
     "no state repeats without progress; retries are bounded and back off", make_no_livelock},
    {"PROMPT_FAILURE", eventually, "X4; VE-L8 VE-L10",
     "peers of a failed task end within the kill latency and their slots return",
     make_prompt_failure},
    unbuilt("DETERMINISTIC", always, "VE-N1 to VE-N9", "same scenario, same journal hash",
            JudgedIn::tests),
    // Of this project alone: docs/decisions/0020-rejections.md.
    {"FAIL_FAST", always, "F5 F6 F11 F12 F13 F15 C8; VE-S21",
     "what must be rejected is rejected, with all its codes in order, and nobody else with them",
     make_fail_fast},
});

}  // namespace

std::span<const Property> all_properties() { return properties; }

const Property* find_property(std::string_view id) {
  const auto at = std::find_if(properties.begin(), properties.end(),
                               [&](const Property& property) { return property.id == id; });
  return at == properties.end() ? nullptr : &*at;
}

}  // namespace rehearse::properties
