"""One thread for each shape that a stack can have; each is parked in its shape, or spins there.

    shapes.py parked|spinning [SHAPE ...]

Syntax that old versions lack is in strings, compiled only where it is known.
"""
import sys
import threading
import time

import truth

SPIN = 'spinning' in sys.argv


def leaf(name):
    frame = sys._getframe()
    if SPIN:
        truth.note(name, frame, 1)
        while 1: x = 1
    truth.note(name, frame); time.sleep(3600)


# ---- shapes that every version has: functions that end up calling go() ----

def plain(go):
    go()


def recursion(go):
    def down(n):
        if n == 0:
            return go()
        return down(n - 1) + 1
    down(150)


def mutual_recursion(go):
    def ping(n):
        if n == 0:
            return go()
        return pong(
            n - 1)

    def pong(n):
        return ping(n)
    ping(40)


def generator(go):
    def numbers():
        for i in range(3):
            if i == 2:
                go()
            yield i

    def evens():
        for n in numbers():
            if n % 2 == 0:
                yield n
    for n in evens():
        pass


def suspended_generators(go):
    def numbers():
        for i in range(5):
            yield i
    a, b = numbers(), numbers()
    for n in a:
        for m in b:
            if (n, m) == (0, 3):
                go()


def lambdas(go):
    twice = lambda f: (lambda: f())
    (lambda g: g())(
        twice(go))


def called_from_c(go):
    def key(x):
        return go()
    list(map(lambda x: sorted_by(key), [1]))


def sorted_by(key):
    l = [1, 2]
    if sys.version_info[:2] < (2, 4):
        return key(l[0])
    l.sort(**{'key': key})


def decorated(go):
    def trace(f):
        def wrapper(*args, **kw):
            try:
                return f(*args, **kw)
            finally:
                pass
        return wrapper

    def work(a, b=2):
        return go()
    trace(trace(work))(1, b=3)


def class_body(go):
    class Outer:
        a = 1

        class Inner:
            b = go()


def initializer(go):
    class Base(object):
        def __init__(self, n):
            self.n = n
            go()

    class Derived(Base):
        def __init__(self, n):
            Base.__init__(self, n)
    Derived(
        3,
    )


def try_finally(go):
    try:
        try:
            raise ValueError(1)
        except ValueError:
            try:
                x = 1
            finally:
                go()
    finally:
        pass


def multi_line_call(go):
    def take(*args, **kw):
        return args

    take(1,
         take(2,
              [3,
               go(),
               4]),
         key=5)


def methods(go):
    class Thing(object):
        def _get(self):
            return self[1]
        value = property(_get)

        def __getitem__(self, key):
            return self.unknown

        def __getattr__(self, name):
            if name != 'unknown':
                raise AttributeError(name)
            return self()

        def __call__(self):
            return Thing.static(go)

        def static(f):
            return f()
        static = staticmethod(static)
    Thing().value


def warm_calls(go):
    """Calls that 3.11 and later specialize once they are warm."""
    class Holder(object):
        def __init__(self, f):
            self.result = f(1)

        def __getitem__(self, f):
            return f(2)

        def _value(self):
            return self.f(3)
        value = property(_value)

    def nothing(x):
        return x

    def items(x):
        h = Holder(nothing)
        for f in [nothing] * 3000 + [values]:
            h[f]

    def values(x):
        h = Holder(nothing)
        for f in [nothing] * 3000 + [lambda x: go()]:
            h.f = f
            h.value
    for f in [nothing] * 3000 + [items]:
        Holder(f)


def long_gap(go):
    source = 'def gap(go):\n    x = 1\n' + '\n' * 300 + '    go(\n' + '\n' * 150 + '    )\n' + '    return x\n'
    run(source, 'gap.py', 'gap', go)


def long_function(go):
    source = 'def long(go):\n' + '    x = 1\n' * 20000 + '    go()\n    return x\n'
    run(source, 'long.py', 'long', go)


def wide_line(go):
    source = 'def wide(go):\n    x = 2\n    y = (' + ' + '.join(['x*%d' % i for i in range(300)]) + ') and go()\n'
    run(source, 'wide.py', 'wide', go)


def odd_file_names(go):
    name = 'd\xc3\xafr with blanks/\xc3\xbcn\xc3\xaf.py'
    if sys.version_info[0] > 2:
        name = name.encode('latin-1').decode('utf-8')
    run('def odd(go):\n    return go()\n', name, 'odd', go)


