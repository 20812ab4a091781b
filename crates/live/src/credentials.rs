//! User, groups and capabilities of a host's programs.

use crate::error::{Error, Result};
use crate::sys::capabilities;
use longhaul_plan::HostSettings;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};
use std::fs;

/// What programs of a host run as. The default is what the run itself is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// User, group and supplementary groups.
    pub user: Option<User>,
    /// A bit for each capability that programs may have (linux/capability.h); `None`: all that the run gives.
    pub capabilities: Option<u64>,
}

/// A user by numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its supplementary groups.
    pub groups: Vec<u32>,
}

impl Credentials {
    /// Those that the settings of a host ask for, with names from `/etc/passwd` and `/etc/group` of the host that this
    /// process is in.
    pub fn of_host(settings: &HostSettings) -> Result<Self> {
        let user = settings.user.as_deref().map(find_user).transpose()?;
        let mask = |list: &Vec<u8>| list.iter().fold(0, |mask, number| mask | 1 << number);
        Ok(Credentials { user, capabilities: settings.capabilities.as_ref().map(mask) })
    }

    /// Gives them to this process, which must have one thread. Async-signal-safe.
    pub fn assume(&self) -> std::result::Result<(), (&'static str, Errno)> {
        if let Some(mask) = self.capabilities {
            for capability in (0..u64::BITS).filter(|number| mask >> number & 1 == 0) {
                capabilities::drop_from_bounding_set(capability);
            }
        }
        if let Some(User { uid, gid, groups }) = &self.user {
            if self.capabilities.is_some() {
                capabilities::keep_over_setuid().map_err(|error| ("cannot keep capabilities", error))?;
            }
            capabilities::set_user(*uid, *gid, groups).map_err(|error| ("cannot become its user", error))?;
        }
        if let Some(mask) = self.capabilities {
            capabilities::retain_for_programs(mask).map_err(|error| ("cannot drop capabilities", error))?;
            if self.user.as_ref().is_some_and(|user| user.uid != 0) {
                for capability in (0..u64::BITS).filter(|number| mask >> number & 1 == 1) {
                    capabilities::raise_ambient(capability);
                }
            }
        }
        Ok(())
    }
}

fn find_user(name: &str) -> Result<User> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    user_in(name, &passwd, &groups).ok_or_else(|| {
        Error::new(format!("there is no user \"{name}\" in the host's /etc/passwd"))
            .with_remedy("write a name that is there, or a number")
    })
}

/// The user of this name or number (passwd(5), group(5)).
fn user_in(name: &str, passwd: &str, groups: &str) -> Option<User> {
    let number: Option<u32> = name.parse().ok();
    let entry = passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let (uid, gid) = (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?);
        (fields[0] == name || number == Some(uid)).then(|| (fields[0].to_owned(), uid, gid))
    });
    let Some((name, uid, gid)) = entry else {
        return number.map(|uid| User { uid, gid: uid, groups: Vec::new() });
    };
    let supplementary = groups.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_member = fields.get(3)?.split(',').any(|member| member == name);
        fields[2].parse().ok().filter(|_| is_member)
    });
    Some(User { uid, gid, groups: supplementary.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:34:www:/var/www:/bin/false\nbroken\n";
    const GROUP: &str = "root:x:0:\nssl-cert:x:104:postgres,www-data\nadm:x:4:root\n";

    #[test]
    fn a_user_is_found_by_name_and_by_number() {
        let expected = Some(User { uid: 33, gid: 34, groups: vec![104] });
        assert_eq!(user_in("www-data", PASSWD, GROUP), expected);
        assert_eq!(user_in("33", PASSWD, GROUP), expected);
        assert_eq!(user_in("1234", PASSWD, GROUP), Some(User { uid: 1234, gid: 1234, groups: vec![] }));
        assert_eq!(user_in("nobody-of-this-name", PASSWD, GROUP), None);
    }
}
