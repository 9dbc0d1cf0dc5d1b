// LLVM IR to optimised IR, assembly and object code.

#include "shim.h"

#include <chrono>
#include <memory>
#include <string>

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace tilefold;

namespace {

// The remark that tells registers, spills, LDS and occupancy of each kernel.
constexpr StringLiteral ResourceRemark = "kernel-resource-usage";

// With no handler an error diagnostic ends the process. With one it does not even stop the code
// generator, so this counts them.
class Diagnostics final : public DiagnosticHandler {
public:
  explicit Diagnostics(Sink Out) : Out(Out) {}

  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    std::string Text;
    raw_string_ostream Stream(Text);
    DiagnosticPrinterRawOStream Printer(Stream);
    switch (Info.getSeverity()) {
    case DS_Error:
      Info.print(Printer);
      ++Errors;
      Out(Piece::Error, Text);
      break;
    case DS_Warning:
      Info.print(Printer);
      Out(Piece::Warning, Text);
      break;
    default:
      if (auto *Remark = dyn_cast<DiagnosticInfoOptimizationBase>(&Info))
        if (Remarks && Remark->getPassName() == ResourceRemark)
          Out(Piece::Remark, Remark->getMsg());
    }
    return true;
  }

  bool isAnalysisRemarkEnabled(StringRef Pass) const override {
    return Remarks && Pass == ResourceRemark;
  }
  bool isMissedOptRemarkEnabled(StringRef) const override { return false; }
  bool isPassedOptRemarkEnabled(StringRef) const override { return false; }
  bool isAnyRemarkEnabled() const override { return Remarks; }

  unsigned Errors = 0;
  bool Remarks = false;

private:
  Sink Out;
};

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Start).count();
}

bool areFeatures(StringRef List, const MCSubtargetInfo &Known, Sink Out) {
  SmallVector<StringRef> Names;
  List.split(Names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef Name : Names) {
    bool Found = (Name.starts_with("+") || Name.starts_with("-")) &&
                 any_of(Known.getAllProcessorFeatures(), [&](const SubtargetFeatureKV &KV) {
                   return Name.drop_front() == KV.Key;
                 });
    if (!Found) {
      Out(Piece::Error, ("unknown target feature `" + Name + "`").str());
      return false;
    }
  }
  return true;
}

// Null with the reason in `Out` when the chip or a feature, of the target or of a function, is none
// of LLVM's, or a function is for another chip: unchecked, LLVM aborts or ignores it.
std::unique_ptr<TargetMachine> makeTarget(const char *TripleName, const char *Chip,
                                          const char *Features, unsigned Level, const Module &M,
                                          Sink Out) {
  Triple TargetTriple(TripleName);
  std::string Error;
  const Target *T = TargetRegistry::lookupTarget(TargetTriple, Error);
  if (!T) {
    Out(Piece::Error, Error);
    return nullptr;
  }
  std::unique_ptr<MCSubtargetInfo> Known(T->createMCSubtargetInfo(TargetTriple, "", ""));
  if (!Known->isCPUStringValid(Chip)) {
    Out(Piece::Error, ("unknown chip `" + Twine(Chip) + "`").str());
    return nullptr;
  }
  if (!areFeatures(Features, *Known, Out))
    return nullptr;
  for (const Function &F : M) {
    Attribute Named = F.getFnAttribute("target-cpu");
    if (Named.isValid() && Named.getValueAsString() != Chip) {
      Out(Piece::Error, ("function `" + F.getName() + "` is for `" + Named.getValueAsString() +
                         "`, not for " + Chip)
                            .str());
      return nullptr;
    }
    Attribute Own = F.getFnAttribute("target-features");
    if (Own.isValid() && !areFeatures(Own.getValueAsString(), *Known, Out))
      return nullptr;
  }
  return std::unique_ptr<TargetMachine>(
      T->createTargetMachine(TargetTriple, Chip, Features, TargetOptions(), Reloc::PIC_,
                             std::nullopt, static_cast<CodeGenOptLevel>(Level)));
}

void optimise(Module &M, TargetMachine &Machine, unsigned Level) {
  static const OptimizationLevel Levels[] = {OptimizationLevel::O0, OptimizationLevel::O1,
                                             OptimizationLevel::O2, OptimizationLevel::O3};
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  PassBuilder Builder(&Machine);
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Components);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Components, Modules);
  ModulePassManager Passes = Level == 0
                                 ? Builder.buildO0DefaultPipeline(OptimizationLevel::O0)
                                 : Builder.buildPerModuleDefaultPipeline(Levels[Level]);
  Passes.run(M, Modules);
}