def nested_exec(go):
    space = {'go': go}
    exec(compile('exec(compile("go()", "<inner>", "exec"))\n', '<outer>', 'exec'), space)


# ---- shapes of newer versions: (first version, source of a function shape(go)) ----

NEWER = {
    'with_statement': ((2, 6), '''
def shape(go):
    class Manager(object):
        def __enter__(self):
            return self
        def __exit__(self, *exc):
            go()
    with Manager() as m:
        x = 1
'''),
    'comprehension': ((2, 7), '''
def shape(go):
    return {k: [go()
                for y in (1,)]
            for k in (1,)}
'''),
    'non_ascii_names': ((3, 0), '''
def shape(go):
    class \u0414\u043e\u043c:
        def \u6570\u3048\u308b(self, \u03b1=1):
            return go()
    def \u00e9t\u00e9():
        return \u0414\u043e\u043c().\u6570\u3048\u308b()
    \u00e9t\u00e9()
'''),
    'yield_from': ((3, 3), '''
def shape(go):
    def inner():
        yield 1
        yield go()
    def middle():
        x = yield from inner()
        return x
    def outer():
        yield from middle()
    for _ in outer():
        pass
'''),
    'await_chain': ((3, 5), '''
def shape(go):
    class Ready:
        def __await__(self):
            go()
            yield 1
    async def third():
        await Ready()
    async def second():
        async with Manager():
            return await third()
    async def first():
        return await second()
    class Manager:
        async def __aenter__(self):
            return 1
        async def __aexit__(self, *exc):
            pass
    first().send(None)
'''),
    'async_generator': ((3, 6), '''
def shape(go):
    async def numbers():
        yield 1
        go()
        yield 2
    async def collect():
        return [n async for n in numbers()]
    try:
        collect().send(None)
    except StopIteration:
        pass
'''),
    'asyncio_tasks': ((3, 7), '''
import asyncio
def shape(go):
    async def child(n):
        if n == 0:
            await asyncio.sleep(0)
            go()
        await child(n - 1)
    async def top():
        await asyncio.gather(child(3), asyncio.sleep(3600))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(top())
'''),
    'match_and_walrus': ((3, 10), '''
def shape(go):
    match [1, 2]:
        case [a, b] if (c := a + b) == 3:
            go()
'''),
    'exception_group': ((3, 11), '''
def shape(go):
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ValueError:
        go()
'''),
    'type_parameters': ((3, 12), '''
def shape(go):
    def generic[T](x: T) -> T:
        return [go() for _ in (x,)]
    generic(1)
'''),
    'deep_generators': ((3, 3), '''
def shape(go):
    def down(n):
        if n == 0:
            go()
            yield 0
        else:
            yield from down(n - 1)
    list(down(60))
'''),
}


def run(source, file_name, function, go):
    space = {}
    exec(compile(source, file_name, 'exec'), space)
    space[function](go)


def newer_shape(name, source):
    def shape(go):
        run(source, name + '.py', 'shape', go)
    return shape


def all_shapes():
    shapes = {}
    for f in (plain, recursion, mutual_recursion, generator, suspended_generators, lambdas, called_from_c,
              decorated, class_body, initializer, try_finally, multi_line_call, methods, warm_calls, long_gap,
              long_function, wide_line, odd_file_names, nested_exec):
        shapes[f.__name__] = f
    for name in NEWER:
        first, source = NEWER[name]
        if sys.version_info[:2] >= first:
            shapes[name] = newer_shape(name, source)
    return shapes


def start(name, shape):
    def go():
        leaf(name)
        return 0

    def body():
        shape(go)
    t = threading.Thread(target=body, name='shape ' + name)
    truth.daemon(t)
    t.start()


def main():
    if SPIN and hasattr(sys, 'setswitchinterval'):
        sys.setswitchinterval(0.001)
    shapes = all_shapes()
    wanted = [a for a in sys.argv[1:] if a in shapes] or list(shapes)
    wanted.sort()
    for name in wanted:
        start(name, shapes[name])
    truth.wait_for(len(wanted))
    park_main(len(wanted) + 1)


def park_main(count):
    frame = sys._getframe()
    truth.note('main', frame, 2)
    assert len(truth.notes) == count, [n['name'] for n in truth.notes]
    truth.tell(); time.sleep(3600)


main()
