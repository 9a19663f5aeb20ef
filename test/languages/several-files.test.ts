import { expect, test } from 'vitest'
import { findLanguage } from '../../src/languages/find-language.ts'
import { loadLanguages } from '../../src/languages/load-languages.ts'
import { snippetTask } from '../../src/languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { Language } from '../../src/model/language.ts'
import { snippetOf } from '../../src/model/snippet.ts'
import { commandTaskRequest } from '../../src/services/execution/task-request.ts'
import { describeWith } from '../../src/testing/require.ts'
import { toolchainMark } from '../../src/worker/languages/toolchain-mark.ts'
import { ended, textOf } from '../commands/commands.ts'
import { startGrid } from '../workers/grid.ts'
import { workerHere } from '../workers/worker-here.ts'

/** Each program prints the word of its second file, and its first argument. */
const PROGRAMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  python: { 'main.py': 'import sys, lib.part\nprint(lib.part.word, sys.argv[1])', 'lib/part.py': 'word = "hi"' },
  javascript: { 'main.js': "console.log(require('./part').word, process.argv[2])", 'part.js': "exports.word = 'hi'" },
  typescript: {
    'main.ts': "import { word } from './part.ts'\nconst said: string = word\nconsole.log(said, process.argv[2])",
    'part.ts': "export const word: string = 'hi'",
  },
  c: {
    'main.c': '#include <stdio.h>\n#include "part.h"\nint main(int n, char **a) { printf("%s %s\\n", word(), a[1]); }',
    'part.c': 'const char *word(void) { return "hi"; }',
    'part.h': 'const char *word(void);',
  },
  java: {
    'Main.java': 'class Main { public static void main(String[] a) { System.out.println(Part.WORD + " " + a[0]); } }',
    'Part.java': 'class Part { static final String WORD = "hi"; }',
  },
  go: {
    'main.go': 'package main\nimport ("fmt"; "os")\nfunc main() { fmt.Println(word, os.Args[1]) }',
    'part.go': 'package main\nconst word = "hi"',
  },
  bash: { 'main.sh': 'source ./part.sh; echo "$word $1"', 'part.sh': 'word=hi' },
}

const languages = loadLanguages()
const here = Object.keys(PROGRAMS).map((name) => findLanguage(languages, name) as Language)

describeWith('bwrap', 'programs in the sandbox', () => {
  test.for(here)(
    'a program in $name may have several files, and arguments that no shell expands',
    async (language, { skip }) => {
      const { name, probe } = language
      const found = toolchainMark(probe)
      if ('absent' in found) skip(`${found.absent} is not on this machine`)
      const grid = await startGrid()
      await workerHere(grid.address, { WINDLASS_WORKER_BACKEND: 'sandbox' })
      const files = Object.entries(PROGRAMS[name] ?? {}).map(([file, text]) => ({
        name: file,
        contents: Buffer.from(text),
      }))
      const task = snippetTask(snippetOf({ language: name, files, args: ['$(id); *'] }), language, undefined)
      const order = { instance: '', origin: 'snippet', form: 'command' } as const
      const { operation } = await grid.engine.submit(LOCAL_CALLER, commandTaskRequest({ ...task, platform: [] }, order))
      const { result } = ended(await grid.end(operation))
      const last = result.stages.at(-1)
      expect(last && [last.cause, textOf(last.stdout), textOf(last.stderr)]).toEqual(['ok', 'hi $(id); *\n', ''])
    },
  )
})
