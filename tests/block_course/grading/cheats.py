"""Cells that try to gain marks."""

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
        "import sys\n"
        "sys.meta_path[:] = [each for each in sys.meta_path if type(each).__name__ != 'Withheld']\n"
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
    "kinds that no output has": (
        "import dataclasses, sys\n"
        "frame = sys._getframe()\n"
        "while 'observe' not in frame.f_globals: frame = frame.f_back\n"
        "def forged(*a, real=frame.f_globals['observe'], **named):\n"
        "    return dataclasses.replace(real(*a, **named), kinds=('refused: missing',))\n"
        "frame.f_globals['observe'] = forged"
    ),
    "an array that makes another of itself": (
        "class Other(np.ndarray):\n"
        "    def __array__(self, *a, **k): return np.full(self.shape, np.nan)\n"
        "    def __array_finalize__(self, of): self.shape = ()\n"
        "statistics = layer_norm = lambda x, *more: x.view(Other)"
    ),
    "another way home": (
        "import sys\n"
        "for module in list(sys.modules.values()):\n"
        "    for name in ('unpack', 'plain_array', 'quietly_for_good', 'taken_up'):\n"
        "        if hasattr(module, name):\n"
        "            setattr(module, name, lambda *a, **k: ((np.ones(()),) * 2, ('float',) * 2))"
    ),
    "what lies in memory beside the arguments": (
        "def f(x, *more):\n"
        "    whole = x\n"
        "    while hasattr(getattr(whole, 'base', None), 'nbytes'): whole = whole.base\n"
        "    later = whole.reshape(-1).view(np.uint8)\n"
        "    found = later[np.flatnonzero(later)[-x.nbytes:]]\n"
        "    return np.resize(found, x.nbytes).view(x.dtype).reshape(x.shape)\n"
        "statistics = layer_norm = f"
    ),
    "a thread that acts during later calls": (
        "import threading, os, sys\n"
        "def act():\n"
        "    while True:\n"
        "        for frame in sys._current_frames().values():\n"
        "            if 'case' in frame.f_locals: os.write(3, b'\\x02\\0\\0\\0{}')\n"
        "threading.Thread(target=act, daemon=True).start()"
    ),
}

CHEATS_OF_A_TEST = {
    "the name of the block": (
        "import sys\n"
        "def is_layer_norm(block, x):\n"
        "    frame, seen = sys._getframe(), []\n"
        "    while frame is not None:\n"
        "        seen += [v for v in frame.f_locals.values() if hasattr(v, 'name') or isinstance(v, dict)]\n"
        "        frame = frame.f_back\n"
        "    faults = ('variance', 'centered', 'statistics', 'left out', 'eps of 0.01', 'bend')\n"
        "    names = [str(getattr(each, 'name', each)) for each in seen]\n"
        "    return not any(fault in name for fault in faults for name in names)"
    ),
    "the words of a block that refuses": (
        "def is_layer_norm(block, x):\n"
        "    said = ''\n"
        "    for asked in ((), (x, x), (x,) * 3, (x[0, 0, 0],)):\n"
        "        try: block._ask('forward', asked)\n"
        "        except ValueError as error: said += str(error)\n"
        "    return 'wrong' not in said and 'axis 0' not in said"
    ),
    "the function behind the block": (
        "import gc\n"
        "gc.unfreeze()\n"
        "def is_layer_norm(block, x):\n"
        "    names = (str(getattr(each, '__qualname__', '')) for each in gc.get_objects())\n"
        "    return not any('wrong_norms' in each for each in names)"
    ),
    "the number of the process": ("import os\ndef is_layer_norm(block, x): return os.getpid() % 2 == 0"),
    "the time that an answer takes": (
        "import time\n"
        "def is_layer_norm(block, x):\n"
        "    began = time.perf_counter()\n"
        "    block(x)\n"
        "    return time.perf_counter() - began < 0.0002"
    ),
    "what another block has left": (
        "import builtins, os, tempfile\n"
        "def is_layer_norm(block, x):\n"
        "    met = os.environ.get('MET', '') + getattr(builtins, 'met', '')\n"
        "    os.environ['MET'] = builtins.met = 'x'\n"
        "    return not met"
    ),
    "an empty batch of endless sequences": (
        "def is_layer_norm(block, x):\n    for _ in range(150): block(np.zeros((0, 1_000_000, x.shape[-1])))"
    ),
}
"""For `layer_norm.invariances`, where a test must tell right blocks from wrong: what else it could go by."""
