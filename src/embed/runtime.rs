//! ONNX Runtime takes the place of tract where its shared library is: where `ORT_DYLIB_PATH` says, or beside the
//! binary, where packages put it. It is faster, and not in the binary. A library that cannot be used is reported once,
//! and tract is used.

use std::error::Error;
use std::ffi::{CStr, OsStr};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use libloading::{Library, Symbol};
use ort::sys::{ORT_API_VERSION, OrtApiBase};

/// The variable holds the path of `libonnxruntime`.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// A process that ends waits so long for its last words to be read.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// True from the moment at which the library is loaded.
static LOADED: AtomicBool = AtomicBool::new(false);

/// A package puts the library into one of these directories, as the directory of the binary sees them.
const BESIDE: [&str; 2] = ["", "../lib/reasoning-bank"];

/// The libraries that can run the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Runtime {
    Tract {
        /// The reason why the library that was found is not used.
        problem: Option<String>,
    },
    OnnxRuntime {
        version: String,
    },
}

/// Returns the runtime, which is the same for the life of the process because `ort` has only one.
pub(crate) fn runtime() -> &'static Runtime {
    static CHOSEN: OnceLock<Runtime> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let (path, found) = match named {
            Some(path) => (path, format!("{VARIABLE} names")),
            None => match std::env::current_exe().ok().and_then(|binary| beside(&binary)) {
                Some(path) => (path.into(), "beside the binary lies".to_owned()),
                None => return Runtime::Tract { problem: None },
            },
        };
        LOADED.store(true, Ordering::Release);
        match load(&path) {
            Ok(version) => Runtime::OnnxRuntime { version },
            Err(reason) => {
                let problem = format!("{found} {}, which cannot be used: {reason}", Path::new(&path).display());
                tracing::warn!("{problem}; tract runs the embedding model");
                Runtime::Tract { problem: Some(problem) }
            }
        }
    })
}

/// Ends the process with this exit code. The library ends with destructors, which take away what a thread that still loads
/// the model works with, and the process would crash. So they are not run where the library was loaded.
pub fn end_process(code: i32) -> ! {
    if !LOADED.load(Ordering::Acquire) {
        std::process::exit(code)
    }
    // A write that still blocks has the lock of stdout, and must not hold the process.
    let (done, flushed) = mpsc::channel();
    thread::spawn(move || {
        let _ = io::stdout().flush();
        let _ = done.send(());
    });
    let _ = flushed.recv_timeout(FLUSH_TIMEOUT);
    // SAFETY: what the process had to say is written, and it needs nothing else of its end.
    unsafe { libc::_exit(code) }
}

/// Returns the library that lies beside a binary.
pub(crate) fn beside(binary: &Path) -> Option<PathBuf> {
    let directory = binary.parent()?;
    let name = libloading::library_filename("onnxruntime");
    BESIDE.iter().map(|place| directory.join(place).join(&name)).find(|path| path.is_file())
}

/// Makes the library the runtime behind `ort`, and returns its version.
fn load(path: &OsStr) -> Result<String, String> {
    // SAFETY: the user names the library; what it does when it is loaded is what ONNX Runtime does.
    let library = unsafe { Library::new(path) };
    let reason = |error: libloading::Error| error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let library = library.map_err(reason)?;
    // SAFETY: this is the type of the function in every ONNX Runtime.
    let base: Result<Symbol<unsafe extern "system" fn() -> *const OrtApiBase>, _> =
        unsafe { library.get(b"OrtGetApiBase\0") };
    let base = base.map_err(|_| "it is no ONNX Runtime: it has no OrtGetApiBase".to_owned())?;
    // SAFETY: it takes nothing and returns a pointer to constant data of the library, or null.
    let base = unsafe { base().as_ref() }.ok_or("it gives no interface")?;
    // SAFETY: a constant C string of the library.
    let version = unsafe { CStr::from_ptr((base.GetVersionString)()) }.to_string_lossy().into_owned();
    // SAFETY: null where the version is not known to the library, else constant data of it.
    let api = unsafe { (base.GetApi)(ORT_API_VERSION) };
    if api.is_null() {
        return Err(format!("it is version {version}; 1.{ORT_API_VERSION} or a later one is needed"));
    }
    // SAFETY: not null, and of the version that the type is of; the library stays loaded (below).
    let api = unsafe { std::ptr::read(api) };
    // The functions are used to the end of the process.
    std::mem::forget(library);
    match ort::set_api(api) {
        true => Ok(version),
        false => Err("another ONNX runtime was installed first".into()),
    }
}

#[cfg(test)]
mod tests;
