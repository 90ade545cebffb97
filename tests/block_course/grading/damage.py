"""Cells that do damage."""

from tests.block_course.grading.reaching import COURSE

DAMAGE = {
    "a loop in a cell": "while True: pass",
    "a loop in the graded function": "def layer_norm(*a):\n    while True: pass",
    "a loop that swallows interrupts": (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "the end of the process": "import os; os._exit(0)",
    "the end of the process in the graded function": "import os\ndef layer_norm(*a): os._exit(0)",
    "a crash": "import ctypes; ctypes.string_at(0)",
    "a crash in the graded function": "import ctypes\ndef layer_norm(*a): ctypes.string_at(0)",
    "an exception with a hostile text": (
        "class E(BaseException):\n    def __str__(self): raise self\n    __repr__ = __str__\n"
        "def layer_norm(*a): raise E\nraise E"
    ),
    "recursion without end": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef layer_norm(*a): return layer_norm(*a)\nlayer_norm()"
    ),
    "memory without end": "hog = []\nwhile True: hog.append(bytearray(1 << 24))",
    "memory without end in the graded function": (
        "def layer_norm(*a):\n    hog = []\n    while True: hog.append(bytearray(1 << 24))"
    ),
    "output without end": "while True: print('x' * 1_000_000)",
    "output without end in the graded function": (
        "def layer_norm(*a):\n    while True: print('x' * 1_000_000)"
    ),
    "a file of a gigabyte": (
        "with open('large', 'wb') as file:\n    for _ in range(1024): file.write(bytes(1 << 20))"
    ),
    "many files and folders": (
        "import os\nfor i in range(3000): open(str(i), 'w').close()\n"
        "for i in range(1200): os.mkdir('d'); os.chdir('d')"
    ),
    "closed descriptors": "import os; os.closerange(0, 100)",
    "a kill of the process group": "import os, signal; os.killpg(0, signal.SIGKILL)",
    "a kill of the server": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "threads and processes left behind": (
        "import os, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "if os.fork() == 0:\n    os.setsid(); time.sleep(600)"
    ),
    "a wiped namespace": "globals().clear()",
    "nonsense to the grader": "import os; os.write(3, b'\\xff' * 5000)",
    "nonsense to the grader in the graded function": (
        "import os\ndef layer_norm(*a): os.write(3, bytes(5000))"
    ),
    "a fork bomb": (
        "import os\n"
        "for _ in range(400):\n"
        "    try:\n"
        "        if os.fork() == 0: os._exit(0)\n"
        "    except OSError: pass"
    ),
    "threads without end": (
        "import threading\nthreading.stack_size(32 << 10)\ndone = threading.Event()\n"
        "while True: threading.Thread(target=done.wait).start()"
    ),
    "threads without end in the graded function": (
        "import threading\nthreading.stack_size(32 << 10)\ndone = threading.Event()\n"
        "def layer_norm(*a):\n    while True: threading.Thread(target=done.wait).start()"
    ),
    "a gigabyte wherever there is room": (
        "for place in ('large', '/tmp/large', '/dev/shm/large', '/var/tmp/large', '/run/large'):\n"
        "    try:\n"
        "        with open(place, 'wb') as file:\n"
        "            for _ in range(1024): file.write(bytes(1 << 20))\n"
        "    except OSError: pass"
    ),
    "20,000 files": (
        "for i in range(20_000):\n    try: open(f'/tmp/{i}', 'w').close()\n    except OSError: pass"
    ),
    "a gigabyte in memory files": (
        "import os\nwhile True:\n    os.write(os.memfd_create('x'), bytes(1 << 20))"
    ),
    "all of the memory for inputs": (
        "import sys\n"
        "def layer_norm(x, *more):\n"
        "    whole = x\n"
        "    while hasattr(getattr(whole, 'base', None), 'nbytes'): whole = whole.base\n"
        "    whole[...] = 255\n"
        "    return x"
    ),
    "descriptors without end": "import os\nwhile True: os.dup(0)",
    "another channel in its place": (
        "import os, socket\na, b = socket.socketpair()\nos.dup2(a.fileno(), 3)\nb.sendall(b'x' * 100)"
    ),
    "every alarm": (
        "import signal\nsignal.signal(signal.SIGALRM, lambda *a: 1 / 0)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)"
    ),
    "code of its own": (
        "import ctypes, mmap\n"
        "place = mmap.mmap(-1, 4096, prot=7)\nplace.write(b'\\x0f\\x0b')\n"
        "ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(place)))()"
    ),
    "a broken interpreter": (
        "import ctypes, gc\nfor each in gc.get_objects()[:10_000]: ctypes.memset(id(each), 0, 16)"
    ),
    "a stop of itself and all around it": (
        "import os, signal\n"
        "for act in (lambda: os.killpg(0, signal.SIGSTOP), lambda: os.kill(-1, signal.SIGKILL),\n"
        "            lambda: os.kill(os.getppid(), signal.SIGSTOP),\n"
        "            lambda: os.kill(os.getpid(), signal.SIGSTOP)):\n"
        "    try: act()\n"
        "    except OSError: pass"
    ),
    "others' work deleted": (
        "import os, shutil\n"
        f"for place in ('/tmp', '.', '..', '{COURSE}/submitted', '/dev/shm'):\n"
        "    shutil.rmtree(place, ignore_errors=True)"
    ),
    "a server that is stopped": "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)",
    "as much as the wire carries, at each call": (
        "def layer_norm(x, *more): return np.zeros((32 << 20) // 8)"
    ),
    "words without end": (
        "import sys\n"
        "frame = sys._getframe()\n"
        "while 'observe' not in frame.f_globals: frame = frame.f_back\n"
        "real, Seen = frame.f_globals['observe'], frame.f_globals['Observation']\n"
        "def forged(*a, **named):\n"
        "    return Seen(status='returned', outputs=(np.full(32 << 20, 10, np.uint8),), kinds=('names',))\n"
        "frame.f_globals['observe'] = forged"
    ),
}
