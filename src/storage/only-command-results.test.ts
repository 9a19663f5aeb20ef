import { expect, test } from 'vitest'
import { commandResultToProto } from '../wire/tasks/command-task-result.ts'
import { memoryActionCache } from './memory-action-cache.ts'
import { onlyCommandResults } from './only-command-results.ts'

const action = { fn: 'sha256', hash: '1'.repeat(64), size: 7 } as const
/** An ActionResult with worker w1. */
const OF_ACTION = Buffer.from('4a040a027731', 'hex')
const empty = { inline: new Uint8Array(), digest: undefined, droppedBytes: 0, droppedAt: 0 }
const usage = { wallMs: 1, cpuUserMs: 0, cpuSystemMs: 0, peakMemoryBytes: 0, how: 'counted' } as const
const stage = { name: 'run', cause: 'ok', exitCode: 0, signal: undefined, reason: undefined, usage } as const
const OF_COMMAND = commandResultToProto({
  stages: [{ ...stage, stdout: empty, stderr: empty }],
  outputs: { root: undefined, files: [], symlinks: [], problem: undefined },
  metadata: undefined,
})

test('onlyCommandResults refuses a result of another kind, and treats a stored one as a cache miss', async () => {
  const inner = memoryActionCache()
  const results = onlyCommandResults(inner)
  await expect(results.put('', action, OF_ACTION)).rejects.toThrow('not the result of a command task')
  await inner.put('', action, OF_ACTION)
  expect(await results.get('', action)).toBeUndefined()
  await results.put('', action, OF_COMMAND)
  expect(await results.get('', action)).toEqual(new Uint8Array(OF_COMMAND))
})
