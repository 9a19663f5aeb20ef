import { describe, expect, test } from 'vitest'
import { STATUS } from '../../../grpc/status.ts'
import { base64, nameOf, testDoor } from './door.fixture.ts'

const GET = 'ActionCache.GetActionResult'
const UPDATE = 'ActionCache.UpdateActionResult'
const action = nameOf(Buffer.from('an action'))
const [out, err] = [Buffer.from('to stdout'), Buffer.from('to stderr')]
const worker = { executionMetadata: { worker: 'w1' } }

describe('UpdateActionResult', () => {
  test('the stored result is returned, with the worker "unknown" when none is named', async () => {
    const { unary } = testDoor()
    const kept = { exitCode: 0, executionMetadata: { worker: 'unknown' } }
    expect(await unary(UPDATE, { actionDigest: action, actionResult: {} })).toMatchObject({
      executionMetadata: kept.executionMetadata,
    })
    expect(await unary(UPDATE, { actionDigest: action, actionResult: worker })).toEqual(worker)
    expect(await unary(GET, { actionDigest: action })).toEqual(worker)
  })

  test.each([
    ['no result', { actionDigest: action }],
    ['no action', { actionResult: worker }],
    ['an action that is no digest', { actionDigest: { hash: 'abc' }, actionResult: worker }],
    ['an output that is no digest', { actionDigest: action, actionResult: { stdoutDigest: { hash: 'abc' } } }],
    ['an output directory without a digest', { actionDigest: action, actionResult: { outputDirectories: [{}] } }],
  ])('%s is refused with INVALID_ARGUMENT', async (_, request) => {
    await expect(testDoor().unary(UPDATE, request)).rejects.toMatchObject({ code: STATUS.invalidArgument })
  })
})

describe('GetActionResult', () => {
  test('an unknown action, or another size of a known one, is NOT_FOUND', async () => {
    const { unary } = testDoor()
    await unary(UPDATE, { actionDigest: action, actionResult: worker })
    for (const actionDigest of [{ ...action, sizeBytes: '1' }, nameOf(out)]) {
      await expect(unary(GET, { actionDigest })).rejects.toMatchObject({ code: STATUS.notFound })
    }
  })

  test('stdout and stderr are inlined on request, and their digests stay', async () => {
    const { unary, put } = testDoor()
    await put(out, err)
    const digests = { stdoutDigest: nameOf(out), stderrDigest: nameOf(err) }
    await unary(UPDATE, { actionDigest: action, actionResult: { ...worker, ...digests } })
    expect(await unary(GET, { actionDigest: action })).toEqual({ ...worker, ...digests })
    const asked = { actionDigest: action, inlineStdout: true, inlineStderr: true }
    const raw = { stdoutRaw: base64(out), stderrRaw: base64(err) }
    expect(await unary(GET, asked)).toEqual({ ...worker, ...digests, ...raw })
  })

  test('streams that were uploaded inline are returned to every client', async () => {
    const { unary } = testDoor()
    const result = { ...worker, stdoutRaw: base64(out), stderrRaw: base64(err) }
    await unary(UPDATE, { actionDigest: action, actionResult: result })
    expect(await unary(GET, { actionDigest: action })).toEqual(result)
    expect(await unary(GET, { actionDigest: action, inlineStdout: true, inlineStderr: true })).toEqual(result)
  })

  // A parser that does not skip fields which were not requested would read their bytes as fields.
  test('streams that were uploaded inline are returned also when only one of them, or a file, is requested', async () => {
    const { unary } = testDoor()
    const result = { ...worker, stdoutRaw: base64(out), stderrRaw: base64(err) }
    await unary(UPDATE, { actionDigest: action, actionResult: result })
    for (const wish of [{ inlineStdout: true }, { inlineStderr: true }, { inlineOutputFiles: ['a'] }]) {
      expect(await unary(GET, { actionDigest: action, ...wish })).toEqual(result)
    }
  })
})
