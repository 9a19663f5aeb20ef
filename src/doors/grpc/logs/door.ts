import type { Clock } from '../../../base/clock.ts'
import { FaultError, invalid } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import type { Incoming, Outgoing, ServerCall, Service } from '../../../grpc/service.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import type { OperationLogs as LogNames } from '../../../services/execution/execution-tools.ts'
import { findOperation } from '../../../services/execution/follow-operation.ts'
import type { Instances } from '../../../services/instances/instances.ts'
import {
  absentLog,
  type CreatedLogLimits,
  type CreatedLogs,
  createdLogs,
  DEFAULT_LOG_LIMITS,
} from '../../../services/logs/created-logs.ts'
import type { LogTape } from '../../../services/logs/log-tape.ts'
import { type ReadRequest, readWriteRequest, type WriteRequest } from '../../../wire/hot/byte-stream.ts'
import { createLogStreamFromProto, logStreamToProto } from '../../../wire/reapi/log-stream.ts'
import { type LogName, operationLogNames, parseLogName } from '../../../wire/reapi/operation-name.ts'
import { reportingFaults } from '../report-faults.ts'
import { type Audience, audience, leftOut } from './audience.ts'
import { streamOutput } from './operation-output.ts'

/** Logs by their ByteStream names: the output of operations, and logs that clients created. */
export interface LogStreams {
  /** Undefined for a text that is not the name of a log. */
  nameOf(resourceName: string): LogName | undefined
  /** Sends the log until it has ended. */
  read(name: LogName, request: ReadRequest, to: Pick<Reader, 'out' | 'call'>): Promise<void>
  /** Returns the number of bytes that were written in all. */
  write(name: LogName, first: WriteRequest, rest: Incoming): Promise<number>
  written(name: LogName): { readonly committed: number; readonly isComplete: boolean }
  /** The names of an operation's logs, for the execution door. */
  readonly namesFor: LogNames
  readonly services: readonly Service[]
}

interface Reader {
  readonly out: Outgoing
  readonly call: ServerCall
}

export interface LogStreamsOptions {
  readonly engine: Engine
  readonly instances: Instances
  readonly clock: Clock
  /** Returns names that cannot be guessed. */
  readonly newId: () => string
  /** Aborts when the server is about to stop: readers get UNAVAILABLE and reconnect. */
  readonly ending?: AbortSignal
  readonly limits?: Partial<CreatedLogLimits>
}

const NEVER = new AbortController().signal

export function logStreams(options: LogStreamsOptions): LogStreams {
  const { clock, newId, ending = NEVER, instances } = options
  const logs = createdLogs({ clock, newId, limits: { ...DEFAULT_LOG_LIMITS, ...options.limits } })
  const service: Service = {
    name: 'build.bazel.remote.logstream.v1.LogStreamService',
    methods: {
      CreateLogStream: {
        kind: 'unary',
        handle(bytes) {
          const parent = createLogStreamFromProto(bytes)
          instances(parent) // throws for an instance that is not served here
          return logStreamToProto(logs.create(parent))
        },
      },
    },
  }
  return {
    nameOf: parseLogName,
    async read(name, { offset, limit }, { out, call }) {
      const to = audience({ out, call, limit, ending })
      try {
        if (isStream(name.id) && name.token === undefined)
          await streamOutput(
            await operationOf(name, options.engine),
            { stream: name.id, offset },
            { to, tools: options },
          )
        else await sendTape(logs.toRead(name), offset, to)
      } finally {
        to.leave()
      }
    },
    write: (name, first, rest) => write(logs, { name, first, rest }),
    written(name) {
      const { tape } = logs.toWrite(name)
      return { committed: tape.size, isComplete: tape.isEnded }
    },
    namesFor: operationLogNames,
    services: [reportingFaults(service)],
  }
}

const isStream = (id: string): id is 'stdout' | 'stderr' => id === 'stdout' || id === 'stderr'

async function operationOf({ parents, id }: LogName, engine: Engine): Promise<OperationStatus> {
  for (const parent of parents) {
    try {
      return await findOperation(parent, engine, LOCAL_CALLER)
    } catch (error) {
      if (!(error instanceof FaultError) || error.fault.kind !== 'absent') throw error
    }
  }
  throw absentLog(id)
}

/** Sends from an offset on, or from the oldest held byte. A slow reader is sent the number of bytes that it missed. */
async function sendTape(tape: LogTape, offset: number, to: Audience): Promise<void> {
  if (offset > tape.size) throw invalid(`read_offset ${offset} is past the end of ${tape.size} bytes`, 'range')
  if (offset > 0 && offset < tape.start) throw invalid(`byte ${offset} is no longer kept`, 'range')
  const stopListening = tape.listen(to.wake)
  try {
    for (let at = offset; ; ) {
      const piece = tape.read(at)
      if (piece === undefined && tape.isEnded) return
      if (piece === undefined) {
        await to.more()
        continue
      }
      if (piece.at > at && !(await to.send(leftOut(piece.at - at)))) return
      if (!(await to.send(piece.bytes))) return
      at = piece.at + piece.bytes.length
    }
  } finally {
    stopListening()
  }
}

interface Writing {
  readonly name: LogName
  readonly first: WriteRequest
  readonly rest: Incoming
}

/** A writer whose stream breaks off, or ends without finish_write, may resume at its offset. */
async function write(logs: CreatedLogs, { name, first, rest }: Writing): Promise<number> {
  const { tape, append } = logs.toWrite(name)
  for (let request: WriteRequest | undefined = first; request !== undefined; ) {
    const { resourceName, offset, data, finish } = request
    if (resourceName !== '' && resourceName !== first.resourceName)
      throw invalid('the resource name differs from that of the first message')
    if (offset !== tape.size) throw invalid(`write_offset is ${offset}, but ${tape.size} bytes have been written`)
    if (tape.isEnded && data.length > 0) throw invalid('this log is finished')
    append(data)
    if (finish) {
      tape.end()
      break
    }
    const bytes = await rest.next()
    request = bytes && readWriteRequest(bytes)
  }
  return tape.size
}
