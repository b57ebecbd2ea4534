//! Super-packets above 64 KiB ("BIG TCP").

use super::see;

#[test]
fn super_packets_above_64_kib_are_cut_and_their_segments_are_joined() {
    for begin in ["begin_packet", "begin_tun"] {
        let run = see(&format!(
            "for link in 'a eth0' 'ga in'; do
                set -- $link
                ip -n $1 link set $2 gso_max_size 180000 gro_max_size 180000
            done
            # The kernel cuts its super-packets at 1 ms of its sending rate, unless the round
            # trip is short: on a busy machine it is neither fast nor short.
            set_in a net.ipv4.tcp_tso_rtt_log=31
            set_in a net.ipv4.tcp_slow_start_after_idle=0
            {begin}
            in_node a ping -q -c 1 -w 5 fd02::2 >/dev/null
            python3 \"$BIG_TCP\"
            end ga gb\n"
        ));
        run.conserved();
        let [seen] = &run.objects()[..] else {
            panic!("{begin}: {}", run.printed);
        };
        let [bytes, largest, out, lumps] =
            ["bytes", "largest", "out", "lumps"].map(|key| seen[key].as_u64().expect(key));
        assert!(largest > 65_600, "{begin}: {seen}");
        // More than the five segments of a bundle that came in one piece.
        assert!(out > 9_000, "{begin}: {seen}");
        // Hardly anything is sent twice.
        assert!((lumps..lumps / 10 * 11).contains(&bytes), "{begin}: {seen}");
    }
}
