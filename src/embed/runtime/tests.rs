use std::sync::Arc;

use super::super::encoder::Encoder;
use super::super::model::builtin;
use super::super::onnx_runtime::OrtEncoder;
use super::super::tract::{TractEncoder, TractModel};
use super::*;

#[test]
fn a_library_that_is_missing_or_another_is_told_apart() {
    let missing = load(OsStr::new("/nonexistent/libonnxruntime.so")).unwrap_err();
    assert!(missing.contains("/nonexistent/libonnxruntime.so"), "{missing}");
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        let another = load(OsStr::new("libm.so.6")).unwrap_err();
        assert!(another.contains("OrtGetApiBase"), "{another}");
    }
}

#[test]
fn the_library_of_a_package_is_found_from_its_binary() {
    let root = tempfile::tempdir().unwrap();
    let binary = root.path().join("bin/reasoning-bank");
    assert_eq!(beside(&binary), None);
    let name = libloading::library_filename("onnxruntime");
    for directory in ["lib/reasoning-bank", "bin"] {
        std::fs::create_dir_all(root.path().join(directory)).unwrap();
        std::fs::create_dir_all(root.path().join("bin")).unwrap();
        std::fs::write(root.path().join(directory).join(&name), "").unwrap();
        let found = beside(&binary).unwrap().canonicalize().unwrap();
        assert_eq!(found, root.path().canonicalize().unwrap().join(directory).join(&name));
    }
}

/// The test needs `ORT_DYLIB_PATH` in its environment. Without it there is nothing to compare.
#[test]
fn both_runtimes_make_the_same_vectors() {
    let Runtime::OnnxRuntime { version } = runtime() else {
        writeln!(io::stderr(), "skipped: {VARIABLE} names no ONNX Runtime").unwrap();
        return;
    };
    assert!(version.starts_with("1."), "{version}");
    let model = builtin::model();
    let mut ort = OrtEncoder::load(&model, 2).unwrap();
    let mut tract = TractEncoder::new(&Arc::new(TractModel::load(&model, 1, true).unwrap())).unwrap();
    let long = "A lock that is held across an await point blocks every other task of the thread. ".repeat(12);
    let texts = ["yes", "Größe der Datei prüfen", "fn main() { println!(\"hi\"); }", "検索の上限", &long, ""];
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    for text in texts {
        let (a, b) = (ort.vectors(&[text]).unwrap().remove(0), tract.vectors(&[text]).unwrap().remove(0));
        assert!(cosine(&a, &b) > 0.999, "{} for {text:?}", cosine(&a, &b));
    }
    let short = &texts[..4];
    for ((a, b), text) in ort.vectors(short).unwrap().iter().zip(tract.vectors(short).unwrap()).zip(short) {
        assert!(cosine(a, &b) > 0.999, "{} for {text:?} in a batch", cosine(a, &b));
    }
    assert_eq!(ort.cut(&long).unwrap(), tract.cut(&long).unwrap());
}
