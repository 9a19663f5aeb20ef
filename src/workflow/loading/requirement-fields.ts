import type { Version } from '../process/version.ts'
import { list, mapOf, may, must, oneOf, type RecordTable, since, table, words } from './fields.ts'

const expressionOr = (...shapes: ('boolean' | 'int' | 'number')[]) => oneOf(...shapes, 'expression')

/** Whole numbers until v1.1, any since v1.2. */
const amount = may(oneOf('int', 'expression', since(12, 'number')))

export const dirent = table('an entry of InitialWorkDirRequirement', {
  entryname: may('string'),
  entry: must('any'),
  writable: may('boolean'),
})

const environment = table('a variable of EnvVarRequirement', { envName: must('string'), envValue: must('string') })

const software = table('a package of SoftwareRequirement', {
  package: must('string'),
  version: may(list('string')),
  specs: may(list('string')),
})

export interface RequirementTable extends RecordTable {
  readonly since: Version
}

const requirement = (name: string, fields: RecordTable['fields'], from: Version = 10): [string, RequirementTable] => [
  name,
  { ...table(name, { class: must('string'), ...fields }), since: from },
]

/** The seventeen, and what each may say. */
export const REQUIREMENT_FIELDS: ReadonlyMap<string, RequirementTable> = new Map([
  requirement('InlineJavascriptRequirement', { expressionLib: may(list('string')) }),
  requirement('SchemaDefRequirement', { types: must(list('any')) }),
  requirement(
    'LoadListingRequirement',
    { loadListing: may(words('no_listing', 'shallow_listing', 'deep_listing')) },
    11,
  ),
  requirement('DockerRequirement', {
    dockerPull: may('string'),
    dockerLoad: may('string'),
    dockerFile: may('string'),
    dockerImport: may('string'),
    dockerImageId: may('string'),
    dockerOutputDirectory: may('string'),
  }),
  requirement('SoftwareRequirement', { packages: must(mapOf(() => software, 'package', 'specs')) }),
  requirement('InitialWorkDirRequirement', {
    listing: must(oneOf('expression', list(oneOf('string', since(11, 'null'), since(11, list('any')), 'any')))),
  }),
  requirement('EnvVarRequirement', { envDef: must(mapOf(() => environment, 'envName', 'envValue')) }),
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
  requirement('WorkReuse', { enableReuse: must(expressionOr('boolean')) }, 11),
  requirement('NetworkAccess', { networkAccess: must(expressionOr('boolean')) }, 11),
  requirement('InplaceUpdateRequirement', { inplaceUpdate: must('boolean') }, 11),
  requirement('ToolTimeLimit', { timelimit: must(expressionOr('int')) }, 11),
  requirement('SubworkflowFeatureRequirement', {}),
  requirement('ScatterFeatureRequirement', {}),
  requirement('MultipleInputFeatureRequirement', {}),
  requirement('StepInputExpressionRequirement', {}),
])

/** Before v1.1 these were extensions of the reference implementation; they mean the same. */
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
