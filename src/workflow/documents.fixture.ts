import type { Fetch } from './loading/fetch.ts'
import { loadProcess } from './loading/load.ts'
import type { CommandLineTool, Process, Workflow } from './process/process.ts'
import type { Files } from './values/files.ts'

export const HOME = 'file:///home/'

/** Documents by name, in one folder. */
export const fetchFrom =
  (documents: Readonly<Record<string, string>>): Fetch =>
  async (uri) => {
    const text = documents[decodeURIComponent(uri.slice(HOME.length))]
    if (text === undefined) throw new Error('no such file')
    return text
  }

export const load = (documents: Readonly<Record<string, string>>, name = 'main.cwl'): Promise<Process> =>
  loadProcess(HOME + name, fetchFrom(documents))

export const loadText = (text: string): Promise<Process> => load({ 'main.cwl': text })

export async function loadTool(text: string): Promise<CommandLineTool> {
  const process = await loadText(text)
  if (process.class !== 'CommandLineTool') throw new Error(`${process.class} is not a tool`)
  return process
}

export async function loadWorkflow(text: string): Promise<Workflow> {
  const process = await loadText(text)
  if (process.class !== 'Workflow') throw new Error(`${process.class} is not a workflow`)
  return process
}

/** Files in memory, by absolute path; a path with entries below it is a directory. */
export function memoryFiles(contents: Readonly<Record<string, string>>): Files {
  const bytes = new Map(Object.entries(contents).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const pathOf = (location: string): string => decodeURIComponent(location.replace(/^file:\/\//, ''))
  const below = (path: string): string[] => [
    ...new Set(
      [...bytes.keys()]
        .filter((one) => one.startsWith(`${path}/`))
        .map((one) => one.slice(path.length + 1).split('/')[0] ?? ''),
    ),
  ]
  const stat: Files['stat'] = async (location) => {
    const path = pathOf(location)
    const file = bytes.get(path)
    if (file !== undefined) return { class: 'File', size: file.length }
    return below(path).length > 0 ? { class: 'Directory' } : undefined
  }
  return {
    stat,
    read: async (location, limit) => (bytes.get(pathOf(location)) ?? new Uint8Array()).subarray(0, limit),
    async list(location) {
      const path = pathOf(location)
      return below(path)
        .sort()
        .map((basename) => ({
          class: bytes.has(`${path}/${basename}`) ? 'File' : 'Directory',
          basename,
          location: `${location}/${encodeURIComponent(basename)}`,
        }))
    },
  }
}
