/** Frames that follow the grammar, with the field values of a hostile peer. */
import type { HeaderPair } from '../../src/grpc/header-text.ts'
import { FLAG, FRAME_TYPE } from '../../src/grpc/http2/wire-format.ts'
import { literals } from '../../src/grpc/server/response-blocks.ts'
import {
  continuation,
  data,
  frame,
  goaway,
  headers,
  message,
  paddedData,
  ping,
  priority,
  requestBlock,
  reset,
  settings,
  windowUpdate,
} from '../../src/testing/http2-frames.ts'
import type { Random } from './random.ts'
import { PATHS } from './service.ts'

const ALL_PATHS = [...Object.values(PATHS), '/none/None', '/', '', '*']
const NUMBERS = [0, 1, 2, 8, 100, 16_384, 65_535, 65_536, 0x7ffffffe, 0x7fffffff, 0x80000000, 0xffffffff]
const NAMES = [
  'grpc-timeout',
  'te',
  'content-length',
  'grpc-encoding',
  'x-a',
  'X-A',
  '',
  ':path',
  ':status',
  'host',
  'connection',
  'x-bin',
  'é',
  'grpc-status',
]
const VALUES = [
  '',
  '0',
  '1S',
  '0n',
  '99999999H',
  '5',
  'trailers',
  'gzip',
  'a\0b',
  ' x',
  '\xff\xfe',
  'v'.repeat(500),
  '18446744073709551616',
]
const FRAGMENTS = [
  '82',
  '86',
  'be',
  'bf',
  'c0',
  'ff',
  '7f00',
  '3fe11f',
  '20',
  '21',
  '3fe21f',
  '418cf1e3c2e5f23a6ba0ab90f4ff',
  '4000',
  '0000',
  '00',
  '0f10',
  'ffffffff0f',
  '40018101',
]

/** Stream ids in order, as from a client; now and then one is out of order. */
class Streams {
  readonly #random: Random
  #last = -1

  constructor(random: Random) {
    this.#random = random
  }

  fresh(): number {
    this.#last += 2
    return this.#last
  }

  used(): number {
    if (this.#random.oneIn(12)) return this.#random.pick([0, 2, 9, 101, 0x7fffffff])
    return this.#last < 0 ? 1 : 1 + 2 * this.#random.below((this.#last + 1) / 2)
  }
}

export function hostileFrames(random: Random, count: number, isClient: boolean): Buffer[] {
  const streams = new Streams(random)
  // The client's own streams are open before the server sends anything.
  if (!isClient) for (let i = 0; i < 5; i++) streams.fresh()
  return Array.from({ length: count }, () => random.pick(isClient ? FROM_CLIENT : FROM_SERVER)(random, streams))
}

type Make = (random: Random, streams: Streams) => Buffer

const maybe = (random: Random, flag: number): number => (random.oneIn(3) ? flag : 0)

const request: Make = (random, streams) => {
  const more = Array.from({ length: random.below(4) }, (): HeaderPair => [random.pick(NAMES), random.pick(VALUES)])
  const stream = random.oneIn(10) ? streams.used() : streams.fresh()
  const flags = maybe(random, FLAG.endStream) | (random.oneIn(15) ? 0 : FLAG.endHeaders)
  return headers(stream, requestBlock(random.pick(ALL_PATHS), ...(random.oneIn(2) ? more : [])), flags)
}

const response: Make = (random, streams) => {
  const status: HeaderPair[] = random.oneIn(3) ? [] : [[':status', random.pick(['200', '200', '100', '404', 'x', ''])]]
  const code: HeaderPair[] = random.oneIn(2) ? [['grpc-status', random.pick(['0', '0', '5', '17', 'x', ''])]] : []
  const text: HeaderPair[] = random.oneIn(4) ? [['grpc-message', random.pick(['a%20b', '%', '%zz%41', '%ff%fe'])]] : []
  const flags = maybe(random, FLAG.endStream) | (random.oneIn(15) ? 0 : FLAG.endHeaders)
  return headers(streams.used(), literals([...status, ...code, ...text]), flags)
}

const block: Make = (random, streams) => {
  const hex = Array.from({ length: random.below(12) }, () => random.pick(FRAGMENTS)).join('')
  const stream = random.oneIn(2) ? streams.used() : streams.fresh()
  return headers(stream, Buffer.from(hex, 'hex'), random.oneIn(8) ? random.next() & 0xff : FLAG.endHeaders)
}

const goOn: Make = (random, streams) =>
  continuation(streams.used(), literals([[random.pick(NAMES), random.pick(VALUES)]]), maybe(random, FLAG.endHeaders))

const body: Make = (random, streams) => {
  const stream = streams.used()
  const flags = maybe(random, FLAG.endStream)
  switch (random.below(7)) {
    case 0:
      return data(stream, random.bytes(random.below(30)), flags)
    case 1:
      return data(stream, Buffer.concat([message(random.bytes(random.below(9))), message(Buffer.alloc(0))]), flags)
    case 2:
      return paddedData(stream, message(random.bytes(random.below(40))), { padding: random.below(256), flags })
    case 3:
      // A length prefix that announces too much, or is invalid.
      return data(
        stream,
        Buffer.from([random.pick([0, 0, 1, 2]), random.pick([0, 0, 1, 255]), 0, random.next() & 255, 9]),
        flags,
      )
    case 4:
      return data(stream, Buffer.alloc(random.pick([0, 1, 4, 5, 1000, 5000])), flags)
    default:
      return data(stream, message(random.bytes(random.below(64))), flags)
  }
}

const windowChange: Make = (random, streams) => windowUpdate(random.oneIn(3) ? 0 : streams.used(), random.pick(NUMBERS))

const settingsChange: Make = (random) =>
  settings(...Array.from({ length: random.below(4) }, () => [random.below(8), random.pick(NUMBERS)] as const))

const anything: Make = (random, streams) =>
  frame({ type: random.below(14), flags: random.next() & 0xff, stream: streams.used() }, random.bytes(random.below(24)))

const COMMON: readonly Make[] = [
  body,
  body,
  body,
  block,
  goOn,
  windowChange,
  windowChange,
  settingsChange,
  anything,
  (random, streams) => reset(streams.used(), random.pick([0, 1, 7, 8, 11, 99, 0xffffffff])),
  (random) => ping(maybe(random, FLAG.ack), random.bytes(random.oneIn(20) ? 7 : 8)),
  (random, streams) => priority(streams.used(), streams.used(), random.next() & 0xff),
  (random) => goaway(random.pick(NUMBERS), random.below(16)),
  (random, streams) =>
    frame({ type: FRAME_TYPE.pushPromise, flags: FLAG.endHeaders, stream: streams.used() }, random.bytes(9)),
]

const FROM_CLIENT: readonly Make[] = [...COMMON.slice(0, -1), request, request, request, request, request, request]
const FROM_SERVER: readonly Make[] = [...COMMON, response, response, response, response, response, response]
