#pragma once
/// In-memory file system that can lose power: it separates what programs see from what is on disk,
/// and any subset of the effects in between may survive. Any operation can also be made to fail.

#include <algorithm>
#include <bochner/train/storage/storage.hpp>
#include <cerrno>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bochner::faults {

/// Thrown by the operation at the power loss and by all later ones.
struct PowerLoss {};

/// Seeded protocol bugs that a harness must catch.
struct SeededBugs {
  bool no_file_sync = false;
  bool no_directory_sync = false;
};

class CrashingStorage : public FileStorage {
 public:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  std::size_t crash_at = never;  ///< operations before the power loss
  std::size_t fail_at = never;   ///< operations before the first failure
  std::size_t failures = 1;      ///< number of consecutive failures
  int fail_with = ENOSPC;
  SeededBugs bugs;

  std::size_t operations() const { return operations_; }
  std::size_t failed() const { return failed_; }
  std::size_t pending() const { return pending_.size(); }
  /// Resets the counts and the planned faults.
  void calm() {
    operations_ = failed_ = 0;
    crash_at = fail_at = never;
  }

  /// Returns the disk after all pending effects.
  CrashingStorage settled() const {
    return after_crash(std::vector<bool>(pending_.size(), true), never);
  }

  /// Returns the disk after a power loss: the marked pending effects survive, in order, and of the
  /// last surviving write only the first `torn_bytes`.
  CrashingStorage after_crash(const std::vector<bool>& survives, std::size_t torn_bytes) const {
    CrashingStorage disk;
    disk.durable_contents_ = durable_contents_;
    disk.durable_names_ = durable_names_;
    disk.directories_ = directories_;
    std::size_t last_write = never;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (survives[i] && pending_[i].kind == Effect::write) last_write = i;
    }
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (!survives[i]) continue;
      Effect effect = pending_[i];
      if (i == last_write) effect.bytes.resize(std::min(effect.bytes.size(), torn_bytes));
      disk.make_durable(effect);
    }
    disk.drop_orphans();
    disk.names_ = disk.durable_names_;
    disk.contents_ = disk.durable_contents_;
    return disk;
  }

  std::string& bytes_of(const Path& path) { return contents_[find("open", path)]; }

  std::unique_ptr<StoredFile> create_exclusive(const Path& path) override {
    begin("create", path);
    if (names_.contains(key(path))) throw_io_error("open", path, EEXIST);
    return std::make_unique<File>(*this, path, make_node(path, false));
  }

  std::unique_ptr<StoredFile> open_append(const Path& path) override {
    if (names_.contains(key(path))) return std::make_unique<File>(*this, path, find("open", path));
    return create_exclusive(path);
  }

  std::unique_ptr<StoredFile> open_read(const Path& path) override {
    return std::make_unique<File>(*this, path, find("open", path));
  }

  void rename(const Path& from, const Path& to) override {
    begin("rename", from);
    const int node = find("rename", from);
    names_.erase(key(from));
    names_[key(to)] = node;
    pending_.push_back({Effect::rename, key(from), key(to), node, 0, {}});
  }

  void unlink(const Path& path) override {
    begin("remove", path);
    if (!names_.contains(key(path))) return;
    const int node = find("remove", path);
    names_.erase(key(path));
    pending_.push_back({Effect::unlink, key(path), {}, node, 0, {}});
  }

  void make_directory(const Path& path) override {
    begin("make directory", path);
    if (names_.contains(key(path))) throw_io_error("make directory", path, EEXIST);
    make_node(path, true);
  }

  void sync_directory(const Path& path) override {
    const auto concerned = [directory = key(path)](const Effect& effect) {
      return effect.names() && parent(effect.path) == directory;
    };
    sync_effects("sync", path, concerned, bugs.no_directory_sync);
  }

  bool exists(const Path& path) override { return key(path) == "." || names_.contains(key(path)); }

  std::vector<std::string> list(const Path& directory) override {
    if (!exists(directory)) throw_io_error("list", directory, ENOENT);
    std::vector<std::string> result;
    for (const auto& [path, node] : names_) {
      if (parent(path) == key(directory)) result.push_back(Path(path).filename().string());
    }
    return result;
  }

  std::unique_ptr<FileLock> lock(const Path& path) override {
    open_append(path);
    return std::make_unique<Lock>(*this, path);
  }
  std::string in_use(const Path&) override { return ""; }

 private:
  struct Effect {
    enum Kind { write, truncate, create, rename, unlink } kind;
    std::string path, target;
    int node;
    std::uint64_t offset;
    std::string bytes;
    bool names() const { return kind == create || kind == rename || kind == unlink; }
  };

  class Lock : public FileLock {
   public:
    Lock(CrashingStorage& storage, Path path) : storage_(storage), path_(std::move(path)) {}
    void require_held() override {
      if (!storage_.exists(path_)) throw InUseError(path_.string(), " was removed");
    }

   private:
    CrashingStorage& storage_;
    Path path_;
  };

  class File : public StoredFile {
   public:
    File(CrashingStorage& storage, Path path, int node)
        : storage_(storage), path_(std::move(path)), node_(node) {}

    void append(const void* data, std::size_t bytes) override {
      const std::string text(static_cast<const char*>(data), bytes);
      // A full disk stores some of the bytes before the error.
      const auto add_half = [&] { add(text.substr(0, text.size() / 2)); };
      storage_.begin("write", path_, add_half, add_half);
      add(text);
    }

    void read_at(std::uint64_t offset, void* data, std::size_t bytes) override {
      const std::string& contents = storage_.contents_[node_];
      if (offset > contents.size() || bytes > contents.size() - offset) {
        throw IoError(path_.string() + ": cannot read: the file ends early");
      }
      std::copy_n(contents.data() + offset, bytes, static_cast<char*>(data));
    }

    std::uint64_t size() override { return storage_.contents_[node_].size(); }

    void truncate(std::uint64_t size) override {
      storage_.begin("truncate", path_);
      storage_.contents_[node_].resize(size);
      storage_.pending_.push_back({Effect::truncate, {}, {}, node_, size, {}});
    }

    void sync() override {
      const auto concerned = [node = node_](const Effect& effect) {
        return !effect.names() && effect.node == node;
      };
      storage_.sync_effects("sync", path_, concerned, storage_.bugs.no_file_sync);
    }

    bool is_replaced() override {
      const auto found = storage_.names_.find(key(path_));
      return found == storage_.names_.end() || found->second != node_;
    }

    void close() override { storage_.begin("close", path_); }

   private:
    void add(const std::string& text) {
      std::string& contents = storage_.contents_[node_];
      storage_.pending_.push_back({Effect::write, {}, {}, node_, contents.size(), text});
      contents += text;
    }

    CrashingStorage& storage_;
    Path path_;
    int node_;
  };

  static std::string key(const Path& path) {
    const std::string text = path.lexically_normal().string();
    return text.empty() ? "." : text;
  }
  static std::string parent(const std::string& path) { return key(Path(path).parent_path()); }

  /// Counts an operation, and triggers the planned power loss or failure.
  void begin(
      const char* operation, const Path& path, const std::function<void()>& on_failure = [] {},
      const std::function<void()>& on_crash = [] {}) {
    const std::size_t index = operations_++;
    if (index == crash_at) on_crash();
    if (index >= crash_at) throw PowerLoss();
    if (index < fail_at || index - fail_at >= failures) return;
    ++failed_;
    on_failure();
    throw_io_error(operation, path, fail_with);
  }

  int find(const char* operation, const Path& path) {
    const auto found = names_.find(key(path));
    if (found == names_.end()) throw_io_error(operation, path, ENOENT);
    return found->second;
  }

  int make_node(const Path& path, bool directory) {
    if (parent(key(path)) != "." && !names_.contains(parent(key(path)))) {
      throw_io_error("create", path, ENOENT);
    }
    const int node = static_cast<int>(contents_.size());
    contents_.emplace_back();
    durable_contents_.emplace_back();
    if (directory) directories_.insert(node);
    names_[key(path)] = node;
    pending_.push_back({Effect::create, key(path), {}, node, 0, {}});
    return node;
  }

  /// Makes effects durable. A failed sync loses them: a later success does not mean they are on
  /// disk.
  template <class Concerned>
  void sync_effects(const char* operation, const Path& path, Concerned concerned, bool skip) {
    begin(operation, path, [&] { std::erase_if(pending_, concerned); });
    if (skip) return;
    for (const Effect& effect : pending_) {
      if (concerned(effect)) make_durable(effect);
    }
    std::erase_if(pending_, concerned);
  }

  void make_durable(const Effect& effect) {
    std::string& contents = durable_contents_[effect.node];
    switch (effect.kind) {
      case Effect::write:
        if (effect.bytes.empty()) break;
        contents.resize(
            std::max<std::size_t>(contents.size(), effect.offset + effect.bytes.size()));
        contents.replace(effect.offset, effect.bytes.size(), effect.bytes);
        break;
      case Effect::truncate:
        contents.resize(effect.offset);
        break;
      case Effect::create:
        durable_names_[effect.path] = effect.node;
        break;
      case Effect::rename:
        durable_names_.erase(effect.path);
        durable_names_[effect.target] = effect.node;
        break;
      case Effect::unlink:
        durable_names_.erase(effect.path);
        break;
    }
  }

  /// Removes the contents of directories whose name did not survive.
  void drop_orphans() {
    std::erase_if(durable_names_, [&](const auto& entry) {
      for (std::string up = parent(entry.first); up != "."; up = parent(up)) {
        const auto found = durable_names_.find(up);
        if (found == durable_names_.end() || !directories_.contains(found->second)) return true;
      }
      return false;
    });
  }

  std::vector<std::string> contents_, durable_contents_;
  std::map<std::string, int> names_, durable_names_;
  std::set<int> directories_;
  std::vector<Effect> pending_;
  std::size_t operations_ = 0, failed_ = 0;
};

}  // namespace bochner::faults
