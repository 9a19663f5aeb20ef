import { expect, test } from 'vitest'
import { settings } from '../../testing/http2-frames.ts'
import { defaultPeerSettings, type PeerSettings, readSettings } from './settings.ts'
import { type ConnectionFault, ERROR, SETTING } from './wire-format.ts'

function read(...entries: [number, number][]): PeerSettings {
  const peer = defaultPeerSettings()
  const frame = settings(...entries)
  readSettings(peer, frame, 9, frame.length)
  return peer
}

const codeOf = (...entries: [number, number][]): number | undefined => {
  try {
    read(...entries)
    return undefined
  } catch (error) {
    return (error as ConnectionFault).code
  }
}

test('nothing said leaves the defaults of the protocol', () => {
  expect(read()).toEqual(defaultPeerSettings())
  expect(read()).toMatchObject({ headerTableSize: 4096, initialWindowSize: 65_535, maxFrameSize: 16_384 })
})

test('each setting goes to its place', () => {
  const peer = read(
    [SETTING.headerTableSize, 100],
    [SETTING.enablePush, 1],
    [SETTING.maxConcurrentStreams, 7],
    [SETTING.initialWindowSize, 0],
    [SETTING.maxFrameSize, 16_777_215],
    [SETTING.maxHeaderListSize, 0xffffffff],
  )
  expect(peer).toEqual({
    headerTableSize: 100,
    maxConcurrentStreams: 7,
    initialWindowSize: 0,
    maxFrameSize: 16_777_215,
    maxHeaderListSize: 0xffffffff,
  })
})

test('of one that is given twice the last counts', () => {
  expect(read([SETTING.initialWindowSize, 5], [SETTING.initialWindowSize, 6]).initialWindowSize).toBe(6)
})

test('unknown settings are passed over', () => {
  expect(read([0, 1], [7, 1], [0xffff, 0xffffffff])).toEqual(defaultPeerSettings())
})

test.each([
  ['a push that is neither on nor off', SETTING.enablePush, 2, ERROR.protocol],
  ['a window larger than any', SETTING.initialWindowSize, 0x80000000, ERROR.flowControl],
  ['frames smaller than everyone takes', SETTING.maxFrameSize, 16_383, ERROR.protocol],
  ['frames larger than their length can say', SETTING.maxFrameSize, 16_777_216, ERROR.protocol],
])('%s is refused', (_name, id, value, code) => {
  expect(codeOf([id, value])).toBe(code)
})

test('the extremes that are allowed are allowed', () => {
  expect(codeOf([SETTING.initialWindowSize, 0x7fffffff], [SETTING.maxFrameSize, 16_384], [SETTING.enablePush, 0])).toBe(
    undefined,
  )
})
