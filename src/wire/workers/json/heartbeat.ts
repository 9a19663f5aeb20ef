import { z } from 'zod'
import type { HeartbeatAnswer, HeartbeatMessage } from '../heartbeat.ts'
import { maybe, readJson, shortText } from './read-json.ts'

type Pulse = Omit<HeartbeatMessage, 'worker'>

const HEARTBEAT = z.object({
  state: maybe(shortText()),
  running_tasks: maybe(z.array(shortText()).max(100_000)),
  load: maybe(z.number()),
  preempted: maybe(z.boolean()),
})

/** A heartbeat without a body is valid. */
export function heartbeatFromJson(
  json: unknown,
): Pick<Pulse, 'running' | 'load' | 'preempted'> & { readonly draining: boolean } {
  const { state = '', running_tasks, load, preempted } = readJson(HEARTBEAT, json ?? {})
  return { draining: state.toLowerCase() === 'draining', running: running_tasks, load, ...(preempted && { preempted }) }
}

export const heartbeatToJson = ({ state, stats, running, load, preempted }: Pulse): object => ({
  state,
  running_tasks: running,
  load,
  ...(preempted && { preempted }),
  stats: { active: stats.active, completed: stats.completed, failed: stats.failed },
})

export const heartbeatAnswerToJson = ({ cancel, drain, shouldShutdown }: HeartbeatAnswer): object => ({
  cancel_tasks: cancel,
  drain,
  shutdown: shouldShutdown,
})

const ANSWER = z.object({
  data: z.object({
    cancel_tasks: z.array(shortText()),
    drain: z.boolean(),
    shutdown: z.boolean(),
    seen: maybe(z.int()),
  }),
})

/** Decodes the response to a heartbeat or to a poll for orders. Only a poll's response has `seen`. */
export function heartbeatAnswerFromJson(json: unknown): HeartbeatAnswer & { readonly seen: number | undefined } {
  const { cancel_tasks, drain, shutdown, seen } = readJson(ANSWER, json).data
  return { cancel: cancel_tasks, drain, shouldShutdown: shutdown, seen }
}
