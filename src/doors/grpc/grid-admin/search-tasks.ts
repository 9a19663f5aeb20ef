import { invalid } from '../../../base/fault.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { OperationStatus } from '../../../engine/tasks/status.ts'
import { LOCAL_CALLER } from '../../../model/caller.ts'

/** The part of the history that is searched. */
const PAGES = 10
const PAGE = 1000
/** Tasks that an error message names. */
const MOST_NAMED = 5

interface Candidate {
  readonly task: string
  readonly operation: string
}

/**
 * Finds the one task whose id, or whose operation's id, begins with this text, among the open tasks and the last
 * 10,000.
 */
export async function searchTasks(begins: string, engine: Engine): Promise<OperationStatus | undefined> {
  const matching = new Map<string, Candidate>()
  const note = ({ task, operation }: Candidate): boolean => {
    const isMatch = task.startsWith(begins) || operation.startsWith(begins)
    // Open operations come first, so the first one of a task is current.
    if (isMatch && !matching.has(task)) matching.set(task, { task, operation })
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
  return `${found.length} tasks begin with ${quoted(begins)}: ${ids.join(', ')}${rest}; give more characters of the id`
}

export const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
