//! Makes tract, in pure Rust, the runtime behind `ort` and with it behind fastembed. Nothing else belongs here.

use std::ffi::c_char;
use std::sync::Once;

use ort::sys::{OrtStatusPtr, OrtTensorTypeAndShapeInfo};

/// Must run before the first session is made; later calls do nothing.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let mut api = ort_tract::api();
        // ort names the dimensions of every tensor and takes success for granted; the backend answers "unimplemented".
        api.SetSymbolicDimensions = ignore_symbolic_dimensions;
        if !ort::set_api(api) {
            tracing::warn!("another ONNX runtime was installed first");
        }
    });
}

/// Reports success. The names mean nothing to tract, which infers every shape.
///
/// # Safety
/// Always sound: no argument is read.
unsafe extern "system" fn ignore_symbolic_dimensions(
    _info: *mut OrtTensorTypeAndShapeInfo,
    _names: *mut *const c_char,
    _names_len: usize,
) -> OrtStatusPtr {
    OrtStatusPtr::default()
}
