import {
  type DocumentField,
  list,
  mapOf,
  mayHave,
  mustHave,
  oneOf,
  type RecordTable,
  record,
  since,
  stringOrList,
  table,
  words,
} from './fields.ts'

const labelled = { label: mayHave('string'), doc: mayHave(stringOrList) }
const loading = {
  loadContents: mayHave('boolean', 11),
  loadListing: mayHave(words('no_listing', 'shallow_listing', 'deep_listing'), 11),
}

const secondaryFile = table('a secondaryFiles pattern', {
  pattern: mustHave('string'),
  required: mayHave(oneOf('boolean', 'expression')),
})
const secondaryFileShape = oneOf(
  'string',
  since(
    11,
    record(() => secondaryFile),
  ),
)
const secondaryFiles = mayHave(oneOf(secondaryFileShape, list(secondaryFileShape)))

const inputBinding = table('an inputBinding', {
  loadContents: mayHave('boolean'),
  position: mayHave(oneOf('int', since(11, 'expression'))),
  prefix: mayHave('string'),
  separate: mayHave('boolean'),
  itemSeparator: mayHave('string'),
  valueFrom: mayHave('string'),
  shellQuote: mayHave('boolean'),
})

const outputBinding = table('an outputBinding', {
  loadContents: mayHave('boolean'),
  loadListing: loading.loadListing,
  glob: mayHave(stringOrList),
  outputEval: mayHave('string'),
})

const data = { secondaryFiles, streamable: mayHave('boolean'), format: mayHave(stringOrList) }

const parameter = { id: mustHave('string'), ...labelled, ...data, type: mayHave('any') }

const inputParameter = table('an input', {
  ...parameter,
  type: mustHave('any'),
  ...loading,
  default: mayHave('any'),
  inputBinding: mayHave(record(() => inputBinding)),
})

const toolOutput = table('an output', {
  ...parameter,
  type: mustHave('any'),
  outputBinding: mayHave(record(() => outputBinding)),
})

const linkMerge = mayHave(words('merge_nested', 'merge_flattened'))
const pickValue = mayHave(words('first_non_null', 'the_only_non_null', 'all_non_null'), 12)

const workflowOutput = table('a workflow output', {
  ...parameter,
  type: mustHave('any'),
  outputSource: mayHave(stringOrList),
  linkMerge,
  pickValue,
  // Allowed until v1.1, without meaning.
  outputBinding: mayHave(record(() => outputBinding)),
})

/** Fields of a record type and other fields of a type that is written in full. */
const recordField = table('a field of a record', {
  name: mustHave('string'),
  type: mustHave('any'),
  ...labelled,
  ...data,
  ...loading,
  default: mayHave('any'),
  inputBinding: mayHave(record(() => inputBinding)),
  outputBinding: mayHave(record(() => outputBinding)),
})

export const typeSchema = table('a type', {
  type: mustHave('string'),
  name: mayHave('string'),
  ...labelled,
  items: mayHave('any'),
  symbols: mayHave(list('string')),
  fields: mayHave(mapOf(() => recordField, 'name', 'type')),
  inputBinding: mayHave(record(() => inputBinding)),
  outputBinding: mayHave(record(() => outputBinding)),
})

const process = {
  class: mustHave('string'),
  id: mayHave('string'),
  ...labelled,
  cwlVersion: mayHave('string'),
  intent: mayHave(list('string'), 12),
  requirements: mayHave(mapOf(() => anyRequirement, 'class')),
  hints: mayHave(mapOf(() => anyRequirement, 'class')),
  inputs: mustHave(mapOf(() => inputParameter, 'id', 'type')),
}

/** The fields of a requirement depend on its class: see `requirement-fields.ts`. */
export const anyRequirement: RecordTable = { name: 'a requirement', fields: {} }

export const isOpen = (one: RecordTable): boolean => one === anyRequirement

const stepInput = table('an input of a step', {
  id: mustHave('string'),
  label: mayHave('string', 11),
  source: mayHave(stringOrList),
  linkMerge,
  pickValue,
  default: mayHave('any'),
  valueFrom: mayHave('string'),
  ...loading,
})

const loopInput = table('an input of a loop', {
  id: mustHave('string'),
  outputSource: mayHave(stringOrList),
  linkMerge,
  pickValue,
  default: mayHave('any'),
  valueFrom: mayHave('string'),
})

const stepOutput = table('an output of a step', { id: mustHave('string') })

const step = table('a step', {
  id: mustHave('string'),
  ...labelled,
  in: mustHave(mapOf(() => stepInput, 'id', 'source')),
  out: mustHave(
    list(
      oneOf(
        'string',
        record(() => stepOutput),
      ),
    ),
  ),
  requirements: process.requirements,
  hints: process.hints,
  run: mustHave('any'),
  when: mayHave('expression', 12),
  scatter: mayHave(stringOrList),
  scatterMethod: mayHave(words('dotproduct', 'nested_crossproduct', 'flat_crossproduct')),
  loop: mayHave(
    mapOf(() => loopInput, 'id', 'outputSource'),
    13,
  ),
  outputMethod: mayHave(words('last_iteration', 'all_iterations'), 13),
})

const codes: DocumentField = mayHave(list('int'))

/** One table per class of process. */
export const PROCESS_FIELDS: Readonly<Record<string, RecordTable>> = {
  CommandLineTool: table('a CommandLineTool', {
    ...process,
    outputs: mustHave(mapOf(() => toolOutput, 'id', 'type')),
    baseCommand: mayHave(stringOrList),
    arguments: mayHave(
      list(
        oneOf(
          'string',
          record(() => inputBinding),
        ),
      ),
    ),
    stdin: mayHave('string'),
    stdout: mayHave('string'),
    stderr: mayHave('string'),
    successCodes: codes,
    temporaryFailCodes: codes,
    permanentFailCodes: codes,
  }),
  ExpressionTool: table('an ExpressionTool', {
    ...process,
    outputs: mustHave(mapOf(() => toolOutput, 'id', 'type')),
    expression: mustHave('string'),
  }),
  Workflow: table('a Workflow', {
    ...process,
    outputs: mustHave(mapOf(() => workflowOutput, 'id', 'type')),
    steps: mustHave(mapOf(() => step, 'id')),
  }),
  Operation: table('an Operation', { ...process, outputs: mustHave(mapOf(() => toolOutput, 'id', 'type')) }),
}
