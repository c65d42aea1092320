#pragma once
#include <bochner/train/tasks/task_kinds.hpp>

namespace bochner {

/// Adds the rows of language models of events.
AddTaskKinds add_event_token_kinds;

}  // namespace bochner
