import {
  type Field,
  list,
  mapOf,
  may,
  must,
  oneOf,
  type RecordTable,
  record,
  since,
  stringOrList,
  table,
  words,
} from './fields.ts'

const labelled = { label: may('string'), doc: may(stringOrList) }
const loading = {
  loadContents: may('boolean', 11),
  loadListing: may(words('no_listing', 'shallow_listing', 'deep_listing'), 11),
}

const secondaryFile = table('a secondaryFiles pattern', {
  pattern: must('string'),
  required: may(oneOf('boolean', 'expression')),
})
const secondaryFileShape = oneOf(
  'string',
  since(
    11,
    record(() => secondaryFile),
  ),
)
const secondaryFiles = may(oneOf(secondaryFileShape, list(secondaryFileShape)))

const inputBinding = table('an inputBinding', {
  loadContents: may('boolean'),
  position: may(oneOf('int', since(11, 'expression'))),
  prefix: may('string'),
  separate: may('boolean'),
  itemSeparator: may('string'),
  valueFrom: may('string'),
  shellQuote: may('boolean'),
})

const outputBinding = table('an outputBinding', {
  loadContents: may('boolean'),
  loadListing: loading.loadListing,
  glob: may(stringOrList),
  outputEval: may('string'),
})

const data = { secondaryFiles, streamable: may('boolean'), format: may(stringOrList) }

const parameter = { id: must('string'), ...labelled, ...data, type: may('any') }

const inputParameter = table('an input', {
  ...parameter,
  type: must('any'),
  ...loading,
  default: may('any'),
  inputBinding: may(record(() => inputBinding)),
})

const toolOutput = table('an output', {
  ...parameter,
  type: must('any'),
  outputBinding: may(record(() => outputBinding)),
})

const linkMerge = may(words('merge_nested', 'merge_flattened'))
const pickValue = may(words('first_non_null', 'the_only_non_null', 'all_non_null'), 12)

const workflowOutput = table('a workflow output', {
  ...parameter,
  type: must('any'),
  outputSource: may(stringOrList),
  linkMerge,
  pickValue,
  // Allowed, and without meaning, until v1.1.
  outputBinding: may(record(() => outputBinding)),
})

/** Fields of a record type and what else a type written out in full may say. */
const recordField = table('a field of a record', {
  name: must('string'),
  type: must('any'),
  ...labelled,
  ...data,
  ...loading,
  default: may('any'),
  inputBinding: may(record(() => inputBinding)),
  outputBinding: may(record(() => outputBinding)),
})

export const typeSchema = table('a type', {
  type: must('string'),
  name: may('string'),
  ...labelled,
  items: may('any'),
  symbols: may(list('string')),
  fields: may(mapOf(() => recordField, 'name', 'type')),
  inputBinding: may(record(() => inputBinding)),
  outputBinding: may(record(() => outputBinding)),
})

const process = {
  class: must('string'),
  id: may('string'),
  ...labelled,
  cwlVersion: may('string'),
  intent: may(list('string'), 12),
  requirements: may(mapOf(() => anyRequirement, 'class')),
  hints: may(mapOf(() => anyRequirement, 'class')),
  inputs: must(mapOf(() => inputParameter, 'id', 'type')),
}

/** Which fields a requirement has depends on its class: `requirement-fields.ts` looks into it. */
export const anyRequirement: RecordTable = { name: 'a requirement', fields: {} }

export const isOpen = (one: RecordTable): boolean => one === anyRequirement

const stepInput = table('an input of a step', {
  id: must('string'),
  label: may('string', 11),
  source: may(stringOrList),
  linkMerge,
  pickValue,
  default: may('any'),
  valueFrom: may('string'),
  ...loading,
})

const loopInput = table('an input of a loop', {
  id: must('string'),
  outputSource: may(stringOrList),
  linkMerge,
  pickValue,
  default: may('any'),
  valueFrom: may('string'),
})

const stepOutput = table('an output of a step', { id: must('string') })

const step = table('a step', {
  id: must('string'),
  ...labelled,
  in: must(mapOf(() => stepInput, 'id', 'source')),
  out: must(
    list(
      oneOf(
        'string',
        record(() => stepOutput),
      ),
    ),
  ),
  requirements: process.requirements,
  hints: process.hints,
  run: must('any'),
  when: may('expression', 12),
  scatter: may(stringOrList),
  scatterMethod: may(words('dotproduct', 'nested_crossproduct', 'flat_crossproduct')),
  loop: may(
    mapOf(() => loopInput, 'id', 'outputSource'),
    13,
  ),
  outputMethod: may(words('last_iteration', 'all_iterations'), 13),
})

const codes: Field = may(list('int'))

/** One table per class of process. */
export const PROCESS_FIELDS: Readonly<Record<string, RecordTable>> = {
  CommandLineTool: table('a CommandLineTool', {
    ...process,
    outputs: must(mapOf(() => toolOutput, 'id', 'type')),
    baseCommand: may(stringOrList),
    arguments: may(
      list(
        oneOf(
          'string',
          record(() => inputBinding),
        ),
      ),
    ),
    stdin: may('string'),
    stdout: may('string'),
    stderr: may('string'),
    successCodes: codes,
    temporaryFailCodes: codes,
    permanentFailCodes: codes,
  }),
  ExpressionTool: table('an ExpressionTool', {
    ...process,
    outputs: must(mapOf(() => toolOutput, 'id', 'type')),
    expression: must('string'),
  }),
  Workflow: table('a Workflow', {
    ...process,
    outputs: must(mapOf(() => workflowOutput, 'id', 'type')),
    steps: must(mapOf(() => step, 'id')),
  }),
  Operation: table('an Operation', { ...process, outputs: must(mapOf(() => toolOutput, 'id', 'type')) }),
}
