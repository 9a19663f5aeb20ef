import { z } from 'zod'
import { invalid } from '../../../base/fault.ts'
import { instanceNameProblem } from '../../../model/instance-name.ts'
import type { WorkflowRunRequest } from '../../../services/workflows/driver/workflow-run.ts'
import type { WorkflowRunQuery } from '../../../services/workflows/workflow-service.ts'

const MOST_LABELS = 64
const MOST_LABEL_CHARS = 256
/** Documents that people write have about a dozen levels. A deeper one would overflow the stack. */
const DEEPEST = 200

const label = z.string().max(MOST_LABEL_CHARS)
const record = z.record(z.string(), z.unknown())

const ORDER = z.strictObject({
  workflow: record,
  inputs: record.default({}),
  schemas: z.record(z.string(), z.string()).default({}),
  name: z.string().max(MOST_LABEL_CHARS).default(''),
  labels: z.record(label, label).default({}),
  priority: z.number().min(-100).max(100).default(0),
  instance: z.string().default(''),
})

/** The body of a request to run a workflow. Throws `invalid`. */
export function runRequestFrom(body: unknown): WorkflowRunRequest {
  mustBeShallow(body)
  const read = ORDER.safeParse(body)
  if (!read.success) {
    const [issue] = read.error.issues
    throw invalid(`${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'it is invalid'}`)
  }
  const { instance, labels } = read.data
  const problem = instanceNameProblem(instance)
  if (problem !== undefined) throw invalid(`the instance name ${problem}`)
  if (Object.keys(labels).length > MOST_LABELS) throw invalid(`more than ${MOST_LABELS} labels`, 'range')
  return read.data as WorkflowRunRequest
}

function mustBeShallow(body: unknown): void {
  let level: readonly unknown[] = [body]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) throw invalid(`the body nests deeper than ${DEEPEST} levels`, 'range')
    const below: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      for (const inner of Object.values(one)) if (typeof inner === 'object' && inner !== null) below.push(inner)
    }
    level = below
  }
}

const MOST_LISTED = 1000
const USUALLY_LISTED = 100

const QUERY = z.object({
  instance: z.string().optional(),
  state: z
    .string()
    .optional()
    .transform((words) => words?.toLowerCase().split(','))
    .pipe(z.array(z.enum(['pending', 'running', 'completed', 'failed', 'cancelled'])).optional()),
  limit: z.coerce.number().int().min(1).max(MOST_LISTED).default(USUALLY_LISTED),
  cursor: z.string().max(MOST_LABEL_CHARS).optional(),
})

/** `?state=RUNNING,PENDING&label=team:blue&limit=10`. Throws `invalid`. */
export function queryFrom(words: Readonly<Record<string, string>>, labels: readonly string[]): WorkflowRunQuery {
  const read = QUERY.safeParse(words)
  if (!read.success) throw invalid(`${read.error.issues[0]?.path.join('.')}: ${read.error.issues[0]?.message}`)
  const { instance, state, limit, cursor } = read.data
  const wanted = labels.map((text): [string, string] => {
    const colon = text.indexOf(':')
    if (colon < 1) throw invalid('a label filter must be name:value')
    return [text.slice(0, colon), text.slice(colon + 1)]
  })
  return { instance, states: state, limit, cursor, labels: Object.fromEntries(wanted) }
}
