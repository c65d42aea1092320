#pragma once

#include <gtest/gtest.h>

#include <string>

namespace bochner {

/// Returns the message of the Error that `action` throws, or "".
template <class Error, class Action>
std::string message_or_none(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Returns the message of the Error that `action` must throw.
template <class Error, class Action>
std::string message_of(const Action& action) {
  const std::string message = message_or_none<Error>(action);
  EXPECT_NE(message, "") << "nothing was thrown";
  return message;
}

}  // namespace bochner
