//! The launch agent: a small script through which a program of one host starts a command in another.
//!
//! It replaces ssh. A process of the run holds the namespaces of every host open; the script
//! enters them by the numbers of its descriptors.
//! It is a script because that starts in milliseconds and needs nothing but `nsenter`.

use crate::error::{Error, Result};
use crate::host::Host;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Its file name. It is never called ssh: programs that look for ssh shall not find it unasked.
const NAME: &str = "longhaul-agent";
const SCRIPT: &str = concat!(include_str!("agent_arguments.sh"), include_str!("agent.sh"));

/// Writes the agent and what it must know of each host into `files`; returns the agent's path.
///
/// Process `holder` of the run has the hosts' namespaces open under the same numbers as this one. The hosts of other machines
/// are `others`, with the command line that does there what the agent does here, with the host, the working directory and the
/// command behind it.
pub fn write<'a>(
    files: &Path,
    hosts: impl Iterator<Item = &'a Host>,
    groups: &[&Path],
    holder: libc::pid_t,
    others: Option<(Vec<&str>, &[String])>,
) -> Result<PathBuf> {
    let agent = files.join(NAME);
    let put = |path: &Path, text: String| {
        fs::write(path, text).map_err(|error| Error::wrap(format!("write {}", path.display()), error))
    };
    let script = SCRIPT.replacen("@HERE@", &quoted(&files.display().to_string()), 1);
    put(&agent, script.replacen("@NSENTER@", nsenter(), 1).replace("@HOLDER@", &holder.to_string()))?;
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))
        .map_err(|error| Error::wrap(format!("make {} executable", agent.display()), error))?;
    for host in hosts {
        let groups: Vec<String> =
            groups.iter().map(|root| root.join(&host.name).display().to_string()).collect();
        put(&files.join(format!("host.{}", host.name)), entry(host, &groups))?;
    }
    let (elsewhere, launcher) = others.unwrap_or_default();
    for name in elsewhere {
        put(&files.join(format!("host.{name}")), entry_elsewhere(launcher))?;
    }
    Ok(agent)
}

/// Where the system has `nsenter`; a `PATH` may lead elsewhere.
fn nsenter() -> &'static str {
    const PLACES: [&str; 4] =
        ["/usr/bin/nsenter", "/bin/nsenter", "/usr/local/bin/nsenter", "/usr/sbin/nsenter"];
    PLACES.into_iter().find(|place| Path::new(place).exists()).unwrap_or("nsenter")
}

/// Assignments that the script reads, and what it does to join the host's control groups.
fn entry(host: &Host, groups: &[String]) -> String {
    let user = host.credentials.user.as_ref();
    let user = user.map_or_else(String::new, |user| format!("--setgid={} --setuid={}", user.gid, user.uid));
    assignments(&host.namespaces.descriptors(), &host.hostname, &user, groups)
}

/// The same for a host of another machine: the function that passes the command on.
fn entry_elsewhere(launcher: &[String]) -> String {
    let words: Vec<String> = launcher.iter().map(|word| quoted(word)).collect();
    format!("hostname=\nelsewhere=yes\nlaunch() {{ exec {} \"$@\"; }}\n", words.join(" "))
}

fn assignments(descriptors: &[(&str, i32)], hostname: &str, user: &str, groups: &[String]) -> String {
    let mut text = format!("hostname={}\nuser={}\n", quoted(hostname), quoted(user));
    for (kind, number) in descriptors {
        let _ = writeln!(text, "{kind}={number}");
    }
    for group in groups {
        let _ = writeln!(text, "{{ echo 0 >{}; }} 2>/dev/null", quoted(&format!("{group}/cgroup.procs")));
    }
    text
}

/// One word for a shell, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_spaces_and_quotes_stays_one_word() {
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
    }

    #[test]
    fn an_entry_of_another_machine_passes_the_command_to_its_launcher() {
        let launcher = ["/bin/python 3".to_owned(), "launch.sock".to_owned()];
        let text = entry_elsewhere(&launcher);
        assert!(text.contains("launch() { exec '/bin/python 3' 'launch.sock' \"$@\"; }"), "{text}");
    }

    #[test]
    fn an_entry_joins_each_group_and_names_every_descriptor() {
        let groups = ["/g/a1".to_owned(), "/h/a1".to_owned()];
        let text = assignments(&[("net", 7), ("mnt", 10)], "a1", "", &groups);
        let joins =
            "{ echo 0 >'/g/a1/cgroup.procs'; } 2>/dev/null\n{ echo 0 >'/h/a1/cgroup.procs'; } 2>/dev/null\n";
        assert_eq!(text, format!("hostname='a1'\nuser=''\nnet=7\nmnt=10\n{joins}"));
    }
}
