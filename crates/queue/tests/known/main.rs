//! Queue disciplines held against what is known of them: laws of queues,
//! published formulas, another program's runs.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times, sizes and counts of tests are positive and small"
)]

mod conservation;
mod delay;
mod fairness;
mod naive;
mod ns2;
mod queueing;
mod red;
mod red_as_ns2;
mod rio;
mod server;
mod statistics;
