// The computed goto of the engine variants, on a small machine with the traps of the real one.
#include <gtest/gtest.h>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

constexpr char kScript[] = BENCHCTL_SOURCE_DIR "/workloads/engine/goto/computed_goto.py";

// Prints what a program of opcodes does. Breaks of loops and of a nested switch, words in strings and comments, a case
// under a condition that holds and one under a condition that does not.
constexpr char kMachine[] = R"(#include <stdio.h>
#define SQLITE_PRIVATE static
#define ENABLE_EXTRA 1
enum { OP_Add, OP_Loop, OP_Nested, OP_Say, OP_Extra, OP_Absent, OP_Halt, OP_Noop };
typedef struct { unsigned char opcode; int p1; } Op;
SQLITE_PRIVATE int sqlite3VdbeExec(
  Op *aOp
){
  Op *pOp = aOp;
  int sum = 0, nVmStep = 0;
  for(pOp=aOp; 1; pOp++){
    nVmStep++;
    switch( pOp->opcode ){
case OP_Add: {       /* a break; in a comment, and a brace { */
  if( pOp->p1<0 ) break;
  sum += pOp->p1;
  break;
}
case OP_Loop: {
  int i;
  for(i=0; i<10; i++){
    if( i==pOp->p1 ){ break; }
    sum += 1;
  }
  do{ sum++; if( sum>1000 ) break; }while( 0 );
  while( sum % 7 ){ sum++; continue; }
  break;
}
case OP_Nested: {
  switch( pOp->p1 ){
    case 1: sum += 100; break;
    default: sum += 200; break;
  }
  sum += 1;
  /* fall through */
}
case OP_Say: {
  printf("{ break; %d '\"' }\n", sum);
  break;
}
#ifdef ENABLE_EXTRA
case OP_Extra: { sum *= 2; break; }
#endif
#if defined(ENABLE_ABSENT)
case OP_Absent: { sum = -1; break; }
#else
case OP_Absent: { sum += 50; break; }
#endif
case OP_Halt: {
  printf("%d after %d steps\n", sum, nVmStep);
  return sum;
}
default: {
  sum += 3;
  break;
}
    }
  }
}
int main(void){
  Op program[] = {{OP_Add,4},{OP_Add,-1},{OP_Loop,3},{OP_Nested,1},{OP_Noop,0},{OP_Nested,2},{OP_Extra,0},{OP_Absent,0},{OP_Loop,20},{OP_Say,0},{99,0},{OP_Halt,0}};
  return sqlite3VdbeExec(program) == 0;
}
)";

CommandResult transform(const std::string& folder, const std::string& source, const std::string& script = kScript) {
  write_file(folder + "/in.c", source);
  return run_in(folder, {"python3", script, "in.c", "out.c"});
}

std::string output_of_program(const std::string& folder, const std::string& source, const std::string& define) {
  CommandResult built = run_in(folder, {"cc", "-O1", "-w", define, source, "-o", "program"});
  EXPECT_TRUE(built.ok()) << built.errors;
  CommandResult ended = run_in(folder, {"timeout", "10", "./program"});
  EXPECT_TRUE(ended.ok()) << ended.errors;
  return ended.output;
}

// One for each break of the machine's own switch.
constexpr size_t kJumps = 8;

size_t jumps_in(const std::string& path) {
  auto text = read_file(path);
  size_t jumps = 0;
  for (size_t at = text ? text->find("VDBE_DISPATCH;") : std::string::npos; at != std::string::npos;
       at = text->find("VDBE_DISPATCH;", at + 1))
    jumps++;
  return jumps;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

TEST(ComputedGoto, DoesWhatTheSwitchDid) {
  TempDir folder;
  CommandResult ended = transform(folder.path(), kMachine);
  ASSERT_TRUE(ended.ok()) << ended.errors;
  std::string switched = output_of_program(folder.path(), "in.c", "-DNOTHING");
  EXPECT_NE(switched.find("after 12 steps"), std::string::npos) << switched;
  EXPECT_EQ(output_of_program(folder.path(), "out.c", "-DNOTHING"), switched);
  // Builds that look at every step keep the switch.
  EXPECT_EQ(output_of_program(folder.path(), "out.c", "-DSQLITE_DEBUG"), switched);
  auto text = read_file(folder.path() + "/out.c");
  ASSERT_TRUE(text.ok());
  size_t jumps = 0;
  for (size_t at = text->find("VDBE_DISPATCH;"); at != std::string::npos; at = text->find("VDBE_DISPATCH;", at + 1))
    jumps++;
  EXPECT_EQ(jumps, 8U);
}

TEST(ComputedGoto, RefusesWhatItDoesNotKnow) {
  struct Case {
    const char *what, *with, *message;
  };
  for (const Case& changed :
       {Case{"int sqlite3VdbeExec(", "int other(", "is defined 0 times"},
        Case{"switch( pOp->opcode )", "switch( opcode )", "has no switch"},
        Case{"if( pOp->p1<0 ) break;", "if( pOp->p1<0 ) continue;", "a continue of the opcode loop"},
        Case{"#else\ncase OP_Absent", "#elif 1\ncase OP_Absent", "#elif inside the switch"},
        Case{"case OP_Halt:", "case 6:", "a case that is no opcode"},
        Case{"default: {\n  sum += 3;", "case OP_Noop: {\n  sum += 3;", "no default"}}) {
    TempDir folder;
    CommandResult ended = transform(folder.path(), replaced(kMachine, changed.what, changed.with));
    EXPECT_FALSE(ended.ok());
    EXPECT_NE(ended.errors.find(changed.message), std::string::npos) << ended.errors;
    EXPECT_FALSE(exists(folder.path() + "/out.c"));
  }
}

// The comparison of outputs and the count of jumps above are a gate: transformations that are wrong must not pass it.
TEST(ComputedGoto, WrongTransformationsAreCaught) {
  auto script = read_file(kScript);
  ASSERT_TRUE(script.ok());
  struct Fault {
    const char *text, *broken;
  };
  for (const Fault& fault : {Fault{"(for|while|switch)", "(for|while)"}, Fault{"(for|while|switch)", "(while|switch)"},
                             Fault{"pOp++; nVmStep++;", "pOp++;"}, Fault{"guards[-1] = f\"!({guards[-1]})\"", "pass"},
                             Fault{"return re.sub(r\"/\\*.*?\\*/|", "return re.sub(r\""}}) {
    TempDir folder;
    write_file(folder.path() + "/broken.py", replaced(*script, fault.text, fault.broken));
    CommandResult ended = transform(folder.path(), kMachine, "broken.py");
    if (!ended.ok()) continue;  // refused: nothing wrong comes out
    CommandResult built = run_in(folder.path(), {"cc", "-O1", "-w", "out.c", "-o", "program"});
    if (!built.ok()) continue;
    std::string output = run_in(folder.path(), {"timeout", "10", "./program"}).output;
    bool noticed =
        output != output_of_program(folder.path(), "in.c", "-DNOTHING") || jumps_in(folder.path() + "/out.c") != kJumps;
    EXPECT_TRUE(noticed) << fault.text;
  }
}

}  // namespace
}  // namespace benchctl::testing_workloads
