import { describe, expect, test } from 'vitest'
import type { Digest } from '../../base/digest.ts'
import { type Fault, FaultError } from '../../base/fault.ts'
import type { UnaryMethod } from '../../grpc/service.ts'
import { GrpcError, STATUS } from '../../grpc/status.ts'
import { fakeCall } from '../../testing/grpc-call.ts'
import { statusFromProto } from '../../wire/google/status.ts'
import { reportingFaults } from './report-faults.ts'

/** The limit that most clients have for trailers. */
const TRAILERS = 8 * 1024

async function toldOf(error: unknown, isLate = false): Promise<unknown> {
  const handle = () => {
    if (isLate) return Promise.reject(error)
    throw error
  }
  const { methods } = reportingFaults({ name: 'a.A', methods: { Ask: { kind: 'unary', handle } } })
  try {
    await (methods.Ask as UnaryMethod).handle(new Uint8Array(), fakeCall())
    return undefined
  } catch (thrown) {
    return thrown
  }
}

async function grpcErrorOf(fault: Fault): Promise<GrpcError> {
  const told = await toldOf(new FaultError(fault))
  if (!(told instanceof GrpcError)) throw new Error('not a GrpcError')
  return told
}

/** The fields, plus the overhead that HTTP/2 counts for each. */
const trailerBytes = ({ message, details }: GrpcError): number =>
  encodeURIComponent(message).length + Math.ceil((details?.length ?? 0) / 3) * 4 + 3 * 32 + 60

const digests = (count: number): Digest[] =>
  Array.from({ length: count }, (_, i) => ({
    fn: 'blake3',
    hash: i.toString(16).padStart(64, '0'),
    size: 2 ** 40 + i,
  }))

function violationsIn({ details }: GrpcError) {
  const report = statusFromProto(details as Uint8Array)
  const [detail] = report.details
  if (detail?.kind !== 'PreconditionFailure') throw new Error('no PreconditionFailure')
  return { report, subjects: detail.violations.map(({ subject }) => subject) }
}

describe('fault', () => {
  test('a fault becomes a gRPC status, whether it is thrown synchronously or not', async () => {
    for (const isLate of [false, true]) {
      const told = await toldOf(new FaultError({ kind: 'absent', what: 'no such blob' }), isLate)
      expect(told).toMatchObject({ name: 'GrpcError', code: STATUS.notFound, message: 'no such blob' })
    }
  })

  test('an error that is no FaultError is passed on unchanged', async () => {
    const bug = new TypeError('undefined is not a function')
    expect(await toldOf(bug)).toBe(bug)
    expect(await toldOf(bug, true)).toBe(bug)
  })

  test('an exhausted fault has RetryInfo with its delay', async () => {
    const { code, details } = await grpcErrorOf({ kind: 'exhausted', resource: 'disk space', retryAfterMs: 5000 })
    expect(code).toBe(STATUS.resourceExhausted)
    expect(statusFromProto(details as Uint8Array).details).toEqual([{ kind: 'RetryInfo', retryDelayMs: 5000 }])
  })
})

describe('missing blobs', () => {
  test('20 missing blobs are all listed', async () => {
    const error = await grpcErrorOf({ kind: 'missing', digests: digests(20) })
    expect(error.message).toMatch(/^20 blobs are missing, the first: 0{64}/)
    expect(violationsIn(error).subjects).toHaveLength(20)
  })

  test.each([65, 300, 5000, 50_000])(
    '%d missing blobs are listed as far as trailers have room, and counted',
    async (count) => {
      const error = await grpcErrorOf({ kind: 'missing', digests: digests(count) })
      const { report, subjects } = violationsIn(error)
      expect(trailerBytes(error)).toBeLessThan(TRAILERS)
      expect(subjects.length).toBeGreaterThanOrEqual(40)
      expect(subjects[0]).toBe(`blobs/blake3/${'0'.repeat(64)}/${2 ** 40}`)
      expect(error.message).toContain(`${count} blobs are missing`)
      expect(error.message).toContain(`(the first ${subjects.length} of ${count} are named)`)
      // Clients ignore details that do not match the status.
      expect([report.code, report.message]).toEqual([error.code, error.message])
    },
  )
})

describe('status message', () => {
  test.each([
    ['of letters', 'x'.repeat(20_000)],
    ['that grows in percent-encoding', '名'.repeat(20_000)],
    ['of pairs', '😀'.repeat(20_000)],
  ])('a message of 20,000 characters %s is cut to fit the trailers', async (_, what) => {
    const error = await grpcErrorOf({ kind: 'invalid', what })
    expect(trailerBytes(error)).toBeLessThan(TRAILERS)
    expect(error.message.endsWith('…')).toBe(true)
    expect(what.startsWith(error.message.slice(0, -1))).toBe(true)
    expect(error.message.isWellFormed()).toBe(true)
  })

  test('a cut message is equal to the message in its details', async () => {
    const error = await grpcErrorOf({ kind: 'exhausted', resource: 'y'.repeat(9000), retryAfterMs: 1 })
    const report = statusFromProto(error.details as Uint8Array)
    expect(report).toMatchObject({ message: error.message, details: [{ kind: 'RetryInfo' }] })
    expect(trailerBytes(error)).toBeLessThan(TRAILERS)
  })
})
