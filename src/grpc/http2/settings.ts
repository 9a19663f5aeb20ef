import {
  ConnectionFault,
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW,
  ERROR,
  MAX_WINDOW,
  readUint32,
  SETTING,
} from './wire-format.ts'

/** The peer's SETTINGS; the defaults of the protocol until they arrive. */
export interface PeerSettings {
  headerTableSize: number
  maxConcurrentStreams: number
  initialWindowSize: number
  maxFrameSize: number
  maxHeaderListSize: number
}

export const defaultPeerSettings = (): PeerSettings => ({
  headerTableSize: 4096,
  maxConcurrentStreams: 100,
  initialWindowSize: DEFAULT_WINDOW,
  maxFrameSize: DEFAULT_FRAME_BYTES,
  maxHeaderListSize: Number.POSITIVE_INFINITY,
})

/** Applies a SETTINGS payload, value by value, in its order. */
export function readSettings(into: PeerSettings, buffer: Buffer, start: number, end: number): void {
  for (let at = start; at < end; at += 6) {
    applySetting(into, ((buffer[at] as number) << 8) | (buffer[at + 1] as number), readUint32(buffer, at + 2))
  }
}

function applySetting(into: PeerSettings, id: number, value: number): void {
  switch (id) {
    case SETTING.headerTableSize:
      into.headerTableSize = value
      break
    case SETTING.enablePush:
      if (value > 1) throw new ConnectionFault(ERROR.protocol, 'SETTINGS_ENABLE_PUSH is neither 0 nor 1')
      break
    case SETTING.maxConcurrentStreams:
      into.maxConcurrentStreams = value
      break
    case SETTING.initialWindowSize:
      if (value > MAX_WINDOW) throw new ConnectionFault(ERROR.flowControl, 'SETTINGS_INITIAL_WINDOW_SIZE is too large')
      into.initialWindowSize = value
      break
    case SETTING.maxFrameSize:
      if (value < DEFAULT_FRAME_BYTES || value > 0xffffff) {
        throw new ConnectionFault(ERROR.protocol, 'SETTINGS_MAX_FRAME_SIZE is out of range')
      }
      into.maxFrameSize = value
      break
    case SETTING.maxHeaderListSize:
      into.maxHeaderListSize = value
      break
  }
}
