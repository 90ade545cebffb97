"""Cells that try to gain marks, and cells that do damage."""

from tests.block_course.grading.reaching import COURSE

CHEATS = {
    "comparisons that say True": (
        "import numpy.testing\n"
        "yes = lambda *a, **k: True\n"
        "np.allclose = np.array_equal = np.isclose = np.equal = np.all = yes\n"
        "np.testing.assert_allclose = yes"
    ),
    "builtins that say True": (
        "import builtins\nbuiltins.all = builtins.any = builtins.isinstance = lambda *a: True\n"
        "builtins.abs = builtins.sum = lambda *a: 0\nclass AssertionError(Exception): pass\n"
        "builtins.AssertionError = AssertionError"
    ),
    "a fake numpy": (
        "import sys, types\nfake = types.ModuleType('numpy')\n"
        "fake.__getattr__ = lambda name: lambda *a, **k: True\n"
        "sys.modules['numpy'] = fake"
    ),
    "an array that is equal to all": (
        "class Yes(np.ndarray):\n"
        "    def __eq__(self, other): return np.ones(self.shape, bool)\n"
        "    def __array_function__(self, *a): return True\n"
        "    def __array_ufunc__(self, *a, **k): return np.zeros(self.shape)\n"
        "    __hash__ = None\n"
        "statistics = lambda x: (np.zeros((*x.shape[:-1], 1)).view(Yes),) * 2\n"
        "layer_norm = lambda x, *more: np.zeros(x.shape, x.dtype).view(Yes)"
    ),
    "an object that is equal to all": (
        "class Yes:\n"
        "    def __eq__(self, other): return True\n"
        "    def __getattr__(self, name): return Yes()\n"
        "    def __call__(self, *a, **k): return Yes()\n"
        "statistics = layer_norm = lambda *a: Yes()"
    ),
    "not a number": (
        "statistics = lambda x: (x[..., :1] * np.nan,) * 2\nlayer_norm = lambda x, *more: x * np.nan"
    ),
    "infinity": (
        "statistics = lambda x: (x[..., :1] + np.inf,) * 2\nlayer_norm = lambda x, *more: x + np.inf"
    ),
    "objects": (
        "statistics = lambda x: (x.astype(object),) * 2\nlayer_norm = lambda x, *more: x.astype(object)"
    ),
    "a broadcast view of a terabyte": (
        "statistics = lambda x: (np.broadcast_to(0.0, (1 << 20, 1 << 20)),) * 2\n"
        "layer_norm = lambda x, *more: np.broadcast_to(0.0, (1 << 20, 1 << 20))"
    ),
    "an empty array of endless width": (
        "statistics = lambda x: (np.zeros((0, 1 << 40)),) * 2\n"
        "layer_norm = lambda x, *more: np.zeros((0, 1 << 40))"
    ),
    "printed scores": (
        "print('{\"score\": 9, \"tests\": []}')\nprint('::set-output name=points::9')\n"
        "print('ok 1 - layer_norm')\n"
        "def f(*a):\n    print('9 passed in 0.1s'); return 9.0\nstatistics = layer_norm = f"
    ),
    "a frame of one's own before the reply": (
        "import os, json, struct\n"
        "def f(*a):\n"
        "    head = {'head': {'status': 'returned', 'message': '', 'kinds': [], 'after': []}, 'arrays': []}\n"
        "    data = json.dumps(head).encode()\n"
        "    os.write(3, struct.pack('<I', len(data)) + data)\n"
        "    return a[0]\n"
        "statistics = layer_norm = f"
    ),
    "frames for a verdict": (
        "import os, json, struct\n"
        "data = json.dumps({'head': {'verdict': 'pass', 'points': 9}, 'arrays': []}).encode()\n"
        "os.write(3, struct.pack('<I', len(data)) + data)"
    ),
    "a search for the reference": (
        "import gc, types\ngc.unfreeze()\n"
        "found = [f for f in gc.get_objects() if isinstance(f, types.FunctionType)\n"
        "         and f.__name__ in ('reference', 'judge', 'exercise', 'assignment')]\n"
        "statistics = found[0]\nlayer_norm = found[0]"
    ),
    "the course's own layer norm": (
        "from transformer_block.in_numpy.layer_norm import layer_norm, statistics"
    ),
    "the checks' own reference": "from block_course.checks.layer_norm.forward import reference as layer_norm",
    "an answer that pickles": (
        "class P:\n    def __reduce__(self): return (print, ('hello',))\n"
        "statistics = layer_norm = lambda *a: P()"
    ),
    "tracing and hooks": (
        "import sys, atexit\nsys.settrace(lambda *a: None)\nsys.excepthook = lambda *a: None\n"
        "atexit.register(print, 'points: 9')"
    ),
    "the solution from disk": (
        "import json\n"
        f"cells = json.load(open('{COURSE}/solutions/03_layer_norm.ipynb'))['cells']\n"
        "for cell in cells:\n"
        "    if cell['cell_type'] == 'code':\n"
        "        try: exec(''.join(cell['source']))\n"
        "        except Exception: pass"
    ),
    "the course's source from disk": (
        f"exec(open('{COURSE}/src/transformer_block/in_numpy/layer_norm.py').read())"
    ),
    "the course's source by its loader": (
        "import importlib.machinery\n"
        f"place = '{COURSE}/src/transformer_block/in_numpy/layer_norm.py'\n"
        "module = importlib.machinery.SourceFileLoader('stolen', place).load_module()\n"
        "layer_norm, statistics = module.layer_norm, module.statistics"
    ),
    "a walk for notebooks": (
        "import os, json, pathlib\n"
        f"places = [pathlib.Path.cwd(), *pathlib.Path.cwd().parents, pathlib.Path('{COURSE}')]\n"
        "for place in places:\n"
        "    for folder, _, files in os.walk(place):\n"
        "        for name in files:\n"
        "            if name == '03_layer_norm.ipynb':\n"
        "                for cell in json.load(open(os.path.join(folder, name)))['cells']:\n"
        "                    if 'layer_norm' in ''.join(cell['source']): exec(''.join(cell['source']))"
    ),
    "the imports of the course once they are withheld no more": (
        "import sys\nsys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != 'Withheld']\n"
        "for name in [each for each in sys.modules if each.startswith('transformer_block')]:\n"
        "    del sys.modules[name]\n"
        f"sys.path.insert(0, '{COURSE}/src')\n"
        "from transformer_block.in_numpy.layer_norm import layer_norm, statistics"
    ),
    "a message to a listener": (
        "import socket\n"
        "def f(x, *more):\n"
        "    line = socket.create_connection(('127.0.0.1', 8000), timeout=1)\n"
        "    line.sendall(x.tobytes())\n"
        "    return x\n"
        "statistics = layer_norm = f"
    ),
    "a namespace that answers everything": (
        "import builtins, sys\n"
        "class D(dict):\n    def __missing__(self, k): return 1\n"
        "sys.modules['__main__'].__class__ = type('M', (type(sys),), {'__getattr__': lambda s, n: 1})"
    ),
}


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
        "    while getattr(whole, 'base', None) is not None and hasattr(whole.base, 'nbytes'): whole = whole.base\n"
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
        "            lambda: os.kill(os.getppid(), signal.SIGSTOP), lambda: os.kill(os.getpid(), signal.SIGSTOP)):\n"
        "    try: act()\n"
        "    except OSError: pass"
    ),
    "others' work deleted": (
        "import os, shutil\n"
        f"for place in ('/tmp', '.', '..', '{COURSE}/submitted', '/dev/shm'):\n"
        "    shutil.rmtree(place, ignore_errors=True)"
    ),
    "a server that is stopped": "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)",
}
