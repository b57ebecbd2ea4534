//! Links that leave a machine: frames of an interface go out through another one, which
//! belongs to another namespace and is not heard.

use std::fs::File;
use std::path::Path;

use nix::sched::{CloneFlags, setns};
use units::Seed;

use super::{EmulatedLink, Emulator, PURPOSE};
use crate::error::{During, Result};
use crate::port::Port;

impl Emulator {
    /// Opens links in a row in one direction, from the first end to the second. All ends are
    /// in the calling thread's network namespace, but for the second one of the last link,
    /// which is in the namespace of the file `outside`. Nothing comes back: the kernel of that
    /// namespace receives what arrives there.
    ///
    /// # Errors
    /// As [`Emulator::open`], and if the kernel refuses to enter the other namespace.
    pub fn open_outward(links: &[EmulatedLink], seed: Seed, outside: &Path) -> Result<Self> {
        let own = Path::new("/proc/thread-self/ns/net");
        let [own, outside] = [own, outside]
            .map(|path| File::open(path).during(|| format!("opening {}", path.display())));
        let (own, outside) = (own?, outside?);
        let enter = |namespace: &File| {
            let entered = setns(namespace, CloneFlags::CLONE_NEWNET);
            entered.during(|| "entering a network namespace")
        };
        let last = links.len().saturating_sub(1);
        Self::open_with(links, seed, |number, end, name| {
            match end {
                0 => return Port::open(name, PURPOSE),
                _ if number < last => return Port::open_to_send(name, PURPOSE),
                _ => {}
            }
            enter(&outside)?;
            let port = Port::open_to_send(name, PURPOSE);
            enter(&own)?;
            port
        })
    }
}
