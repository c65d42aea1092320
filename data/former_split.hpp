#pragma once
/// Runs of older programs keep the rows that these have held out.

namespace bochner {

/// While one lives, held_out() takes in this thread n - floor(n (1 - fraction)) in double, as it
/// did before numerics revision 18: for some fractions that is one more.
class FormerSplit {
 public:
  FormerSplit();
  ~FormerSplit();
  FormerSplit(const FormerSplit&) = delete;
};

/// Whether the two rules had different answers to a call of held_out() in this thread since this
/// was asked last.
bool take_doubt_of_split();

}  // namespace bochner
