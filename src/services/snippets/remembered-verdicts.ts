import { isOver, type SnippetStatus, type Verdict } from '../../model/snippet.ts'
import type { SnippetTools } from './snippet-tools.ts'
import type { SnippetView } from './snippet-view.ts'
import { verdictOf } from './verdict.ts'

/** Adds verdicts to statuses. Long output is read for a verdict once, not at each request. */
export interface RememberedVerdicts {
  whole(view: SnippetView): Promise<SnippetStatus>
  /** Leaves out a verdict that is not known yet and would need long output; for lists. */
  cheap(view: SnippetView): Promise<SnippetStatus>
}

const MOST = 10_000

export function rememberedVerdicts({ instances }: Pick<SnippetTools, 'instances'>): RememberedVerdicts {
  const known = new Map<string, Verdict | undefined>()
  const whole: RememberedVerdicts['whole'] = async ({ status, note }) => {
    if (!isOver(status) || note?.expectedHash === undefined) return status
    const { id, request } = status
    if (known.has(id)) return { ...status, verdict: known.get(id) }
    const verdict = await verdictOf(status, note.expectedHash, () => instances(request.instance).blobs)
    if (hasLongOutput(status) && verdict !== 'internal-error') known.set(id, verdict)
    const oldest = known.size > MOST ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
    return { ...status, verdict }
  }
  return {
    whole,
    cheap: async (view) => (hasLongOutput(view.status) && !known.has(view.status.id) ? view.status : await whole(view)),
  }
}

const hasLongOutput = ({ result }: SnippetStatus): boolean => result?.stages.at(-1)?.stdout.digest !== undefined
