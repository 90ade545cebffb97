"""A cell that reaches for what is not its own, and says what came of it: nothing, or what it got."""

import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parents[3]
PYTHON = Path(sys.prefix).relative_to(COURSE).parts[:1] if Path(sys.prefix).is_relative_to(COURSE) else ()
"""The environment may lie in the course's folder; then its name must be there."""

REACHES = {
    "the reference": f"open('{COURSE}/src/block_course/checks/layer_norm/forward.py').read()",
    "the reference in bytecode": (
        f"[open(each, 'rb').read() for each in "
        f"__import__('glob').glob('{COURSE}/src/**/forward*.pyc', recursive=True)][0]"
    ),
    "a solution": f"open('{COURSE}/solutions/03_layer_norm.ipynb').read()",
    "the tests": f"open('{COURSE}/tests/block_course/grading/examples.py').read()",
    "names in the course": f"[each for each in os.listdir('{COURSE}') if each not in {PYTHON!r}][0]",
    "names in the root": "os.listdir('/')",
    "names in /tmp": "os.listdir('/tmp')",
    "the list of users": "open('/etc/passwd').read()",
    "the host's name": "open('/etc/hostname').read()",
    "the memory of the server": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "the environment of the server": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "its own memory": "open('/proc/self/mem', 'rb+')",
    "the list of processes": "[each for each in os.listdir('/proc') if each.isdigit()]",
    "the file behind a descriptor": "open('/proc/self/fd/3', 'wb')",
    "a file beside the notebook": "open('left', 'w')",
    "a file in /tmp": "open('/tmp/left', 'w')",
    "a file in shared memory": "open('/dev/shm/left', 'w')",
    "a nameless file": "os.open('/tmp', os.O_TMPFILE | os.O_RDWR)",
    "a file in memory": "os.memfd_create('left')",
    "a folder": "os.mkdir('left')",
    "a link": "os.symlink('/etc/passwd', 'left')",
    "another name for a file": "os.rename(os.__file__, os.__file__ + '.old')",
    "a file's end": "os.truncate(os.__file__, 0)",
    "a file's rights": "os.chmod(os.__file__, 0o777)",
    "a write into Python": "open(os.__file__, 'a')",
    "another folder": "os.chdir('/')",
    "a process": "os.fork()",
    "a process by posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "a program": "os.execv('/bin/sh', ['sh'])",
    "a shell": "subprocess.run(['sh', '-c', 'true'])",
    "a signal to the server": "os.kill(os.getppid(), 0)",
    "a signal to all": "os.kill(-1, 0)",
    "a signal to the group": "os.killpg(0, 0)",
    "a signal through a descriptor": "fcntl.fcntl(1, fcntl.F_SETOWN, os.getppid())",
    "a signal of one's choice through it": "fcntl.fcntl(1, fcntl.F_SETSIG, 9)",
    "a signal to a thread of the server": "libc('tgkill', os.getppid(), os.getppid(), 0)",
    "the server's priority": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "the server's limits": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE)",
    "its own limits": "libc('setrlimit', 4, bytes(16))",
    "the server's processors": "os.sched_setaffinity(os.getppid(), {0})",
    "a session": "os.setsid()",
    "another user": "os.setuid(0)",
    "a TCP socket": "socket.socket()",
    "a UDP socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a UNIX socket": "socket.socket(socket.AF_UNIX)",
    "a netlink socket": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a pair of datagram sockets": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a descriptor through the channel": "socket.send_fds(socket.socket(fileno=os.dup(3)), [b'x'], [0])",
    "a connection": "socket.create_connection(('127.0.0.1', 22))",
    "shared memory": "libc('shmget', 0, 4096, 0o1600)",
    "a message queue": "libc('msgget', 0, 0o1600)",
    "a terminal": "os.openpty()",
    "a typed line": "fcntl.ioctl(0, termios.TIOCSTI, b'x')",
    "a device": "os.mknod('left')",
    "a pipe with a name": "os.mkfifo('left')",
    "a watch on files": "libc('inotify_init1', 0)",
    "locked memory": "libc('mlock', ctypes.c_char_p(b'x' * 4096), 4096)",
    "an option of the process": "libc('prctl', 4, 1, 0, 0, 0)",
    "another group": "os.setgid(0)",
}

_CELL = """
import ctypes, fcntl, json, os, resource, socket, subprocess, termios

class Nothing(Exception):
    pass

def found(result):
    if result < 0:
        raise Nothing
    return result

def libc(name, *arguments):
    return found(getattr(ctypes.CDLL(None), name)(*arguments))

def reach(text):
    try:
        got = eval(text)
        return f"reached: {{type(got).__name__}}"
    except (Nothing, OSError, IndexError):
        return ""

print(json.dumps({{name: reach(text) for name, text in {reaches!r}.items()}}))
"""

DEADLY = {
    "a new namespace": "ctypes.CDLL(None).unshare(0x10000000)",
    "another process's registers": "ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)",
    "another process's memory": "ctypes.CDLL(None).process_vm_readv(os.getppid(), 0, 0, 0, 0, 0)",
    "a mount": "ctypes.CDLL(None).mount(b'tmpfs', b'.', b'tmpfs', 0, 0)",
    "another root": "os.chroot('.')",
    "a process as a file": "os.pidfd_open(os.getppid())",
    "a call of another architecture": "mapped_and_called(bytes.fromhex('b814000000cd80c3'))",
}
"""No honest code does these: they end the process."""

DEADLY_CELL = """
import ctypes, mmap, os

def mapped_and_called(code):
    place = mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    place.write(code)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(place)))()

{}
"""

CELL = _CELL.format(reaches=REACHES)
