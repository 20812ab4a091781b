//! execve(2) with arguments that are prepared before fork(2).

use nix::errno::Errno;
use std::ffi::CString;
use std::ptr;

/// The shell that runs files without a format that the kernel knows, as execvp(3) has it.
const SHELL: &std::ffi::CStr = c"/bin/sh";

/// Words and their addresses, ended by a null pointer.
struct Words {
    _words: Vec<CString>,
    addresses: Vec<*const libc::c_char>,
}

impl Words {
    fn new(words: Vec<CString>) -> Self {
        let addresses = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Words { _words: words, addresses }
    }
}

/// A file that may be the program.
struct Candidate {
    file: CString,
    /// Addresses of the words of a shell that runs the file as a script, ended by a null pointer.
    script: Vec<*const libc::c_char>,
}

/// A program with its arguments and its environment, ready for execve(2).
pub struct Executable {
    argv: Words,
    env: Words,
    candidates: Vec<Candidate>,
}

impl Executable {
    /// Prepares `argv` with the environment `env`. The first of `files` that exists and may be executed is the program.
    pub fn new(argv: Vec<CString>, env: Vec<CString>, files: Vec<CString>) -> Self {
        let argv = Words::new(argv);
        let arguments = argv.addresses.get(1..).unwrap_or(&[ptr::null()]);
        let candidates = files.into_iter().map(|file| Candidate {
            script: [SHELL.as_ptr(), file.as_ptr()].into_iter().chain(arguments.iter().copied()).collect(),
            file,
        });
        Executable { candidates: candidates.collect(), env: Words::new(env), argv }
    }

    /// Becomes the program, or returns the error that execvp(3) would. Async-signal-safe.
    pub fn execute(&self) -> Errno {
        let mut denied = false;
        for Candidate { file, script } in &self.candidates {
            // SAFETY: both arrays end with a null pointer and hold addresses of strings that `self` owns.
            unsafe { libc::execve(file.as_ptr(), self.argv.addresses.as_ptr(), self.env.addresses.as_ptr()) };
            match Errno::last() {
                Errno::EACCES => denied = true,
                Errno::ENOENT | Errno::ENOTDIR | Errno::ENODEV | Errno::ESTALE | Errno::ETIMEDOUT => {}
                Errno::ENOEXEC => {
                    // SAFETY: as above; `script` also holds the address of `SHELL`, which is static.
                    unsafe { libc::execve(SHELL.as_ptr(), script.as_ptr(), self.env.addresses.as_ptr()) };
                    return Errno::last();
                }
                error => return error,
            }
        }
        if denied { Errno::EACCES } else { Errno::ENOENT }
    }
}
