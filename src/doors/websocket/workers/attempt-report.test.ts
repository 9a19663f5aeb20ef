import { describe, expect, test } from 'vitest'
import { commandResultFromProto } from '../../../wire/tasks/command-task-result.ts'
import { attemptReport } from './attempt-report.ts'
import type { ResultMessage } from './request.ts'

const given = {
  taskId: 'task_1',
  attemptId: 'a.1-1',
  attempt: 1,
  limits: { wallMs: 2_000, outputBytes: 10 },
  sentAt: 1_000,
  isCancelled: false,
}

function reported(message: Partial<ResultMessage>, more: Partial<typeof given> = {}) {
  const said = { type: 'result', taskId: 'a.1-1', ...message } as const
  const { outcome, result } = attemptReport(said, { given: { ...given, ...more }, worker: 'w', now: 1_700 })
  return { outcome, stage: result && commandResultFromProto(result, 'sha256').stages[0] }
}

describe('result message of a socket worker', () => {
  test.each([
    ['that it went well', { success: true, exitCode: 0 }, { cause: 'ok', exitCode: 0 }],
    ['that it went well, and no code', { success: true }, { cause: 'ok', exitCode: 0 }],
    ['only that the code was 0', { exitCode: 0 }, { cause: 'ok', exitCode: 0 }],
    ['that it failed', { success: false, exitCode: 2 }, { cause: 'exit', exitCode: 2 }],
    ['that it went well with a code', { success: true, exitCode: 2 }, { cause: 'exit', exitCode: 2 }],
    [
      'a signal, as some libraries do',
      { success: false, exitCode: -9 },
      { cause: 'signal', exitCode: 137, signal: 'SIGKILL' },
    ],
    ['that it ended in some way', { success: false, exitCode: -1 }, { cause: 'exit', exitCode: 1 }],
    ['a code that no system has', { success: false, exitCode: 2 ** 40 }, { cause: 'exit', exitCode: 1 }],
    [
      'the cause',
      { success: false, exitCode: 137, cause: 'out-of-memory' as const },
      { cause: 'out-of-memory', exitCode: 137 },
    ],
  ])('the report "%s" is a result', (_, message, stage) => {
    const told = reported(message)
    expect(told.outcome).toEqual({ kind: 'result', succeeded: stage.cause === 'ok' })
    expect(told.stage).toMatchObject({ name: 'run', ...stage })
  })

  test.each([
    ['failed, and how is not told', { success: false, error: 'no such compiler' }, /no such compiler/],
    ['failed with the code for success', { success: false, exitCode: 0 }, /could not run it/],
    ['nothing of how it ended', { output: 'x' }, /does not say/],
  ])('the report "%s" is a fault of the worker', (_, message, what) => {
    const { outcome, stage } = reported(message)
    expect(outcome).toMatchObject({ kind: 'fault', what: expect.stringMatching(what) })
    expect(stage).toBeUndefined()
  })

  test.each([
    [{ success: false, exitCode: -1, executionTime: '2s' }, 124],
    [{ success: false, exitCode: 137, executionTime: '2.001s' }, 137],
    [{ success: false, executionTime: 3 }, 124],
  ])('%o used its whole wall time and failed: a timeout', (message, exitCode) => {
    const { outcome, stage } = reported(message)
    expect(outcome).toEqual({ kind: 'timeout' })
    expect(stage).toMatchObject({ cause: 'timeout', exitCode })
  })

  test('a success is a result, however long it took', () => {
    expect(reported({ success: true, executionTime: '9s' }).outcome).toEqual({ kind: 'result', succeeded: true })
  })

  test.each([
    ['1.2s', 1_200],
    ['350ms', 350],
    [0.5, 500],
    [undefined, 700],
    ['a while', 700],
    ['-1s', 700],
  ])('an executionTime of %s gives %i ms', (executionTime, wallMs) => {
    expect(reported({ success: true, executionTime }).stage?.usage.wallMs).toBe(wallMs)
  })

  test('output above outputBytes is cut, and counted', () => {
    const { stage } = reported({ success: true, output: '0123456789abc', error: null })
    expect(stage?.stdout).toMatchObject({ droppedBytes: 3, droppedAt: 10 })
    expect(Buffer.from(stage?.stdout.inline ?? []).toString()).toBe('0123456789')
    expect(stage?.stderr).toMatchObject({ droppedBytes: 0, droppedAt: 0 })
  })

  test('the report of a cancelled attempt is only that it stopped', () => {
    expect(reported({ success: true, exitCode: 0 }, { isCancelled: true }).outcome).toEqual({ kind: 'stopped' })
  })
})
