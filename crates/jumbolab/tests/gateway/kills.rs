//! Commands that are killed at random while others use what they serve.
//! `JUMBOLAB_ENDURANCE` is the seconds of load.

use super::see_for;

/// Seconds of load in the gate.
const SECONDS: u64 = 10;

#[test]
#[expect(clippy::print_stdout, reason = "the counts of a long run")]
fn of_commands_that_are_killed_at_random_nothing_is_left_and_the_others_go_on() {
    let asked = std::env::var("JUMBOLAB_ENDURANCE").ok();
    let seconds = asked.map_or(SECONDS, |text| text.parse().expect("a number of seconds"));
    let seen = see_for(
        &format!(
            "keys\n\"$JUMBOLAB\" gateway keygen --preshared key\npython3 \"$KILLS\" {seconds} 20261127\n"
        ),
        seconds + 300,
    );
    let printed = seen.objects();
    let found = printed.first().expect("one object");
    println!("{found:#}");
    assert_eq!(
        found["wrong"].as_array().map(Vec::len),
        Some(0),
        "{found:#}"
    );
}
