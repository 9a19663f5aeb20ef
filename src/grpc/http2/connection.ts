import type { Duplex } from 'node:stream'
import type { HeaderList } from '../hpack/header-field.ts'
import type { ConnectionEnd, ConnectionHost, ConnectionOptions } from './connection-host.ts'
import {
  putGoaway,
  putGreeting,
  putHeaderBlock,
  putPingAck,
  putReset,
  putSettingsAck,
  putWindowUpdate,
} from './control-frames.ts'
import { DiscardedStreams } from './discarded-streams.ts'
import { type FloodGates, floodGates } from './flood.ts'
import { Http2FrameReader, type Http2FrameSink } from './frame-reader.ts'
import { HeaderBlocks } from './header-blocks.ts'
import type { Http2Limits } from './limits.ts'
import { Outbox } from './outbox.ts'
import { Patrol } from './patrol.ts'
import { areTrailersSound, understandRequest } from './request-head.ts'
import { SendTurns } from './send-turns.ts'
import { defaultPeerSettings, readSettings } from './settings.ts'
import { onBytes } from './shared-reading.ts'
import { STRANGER_REASON, type Stranger, strangerIn } from './stranger.ts'
import { Http2Stream } from './stream.ts'
import type { Timing } from './timing.ts'
import {
  CONNECTION_LOST,
  ConnectionFault,
  DEFAULT_WINDOW,
  ERROR,
  FLAG,
  FRAME_TYPE,
  MAX_WINDOW,
  readUint32,
} from './wire-format.ts'

/** The reason of a close that has no other reason. */
export const CLOSED = 'the connection was closed'

/**
 * One HTTP/2 connection, either end (RFC 9113).
 *
 * Reading: all bytes of one socket read are handled in one turn, and all frames that this turn produces are sent with
 * one write at its end. Frames that are written outside a turn (by a slow handler) are collected until the next loop
 * turn.
 *
 * Sending: control frames and heads are written to the outbox at once. Data waits in its stream. Streams that may send
 * take turns, one frame each, while less than `socketBacklogBytes` waits in the socket, so that a large response never
 * delays a small one by more than that.
 *
 * Receiving: the connection's window is updated on receipt, and a stream's window when its reader has read the bytes,
 * so that one stalled reader never stops other streams. Unread bytes are counted; above the limit the connection's
 * window is not updated until some of them are read.
 */
export class Http2Connection implements Http2FrameSink {
  readonly limits: Http2Limits
  readonly outbox: Outbox
  readonly peer = defaultPeerSettings()
  readonly streams = new Map<number, Http2Stream>()
  readonly turns: SendTurns
  /** Bytes received by all streams and not yet read. */
  bufferedBytes = 0
  /**
   * Handlers that still run for closed streams; they count as streams, so that resets gain nothing (CVE-2023-44487).
   */
  lingering = 0
  /** The time of the last turn: exact enough for uses that need no better resolution. */
  turnAt: number
  readonly #socket: Duplex
  readonly #isServer: boolean
  readonly #timing: Timing
  readonly #host: ConnectionHost
  readonly #reader: Http2FrameReader
  readonly #blocks: HeaderBlocks
  readonly #gates: FloodGates
  #receiveWindow = DEFAULT_WINDOW
  #owed = 0
  #lastPeerStream = 0
  #nextOwnStream = 1
  readonly #discarded = new DiscardedStreams()
  #dataStream: Http2Stream | undefined
  #dataFlags = 0
  #inTurn = false
  #flushDue = false
  #settingsSeen = false
  #hasGreeted = false
  #settingsPhase: 'sent' | 'acknowledged' = 'sent'
  #draining = false
  #peerIsGoing = false
  #drainLimit = MAX_WINDOW
  #end: ConnectionEnd | undefined
  readonly #patrol: Patrol