bool emit(Module &M, TargetMachine &Machine, CodeGenFileType Type, SmallVectorImpl<char> &Bytes) {
  raw_svector_ostream Stream(Bytes);
  legacy::PassManager Passes;
  if (Machine.addPassesToEmitFile(Passes, Stream, nullptr, Type))
    return false;
  Passes.run(M);
  return true;
}

} // namespace

extern "C" {

struct TilefoldRequest {
  const char *Triple;
  const char *Chip;
  // Comma-separated, each with its sign.
  const char *Features;
  // 0 to 3.
  uint32_t Level;
  bool WantIR;
  bool WantAssembly;
};

struct TilefoldTimes {
  double OptimiseMs;
  double EmitMs;
  double AssemblyMs;
};

// 0: done. 1: refused, and the module can be disposed of. 2: crashed, and the module and its
// context must be leaked. `Out` has the errors.
int tilefold_generate(LLVMModuleRef Wrapped, const TilefoldRequest *Request, Sink Out,
                      TilefoldTimes *Times) {
  bool Done = false;
  bool Survived = guarded(Out, [&] {
    Module &M = *unwrap(Wrapped);
    LLVMContext &Context = M.getContext();
    auto Owned = std::make_unique<Diagnostics>(Out);
    Diagnostics &Seen = *Owned;
    Context.setDiagnosticHandler(std::move(Owned));

    auto Machine = makeTarget(Request->Triple, Request->Chip, Request->Features, Request->Level, M,
                              Out);
    if (!Machine)
      return;
    // The names show wherever the IR is printed: they must not tell where it was made.
    M.setModuleIdentifier("tilefold");
    M.setSourceFileName("tilefold");
    M.setTargetTriple(Triple(Request->Triple));
    M.setDataLayout(Machine->createDataLayout());

    std::string Complaints;
    raw_string_ostream Stream(Complaints);
    if (verifyModule(M, &Stream)) {
      Out(Piece::Error, StringRef(Complaints).trim());
      return;
    }
    Clock::time_point Start = Clock::now();
    optimise(M, *Machine, Request->Level);
    Times->OptimiseMs = millisecondsSince(Start);
    if (Request->WantIR) {
      std::string Text;
      raw_string_ostream(Text) << M;
      Out(Piece::OptimisedIR, Text);
    }
    // Code generation rewrites the module, so the second run needs a copy of it.
    std::unique_ptr<Module> Copy = Request->WantAssembly ? CloneModule(M) : nullptr;

    SmallVector<char, 0> Bytes;
    Start = Clock::now();
    Seen.Remarks = true;
    bool Emitted = emit(M, *Machine, CodeGenFileType::ObjectFile, Bytes);
    Seen.Remarks = false;
    Times->EmitMs = millisecondsSince(Start);
    if (Emitted && Seen.Errors == 0 && Copy) {
      SmallVector<char, 0> Text;
      Start = Clock::now();
      Emitted = emit(*Copy, *Machine, CodeGenFileType::AssemblyFile, Text);
      Times->AssemblyMs = millisecondsSince(Start);
      Out(Piece::Assembly, StringRef(Text.data(), Text.size()));
    }
    if (!Emitted)
      Out(Piece::Error, "this LLVM cannot emit code for the target");
    if (!Emitted || Seen.Errors != 0)
      return;
    Out(Piece::Object, StringRef(Bytes.data(), Bytes.size()));
    Done = true;
  });
  return !Survived ? 2 : Done ? 0 : 1;
}

// Parses textual or binary IR. Null with the errors in `Out` when it is neither.
LLVMModuleRef tilefold_parse_ir(LLVMContextRef Context, const char *Bytes, size_t Count,
                                Sink Out) {
  LLVMModuleRef Parsed = nullptr;
  guarded(Out, [&] {
    unwrap(Context)->setDiagnosticHandler(std::make_unique<Diagnostics>(Out));
    SMDiagnostic Error;
    auto Buffer = MemoryBuffer::getMemBufferCopy(StringRef(Bytes, Count), "tilefold");
    std::unique_ptr<Module> M = parseIR(*Buffer, Error, *unwrap(Context));
    if (M) {
      Parsed = wrap(M.release());
      return;
    }
    std::string Text;
    raw_string_ostream Stream(Text);
    Error.print(nullptr, Stream, /*ShowColors=*/false);
    Out(Piece::Error, StringRef(Text).trim());
  });
  return Parsed;
}
}
