"""Runs a filter program as the kernel does, on system calls of any architecture: classic BPF, of which
libseccomp uses loads, comparisons, `and`, jumps and returns.
"""

import struct

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_LOAD_WORD, _AND, _RETURN, _JUMP = 0x20, 0x54, 0x06, 0x05
_COMPARE = {
    0x15: lambda a, k: a == k,
    0x25: lambda a, k: a > k,
    0x35: lambda a, k: a >= k,
    0x45: lambda a, k: a & k != 0,
}


def verdict(program: bytes, machine: int, number: int, *arguments: int) -> int:
    """What the kernel would do with a system call: ALLOW, KILL, or ERRNO with the error's number."""
    data = struct.pack("<iIQ6Q", number, machine, 0, *(*arguments, *[0] * (6 - len(arguments))))
    accumulator, at = 0, 0
    while True:
        code, true, false, k = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        if code == _RETURN:
            return int(k)
        if code == _LOAD_WORD:
            (accumulator,) = struct.unpack_from("<I", data, k)
        elif code == _AND:
            accumulator &= k
        elif code == _JUMP:
            at += k
        else:
            at += true if _COMPARE[code](accumulator, k) else false
