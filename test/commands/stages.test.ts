import { expect, test } from 'vitest'
import { LOCAL_CALLER } from '../../src/model/caller.ts'
import type { CommandTaskSpec } from '../../src/model/command-task.ts'
import { eventually } from '../../src/testing/eventually.ts'
import { putBlob, putTree } from '../../src/worker/trees.fixture.ts'
import { startGrid } from '../workers/grid.ts'
import { contentOf } from '../workers/told-results.ts'
import { workerHere } from '../workers/worker-here.ts'
import { fileOf, gcc, runCommand, sh, stageOf, submitCommand, textOf } from './commands.ts'

async function gridWithWorker(backend = 'host') {
  const grid = await startGrid()
  await workerHere(grid.address, { WINDLASS_WORKER_WORKER_ID: 'w1', WINDLASS_WORKER_BACKEND: backend })
  return grid
}

const ADDER: CommandTaskSpec = {
  stages: [
    gcc('main.c', 'lib/add.c'),
    {
      name: 'run',
      argv: ['./program', 'one', 'two words'],
      stdin: { kind: 'inline', bytes: Buffer.from('3 4') },
    },
  ],
  inputs: {
    files: [
      fileOf(
        'main.c',
        `#include <stdio.h>
#include "lib/add.h"
int main(int argc, char **argv) {
  int a, b;
  if (scanf("%d %d", &a, &b) != 2) return 9;
  printf("%d|%s|%s\\n", add(a, b), argv[1], argv[2]);
  fprintf(stderr, "argc %d\\n", argc);
  return 0;
}
`,
      ),
      fileOf('lib/add.h', 'int add(int, int);\n'),
      fileOf('lib/add.c', '#include "add.h"\nint add(int a, int b) { return a + b; }\n'),
    ],
  },
}

test.each(['host', 'auto'])(
  'a C program of several files is compiled and run in one room, with arguments and stdin (%s)',
  async (backend) => {
    const grid = await gridWithWorker(backend)
    const { status, result } = await runCommand(grid, ADDER)
    expect(status).toMatchObject({ state: 'completed', worker: 'w1', attempt: 1 })
    expect(result.stages.map(({ name, cause, exitCode }) => [name, cause, exitCode])).toEqual([
      ['compile', 'ok', 0],
      ['run', 'ok', 0],
    ])
    expect(textOf(stageOf(result).stdout)).toBe('7|one|two words\n')
    expect(textOf(stageOf(result).stderr)).toBe('argc 3\n')
    expect(stageOf(result, 'compile').usage.wallMs).toBeGreaterThan(0)
    expect(result.metadata?.worker).toBe('w1')
  },
)

test('after a failed stage no further stage runs, and its output is reported', async () => {
  const grid = await gridWithWorker()
  const { status, result } = await runCommand(grid, {
    stages: [gcc('main.c'), sh('echo never')],
    inputs: { files: [fileOf('main.c', 'int main( { return 0; }\n')] },
  })
  expect(status.state).toBe('completed')
  expect(result.stages.map(({ name, cause, exitCode }) => [name, cause, exitCode])).toEqual([['compile', 'exit', 1]])
  expect(textOf(stageOf(result, 'compile').stderr)).toContain('main.c:1')
})

test('a stage that exceeds its wall time is killed, and its output and files so far are kept', async () => {
  const grid = await gridWithWorker()
  const { status, result } = await runCommand(grid, {
    stages: [
      sh('echo compiled', { name: 'compile' }),
      sh('echo partial; echo half > out.txt; sleep 60', { limits: { wallMs: 1500 } }),
    ],
    outputs: { paths: ['out.txt'] },
  })
  expect(status.state).toBe('timeout')
  expect(stageOf(result)).toMatchObject({ cause: 'timeout' })
  expect(textOf(stageOf(result, 'compile').stdout)).toBe('compiled\n')
  expect(textOf(stageOf(result).stdout)).toBe('partial\n')
  expect(await contentOf(grid.blobs, result.outputs.files[0]?.digest)).toBe('half\n')
})

test("the stages of a task share the task's timeout", async () => {
  const grid = await gridWithWorker()
  const stages = [sh('sleep 0.2', { name: 'first' }), sh('sleep 60')]
  const { status, result } = await runCommand(grid, { stages }, { timeoutMs: 2500 })
  expect(status.state).toBe('timeout')
  expect(result.stages.map(({ cause }) => cause)).toEqual(['ok', 'timeout'])
  expect(stageOf(result).usage.wallMs).toBeLessThan(2500)
})

