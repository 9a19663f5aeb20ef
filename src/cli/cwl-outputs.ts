import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { FaultError } from '../base/fault.ts'
import type { HttpBlobs } from '../client/submissions-blobs.ts'
import { deliver } from '../cwl-runner/deliver.ts'
import { addressOf } from '../cwl-runner/file-address.ts'
import type { LocalFiles } from '../cwl-runner/local-files.ts'
import { parseCasLocation } from '../model/cas-location.ts'
import { type DataValue, mapDataSlowly } from '../workflow/values/file-value.ts'
import type { Value, ValueRecord } from '../workflow/values/value.ts'

export interface Fetching {
  readonly blobs: HttpBlobs
  readonly outdir: string
  /** A folder of this run alone, by its real path. */
  readonly rooms: string
  readonly files: LocalFiles
}

/** Fetches the outputs of a run, and puts them where its owner wants them. */
export async function fetchOutputs(outputs: ValueRecord, fetching: Fetching): Promise<ValueRecord> {
  const { blobs, outdir, rooms, files } = fetching
  const here = new Map<string, Promise<string>>()
  const bring = async (location: string): Promise<string> => {
    const named = parseCasLocation(location)
    const folder = join(rooms, String(here.size))
    const path = join(folder, 'data')
    await mkdir(folder)
    if (named?.kind === 'file') await blobs.fetchFile(named.digest, path, named.executable)
    else if (named?.kind === 'tree' && named.path.length === 0) await blobs.fetchTree(named.digest, path)
    else throw new FaultError({ kind: 'unavailable', what: `the server names an output by ${location.slice(0, 200)}` })
    return addressOf(path)
  }
  const local = await mapDataSlowly(outputs, async (data: DataValue): Promise<Value> => {
    const { location } = data
    if (typeof location !== 'string') return data
    const coming = here.get(location) ?? bring(location)
    here.set(location, coming)
    return { ...data, location: await coming }
  })
  return deliver(local as ValueRecord, { outdir, rooms, files })
}
