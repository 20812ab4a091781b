//! The arguments, environment and program files of a command, as execve(2) takes them.

use crate::error::{Error, Result};
use crate::sys::exec::Executable;
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Where programs are searched without `PATH` (`confstr(_CS_PATH)`).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Prepares `argv` with the variables of this process and `variables`, which replace those of the same name. The
/// program is searched in the directories of `path`.
pub fn prepare<'a>(
    argv: &[String],
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    path: Option<&OsStr>,
) -> Result<Executable> {
    let words = argv.iter().map(text).collect::<Result<Vec<_>>>()?;
    let Some(program) = words.first() else {
        return Err(Error::new("no command is given").with_remedy("name one after --"));
    };
    let files = program_files(program, path.unwrap_or(OsStr::new(DEFAULT_PATH)))?;
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    environment.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
    let environment = environment.into_iter().map(|(mut variable, value)| {
        variable.push("=");
        variable.push(value);
        text(variable)
    });
    Ok(Executable::new(words, environment.collect::<Result<_>>()?, files))
}

/// A string of C.
pub fn text(text: impl AsRef<OsStr>) -> Result<CString> {
    CString::new(text.as_ref().as_bytes())
        .map_err(|_| Error::new("an argument or a variable contains a zero byte"))
}

/// The files that execvp(3) tries for `program`.
fn program_files(program: &CString, path: &OsStr) -> Result<Vec<CString>> {
    let name = program.as_bytes();
    if name.is_empty() {
        return Ok(Vec::new());
    }
    if name.contains(&b'/') {
        return Ok(vec![program.clone()]);
    }
    let in_directory = |directory: &[u8]| match directory {
        // An empty entry is the working directory.
        [] => Ok(program.clone()),
        _ => text(OsString::from_vec([directory, b"/", name].concat())),
    };
    path.as_bytes().split(|&byte| byte == b':').map(in_directory).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_searched_as_execvp_searches_it() {
        let files = |program: &str, path: &str| {
            let files = program_files(&text(program).unwrap(), OsStr::new(path)).unwrap();
            files.iter().map(|file| file.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(files("true", "/opt/bin::/bin"), ["/opt/bin/true", "true", "/bin/true"]);
        assert_eq!(files("./true", "/bin"), ["./true"]);
        assert!(files("", "/bin").is_empty());
    }

    #[test]
    fn zero_bytes_and_empty_commands_are_refused() {
        let message = |argv: &[&str], variables: &[(&str, &str)]| {
            let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
            prepare(&argv, variables.iter().copied(), None).err().unwrap().to_string()
        };
        assert_eq!(message(&[], &[]), "no command is given; name one after --");
        assert_eq!(message(&["a\0"], &[]), "an argument or a variable contains a zero byte");
        assert_eq!(message(&["a"], &[("A", "\0")]), "an argument or a variable contains a zero byte");
    }
}
