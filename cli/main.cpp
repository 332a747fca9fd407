// The program. Everything is in the library, where tests can reach it.
#include <string>
#include <vector>

#include "cli/verbs.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return rehearse::cli::run_program(arguments);
}
