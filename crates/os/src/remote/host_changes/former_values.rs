//! The record of a run's changes: former values are entered before a change, and put
//! back from it.

use serde::{Deserialize, Serialize};
use units::IpVersion;

use super::Wanted;
use super::setting::Setting;
use crate::error::{Error, Result};
use crate::netlink::Listed;

/// The interfaces of a host.
pub(super) trait Interfaces {
    /// All interfaces.
    fn list(&self) -> Result<Vec<Listed>>;

    /// The value of a setting; `None` if the interface has no such setting.
    fn value(&self, interface: &Listed, setting: &Setting) -> Result<Option<u32>>;

    /// Changes a setting. A driver may round the value.
    fn set(&self, interface: &Listed, setting: &Setting, value: u32) -> Result<()>;

    /// The settings of `interface` that the kernel changes together with its MTU.
    fn followers(&self, interface: &Listed) -> Result<Vec<Setting>>;

    /// Whether IPv6 is set up on an interface.
    fn has_ipv6(&self, interface: &Listed) -> bool;
}

/// The changes of a run that have not been put back, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FormerValues {
    changes: Vec<Change>,
}

/// A changed setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    /// Index of the interface: its name may change.
    interface: u32,
    /// Its name at the time of the change.
    name: String,
    setting: Setting,
    /// The value before the run.
    former: u32,
    /// The value that the kernel stated after the last change of the run; `None` while
    /// a change is under way. Another value is that of another program.
    changed_to: Option<u32>,
}

/// The most rounds in which values are put back: a value may be out of range until
/// another one is back.
const ROUNDS: usize = 4;

impl FormerValues {
    /// Whether nothing is left to put back.
    pub(super) const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Changes an interface. `save` is called with the record before the first change,
    /// and after the last one.
    ///
    /// # Errors
    /// If another program changed what the run had changed, the change would remove
    /// IPv6, the kernel rejects or ignores it, or the errors of `save`. Settings that
    /// were changed before the error are in the record.
    pub(super) fn apply(
        &mut self,
        host: &impl Interfaces,
        wanted: &Wanted,
        mut save: impl FnMut(&Self) -> Result<()>,
    ) -> Result<()> {
        let interfaces = host.list()?;
        let interface = find(&interfaces, &wanted.interface)?;
        self.reject_foreign_values(host, &interfaces)?;
        let mut steps = Vec::new();
        for (setting, value) in wanted.settings() {
            let Some(now) = host.value(interface, &setting)? else {
                return Err(Error::new(
                    format!("changing {}", interface.name),
                    format!("it has no setting for {}", setting.name()),
                ));
            };
            if setting.is(now, value) {
                continue;
            }
            if setting == Setting::Mtu {
                keep_ip(host, &interfaces, interface, value)?;
                self.enter_followers(host, &interfaces, interface)?;
            }
            self.enter(interface, &setting, now);
            steps.push((setting, value));
        }
        if steps.is_empty() {
            return Ok(());
        }
        for change in &mut self.changes {
            change.changed_to = None;
        }
        save(self)?;
        // An offload may need another one, so none is looked at before all are set.
        let set = |(setting, value): &(Setting, u32)| host.set(interface, setting, *value);
        let look = |(setting, value): &(Setting, u32)| took(host, interface, setting, *value);
        let done = steps.iter().try_for_each(set);
        let done = done.and_then(|()| steps.iter().try_for_each(look));
        self.settle(host, &interfaces);
        save(self)?;
        done
    }

