use plan::setting::Traffic;
use plan::{evidence, metric};
use traffic::driver::transfer::latency_breakdown::Asked;

use super::*;
use crate::measure::synthetic::{
    disturbance, flow, goodput, inspection, passes, path, setting, tcp, transfer,
};

/// The goodput that 100 Mbit/s carry: 1448 bytes of 1538 of each frame, with TCP's
/// timestamps [RFC7323 s3.2], framing, preamble and gap.
const LIMIT: f64 = 100e6 * 1_448.0 / 1_538.0;

const UDP: &str = "[traffic]\nprotocol = \"udp\"";

const BUCKET: &str = "[links.sender-receiver]\nburst = 10000";

/// Facts of a trial of transfers.
struct Trial {
    setting: Setting,
    passes: Passes,
    path: Path,
}

impl Trial {
    fn new(keys: &str) -> Self {
        let setting = setting(keys);
        Self {
            passes: passes(),
            path: path(&setting),
            setting,
        }
    }

    fn flags(&self) -> Vec<Flag> {
        let transfer = transfer(&self.setting);
        flags(&self.setting, transfer, &self.passes, &[&self.path])
    }
}

/// The flags of a trial with one fact changed.
#[track_caller]
fn changed(keys: &str, change: impl FnOnce(&mut Trial)) -> Vec<Flag> {
    let mut trial = Trial::new(keys);
    assert_eq!(trial.flags(), [], "all is as it was asked for");
    change(&mut trial);
    trial.flags()
}

fn transfers(change: impl FnOnce(&mut Trial)) -> Vec<Flag> {
    changed("", change)
}

/// The report of an emulator whose latest departures were so late.
fn late(p99: Span, latest: Span) -> Report {
    Report {
        late: [Span::ZERO, p99, latest],
        ..Report::default()
    }
}

#[test]
fn goodput_above_the_limit_is_flagged_whichever_transfer_shows_it() {
    let above = Some(goodput(LIMIT * 1.003));
    for flags in [
        transfers(|trial| trial.passes.rated.1.goodput = above),
        transfers(|trial| {
            let metered = trial.passes.metered.as_mut();
            metered.unwrap().0.1.goodput = above;
        }),
    ] {
        assert_eq!(flags, [Flag::AboveLimit]);
    }
    let within = Some(goodput(LIMIT * 1.001));
    assert_eq!(transfers(|trial| trial.passes.rated.1.goodput = within), []);
}

#[test]
fn a_late_emulator_excuses_as_much_goodput_as_it_let_go_late() {
    let above = Some(goodput(LIMIT * 1.01));
    let report = late(Span::ZERO, Span::from_millis(20));
    let judged = |paced| {
        transfers(|trial| {
            trial.passes.rated.1.goodput = above;
            trial.passes.each[0].1.emulator = Some(report.clone());
            trial.path.paced = paced;
        })
    };
    // 20 ms of a second are 2 %.
    assert_eq!(judged(Paced::Emulator), []);
    assert_eq!(judged(Paced::Kernel), [Flag::AboveLimit]);
}

#[test]
fn a_disturbed_pass_excuses_as_much_goodput_as_its_bucket_holds() {
    let keys = "[traffic]\nwarmup = 1000000\n[links.sender-receiver]\nburst = 220000";
    let judged = |share: f64, running| {
        changed(keys, |trial| {
            trial.passes.rated.1.goodput = Some(goodput(LIMIT * share));
            trial.passes.each[0].1.machine.running = Some(running);
        })
    };
    // 220 000 of 11 000 000 bytes are 2 %.
    assert!(!judged(1.015, 1).contains(&Flag::AboveLimit));
    assert!(judged(1.03, 1).contains(&Flag::AboveLimit));
    assert_eq!(judged(1.015, 0), [Flag::AboveLimit]);
}

