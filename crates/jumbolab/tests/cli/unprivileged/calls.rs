//! The quality of calls over a link that loses packets.

use meter::call_quality::CallQuality;
use serde_json::Value;
use wire::control::Codec;

use super::probe::see;
use crate::harness::Dir;
use crate::lookup::Object;

/// Packets of each call at each loss.
const PACKETS: u64 = 2_000;

/// Calls with all codecs from a through an emulated link to s. `gap` only makes the test shorter.
fn script() -> String {
    let mut flows = String::new();
    for codec in Codec::ALL {
        let name = codec.name();
        flows += &format!(
            "[flows.{name}]\npreset = \"voip-{name}\"\ngap = \"1ms\"\npackets = {PACKETS}\n"
        );
    }
    format!(
        r#"
for interface in ra rs; do
    ip -n r -4 address flush dev $interface
    ip -n r -6 address flush dev $interface
done
ip -n a address add 10.9.0.1/24 dev ar
ip -n s address add 10.9.0.2/24 dev sr
cat >flows.toml <<'.'
{flows}.
at s "$JUMBOLAB" recv --open --port 7373 >received 2>said &
until grep -qs 'port 7373' said; do sleep 0.01; done
for loss in 0 1 2 3 4 5; do
    overran=true
    # Frames that the emulator had no time for are lost, too: the calls are made again.
    while $overran; do
        ip netns exec r "$JUMBOLAB" emulate --between ra rs --loss $loss% --json >emulated 2>/dev/null &
        emulated=$!
        until at a "$JUMBOLAB" send 10.9.0.2 --port 7373 --flow-file flows.toml --json >sent; do sleep 0.1; done
        kill $emulated
        wait $emulated || true
        tail -n 1 emulated | grep -q '"overrun":[1-9]' || overran=false
    done
    cat sent
done
echo RECEIVED
cat received
"#
    )
}

#[expect(clippy::print_stdout, reason = "a table for docs/evidence/traffic.md")]
#[test]
fn calls_over_a_lossy_link_have_the_opinions_of_the_closed_form() {
    let dir = Dir::new();
    let printed = see(&dir, &script()).fine().stdout;
    let (sent, received) = printed.split_once("RECEIVED").unwrap();
    let rows: Vec<Value> = sent
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert_eq!(rows.len(), 6 * Codec::ALL.len(), "{printed}");
    for (percent, flows) in (0_u8..).zip(rows.chunks(Codec::ALL.len())) {
        let emulated = f64::from(percent) / 100.0;
        for codec in Codec::ALL {
            let flow = flows.iter().find(|flow| flow["codec"] == codec.name());
            let flow = flow.unwrap_or_else(|| panic!("no call with {}", codec.name()));
            let (loss, mos) = (flow.figure("loss"), flow.figure("mos"));
            // Five standard deviations of the share that is lost.
            let spread = (emulated * (1.0 - emulated) / PACKETS as f64).sqrt();
            assert!((loss - emulated).abs() <= 5.0 * spread, "{flow}");
            let closed = CallQuality::new(codec, 0.0, emulated, 1.0);
            println!(
                "| {} | {percent} % | {:.2} % | {:.1} | {:.2} | {:.1} | {mos:.2} |",
                codec.name(),
                100.0 * loss,
                closed.rating,
                closed.mos,
                flow.figure("rating")
            );
            // The network's delay is small, so the rest is the codec's.
            let network = flow.figure("mouth_to_ear_s") - closed.delay;
            assert!(network >= 0.0, "{flow}");
            let expected = CallQuality::new(codec, network, loss, 1.0);
            assert!((mos - expected.mos).abs() < 1e-9, "{flow}: {expected}");
        }
    }
    // The receiver's end reports the same.
    let calls = received.matches("  call        MOS ").count();
    assert!(calls >= rows.len(), "{received}");
}
