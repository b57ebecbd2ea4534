use proptest::prelude::*;

use super::*;

fn gaps(text: &str) -> Result<WrittenLaw, String> {
    WrittenLaw::parse(text, Measure::Gaps)
}

fn sizes(text: &str) -> Result<WrittenLaw, String> {
    WrittenLaw::parse(text, Measure::Sizes)
}

#[test]
fn every_family_is_read_and_shown_with_its_units() {
    for (text, law, shown) in [
        ("20ms", Law::Constant(2e10), "constant:20ms"),
        ("constant:0s", Law::Constant(0.0), "constant:0s"),
        ("exponential: 1ms", Law::Exponential(1e9), "exponential:1ms"),
        (
            "uniform:1us, 2us",
            Law::Uniform(1e6, 2e6),
            "uniform:1us,2us",
        ),
        ("normal:5ms,1ms", Law::Normal(5e9, 1e9), "normal:5ms,1ms"),
        ("poisson:20ms", Law::Poisson(2e10, 1e9), "poisson:20ms,1ms"),
        (
            "poisson:1ms,10us",
            Law::Poisson(1e9, 1e7),
            "poisson:1ms,10us",
        ),
        ("pareto:1.5,1ms", Law::Pareto(1.5, 1e9), "pareto:1.5,1ms"),
        ("cauchy:1ms,1us", Law::Cauchy(1e9, 1e6), "cauchy:1ms,1us"),
        ("gamma:2,1ms", Law::Gamma(2.0, 1e9), "gamma:2,1ms"),
        ("weibull:.8,1ms", Law::Weibull(0.8, 1e9), "weibull:0.8,1ms"),
    ] {
        let written = gaps(text).unwrap();
        assert_eq!((&written.law, written.to_string().as_str()), (&law, shown));
        assert_eq!(gaps(shown).unwrap(), written);
    }
    let written = sizes("gamma:2,1kB").unwrap();
    assert_eq!(written.law, Law::Gamma(2.0, 1000.0));
    assert_eq!(sizes(&written.to_string()).unwrap(), written);
    assert_eq!(sizes("poisson:3").unwrap().law, Law::Poisson(3.0, 1.0));
}

#[test]
fn every_example_of_a_message_is_right() {
    for family in FAMILIES {
        for (measure, example) in [Measure::Gaps, Measure::Sizes]
            .into_iter()
            .zip(family.examples)
        {
            assert!(WrittenLaw::parse(example, measure).is_ok(), "{example}");
            assert!(family.wrong(measure).contains(example));
        }
    }
}

#[test]
fn what_is_no_law_is_refused_in_one_line() {
    for (text, line) in [
        (
            "parato:1,1ms",
            "there is no such law; write \"constant\", \"exponential\", \"uniform\", \"normal\", \"poisson\", \"pareto\", \"cauchy\", \"gamma\", \"weibull\" or \"file\", then a colon and what belongs to it",
        ),
        (
            "pareto:1.5",
            "pareto takes a shape and a scale; write for instance \"pareto:1.5,1ms\"",
        ),
        (
            "weibull:a,1ms",
            "weibull takes a shape and a scale; write for instance \"weibull:0.8,1ms\"",
        ),
        (
            "weibull:0,1ms",
            "weibull must have a shape from 0.05 to 1000",
        ),
        (
            "pareto:inf,1ms",
            "pareto must be numbers of 0 or more, at least one, the smaller of two first",
        ),
        ("gamma:2,0s", "gamma must have a scale above 0"),
        (
            "poisson:1s,1ps",
            "poisson must have a mean above 0 and at most 1000000000 units; make the unit larger",
        ),
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
        assert_eq!(gaps(text).unwrap_err(), line, "{text}");
    }
    assert!(gaps("exponential:1").unwrap_err().contains("1"));
}

/// The result of reading a file of `text`, without its folder in error
/// messages.
fn of_file(text: &[u8], measure: Measure) -> Result<WrittenLaw, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seen.txt"), text).unwrap();
    WrittenLaw::read(
        "file:seen.txt",
        measure,
        folder.path(),
        &LawFiles::default(),
    )
    .map_err(|why| why.replace(&format!("{}/", folder.path().display()), ""))
}

#[test]
fn a_file_has_a_value_on_each_line() {
    let law = |text: &str, measure| of_file(text.as_bytes(), measure).unwrap().law;
    assert_eq!(
        law("# seen\n40\n\n1500 # twice\n1.5kB", Measure::Sizes),
        Law::Empirical(vec![40.0, 1500.0, 1500.0].into())
    );
    assert_eq!(
        law("0.000001500\r\n2ms\n3", Measure::Gaps),
        Law::Empirical(vec![1.5e6, 2e9, 3e12].into())
    );
}

#[test]
fn a_file_that_is_none_is_refused_by_its_line() {
    let long = [b'1'; 2_000];
    for (text, line) in [
        (&b"40\nabc\n"[..], "seen.txt:2: "),
        (b"40\n-3\n", "seen.txt:2: "),
        (
            b"40\n\xff\xfe\n",
            "seen.txt:2: a file of values has short lines of text",
        ),
        (
            &long,
            "seen.txt:1: a file of values has short lines of text",
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
        let files = LawFiles::default();
        let law = WrittenLaw::read(text, Measure::Gaps, folder.path(), &files).unwrap();
        (law, files.kept())
    };
    let (law, kept) = read("file:seen.txt");
    let [file] = &kept[..] else {
        panic!("one file");
    };
    let mut octets = Vec::new();
    file.write(&mut octets).unwrap();
    std::fs::write(folder.path().join(&file.name), octets).unwrap();
    assert_eq!(read(&law.to_string()), (law.clone(), kept.clone()));
    // Another value, or another order, is another name.
    std::fs::write(&path, "1us\n0.25\n1us\n").unwrap();
    assert_ne!(read("file:seen.txt").0.to_string(), law.to_string());
}

#[test]
fn a_link_out_of_the_experiments_folder_is_refused_and_one_within_is_followed() {
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
        let files = LawFiles::default();
        WrittenLaw::read(&format!("file:{path}"), Measure::Gaps, &folder, &files).map(drop)
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
    fn any_text_is_read_or_refused_in_one_line(text in ".{0,40}", sizes: bool) {
        prop_assume!(!text.contains("file"));
        let measure = if sizes { Measure::Sizes } else { Measure::Gaps };
        match WrittenLaw::parse(&text, measure) {
            Ok(written) => prop_assert_eq!(WrittenLaw::parse(&written.to_string(), measure), Ok(written)),
            Err(why) => prop_assert!(!why.contains('\n')),
        }
    }

    #[test]
    fn any_octets_of_a_file_are_read_or_refused_in_one_line(
        text in prop::collection::vec(prop_oneof![Just(b'1'), Just(b'\n'), Just(b'.'), any::<u8>()], 0..60),
    ) {
        let read = of_file(&text, Measure::Gaps);
        prop_assert!(read.is_ok_and(|law| law.law.check().is_ok()) || of_file(&text, Measure::Gaps).is_err_and(|why| !why.contains('\n')));
    }
}
