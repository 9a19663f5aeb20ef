import { invalid } from '../../base/fault.ts'
import type { InputUploads } from '../../client/workflows/upload.ts'
import { fetchLocal } from '../../cwl-runner/files/fetch-local.ts'
import { pathOfAddress } from '../../cwl-runner/files/file-address.ts'
import type { LocalFiles } from '../../cwl-runner/files/local-files.ts'
import type { OpenedProcess } from '../../cwl-runner/open-process.ts'
import { fileLocation, treeLocation } from '../../model/cas-location.ts'
import { bindInputs } from '../../workflow/binding/bind-inputs.ts'
import { evaluatorFor } from '../../workflow/expressions/evaluate.ts'
import type { Expressions } from '../../workflow/expressions/expressions.ts'
import { packProcess } from '../../workflow/packing/pack.ts'
import { NO_SCOPE, scopeOf } from '../../workflow/process/requirement.ts'
import { loadOntology } from '../../workflow/run/ontologies.ts'
import { type DataValue, isFile } from '../../workflow/values/file-value.ts'
import { basenameOf } from '../../workflow/values/uri.ts'
import { isList, type ValueRecord } from '../../workflow/values/value.ts'
import { relocated } from './locations.ts'

/** The data that a server needs to run a process: local files are replaced by the digests they were uploaded as. */
export interface PackedRequest {
  readonly workflow: ValueRecord
  readonly inputs: ValueRecord
  readonly schemas: Readonly<Record<string, string>>
}

export interface Packing {
  readonly files: LocalFiles
  readonly uploads: InputUploads
  readonly expressions: Expressions
}

/**
 * Completes the inputs while the local files are available, including secondary files, and uploads them and the
 * defaults in the documents.
 */
export async function packRequest(
  { process: opened, inputs }: OpenedProcess,
  packing: Packing,
): Promise<PackedRequest> {
  const { files, expressions } = packing
  const scope = scopeOf(NO_SCOPE, opened)
  const ontology = await loadOntology(opened, fetchLocal)
  const bound = await bindInputs(opened, inputs, {
    scope,
    evaluator: evaluatorFor(expressions, scope, opened.version),
    files,
    discover: true,
    ...(ontology === undefined ? {} : { ontology }),
  })
  const workflow = packProcess(opened)
  const send = (value: ValueRecord): Promise<ValueRecord> =>
    relocated(value, (location, data) => sentLocation(data, location, packing), atServer)
  return { workflow: await send(workflow), inputs: await send(bound), schemas: await schemasOf(workflow) }
}

/** The file at the location is authoritative; it is read again where it is needed. */
function atServer(data: DataValue, to: string): DataValue {
  const { contents: _, listing: __, path: ___, dirname: ____, ...rest } = data
  const basename = typeof data.basename === 'string' ? data.basename : basenameOf(String(data.location))
  return { ...rest, basename, location: to } as DataValue
}

async function sentLocation(data: DataValue, location: string, { files, uploads }: Packing): Promise<string> {
  const path = pathOfAddress(location)
  if (path === undefined) throw invalid(`${location} is not a file of this machine`, 'unsupported')
  const looked = files.look(path)
  if (looked === undefined) throw invalid(`${path} is not there`)
  if (looked.stats.isDirectory() !== (data.class === 'Directory')) throw invalid(`${path} is not a ${data.class}`)
  if (!isFile(data)) return treeLocation(await uploads.directory(looked.real))
  const { digest, executable } = await uploads.file(looked.real)
  return fileLocation(digest, executable)
}

async function schemasOf({ $schemas }: ValueRecord): Promise<Readonly<Record<string, string>>> {
  const texts: [string, string][] = []
  for (const address of isList($schemas) ? $schemas : []) {
    // A missing ontology only makes format checks stricter, here as on the server.
    const text = typeof address === 'string' ? await fetchLocal(address).catch(() => undefined) : undefined
    if (typeof address === 'string' && text !== undefined) texts.push([address, text])
  }
  return Object.fromEntries(texts)
}
