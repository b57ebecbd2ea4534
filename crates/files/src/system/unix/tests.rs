use std::io::{Read as _, Write as _};

use super::*;
use crate::{may_be_secret, open_sink, read, read_regular_text, read_secret, read_text};

#[test]
fn an_endless_file_is_rejected_with_its_limit() {
    let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it is larger than 1 MiB, the limit; name a smaller one"
    );
    let text = read_text(Path::new("/dev/null"), 0).unwrap();
    assert_eq!(text, "");
}

#[test]
fn the_file_of_a_secret_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let mut file = crate::create_private(&path).unwrap();
    io::Write::write_all(&mut file, b"bytes").unwrap();
    assert_eq!(*read_secret(&path, 5).unwrap(), b"bytes");
    assert!(may_be_secret(&path, "bytes"));
    assert!(!may_be_secret(&path, "one\ntwo\nthree"));
    let large = read_secret(&path, 4).unwrap_err().to_string();
    assert_eq!(
        large,
        "it is larger than 4 bytes, the limit; name a smaller one"
    );
    assert!(crate::create_private(&path).is_err());
    for mode in [0o604, 0o620, 0o602, 0o640, 0o610] {
        file.set_permissions(fs::Permissions::from_mode(mode))
            .unwrap();
        let error = read_secret(&path, 5).unwrap_err().to_string();
        assert!(error.contains("type: chmod 600"), "{error}");
        assert!(!may_be_secret(&path, "bytes"));
    }
}

#[test]
fn the_secret_of_another_user_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let found = crate::create_private(&path).unwrap().metadata().unwrap();
    assert!(reject_shared_with(&path, &found, found.uid(), None).is_ok());
    // What root owns is rejected to nobody.
    let rejected = reject_shared_with(&path, &found, 4_001, None);
    match found.uid() {
        0 => assert!(rejected.is_ok()),
        _ => {
            let error = rejected.unwrap_err().to_string();
            assert!(error.contains("type: sudo chown 4001 "), "{error}");
        }
    }
}

#[test]
fn a_service_manager_lists_its_reader_in_the_place_of_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("west.key");
    let file = crate::create_private(&path).unwrap();
    let rejected = |mode, credentials: &Path| {
        file.set_permissions(fs::Permissions::from_mode(mode))
            .unwrap();
        let found = file.metadata().unwrap();
        reject_shared_with(&path, &found, found.uid(), Some(credentials)).is_err()
    };
    assert!(!rejected(0o440, folder.path()));
    assert!(rejected(0o444, folder.path()));
    assert!(rejected(0o460, folder.path()));
    assert!(rejected(0o440, Path::new("/run/credentials/other")));
}

#[test]
fn what_must_be_a_regular_file_never_makes_its_reader_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    for path in [&path, folder.path(), Path::new("/dev/zero")] {
        let error = read_secret(path, 6).unwrap_err().to_string();
        assert_eq!(error, "it is not a regular file; name one");
        let error = read_regular_text(path, 6).unwrap_err().to_string();
        assert_eq!(error, "it is not a regular file; name one");
    }
}

#[test]
fn a_pipe_is_written_to_if_it_has_a_reader_and_makes_nobody_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    let error = open_sink(&path).unwrap_err().to_string();
    assert!(error.contains("nobody reads from it"), "{error}");
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
    let mut reader: File = nix::fcntl::open(&path, flags, Mode::empty())
        .unwrap()
        .into();
    let mut writer = open_sink(&path).unwrap();
    writer.write_all(b"line").unwrap();
    let flags = fcntl(&writer, FcntlArg::F_GETFL).unwrap();
    assert!(!OFlag::from_bits_retain(flags).contains(OFlag::O_NONBLOCK));
    let mut bytes = [0; 4];
    reader.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"line");
}
