use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;

use super::*;

/// A folder, and a file outside of it that must stay as it is.
fn planted() -> (tempfile::TempDir, Folder, PathBuf) {
    let base = tempfile::tempdir().unwrap();
    let victim = base.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let folder = Folder::create(&base.path().join("results")).unwrap();
    (base, folder, victim)
}

fn put(text: &'static str) -> impl FnOnce(&mut File) -> Result<()> {
    move |file| Ok(file.write_all(text.as_bytes())?)
}

#[test]
fn a_planted_link_is_never_written_through() {
    let (base, folder, victim) = planted();
    symlink(&victim, folder.path().join("link")).unwrap();
    symlink(base.path(), folder.path().join("elsewhere")).unwrap();
    let rejected = folder.append("link").unwrap_err().to_string();
    assert!(rejected.contains("link is a symbolic link"), "{rejected}");
    assert!(folder.create_new("link").is_err());
    assert!(folder.read("link", 100).is_err());
    let rejected = folder.folder("elsewhere").unwrap_err().to_string();
    assert!(
        rejected.contains("elsewhere is a symbolic link"),
        "{rejected}"
    );
    // The link itself is replaced.
    folder.replace("link", put("new")).unwrap();
    assert_eq!(folder.read("link", 100).unwrap(), b"new");
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn links_at_the_names_of_temporary_files_are_passed_over() {
    let (_base, folder, victim) = planted();
    let process = std::process::id();
    for name in [
        format!(".page.{process}.tmp"),
        format!(".page.{process}-2.tmp"),
    ] {
        symlink(&victim, folder.path().join(name)).unwrap();
    }
    folder.replace("page", put("new")).unwrap();
    assert_eq!(folder.read_text("page", 100).unwrap(), "new");
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert_eq!(folder.names().unwrap().len(), 3, "no other file is left");
}

#[test]
fn a_file_with_a_second_name_is_not_appended_to() {
    let (_base, folder, victim) = planted();
    fs::hard_link(&victim, folder.path().join("journal")).unwrap();
    let rejected = folder.append("journal").unwrap_err().to_string();
    assert!(rejected.contains("hard links"), "{rejected}");
    folder.replace("journal", put("new")).unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn a_pipe_is_rejected_at_once() {
    let (_base, folder, _) = planted();
    nix::unistd::mkfifo(&folder.path().join("pipe"), Mode::S_IRWXU).unwrap();
    for rejected in [
        folder.append("pipe").map(drop),
        folder.open_file("pipe").map(drop),
    ] {
        let rejected = rejected.unwrap_err().to_string();
        assert!(
            rejected.contains("pipe is not an ordinary file"),
            "{rejected}"
        );
    }
    assert!(folder.replace("pipe", put("new")).is_err());
}

#[test]
fn names_that_lead_out_are_rejected() {
    let (_base, folder, victim) = planted();
    for name in ["../victim", "..", ".", "", "a/b", "a\0b"] {
        assert!(folder.append(name).is_err(), "{name:?}");
        assert!(folder.create_new(name).is_err(), "{name:?}");
        assert!(folder.folder(name).is_err(), "{name:?}");
        assert!(folder.remove(name).is_err(), "{name:?}");
        assert!(folder.replace(name, put("new")).is_err(), "{name:?}");
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn files_are_created_appended_to_replaced_and_removed() {
    let (_base, folder, _) = planted();
    folder.create_new("one").unwrap().write_all(b"1").unwrap();
    assert!(folder.create_new("one").is_err(), "it exists");
    folder.append("one").unwrap().write_all(b"2").unwrap();
    assert_eq!(folder.read("one", 2).unwrap(), b"12");
    assert!(folder.read("one", 1).is_err(), "it is larger");
    let inner = folder.folder("inner").unwrap();
    inner.replace("two", put("2")).unwrap();
    let failed = inner.replace("two", |_| anyhow::bail!("no content"));
    assert!(format!("{:#}", failed.unwrap_err()).contains("no content"));
    let mut text = String::new();
    inner
        .open_file("two")
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!((text.as_str(), inner.names().unwrap().len()), ("2", 1));
    assert!(folder.remove_folder("inner").is_err(), "it is not empty");
    inner.remove("two").unwrap();
    folder.remove_folder("inner").unwrap();
    assert_eq!(folder.names().unwrap(), ["one"]);
    assert!(folder.holds("one") && !folder.holds("inner"));
}

#[test]
fn a_folder_or_file_that_is_no_longer_where_it_was_opened_is_noticed() {
    let (base, folder, victim) = planted();
    let path = folder.path().to_owned();
    let file = folder.append("journal").unwrap();
    assert!(folder.is_in_place() && folder.is_still("journal", &file));
    fs::rename(path.join("journal"), path.join("other")).unwrap();
    assert!(!folder.is_still("journal", &file), "it has another name");
    assert!(folder.is_still("other", &file));
    fs::write(path.join("journal"), "").unwrap();
    assert!(
        !folder.is_still("journal", &file),
        "another file has its name"
    );
    fs::remove_file(path.join("journal")).unwrap();
    symlink("other", path.join("journal")).unwrap();
    assert!(
        !folder.is_still("journal", &file),
        "a link to it has its name"
    );
    // The folder elsewhere, with a link in its place.
    fs::rename(&path, base.path().join("moved")).unwrap();
    assert!(!folder.is_in_place());
    let elsewhere = base.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert!(!folder.is_in_place());
    folder.replace("page", put("new")).unwrap();
    assert_eq!(folder.names().unwrap(), ["journal", "other", "page"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    // A link to the folder itself does no harm.
    fs::remove_file(&path).unwrap();
    symlink(base.path().join("moved"), &path).unwrap();
    assert!(folder.is_in_place());
    fs::remove_dir_all(base.path().join("moved")).unwrap();
    assert!(!folder.is_in_place());
}
