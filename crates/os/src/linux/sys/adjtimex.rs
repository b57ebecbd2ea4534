//! The kernel's state of the wall clock.

use std::io;
use std::mem::MaybeUninit;

/// The state of the wall clock [adjtimex(2)].
pub(crate) struct ClockState {
    /// Whether the kernel takes it for synchronised.
    pub(crate) synchronised: bool,
    /// The estimated error in microseconds.
    pub(crate) estimated_error: i64,
    /// The maximum error in microseconds.
    pub(crate) maximum_error: i64,
}

/// Reads the state and changes nothing.
pub(crate) fn clock_state() -> io::Result<ClockState> {
    let mut request = MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all fields are numbers, so zeros are valid; without modes the kernel only
    // writes to the structure, which outlives the call.
    let (state, answer) = unsafe {
        let state = libc::adjtimex(request.as_mut_ptr());
        (state, request.assume_init())
    };
    match state {
        -1 => Err(io::Error::last_os_error()),
        state => Ok(ClockState {
            synchronised: state != libc::TIME_ERROR && answer.status & libc::STA_UNSYNC == 0,
            estimated_error: answer.esterror,
            maximum_error: answer.maxerror,
        }),
    }
}
