import type { NewSnippet, SnippetTaskView } from '../../src/client/snippets/snippet-answers.ts'
import type { Random } from '../../src/testing/random-source.ts'

/** A program that prints its own number, so that whose result is whose can be told. */
export interface NumberedSnippet {
  readonly number: number
  readonly kind: string
  readonly task: NewSnippet
  /** In words, what is wrong with its end; undefined when it is as it must be. */
  wrong(told: SnippetTaskView): string | undefined
}

interface Kind {
  readonly name: string
  /** Of a hundred. */
  readonly share: number
  readonly task: (number: number) => NewSnippet
  readonly ends?: { readonly status: string; readonly exitCode?: number; readonly verdict?: string }
}

/** How long a slow one takes: long enough to be found, and killed, in the middle. */
export const SLOW_MS = 3000

const SLOW: Kind = {
  name: 'slow',
  share: 5,
  task: (n) => ({ language: 'python', code: `import time\ntime.sleep(${SLOW_MS / 1000})\nprint(${n})` }),
}

const KINDS: readonly Kind[] = [
  { name: 'python', share: 42, task: (n) => ({ language: 'python', code: `print(${n})` }) },
  { name: 'javascript', share: 14, task: (n) => ({ language: 'javascript', code: `console.log(${n})` }) },
  { name: 'bash', share: 16, task: (n) => ({ language: 'bash', code: `echo ${n}` }) },
  { name: 'stdin', share: 8, task: (n) => ({ language: 'python', code: 'print(int(input()))', stdin: `${n}\n` }) },
  {
    name: 'c',
    share: 3,
    task: (n) => ({ language: 'c', code: `#include <stdio.h>\nint main(void) { printf("%d\\n", ${n}); }` }),
  },
  {
    name: 'failing',
    share: 6,
    task: (n) => ({ language: 'python', code: `import sys\nprint(${n})\nsys.exit(3)` }),
    ends: { status: 'failed', exitCode: 3 },
  },
  {
    name: 'judged',
    share: 4,
    task: (n) => ({ language: 'python', code: `print(${n})`, expectedOutput: `${n}` }),
    ends: { status: 'completed', verdict: 'accepted' },
  },
  {
    name: 'endless',
    share: 2,
    task: (n) => ({
      language: 'python',
      code: `import time\nprint(${n}, flush=True)\ntime.sleep(600)`,
      resourceLimit: { timeout: '1s' },
    }),
    ends: { status: 'timeout' },
  },
  SLOW,
]

/** Of all kinds, one after the other by chance; `run` is in their metadata. */
export const numberedSnippets = (count: number, run: string, random: Random): NumberedSnippet[] =>
  Array.from({ length: count }, (_, number) => snippetOf(kindAt(random.below(100)), number, run))

export const slowSnippet = (number: number, run: string): NumberedSnippet => snippetOf(SLOW, number, run)

function snippetOf(kind: Kind, number: number, run: string): NumberedSnippet {
  const { resourceLimit = { timeout: '60s' }, ...task } = kind.task(number)
  return {
    number,
    kind: kind.name,
    task: { ...task, resourceLimit, metadata: { run, number, kind: kind.name } },
    wrong: (told) => wrongWith(kind, number, told),
  }
}

function kindAt(place: number): Kind {
  let left = place
  for (const kind of KINDS) {
    if (left < kind.share) return kind
    left -= kind.share
  }
  throw new Error('the shares are less than a hundred')
}

function wrongWith({ name, ends }: Kind, number: number, told: SnippetTaskView): string | undefined {
  const { status, exitCode, verdict } = { status: 'completed', exitCode: undefined, verdict: undefined, ...ends }
  const { result } = told
  const isPrinted = result?.output === `${number}\n` || (name === 'endless' && (result?.output ?? '') === '')
  const isRight =
    told.status === status &&
    isPrinted &&
    (exitCode === undefined || result?.exitCode === exitCode) &&
    told.verdict === verdict &&
    told.metadata.number === `${number}`
  if (isRight) return undefined
  const shown = JSON.stringify({ status: told.status, result, verdict: told.verdict, failure: told.failure })
  return `${name} ${number} (${told.taskId}, ${told.assignedClient}, attempt ${told.attempt}): ${shown.slice(0, 400)}`
}
