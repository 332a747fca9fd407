// The entry point of every doctest binary. Tests themselves are under tests/unit and tests/spec.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
