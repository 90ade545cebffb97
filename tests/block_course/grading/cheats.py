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
}
