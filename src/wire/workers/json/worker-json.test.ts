import { describe, expect, test } from 'vitest'
import { heartbeatAnswerFromJson, heartbeatAnswerToJson, heartbeatFromJson, heartbeatToJson } from './heartbeat.ts'
import { keptOutputs, keptOutputsOf } from './kept-outputs.ts'
import { leasesFromJson, leaseToJson } from './lease.ts'
import { type JsonRegistration, registrationFromJson, registrationToJson } from './registration.ts'
import { printedToJson, reportFromJson, reportToJson } from './report.ts'

/** JSON as it is sent. */
const sent = (json: unknown): unknown => JSON.parse(JSON.stringify(json))

const REGISTRATION: JsonRegistration = {
  name: 'w1',
  hostname: 'h1',
  runtime: 'docker',
  registration: {
    worker: 'w1',
    slots: 4,
    resources: { cpu: 2.5, memoryBytes: 2 ** 40 },
    platform: [
      { name: 'OSFamily', value: 'Linux' },
      { name: 'language', value: 'c' },
      { name: 'language', value: 'go' },
    ],
    running: ['t.1-2'],
    prefetch: 0,
    preemptible: true,
    version: '1.2',
    labels: [{ name: 'rack', value: 'b' }],
    group: 'night',
    wantsSpec: true,
  },
}

test('a registration round-trips, including properties with several values', () => {
  expect(registrationFromJson(sent(registrationToJson(REGISTRATION)))).toEqual(REGISTRATION)
})

test('a registration with only a name has defaults', () => {
  const { runtime, registration } = registrationFromJson({ name: 'x', labels: null, runtime: 'Docker', more: 1 })
  expect(runtime).toBe('docker')
  expect(registration).toMatchObject({ worker: '', slots: 1, running: undefined, wantsSpec: false, labels: [] })
})

test('a lease round-trips, including its spec', () => {
  const lease = {
    attemptId: 't.1-2',
    operation: 'o',
    actionDigest: '',
    timeoutMs: undefined,
    expiresAt: 5.5,
    expiresInMs: 3,
    spec: Uint8Array.of(0, 255, 128),
    attempt: 2,
    prefetch: false,
    instance: 'a/b',
    origin: 'snippet',
    queuedAt: 1,
  }
  const [back, ...more] = leasesFromJson(sent({ data: { tasks: [leaseToJson(lease)] } }))
  expect(back && { ...back, spec: Uint8Array.from(back.spec) }).toEqual(lease)
  expect(more).toEqual([])
  expect(leasesFromJson(undefined)).toEqual([])
})

describe('a task report', () => {
  test.each([
    { kind: 'result', result: Buffer.from([1, 2, 255]), fn: 'sha256' },
    { kind: 'timeout', result: undefined, fn: undefined },
    { kind: 'stopped' },
    { kind: 'returned', what: 'no slot' },
    { kind: 'fault', what: 'no disk', hopeless: true },
  ] as const)('round-trips: %j', (news) => {
    const back = reportFromJson(sent(reportToJson(news)))
    expect(back).toMatchObject({ isWhole: true, error: 'what' in news ? news.what : '' })
    expect(back.word).toBe(
      { result: 'success', timeout: 'timeout', stopped: 'cancelled', returned: 'returned', fault: 'failed' }[news.kind],
    )
    expect(back.result).toEqual('result' in news ? news.result : undefined)
    expect(back.hopeless).toBe('hopeless' in news && news.hopeless)
  })

  test('accepts states in upper case and the states of other systems', () => {
    for (const [state, word] of [
      ['SUCCESS', 'success'],
      ['Completed', 'success'],
      ['RUNNING', 'running'],
      ['timed_out', 'timeout'],
      ['QUEUED', 'returned'],
      ['', undefined],
    ] as const)
      expect(reportFromJson({ state }).word).toBe(word)
    expect(() => reportFromJson({ state: 'constructor' })).toThrow('state')
  })

  test('carries output with its stream and offset', () => {
    const pieces = [{ stream: 'stderr', bytes: Buffer.from('äh'), at: 7 }] as const
    expect(reportFromJson(sent(printedToJson(pieces)))).toMatchObject({ word: undefined, printed: pieces })
  })

  test('is refused when a field has the wrong type', () => {
    for (const said of [
      [],
      'x',
      { exit_code: 1.5 },
      { result: 'a' },
      { result: 'ab!=' },
      { output: [{ stream: 'x' }] },
    ])
      expect(() => reportFromJson(said)).toThrow()
  })
})

test('heartbeats and their replies round-trip', () => {
  const stats = { active: 1, completed: 2, failed: 3 }
  const pulse = heartbeatToJson({ state: 'draining', stats, running: ['t.1-2'], load: 0.5 })
  expect(heartbeatFromJson(sent(pulse))).toEqual({ draining: true, running: ['t.1-2'], load: 0.5 })
  expect(heartbeatFromJson(undefined)).toEqual({ draining: false, running: undefined, load: undefined })
  const answer = { cancel: ['t.1-2'], drain: true, shouldShutdown: false }
  expect(heartbeatAnswerFromJson(sent({ data: heartbeatAnswerToJson(answer) }))).toEqual({ ...answer, seen: undefined })
})

test('keptOutputs keeps locations and leaves out file contents', () => {
  const kept = keptOutputs({
    a: { class: 'File', location: 'ws:///x' },
    b: { class: 'File', contents: 'secret' },
    n: 1,
  })
  const metadata = { worker: '', times: {}, virtualDurationMs: undefined, auxiliary: [kept] }
  expect(keptOutputsOf(metadata)).toEqual({ a: { class: 'File', location: 'ws:///x' }, b: { class: 'File' }, n: 1 })
  expect(keptOutputsOf({ ...metadata, auxiliary: [] })).toBeUndefined()
})
