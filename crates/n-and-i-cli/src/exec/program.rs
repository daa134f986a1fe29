//! Whether there is such a program, and what to say if it does not start.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use rustix::io::Errno;

/// Why a program does not start, with the exit code that a shell has for it.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Trouble {
    message: String,
    code: u8,
}

const CANNOT_START: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Looks whether the program is there, in the directories of `PATH` if its name has no slash.
pub(super) fn check(program: &OsStr) -> Result<(), Trouble> {
    if which::which(program).is_ok() {
        return Ok(());
    }
    if program.is_empty() {
        let message = "the program's name is empty".to_owned();
        return Err(Trouble { message, code: NOT_FOUND });
    }
    let path = Path::new(program);
    let name = path.display();
    let is_path = program.as_encoded_bytes().contains(&b'/');
    let (why, code) = match is_path {
        true if path.is_dir() => ("is a directory", CANNOT_START),
        true if path.exists() => ("is not executable (try chmod +x)", CANNOT_START),
        true => ("is not there", NOT_FOUND),
        false => ("is not in a directory of PATH (try ./ before the name)", NOT_FOUND),
    };
    Err(Trouble { message: format!("program {name} {why}"), code })
}

/// Why the operating system did not start it.
pub(super) fn refused(program: &OsStr, errno: i32) -> Trouble {
    let name = Path::new(program).display();
    let error = io::Error::from_raw_os_error(errno);
    let (hint, code) = if errno == Errno::NOENT.raw_os_error() {
        ("; it or its interpreter is not there", NOT_FOUND)
    } else {
        ("", CANNOT_START)
    };
    Trouble { message: format!("program {name} does not start: {error}{hint}"), code }
}

impl Trouble {
    pub(super) fn code(&self) -> ExitCode {
        self.code.into()
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_program_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        std::fs::write(&file, "").unwrap();
        for (program, why, code) in [
            (file.as_os_str(), "is not executable", CANNOT_START),
            (directory.path().as_os_str(), "is a directory", CANNOT_START),
            (directory.path().join("none").as_os_str(), "is not there", NOT_FOUND),
            ("no-such-program".as_ref(), "is not in a directory of PATH", NOT_FOUND),
            ("".as_ref(), "name is empty", NOT_FOUND),
        ] {
            let trouble = check(program).unwrap_err();
            assert!(trouble.message.contains(why), "{trouble}");
            assert_eq!(trouble.code, code, "{trouble}");
        }
        assert_eq!(check("sh".as_ref()), Ok(()));
        assert_eq!(check("/bin/sh".as_ref()), Ok(()));
    }
}
