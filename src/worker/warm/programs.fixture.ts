import type { Program } from './warm.fixture.ts'

const python = (code: string, more: Partial<Program> = {}): Program => ({ language: 'python', files: [code], ...more })
const js = (code: string, more: Partial<Program> = {}): Program => ({ language: 'javascript', files: [code], ...more })

const MIB = 1024 ** 2

/** Programs that must print and end the same with and without a waiting interpreter. */
export const SERVED: Readonly<Record<string, Program>> = {
  'python: prints': python('print("hello")'),
  'python: nothing at all': python(''),
  'python: what it is': python(
    'import sys\nprint(__name__, __file__, __spec__, __builtins__, sys.argv, sys.path, sys.flags, sorted(globals()))',
  ),
  'python: what it is called by': python('import sys\nprint(sys.orig_argv, sys.executable, type(__loader__))'),
  'python: its stack': python('import traceback, sys\ntraceback.print_stack()\nsys._getframe(1)'),
  'python: an exception': python('def f(n):\n    return 1 / n\n\nf(0)'),
  'python: an exception from another': python(
    'try:\n    {}["a"]\nexcept KeyError as e:\n    raise ValueError("é") from e',
  ),
  'python: a mistake in its syntax': python('x = 1\nif x\n    print(x)'),
  'python: bad indentation': python('def f():\n\tx = 1\n        y = 2\n'),
  'python: a NUL': python('print(1)\n\0'),
  'python: exit codes': python('import sys\nsys.exit(7)'),
  'python: exits with words': python('import sys\nsys.exit("no good")'),
  'python: exits at once': python('import os\nprint("x", end="")\nos._exit(3)'),
  'python: atexit, and a thread that is waited for': python(
    'import atexit, threading, time\natexit.register(lambda: print("bye"))\nthreading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()\nprint("main")',
  ),
  'python: an exception in a thread': python(
    'import threading\nt = threading.Thread(target=lambda: 1 / 0, name="t")\nt.start()\nt.join()\nprint("on")',
  ),
  'python: its own hook': python(
    'import sys\nsys.excepthook = lambda *a: print("hook", a[0].__name__)\nraise OSError(5)',
  ),
  'python: reads lines': python('import sys\nfor line in sys.stdin:\n    print(line.strip()[::-1])', {
    stdin: 'ab\ncd\n',
  }),
  'python: input()': python('a = input()\nb = input("? ")\nprint(a + b)\ninput()', { stdin: '1\n2\n' }),
  'python: binary input': python('import sys\nprint(len(sys.stdin.buffer.read()))', { stdin: 'é'.repeat(100_000) }),
  'python: reads nothing of it': python('print("done")', { stdin: 'x'.repeat(300_000) }),
  'python: no input': python('import sys, os, stat\nprint(repr(sys.stdin.read()), stat.S_ISCHR(os.fstat(0).st_mode))'),
  'python: what is open': python('import os\nprint(sorted(os.listdir("/proc/self/fd"))[:-1])'),
  'python: its environment': python('import os\nprint(sorted(os.environ.items()))'),
  'python: other files': {
    language: 'python',
    files: ['import lib.a\nfrom b import x\nprint(lib.a.y, x)', ['lib/a.py', 'y = 1'], ['b.py', 'x = __name__']],
  },
  'python: imports itself': python('import main\nprint(__name__, main.__name__)'),
  'python: a file that hides a module': {
    language: 'python',
    files: ['import json\nprint(json.x)', ['json.py', 'x = 5']],
  },
  'python: under another name': { language: 'python', files: [['prog.py', 'print(__file__, 1/0)']] },
  'python: if main': python('if __name__ == "__main__":\n    print("yes")'),
  'python: unicode': python('print("日本語 🎉 é")\nü = 1\nprint(ü)'),
  'python: a byte order mark and DOS lines': python('\uFEFFprint(1)\r\nprint(2)\r\n'),
  'python: says that it is utf-8': python('# -*- coding: utf-8 -*-\nprint("é")'),
  'python: much output': python('for i in range(40000): print("line", i)'),
  'python: more output than is kept': python('print("a" * 3000000)'),
  'python: much code': python(`x = [\n${'  "some words to fill a pipe",\n'.repeat(9000)}]\nprint(len(x))`),
  'python: forks': python(
    'import os\npid = os.fork()\nif pid == 0:\n    os._exit(4)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
  ),
  'python: starts another': python(
    'import subprocess, sys\nprint(subprocess.run([sys.executable, "-c", "print(6)"], capture_output=True, text=True))',
  ),
  'python: many processes': python(
    'import multiprocessing\nif __name__ == "__main__":\n    with multiprocessing.get_context("spawn").Pool(2) as p: print(p.map(abs, [-1, -2]))',
  ),
  'python: leaves a process running': python('import os, time\nif os.fork() == 0:\n    time.sleep(60)\nprint("gone")'),
  'python: kills itself': python('import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)'),
  'python: is interrupted': python('import os, signal\nos.kill(os.getpid(), signal.SIGINT)'),
  'python: catches a signal': python(
    'import os, signal\nsignal.signal(signal.SIGTERM, lambda *a: print("term"))\nos.kill(os.getpid(), signal.SIGTERM)',
  ),
  'python: too deep': python(
    'def f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e: print(e)\nimport sys; print(sys.getrecursionlimit())',
  ),
  'python: too much memory': python('x = bytearray(400 * 1024 * 1024)\nprint(len(x))', {
    limits: { memoryBytes: 64 * MIB },
  }),
  'python: too long': python('print("begun")\nwhile True: pass', { limits: { wallMs: 400 } }),
  'python: too much processor time': python('while True: pass', { limits: { cpuMs: 300 } }),
  'python: too many files': python('fs = [open("/dev/null") for _ in range(100)]', { limits: { openFiles: 40 } }),
  'python: a file that is too large': python('open("big", "wb").write(b"x" * 4194304)', { limits: { fileBytes: MIB } }),
  'python: its room': python(
    'import os, pwd\nprint(os.getcwd(), os.listdir("."), os.listdir("/tmp"), os.getpid(), pwd.getpwuid(os.getuid()))\nopen("made", "w").write("x")',
  ),
  'python: the file of its code': python(
    'import os\ns = os.stat(__file__)\nprint(oct(s.st_mode), s.st_uid, s.st_gid, s.st_nlink, s.st_size)\nprint(open(__file__).read())\nopen(__file__, "a").write("# more")\nos.remove(__file__)\nprint(os.listdir("."))\n1 / 0',
  ),
  'python: arguments': python('import sys\nprint(sys.argv)', { args: ['a b', '--x', ''] }),
  'javascript: prints': js('console.log("hello")'),
  'javascript: what it is': js(
    'console.log(process.argv, process.execArgv, __filename, require.main === module, module.id, module.children, Object.keys(require.cache))',
  ),
  'javascript: its stack': js('console.log(new Error("x").stack)'),
  'javascript: throws': js('function f() { throw new TypeError("nö") }\nf()'),
  'javascript: rejects': js('Promise.reject(new Error("late"))'),
  'javascript: a mistake in its syntax': js('let x = ;'),
  'javascript: exit codes': js('process.exitCode = 5; process.on("exit", (c) => console.log("exit", c))'),
  'javascript: exits at once': js('process.stdout.write("x"); process.exit(9)'),
  'javascript: reads all': js('console.log(require("fs").readFileSync(0, "utf8").toUpperCase())', { stdin: 'abc\nd' }),
  'javascript: reads a stream': js(
    'process.stdin.on("data", (d) => console.log(d.length)).on("end", () => console.log("end"))',
    { stdin: 'abc' },
  ),
  'javascript: no input': js(
    'process.stdin.resume().on("end", () => console.log("end", require("fs").fstatSync(0).isCharacterDevice()))',
  ),
  'javascript: timers': js('setTimeout(() => console.log("later"), 20); setImmediate(() => console.log("soon"))'),
  'javascript: a module by its words': js(
    'import { sep } from "node:path"\nconst x = await Promise.resolve(sep)\nconsole.log(x, import.meta.url)',
  ),
  'javascript: a module by its name': {
    language: 'javascript',
    files: [
      ['main.mjs', 'import { x } from "./b.mjs"; console.log(x, import.meta.filename ?? 0); null.y'],
      ['b.mjs', 'export const x = 3'],
    ],
  },
  'javascript: other files': {
    language: 'javascript',
    files: [
      'console.log(require("./lib/a"), require("./b.json"))',
      ['lib/a.js', 'module.exports = module.parent.filename'],
      ['b.json', '{"c":1}'],
    ],
  },
  'javascript: workers': js(
    'const { Worker } = require("worker_threads")\nnew Worker("require(\'worker_threads\').parentPort.postMessage(8)", { eval: true }).on("message", console.log)',
  ),
  'javascript: forks': js(
    'if (process.send) process.send(process.execArgv.length)\nelse require("child_process").fork(__filename).on("message", console.log)',
  ),
  'javascript: its environment': js('console.log(Object.entries(process.env).sort())'),
  'javascript: much output': js('for (let i = 0; i < 20000; i++) console.log("line", i)'),
  'javascript: too long': js('console.log("begun"); for (;;);', { limits: { wallMs: 500 } }),
  'javascript: kills itself': js('process.kill(process.pid, "SIGKILL")'),
  'javascript: unicode': js('console.log("日本語 🎉")'),
}

/** Programs for which no interpreter is kept waiting; they too must print and end the same. */
export const NOT_SERVED: Readonly<Record<string, Program>> = {
  'python: in another encoding': python('# -*- coding: latin-1 -*-\nprint(len("é"))'),
  'python: in another encoding, on its second line': python(
    '#!/usr/bin/python3\n# vim: set fileencoding=cp1252 :\nprint(len("é"))',
  ),
  'python: with a word for where to look': {
    language: 'python',
    files: ['print(1)', ['p/sitecustomize.py', 'print("custom")']],
    env: { PYTHONPATH: 'p' },
  },
  'javascript: that is said to be a module': {
    language: 'javascript',
    files: ['console.log(typeof require)', ['package.json', '{"type":"module"}']],
  },
  'javascript: with something before it': {
    language: 'javascript',
    files: ['console.log(2)', ['r.js', 'console.log(1)']],
    env: { NODE_OPTIONS: '--require ./r.js' },
  },
}
