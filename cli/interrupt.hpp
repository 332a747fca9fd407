// Ctrl-C: the first asks the runs to end where they are, so that what is complete is written; the
// second ends the program.
#pragma once

namespace rehearse::cli {

void install_interrupt_handler();

// True once the program was asked to end. Given to the simulation, which polls it.
[[nodiscard]] bool interrupted();

}  // namespace rehearse::cli
