/** Sessions of honest peers, frame by frame: the input of the mutations. */
import type { HeaderPair } from '../../src/grpc/header-text.ts'
import { encodedBound, HpackEncoder } from '../../src/grpc/hpack/encoder.ts'
import { FLAG, PREFACE, SETTING } from '../../src/grpc/http2/wire-format.ts'
import {
  continuation,
  data,
  goaway,
  headers,
  lastData,
  message,
  paddedData,
  ping,
  priority,
  requestBlock,
  reset,
  settings,
  settingsAck,
  windowUpdate,
} from '../../src/testing/http2-frames.ts'
import { PATHS } from './service.ts'

const END = FLAG.endHeaders | FLAG.endStream
const bytes = (size: number): Buffer => Buffer.alloc(size, 'windlass ')

const encode = (encoder: HpackEncoder, fields: readonly HeaderPair[]): Buffer => {
  const block = Buffer.alloc(encodedBound(fields))
  return block.subarray(0, encoder.encode(fields, block, 0))
}

const requestFields = (path: string, ...more: readonly HeaderPair[]): HeaderPair[] => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', path],
  [':authority', 'localhost:1'],
  ['te', 'trailers'],
  ['content-type', 'application/grpc'],
  ['user-agent', 'fuzz/1'],
  ...more,
]

const hello = (...more: Buffer[]): Buffer[] => [PREFACE, settings(), settingsAck, ...more]

/** Calls whose header blocks share a dynamic table, as those of a real client do. */
function indexedCalls(): Buffer[] {
  const encoder = new HpackEncoder()
  const frames = hello(windowUpdate(0, 1 << 20))
  for (const [i, path] of Object.values(PATHS).entries()) {
    const stream = 2 * i + 1
    frames.push(headers(stream, encode(encoder, requestFields(path, ['grpc-timeout', '10S'], ['x-user', 'someone']))))
    frames.push(lastData(stream, message(bytes(i * 30))))
  }
  return frames
}

function longHead(): Buffer[] {
  const block = requestBlock(PATHS.echo, ['x-long', 'v'.repeat(300)], ['x-bin-bin', 'AAECAw'])
  return hello(
    headers(1, block.subarray(0, 100), 0),
    continuation(1, block.subarray(100, 200)),
    continuation(1, block.subarray(200), FLAG.endHeaders),
    lastData(1, message(bytes(10))),
  )
}

export const CLIENT_SESSIONS: readonly (readonly Buffer[])[] = [
  hello(headers(1, requestBlock(PATHS.echo)), lastData(1, message(bytes(20)))),
  hello(headers(1, requestBlock(PATHS.later)), lastData(1, message(bytes(20))), ping(), ping(FLAG.ack)),
  hello(headers(1, requestBlock(PATHS.stream)), lastData(1, message(Buffer.from([0, 200]))), windowUpdate(1, 100_000)),
  hello(
    headers(1, requestBlock(PATHS.collect)),
    data(1, message(bytes(50))),
    data(1, message(bytes(5)).subarray(0, 7)),
    data(1, message(bytes(5)).subarray(7)),
    lastData(1, Buffer.concat([message(bytes(1)), message(bytes(0))])),
  ),
  hello(
    headers(1, requestBlock(PATHS.talk)),
    data(1, message(bytes(9))),
    headers(3, requestBlock(PATHS.talk)),
    data(3, message(bytes(9))),
    paddedData(1, message(bytes(9)), { padding: 40 }),
    reset(3),
    lastData(1, Buffer.alloc(0)),
  ),
  hello(
    headers(1, requestBlock(PATHS.early)),
    data(1, message(bytes(100))),
    data(1, message(bytes(100))),
    data(1, message(bytes(100))),
    headers(1, Buffer.alloc(0), END),
  ),
  hello(headers(1, requestBlock(PATHS.idle)), data(1, message(bytes(200))), data(1, message(bytes(200))), reset(1)),
  hello(headers(1, requestBlock(PATHS.refuse)), lastData(1, message(bytes(3)))),
  hello(headers(1, requestBlock('/none/None'), END), headers(3, requestBlock('/fuzz.Fuzz/None')), goaway(0)),
  hello(
    settings([SETTING.initialWindowSize, 10]),
    headers(1, requestBlock(PATHS.stream)),
    lastData(1, message(Buffer.from([1, 0]))),
    windowUpdate(1, 5),
    settings([SETTING.initialWindowSize, 0]),
    windowUpdate(1, 100),
    settings([SETTING.initialWindowSize, 70_000], [SETTING.maxFrameSize, 20_000]),
  ),
  hello(
    headers(1, requestBlock(PATHS.talk)),
    data(1, message(bytes(60))),
    settings([SETTING.initialWindowSize, 0]),
    lastData(1, Buffer.alloc(0)),
  ),
  hello(settings([SETTING.headerTableSize, 0]), headers(1, requestBlock(PATHS.meta)), lastData(1, message(bytes(2)))),
  hello(
    priority(3, 0),
    headers(
      1,
      Buffer.concat([Buffer.from([0, 0, 0, 0, 16]), requestBlock(PATHS.echo)]),
      FLAG.endHeaders | FLAG.priority,
    ),
    data(1, message(bytes(8)).subarray(0, 3)),
    lastData(1, message(bytes(8)).subarray(3)),
  ),
  hello(
    headers(1, requestBlock(PATHS.later, ['grpc-timeout', '5m'])),
    headers(3, requestBlock(PATHS.idle, ['grpc-timeout', '1u'])),
    lastData(1, message(bytes(1))),
  ),
  hello(headers(1, requestBlock(PATHS.echo, ['content-length', '10'])), lastData(1, message(bytes(5)))),
  indexedCalls(),
  longHead(),
]

