#include "shim.h"

#include <csignal>
#include <mutex>
#include <string>

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

using namespace llvm;

namespace {

// The reason of the fatal error that the current thread is leaving by.
thread_local std::string FatalReason;

// LLVM calls this in place of printing the reason and ending the process. Outside of the guard
// it returns, and LLVM does what it always does.
void onFatalError(void *, const char *Reason, bool) {
  if (CrashRecoveryContext *Recovery = CrashRecoveryContext::GetCurrent()) {
    FatalReason = Reason;
    Recovery->HandleExit(1);
  }
}

std::string describe(int RetCode) {
  switch (RetCode - 128) {
  case SIGABRT:
    return "aborted";
  case SIGBUS:
  case SIGSEGV:
    return "invalid memory access";
  case SIGILL:
  case SIGTRAP:
    return "reached code that should be unreachable";
  case SIGFPE:
    return "arithmetic fault";
  default:
    return "left with exit status " + std::to_string(RetCode);
  }
}

} // namespace

void tilefold::enableGuard() {
  static std::once_flag Once;
  std::call_once(Once, [] {
    install_fatal_error_handler(onFatalError);
    CrashRecoveryContext::Enable();
  });
}

bool tilefold::guarded(Sink Out, function_ref<void()> Body) {
  enableGuard();
  FatalReason.clear();
  // The entries of the frames that a crash skips would be read by the next one.
  const void *Stack = SavePrettyStackState();
  CrashRecoveryContext Recovery;
  if (Recovery.RunSafely(Body))
    return true;
  RestorePrettyStackState(Stack);
  Out(Piece::Error, FatalReason.empty() ? describe(Recovery.RetCode) : FatalReason);
  return false;
}

extern "C" bool tilefold_guarded(tilefold::Sink Out, void (*Body)(void *), void *Data) {
  return tilefold::guarded(Out, [&] { Body(Data); });
}
