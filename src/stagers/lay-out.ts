import type { Digest } from '../base/digest.ts'
import { type FaultError, invalid } from '../base/fault.ts'
import type { InlineFile } from '../model/command.ts'
import type { CommandTaskInputs, PlacedFile } from '../model/command-task.ts'
import type { Directory } from '../model/directory.ts'
import type { Stager } from './stager.ts'
import type { TreeStore } from './tree-store.ts'

/** An entry of a room, by its path from the root. The entries of a directory come after it. */
export type RoomItem =
  | { readonly kind: 'file' | 'tree'; readonly path: string; readonly location: string; readonly writable: boolean }
  | { readonly kind: 'text'; readonly path: string; readonly contents: string; readonly writable: boolean }
  | { readonly kind: 'directory'; readonly path: string; readonly writable: boolean }

export interface LayOutTools {
  readonly stager: Stager
  readonly trees: TreeStore
  /** The limit for files of writable directories, which are placed one by one; default 10,000. */
  readonly mostWritable?: number
}

/** Longer texts go to the store: a task is kept in the journal as it is. */
const INLINE_BYTES = 16 * 1024
const MOST_WRITABLE = 10_000

/** Makes the inputs of a task from the entries of its room: files by digest, directories as parts of one tree. */
export async function layOut(items: readonly RoomItem[], tools: LayOutTools): Promise<CommandTaskInputs> {
  const { stager, trees, mostWritable = MOST_WRITABLE } = tools
  const placed: PlacedFile[] = []
  const files: InlineFile[] = []
  const tree = new Level()
  const copyOut = async (digest: Digest, path: string): Promise<void> => {
    const directory = await trees.directory(digest)
    if (directory === undefined) throw gone(path)
    tree.make(path)
    for (const { name, digest: blob, executable } of directory.files)
      placed.push({ path: `${path}/${name}`, digest: blob, executable, writable: true })
    if (placed.length > mostWritable) throw invalid(`more than ${mostWritable} files are to be writable`, 'range')
    for (const { name, digest: below } of directory.directories) await copyOut(below, `${path}/${name}`)
  }
  for (const item of items) {
    const { kind, path, writable } = item
    if (kind === 'directory') tree.make(path)
    else if (kind === 'text') {
      const contents = Buffer.from(item.contents)
      if (contents.length <= INLINE_BYTES) files.push({ path, contents, executable: false })
      else placed.push({ path, digest: await trees.put(contents), executable: false, writable })
    } else {
      const node = await stager.find(item.location)
      if (node === undefined) throw gone(item.location)
      if (node.kind === 'file') placed.push({ path, digest: node.digest, executable: node.executable, writable })
      else if (writable) await copyOut(node.digest, path)
      else tree.mount(path, node.digest)
    }
  }
  mustDiffer([...files, ...placed])
  return { root: tree.isEmpty ? undefined : await tree.put(trees), files, placed }
}

const gone = (what: string): FaultError => invalid(`${what} is not there`)

function mustDiffer(files: readonly { readonly path: string }[]): void {
  const seen = new Set<string>()
  for (const { path } of files) {
    if (seen.has(path)) throw invalid(`two inputs have the path ${path}`)
    seen.add(path)
  }
}

/** A directory that is being put together: made here, or one of the store hung in as it is. */
class Level {
  readonly #below = new Map<string, Level | Digest>()

  get isEmpty(): boolean {
    return this.#below.size === 0
  }

  make(path: string): void {
    this.#descend(path.split('/'), path)
  }

  mount(path: string, digest: Digest): void {
    const names = path.split('/')
    const level = this.#descend(names.slice(0, -1), path)
    const name = names.at(-1) ?? ''
    if (level.#below.has(name)) throw invalid(`two inputs have the path ${path}`)
    level.#below.set(name, digest)
  }

  #descend(names: readonly string[], path: string): Level {
    let level: Level = this
    for (const name of names) {
      const next = level.#below.get(name) ?? new Level()
      if (!(next instanceof Level)) throw invalid(`${path} is inside a directory that is itself an input`)
      level.#below.set(name, next)
      level = next
    }
    return level
  }

  async put(trees: TreeStore): Promise<Digest> {
    const directories: Directory['directories'][number][] = []
    for (const [name, below] of this.#below)
      directories.push({ name, digest: below instanceof Level ? await below.put(trees) : below })
    return trees.putDirectory({ files: [], directories, symlinks: [], properties: undefined })
  }
}
