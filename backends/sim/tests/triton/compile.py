"""Compiles Triton kernels for AMD chips, without a GPU, into a folder.

    python3 compile.py FOLDER [CHIP...]

Each kernel gives a code object `NAME.CHIP.hsaco` and a line in `index.tsv`: the file, the symbol,
threads of a workgroup, bytes of LDS. The test `triton` reads that folder.
"""

import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    row = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + tl.program_id(0) * n + at, row / tl.sum(row, axis=0), mask=at < n)


@triton.jit
def layer_norm(x, gain, bias, y, n, epsilon, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    row = tl.load(x + tl.program_id(0) * n + at, mask=mask, other=0.0)
    mean = tl.sum(row, axis=0) / n
    centred = tl.where(mask, row - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / n + epsilon)
    row = centred * scale * tl.load(gain + at, mask=mask) + tl.load(bias + at, mask=mask)
    tl.store(y + tl.program_id(0) * n + at, row, mask=mask)


@triton.jit
def total(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y, tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0))


@triton.jit
def histogram(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x + at, mask=mask, other=0)
    tl.atomic_add(y + value % 16, 1, mask=mask)
    tl.atomic_max(y + 16 + value * 0, value, mask=mask)


@triton.jit
def scan(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           ACC: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.arange(0, BK)
    pa = a + row[:, None] * k + part[None, :]
    pb = b + part[:, None] * n + col[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        ta = tl.load(pa, mask=(row[:, None] < m) & (part[None, :] < left), other=0.0)
        tb = tl.load(pb, mask=(col[None, :] < n) & (part[:, None] < left), other=0.0)
        acc = tl.dot(ta, tb, acc, out_dtype=ACC)
        pa += BK
        pb += BK * n
    out = c + row[:, None] * n + col[None, :]
    tl.store(out, acc, mask=(row[:, None] < m) & (col[None, :] < n))


@triton.jit
def matmul_scaled(a, sa, b, sb, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  A: tl.constexpr, B: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    part_a = tl.arange(0, BK // PA)
    part_b = tl.arange(0, BK // PB)
    scales = tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k // BK):
        ta = tl.load(a + row[:, None] * (k // PA) + step * (BK // PA) + part_a[None, :])
        tb = tl.load(b + (step * (BK // PB) + part_b[:, None]) * n + col[None, :])
        xa = tl.load(sa + row[:, None] * (k // 32) + step * (BK // 32) + scales[None, :])
        xb = tl.load(sb + col[:, None] * (k // 32) + step * (BK // 32) + scales[None, :])
        acc = tl.dot_scaled(ta, xa, A, tb, xb, B, acc)
    tl.store(c + row[:, None] * n + col[None, :], acc)


WARP = {"gfx1100": 32, "gfx1151": 32, "gfx1201": 32, "gfx950": 64}


def kernels(chip):
    """Name, function, types of the arguments, constants, warps."""
    f32 = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    yield "add", add, {**f32, "z": "*fp32"}, {"BLOCK": 256}, 4
    yield "softmax", softmax, f32, {"BLOCK": 512}, 4
    norm = {**f32, "gain": "*fp32", "bias": "*fp32", "epsilon": "fp32"}
    yield "layer_norm", layer_norm, norm, {"BLOCK": 256}, 4
    i32 = {"x": "*i32", "y": "*i32", "n": "i32"}
    yield "total", total, i32, {"BLOCK": 512}, 4
    yield "total_f32", total, f32, {"BLOCK": 512}, 4
    yield "histogram", histogram, i32, {"BLOCK": 256}, 4
    yield "scan", scan, {"x": "*i32", "y": "*i32"}, {"BLOCK": 256}, 4
    types = [("f16", "fp16", tl.float32, "fp32"), ("bf16", "bf16", tl.float32, "fp32"),
             ("f32", "fp32", tl.float32, "fp32"), ("i8", "i8", tl.int32, "i32")]
    if chip in ("gfx1201", "gfx950"):
        types += [("fp8", "fp8e4nv", tl.float32, "fp32"), ("bf8", "fp8e5", tl.float32, "fp32")]
    for name, element, acc, out in types:
        args = {"a": f"*{element}", "b": f"*{element}", "c": f"*{out}", "m": "i32", "n": "i32",
                "k": "i32"}
        tile = {"BM": 64, "BN": 64, "BK": 64 if element in ("i8", "fp8e4nv", "fp8e5") else 32}
        yield f"matmul_{name}", matmul, args, {**tile, "ACC": acc}, 4
    if chip == "gfx950":
        for a, b, pa, pb in [("e4m3", "e4m3", 1, 1), ("e2m1", "e2m1", 2, 2), ("e4m3", "e2m1", 1, 2)]:
            args = {"a": "*fp8e4nv" if pa == 1 else "*u8", "sa": "*u8",
                    "b": "*fp8e4nv" if pb == 1 else "*u8", "sb": "*u8", "c": "*fp32", "n": "i32",
                    "k": "i32"}
            tile = {"BM": 64, "BN": 64, "BK": 128, "A": a, "B": b, "PA": pa, "PB": pb}
            yield f"scaled_{a}_{b}", matmul_scaled, args, tile, 4


def main():
    folder, chips = sys.argv[1], sys.argv[2:] or list(WARP)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "index.tsv"), "w") as index:
        for chip in chips:
            for name, function, types, constants, warps in kernels(chip):
                order = {arg: types[arg] for arg in function.arg_names if arg in types}
                order.update({arg: "constexpr" for arg in constants})
                source = ASTSource(fn=function, signature=order, constexprs=constants)
                target = GPUTarget("hip", chip, WARP[chip])
                try:
                    kernel = triton.compile(source, target=target, options={"num_warps": warps})
                except Exception as error:
                    print(f"{name} for {chip}: {str(error).splitlines()[:1]}", file=sys.stderr)
                    continue
                file = f"{name}.{chip}.hsaco"
                with open(os.path.join(folder, file), "wb") as out:
                    out.write(kernel.asm["hsaco"])
                threads = warps * WARP[chip]
                shared = kernel.metadata.shared
                index.write(f"{file}\t{kernel.metadata.name}\t{threads}\t{shared}\n")


main()
