import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultError } from '../../../base/fault.ts'
import type { Loaded, StepNote, StoredEnd, StoredRequest, WorkflowStore } from './workflow-store.ts'

const ORDER = 'order.json'
const NOTES = 'steps.jsonl'
const END = 'end.json'
/** An id becomes the name of a folder. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/

/**
 * One folder per run: the request, one line for each finished step, and at the end the result. Files are written
 * atomically. After a crash the last line may be incomplete, and is then ignored.
 */
export function fileWorkflowStore(folder: string): WorkflowStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const notes = new Map<string, WriteStream>()
  const folderOf = (id: string): string => {
    if (!ID.test(id)) throw new FaultError({ kind: 'bug', what: `${JSON.stringify(id)} is no id of a submission` })
    return join(folder, id)
  }
  const closeNotes = (id: string): Promise<void> =>
    new Promise((resolve) => {
      const stream = notes.get(id)
      notes.delete(id)
      if (stream === undefined) resolve()
      else stream.end(() => resolve())
    })
  return {
    async add(stored) {
      const at = folderOf(stored.head.id)
      await mkdir(at, { mode: 0o700 })
      await writeWhole(at, ORDER, { value: stored, isSynced: true })
      await syncFolder(folder)
    },
    note(id, note) {
      const stream = notes.get(id) ?? createWriteStream(join(folderOf(id), NOTES), { flags: 'a' })
      // When the disk is full the lines are lost, but the run continues: the journal has the same information.
      if (!notes.has(id)) stream.on('error', () => {})
      notes.set(id, stream)
      stream.write(`${JSON.stringify(note)}\n`)
    },
    async end(id, ended) {
      await writeWhole(folderOf(id), END, { value: ended, isSynced: false })
      await closeNotes(id)
      await rm(join(folderOf(id), NOTES), { force: true })
    },
    load: () => loadAll(folder),
    async ended(id) {
      return ID.test(id) ? readJson<StoredEnd>(join(folderOf(id), END)) : undefined
    },
    async remove(id) {
      if (!ID.test(id)) return
      await closeNotes(id)
      await rm(folderOf(id), { recursive: true, force: true })
    },
    async close() {
      await Promise.all([...notes.keys()].map(closeNotes))
    },
  }
}

interface Whole {
  readonly value: unknown
  readonly isSynced: boolean
}

async function writeWhole(folder: string, name: string, { value, isSynced }: Whole): Promise<void> {
  const draft = join(folder, `${name}.draft`)
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(value))
    if (isSynced) await file.datasync()
  } finally {
    await file.close()
  }
  await rename(draft, join(folder, name))
  if (isSynced) await syncFolder(folder)
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function loadAll(folder: string): Promise<Loaded> {
  const opened: (StoredRequest & { notes: readonly StepNote[] })[] = []
  const over: Pick<StoredEnd, 'head' | 'end'>[] = []
  for (const id of (await readdir(folder)).filter((name) => ID.test(name))) {
    const ended = await readJson<StoredEnd>(join(folder, id, END))
    const stored = ended === undefined ? await readJson<StoredRequest>(join(folder, id, ORDER)) : undefined
    if (ended !== undefined) over.push({ head: ended.head, end: ended.end })
    else if (stored === undefined)
      await rm(join(folder, id), { recursive: true, force: true }) // the request was not acknowledged
    else opened.push({ ...stored, notes: await readNotes(join(folder, id, NOTES)) })
  }
  const byAge = (one: { head: { createdAt: number } }, other: { head: { createdAt: number } }): number =>
    one.head.createdAt - other.head.createdAt
  return { open: opened.sort(byAge), over: over.sort(byAge) }
}

async function readNotes(path: string): Promise<readonly StepNote[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').flatMap((line): StepNote[] => {
    try {
      return line === '' ? [] : [JSON.parse(line) as StepNote]
    } catch {
      return []
    }
  })
}
