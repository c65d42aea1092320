#include <algorithm>
#include <bochner/base/join.hpp>
#include <bochner/base/registry.hpp>
#include <bochner/base/shape.hpp>

namespace bochner {

bool is_bare_name(std::string_view name) {
  return !name.empty() && name.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                              std::string_view::npos;
}

std::vector<std::string> KindList::names() const {
  std::vector<std::string> all;
  for (const Kind& kind : kinds_) all.push_back(kind.name);
  return all;
}

std::vector<std::string> KindList::added_names() const {
  std::vector<std::string> added;
  for (const Kind& kind : kinds_)
    if (kind.is_added) added.push_back(kind.name);
  return added;
}

bool KindList::is_built_in(const std::string& name) const {
  const Kind* found = find(name);
  return found && !found->is_added;
}

void KindList::describe_own(Keys& keys, OwnSpecs& own, const std::string& key) const {
  for (const Kind& kind : kinds_)
    for (const DescribeOwn describe_one : kind.describe_own)
      keys.of_kind(
          kind.name, [&] { describe_one(keys, own); }, kind.is_added, key);
}

std::size_t KindList::index_of(const std::string& name) const {
  const Kind* found = find(name);
  require(found != nullptr, what_, "no ", what_, " is called \"", name,
          "\"; there are: ", joined(kinds_, ", ", &Kind::name));
  return std::size_t(found - kinds_.data());
}

std::size_t KindList::put(const std::string& name, DescribeOwn describe_one) {
  require(is_bare_name(name), what_, "invalid name for a ", what_, ": \"", name,
          "\"; use letters, digits, _ and -");
  const Kind* found = find(name);
  require(!found || found->is_added, what_, "the ", what_, " \"", name,
          "\" is built in; choose another name");
  Kind kind{name, {}};
  if (describe_one) kind.describe_own.push_back(describe_one);
  const auto index = found ? std::size_t(found - kinds_.data()) : kinds_.size();
  if (!found) kinds_.emplace_back();
  kinds_[index] = std::move(kind);
  ++count();
  return index;
}

void KindList::mark_built_in() {
  for (Kind& kind : kinds_) kind.is_added = false;
}

void KindList::share(const std::string& name, DescribeOwn describe_one) {
  kinds_[index_of(name)].describe_own.push_back(describe_one);
  ++count();
}

const KindList::Kind* KindList::find(const std::string& name) const {
  const auto found = std::ranges::find(kinds_, name, &Kind::name);
  return found == kinds_.end() ? nullptr : &*found;
}

Bounds one_of(KindsOf registry, std::vector<std::string> first) {
  Bounds bounds = one_of([registry, first = std::move(first)] {
    std::vector<std::string> names = first;
    for (std::string& name : registry->names()) names.push_back(std::move(name));
    return names;
  });
  bounds.added = [registry] { return registry->added_names(); };
  return bounds;
}

KeyCondition has_kind(std::string key, KindsOf registry, std::string trait,
                      std::function<bool(const std::string&)> has) {
  const auto kinds = [registry, has = std::move(has)] {
    std::vector<std::string> names = registry->names();
    std::erase_if(names, [&](const std::string& name) { return !has(name); });
    return names;
  };
  return {.form = KeyCondition::Form::one_of,
          .key = std::move(key),
          .trait = std::move(trait),
          .kinds = kinds,
          .only_named = true};
}

}  // namespace bochner
