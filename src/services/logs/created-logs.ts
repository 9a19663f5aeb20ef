import type { Clock } from '../../base/clock.ts'
import { FaultError, invalid } from '../../base/fault.ts'
import type { InstanceName } from '../../model/instance-name.ts'
import type { LogStreamNames } from '../../wire/reapi/log-stream.ts'
import { formatLogName, type LogName } from '../../wire/reapi/operation-name.ts'
import { LogTape } from './log-tape.ts'

export interface CreatedLogLimits {
  /** The maximum number of logs, and the bytes that are held of each. */
  readonly most: number
  readonly heldBytes: number
  /** How long a log is kept before its first write, between writes, and after its end. */
  readonly unwrittenMs: number
  readonly idleMs: number
  readonly finishedMs: number
}

const MINUTE_MS = 60_000

/** 64 MiB in all. */
export const DEFAULT_LOG_LIMITS: CreatedLogLimits = {
  most: 256,
  heldBytes: 256 * 1024,
  unwrittenMs: 10 * MINUTE_MS,
  idleMs: 60 * MINUTE_MS,
  finishedMs: 10 * MINUTE_MS,
}

interface Created {
  readonly parent: InstanceName
  readonly token: string
  readonly tape: LogTape
  touchedAt: number
}

/** Logs that clients write and other clients read. They are in memory only and are lost when the server stops. */
export interface CreatedLogs {
  create(parent: InstanceName): LogStreamNames
  /** Throws `absent` for an unknown name, and `invalid` for the name for writing. */
  toRead(name: LogName): LogTape
  toWrite(name: LogName): CreatedLog
}

export interface CreatedLog {
  readonly tape: LogTape
  append(bytes: Uint8Array): void
}

export interface CreatedLogsOptions {
  readonly clock: Clock
  /** Returns names that cannot be guessed. */
  readonly newId: () => string
  readonly limits: CreatedLogLimits
}

export function createdLogs({ clock, newId, limits }: CreatedLogsOptions): CreatedLogs {
  const logs = new Map<string, Created>()
  const drop = (id: string, { tape }: Created): void => {
    logs.delete(id)
    tape.end()
  }
  const dropWhenDue = (id: string, log: Created): void => {
    if (logs.get(id) !== log) return
    const leftMs = log.touchedAt + patienceFor(log.tape, limits) - clock.monotonic()
    if (leftMs <= 0) drop(id, log)
    else clock.after(Math.max(leftMs, 1), () => dropWhenDue(id, log))
  }
  const makeRoom = (): void => {
    if (logs.size < limits.most) return
    // Readers of a finished log have had time to read its end.
    const finished = [...logs].find(([, { tape }]) => tape.isEnded)
    if (finished === undefined)
      throw new FaultError({ kind: 'exhausted', resource: 'room for logs', retryAfterMs: MINUTE_MS })
    drop(...finished)
  }
  const found = ({ parents, id }: LogName): Created => {
    const log = logs.get(id)
    if (log === undefined || !parents.includes(log.parent)) throw absentLog(id)
    return log
  }
  return {
    create(parent) {
      makeRoom()
      const id = newId()
      const token = newId()
      const log = { parent, token, tape: new LogTape(limits.heldBytes), touchedAt: clock.monotonic() }
      logs.set(id, log)
      clock.after(Math.min(limits.unwrittenMs, limits.finishedMs, limits.idleMs), () => dropWhenDue(id, log))
      return { name: formatLogName(parent, id), writeName: formatLogName(parent, id, token) }
    },
    toRead(name) {
      if (name.token !== undefined) throw invalid('this log name can only be used for writing')
      return found(name).tape
    },
    toWrite(name) {
      if (name.token === undefined) throw invalid('this log name can only be used for reading')
      const log = found(name)
      if (log.token !== name.token) throw absentLog(name.id)
      return {
        tape: log.tape,
        append(bytes) {
          log.touchedAt = clock.monotonic()
          log.tape.append(bytes)
        },
      }
    },
  }
}

const patienceFor = ({ isEnded, size }: LogTape, { finishedMs, unwrittenMs, idleMs }: CreatedLogLimits): number =>
  isEnded ? finishedMs : size === 0 ? unwrittenMs : idleMs

export const absentLog = (name: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no log is named ${name.slice(0, 200)}` })
