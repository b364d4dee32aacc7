"""How the kernels are compiled: no GIL, kept on disk, a hint to fetch memory ahead."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` in machine code that runs without the GIL, compiled once per machine.

    The code is kept beside the file, in $NUMBA_CACHE_DIR or in the user's own cache; where none of
    these can be written, each process compiles it anew.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba's word for: no place to keep it
        return njit(**options)(function)


def _ahead(_typing: Any, array: Any, place: Any) -> Any:
    """Ask the processor to fetch ``array[place]``, which will be read soon; no bounds to heed."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        address = builder.bitcast(builder.gep(data, [values[1]]), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, word, word, word])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(fetch, [address, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, place), generate


ahead: Any = intrinsic(_ahead)
