#pragma once
/// xtensor's small and uninitialized vectors, at their places before and since 0.26.

#if __has_include(<xtensor/xstorage.hpp>)
#include <xtensor/xstorage.hpp>
#else
#include <xtensor/containers/xstorage.hpp>
#endif
