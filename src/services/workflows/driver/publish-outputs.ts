import { invalid } from '../../../base/fault.ts'
import type { Stager } from '../../../stagers/stager.ts'
import { BLOB_STORE } from '../../../stagers/stager.ts'
import type { TreeStore } from '../../../stagers/tree-store.ts'
import { type DataValue, isFile, mapDataSlowly } from '../../../workflow/values/file-value.ts'
import type { Value, ValueRecord } from '../../../workflow/values/value.ts'

/** The outputs of a run for clients: each file by its own digest, and literals stored as files. */
export const publishOutputs = async (
  outputs: ValueRecord,
  tools: { readonly stager: Stager; readonly trees: TreeStore },
): Promise<ValueRecord> => (await mapDataSlowly(outputs, (data) => published(data, tools))) as ValueRecord

async function published(
  data: DataValue,
  { stager, trees }: { readonly stager: Stager; readonly trees: TreeStore },
): Promise<Value> {
  const { path: _, dirname: __, ...rest } = data
  if (typeof data.location !== 'string') {
    if (!isFile(data) || typeof data.contents !== 'string') return rest
    const { contents, ...named } = rest
    const digest = await trees.put(Buffer.from(String(contents)))
    const location = await stager.put({ kind: 'file', digest, executable: false }, BLOB_STORE)
    return { ...named, location, size: digest.size }
  }
  const node = await stager.find(data.location)
  if (node === undefined) throw invalid(`${data.location} is not there any more`)
  const location = await stager.put(node, BLOB_STORE)
  return node.kind === 'directory' ? { ...rest, location } : { ...rest, location, size: node.digest.size }
}