const ANSWER: readonly HeaderPair[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]

/** A server's responses to the calls that the client target opens (streams 1 to 9). */
function answers(): Buffer[] {
  const encoder = new HpackEncoder()
  const frames = [settings([SETTING.maxConcurrentStreams, 100]), settingsAck]
  for (const stream of [1, 3, 5, 7, 9]) {
    frames.push(headers(stream, encode(encoder, ANSWER)), data(stream, message(bytes(10))))
    frames.push(headers(stream, encode(encoder, [['grpc-status', '0']]), END))
  }
  return frames
}

function manyAnswers(): Buffer[] {
  const encoder = new HpackEncoder()
  const frames = [settings(), settingsAck, windowUpdate(0, 100_000), ping()]
  for (const stream of [3, 1, 9]) frames.push(headers(stream, encode(encoder, ANSWER)))
  for (const stream of [1, 3, 9]) frames.push(data(stream, message(bytes(stream))), windowUpdate(stream, 1000))
  frames.push(data(3, Buffer.concat([message(bytes(3)), message(bytes(0)), message(bytes(40)).subarray(0, 20)])))
  frames.push(paddedData(3, message(bytes(40)).subarray(20), { padding: 9 }))
  for (const stream of [9, 3, 1]) frames.push(headers(stream, encode(encoder, [['grpc-status', '0']]), END))
  return frames
}

function failures(): Buffer[] {
  const encoder = new HpackEncoder()
  const failed: HeaderPair[] = [
    ...ANSWER,
    ['grpc-status', '5'],
    ['grpc-message', 'not%20there'],
    ['grpc-status-details-bin', 'CAU'],
  ]
  return [
    settings(),
    settingsAck,
    headers(1, encode(encoder, failed), END),
    headers(3, encode(encoder, [[':status', '503']]), END),
    headers(5, encode(encoder, [[':status', '100']])),
    headers(5, encode(encoder, ANSWER)),
    reset(5, 7),
    headers(7, encode(encoder, ANSWER)),
    reset(7, 0),
    goaway(7),
  ]
}

export const SERVER_SESSIONS: readonly (readonly Buffer[])[] = [
  answers(),
  manyAnswers(),
  failures(),
  [
    settings([SETTING.maxConcurrentStreams, 1], [SETTING.initialWindowSize, 3]),
    settingsAck,
    windowUpdate(5, 100),
    goaway(1),
  ],
  [
    settings([SETTING.headerTableSize, 100]),
    settingsAck,
    ping(FLAG.ack),
    reset(1),
    reset(3, 7),
    reset(5, 11),
    goaway(0, 2),
  ],
]

/** Header blocks that share one dynamic table, for the decoder alone. */
export const BLOCKS: readonly (readonly Buffer[])[] = [blocksOf(new HpackEncoder()), rawBlocks()]

function blocksOf(encoder: HpackEncoder): Buffer[] {
  const paths = Object.values(PATHS)
  const blocks = paths.map((path, i) => encode(encoder, requestFields(path, [`x-field-${i % 3}`, `value ${i}`])))
  encoder.setMaxTableBytes(200)
  blocks.push(...paths.map((path) => encode(encoder, requestFields(path))))
  return blocks
}

/** One block of each representation, as in the appendix of RFC 7541. */
function rawBlocks(): Buffer[] {
  return [
    '400a637573746f6d2d6b65790d637573746f6d2d686561646572',
    '040c2f73616d706c652f70617468',
    '100870617373776f726406736563726574',
    '82',
    '828684418cf1e3c2e5f23a6ba0ab90f4ff',
    '828684be5886a8eb10649cbf',
    '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    '3fe11f82',
    '2082',
  ].map((hex) => Buffer.from(hex, 'hex'))
}
