import { systemClock } from '../../app/process/clock.ts'
import type { Terminal } from '../../app/process/terminal.ts'
import { invalid } from '../../base/fault.ts'
import type { WorkerInView } from '../../model/grid-view.ts'
import { LANGUAGE_PROPERTY, TESTING_PROPERTY } from '../../model/language.ts'
import { quietText, spanText, tableText } from '../output/table.ts'
import { bytesText } from '../output/text.ts'
import type { GridOptions } from '../session/grid-flags.ts'
import { jsonLine, withGrid } from '../session/grid-session.ts'

export interface WorkersOptions extends GridOptions {
  readonly drain?: string
  readonly shutdown?: true
  readonly resume?: string
}

export async function runWorkers(options: WorkersOptions, terminal: Terminal): Promise<void> {
  const { drain, resume, shutdown = false, json } = options
  if (drain !== undefined && resume !== undefined) throw invalid('--drain and --resume: one or the other')
  if (shutdown && drain === undefined) throw invalid('--shutdown goes with --drain')
  await withGrid({ ...options, named: 'workers' }, terminal, async ({ grid }) => {
    if (drain !== undefined) await grid.drain(drain, shutdown)
    if (resume !== undefined) await grid.resume(resume)
    const workers = await grid.workers()
    const named = drain ?? resume
    if (json)
      terminal.out(
        jsonLine({ workers: named === undefined ? workers : workers.filter(({ worker }) => worker === named) }),
      )
    else if (named === undefined) terminal.out(workersText(workers))
    else terminal.out(changedText(named, workers, { isDrained: drain !== undefined, shutdown }))
  })
}

function changedText(
  id: string,
  workers: readonly WorkerInView[],
  { isDrained, shutdown }: { readonly isDrained: boolean; readonly shutdown: boolean },
): string {
  if (!isDrained) return `${quietText(id)} takes tasks again\n`
  const tasks = workers.find(({ worker }) => worker === id)?.tasks ?? 0
  const rest = tasks === 0 ? 'it has none' : `it finishes the ${tasks} that it has`
  return `${quietText(id)} gets no new tasks; ${rest}${shutdown ? ', and leaves then' : ''}\n`
}

export function workersText(workers: readonly WorkerInView[]): string {
  if (workers.length === 0) return 'no workers; "windlass worker daemon --server-url http://HOST:PORT" starts one\n'
  const now = systemClock.now()
  const needsWhy = workers.some(isOdd)
  const rows = workers
    .toSorted((one, other) => (one.worker < other.worker ? -1 : 1))
    .map((worker) => [
      worker.worker,
      worker.state,
      `${worker.tasks}/${worker.slots}`,
      spanText(now - worker.heardAt),
      ...(needsWhy ? [isOdd(worker) ? worker.reason : '-'] : []),
      [...amounts(worker), ...properties(worker), ...languages(worker)].join(' '),
    ])
  return tableText(['WORKER', 'STATE', 'TASKS', 'HEARD', ...(needsWhy ? ['WHY'] : []), 'OFFERS'], rows)
}

/** In a state that needs an explanation. */
const isOdd = ({ state }: WorkerInView): boolean => state !== 'ONLINE' && state !== 'BUSY'

const properties = (worker: WorkerInView): string[] =>
  worker.properties
    .filter(({ name }) => name !== LANGUAGE_PROPERTY && name !== TESTING_PROPERTY)
    .map(({ name, value }) => `${name}=${value}`)

/**
 * A worker may have two dozen languages, each with and without its version: here they are counted, and --json names
 * them.
 */
function languages(worker: WorkerInView): string[] {
  const offered = worker.properties.filter(({ name, value }) => name === LANGUAGE_PROPERTY && !value.includes('@'))
  const testing = worker.properties.filter(({ name }) => name === TESTING_PROPERTY)
  return [...counted('languages', offered), ...counted('testing', testing)]
}

const counted = (word: string, found: WorkerInView['properties']): string[] =>
  found.length > 3 ? [`${word}=${found.length}`] : found.map(({ name, value }) => `${name}=${value}`)

const amounts = ({ cpu, memoryBytes, diskBytes }: WorkerInView): string[] => [
  ...(cpu === undefined ? [] : [`cpu=${cpu}`]),
  ...(memoryBytes === undefined ? [] : [`memory=${bytesText(memoryBytes).replace(' ', '')}`]),
  ...(diskBytes === undefined ? [] : [`disk=${bytesText(diskBytes).replace(' ', '')}`]),
]
