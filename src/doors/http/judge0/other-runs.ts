import type { SnippetStatus } from '../../../model/snippet.ts'
import type { CallScope } from '../../../services/instances/call-scope.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { keptIn } from './kept-options.ts'

type Finding = Pick<SnippetService, 'find'>

/** Returns the runs of a submission except the first one. */
export async function otherRunsOf(
  scope: CallScope,
  { request }: SnippetStatus,
  snippets: Finding,
): Promise<SnippetStatus[]> {
  const ids = keptIn(request.metadata)?.other_runs ?? []
  const others = await Promise.all(ids.map((id) => findRun(scope, id, snippets)))
  return others.filter((each) => each !== undefined)
}

export const findRun = async (scope: CallScope, id: string, { find }: Finding): Promise<SnippetStatus | undefined> =>
  id.length <= 100 ? await find(scope, id) : undefined
