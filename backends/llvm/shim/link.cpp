#include "shim.h"

#include <string>

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace tilefold;

// Links `Object` into the shared object `Output`; both are paths. lld keeps its state in globals,
// so the caller lets one thread in at a time. Returns 0 when linked, 1 when refused, 2 when lld
// crashed and must not be called again in this process.
extern "C" int tilefold_link(const char *Object, const char *Output, Sink Out) {
  enableGuard();
  // One thread: a code object is linked faster than threads are started.
  const char *Arguments[] = {"ld.lld",        "-m",        "elf64_amdgpu", "-shared",
                             "--no-undefined", "--threads=1", Object,         "-o",
                             Output};
  std::string Printed, Complaints;
  llvm::raw_string_ostream Standard(Printed), Errors(Complaints);
  lld::Result Linked =
      lld::lldMain(Arguments, Standard, Errors, {{lld::Gnu, &lld::elf::link}});
  if (!Complaints.empty())
    Out(Linked.retCode == 0 ? Piece::Warning : Piece::Error, Complaints);
  if (Linked.retCode == 0)
    return 0;
  return Linked.canRunAgain ? 1 : 2;
}
