"""Keeps a Python interpreter between runs, in the folder of its context: see code-common.sh.

Standard output and error are files that are emptied before each run, so that what other programs write to them counts too.
"""

import ast
import json
import linecache
import os
import signal
import sys
import traceback
import types

# Most bytes that are told of each output, and of a value.
LIMIT = 1 << 20

folder = sys.argv[1]


def output(name):
    with open(f"{folder}/{name}", "rb") as file:
        told = file.read(LIMIT).decode("utf-8", "replace")
        more = os.fstat(file.fileno()).st_size - LIMIT
    return told if more <= 0 else f"{told}\n[{more} bytes more]\n"


def failure(name):
    kind, error, trace = sys.exc_info()
    # Our own frames are nobody's business.
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return "".join(traceback.format_exception(kind, error, trace)).rstrip("\n")[-LIMIT:]


def run(code, name, names):
    """Runs the code. Returns the value of its last expression, as a list of results, and what went wrong."""
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    results = []
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            if value is not None:
                results.append({"text": repr(value)[:LIMIT]})
        sys.stdout.flush()
        error = None
    except BaseException:
        error = failure(name)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return results, error


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = [""]
    sys.path[0] = ""
    asked = os.fdopen(os.open(f"{folder}/in", os.O_RDWR), "r")
    answered = os.open(f"{folder}/out", os.O_RDWR)
    with open(f"{folder}/pid", "w") as file:
        file.write(f"{os.getpid()}\n")
    os.write(answered, b"ready\n")
    count = 0
    while True:
        word = asked.readline()
        count += 1
        with open(f"{folder}/code", encoding="utf-8", errors="replace", newline="") as file:
            code = file.read()
        for name in ("stdout", "stderr"):
            os.truncate(f"{folder}/{name}", 0)
        results, error = run(code, f"<run {count}>", module.__dict__)
        told = {"stdout": output("stdout"), "stderr": output("stderr"), "results": results, "error": error}
        with open(f"{folder}/result.new", "w") as file:
            json.dump(told, file)
        os.replace(f"{folder}/result.new", f"{folder}/result")
        os.write(answered, word.encode())


main()