test('output above its limit loses its middle, and long output is stored as a blob', async () => {
  const grid = await gridWithWorker()
  const { result } = await runCommand(grid, {
    stages: [
      sh('echo first; seq 1 100000; echo last', { name: 'long' }),
      sh('echo first; seq 1 100000; echo last', { limits: { outputBytes: 1000 } }),
    ],
  })
  const [long, cut] = [stageOf(result, 'long').stdout, stageOf(result).stdout]
  expect(long).toMatchObject({ inline: undefined, droppedBytes: 0 })
  expect((await contentOf(grid.blobs, long.digest))?.length).toBe(588_895 + 11)
  expect(cut.inline?.length).toBeLessThanOrEqual(1000)
  expect(cut.droppedBytes + (cut.inline?.length ?? 0)).toBe(588_895 + 11)
  expect(textOf(cut).startsWith('first\n1\n')).toBe(true)
  expect(textOf(cut).endsWith('last\n')).toBe(true)
})

test('a stage reads stdin from a blob and finds placed files, read-only or writable as declared', async () => {
  const grid = await gridWithWorker()
  const big = Buffer.alloc(3 * 1024 * 1024, 'x')
  const { result } = await runCommand(grid, {
    workingDirectory: 'deep/place',
    stages: [
      sh(
        'wc -c; cat ../../tree/a; cat data/ro data/rw; echo more >> data/rw; cat data/rw; ./tool; test -w data/ro || echo shut; pwd',
        {
          stdin: { kind: 'blob', digest: await putBlob(grid.blobs, big) },
        },
      ),
    ],
    inputs: {
      root: await putTree(grid.blobs, { tree: { a: 'A\n' } }),
      placed: [
        {
          path: 'deep/place/data/ro',
          digest: await putBlob(grid.blobs, 'closed\n'),
          executable: false,
          writable: false,
        },
        { path: 'deep/place/data/rw', digest: await putBlob(grid.blobs, 'open\n'), executable: false, writable: true },
        {
          path: 'deep/place/tool',
          digest: await putBlob(grid.blobs, '#!/bin/sh\necho tool\n'),
          executable: true,
          writable: false,
        },
      ],
    },
    outputs: { paths: ['data/rw'] },
  })
  const lines = textOf(stageOf(result).stdout).split('\n')
  expect(lines.slice(0, 8)).toEqual([`${big.length}`, 'A', 'closed', 'open', 'open', 'more', 'tool', 'shut'])
  expect(lines[8]).toMatch(/deep\/place$/)
  expect(await contentOf(grid.blobs, result.outputs.files[0]?.digest)).toBe('open\nmore\n')
})

test.each<[string, CommandTaskSpec, Record<string, unknown>]>([
  ['killed by a signal', { stages: [sh('kill -SEGV $$')] }, { cause: 'signal', exitCode: 139, signal: 'SIGSEGV' }],
  [
    'a program that is not there',
    { stages: [{ name: 'run', argv: ['./none'] }] },
    { cause: 'not-started', exitCode: 127 },
  ],
  [
    'a file that is too large',
    { stages: [sh('head -c 100000 /dev/zero > f', { limits: { fileBytes: 1000 } })] },
    { exitCode: expect.any(Number) },
  ],
])('%s is reported in the stage result', async (_, options, expected) => {
  const grid = await gridWithWorker()
  const { status, result } = await runCommand(grid, options)
  expect(status.state).toBe('completed')
  expect(stageOf(result)).toMatchObject(expected)
  expect(stageOf(result).cause).not.toBe('ok')
})

test('a missing input blob fails the task with its hash in the error', async () => {
  const grid = await gridWithWorker()
  const digest = { fn: 'sha256', hash: 'ab'.repeat(32), size: 5 } as const
  const { operation } = await submitCommand(grid, { stages: [sh('cat', { stdin: { kind: 'blob', digest } })] })
  const status = await grid.end(operation)
  expect(status).toMatchObject({ state: 'failed', attempt: 1 })
  expect(status.end?.what).toContain(digest.hash)
})

test('a task that requires container isolation stays queued when no worker offers it', async () => {
  const grid = await startGrid()
  await workerHere(grid.address, { WINDLASS_WORKER_BACKEND: 'host' })
  const { operation } = await submitCommand(grid, { stages: [sh('echo ran')], isolation: 'container' })
  await eventually(async () =>
    expect(await grid.engine.why(LOCAL_CALLER, operation)).toContainEqual(expect.stringContaining('isolation')),
  )
  await grid.engine.cancel(LOCAL_CALLER, operation)
  expect(await grid.end(operation)).toMatchObject({ state: 'cancelled', startedAt: undefined })
})