  constructor({ socket, role, limits, timing, host }: ConnectionOptions) {
    this.#socket = socket
    this.#isServer = role === 'server'
    this.limits = limits
    this.#timing = timing
    this.#host = host
    this.outbox = new Outbox(socket)
    this.turns = new SendTurns(this.outbox, limits, this.peer)
    this.#reader = new Http2FrameReader(this, { maxFrameBytes: limits.maxFrameBytes, expectPreface: this.#isServer })
    this.#blocks = new HeaderBlocks(limits)
    this.turnAt = timing.now()
    this.#gates = floodGates(limits, timing.now)
    onBytes(socket, (bytes) => this.#onBytes(bytes))
    socket.on('drain', () => this.#flushNow())
    socket.on('error', (error) => this.#lost(error.message))
    socket.on('close', () => this.#lost(CLOSED))
    this.#patrol = new Patrol(this, timing)
    if (!this.#isServer) this.#greet() // a server waits: HTTP/1.1 clients cannot parse an answer after SETTINGS
  }

  /** Whether the peer has sent its SETTINGS. */
  get isGreeted(): boolean {
    return this.#settingsSeen
  }

  get isOpen(): boolean {
    return this.#end === undefined
  }

  /** Client: opens a stream, which has no head yet. */
  openStream(): Http2Stream {
    const stream = this.#newStream(this.#nextOwnStream)
    this.#nextOwnStream += 2
    return stream
  }

  get idsAreUsedUp(): boolean {
    return this.#nextOwnStream > MAX_WINDOW - 2
  }

  // --- Calls of the layer above -------------------------------------------------------------------------------------

  /** Sends a head or trailers at once. */
  writeHeaderBlock(stream: number, block: Uint8Array, endStream: boolean): void {
    putHeaderBlock(this.outbox, stream, block, { maxFrameBytes: this.peer.maxFrameSize, endStream })
    this.touched()
  }

  /** Accounts for data that the caller wrote to the outbox itself, and ends our side of the stream. */
  wroteWhole(stream: Http2Stream, dataBytes: number): void {
    this.turns.window -= dataBytes
    stream.sendWindow -= dataBytes
    stream.localClosed = true
    this.localSideEnded(stream)
    this.touched()
  }

  dataQueued(stream: Http2Stream, bytes: number): void {
    if (stream.pendingBytes === bytes) stream.progressAt = this.#inTurn ? this.turnAt : this.#timing.now()
    this.turns.pendingBytes += bytes
    this.turns.join(stream)
    this.touched()
  }

  sendWindowUpdate(stream: number, increment: number): void {
    putWindowUpdate(this.outbox, stream, increment)
    this.touched()
  }

  /** Ends both sides of a stream at once. */
  resetStream(stream: Http2Stream, code: number): void {
    if (stream.gone || this.#end !== undefined) return
    this.#writeReset(stream.id, code)
    this.#discarded.add(stream.id)
    this.#remove(stream)
  }

  /** Called when our side of a stream has ended: a server resets the stream with NO_ERROR if the peer still sends. */
  localSideEnded(stream: Http2Stream): void {
    if (stream.remoteClosed) this.#remove(stream)
    else if (this.#isServer) this.resetStream(stream, ERROR.none)
  }

  /** Called when a reader has read bytes: if too many were unread, the connection's window may be updated again. */
  released(bytes: number): void {
    this.bufferedBytes -= bytes
    this.#host.budget.used -= bytes
    if (this.#owed > 0) this.#giveBack()
  }

  /** Called when something was written outside a turn: it is sent in the next loop turn. */
  touched(): void {
    if (this.#inTurn || this.#flushDue) return
    this.#flushDue = true
    setImmediate(this.#flushLater)
  }

  /** Waits for running calls, accepts no new ones, then closes the connection. */
  drain(): void {
    if (this.#draining || this.#end !== undefined) return
    this.#draining = true
    this.#writeGoaway(MAX_WINDOW, ERROR.none, '')
    // The second GOAWAY names the last stream, after the peer must have received the first one.
    this.#timing.after(100, () => {
      if (this.#end !== undefined) return
      this.#drainLimit = this.#lastPeerStream
      this.#writeGoaway(this.#lastPeerStream, ERROR.none, '')
      this.#closeWhenIdle()
    })
  }

  /** Closes the connection now. */
  close(code: number, reason: string, flood?: string): void {
    if (this.#end !== undefined) return
    this.#end = flood === undefined ? { code, reason } : { code, reason, flood }
    this.#writeGoaway(this.#lastPeerStream, code, code === ERROR.none ? '' : reason)
    this.outbox.flush()
    this.#endSocket('')
    this.#dropStreams(reason)
  }

  // --- Frames of the peer -------------------------------------------------------------------------------------------

  #onBytes(bytes: Buffer): void {
    if (this.#end !== undefined) return
    this.turnAt = this.#timing.now()
    this.#patrol.heardAt = this.turnAt
    const stranger = this.#settingsSeen ? undefined : strangerIn(bytes, { isServer: this.#isServer })
    if (stranger !== undefined) return this.#turnAway(stranger)
    this.#inTurn = true
    this.#greet()
    try {
      this.#reader.read(bytes)
    } catch (error) {
      this.#inTurn = false
      if (error instanceof ConnectionFault) this.close(error.code, error.message, error.flood)
      else this.close(ERROR.internal, `internal error: ${(error as Error).message}`)
      return
    }
    this.#inTurn = false
    this.#flushNow()
  }

  onFrame(type: number, flags: number, stream: number, buffer: Buffer, start: number, end: number): void {
    if (this.#blocks.openStream !== 0 && type !== FRAME_TYPE.continuation) {
      throw new ConnectionFault(ERROR.protocol, 'a header block was interrupted')
    }
    if (!this.#settingsSeen && type !== FRAME_TYPE.settings) {
      throw new ConnectionFault(ERROR.protocol, 'the first frame must be SETTINGS')
    }
    switch (type) {
      case FRAME_TYPE.headers:
        this.#onHeaders(flags, stream, this.#blocks.begin(flags, stream, buffer, start, end))
        break
      case FRAME_TYPE.continuation:
        this.#onHeaders(this.#blocks.headersFlags, stream, this.#blocks.goOn(flags, stream, buffer, start, end))
        break
      case FRAME_TYPE.windowUpdate:
        this.#onWindowUpdate(stream, buffer, start, end)
        break
      case FRAME_TYPE.rstStream:
        this.#onReset(stream, buffer, start, end)
        break
      case FRAME_TYPE.settings:
        this.#onSettings(flags, stream, buffer, start, end)
        break
      case FRAME_TYPE.ping:
        this.#onPing(flags, stream, buffer, start, end)
        break
      case FRAME_TYPE.priority:
        this.#onPriority(stream, buffer, start, end)
        break
      case FRAME_TYPE.goaway:
        this.#onGoaway(stream, buffer, start, end)
        break
      case FRAME_TYPE.pushPromise:
        throw new ConnectionFault(ERROR.protocol, 'PUSH_PROMISE is not allowed here')
    }
    this.#checkControlBacklog()
  }

  #onHeaders(flags: number, id: number, list: HeaderList | undefined): void {
    if (list === undefined) return
    const endStream = (flags & FLAG.endStream) !== 0
    const stream = this.streams.get(id)
    if (stream === undefined) this.#onHead(id, list, endStream)
    else if (stream.remoteClosed) this.#fault(stream, ERROR.streamClosed, 'HEADERS after the end of the stream')
    else if (this.#blocks.dependsOnItself) this.#fault(stream, ERROR.protocol, 'a stream cannot depend on itself')
    else this.#onLaterHeaders(stream, list, endStream)
  }

  #onHead(id: number, list: HeaderList, endStream: boolean): void {
    if (!this.#isServer) {
      if (id >= this.#nextOwnStream || id % 2 === 0)
        throw new ConnectionFault(ERROR.protocol, 'HEADERS on an idle stream')
      return
    }
    if (id % 2 === 0) throw new ConnectionFault(ERROR.protocol, 'clients open odd streams')
    if (id <= this.#lastPeerStream) {
      if (this.#discarded.has(id)) return
      throw new ConnectionFault(ERROR.streamClosed, 'HEADERS on a closed stream')
    }
    this.#lastPeerStream = id
    if (id > this.#drainLimit) return
    if (this.#blocks.dependsOnItself) return this.#refuse(id, ERROR.protocol)
    if (this.streams.size + this.lingering >= this.limits.maxConcurrentStreams)
      return this.#refuse(id, ERROR.refusedStream)
    const head = understandRequest(list)
    if (head === undefined) return this.#refuse(id, ERROR.protocol)
    const stream = this.#newStream(id)
    stream.expectedBytes = head.contentLength
    stream.remoteClosed = endStream
    if (stream.lengthMismatch(endStream)) return this.#fault(stream, ERROR.protocol, 'content-length does not match')
    this.#host.onStream(stream, list, endStream)
  }

  #onLaterHeaders(stream: Http2Stream, list: HeaderList, endStream: boolean): void {
    if (this.#isServer && !endStream) return this.#fault(stream, ERROR.protocol, 'trailers must end the stream')
    if (this.#isServer && !areTrailersSound(list)) return this.#fault(stream, ERROR.protocol, 'malformed trailers')
    if (stream.lengthMismatch(endStream)) return this.#fault(stream, ERROR.protocol, 'content-length does not match')
    if (endStream) stream.remoteClosed = true
    stream.receiver?.onHeaders(list, endStream)
    if (endStream && stream.localClosed) this.#remove(stream)
  }

  onDataBegin(flags: number, id: number, length: number): void {
    if (this.#blocks.openStream !== 0) throw new ConnectionFault(ERROR.protocol, 'a header block was interrupted')
    if (id === 0) throw new ConnectionFault(ERROR.protocol, 'DATA needs a stream')
    if (length === 0 && (flags & FLAG.endStream) === 0) this.#gates.emptyFrames.pass()
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0) throw new ConnectionFault(ERROR.flowControl, 'the connection window was exceeded')
    this.#owed += length
    this.#giveBack()
    this.#dataFlags = flags
    this.#dataStream = undefined
    const stream = this.streams.get(id)
    if (stream === undefined) this.#onLateData(id)
    else if (stream.remoteClosed) this.#fault(stream, ERROR.streamClosed, 'DATA after the end of the stream')
    else {
      stream.receiveWindow -= length
      if (stream.receiveWindow < 0) this.#fault(stream, ERROR.flowControl, 'the stream window was exceeded')
      else this.#dataStream = stream
    }
  }

  #onLateData(id: number): void {
    if (this.#isIdle(id)) throw new ConnectionFault(ERROR.protocol, 'DATA on an idle stream')
    if (this.#isServer && !this.#discarded.has(id)) {
      this.#gates.resets.pass()
      this.#writeReset(id, ERROR.streamClosed)
    }
  }

  onDataPiece(buffer: Buffer, start: number, end: number, isLast: boolean): void {
    const stream = this.#dataStream
    if (stream === undefined || stream.gone) return
    const size = end - start
    const endStream = isLast && (this.#dataFlags & FLAG.endStream) !== 0
    stream.receivedBytes += size
    if (stream.lengthMismatch(endStream)) return this.#fault(stream, ERROR.protocol, 'content-length does not match')
    if (endStream) stream.remoteClosed = true
    if (size === 0 && !endStream) return
    stream.bufferedBytes += size
    this.bufferedBytes += size
    this.#host.budget.used += size
    stream.receiver?.onData(size === buffer.length ? buffer : buffer.subarray(start, end), endStream)
    if (endStream && stream.localClosed) this.#remove(stream)
    this.#checkControlBacklog()
  }

  /** Padding has no reader, so its share of the window is returned at once. */
  onPadding(bytes: number): void {
    this.#dataStream?.giveBack(bytes)
  }

  #onWindowUpdate(id: number, buffer: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw new ConnectionFault(ERROR.frameSize, 'WINDOW_UPDATE has four bytes')
    const increment = readUint32(buffer, start) & MAX_WINDOW
    if (id === 0) {
      if (increment === 0) throw new ConnectionFault(ERROR.protocol, 'WINDOW_UPDATE of nothing')
      this.turns.window += increment
      if (this.turns.window > MAX_WINDOW) throw new ConnectionFault(ERROR.flowControl, 'the window is too large')
      return
    }
    const stream = this.streams.get(id)
    if (stream === undefined) {
      if (this.#isIdle(id)) throw new ConnectionFault(ERROR.protocol, 'WINDOW_UPDATE on an idle stream')
      return
    }
    if (increment === 0) return this.#fault(stream, ERROR.protocol, 'WINDOW_UPDATE of nothing')
    stream.sendWindow += increment
    if (stream.sendWindow > MAX_WINDOW) return this.#fault(stream, ERROR.flowControl, 'the window is too large')
    this.turns.join(stream)
  }

  #onReset(id: number, buffer: Buffer, start: number, end: number): void {
    if (end - start !== 4) throw new ConnectionFault(ERROR.frameSize, 'RST_STREAM has four bytes')
    if (id === 0 || this.#isIdle(id)) throw new ConnectionFault(ERROR.protocol, 'RST_STREAM on an idle stream')
    const stream = this.streams.get(id)
    if (stream === undefined) return
    this.#gates.resets.pass()
    this.#remove(stream)
    stream.receiver?.onReset(readUint32(buffer, start), 'the peer reset the stream')
  }

  #onSettings(flags: number, id: number, buffer: Buffer, start: number, end: number): void {
    if (id !== 0) throw new ConnectionFault(ERROR.protocol, 'SETTINGS on a stream')
    if ((flags & FLAG.ack) !== 0) {
      if (end !== start) throw new ConnectionFault(ERROR.frameSize, 'an acknowledgement of SETTINGS is empty')
      this.#settingsPhase = 'acknowledged'
      return
    }
    if ((end - start) % 6 !== 0) throw new ConnectionFault(ERROR.frameSize, 'SETTINGS come in sixes')
    this.#gates.settings.pass()
    const before = this.peer.initialWindowSize
    readSettings(this.peer, buffer, start, end)
    if (this.peer.initialWindowSize !== before) this.#shiftWindows(this.peer.initialWindowSize - before)
    if (!this.#settingsSeen) {
      this.#settingsSeen = true
      this.#patrol.begin()
    }
    putSettingsAck(this.outbox)
    this.#host.onPeerSettings()
  }

  #shiftWindows(delta: number): void {
    for (const stream of this.streams.values()) {
      stream.sendWindow += delta
      if (stream.sendWindow > MAX_WINDOW) throw new ConnectionFault(ERROR.flowControl, 'the window is too large')
      this.turns.join(stream)
    }
  }

  #onPing(flags: number, id: number, buffer: Buffer, start: number, end: number): void {
    if (id !== 0) throw new ConnectionFault(ERROR.protocol, 'PING on a stream')
    if (end - start !== 8) throw new ConnectionFault(ERROR.frameSize, 'PING has eight bytes')
    if ((flags & FLAG.ack) !== 0) {
      this.#patrol.pingAnswered()
      return
    }
    this.#gates.pings.pass()
    putPingAck(this.outbox, buffer, start)
  }

  #onGoaway(id: number, buffer: Buffer, start: number, end: number): void {
    if (id !== 0) throw new ConnectionFault(ERROR.protocol, 'GOAWAY on a stream')
    if (end - start < 8) throw new ConnectionFault(ERROR.frameSize, 'GOAWAY is too short')
    this.#peerIsGoing = true
    this.#host.onGoaway(readUint32(buffer, start) & MAX_WINDOW, readUint32(buffer, start + 4))
  }

  #onPriority(id: number, buffer: Buffer, start: number, end: number): void {
    if (id === 0) throw new ConnectionFault(ERROR.protocol, 'PRIORITY needs a stream')
    this.#gates.priorities.pass()
    if (end - start !== 5) return this.#faultById(id, ERROR.frameSize, 'PRIORITY has five bytes')
    if ((readUint32(buffer, start) & MAX_WINDOW) === id) this.#faultById(id, ERROR.protocol, 'it depends on itself')
  }

  // --- Books --------------------------------------------------------------------------------------------------------

  #newStream(id: number): Http2Stream {
    const target = this.limits.initialWindowBytes
    const windows = { send: this.peer.initialWindowSize, receive: target, target }
    // Until the peer has acknowledged our settings, it may use the default window of the protocol.
    if (this.#settingsPhase === 'sent') windows.receive = Math.max(target, DEFAULT_WINDOW)
    const stream = new Http2Stream(this, id, windows)
    this.streams.set(id, stream)
    return stream
  }

  #isIdle(id: number): boolean {
    if (id % 2 === 0) return true
    return this.#isServer ? id > this.#lastPeerStream : id >= this.#nextOwnStream
  }

  /** A stream error: the stream ends, the connection continues. */
  #fault(stream: Http2Stream, code: number, reason: string): void {
    this.#gates.resets.pass()
    this.resetStream(stream, code)
    stream.receiver?.onReset(code, reason)
  }

  #faultById(id: number, code: number, reason: string): void {
    const stream = this.streams.get(id)
    if (stream !== undefined) this.#fault(stream, code, reason)
    else if (this.#isIdle(id)) throw new ConnectionFault(code, reason)
    else this.#refuse(id, code)
  }

  #refuse(id: number, code: number): void {
    this.#gates.resets.pass()
    this.#writeReset(id, code)
    this.#discarded.add(id)
  }

  #remove(stream: Http2Stream): void {
    if (stream.gone) return
    stream.gone = true
    this.streams.delete(stream.id)
    this.turns.leave(stream)
    if (stream.bufferedBytes > 0) this.released(stream.bufferedBytes)
    this.#host.onStreamGone(stream)
    if (this.#draining || this.#peerIsGoing) this.#closeWhenIdle()
  }

  #giveBack(): void {
    const most = this.limits.connectionWindowBytes
    if (this.#owed * 2 < most) return
    if (this.bufferedBytes > this.limits.maxConnectionBufferedBytes) return
    this.#receiveWindow += this.#owed
    this.sendWindowUpdate(0, this.#owed)
    this.#owed = 0
  }

  readonly #flushLater = (): void => {
    this.#flushDue = false
    this.turnAt = this.#timing.now()
    this.#flushNow()
  }

  #flushNow(): void {
    if (this.#end !== undefined) return
    this.turns.pump(this.turnAt)
    this.outbox.flush()
    this.turns.wakeWaiting()
    if (this.#host.hasParked) this.#host.onRoom()
  }

  #checkControlBacklog(): void {
    const most = this.limits.socketBacklogBytes + this.limits.maxControlBacklogBytes
    if (this.outbox.backlog < most) return
    throw new ConnectionFault(ERROR.enhanceYourCalm, 'the peer does not read what it asks for', 'control backlog')
  }

  // --- Beginning and ending -----------------------------------------------------------------------------------------

  /** Sent once, and before any other frame (RFC 9113, section 3.4). */
  #greet(): void {
    if (this.#hasGreeted) return
    this.#hasGreeted = true
    putGreeting(this.outbox, this.#isServer ? 'server' : 'client', this.limits)
    const raise = this.limits.connectionWindowBytes - DEFAULT_WINDOW
    if (raise > 0) {
      this.#receiveWindow += raise
      putWindowUpdate(this.outbox, 0, raise)
    }
    this.touched()
  }

  #writeReset(stream: number, code: number): void {
    putReset(this.outbox, stream, code)
    this.touched()
  }

  #writeGoaway(lastStream: number, code: number, reason: string): void {
    this.#greet()
    putGoaway(this.outbox, lastStream, code, reason)
    this.touched()
  }

  #closeWhenIdle(): void {
    const isLast = this.#isServer ? this.#drainLimit !== MAX_WINDOW : this.#peerIsGoing
    if (isLast && this.streams.size === 0)
      setImmediate(() => this.streams.size === 0 && this.close(ERROR.none, 'drained'))
  }

  #turnAway(stranger: Stranger): void {
    const reason = STRANGER_REASON[stranger]
    if (stranger === 'tls') this.#greet() // the client then reports that this is not TLS, not a lost connection
    this.#end = { code: ERROR.protocol, reason, stranger }
    this.outbox.flush()
    this.#endSocket(stranger === 'http' ? (this.#host.http1Answer ?? '') : '')
    this.#dropStreams(reason)
  }

  #endSocket(last: string): void {
    const socket = this.#socket
    if (socket.destroyed) return
    // A server waits for the peer's end of the connection: if it destroys the socket earlier, the peer may lose bytes
    // that it has not read yet (the kernel answers unread input with RST). A client that closes expects no more bytes,
    // and its process should not have to wait for the server.
    if (this.#isServer) socket.end(last)
    else socket.end(() => socket.destroy())
    // A peer that reads nothing would keep the socket open forever.
    const cancel = this.#timing.after(1000, () => socket.destroy())
    socket.on('close', cancel)
  }

  #lost(reason: string): void {
    if (this.#end === undefined) {
      this.#end = { code: ERROR.none, reason }
      this.#dropStreams(reason)
    }
    this.outbox.abandon()
    this.#socket.destroy()
  }

  #dropStreams(reason: string): void {
    this.#patrol.end()
    for (const stream of [...this.streams.values()]) {
      this.#remove(stream)
      stream.receiver?.onReset(CONNECTION_LOST, reason)
    }
    this.#host.onClosed(this.#end as ConnectionEnd)
  }
}