#[test]
fn a_bucket_needs_a_warmup_of_twice_its_depth() {
    let warmup = |bytes| {
        let keys = format!("[traffic]\nwarmup = {bytes}\n[links.sender-receiver]\nburst = 50000");
        Trial::new(&keys).flags()
    };
    assert_eq!(warmup(100_000), []);
    assert_eq!(warmup(99_999), [Flag::BucketNotDrained]);
}

#[test]
fn stamps_of_the_program_and_steps_of_the_clock_are_flagged() {
    // Where no arrival has a stamp of the kernel, none lacks one.
    let by_program = |trial: &mut Trial| {
        trial.passes.one_way.1.unstamped = 1;
        trial.passes.one_way.1.stamps = Some(os::ProgramStamps {
            resolution: Span::from_nanos(100),
            late: Span::from_micros(50),
        });
    };
    assert_eq!(transfers(by_program), [Flag::ProgramStamps]);
    let unstamped = [Flag::Unstamped];
    assert_eq!(
        transfers(|trial| trial.passes.rated.1.unstamped = 1),
        unstamped
    );
    assert_eq!(
        transfers(|trial| trial.passes.one_way.1.unstamped = 1),
        unstamped
    );
    let stepped = |nanos| transfers(|trial| trial.passes.disturbance.clock_step = nanos);
    assert_eq!(stepped(1_000_000), []);
    assert_eq!(stepped(1_000_001), [Flag::ClockStepped]);
    assert_eq!(stepped(-1_000_001), [Flag::ClockStepped]);
}

#[test]
fn without_offloads_no_feature_is_on_and_no_packet_exceeds_the_mtu() {
    let differ = [Flag::OffloadsDiffer];
    let on = vec!["tx-tcp-segmentation".to_owned()];
    assert_eq!(transfers(|trial| trial.path.offloads = Some(on)), differ);
    let above = Bytes::new(1_501);
    assert_eq!(
        transfers(|trial| inspection(&mut trial.path).largest_sent = above),
        differ
    );
    assert_eq!(
        transfers(|trial| inspection(&mut trial.path).largest_received = above),
        differ
    );
}

#[test]
fn large_segments_are_passed_down_one_by_one_and_need_not_be_full() {
    let differ = |mtu: u64| {
        let mut trial = Trial::new("");
        trial.setting.host.offloads = true;
        trial.path.offloads = Some(vec!["tx-tcp-segmentation".to_owned()]);
        let mtu = IpMtu::new(mtu, units::IpVersion::V6).unwrap();
        for link in &mut trial.setting.network.links {
            (link.mtu, link.burst) = (mtu, SUPER_PACKET);
        }
        let seen = inspection(&mut trial.path);
        (seen.largest_sent, seen.largest_received) = (mtu.bytes(), mtu.bytes());
        offloads_differ(&trial.setting, &trial.path)
    };
    let [large, small] = [[17_000, 33_000, 65_000], [1_500, 9_000, 16_000]];
    assert_eq!(large.map(differ), [false; 3]);
    assert_eq!(small.map(differ), [true; 3]);
    // As seen at MTU 50 000: half of a window of 80 kB.
    let differ = |protocol, mtu: u64, seen: u64| {
        let mut trial = Trial::new("");
        for link in &mut trial.setting.network.links {
            link.mtu = IpMtu::new(mtu, units::IpVersion::V6).unwrap();
        }
        let path = inspection(&mut trial.path);
        (path.protocol, path.message) = (protocol, Bytes::new(64_000));
        path.largest_received = Bytes::new(seen);
        mtu_differs(&trial.setting, &trial.path)
    };
    assert!(!differ(Transport::Tcp, 50_000, 40_000));
    assert!(differ(Transport::Tcp, 50_000, 30_000));
    assert!(differ(Transport::Tcp, 20_000, 19_000));
    assert!(differ(Transport::Udp, 50_000, 40_000));
}

