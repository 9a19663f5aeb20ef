"""Calls the server at argv[1] as users of Judge0's official SDK do, and prints what they get, as JSON."""

import json
import sys

import judge0
from judge0 import Client, File, Filesystem, LanguageAlias, Submission, TestCase

client = Client(endpoint=sys.argv[1])
seen = {
    "version": client.version,
    "max_queue_size": client.config.max_queue_size,
    "statuses": len(client.get_statuses()),
    "python": client.get_language(client.get_language_id(LanguageAlias.PYTHON)).id,
    "supported": {
        name: client.is_language_supported(getattr(LanguageAlias, name))
        for name in ("PYTHON", "PYTHON3", "BASH", "C", "C_GCC", "MULTI_FILE", "SWIFT")
    },
}


def shown(submission):
    status = str(submission.status)
    return [status, submission.stdout, submission.exit_code, submission.finished_at is not None]


one = judge0.run(client=client, source_code="print('hello')", language=judge0.PYTHON)
seen["run"] = shown(one)
seen["times"] = [type(one.time).__name__, type(one.wall_time).__name__, one.cpu_time_limit]

echo = "name = input(); print(f'Hello, {name}!')"
seen["stdin"] = shown(judge0.run(client=client, source_code=echo, language=judge0.PYTHON, stdin="Ada"))
cases = [TestCase("Bo", "Hello, Bo!"), ("Cy", "Goodbye"), {"input": "Di"}]
seen["cases"] = [
    shown(each) for each in judge0.run(client=client, source_code=echo, language=judge0.PYTHON, test_cases=cases)
]

wrong = judge0.run(client=client, source_code="int main(void) { return x; }", language=judge0.C)
seen["compile"] = [str(wrong.status), "error" in wrong.compile_output]
seen["exit"] = shown(judge0.run(client=client, source_code="exit 7", language=judge0.BASH))

waiting = judge0.async_run(client=client, source_code="sleep 0.2; echo late", language=judge0.BASH)
seen["token"] = waiting.token is not None and waiting.status is None
judge0.wait(client=client, submissions=waiting)
seen["async"] = shown(waiting)
client.get_submission(waiting, fields=["stdout", "time"])

batch = [Submission(source_code=f"echo {i}", language=judge0.BASH) for i in range(3)]
seen["batch"] = [shown(each) for each in judge0.run(client=client, submissions=batch)]

files = Filesystem(content=[File(name="word.txt", content="from a file")])
reading = "print(open('word.txt').read())"
seen["files"] = shown(
    judge0.run(client=client, source_code=reading, language=judge0.PYTHON, additional_files=files)
)
project = Filesystem(content=[File(name="run", content="cat word.txt"), File(name="word.txt", content="a project")])
seen["project"] = shown(
    judge0.run(client=client, source_code="", language=judge0.MULTI_FILE, additional_files=project)
)
print(json.dumps(seen))
