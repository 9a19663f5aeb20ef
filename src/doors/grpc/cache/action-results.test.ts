import { describe, expect, test } from 'vitest'
import { STATUS } from '../../../grpc/status.ts'
import { base64, nameOf, testDoor } from './door.fixture.ts'

const GET = 'ActionCache.GetActionResult'
const UPDATE = 'ActionCache.UpdateActionResult'
const action = nameOf(Buffer.from('an action'))
const [out, err] = [Buffer.from('to stdout'), Buffer.from('to stderr')]
const worker = { executionMetadata: { worker: 'w1' } }

describe('UpdateActionResult', () => {
  test('answers what it keeps, and says so when nobody is said to have made it', async () => {
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
  ])('refuses %s', async (_, request) => {
    await expect(testDoor().unary(UPDATE, request)).rejects.toMatchObject({ code: STATUS.invalidArgument })
  })
})

describe('GetActionResult', () => {
  test('knows nothing of an action that nobody ran, and takes the size for part of its name', async () => {
    const { unary } = testDoor()
    await unary(UPDATE, { actionDigest: action, actionResult: worker })
    for (const actionDigest of [{ ...action, sizeBytes: '1' }, nameOf(out)]) {
      await expect(unary(GET, { actionDigest })).rejects.toMatchObject({ code: STATUS.notFound })
    }
  })

  test('puts streams into the result for those who ask, and leaves their digests', async () => {
    const { unary, put } = testDoor()
    await put(out, err)
    const digests = { stdoutDigest: nameOf(out), stderrDigest: nameOf(err) }
    await unary(UPDATE, { actionDigest: action, actionResult: { ...worker, ...digests } })
    expect(await unary(GET, { actionDigest: action })).toEqual({ ...worker, ...digests })
    const asked = { actionDigest: action, inlineStdout: true, inlineStderr: true }
    const raw = { stdoutRaw: base64(out), stderrRaw: base64(err) }
    expect(await unary(GET, asked)).toEqual({ ...worker, ...digests, ...raw })
  })

  test('gives streams that the result came with to everybody', async () => {
    const { unary } = testDoor()
    const result = { ...worker, stdoutRaw: base64(out), stderrRaw: base64(err) }
    await unary(UPDATE, { actionDigest: action, actionResult: result })
    expect(await unary(GET, { actionDigest: action })).toEqual(result)
    expect(await unary(GET, { actionDigest: action, inlineStdout: true, inlineStderr: true })).toEqual(result)
  })

  // What was not asked for is not stepped over, and its bytes are read as if they were fields.
  test('gives such streams as well to those who ask for one of them, or for a file', async () => {
    const { unary } = testDoor()
    const result = { ...worker, stdoutRaw: base64(out), stderrRaw: base64(err) }
    await unary(UPDATE, { actionDigest: action, actionResult: result })
    for (const wish of [{ inlineStdout: true }, { inlineStderr: true }, { inlineOutputFiles: ['a'] }]) {
      expect(await unary(GET, { actionDigest: action, ...wish })).toEqual(result)
    }
  })
})
