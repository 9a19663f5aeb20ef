import type { Requirement } from '../process/process.ts'
import type { Version } from '../process/version.ts'
import { mapData } from '../values/file-value.ts'
import { problem } from '../values/place.ts'
import { resolveUri } from '../values/uri.ts'
import { isRecord, type ValueRecord } from '../values/value.ts'
import { expandDirectives } from './directives.ts'
import { documentsFrom } from './documents.ts'
import type { Fetch } from './fetch.ts'
import { mapOf, mayHave, table } from './fields.ts'
import { normaliseRecord } from './normalise.ts'
import { anyRequirement } from './process-fields.ts'
import { resolveLocations } from './read-default.ts'
import { readRequirements } from './read-requirement.ts'

export interface InputObject {
  readonly inputs: ValueRecord
  /** `cwl:requirements`: requirements that the caller adds to the process. */
  readonly requirements: readonly Requirement[]
  /** `cwl:tool`: the process that the inputs are for. */
  readonly tool?: string
  readonly namespaces: Readonly<Record<string, string>>
}

/** Reads an input object: makes locations absolute and separates the `cwl:` fields. */
export async function readInputObject(uri: string, fetch: Fetch): Promise<InputObject> {
  const value = await documentsFrom(fetch, expandDirectives).expanded(uri, undefined)
  if (value === null) return inputObjectOf({}, uri)
  if (!isRecord(value)) throw problem({ uri, line: 1, column: 1 }, 'an input object must be a record')
  return inputObjectOf(value, uri)
}

const extras = table('an input object', { 'cwl:requirements': mayHave(mapOf(() => anyRequirement, 'class')) })

function inputObjectOf(value: ValueRecord, uri: string, version: Version = 13): InputObject {
  const { $namespaces, $schemas: _, 'cwl:tool': tool, 'cwl:requirements': requirements, ...rest } = value
  const spaces = isRecord($namespaces) ? Object.entries($namespaces) : []
  const namespaces = Object.fromEntries(spaces.flatMap(([key, to]) => (typeof to === 'string' ? [[key, to]] : [])))
  const rules = { version, namespaces: new Map(Object.entries(namespaces)) }
  const listed = normaliseRecord({ 'cwl:requirements': requirements ?? [] }, extras, rules)['cwl:requirements']
  return {
    inputs: resolveLocations(rest as ValueRecord, uri) as ValueRecord,
    requirements: readRequirements(listed, rules),
    ...(typeof tool === 'string' ? { tool: resolveUri(uri, tool) } : {}),
    namespaces,
  }
}

/** Formats may use the prefixes of the process or of the input object itself. */
export const expandFormats = (inputs: ValueRecord, namespaces: Readonly<Record<string, string>>): ValueRecord =>
  mapData(inputs, (data) => {
    const [, prefix = '', rest = ''] =
      /^([^:/#]+):(.*)$/s.exec(typeof data.format === 'string' ? data.format : '') ?? []
    return Object.hasOwn(namespaces, prefix) ? { ...data, format: `${namespaces[prefix]}${rest}` } : data
  }) as ValueRecord
