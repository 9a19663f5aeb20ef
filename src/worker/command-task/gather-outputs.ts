import { join, posix } from 'node:path'
import { type FaultError, invalid } from '../../base/fault.ts'
import type { CommandTaskOutputs } from '../../model/command-task.ts'
import { STREAMS_FOLDER } from '../../wire/tasks/command-task-rules.ts'
import type { Collecting } from '../outputs/collecting.ts'
import { isExecutable } from '../outputs/output-properties.ts'
import type { Node } from '../outputs/room-files.ts'
import type { Found } from './outputs-tree.ts'

/** Of all names together: a list of them travels in the result. */
const MOST_PATH_CHARS = 1024 * 1024

/**
 * Takes what lies at paths, with all that is in it. `path` is always from the working directory, as it will be told;
 * where it really is may be another place of the room, when a link was followed.
 */
export class OutputGathering {
  readonly found = new Map<string, Found>()
  readonly #collecting: Collecting
  readonly #wanted: CommandTaskOutputs
  #files = 0
  #chars = 0

  constructor(collecting: Collecting, wanted: CommandTaskOutputs) {
    this.#collecting = collecting
    this.#wanted = wanted
  }

  /** `within` are the real directories that it was found in by way of directories taken: none may hold itself. */
  async take(path: string, node: Node, within: readonly string[] = []): Promise<void> {
    if (this.found.has(path)) return
    if (path === STREAMS_FOLDER || path.startsWith(`${STREAMS_FOLDER}/`)) throw refused(path, 'has a name that is ours')
    if (node.kind === 'symlink') await this.#symlink(path, node, within)
    else if (node.kind === 'file') {
      this.#count(path)
      const digest = await this.#collecting.addFile(node, path)
      this.found.set(path, { kind: 'file', digest, executable: isExecutable(node.stats) })
    } else await this.#directory(path, node, within)
  }

  async #directory(path: string, { real }: Node, within: readonly string[]): Promise<void> {
    const { files, count, signal } = this.#collecting
    if (within.includes(real)) throw refused(path, 'holds itself by way of a symlink')
    signal.throwIfAborted()
    this.found.set(path, { kind: 'directory' })
    this.#countName(path)
    const names = files.namesIn(real, path)
    count(names.length)
    for (const name of names) {
      const inside = `${path}/${name}`
      const node = files.at(join(real, name), inside)
      if (node !== undefined) await this.take(inside, node, [...within, real])
    }
  }

  async #symlink(path: string, { real, target }: SymlinkNode, within: readonly string[]): Promise<void> {
    const { symlinks } = this.#wanted
    if (symlinks === 'refuse') throw refused(path, 'is a symlink')
    if (symlinks === 'keep') {
      const end = posix.join(posix.dirname(path), target)
      if (target.startsWith('/') || end === '..' || end.startsWith('../'))
        throw refused(path, 'is a symlink that leads out of the outputs')
      this.#count(path)
      this.found.set(path, { kind: 'symlink', target })
      return
    }
    const node = this.#collecting.files.follow(real, path)
    if (node === undefined) throw refused(path, 'is a symlink that leads nowhere, or out of the room')
    await this.take(path, node, within)
  }

  #count(path: string): void {
    const { mostFiles } = this.#wanted
    if (++this.#files > mostFiles) throw invalid(`the outputs are more than ${mostFiles} files`, 'range')
    this.#countName(path)
  }

  #countName(path: string): void {
    this.#chars += path.length
    if (this.#chars > MOST_PATH_CHARS) throw invalid('the names of the outputs are too long together', 'range')
  }
}

type SymlinkNode = Extract<Node, { kind: 'symlink' }>

const refused = (path: string, what: string): FaultError =>
  invalid(`the output ${JSON.stringify(path.slice(0, 200))} ${what}`)
