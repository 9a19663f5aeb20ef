import { invalid } from '../base/fault.ts'

/**
 * The number of a lease: which start of the server granted it, and how many that start had granted by then. Of two for
 * the same task the later one counts, and what comes under the other is never applied.
 */
export interface Fencing {
  readonly epoch: number
  readonly counter: number
}

export const sameFencing = (one: Fencing, other: Fencing): boolean =>
  one.epoch === other.epoch && one.counter === other.counter

/** As it stands in an attempt's id: `7-1234`. */
export const fencingText = ({ epoch, counter }: Fencing): string => `${epoch}-${counter}`

/**
 * The attempt ID as workers see it. A worker that knows nothing of fencing returns it unchanged and is fenced as well.
 */
export const attemptId = (task: string, fencing: Fencing): string => `${task}.${fencingText(fencing)}`

export interface AttemptName {
  readonly task: string
  readonly fencing: Fencing
}

/** Reads what `attemptId` wrote. The task's own id may hold dots: the last one counts. */
export function parseAttemptId(text: string): AttemptName {
  const [, task, epoch, counter] = ATTEMPT.exec(text) ?? []
  const fencing = { epoch: Number(epoch), counter: Number(counter) }
  if (task === undefined || !Number.isSafeInteger(fencing.epoch) || !Number.isSafeInteger(fencing.counter))
    throw invalid(`"${text.slice(0, 200)}" is not the id of an attempt`)
  return { task, fencing }
}

const ATTEMPT = /^(.+)\.(0|[1-9]\d{0,15})-(0|[1-9]\d{0,15})$/
