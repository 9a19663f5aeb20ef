/**
 * Where a worker is in its life, in the words of its protocols. Which state follows which is in
 * `scheduler/model/worker-machine.ts`.
 */
export const WORKER_STATES = ['OFFLINE', 'REGISTERING', 'ONLINE', 'BUSY', 'DEGRADED', 'DRAINING'] as const

export type WorkerState = (typeof WORKER_STATES)[number]
