//! Flows that draw from files of values: the results folder is self-contained.

use std::fs;

use crate::harness::Dir;

const FLOWS: &str = "\
format = 1
name = \"distributions\"
[network]
rate = \"100mbit\"
[traffic]
kind = \"flows\"
duration = \"500ms\"
[flows.web]
message = \"file:sizes.txt\"
gap = \"pareto:1.5,200us\"
on = \"exponential:20ms\"
off = \"weibull:0.8,20ms\"
bytes = \"200kB\"
[flows.voice]
message = 160
gap = \"file:gaps.txt\"
[sweep]
\"network.mtu\" = [1500, 9000]
[trials]
repeat = 2
";

#[test]
fn a_results_folder_keeps_the_values_that_flows_draw_from() {
    let dir = Dir::new();
    dir.write("flows.toml", FLOWS);
    dir.write("sizes.txt", "# seen\n40\n576\n1500\n1500\n");
    dir.write("gaps.txt", "0.020\n21ms\n");
    dir.run("run flows.toml --on sim -o first").ran();
    fs::rename(dir.path().join("first"), dir.path().join("moved")).unwrap();
    fs::remove_file(dir.path().join("gaps.txt")).unwrap();

    dir.run("report moved").ran();
    dir.run("run moved/plan.toml --on sim -o again").ran();
    assert_eq!(dir.trials("again", 4), dir.trials("moved", 4));

    dir.run("run flows.toml --on sim").rejected(&[
        "flows.toml:16: flows.voice.gap = \"file:gaps.txt\": cannot read gaps.txt: no such file or directory",
    ]);
    dir.write("gaps.txt", "0.020\n22ms\n");
    let resumed = dir.run("run flows.toml --on sim -o moved --resume");
    assert!(
        resumed.stderr.contains("belongs to another experiment"),
        "{}",
        resumed.stderr
    );
}
