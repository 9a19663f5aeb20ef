import { expect, test } from 'vitest'
import {
  type ReflectionAnswer,
  type ReflectionQuestion,
  reflectionRequestFromProto,
  reflectionRequestToProto,
  reflectionResponseFromProto,
  reflectionResponseToProto,
} from './reflection.ts'

const QUESTIONS: readonly ReflectionQuestion[] = [
  { ask: 'services' },
  { ask: 'file', name: 'a/b.proto' },
  { ask: 'symbol', symbol: 'a.B' },
  { ask: 'extension', extendee: 'a.B', number: 100 },
  { ask: 'extensionNumbers', extendee: 'a.B' },
  { ask: 'unknown' },
]

const ANSWERS: readonly ReflectionAnswer[] = [
  { kind: 'services', names: ['a.B', 'a.C'] },
  { kind: 'files', files: [Uint8Array.of(1), Uint8Array.of(2, 3)] },
  { kind: 'extensionNumbers', extendee: 'a.B', numbers: [100, 101] },
  { kind: 'error', code: 5, message: 'no such symbol' },
]

test.each(QUESTIONS)('the reflection question $ask round-trips', (question) => {
  const request = { host: 'example.org', question }
  expect(reflectionRequestFromProto(reflectionRequestToProto(request))).toEqual(request)
})

test.each(ANSWERS)('the reflection answer $tell round-trips, with its question', (answer) => {
  const response = { request: { host: 'example.org', question: { ask: 'services' } as const }, answer }
  expect(reflectionResponseFromProto(reflectionResponseToProto(response))).toEqual(response)
})

test('a question with an empty name is still a question', () => {
  // list_services: ""
  expect(reflectionRequestFromProto(Uint8Array.of(0x3a, 0)).question).toEqual({ ask: 'services' })
})
