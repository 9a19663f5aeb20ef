import { expect, test } from 'vitest'
import { FaultError } from '../../base/fault.ts'
import { Directory } from '../gen/build/bazel/remote/execution/v2/remote_execution.ts'
import { decodeWellFormed } from './well-formed.ts'

const read = (hex: string) =>
  decodeWellFormed(Directory, Buffer.from(hex.replaceAll(' ', ''), 'hex'), {
    name: 'Directory',
    shape: { 1: { 1: 'text', 2: { 1: 'text', 2: 'number' }, 4: 'number' } },
  })

test('a well-formed message is decoded', () => {
  expect(read('0a 03 0a 01 61').files).toMatchObject([{ name: 'a' }])
})

test.each([
  ['tag 0, which the generated decoder takes for the end', '0a 03 0a 01 61 00'],
  ['a nested message that runs over into what follows', '0a 02 0a 03 61 12 00'],
  ['text that is not UTF-8', '0a 03 0a 01 ff'],
  ['a field of the wrong type', '0a 02 08 01'],
  ['a number beyond what is exact', '0a 0e 12 0c 10 ff ff ff ff ff ff ff ff 7f 0a 00'],
])('%s is refused as malformed', (_, hex) => {
  expect(() => read(hex)).toThrow(FaultError)
  expect(() => read(hex)).toThrow('malformed Directory')
})
