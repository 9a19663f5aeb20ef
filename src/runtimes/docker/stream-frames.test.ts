import { expect, test } from 'vitest'
import { StreamFrameReader } from './stream-frames.ts'

const frame = (stream: number, text: string): Buffer => {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

function read(pieces: readonly Buffer[]) {
  const heard = { stdout: '', stderr: '' }
  const reader = new StreamFrameReader((name, bytes) => {
    heard[name] += Buffer.from(bytes).toString()
  })
  for (const piece of pieces) reader.push(piece)
  return heard
}

const whole = Buffer.concat([frame(1, 'one'), frame(2, 'err'), frame(1, ''), frame(1, ' two'), frame(0, 'in')])

test('frames of stdout and stderr are separated, and other frames are dropped', () => {
  expect(read([whole])).toEqual({ stdout: 'one two', stderr: 'err' })
})

test.each([1, 2, 3, 5, 7, 11])('frames are read the same from pieces of %i bytes', (size) => {
  const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
    whole.subarray(i * size, i * size + size),
  )
  expect(read(pieces)).toEqual({ stdout: 'one two', stderr: 'err' })
})

test('a frame with a declared length of 4 GiB is passed on as it arrives', () => {
  const header = Buffer.from([1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
  expect(read([header, Buffer.from('begin'), Buffer.from('ning')]).stdout).toBe('beginning')
})
