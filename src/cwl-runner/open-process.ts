import { lstatSync } from 'node:fs'
import { resolve } from 'node:path'
import { invalid } from '../base/fault.ts'
import { expandFormats, type InputObject, readInputObject } from '../workflow/loading/input-object.ts'
import { loadProcess } from '../workflow/loading/load.ts'
import { checkProcess } from '../workflow/process/check.ts'
import type { Process } from '../workflow/process/process.ts'
import { withCallerRequirements } from '../workflow/process/requirement.ts'
import { hasScheme } from '../workflow/values/uri.ts'
import type { ValueRecord } from '../workflow/values/value.ts'
import { fetchLocal } from './files/fetch-local.ts'
import { fileAddress } from './files/file-address.ts'

/** The process and its inputs, loaded and checked. */
export interface OpenedProcess {
  readonly process: Process
  readonly inputs: ValueRecord
}

export interface NamedProcess {
  /** A path with or without a `#fragment`, or an address; or an input object that names its process by `cwl:tool`. */
  readonly process: string
  readonly job: string | undefined
  /** The base of relative paths. */
  readonly cwd: string
}

export async function openProcess({ process: named, job, cwd }: NamedProcess): Promise<OpenedProcess> {
  const jobAddress = job === undefined ? await jobInPlaceOfProcess(addressFor(named, cwd)) : addressFor(job, cwd)
  const given = jobAddress === undefined ? NO_INPUTS : await readInputObject(jobAddress, fetchLocal)
  const loaded = await loadProcess(given.tool ?? addressFor(named, cwd), fetchLocal)
  const process = withCallerRequirements(loaded, given.requirements)
  checkProcess(process)
  return { process, inputs: expandFormats(given.inputs, { ...process.namespaces, ...given.namespaces }) }
}

const NO_INPUTS: InputObject = { inputs: {}, requirements: [], namespaces: {} }

async function jobInPlaceOfProcess(address: string): Promise<string | undefined> {
  const text = await fetchLocal(address).catch((error: Error) => {
    throw invalid(`${address.replace(/^file:\/\//, '')}: ${error.message}`)
  })
  // Parses the document again only if it contains `cwl:tool` at all.
  if (!/^\W*cwl:tool\b/m.test(text)) return undefined
  return (await readInputObject(address, fetchLocal)).tool === undefined ? undefined : address
}

/** A `#` may also be part of a file name. */
export function addressFor(named: string, cwd: string): string {
  if (hasScheme(named)) return named
  const path = resolve(cwd, named)
  const hash = path.lastIndexOf('#')
  if (hash < 0 || lstatSync(path, { throwIfNoEntry: false }) !== undefined) return fileAddress(path)
  return `${fileAddress(path.slice(0, hash))}${path.slice(hash)}`
}
