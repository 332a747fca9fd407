// Conversations with a scheduler core in text: an engine of words. A script is a sequence of
// commands, each followed by a line `----` and what the core answered; blank lines separate them,
// and lines that begin with # are for the reader. The commands:
//
//   core psd[axis=value,...]           a new core with this configuration
//   profile NAME cpus=N gpus=N         before the first executor; `default` has one cpu
//   expect|join NAME cpus=N gpus=N host=H profile=P    it is due; it joins (as the one that is due)
//   give-up|hold|release|drain NAME
//   lose NAME CAUSE                    process (if none is given), exit_by_app, host, decommission
//   submit JOB                         then lines: stage NAME tasks=N profile=P commits=C prefers=E
//                                      for=JOB/STAGE, and: edge FROM TO pipelined
//                                      after `shared`, later jobs may read its stages
//   end|fail|killed TASK               a success; a failure (exception, or the word that follows;
//                                      fetch_failed FROM PARTITION); killed from outside
//   freed TASK|all                     a kill took effect
//                                      TASK: job/stage/partition, of attempt n:
//                                      job/stage/partition@n
//   timer N · cancel JOB · forget JOB · stuck · pass
//   remember · same                    keeps a copy of the core; is the core equal to it?
//   probe                              counts and free slots
//
// An answer has one line per action: journal lines without time, `launch`, `end`, `kill`, `timer`;
// `(nothing)` if there is none; and `wants a pass` if the core does and the command is no pass.
#pragma once

#include <string>
#include <string_view>

namespace rehearse::testing {

// Runs all commands of a script and returns it with the answers that the core gives. Comments and
// commands stay as they are. Throws std::invalid_argument, with the line, on what it cannot read.
[[nodiscard]] std::string run_core_script(std::string_view script);

}  // namespace rehearse::testing
