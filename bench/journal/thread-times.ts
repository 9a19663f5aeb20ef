import { readdirSync, readFileSync } from 'node:fs'

/** The CPU time of all threads of one name, and the time in which they were runnable but had no core; in µs. */
export interface ThreadTime {
  ran: number
  waited: number
}

const TASKS = '/proc/self/task'

/** All threads of this process, by name. Only Linux reports this; the map is empty elsewhere. */
export function threadTimes(): Map<string, ThreadTime> {
  const times = new Map<string, ThreadTime>()
  for (const thread of threads()) {
    const [name, ran, waited] = statOf(thread)
    const time = times.get(name) ?? { ran: 0, waited: 0 }
    time.ran += ran
    time.waited += waited
    times.set(name, time)
  }
  return times
}

function threads(): string[] {
  try {
    return readdirSync(TASKS)
  } catch {
    return []
  }
}

/** A thread may exit while its files are read. */
function statOf(thread: string): [name: string, ran: number, waited: number] {
  try {
    const [ran, waited] = readFileSync(`${TASKS}/${thread}/schedstat`, 'utf8').split(' ')
    return [readFileSync(`${TASKS}/${thread}/comm`, 'utf8').trim(), Number(ran) / 1000, Number(waited) / 1000]
  } catch {
    return ['gone', 0, 0]
  }
}

const NONE: ThreadTime = { ran: 0, waited: 0 }

/** Returns the difference since `before`. */
export function since(before: ReadonlyMap<string, ThreadTime>, name: string, now = threadTimes()): ThreadTime {
  const [then, later] = [before.get(name) ?? NONE, now.get(name) ?? NONE]
  return { ran: later.ran - then.ran, waited: later.waited - then.waited }
}
