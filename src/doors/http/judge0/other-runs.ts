import type { InstanceName } from '../../../model/instance-name.ts'
import type { SnippetStatus } from '../../../model/snippet.ts'
import type { SnippetService } from '../../../services/snippets/snippet-service.ts'
import { keptIn } from './kept-options.ts'

type Finding = Pick<SnippetService, 'find'>

/** The runs of a submission beside the one that is named for all of them. */
export async function otherRunsOf({ request }: SnippetStatus, desk: Finding): Promise<SnippetStatus[]> {
  const ids = keptIn(request.metadata)?.other_runs ?? []
  const others = await Promise.all(ids.map((id) => ownTask(id, request.instance, desk)))
  return others.filter((each) => each !== undefined)
}

/** What is another instance's is nobody's here, whoever names it. */
export async function ownTask(
  id: string,
  instance: InstanceName,
  { find }: Finding,
): Promise<SnippetStatus | undefined> {
  const status = id.length <= 100 ? await find(id) : undefined
  return status?.request.instance === instance ? status : undefined
}
