import { invalid } from '../../base/fault.ts'
import type { WorkerDescription } from '../../engine/worker-session.ts'
import type { WorkerRegistration } from '../../wire/worker-registration.ts'

/** More than any machine runs at a time, and few enough that one worker cannot take a whole grid's tasks. */
const MOST_SLOTS = 4096

/** A registration in the engine's words. */
export function describeWorker(registration: WorkerRegistration, way: 'asks' | 'streams'): WorkerDescription {
  const { worker, slots, prefetch, platform, labels, group, resources, preemptible, running, version } = registration
  if (slots > MOST_SLOTS) throw invalid(`max_concurrent_executions is ${slots}, and ${MOST_SLOTS} at most`, 'range')
  if (prefetch > MOST_SLOTS) throw invalid(`prefetch is ${prefetch}, and ${MOST_SLOTS} at most`, 'range')
  return {
    worker,
    slots,
    properties: [
      ...platform,
      ...labels.map(({ name, value }) => ({ name: `label:${name}`, value })),
      ...(group === '' ? [] : [{ name: 'group', value: group }]),
    ],
    resources,
    ...(way === 'asks' ? { pulls: true } : { prefetch }),
    ...(preemptible && { preemptible }),
    ...(running && { running }),
    about: { protocol: way === 'asks' ? 'grpc, asking' : 'grpc, streaming', ...(version !== '' && { version }) },
  }
}
