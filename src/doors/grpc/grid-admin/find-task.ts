import { FaultError, invalid } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'
import { parseOperationName } from '../../../wire/google/operations.ts'

/** How much of the history is looked through for a name that is only begun. */
const PAGES = 10
const PAGE = 1000
const MOST_CHARS = 1500
const MOST_NAMED = 5

/**
 * By what people have at hand: the name of an operation, its id, the id of the task, or the beginning of either. What is
 * said in full counts before what only begins so, and the whole history is only as deep as the last ten thousand tasks.
 */
export async function findTask(name: string, engine: Engine): Promise<OperationStatus> {
  if (name === '') throw invalid('the name of a task is needed')
  if (name.length > MOST_CHARS) throw absent(name)
  const named = parseOperationName(name)
  const status = await engine.find(LOCAL_CALLER, named?.id ?? name)
  if (status !== undefined && (named === undefined || named.instance === status.instance)) return status
  const found = named === undefined ? await search(name, engine) : undefined
  if (found === undefined) throw absent(name)
  return found
}

const absent = (name: string): FaultError =>
  new FaultError({ kind: 'absent', what: `no task is named ${quoted(name)}, and none begins so` })

interface Candidate {
  readonly task: string
  readonly operation: string
}

async function search(begins: string, engine: Engine): Promise<OperationStatus | undefined> {
  const matching = new Map<string, Candidate>()
  const note = ({ task, operation }: Candidate): boolean => {
    const isMeant = task.startsWith(begins) || operation.startsWith(begins)
    // The first that is seen of a task is an operation that still counts.
    if (isMeant && !matching.has(task)) matching.set(task, { task, operation })
    return task === begins
  }
  for await (const status of engine.operations()) if (note(status)) return status
  let cursor: string | undefined
  for (let page = 0; page < PAGES; page++) {
    const { tasks, next } = await engine.list(LOCAL_CALLER, { limit: PAGE }, cursor)
    const exact = tasks.find(note)
    if (exact !== undefined)
      return await engine.find(LOCAL_CALLER, matching.get(exact.task)?.operation ?? exact.operation)
    if (next === undefined) break
    cursor = next
  }
  const [only, ...others] = matching.values()
  if (only === undefined) return undefined
  if (others.length > 0) throw invalid(ambiguous(begins, [only, ...others]))
  return await engine.find(LOCAL_CALLER, only.operation)
}

function ambiguous(begins: string, found: readonly Candidate[]): string {
  const ids = found.slice(0, MOST_NAMED).map(({ task, operation }) => (task.startsWith(begins) ? task : operation))
  const rest = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : ''
  return `${found.length} tasks begin with ${quoted(begins)}: ${ids.join(', ')}${rest}; say more of the one that is meant`
}

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
