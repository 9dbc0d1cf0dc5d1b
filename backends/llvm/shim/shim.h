// What the shim's files share: how results leave, and the guard.

#pragma once

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tilefold {

// What a piece of output is. The numbers are read in src/sink.rs.
enum class Piece : uint32_t {
  Object = 0,
  Assembly = 1,
  OptimisedIR = 2,
  Remark = 3,
  Warning = 4,
  Error = 5,
};

// Takes one piece of output. The bytes are copied before it returns.
struct Sink {
  void *Data;
  void (*Take)(void *Data, uint32_t Piece, const char *Bytes, size_t Count);

  void operator()(Piece P, llvm::StringRef Text) const {
    Take(Data, static_cast<uint32_t>(P), Text.data(), Text.size());
  }
};

// Installs the handlers of signals and of LLVM's fatal errors, once in a process.
void enableGuard();

// Runs `Body`. False when it crashed, aborted or left by exit or by a fatal error of LLVM's; the
// reason then goes to `Out` as an Error. Whatever `Body` had made is leaked in that case, for its
// state is unknown.
bool guarded(Sink Out, llvm::function_ref<void()> Body);

} // namespace tilefold
