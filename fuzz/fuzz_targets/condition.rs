#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: throng_fuzz::start(), |bytes: &[u8]| throng_fuzz::condition(bytes));
