import { join } from 'node:path'
import type { Digest } from '../../base/digest.ts'
import { FaultError } from '../../base/fault.ts'
import type { HttpBlobs } from '../../client/workflows/blobs.ts'
import { deliverOutputs } from '../../cwl-runner/deliver.ts'
import { fileAddress } from '../../cwl-runner/files/file-address.ts'
import type { LocalFiles } from '../../cwl-runner/files/local-files.ts'
import { parseCasLocation } from '../../model/cas-location.ts'
import { mapData } from '../../workflow/values/file-value.ts'
import type { ValueRecord } from '../../workflow/values/value.ts'
import { relocated } from './locations.ts'

export interface Fetching {
  readonly blobs: HttpBlobs
  /** The id of the run that made the outputs. */
  readonly submission: string
  readonly outdir: string
  /** A folder of this run alone, by its real path. */
  readonly rooms: string
  readonly files: LocalFiles
}

/** Fetches the outputs of a run into the user's output directory. */
export async function fetchOutputs(outputs: ValueRecord, fetching: Fetching): Promise<ValueRecord> {
  const { blobs, submission, outdir, rooms, files } = fetching
  const small = await blobs.fetchSmall(submission, filesIn(outputs), rooms)
  let brought = 0
  const bring = async (location: string): Promise<string> => {
    const named = parseCasLocation(location)
    const before = named?.kind === 'file' && !named.executable ? small.get(named.digest.hash) : undefined
    if (before !== undefined) return fileAddress(before)
    const path = join(rooms, String(++brought))
    if (named?.kind === 'file') await blobs.fetchFile(named.digest, path, named.executable)
    else if (named?.kind === 'tree' && named.path.length === 0) await blobs.fetchTree(named.digest, path)
    else throw new FaultError({ kind: 'unavailable', what: `the server names an output by ${location.slice(0, 200)}` })
    return fileAddress(path)
  }
  const local = await relocated(outputs, bring)
  return deliverOutputs(local, { outdir, rooms, files })
}

/** Executable files are not included: they keep their mode. */
function filesIn(outputs: ValueRecord): readonly Digest[] {
  const found: Digest[] = []
  mapData(outputs, (data) => {
    const named = typeof data.location === 'string' ? parseCasLocation(data.location) : undefined
    if (named?.kind === 'file' && !named.executable) found.push(named.digest)
    return data
  })
  return found
}
