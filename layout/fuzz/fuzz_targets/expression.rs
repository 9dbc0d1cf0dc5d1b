//! Any text is an expression with a value or an error that says why not; a layout's text is read
//! back as the same layout.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tilefold_layout::ComposedLayout;
use tilefold_layout::draw::Drawing;
use tilefold_layout::expr::{Value, evaluate};

fuzz_target!(|text: &str| {
    match evaluate(text) {
        Ok(Value::Layout(layout)) => {
            let again: ComposedLayout = layout.to_string().parse().expect("what prints is read");
            assert_eq!(again, layout, "{text}");
            if let Ok(drawing) = Drawing::offsets(layout) {
                assert!(!drawing.to_text(false).is_empty());
            }
        }
        Ok(value) => assert!(!value.to_string().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