    /// Gives up settings that another program changed since, and interfaces that are
    /// gone. Returns a sentence for each. Whatever is left is of the run, also after
    /// the first values are put back.
    pub(super) fn give_up_foreign_values(&mut self, host: &impl Interfaces) -> Result<Vec<String>> {
        let interfaces = host.list()?;
        let mut notes = Vec::new();
        self.changes.retain_mut(|change| {
            let note = match change.now(host, &interfaces) {
                Err(_) => return true,
                Ok(None) => match change.setting {
                    // A route goes with its interface, or its owner removed it.
                    Setting::RouteMtu(_) => None,
                    _ => Some(format!(
                        "{} is gone, so {} is not put back",
                        change.name,
                        change.setting.name()
                    )),
                },
                Ok(Some(now)) => {
                    let is = |value| change.setting.same(now, value);
                    let foreign = |&set: &u32| !is(set) && !is(change.former);
                    match change.changed_to.take().filter(foreign) {
                        None => return true,
                        Some(set) => Some(format!(
                            "{}, so it is left alone; before this run it was {}",
                            change.by_another_program(now, set),
                            change.setting.show(change.former)
                        )),
                    }
                }
            };
            notes.extend(note);
            false
        });
        Ok(notes)
    }

    /// Puts the former values back, the latest change first. Returns a sentence for
    /// each setting that could not be put back and stays in the record.
    pub(super) fn restore(&mut self, host: &impl Interfaces) -> Vec<String> {
        let mut failures = Vec::new();
        for _ in 0..ROUNDS {
            let interfaces = match host.list() {
                Ok(interfaces) => interfaces,
                Err(error) => return vec![error.to_string()],
            };
            failures.clear();
            let mut settled = true;
            for change in self.changes.iter().rev() {
                match change.put_back(host, &interfaces) {
                    Ok(Back::Already) => {}
                    Ok(Back::Written) => settled = false,
                    Err(error) => failures.push(error.to_string()),
                }
            }
            if settled && failures.is_empty() {
                break;
            }
        }
        if failures.is_empty() {
            self.changes.clear();
        }
        failures
    }

    /// Enters the value of a setting before the run, unless it is entered.
    fn enter(&mut self, interface: &Listed, setting: &Setting, now: u32) {
        let entered =
            |change: &Change| change.interface == interface.index && change.setting == *setting;
        if !self.changes.iter().any(entered) {
            self.changes.push(Change {
                interface: interface.index,
                name: interface.name.clone(),
                setting: setting.clone(),
                former: now,
                changed_to: None,
            });
        }
    }

    /// Enters whatever may follow the MTU of `interface`.
    fn enter_followers(
        &mut self,
        host: &impl Interfaces,
        interfaces: &[Listed],
        interface: &Listed,
    ) -> Result<()> {
        for other in connected(interfaces, interface) {
            let mut settings = host.followers(other)?;
            if other.index != interface.index {
                settings.push(Setting::Mtu);
            }
            for setting in settings {
                if let Some(now) = host.value(other, &setting)? {
                    self.enter(other, &setting, now);
                }
            }
        }
        Ok(())
    }

    /// Reads back what the changes led to; settings with their former value leave the
    /// record.
    fn settle(&mut self, host: &impl Interfaces, interfaces: &[Listed]) {
        self.changes.retain_mut(|change| {
            // A value that cannot be read now is put back in any case.
            change.changed_to = change.now(host, interfaces).ok().flatten();
            let is_former = |now| change.setting.same(now, change.former);
            !change.changed_to.is_some_and(is_former)
        });
    }

