/** The few messages of the load, encoded by hand, so that the measured code does not make them. */
import { type Digest, headOf } from '../../cache/messages.ts'

const field = (number: number, value: Uint8Array | string): Buffer => {
  const content = typeof value === 'string' ? Buffer.from(value) : value
  return Buffer.concat([headOf(number, content.length), content])
}

const whole = (number: number, value: number): Buffer => {
  const bytes = [number << 3]
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push(0x80 | (rest % 128))
  return Buffer.from([...bytes, rest])
}

const digestMessage = ({ hash, size }: Digest): Buffer => Buffer.concat([field(1, hash), whole(2, size)])

/** `/bin/true`, with an environment variable that makes it unique. */
export const commandMessage = (word: string): Buffer =>
  Buffer.concat([field(1, '/bin/true'), field(2, Buffer.concat([field(1, 'WORD'), field(2, word)]))])

export const actionMessage = (command: Digest, root: Digest): Buffer =>
  Buffer.concat([field(1, digestMessage(command)), field(2, digestMessage(root))])

export const listOperationsRequest = (pageSize: number, pageToken: string): Buffer =>
  Buffer.concat([whole(2, pageSize), pageToken === '' ? Buffer.alloc(0) : field(3, pageToken), field(4, 'operations')])
