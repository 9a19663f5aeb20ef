import { expect, test } from 'vitest'
import { cannotBeMessage } from './cannot-be-message.ts'

const ascii = (text: string) => Buffer.from(text, 'latin1')

test.each([
  ['an entry of ccache (end of a group that was not begun)', Buffer.of(0xcc, 0xac, 1, 0)],
  ['a gzip archive (wire type 7)', Buffer.of(0x1f, 0x8b, 8, 0)],
  ['a zip archive (field 0)', ascii('PK\x03\x04')],
  ['a length beyond the end', Buffer.of(0x12, 0x99)],
  ['a length that is cut off', Buffer.of(0x12, 0x05, 1, 2)],
  ['a number that is cut off', Buffer.of(0x08)],
  ['four bytes that are cut off', Buffer.of(0x0d, 1, 2)],
  ['eight bytes that are cut off', Buffer.of(0x09, 1, 2)],
  ['a group that is not ended', Buffer.of(0x0b, 0x10, 1)],
  ['a group that another number ends', Buffer.of(0x0b, 0x14)],
])('cannotBeMessage is true for %s', (_, bytes) => expect(cannotBeMessage(bytes)).toBe(true))

test.each([
  ['nothing', Buffer.alloc(0)],
  ['all wire types', Buffer.of(0x08, 0xff, 0x01, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 2, 9, 9, 0x25, 1, 2, 3, 4)],
  ['groups, one in the other', Buffer.of(0x0b, 0x13, 0x18, 1, 0x14, 0x0c)],
  ['a tag of more than 32 bits, which some parsers cut short', Buffer.alloc(8, 0xff)],
  ['more fields than are walked', Buffer.concat([Buffer.alloc(200_002, ascii('\x08\x01')), Buffer.of(0x1f)])],
])('cannotBeMessage is false for %s', (_, bytes) => expect(cannotBeMessage(bytes)).toBe(false))