#[test]
fn with_offloads_a_feature_is_on_and_tcp_shows_super_packets_where_the_path_lets_it() {
    let with = |paced, sent, burst, protocol| {
        let mut trial = Trial::new("");
        trial.setting.host.offloads = true;
        trial.setting.network.links[0].burst = Bytes::new(burst);
        trial.path.offloads = Some(vec!["tx-tcp-segmentation".to_owned()]);
        trial.path.paced = paced;
        inspection(&mut trial.path).largest_sent = Bytes::new(sent);
        inspection(&mut trial.path).protocol = protocol;
        offloads_differ(&trial.setting, &trial.path)
    };
    let (deep, shallow) = (65_536, 65_535);
    assert!(!with(Paced::Kernel, 60_000, deep, Transport::Tcp));
    assert!(with(Paced::Kernel, 1_500, deep, Transport::Tcp));
    assert!(
        !with(Paced::Kernel, 1_500, shallow, Transport::Tcp),
        "the bucket splits them"
    );
    assert!(
        !with(Paced::Kernel, 1_500, deep, Transport::Udp),
        "datagrams go one by one"
    );
    assert!(!with(Paced::Emulator, 1_500, deep, Transport::Tcp));
    assert!(
        with(Paced::Emulator, 1_501, deep, Transport::Tcp),
        "no wire carries it"
    );
    let mut off = Trial::new("");
    off.setting.host.offloads = true;
    assert_eq!(off.flags(), [Flag::OffloadsDiffer], "no feature is on");
}

#[test]
fn messages_that_fill_packets_are_seen_in_full_ones() {
    let received = |bytes, message| {
        transfers(|trial| {
            inspection(&mut trial.path).largest_received = Bytes::new(bytes);
            inspection(&mut trial.path).message = Bytes::new(message);
        })
    };
    // Fragments come in steps of eight bytes.
    assert_eq!(received(1_493, 1_448), []);
    assert_eq!(received(1_492, 1_448), [Flag::MtuDiffers]);
    assert_eq!(received(700, 600), [], "such messages fill none");
}

#[test]
fn what_the_kernel_gave_is_held_against_what_was_asked() {
    let other = |trial: &mut Trial| {
        let tcp = trial.passes.one_way.0.tcp.as_mut();
        tcp.unwrap().congestion = "reno".into();
    };
    assert_eq!(transfers(other), [Flag::CongestionDiffers]);
    // The kernel doubles what is asked: 200 000 bytes are 100 000.
    let asked = "[traffic]\nsend_buffer = 100000\nreceive_buffer = 200000";
    let differ = [Flag::BufferDiffers];
    let sent = |trial: &mut Trial| trial.passes.one_way.0.send_buffer -= 1;
    let received = |trial: &mut Trial| trial.passes.one_way.1.receive_buffer -= 1;
    assert_eq!(changed(asked, sent), differ);
    assert_eq!(changed(asked, received), differ);
    assert_eq!(transfers(sent), [], "nothing was asked");
}

#[test]
fn datagrams_that_no_queue_dropped_were_dropped_by_a_host() {
    let lost = |keys: &str, drops| {
        let mut trial = Trial::new(keys);
        trial.path.pace = None;
        trial.passes.one_way.1.delays.lost = 3;
        trial.passes.disturbance.drops = Some(drops);
        trial.flags()
    };
    assert_eq!(lost(UDP, 3), []);
    assert_eq!(lost(UDP, 2), [Flag::HostDrops]);
    assert_eq!(lost("", 0), [], "TCP sends again");
}

#[test]
fn an_end_that_needs_a_whole_processor_and_a_late_emulator_are_flagged() {
    let cpu = |millis| {
        transfers(|trial| {
            let ((sent, _), _) = trial.passes.metered.as_mut().unwrap();
            sent.process.cpu = Span::from_millis(millis);
        })
    };
    assert_eq!(cpu(9_500), []);
    assert_eq!(cpu(9_501), [Flag::CpuBound]);
    let emulator = |micros| {
        transfers(|trial| {
            let p99 = Span::from_micros(micros);
            trial.passes.disturbance.emulator = Some(late(p99, p99));
        })
    };
    assert_eq!(emulator(100), []);
    assert_eq!(emulator(101), [Flag::EmulatorLate]);
}