    fn reject_foreign_values(&self, host: &impl Interfaces, interfaces: &[Listed]) -> Result<()> {
        for change in &self.changes {
            let now = change.now(host, interfaces)?;
            if let (Some(now), Some(set)) = (now, change.changed_to)
                && !change.setting.same(now, set)
            {
                return Err(Error::new(
                    format!("changing {}", change.name),
                    format!(
                        "{}; stop that program for the time of the run",
                        change.by_another_program(now, set)
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The outcome of putting a value back.
enum Back {
    /// It was back.
    Already,
    /// It was written.
    Written,
}

impl Change {
    /// The present value; `None` if the setting is gone.
    fn now(&self, host: &impl Interfaces, interfaces: &[Listed]) -> Result<Option<u32>> {
        match interfaces.iter().find(|one| one.index == self.interface) {
            None => Ok(None),
            Some(interface) => host.value(interface, &self.setting),
        }
    }

    fn put_back(&self, host: &impl Interfaces, interfaces: &[Listed]) -> Result<Back> {
        let Some(interface) = interfaces.iter().find(|one| one.index == self.interface) else {
            return Ok(Back::Already);
        };
        match host.value(interface, &self.setting)? {
            None => return Ok(Back::Already),
            Some(now) if self.setting.same(now, self.former) => return Ok(Back::Already),
            Some(_) => {}
        }
        host.set(interface, &self.setting, self.former)?;
        match host.value(interface, &self.setting)? {
            Some(now) if !self.setting.same(now, self.former) => Err(Error::new(
                format!("putting back {} of {}", self.setting.name(), interface.name),
                format!(
                    "it stays {} instead of {}",
                    self.setting.show(now),
                    self.setting.show(self.former)
                ),
            )),
            _ => Ok(Back::Written),
        }
    }

    fn by_another_program(&self, now: u32, set: u32) -> String {
        format!(
            "{} of {} is {}, but this run set it to {}: another program changed it",
            self.setting.name(),
            self.name,
            self.setting.show(now),
            self.setting.show(set)
        )
    }
}

/// Checks that a setting has the value that it was given.
fn took(host: &impl Interfaces, interface: &Listed, setting: &Setting, value: u32) -> Result<()> {
    match host.value(interface, setting)? {
        Some(now) if setting.is(now, value) => Ok(()),
        now => Err(Error::new(
            format!("changing {}", interface.name),
            format!(
                "its driver keeps {} at {} instead of {}",
                setting.name(),
                now.map_or_else(|| "nothing".to_owned(), |now| setting.show_in_force(now)),
                setting.show(value)
            ),
        )),
    }
}

/// Rejects an MTU at which the kernel removes the addresses and routes of an IP
/// version from an interface, or from one that follows its MTU.
fn keep_ip(
    host: &impl Interfaces,
    interfaces: &[Listed],
    interface: &Listed,
    mtu: u32,
) -> Result<()> {
    let reject = |name: &str, version: IpVersion| {
        Err(Error::new(
            format!("giving {} MTU {mtu}", interface.name),
            format!(
                "the kernel would remove the {version} addresses and routes of {name}, because \
                 {version} needs {}; choose a larger MTU, or an interface without {version}",
                version.smallest_mtu()
            ),
        ))
    };
    if mtu < IpVersion::V4.smallest_mtu() {
        return reject(&interface.name, IpVersion::V4);
    }
    if mtu >= IpVersion::V6.smallest_mtu() {
        return Ok(());
    }
    match connected(interfaces, interface)
        .into_iter()
        .find(|one| host.has_ipv6(one))
    {
        Some(one) => reject(&one.name, IpVersion::V6),
        None => Ok(()),
    }
}

/// `interface` and all those that may follow its MTU: stacked on it, ports of it or
/// with it as a port, and so on.
fn connected<'a>(interfaces: &'a [Listed], interface: &'a Listed) -> Vec<&'a Listed> {
    let mut found = vec![interface];
    let mut next = 0;
    while let Some(&one) = found.get(next) {
        next += 1;
        for other in interfaces {
            let joined = [other.lower, other.controller].contains(&Some(one.index))
                || [one.lower, one.controller].contains(&Some(other.index));
            if joined && !found.iter().any(|known| known.index == other.index) {
                found.push(other);
            }
        }
    }
    found
}

/// The interface of that name.
fn find<'a>(interfaces: &'a [Listed], name: &str) -> Result<&'a Listed> {
    interfaces
        .iter()
        .find(|one| one.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = interfaces.iter().map(|one| one.name.as_str()).collect();
            Error::new(
                format!("changing {name}"),
                format!(
                    "there is no such interface on this host; it has {}",
                    names.join(", ")
                ),
            )
        })
}

#[cfg(test)]
mod tests;
