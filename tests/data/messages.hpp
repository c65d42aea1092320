#pragma once

#include <gtest/gtest.h>

#include <string>

namespace bochner {

/// The message of the exception of type Error that `action` throws; "" where it throws none.
template <class Error, class Action>
std::string message_or_none(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// The message of the exception of type Error that `action` must throw.
template <class Error, class Action>
std::string message_of(const Action& action) {
  const std::string message = message_or_none<Error>(action);
  EXPECT_NE(message, "") << "nothing was thrown";
  return message;
}

}  // namespace bochner
