import type { NewSnippet, SnippetTaskView } from '../../src/client/snippets/snippet-answers.ts'
import type { Random } from '../../src/testing/random-source.ts'

/** A program that prints its own number, so that each result can be attributed. */
export interface NumberedSnippet {
  readonly number: number
  readonly kind: string
  readonly task: NewSnippet
  /** Describes what is wrong with its end; undefined when it is as expected. */
  wrong(reported: SnippetTaskView): string | undefined
}

interface Kind {
  readonly name: string
  /** The share of this kind, in percent. */
  readonly share: number
  readonly task: (number: number) => NewSnippet
  readonly ends?: { readonly status: string; readonly exitCode?: number; readonly verdict?: string }
}

/** The duration of a slow snippet: long enough for its worker to be found and killed meanwhile. */
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

/** A random sequence of all kinds; `run` is in their metadata. */
export const numberedSnippets = (count: number, run: string, random: Random): NumberedSnippet[] =>
  Array.from({ length: count }, (_, number) => snippetOf(kindAt(random.below(100)), number, run))

export const slowSnippet = (number: number, run: string): NumberedSnippet => snippetOf(SLOW, number, run)

function snippetOf(kind: Kind, number: number, run: string): NumberedSnippet {
  const { resourceLimit = { timeout: '60s' }, ...task } = kind.task(number)
  return {
    number,
    kind: kind.name,
    task: { ...task, resourceLimit, metadata: { run, number, kind: kind.name } },
    wrong: (reported) => wrongWith(kind, number, reported),
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

function wrongWith({ name, ends }: Kind, number: number, reported: SnippetTaskView): string | undefined {
  const { status, exitCode, verdict } = { status: 'completed', exitCode: undefined, verdict: undefined, ...ends }
  const { result } = reported
  const isPrinted = result?.output === `${number}\n` || (name === 'endless' && (result?.output ?? '') === '')
  const isRight =
    reported.status === status &&
    isPrinted &&
    (exitCode === undefined || result?.exitCode === exitCode) &&
    reported.verdict === verdict &&
    reported.metadata.number === `${number}`
  if (isRight) return undefined
  const shown = JSON.stringify({
    status: reported.status,
    result,
    verdict: reported.verdict,
    failure: reported.failure,
  })
  return `${name} ${number} (${reported.taskId}, ${reported.assignedClient}, attempt ${reported.attempt}): ${shown.slice(0, 400)}`
}
