//! A trial of request-response messages of many sizes, one at a time.

use plan::evidence;
use plan::{Setting, metric, setting as spec};
use traffic::driver::request_response::{self, Asked};
use units::{Seed, Transport};

use super::Pair;
use super::checks::flags_of_request_response;
use super::disturbance::{StallMetering, watched};
use crate::agent::Failure;
use crate::measurements::Measurements;
use crate::measurements::request_response::{count, whole};

/// Measures the sizes of `request_response` in an order that depends on `seed`.
pub(super) fn request_response(
    pair: &mut Pair<'_>,
    setting: &Setting,
    request_response: &spec::RequestResponse,
    seed: Seed,
) -> Result<Measurements, Failure> {
    let wanted = request_response::RequestResponse {
        protocol: request_response.protocol,
        address: pair.path.addresses.receiver,
        sizes: shuffled(request_response.sizes.all(), seed.derive("sizes")),
        bytes: request_response.bytes.get(),
        answer: request_response.answer,
        read_mode: request_response.read_mode,
        write_mode: request_response.write_mode,
        congestion: setting.host.congestion.clone(),
        largest_segment: setting.network.largest_segment(),
        send_buffer: request_response.send_buffer,
        receive_buffer: request_response.receive_buffer,
        nagle: request_response.nagle,
        delayed_ack: request_response.delayed_ack,
        pause: request_response.pause,
        deadline: request_response.deadline,
        retransmit_after: request_response.retransmit_after,
        timeout: request_response.timeout,
    };
    let ((asked, answered), disturbance) = watched(pair, StallMetering::On, |pair| {
        pair.agents.request_response(&wanted)
    })?;
    disturbance.valid()?;
    if asked.sizes.is_empty() && asked.stalls.is_empty() {
        return Err(disturbance.failure("no message was answered".to_owned()));
    }

    let mut measurements = Measurements::default();
    measurements.take_request_response(request_response, asked);
    if request_response.protocol == Transport::Udp {
        measurements.put(&metric::RECEIVER_DROPS, answered.dropped.map(whole));
    }
    measurements.flags =
        flags_of_request_response(setting, &measurements, &disturbance, &pair.path);
    measurements.take_disturbance(setting, &disturbance);
    measurements.take_host_use(&disturbance.hosts, None);
    measurements.judge(&disturbance);
    if let Some(emulator) = &disturbance.emulator {
        // A round trip crosses each link twice.
        let [median, ..] = emulator.late.map(|late| late.as_secs_f64() * 1e3);
        let late = 2.0 * median * emulator.links.len() as f64;
        measurements.note(evidence::resolution(&metric::MESSAGE_TIME), late);
    }
    measurements.take_rejected_peers(answered.rejected_peers);
    if !answered.broken.is_empty() {
        measurements.note(evidence::BROKEN, answered.broken);
    }
    Ok(measurements)
}

impl Measurements {
    /// Records the sender's observations by size.
    fn take_request_response(
        &mut self,
        request_response: &spec::RequestResponse,
        mut asked: Asked,
    ) {
        asked.sizes.sort_by_key(|one| one.size);
        self.put(&metric::STALLS, Some(count(asked.stalls.len())));
        self.put(&metric::REPEATS, Some(whole(asked.repeats)));
        // A system that does not name its congestion control states none of these.
        if asked.congestion.is_some() {
            self.put(&metric::RETRANSMISSIONS, Some(whole(asked.retransmitted)));
            self.put(&metric::SEGMENTS, Some(whole(asked.segments)));
            let each = whole(asked.acknowledgements) / whole(asked.segments.max(1));
            self.put(&metric::ACKNOWLEDGEMENTS, Some(each));
            self.note(evidence::CONGESTION, asked.congestion);
        }
        if !asked.stalls.is_empty() {
            self.note(evidence::STALLED, asked.stalls);
        }
        self.note(evidence::SEND_BUFFER, asked.send_buffer);
        self.note(evidence::RECEIVE_BUFFER, asked.receive_buffer);
        self.take_sizes(request_response, &asked.sizes);
    }
}

/// The sizes in random order, so that drift during a trial does not produce
/// steps.
fn shuffled(mut sizes: Vec<u32>, seed: Seed) -> Vec<u32> {
    for place in (1..sizes.len()).rev() {
        let among = u64::try_from(place + 1).unwrap_or(u64::MAX);
        let drawn = seed.derive(&place.to_string()).get() % among;
        sizes.swap(place, usize::try_from(drawn).unwrap_or(place));
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_gone_through_once_in_an_order_that_the_seed_gives() {
        let sizes: Vec<u32> = (0..500).collect();
        let one = shuffled(sizes.clone(), Seed::new(1));
        assert_eq!(one, shuffled(sizes.clone(), Seed::new(1)));
        assert_ne!(one, shuffled(sizes.clone(), Seed::new(2)));
        let mut sorted = one.clone();
        sorted.sort_unstable();
        assert!(sorted == sizes && one != sizes);
    }
}