#[test]
fn of_a_second_path_the_frames_are_checked_too() {
    let trial = Trial::new("");
    let mut other = path(&trial.setting);
    inspection(&mut other).largest_received = Bytes::new(1_400);
    let (setting, passes) = (&trial.setting, &trial.passes);
    let paths = [&trial.path, &other];
    let flags = flags(setting, transfer(setting), passes, &paths);
    assert_eq!(flags, [Flag::MtuDiffers]);
}

#[test]
fn of_programs_goodput_frames_and_clock_are_checked() {
    let setting = setting("");
    let judged = |throughput, clock_step, largest| {
        let seen = CommandObservation {
            throughput,
            clock_step,
        };
        let mut path = path(&setting);
        inspection(&mut path).largest_received = Bytes::new(largest);
        flags_of_command(&setting, &seen, &path)
    };
    assert_eq!(judged(Some(94.0), 0, 1_500), []);
    assert_eq!(judged(None, 0, 1_500), []);
    assert_eq!(judged(Some(95.0), 0, 1_500), [Flag::AboveLimit]);
    let all = [Flag::ClockStepped, Flag::OffloadsDiffer];
    assert_eq!(judged(None, -2_000_000, 1_501), all);
}

/// The flags of a trial of one flow at `throughput`, with one fact changed.
fn flags_of_flow(
    throughput: f64,
    change: impl FnOnce(&mut Departed, &mut Arrived, &mut Disturbance),
) -> Vec<Flag> {
    flags_of_flow_over(Paced::Kernel, throughput, change)
}

fn flags_of_flow_over(
    paced: Paced,
    throughput: f64,
    change: impl FnOnce(&mut Departed, &mut Arrived, &mut Disturbance),
) -> Vec<Flag> {
    let setting = setting(BUCKET);
    let (mut sent, mut received) = flow();
    let mut disturbance = disturbance();
    change(&mut sent, &mut received, &mut disturbance);
    let seeing = FlowsObservation {
        sent: &[sent],
        received: &[received],
        disturbance: &disturbance,
    };
    let mut path = path(&setting);
    path.paced = paced;
    let mut measurements = Measurements::default();
    measurements.put(&metric::THROUGHPUT, Some(throughput));
    flags_of_flows(&setting, &measurements, &seeing, &path)
}

#[test]
fn flows_are_late_lost_or_of_another_kind() {
    assert_eq!(flags_of_flow(90.0, |_, _, _| {}), []);
    let one = |flags: Vec<Flag>, flag| assert_eq!(flags, [flag]);
    one(
        flags_of_flow(90.0, |_, came, _| came.unstamped = 1),
        Flag::Unstamped,
    );
    one(
        flags_of_flow(90.0, |_, _, pass| pass.clock_step = 1_000_001),
        Flag::ClockStepped,
    );
    one(
        flags_of_flow(90.0, |sent, _, _| {
            sent.timing_error = Some([0, 1_000_001, 0])
        }),
        Flag::SenderLate,
    );
    one(
        flags_of_flow(90.0, |sent, _, _| {
            let congestion = "reno".into();
            sent.tcp = Some(os::socket::TcpState {
                congestion,
                ..tcp()
            });
        }),
        Flag::CongestionDiffers,
    );
    one(
        flags_of_flow(90.0, |_, came, pass| {
            came.summary.lost = 3;
            pass.drops = Some(2);
        }),
        Flag::HostDrops,
    );
}

#[test]
fn flows_of_a_disturbed_pass_may_exceed_the_limit_by_what_a_bucket_stored() {
    // The bucket of 10 000 bytes holds 1 % of those that were counted.
    let limit = { path(&setting(BUCKET)).pace.unwrap() }.megabits_per_second();
    let judged = |share: f64, running| {
        flags_of_flow(limit * share, |_, _, pass| {
            pass.machine.running = Some(running)
        })
    };
    assert_eq!(judged(1.011, 1), []);
    assert_eq!(judged(1.014, 1), [Flag::AboveLimit]);
    assert_eq!(judged(1.011, 0), [Flag::AboveLimit]);
}

