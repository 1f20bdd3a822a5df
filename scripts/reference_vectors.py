#!/usr/bin/env python3
"""Make tests/it/data/reference_vectors.json: what another runtime says about the embedding model.

    pip install numpy onnxruntime tokenizers
    scripts/export_model.py MODEL_DIR fp32.onnx --fp32
    scripts/reference_vectors.py fp32.onnx assets/all-MiniLM-L6-v2-int8/tokenizer.json tests/it/data/reference_vectors.json

ONNX Runtime over the unquantised weights, one text at a time: neither the runtime, nor the quantisation, nor the
batching of the product is shared. All texts fit the window.
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

WINDOW_TOKENS = 256
TEXTS = [
    "yes",
    "retry",
    "Close the file before renaming it on Windows.",
    "Use an exclusive upper bound in binary search",
    "rate limit exceeded (429): wait for the Retry-After header, then back off exponentially with jitter",
    "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'",
    "borrow of moved value: `config`; value used here after move",
    "fn midpoint(low: usize, high: usize) -> usize { low + (high - low) / 2 }",
    "def chunked(items, size):\n    return [items[i:i + size] for i in range(0, len(items), size)]",
    "SELECT id, title FROM memories WHERE workspace = $1 AND status = 'active' ORDER BY created_at DESC LIMIT 20;",
    "parseHTTPResponse snake_case_name kebab-case-name XMLHttpRequest2",
    "{\"code\": \"invalid_argument\", \"message\": \"n_results must be between 1 and 50\", \"retryable\": false}",
    "Die Verbindung zur Datenbank wird nach dreißig Sekunden ohne Antwort geschlossen.",
    "Le cache doit être vidé après chaque mise à jour du schéma, sinon les anciennes colonnes réapparaissent.",
    "バイナリサーチの上限は排他的にする",
    "Соединение закрыто до того, как был получен ответ сервера",
    "ship it 🚀🚀 the flaky test is finally green ✅",
    "   leading and trailing white space, and\ttabs\n\nand blank lines   ",
    "A deadline must travel with the request. When a service calls another one, it passes on what is left of its own "
    "time, never a fresh timeout, because the caller above has stopped listening when its own clock ran out. Work that "
    "nobody waits for is dropped before it begins, not after it has cost a connection, a query and a lock.",
    "The migration failed halfway and left two tables renamed and one not. The first attempt wrapped every statement "
    "in its own transaction, so the rollback undid only the last one. The second attempt used a single transaction, but "
    "the tool opened another connection for the lock table and waited for itself. What worked: take the advisory lock "
    "on the same connection, run all statements in one transaction, and verify the column count before the commit. "
    "Check that no statement commits implicitly; creating an index concurrently does. Write the version row last, in "
    "the same transaction, so that a reader never sees a version whose tables are not there. Keep the old names as "
    "views for one release. When something fails in the middle, the error names the statement and its position in the "
    "file, the version row stays as it was, and running the tool again starts from the first statement, not from the "
    "one that failed. Test this by killing the process between two statements.",
]


def main(model_file, tokenizer_file, output):
    tokenizer = Tokenizer.from_file(tokenizer_file)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(model_file, providers=["CPUExecutionProvider"])

    def vector(text):
        ids = np.array([tokenizer.encode(text).ids], np.int64)
        assert ids.shape[1] <= WINDOW_TOKENS, text
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        mean = session.run(None, inputs)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    lines = [json.dumps({"text": t, "vector": [round(float(x), 6) for x in vector(t)]}, ensure_ascii=False) for t in TEXTS]
    pathlib.Path(output).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
