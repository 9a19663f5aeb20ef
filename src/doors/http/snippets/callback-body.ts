import type { SnippetStatus } from '../../../model/snippet.ts'
import type { BlobStore } from '../../../storage/blob-store.ts'
import { taskAnswer } from './response.ts'

/** Limit of output per stream; the task has the rest. */
const MOST_OUTPUT = 64 * 1024

/** The body of a callback: the event, and the task as the API returns it. */
export const callbackBody = async (status: SnippetStatus, blobs: BlobStore): Promise<string> =>
  JSON.stringify({
    event: `task.${status.state}`,
    data: await taskAnswer(status, { encoding: 'utf8', mostBytes: MOST_OUTPUT, blobs }),
  })
