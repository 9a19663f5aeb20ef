import type { Version } from '../process/version.ts'
import { list, mapOf, mayHave, mustHave, oneOf, type RecordTable, since, table, words } from './fields.ts'

const expressionOr = (...shapes: ('boolean' | 'int' | 'number')[]) => oneOf(...shapes, 'expression')

/** Integers until v1.1, any number since v1.2. */
const amount = mayHave(oneOf('int', 'expression', since(12, 'number')))

export const dirent = table('an entry of InitialWorkDirRequirement', {
  entryname: mayHave('string'),
  entry: mustHave('any'),
  writable: mayHave('boolean'),
})

const environment = table('a variable of EnvVarRequirement', {
  envName: mustHave('string'),
  envValue: mustHave('string'),
})

const software = table('a package of SoftwareRequirement', {
  package: mustHave('string'),
  version: mayHave(list('string')),
  specs: mayHave(list('string')),
})

export interface RequirementTable extends RecordTable {
  readonly since: Version
}

const requirement = (name: string, fields: RecordTable['fields'], from: Version = 10): [string, RequirementTable] => [
  name,
  { ...table(name, { class: mustHave('string'), ...fields }), since: from },
]

/** The fields of the 17 requirements. */
export const REQUIREMENT_FIELDS: ReadonlyMap<string, RequirementTable> = new Map([
  requirement('InlineJavascriptRequirement', { expressionLib: mayHave(list('string')) }),
  requirement('SchemaDefRequirement', { types: mustHave(list('any')) }),
  requirement(
    'LoadListingRequirement',
    { loadListing: mayHave(words('no_listing', 'shallow_listing', 'deep_listing')) },
    11,
  ),
  requirement('DockerRequirement', {
    dockerPull: mayHave('string'),
    dockerLoad: mayHave('string'),
    dockerFile: mayHave('string'),
    dockerImport: mayHave('string'),
    dockerImageId: mayHave('string'),
    dockerOutputDirectory: mayHave('string'),
  }),
  requirement('SoftwareRequirement', { packages: mustHave(mapOf(() => software, 'package', 'specs')) }),
  requirement('InitialWorkDirRequirement', {
    listing: mustHave(oneOf('expression', list(oneOf('string', since(11, 'null'), since(11, list('any')), 'any')))),
  }),
  requirement('EnvVarRequirement', { envDef: mustHave(mapOf(() => environment, 'envName', 'envValue')) }),
  requirement('ShellCommandRequirement', {}),
  requirement('ResourceRequirement', {
    coresMin: amount,
    coresMax: amount,
    ramMin: amount,
    ramMax: amount,
    tmpdirMin: amount,
    tmpdirMax: amount,
    outdirMin: amount,
    outdirMax: amount,
  }),
  requirement('WorkReuse', { enableReuse: mustHave(expressionOr('boolean')) }, 11),
  requirement('NetworkAccess', { networkAccess: mustHave(expressionOr('boolean')) }, 11),
  requirement('InplaceUpdateRequirement', { inplaceUpdate: mustHave('boolean') }, 11),
  requirement('ToolTimeLimit', { timelimit: mustHave(expressionOr('int')) }, 11),
  requirement('SubworkflowFeatureRequirement', {}),
  requirement('ScatterFeatureRequirement', {}),
  requirement('MultipleInputFeatureRequirement', {}),
  requirement('StepInputExpressionRequirement', {}),
])

/** Extensions of the reference implementation before v1.1, with the same meaning. */
export const FORMER_NAMES: ReadonlyMap<string, string> = new Map(
  [
    ['LoadListingRequirement', 'LoadListingRequirement'],
    ['InplaceUpdateRequirement', 'InplaceUpdateRequirement'],
    ['WorkReuse', 'WorkReuse'],
    ['NetworkAccess', 'NetworkAccess'],
    ['TimeLimit', 'ToolTimeLimit'],
  ].flatMap(([former, now]) => [
    [`cwltool:${former}`, now ?? ''],
    [`http://commonwl.org/cwltool#${former}`, now ?? ''],
  ]),
)
