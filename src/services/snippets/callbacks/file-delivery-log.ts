import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { FaultError } from '../../../base/fault.ts'
import { type CallbackDelivery, DELIVERY_ENDS, type DeliveryLog, memoryDeliveryLog } from './delivery-log.ts'

/**
 * A file with one line of JSON per event. A line is durable when its call resolves: lines that arrive during an fsync
 * share the next one. The file is rewritten without old settled entries when it is opened, and when it exceeds
 * `rewriteBytes`. An incomplete last line after a crash is dropped: its call never resolved.
 */
export async function fileDeliveryLog(path: string, { rewriteBytes = 16 * 1024 * 1024 } = {}): Promise<DeliveryLog> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }) // it contains the callback URLs of users
  const memory = memoryDeliveryLog()
  const known = new Set<string>()
  for (const line of linesOf(await readIfThere(path))) {
    known.add(line.task)
    await take(memory, line)
  }
  const file = appendedFile(path, rewriteBytes, () => {
    for (const task of known) if (memory.of(task) === undefined) known.delete(task)
    return [...known].flatMap((task) => linesFor(memory.of(task)))
  })
  await file.rewrite().catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noSpace(error) : error
  })
  const both = async (line: Line): Promise<void> => {
    known.add(line.task)
    await take(memory, line)
    await file.append(line)
  }
  return {
    ...memory,
    owe: (task, at) => both({ kind: 'owed', task, at }),
    tried: (task, { status, problem, ...rest }) =>
      both({ kind: 'tried', task, ...rest, ...(status !== undefined && { status }), ...(problem && { problem }) }),
    settle: (task, how, at) => both({ kind: 'settled', task, how, at }),
    drop: (task) => both({ kind: 'dropped', task }),
    close: () => file.close(),
  }
}

const time = z.number()
const LINE = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('owed'), task: z.string(), at: time }),
  z.object({
    kind: z.literal('tried'),
    task: z.string(),
    at: time,
    ms: z.number(),
    status: z.number().optional(),
    problem: z.string().optional(),
  }),
  z.object({ kind: z.literal('settled'), task: z.string(), at: time, how: z.enum(DELIVERY_ENDS) }),
  z.object({ kind: z.literal('dropped'), task: z.string() }),
])
type Line = z.infer<typeof LINE>

function take(log: DeliveryLog, line: Line): Promise<void> {
  switch (line.kind) {
    case 'owed':
      return log.owe(line.task, line.at)
    case 'tried':
      return log.tried(line.task, { at: line.at, ms: line.ms, status: line.status, problem: line.problem })
    case 'settled':
      return log.settle(line.task, line.how, line.at)
    case 'dropped':
      return log.drop(line.task)
  }
}

function linesFor(delivery: CallbackDelivery | undefined): Line[] {
  if (delivery === undefined) return []
  const { task, owedAt, state, settledAt, tries } = delivery
  return [
    { kind: 'owed', task, at: owedAt },
    ...tries.map(
      ({ status, problem, ...rest }): Line => ({
        kind: 'tried',
        task,
        ...rest,
        ...(status !== undefined && { status }),
        ...(problem !== undefined && { problem }),
      }),
    ),
    ...(state === 'pending' ? [] : [{ kind: 'settled', task, how: state, at: settledAt ?? owedAt } as const]),
  ]
}

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((each) => {
    try {
      const line = LINE.safeParse(JSON.parse(each))
      return line.success ? [line.data] : []
    } catch {
      return []
    }
  })
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

interface AppendedFile {
  append(line: Line): Promise<void>
  rewrite(): Promise<void>
  close(): Promise<void>
}

const textOf = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

function appendedFile(path: string, rewriteBytes: number, whole: () => readonly Line[]): AppendedFile {
  let file: FileHandle | undefined
  let waiting: { line: Line; resolve: () => void; reject: (error: unknown) => void }[] = []
  let last: Promise<void> = Promise.resolve()
  let size = 0
  let sizeThen = 0

  const rewriteNow = async (): Promise<void> => {
    const text = textOf(whole())
    const next = `${path}.new`
    await rm(next, { force: true })
    const fresh = await open(next, 'ax', 0o600)
    await fresh.write(text)
    await fresh.sync()
    await rename(next, path)
    await file?.close()
    file = fresh
    size = sizeThen = Buffer.byteLength(text)
  }
  const flush = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      if (file === undefined) throw new Error('the delivery log is closed')
      const text = textOf(batch.map(({ line }) => line))
      await file.write(text)
      await file.datasync()
      size += Buffer.byteLength(text)
      if (size > rewriteBytes && size > 4 * sizeThen) await rewriteNow()
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(notWritten(error))
    }
  }
  const queued = (act: () => Promise<void>): Promise<void> => {
    const done = last.then(act)
    last = done.catch(() => {})
    return done
  }
  return {
    append: (line) =>
      new Promise((resolve, reject) => {
        waiting.push({ line, resolve, reject })
        if (waiting.length === 1) void queued(flush)
      }),
    rewrite: () => queued(rewriteNow),
    close: () =>
      queued(async () => {
        await flush()
        await file?.close()
        file = undefined
      }),
  }
}

const notWritten = (error: unknown): FaultError =>
  new FaultError({ kind: 'unavailable', what: 'the log of callbacks cannot be written' }, error)

const noSpace = (error: unknown): FaultError =>
  new FaultError(
    { kind: 'exhausted', resource: 'disk space for the log of callbacks', retryAfterMs: 60_000, why: 'disk' },
    error,
  )
