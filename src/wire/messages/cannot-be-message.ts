/** `cannotBeMessage` returns false for a message with more fields; the parser checks it. */
const MOST_FIELDS = 100_000
const [VARINT, EIGHT_BYTES, LENGTH, GROUP_START, GROUP_END, FOUR_BYTES] = [0, 1, 2, 3, 4, 5]

/**
 * Returns true when every protobuf parser rejects these bytes, for any message type: a wire type that does not exist,
 * field number 0, a group that is not closed, or a length beyond the end. Parsers differ on all other errors (Java
 * skips a known field that has another wire type), so for those this returns false.
 */
export function cannotBeMessage(bytes: Uint8Array): boolean {
  const groups: number[] = []
  let at = 0
  for (let fields = 0; at < bytes.length; fields++) {
    if (fields === MOST_FIELDS) return false
    const tag = varintAt(bytes, at, 5)
    if (typeof tag === 'string') return tag === 'cut off'
    const field = Math.floor(tag.value / 8)
    const wireType = tag.value % 8
    if (field === 0 || wireType > FOUR_BYTES) return true
    at = tag.end
    if (wireType === GROUP_START) groups.push(field)
    else if (wireType === GROUP_END) {
      if (groups.pop() !== field) return true
    } else {
      const end = endOfValue(bytes, at, wireType)
      if (typeof end === 'string') return end === 'cut off'
      at = end
    }
  }
  return at > bytes.length || groups.length > 0
}

type Unreadable = 'cut off' | 'too long'

function endOfValue(bytes: Uint8Array, at: number, wireType: number): number | Unreadable {
  if (wireType === EIGHT_BYTES) return at + 8
  if (wireType === FOUR_BYTES) return at + 4
  const number = varintAt(bytes, at, 10)
  if (typeof number === 'string' || wireType === VARINT) return typeof number === 'string' ? number : number.end
  return wireType === LENGTH ? number.end + number.value : 'too long'
}

function varintAt(bytes: Uint8Array, start: number, mostBytes: number): { value: number; end: number } | Unreadable {
  let value = 0
  for (let at = start; at < start + mostBytes; at++) {
    const byte = bytes[at]
    if (byte === undefined) return 'cut off'
    value += (byte & 0x7f) * 2 ** (7 * (at - start))
    if (byte < 0x80) return { value, end: at + 1 }
  }
  return 'too long'
}
