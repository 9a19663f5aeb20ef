import { expect, test } from 'vitest'
import { commandTaskOf, type TaskResult } from '../../model/command-task.ts'
import { commandTaskToProto } from '../../wire/tasks/command-task.ts'
import type { BlobSource } from '../inputs/blob-source.ts'
import { runLease } from './run-lease.ts'

const spec = commandTaskToProto(commandTaskOf({ stages: [{ name: 'run', argv: ['true'], limits: {} }] }))
const NOTHING = { inline: new Uint8Array(), digest: undefined, droppedBytes: 0, droppedAt: 0 }

/** The result of a task with one stage that ended with this exit code and signal. */
const ended = (exitCode: number, signal?: string): TaskResult => ({
  exitCode,
  outputFiles: [],
  outputDirectories: [],
  outputSymlinks: [],
  legacyFileSymlinks: [],
  legacyDirectorySymlinks: [],
  stdout: { raw: new Uint8Array(), digest: undefined },
  stderr: { raw: new Uint8Array(), digest: undefined },
  metadata: undefined,
  outputsRoot: undefined,
  problem: undefined,
  stages: [
    {
      name: 'run',
      cause: signal === undefined ? 'exit' : 'signal',
      exitCode,
      signal,
      reason: undefined,
      stdout: NOTHING,
      stderr: NOTHING,
      usage: { wallMs: 1, cpuUserMs: undefined, cpuSystemMs: undefined, peakMemoryBytes: undefined, how: 'sampled' },
    },
  ],
})

test.each([
  ['killed by SIGTERM', ended(143, 'SIGTERM'), 'SIGTERM'],
  ['that exits with 143, as a JVM does after SIGTERM', ended(143), 'SIGTERM'],
  ['that exits with 1', ended(1), undefined],
])('runLease reports the signal of a command %s', async (_, result, signal) => {
  const lease = { origin: 'snippet', spec, actionDigest: '', timeoutMs: undefined }
  const executor = { execute: async () => result }
  const run = { lease, executor, source: {} as BlobSource, name: 'room', hooks: {} }
  expect(await runLease(run, new AbortController().signal)).toMatchObject({ kind: 'result', signal })
})
