//! Any text is an expression with a value or an error that says why not; what prints is read back
//! as the same value, and every answer is right by the operation's definition.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/expr/oracle/mod.rs"]
mod oracle;

fuzz_target!(|text: &str| {
    let mut rest = vec![text];
    // Each call within the expression is one by itself.
    while let Some(text) = rest.pop() {
        if let oracle::Verdict::Wrong(why) = oracle::judge(text) {
            panic!("{why}");
        }
        if let Some((_, operands)) = oracle::taken_apart(text) {
            rest.extend(operands);
        }
    }
});
