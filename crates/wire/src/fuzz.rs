//! Random numbers for tests that damage bytes and read them.

/// The number of damaged cases that a test tries: `JUMBOLAB_FUZZ_CASES`, or else `few`.
pub(crate) fn cases(few: u64) -> u64 {
    let asked = std::env::var("JUMBOLAB_FUZZ_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

/// A generator of 64-bit words with random upper bits. Any generator will do.
pub(crate) fn chance(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state
    }
}
