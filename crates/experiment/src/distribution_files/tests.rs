use proptest::prelude::*;

use super::*;
use meter::departures::Distribution;

#[test]
fn what_is_no_file_is_rejected_in_one_line() {
    for (text, line) in [
        (
            "file:/nowhere",
            "cannot read /nowhere: No such file or directory (os error 2)",
        ),
        (
            "file:/",
            "cannot read /: it is not a regular file; name one",
        ),
        (
            "file:/dev/zero",
            "cannot read /dev/zero: it is not a regular file; name one",
        ),
    ] {
        let read = DistributionFiles::default().distribution(text, Measure::Gaps, Path::new(""));
        assert_eq!(read.unwrap_err(), line, "{text}");
    }
}

/// The result of reading a file of `text`, without its folder in error
/// messages.
fn of_file(text: &[u8], measure: Measure) -> Result<WrittenDistribution, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seen.txt"), text).unwrap();
    let read = DistributionFiles::default().distribution("file:seen.txt", measure, folder.path());
    read.map_err(|why| why.replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn a_file_has_a_value_on_each_line() {
    let distribution =
        |text: &str, measure| of_file(text.as_bytes(), measure).unwrap().distribution;
    assert_eq!(
        distribution("# seen\n40\n\n1500 # twice\n1.5kB", Measure::Sizes),
        Distribution::Empirical(vec![40.0, 1500.0, 1500.0].into())
    );
    assert_eq!(
        distribution("0.000001500\r\n2ms\n3", Measure::Gaps),
        Distribution::Empirical(vec![1.5e6, 2e9, 3e12].into())
    );
}

#[test]
fn a_file_that_is_none_is_rejected_by_its_line() {
    let long = [b'1'; 2_000];
    for (text, line) in [
        (&b"40\nabc\n"[..], "seen.txt:2: "),
        (b"40\n-3\n", "seen.txt:2: "),
        (
            b"40\n\xff\xfe\n",
            "seen.txt:2: these are not short lines of text; write one value on each line",
        ),
        (
            &long,
            "seen.txt:1: these are not short lines of text; write one value on each line",
        ),
        (
            b"# nothing\n\n",
            "seen.txt holds no values; write one on each line",
        ),
    ] {
        let why = of_file(text, Measure::Sizes).unwrap_err();
        assert!(why.starts_with(line) && !why.contains('\n'), "{why}");
    }
}

#[test]
fn a_kept_file_reads_back_under_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.txt");
    std::fs::write(&path, "0.25\n1us\n1us\n").unwrap();
    let read = |text: &str| {
        let files = DistributionFiles::default();
        let distribution = files
            .distribution(text, Measure::Gaps, folder.path())
            .unwrap();
        (distribution, files.kept())
    };
    let (distribution, kept) = read("file:seen.txt");
    let [file] = &kept[..] else {
        panic!("one file");
    };
    let mut bytes = Vec::new();
    file.write(&mut bytes).unwrap();
    std::fs::write(folder.path().join(&file.name), bytes).unwrap();
    assert_eq!(
        read(&distribution.to_string()),
        (distribution.clone(), kept.clone())
    );
    // Another value, or another order, is another name.
    std::fs::write(&path, "1us\n0.25\n1us\n").unwrap();
    assert_ne!(
        read("file:seen.txt").0.to_string(),
        distribution.to_string()
    );
}

#[test]
fn a_link_out_of_the_experiments_folder_is_rejected_and_one_within_is_followed() {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("own");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::create_dir(all.path().join("other")).unwrap();
    for place in ["own/inner/values", "other/values"] {
        std::fs::write(all.path().join(place), "3ms\n").unwrap();
    }
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    link("inner/values", "near");
    link("../other/values", "far");
    link("../other", "there");
    let read = |path: &str| {
        let files = DistributionFiles::default();
        (files.distribution(&format!("file:{path}"), Measure::Gaps, &folder)).map(drop)
    };
    assert_eq!(read("near"), Ok(()));
    assert_eq!(read("../other/values"), Ok(()), "the user sees this path");
    for path in ["far", "there/values"] {
        let why = read(path).unwrap_err();
        assert!(why.contains("other/values, outside"), "{why}");
    }
}

proptest! {
    #[test]
    fn any_bytes_of_a_file_are_read_or_rejected_in_one_line(
        text in prop::collection::vec(prop_oneof![Just(b'1'), Just(b'\n'), Just(b'.'), any::<u8>()], 0..60),
    ) {
        let read = of_file(&text, Measure::Gaps);
        prop_assert!(read.is_ok_and(|distribution| distribution.distribution.check().is_ok()) || of_file(&text, Measure::Gaps).is_err_and(|why| !why.contains('\n')));
    }
}
