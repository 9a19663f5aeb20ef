import { invalid } from '../../../base/fault.ts'
import type { Stager } from '../../../stagers/stager.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'
import type { Entry, Files } from '../../../workflow/values/files.ts'
import { escapePath } from '../../../workflow/values/uri.ts'

/** The files of a workflow on the server: those in the store of its instance, and none of the machine's own. */
export const casFiles = (stager: Stager, trees: TreeStore): Files => ({
  async stat(location) {
    const node = await stager.find(location)
    if (node === undefined) return undefined
    return node.kind === 'file' ? { class: 'File', size: node.digest.size } : { class: 'Directory' }
  },
  async read(location, limit) {
    const node = await stager.find(location)
    const bytes = node?.kind === 'file' ? await trees.read(node.digest, limit) : undefined
    if (bytes === undefined) throw invalid(`${location} is not there`)
    return bytes
  },
  async list(location) {
    const node = await stager.find(location)
    const directory = node?.kind === 'directory' ? await trees.directory(node.digest) : undefined
    if (directory === undefined) throw invalid(`${location} is not there`)
    const folder = location.replace(/\/+$/, '')
    const entry = (kind: Entry['class'], basename: string): Entry => ({
      class: kind,
      basename,
      location: `${folder}/${escapePath(basename)}`,
    })
    return [
      ...directory.files.map(({ name }) => entry('File', name)),
      ...directory.directories.map(({ name }) => entry('Directory', name)),
    ].sort((one, other) => Buffer.compare(Buffer.from(one.basename), Buffer.from(other.basename)))
  },
})
