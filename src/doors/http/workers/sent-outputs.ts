import { invalid } from '../../../base/fault.ts'
import type { CommandTaskOutputs } from '../../../model/command-task.ts'
import { mustBePath, STREAMS_FOLDER } from '../../../wire/tasks/command-task-rules.ts'

/** An output whose content the worker sent with the report of the end. */
export interface ReceivedFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly executable: boolean
}

export interface SentOutputs {
  readonly files: readonly ReceivedFile[]
  /** Whether there are outputs without content. */
  readonly hasOthers: boolean
}

type Allowed = Pick<CommandTaskOutputs, 'mostFiles' | 'mostBytes'>
type Said = Readonly<Record<string, unknown>>

/** The position of an output: its folder, and its default name. */
interface Place {
  readonly folder: string
  readonly name: string
  readonly depth: number
}

const DEEPEST = 32

/** The files in the outputs of a worker: File literals, in lists, and in listings of directories. */
export function sentOutputs(outputs: Said, allowed: Allowed): SentOutputs {
  const taken = takenFiles(allowed)
  let hasOthers = false
  const look = (value: unknown, place: Place): void => {
    if (place.depth > DEEPEST) throw invalid('outputs: directories are nested too deeply')
    const depth = place.depth + 1
    if (Array.isArray(value)) for (const one of value) look(one, { ...place, depth })
    else if (!isRecord(value)) hasOthers = true
    else if (value.class === 'Directory' && Array.isArray(value.listing))
      for (const one of value.listing) look(one, { folder: pathOf(value, place), name: 'file', depth })
    else if (value.class === 'File' && typeof value.contents === 'string')
      taken.add({ path: pathOf(value, place), bytes: contentOf(value), executable: value.executable === true })
    else hasOthers = true
  }
  for (const [name, value] of Object.entries(outputs)) look(value, { folder: '', name, depth: 0 })
  return { files: taken.files(), hasOthers }
}

function takenFiles({ mostFiles, mostBytes }: Allowed) {
  const files = new Map<string, ReceivedFile>()
  let bytes = 0
  return {
    files: () => [...files.values()],
    add(file: ReceivedFile): void {
      mustBeOutput(file.path)
      if (files.has(file.path)) throw invalid(`outputs: ${quoted(file.path)} comes twice`)
      files.set(file.path, file)
      bytes += file.bytes.length
      if (files.size > mostFiles) throw invalid(`outputs: more than ${mostFiles} files`, 'range')
      if (bytes > mostBytes) throw invalid(`outputs: more than ${mostBytes} bytes`, 'range')
    },
  }
}

const isRecord = (value: unknown): value is Said => typeof value === 'object' && value !== null

/** The path from the working directory, or the base name, or the name of the output. */
function pathOf({ path, basename }: Said, { folder, name }: Place): string {
  const own = typeof basename === 'string' && basename !== '' ? basename : name
  if (folder !== '') return `${folder}/${own}`
  return typeof path === 'string' && path !== '' && !path.startsWith('/') ? path : own
}

const contentOf = ({ contents, encoding }: Said): Uint8Array =>
  Buffer.from(String(contents), encoding === 'base64' ? 'base64' : 'utf8')

function mustBeOutput(path: string): void {
  mustBePath(path, 'output')
  if (path === STREAMS_FOLDER || path.startsWith(`${STREAMS_FOLDER}/`))
    throw invalid(`outputs: ${quoted(path)} is a reserved name`)
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200))