#[test]
fn flows_may_exceed_the_limit_by_what_the_emulator_sent_late() {
    // 10 ms are 1 % of the time.
    let limit = { path(&setting(BUCKET)).pace.unwrap() }.megabits_per_second();
    let report = late(Span::ZERO, Span::from_millis(10));
    let judged = |paced, share: f64| {
        flags_of_flow_over(paced, limit * share, |_, _, pass| {
            pass.emulator = Some(report.clone());
        })
    };
    assert_eq!(judged(Paced::Emulator, 1.011), []);
    assert_eq!(judged(Paced::Emulator, 1.014), [Flag::AboveLimit]);
    assert_eq!(judged(Paced::Kernel, 1.011), [Flag::AboveLimit]);
}

#[test]
fn the_transfer_for_the_cpu_meters_is_judged_by_its_own_pass() {
    let keys = "[traffic]\nwarmup = 1000000\n[links.sender-receiver]\nburst = 220000";
    let judged = |disturbed| {
        changed(keys, |trial| {
            let metered = trial.passes.metered.as_mut();
            metered.unwrap().0.1.goodput = Some(goodput(LIMIT * 1.015));
            trial.passes.each.push((Pass::Cpu, disturbance()));
            let pass = trial
                .passes
                .each
                .iter_mut()
                .find(|(pass, _)| *pass == disturbed);
            pass.unwrap().1.machine.running = Some(1);
        })
    };
    assert!(!judged(Pass::Cpu).contains(&Flag::AboveLimit));
    assert!(judged(Pass::Throughput).contains(&Flag::AboveLimit));
}

#[test]
fn round_trips_are_stamped_and_of_the_kind_that_was_asked() {
    let keys =
        "[traffic]\nkind = \"latency-breakdown\"\nsend_buffer = 100000\nreceive_buffer = 200000";
    let setting = setting(keys);
    let Traffic::LatencyBreakdown(trips) = &setting.traffic else {
        panic!("it is what was written");
    };
    let judged = |change: fn(&mut Asked), unstamped, host_drops| {
        let mut asked = Asked {
            trips: Vec::new(),
            plain: Vec::new(),
            softirq: None,
            lasted: 0,
            tcp: Some(tcp()),
            buffers: [200_000, 400_000],
        };
        change(&mut asked);
        let seeing = RoundTripsObservation {
            asked: &asked,
            host_drops,
            clock_step: 0,
            unstamped,
        };
        flags_of_latency_breakdown(&setting, trips, &seeing, &path(&setting))
    };
    assert_eq!(judged(|_| {}, 0, false), []);
    let all = [Flag::Unstamped, Flag::HostDrops];
    assert_eq!(judged(|_| {}, 1, true), all);
    let other = |asked: &mut Asked| asked.tcp.as_mut().unwrap().congestion = "reno".into();
    assert_eq!(judged(other, 0, false), [Flag::CongestionDiffers]);
    for short in [(|asked| asked.buffers[0] -= 1) as fn(&mut Asked), |asked| {
        asked.buffers[1] -= 1
    }] {
        assert_eq!(judged(short, 0, false), [Flag::BufferDiffers]);
    }
}

#[test]
fn of_exchanges_clock_frames_and_congestion_control_are_checked() {
    let setting = setting("");
    let judged = |congestion: &str, clock_step| {
        let mut measurements = Measurements::default();
        measurements.note(evidence::CONGESTION, congestion.to_owned());
        let disturbance = Disturbance {
            clock_step,
            ..disturbance()
        };
        flags_of_request_response(&setting, &measurements, &disturbance, &path(&setting))
    };
    assert_eq!(judged("cubic", 0), []);
    let all = [Flag::ClockStepped, Flag::CongestionDiffers];
    assert_eq!(judged("reno", 2_000_000), all);
}
