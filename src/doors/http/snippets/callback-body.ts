import type { SnippetStatus } from '../../../model/snippet.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { taskAnswer } from './response.ts'

/** Who wants more of what was printed asks for the task. */
const MOST_OUTPUT = 64 * 1024

/** What a callback brings: what happened, and the task as the API tells it. */
export const callbackBody = async (status: SnippetStatus, blobs: BlobStore): Promise<string> =>
  JSON.stringify({
    event: `task.${status.state}`,
    data: await taskAnswer(status, { encoding: 'utf8', mostBytes: MOST_OUTPUT, blobs }),
  })
