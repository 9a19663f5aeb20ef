import { expect, test } from 'vitest'
import { inline, ran, stage } from '../http/snippets/snippets.fixture.ts'
import { outputFrames } from './printed.ts'

const piece = (text: string | Buffer, at: number | undefined, stream: 'stdout' | 'stderr' = 'stdout') => ({
  stream,
  attempt: 1,
  bytes: Buffer.from(text),
  at,
  missed: 0,
})
const said = (frames: readonly (string | Uint8Array)[]) =>
  frames.map((frame) => (typeof frame === 'string' ? JSON.parse(frame) : [...frame]))

test('a character in two pieces is sent whole, and missed bytes are counted', () => {
  const out = outputFrames('utf8')
  const e = Buffer.from('é')
  expect(said(out.piece(piece(Buffer.concat([Buffer.from('a'), e.subarray(0, 1)]), 0)))).toEqual([
    { type: 'output', stream: 'stdout', data: 'a' },
  ])
  expect(said(out.piece(piece(e.subarray(1), 2)))).toEqual([{ type: 'output', stream: 'stdout', data: 'é' }])
  expect(said(out.piece(piece('later', 10)))).toEqual([{ type: 'output', stream: 'stdout', data: 'later', missed: 7 }])
  expect(said(out.piece(piece('er!', 13)))).toEqual([{ type: 'output', stream: 'stdout', data: '!' }])
})

test('in binary frames the first byte names the stream', () => {
  const out = outputFrames('binary')
  expect(said(out.piece(piece('ab', 0)))).toEqual([[1, 97, 98]])
  expect(said(out.piece(piece('c', 5, 'stderr')))).toEqual([
    { type: 'output', stream: 'stderr', data: '', missed: 5 },
    [2, 99],
  ])
  expect(said(outputFrames('base64').piece(piece('ab', 0)))).toEqual([
    { type: 'output', stream: 'stdout', data: 'YWI=' },
  ])
})

test('output that was not streamed is sent from the result at the end', () => {
  const out = outputFrames('utf8')
  out.piece(piece('comp', 0))
  const result = ran(stage('compiled\n', { name: 'compile' }), stage('ran\n', { stderr: inline('oops') }))
  expect(said(out.rest(result))).toEqual([
    { type: 'output', stream: 'stdout', data: 'iled\nran\n' },
    { type: 'output', stream: 'stderr', data: 'oops' },
  ])
  const whole = outputFrames('binary')
  whole.piece(piece('ran\n', 0))
  expect(whole.rest(ran(stage('ran\n')))).toEqual([])
})

test('a result that was cut in the middle is not sent', () => {
  const cut = { ...inline('beginning end'), droppedBytes: 100, droppedAt: 9 }
  expect(outputFrames('utf8').rest(ran({ ...stage(''), stdout: cut }))).toEqual([])
})
