import { expect, test } from 'vitest'
import type { StageJson, TaskJson } from './page/code-api.ts'
import { endText } from './page/end-words.ts'

const stage = (rest: Partial<StageJson> = {}): StageJson => ({
  name: 'run',
  cause: 'ok',
  exitCode: 0,
  output: '',
  error: '',
  truncated: false,
  executionTime: '0.12s',
  ...rest,
})

const task = (status: TaskJson['status'], stages: StageJson[] = [], rest: Partial<TaskJson> = {}): TaskJson => ({
  taskId: 't',
  status,
  attempt: 1,
  cached: false,
  result: { stages },
  ...rest,
})

test.each([
  [task('completed', [stage({ memory: 8_400_000, cpuTime: '0.1s' })]), 'Done, exit code 0 · 0.12s · 0.1s CPU · 8.4 MB'],
  [
    task('completed', [stage({ cause: 'exit', exitCode: 3 })], { cached: true }),
    'Exit code 3 · 0.12s · from the cache',
  ],
  [task('completed', [stage({ name: 'compile', cause: 'exit', exitCode: 1 })]), 'Exit code 1 (compile) · 0.12s'],
  [task('failed', [stage({ cause: 'out-of-memory', memory: 256e6 })]), 'Out of memory · 0.12s · 256 MB'],
  [task('completed', [stage({ cause: 'signal', signal: 'SIGSEGV' })]), 'Ended by SIGSEGV · 0.12s'],
  [task('timeout', [stage({ cause: 'timeout', executionTime: '10s' })]), 'Time is up · 10s'],
  [task('cancelled'), 'Stopped'],
  [task('failed', [], { failure: { message: 'no worker came' } }), 'no worker came'],
])('endText gives the end of a task in one line: %#', (told, words) => {
  expect(endText(told)).toEqual({ text: words, isBad: !words.startsWith('Done') })
})
